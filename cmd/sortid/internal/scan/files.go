package scan

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/sortid/sortid/cmd/sortid/internal/console"
	"github.com/sortid/sortid/cmd/sortid/internal/input"
)

const (
	// blockSize is how many bytes of a file a worker reads, or more if a line is longer. It is larger
	// than the buffer of input.Plain, so that reads bypass this buffer.
	blockSize = input.BufferSize + 8<<10
	// longLine limits a block. A longer line is read in parts. If whole lines are printed, the limit
	// is longestLine.
	longLine    = 256 << 10
	longestLine = 8 << 20
)

const stdin = "-"

type files struct {
	console  *console.Console
	progress *console.Progress
	read     atomic.Uint64 // bytes of all files
	binary   bool          // whether to read binary files, too
	size     int           // bytes of a block, with its context
	limit    int           // bytes of a block with a long line
}

func newFiles(c *console.Console) *files {
	return &files{console: c, size: blockSize, limit: longLine}
}

// begin shows progress, with a percentage only if all names are regular files.
func (f *files) begin(names []string) {
	total := int64(0)
	for _, name := range names {
		size := input.SizeOf(f.console.In)
		if name != stdin {
			size = -1
			if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() {
				size = info.Size()
			}
		}
		if size < 0 {
			total = -1
			break
		}
		total += size
	}
	f.progress = f.console.NewProgress("bytes", total)
}

// A source is an open file, which is read in blocks.
type source struct {
	files  *files
	name   string   // for people
	file   *os.File // nil: standard input
	waits  bool     // reads may wait for another program
	buffer *bufio.Reader
	plain  io.ReadCloser // reads the text from the buffer; nil before begin

	rest    []byte // the end of the block before: context, and the start of a line
	context int    // rest[:context] is context

	offset int64 // of rest[0] in the file
	line   int   // the number of the line in rest
	start  int64 // the offset of this line

	noted bool  // a block was marked as cut
	err   error // of the last read

	long    sync.Mutex // locked while a block is long
	longBuf []byte     // for the next long block
}

// open opens a file, but does not read it. It uses the buffer, if it is not nil.
func (f *files) open(name string, buffer *bufio.Reader) (*source, error) {
	s := &source{files: f, name: input.Stdin, waits: true, buffer: buffer, line: 1}
	if err := input.Begin(f.console, name, input.Text); err != nil {
		return s, err
	}
	in := f.console.In
	if name != stdin {
		s.name = name
		var err error
		if s.file, err = os.Open(name); err != nil {
			return s, err
		}
		in = s.file
		info, err := s.file.Stat()
		s.waits = err != nil || !info.Mode().IsRegular()
	}
	if s.buffer == nil {
		s.buffer = bufio.NewReaderSize(nil, input.BufferSize)
	}
	s.buffer.Reset(input.Counter{From: in, N: &f.read})
	return s, nil
}

// begin waits for the first bytes of the file, and finds out how to read it.
func (s *source) begin() error {
	if s.plain != nil {
		return nil
	}
	s.plain, s.err = input.Plain(s.buffer)
	return s.readError(s.err)
}

func (s *source) close() {
	if s.plain != nil {
		s.plain.Close()
	}
	if s.file != nil {
		s.file.Close()
	}
}

// A readError ends the reading of an open file. Its blocks before were read.
type readError struct{ error }

func (e readError) Unwrap() error { return e.error }

// readError adds the file's name to an error of reading.
func (s *source) readError(err error) error {
	if err == nil || err == io.EOF {
		return err
	}
	return readError{input.Fault(s.name, err)}
}

// A block is a part of a file: text[from:]. text[:from] is context for the finder.
type block struct {
	buf  []byte
	text string // in buf
	from int

	offset int64 // where the text begins in the file
	line   int   // the number of the line that contains text[from]
	start  int64 // where this line begins in the file

	cut  bool // a line is longer than longestLine, and the block ends its first part
	long bool // the buffer is large; only one block of a file has such a buffer
}

