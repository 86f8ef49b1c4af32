package scan

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"unsafe"

	"github.com/sortid/sortid/cmd/sortid/internal/console"
	"github.com/sortid/sortid/cmd/sortid/internal/input"
)

// bufferSize limits the part of a file in memory. A longer line is read in parts. If whole lines
// are printed, the limit is longestLine.
const (
	bufferSize  = 256 << 10
	longestLine = 8 << 20
)

const stdin = "-"

type files struct {
	console  *console.Console
	progress *console.Progress
	read     atomic.Uint64 // bytes of all files
	buf      []byte

	name   string // of the current file, for people
	walked bool   // whether the file was found in a folder
	binary bool   // whether to read binary files, too
	limit  int    // bytes of a part, with its context
	// The function part is called for each part of a file: text[from:]. text[:from] is context for
	// the finder. The parameter offset is where the text begins in the file.
	part func(text []byte, from int, offset int64) error
}

func newFiles(c *console.Console) *files {
	return &files{console: c, buf: make([]byte, bufferSize), limit: bufferSize}
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

// open reads a file. It adds the file's name to errors, except to errors from the function part.
func (f *files) open(name string) error {
	in := f.console.In
	f.name = input.Stdin
	if err := input.Begin(f.console, name, input.Text); err != nil {
		return err
	}
	if name != stdin {
		file, err := os.Open(name)
		if err != nil {
			return err
		}
		defer file.Close()
		in, f.name = file, name
	}
	r, err := input.Plain(input.Counter{From: in, N: &f.read})
	if err == nil {
		defer r.Close()
		err = f.parts(r)
	}
	if err == nil || errors.As(err, new(partError)) {
		return err
	}
	return readError{input.Fault(f.name, err)}
}

// A readError ends the reading of an open file. Its parts before were read.
type readError struct{ error }

func (e readError) Unwrap() error { return e.error }

// A partError comes from the function part, not from reading.
type partError struct{ error }

func (e partError) Unwrap() error { return e.error }

// parts calls f.part for each part of a file. If possible, a part ends at the end of a line. So a
// line does not wait for the next line. The last bytes of a part stay in the buffer as context.
func (f *files) parts(r io.Reader) error {
	buf := f.buf
	context, n := 0, 0 // buf[:context] is context; buf[context:n] is new
	offset := int64(0) // of buf[0] in the file
	for first, whole := true, true; ; first = false {
		if n == len(buf) { // a long line
			buf = append(buf, make([]byte, min(n, f.limit-n))...)
			f.buf = buf
		}
		m, err := r.Read(buf[n:])
		f.progress.Show(f.read.Load())
		if first {
			if err := checkText(buf[:m]); err != nil && !(f.binary && err == errBinary) {
				return err
			}
		}
		end := n + m
		if err == nil {
			end = f.cut(buf[:n+m], n, context)
		}
		if n+m == longestLine && whole && buf[end-1] != '\n' {
			f.console.Say("%s: a line is longer than 8 MiB; each of its parts counts as a line", f.name)
			whole = false
		}
		n += m
		if end > context {
			if err := f.part(buf[:end], context, offset); err != nil {
				return partError{err}
			}
			keep := max(0, end-contextSize)
			n = copy(buf, buf[keep:n])
			context, offset = end-keep, offset+int64(keep)
		}
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		}
	}
}

// cut returns where the part ends: after the last whole line. In a full buffer without a whole
// line, the part ends after a word. text[context:old] has no line end.
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
// The bytes must not change while the string is in use: while a file's part is read.
func view(text []byte) string { return unsafe.String(unsafe.SliceData(text), len(text)) }

func checkText(head []byte) error {
	if bytes.IndexByte(head, 0) >= 0 {
		return errBinary
	}
	return nil
}

var errBinary = errors.New("binary file, skipped")

// walk opens each file. If include has patterns, it opens only files whose base name matches a
// pattern. In folders, it follows no symbolic links.
func (f *files) walk(names []string, recursive bool, include []string,
	open func(name string, err error)) {
	visit := func(name string) {
		if name == stdin || len(include) == 0 || slices.ContainsFunc(include,
			func(pattern string) bool {
				ok, _ := filepath.Match(pattern, filepath.Base(name))
				return ok
			}) {
			open(name, nil)
		}
	}
	for _, name := range names {
		if !recursive || !isFolder(name) {
			f.walked = false
			visit(name)
			continue
		}
		f.walked = true
		filepath.WalkDir(name, func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				open(path, err)
			case d.Type().IsRegular():
				visit(strings.TrimPrefix(path, "./"))
			}
			return nil
		})
	}
}

func isFolder(name string) bool {
	info, err := os.Stat(name)
	return name != stdin && err == nil && info.IsDir()
}
