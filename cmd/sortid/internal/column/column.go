// Package column takes the IDs out of tables: out of a field of CSV and TSV, or out of the
// value of a key in lines of JSON.
package column

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/sortid/sortid/verify"
)

// A Column says where in a record the ID is. The zero value is for lines that are IDs.
type Column struct {
	Field string // a field's number, from 1, or its name in the first line
	Key   string // of JSON objects; dots lead into objects within
}

// Check returns an error if the column cannot be.
func (c Column) Check() error {
	if n, err := strconv.Atoi(c.Field); err == nil && n < 1 {
		return fmt.Errorf("there is no field %d: the first is 1", n)
	}
	return nil
}

// NewReader returns a reader of the column of r: one line for each line, which holds what
// stands there, or verify.Ignored for a line that belongs to the record before or to the
// table's head. A line that has no such field becomes one that says so, which is no ID.
//
// Fields are separated by tabs if there is one in the first line, else by commas, or by
// semicolons if there are no commas. Those between commas or semicolons may be quoted, with
// line ends in them. Tabs are as PostgreSQL's COPY has them: without quotes.
func NewReader(r io.Reader, c Column) io.Reader {
	switch {
	case c.Key != "":
		return &reader{in: bufio.NewReaderSize(r, 256<<10), next: (&jsonColumn{strings.Split(c.Key, ".")}).next}
	case c.Field != "":
		f := &csvColumn{name: c.Field}
		if n, err := strconv.Atoi(c.Field); err == nil {
			f.name, f.number = "", n
		}
		return &reader{in: bufio.NewReaderSize(r, 256<<10), next: f.next}
	}
	return r
}

// A reader reads records and gives lines.
type reader struct {
	in *bufio.Reader
	// next appends the lines of the next record to out. It reads from in and returns the
	// error that in has returned.
	next func(out []byte, in *bufio.Reader) ([]byte, error)
	out  []byte
	at   int
	err  error
}

func (r *reader) Read(b []byte) (int, error) {
	for r.at == len(r.out) {
		if r.err != nil {
			return 0, r.err
		}
		// As many records as are here already, up to some size.
		r.out, r.at = r.out[:0], 0
		for {
			r.out, r.err = r.next(r.out, r.in)
			if r.err != nil || len(r.out) >= 64<<10 || !lineBuffered(r.in) {
				break
			}
		}
	}
	n := copy(b, r.out[r.at:])
	r.at += n
	return n, nil
}

// lineBuffered reports whether a whole line can be read without waiting.
func lineBuffered(in *bufio.Reader) bool {
	buffered, _ := in.Peek(in.Buffered())
	return bytes.IndexByte(buffered, '\n') >= 0
}

// maxRecord is how long a record may be, in bytes. Of a longer line nothing is read.
const maxRecord = 1 << 20

// readLine returns the next line with its end. The line is valid until the next read; of
// one that is too long, only so much is returned.
func readLine(in *bufio.Reader) (line []byte, err error) {
	line, err = in.ReadSlice('\n')
	if err != bufio.ErrBufferFull {
		return line, err
	}
	line = bytes.Clone(line)
	for err == bufio.ErrBufferFull {
		var more []byte
		more, err = in.ReadSlice('\n')
		line = append(line, more[:min(len(more), maxRecord-len(line))]...)
	}
	return line, err
}

// appendLine appends what stands in a field as a line. What is no text of one line cannot
// be an ID, and is quoted.
func appendLine(out []byte, value []byte) []byte {
	if bytes.ContainsAny(value, "\r\n") {
		out = strconv.AppendQuote(out, string(value))
	} else {
		out = append(out, value...)
	}
	return append(out, '\n')
}

// appendMissing appends a line that is no ID, in the place of one without the column. A
// blank line stays blank.
func appendMissing(out []byte, what string, line []byte) []byte {
	if len(bytes.TrimSpace(line)) > 0 {
		out = append(append(append(out, "no "...), what...), " in: "...)
	}
	return appendLine(out, line)
}

func cutLineEnd(line []byte) []byte {
	return bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
}

// A jsonColumn is a key of objects that stand one in a line.
type jsonColumn struct{ path []string }

