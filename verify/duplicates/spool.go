package duplicates

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/sortid/sortid/format"
)

// A spool is a folder for records that do not fit in memory. The first file creates it.
type spool struct {
	parent, dir string
	files       int
}

func (s *spool) create() (*os.File, error) {
	if s.dir == "" {
		dir, err := os.MkdirTemp(s.parent, "sortid-")
		if err != nil {
			return nil, fmt.Errorf("no place on disk to sort: %w", err)
		}
		s.dir = dir
	}
	s.files++
	return os.Create(filepath.Join(s.dir, fmt.Sprint(s.files)))
}

func (s *spool) close() {
	if s.dir != "" {
		os.RemoveAll(s.dir)
	}
}

const (
	recordSize = 32
	// sortRecords is how many records are sorted in memory at once.
	sortRecords = 1 << 20
	runBuffer   = 1 << 16
)

func (r record) put(b *[recordSize]byte) {
	binary.BigEndian.PutUint32(b[0:], uint32(r.id[0])) // no ID has more than 160 bits
	binary.BigEndian.PutUint64(b[4:], r.id[1])
	binary.BigEndian.PutUint64(b[12:], r.id[2])
	binary.BigEndian.PutUint32(b[20:], r.source)
	binary.BigEndian.PutUint64(b[24:], r.line)
}

func (r *record) get(b *[recordSize]byte) {
	r.id[0] = uint64(binary.BigEndian.Uint32(b[0:]))
	r.id[1] = binary.BigEndian.Uint64(b[4:])
	r.id[2] = binary.BigEndian.Uint64(b[12:])
	r.source = binary.BigEndian.Uint32(b[20:])
	r.line = binary.BigEndian.Uint64(b[24:])
}

// A run is a file of records in order.
type run struct {
	name string
	n    uint64
}

// A runWriter writes a run.
type runWriter struct {
	spool *spool
	file  *os.File
	w     *bufio.Writer
	n     uint64
}

func (w *runWriter) add(r record) error {
	if w.file == nil {
		f, err := w.spool.create()
		if err != nil {
			return err
		}
		w.file, w.w = f, bufio.NewWriterSize(f, runBuffer)
	}
	w.n++
	var b [recordSize]byte
	r.put(&b)
	_, err := w.w.Write(b[:])
	return err
}

// finish returns the run, which may be empty.
func (w *runWriter) finish() (*run, error) {
	if w.file == nil {
		return &run{}, nil
	}
	err := errors.Join(w.w.Flush(), w.file.Close())
	r := &run{w.file.Name(), w.n}
	*w = runWriter{spool: w.spool}
	return r, err
}

// discard removes the file.
func (w *runWriter) discard() {
	if w.file != nil {
		w.file.Close()
		os.Remove(w.file.Name())
	}
}

// groups yields each group of records with the same ID: its first maxPlaces records, and how
// many there are.
func (w *runWriter) groups(yield func(group []record, n uint64)) error {
	r, err := w.finish()
	if err != nil || r.n == 0 {
		return err
	}
	in, err := r.open(1)
	if err != nil {
		return err
	}
	defer in.close()
	var group []record
	n := uint64(0)
	c := &cursor{lines: in}
	err = merge([]*cursor{c}, func(r record) error {
		if n > 0 && r.id != group[0].id {
			yield(group, n)
			group, n = group[:0], 0
		}
		if n++; len(group) < maxPlaces {
			group = append(group, r)
		}
		return nil
	})
	if err == nil && n > 0 {
		yield(group, n)
	}
	return err
}

// open opens a run for reading. The inputs share the memory.
func (r *run) open(inputs int) (*runLines, error) {
	size := min(runBuffer, max(4096, mergeMemory/inputs/4))
	l := &runLines{buffer: make([]byte, size/recordSize*recordSize)}
	if r.n == 0 {
		return l, nil
	}
	f, err := os.Open(r.name)
	l.file = f
	return l, err
}

func (r *run) remove() { os.Remove(r.name) }

// runLines fills a cursor from a run.
type runLines struct {
	file   *os.File
	at     int64
	buffer []byte
	ids    []format.Words
	origin []origin
}

func (l *runLines) fill(c *cursor) (bool, error) {
	if l.file == nil {
		return false, nil
	}
	n, err := io.ReadFull(l.file, l.buffer)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return false, err
	}
	l.at += int64(n)
	if n%recordSize != 0 {
		return false, fmt.Errorf("%s: %w", l.file.Name(), io.ErrUnexpectedEOF)
	}
	l.ids, l.origin = l.ids[:0], l.origin[:0]
	for b := l.buffer[:n]; len(b) > 0; b = b[recordSize:] {
		var r record
		r.get((*[recordSize]byte)(b))
		l.ids = append(l.ids, r.id)
		l.origin = append(l.origin, origin{r.source, r.line})
	}
	c.ids, c.origin = l.ids, l.origin
	return n > 0, nil
}

func (l *runLines) close() {
	if l.file != nil {
		l.file.Close()
	}
}

// A sorter writes records that come in any order to runs.
type sorter struct {
	spool   *spool
	records []record
	runs    []*run
}

func (s *sorter) add(r record) error {
	if s.records == nil {
		s.records = make([]record, 0, sortRecords)
	}
	s.records = append(s.records, r)
	if len(s.records) < sortRecords {
		return nil
	}
	return s.flush()
}

func (s *sorter) flush() error {
	slices.SortFunc(s.records, func(a, b record) int { return a.id.Compare(b.id) })
	w := runWriter{spool: s.spool}
	for _, r := range s.records {
		if err := w.add(r); err != nil {
			return err
		}
	}
	s.records = s.records[:0]
	r, err := w.finish()
	s.runs = append(s.runs, r)
	return err
}

func (s *sorter) finish() ([]*run, error) {
	if len(s.records) > 0 {
		if err := s.flush(); err != nil {
			return nil, err
		}
	}
	s.records = nil
	return s.runs, nil
}

// Position is the method that [Source.Size] describes.
func (l *runLines) Position() int64 { return l.at }