// next reads the next block into b. If possible, a block ends at the end of a line, so a line does not
// wait for the next line. The error is final: [io.EOF] or a readError.
func (s *source) next(b *block) error {
	if s.err != nil {
		return s.readError(s.err)
	}
	size := max(s.files.size, len(s.rest)+1)
	if s.rest == nil {
		size = min(size, input.BufferSize) // the first block is what Plain has read
	}
	b.buf = b.buf[:0]
	s.grow(b, size)
	n := copy(b.buf, s.rest)
	searched := n // buf[context:searched] has no end of a line
	for s.err == nil {
		if n == len(b.buf) {
			s.grow(b, min(2*n, s.files.limit))
		}
		var m int
		m, s.err = s.plain.Read(b.buf[n:])
		if n == 0 && !s.files.binary && bytes.IndexByte(b.buf[:m], 0) >= 0 {
			s.err = errBinary
			break
		}
		n += m
		end := n
		if s.err == nil {
			if n < len(b.buf) && !s.waits {
				continue
			}
			end = s.files.cut(b.buf[:n], searched, s.context)
		}
		searched = n
		if end > s.context {
			s.split(b, end, n)
			return nil
		}
	}
	return s.readError(s.err)
}

// grow makes the buffer larger.
func (s *source) grow(b *block, size int) {
	if size > longLine && !b.long {
		s.long.Lock() // waits until the block before is printed
		b.long = true
		b.buf = append(s.longBuf[:0], b.buf...)
	}
	b.buf = slices.Grow(b.buf, size-len(b.buf))[:size]
}

// split makes the block buf[:end], and keeps the rest of buf[:n], and some context, for the next
// block.
func (s *source) split(b *block, end, n int) {
	b.text, b.from, b.offset = view(b.buf[:end]), s.context, s.offset
	b.line, b.start = s.line, s.start
	b.cut = n == longestLine && !s.noted && b.text[end-1] != '\n'
	s.noted = s.noted || b.cut
	s.line += strings.Count(b.text[b.from:], "\n")
	if i := strings.LastIndexByte(b.text[b.from:], '\n'); i >= 0 {
		s.start = s.offset + int64(b.from+i) + 1
	}
	keep := max(0, end-contextSize)
	s.rest = append(s.rest[:0], b.buf[keep:n]...)
	s.context, s.offset = end-keep, s.offset+int64(keep)
}

// release ends the use of a block.
func (s *source) release(b *block) {
	if b.long {
		s.longBuf, b.buf, b.long = b.buf, nil, false
		s.long.Unlock()
	}
}

// cut returns where the block ends: after the last whole line. In a full buffer without a whole
// line, it ends after a word. text[context:old] has no line end.
func (f *files) cut(text []byte, old, context int) int {
	if i := bytes.LastIndexByte(text[old:], '\n'); i >= 0 {
		return old + i + 1
	}
	if len(text) < f.limit {
		return context
	}
	for i := len(text); i > max(context, len(text)-4096); i-- {
		if !inWord[text[i-1]] {
			return i
		}
	}
	return len(text)
}

// view returns bytes as a string, without a copy, which would take a quarter of the time of a scan.
// The bytes must not change while the string is in use: until the worker reads its next block.
func view(text []byte) string { return unsafe.String(unsafe.SliceData(text), len(text)) }

var errBinary = errors.New("binary file, skipped")

// A place is a file to read, or an error of a folder.
type place struct {
	name   string
	walked bool // whether it was found in a folder
	err    error
}

// walk returns all files. If include has patterns, it returns only files whose base name matches a
// pattern. In folders, it follows no symbolic links.
func walk(names []string, recursive bool, include []string) iter.Seq[place] {
	included := func(name string) bool {
		return name == stdin || len(include) == 0 || slices.ContainsFunc(include,
			func(pattern string) bool {
				ok, _ := filepath.Match(pattern, filepath.Base(name))
				return ok
			})
	}
	return func(yield func(place) bool) {
		more := true
		visit := func(p place) error {
			if more = p.err == nil && !included(p.name) || yield(p); !more {
				return fs.SkipAll
			}
			return nil
		}
		for _, name := range names {
			if !recursive || !isFolder(name) {
				visit(place{name: name})
			} else {
				filepath.WalkDir(name, func(path string, d fs.DirEntry, err error) error {
					switch {
					case err != nil:
						return visit(place{path, true, err})
					case d.Type().IsRegular():
						return visit(place{strings.TrimPrefix(path, "./"), true, nil})
					}
					return nil
				})
			}
			if !more {
				return
			}
		}
	}
}

func isFolder(name string) bool {
	info, err := os.Stat(name)
	return name != stdin && err == nil && info.IsDir()
}