func (c *jsonColumn) next(out []byte, in *bufio.Reader) ([]byte, error) {
	line, err := readLine(in)
	if len(line) == 0 {
		return out, err
	}
	line = cutLineEnd(line)
	value := json.RawMessage(line)
	for _, key := range c.path {
		var object map[string]json.RawMessage
		if json.Unmarshal(value, &object) != nil || object[key] == nil {
			return appendMissing(out, "key "+strings.Join(c.path, "."), line), err
		}
		value = object[key]
	}
	var text string
	if json.Unmarshal(value, &text) == nil && string(value) != "null" {
		return appendLine(out, []byte(text)), err
	}
	return appendLine(out, value), err // a number, or what is none
}

// A csvColumn is a field of a table.
type csvColumn struct {
	name   string // or:
	number int
	comma  byte // 0 before the first line
}

func (c *csvColumn) next(out []byte, in *bufio.Reader) ([]byte, error) {
	line, err := readLine(in)
	if len(line) == 0 {
		return out, err
	}
	first := c.comma == 0
	if first {
		c.comma = ','
		for _, comma := range []byte{'\t', ',', ';'} {
			if bytes.IndexByte(line, comma) >= 0 {
				c.comma = comma
				break
			}
		}
		line = bytes.TrimPrefix(line, []byte("\ufeff"))
	}
	if c.comma == '\t' || !c.openQuote(line, false) {
		return c.appendRecord(out, line, first), err
	}
	// Quotes go on over the end of the line.
	record, extra := bytes.Clone(line), 0
	for open := true; open; extra++ {
		if err != nil || len(record) >= maxRecord {
			// They have no end: somebody's stray quote, and its line is the one that is bad.
			for l := range bytes.Lines(record) {
				out = c.appendRecord(out, l, first)
				first = false
			}
			return out, err
		}
		line, err = readLine(in)
		record = append(record, line...)
		open = c.openQuote(line, true)
		if len(line) == 0 {
			extra--
		}
	}
	out = c.appendRecord(out, record, first)
	for range extra {
		out = append(out, verify.Ignored+"\n"...)
	}
	return out, err
}

// openQuote reports whether quotes are open after a line, given whether they were before.
// Only quotes at the start of a field open.
func (c *csvColumn) openQuote(line []byte, open bool) bool {
	if bytes.IndexByte(line, '"') < 0 {
		return open
	}
	start := !open
	for _, b := range cutLineEnd(line) {
		switch {
		case open && b == '"':
			open = false // or the first of two, and the next one opens again
			start = true
		case !open && b == '"' && start:
			open = true
		default:
			start = !open && b == c.comma
		}
	}
	return open
}

// appendRecord appends the line of a record.
func (c *csvColumn) appendRecord(out, record []byte, first bool) []byte {
	value, ok := c.field(record, first)
	switch {
	case first && c.isHead(value, ok):
		return append(out, verify.Ignored+"\n"...)
	case ok:
		return appendLine(out, value)
	}
	what := c.name
	if what == "" {
		what = strconv.Itoa(c.number)
	}
	return appendMissing(out, "field "+what, cutLineEnd(record))
}

// field returns the field of a record. In the first one it finds out which one a name is.
func (c *csvColumn) field(record []byte, first bool) (value []byte, ok bool) {
	if first && c.name != "" {
		for i, name := range c.split(record) {
			if strings.EqualFold(strings.TrimSpace(name), c.name) {
				c.number = i + 1
				return []byte(name), true
			}
		}
	}
	if c.number == 0 {
		return nil, false
	}
	if c.comma != '\t' && bytes.IndexByte(record, '"') >= 0 {
		if fields := c.split(record); c.number <= len(fields) {
			return []byte(fields[c.number-1]), true
		}
		return nil, false
	}
	rest := cutLineEnd(record)
	for range c.number - 1 {
		i := bytes.IndexByte(rest, c.comma)
		if i < 0 {
			return nil, false
		}
		rest = rest[i+1:]
	}
	value, _, _ = bytes.Cut(rest, []byte{c.comma})
	return value, true
}

// split returns the fields of a record, or none if it is no record.
func (c *csvColumn) split(record []byte) []string {
	if c.comma == '\t' {
		return strings.Split(string(cutLineEnd(record)), "\t")
	}
	r := csv.NewReader(bytes.NewReader(record))
	r.Comma, r.FieldsPerRecord, r.LazyQuotes = rune(c.comma), -1, true
	fields, err := r.Read()
	if err != nil {
		return nil
	}
	return fields
}

// isHead reports whether the value of the field in the first record is the name of the
// column: the one that was asked for, or a word of letters.
func (c *csvColumn) isHead(value []byte, ok bool) bool {
	if c.name != "" {
		return ok
	}
	return ok && len(value) > 0 && strings.Trim(string(value), "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_ ") == ""
}
