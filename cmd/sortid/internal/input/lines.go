package input

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"time"
)

// maxLine is the length of the longest line that is read, in bytes, with its newline.
const maxLine = 64 << 10

// maxRead limits a block, because its result can be 30 times as large, and each worker has one.
const maxRead = 16 << 10

// errTooLong means that the line is longer than maxLine, and was skipped.
var errTooLong = errors.New("longer than 64 KiB, so it is no ID; skipped")

// A block has whole lines of an input, or a line that is too long.
type block struct {
	text  string    // at most maxLine bytes
	first int       // the number of the first line, from 1
	long  bool      // the line is too long, so the text is empty
	now   time.Time // when the text was read
}

// A blockReader reads lines. It does not wait for more input if it has a whole line.
type blockReader struct {
	r    io.Reader
	buf  []byte // input without a whole line
	n    int    // how many lines were read
	skip bool   // the input continues with the rest of a long line
	err  error  // the underlying reader's error
}

func newBlockReader(r io.Reader) *blockReader {
	return &blockReader{r: r, buf: make([]byte, 0, maxLine)}
}

// next returns the next block. Errors are final: [io.EOF] or an error of the underlying reader.
func (r *blockReader) next() (block, error) {
	for r.err == nil {
		var n int
		old := len(r.buf)
		n, r.err = r.r.Read(r.buf[old:min(old+maxRead, cap(r.buf))])
		r.buf = r.buf[:old+n]
		if r.skip {
			i := bytes.IndexByte(r.buf, '\n')
			if i < 0 {
				r.buf = r.buf[:0]
				continue
			}
			r.skip, old = false, 0
			r.buf = append(r.buf[:0], r.buf[i+1:]...)
		}
		end := bytes.LastIndexByte(r.buf[old:], '\n') + 1
		switch {
		case end > 0:
			end += old
		case len(r.buf) == maxLine:
			r.n, r.skip, r.buf = r.n+1, true, r.buf[:0]
			return block{first: r.n, long: true}, nil
		}
		if r.err != nil {
			end = len(r.buf) // the last line may have no newline
		}
		if end > 0 {
			return r.block(end)
		}
	}
	return block{}, r.err
}

// block returns the block r.buf[:end].
func (r *blockReader) block(end int) (block, error) {
	b := block{text: string(r.buf[:end]), first: r.n + 1, now: time.Now()}
	r.buf = append(r.buf[:0], r.buf[end:]...)
	r.n += strings.Count(b.text, "\n")
	if b.first == 1 { // there may be a byte-order mark
		b.text = strings.TrimPrefix(b.text, "\ufeff")
	}
	return b, nil
}

// lines calls each for each line that is not blank, without its newline.
func (b *block) lines(each func(number int, line string)) {
	number := b.first
	for text := b.text; text != ""; number++ {
		line, rest, _ := strings.Cut(text, "\n")
		text = rest
		if n := len(line); n > 0 && line[n-1] == '\r' {
			line = strings.TrimRight(line, "\r")
		}
		if !blank(line) {
			each(number, line)
		}
	}
}

// blank reports whether a line consists of white space.
func blank(line string) bool {
	return line == "" || (line[0] <= ' ' || line[0] > '~') && strings.TrimSpace(line) == ""
}
