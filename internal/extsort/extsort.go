// Package extsort sorts records that do not fit in memory. A record has a [Key] and a payload. A
// [Sorter] writes runs, which are sorted files. [Merge] merges runs and other sorted inputs.
package extsort

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"

	"github.com/sortid/sortid/internal/integer"
)

const (
	// MaxFanIn is how many inputs one merge should have at most. Some systems let a process open
	// only 256 files.
	MaxFanIn = 128

	// mergeMemory is the memory for all runs of a merge, in bytes. Long records can need more.
	mergeMemory = 32 << 20
	runBuffer   = 1 << 16

	keySize  = 20
	itemSize = 32 // bytes of a record in memory, without its payload
)

// A Key orders records. It has 192 bits, and its upper 32 bits are zero, because IDs have at most
// 160 bits.
type Key = integer.Words

// A Dir is a folder for runs. A Writer makes it in Parent before the first run. If Parent is empty,
// the folder is in the system's folder for temporary files.
type Dir struct {
	Parent string

	mu     sync.Mutex
	name   string
	closed bool
}

func (d *Dir) create() (*os.File, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil, os.ErrClosed
	}
	if d.name == "" {
		name, err := os.MkdirTemp(d.Parent, "sortid-")
		if err != nil {
			return nil, fmt.Errorf("cannot make a folder for sorting: %w", err)
		}
		d.name = name
	}
	return os.CreateTemp(d.name, "")
}

// Close removes the folder and all runs. A sort that is running then fails.
func (d *Dir) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
	if d.name == "" {
		return nil
	}
	return os.RemoveAll(d.name)
}

// A Run is a file of sorted records. The zero Run is empty.
type Run struct {
	name string
	size int64
}

// Size returns the run's size on disk, in bytes.
func (r *Run) Size() int64 { return r.size }

// A Writer writes sorted records to a run.
type Writer struct {
	Dir *Dir

	file *os.File
	w    *bufio.Writer
	size int64
}

// Add writes a record.
func (w *Writer) Add(key Key, payload []byte) error {
	if w.file == nil {
		f, err := w.Dir.create()
		if err != nil {
			return err
		}
		w.file, w.w = f, bufio.NewWriterSize(f, runBuffer)
	}
	b := w.w.AvailableBuffer()
	b = binary.BigEndian.AppendUint32(b, uint32(key[0]))
	b = binary.BigEndian.AppendUint64(b, key[1])
	b = binary.BigEndian.AppendUint64(b, key[2])
	b = binary.AppendUvarint(b, uint64(len(payload)))
	w.size += int64(len(b) + len(payload))
	if _, err := w.w.Write(b); err != nil {
		return err
	}
	_, err := w.w.Write(payload)
	return err
}

// Finish returns the run, which can be empty. The Writer can then write another run.
func (w *Writer) Finish() (*Run, error) {
	if w.file == nil {
		return &Run{}, nil
	}
	err := errors.Join(w.w.Flush(), w.file.Close())
	r := &Run{w.file.Name(), w.size}
	*w = Writer{Dir: w.Dir}
	return r, err
}

// Discard removes the unfinished run.
func (w *Writer) Discard() {
	if w.file != nil {
		w.file.Close()
		os.Remove(w.file.Name())
	}
	*w = Writer{Dir: w.Dir}
}

// A Sorter sorts records into runs.
type Sorter struct {
	Dir    *Dir
	Memory int // bytes of the records that are sorted at once

	items    []item
	payloads []byte
	runs     []*Run
}

type item struct {
	key        Key
	start, end uint32 // the payload is Sorter.payloads[start:end]
}

// Add adds a record. Records with the same key come out in any order.
func (s *Sorter) Add(key Key, payload []byte) error {
	if n := len(s.items); n > 0 && (n+1)*itemSize+len(s.payloads)+len(payload) > s.Memory {
		if err := s.flush(); err != nil {
			return err
		}
	}
	start := uint32(len(s.payloads))
	s.payloads = append(s.payloads, payload...)
	s.items = append(s.items, item{key, start, start + uint32(len(payload))})
	return nil
}

func (s *Sorter) flush() error {
	slices.SortFunc(s.items, func(a, b item) int { return a.key.Compare(b.key) })
	w := Writer{Dir: s.Dir}
	for _, i := range s.items {
		if err := w.Add(i.key, s.payloads[i.start:i.end]); err != nil {
			return err
		}
	}
	s.items, s.payloads = s.items[:0], s.payloads[:0]
	r, err := w.Finish()
	s.runs = append(s.runs, r)
	return err
}

// Finish returns the runs. If there are more than maxRuns, Finish first merges some of them.
func (s *Sorter) Finish(ctx context.Context, maxRuns int) ([]*Run, error) {
	if len(s.items) > 0 {
		if err := s.flush(); err != nil {
			return nil, err
		}
	}
	s.items, s.payloads = nil, nil
	for maxRuns = max(maxRuns, 2); len(s.runs) > maxRuns; {
		n := min(MaxFanIn, len(s.runs))
		joined, err := join(ctx, s.Dir, s.runs[:n])
		if err != nil {
			return nil, err
		}
		s.runs = append(s.runs[n:], joined)
	}
	return s.runs, nil
}

func join(ctx context.Context, dir *Dir, runs []*Run) (*Run, error) {
	inputs := make([]*Reader, 0, len(runs))
	defer func() {
		for _, in := range inputs {
			in.Close()
		}
	}()
	for _, r := range runs {
		in, err := r.Open(len(runs))
		if err != nil {
			return nil, err
		}
		inputs = append(inputs, in)
	}
	w := Writer{Dir: dir}
	n := 0
	err := Merge(inputs, func(in *Reader, index int, key Key) error {
		if n++; n%(1<<16) == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return w.Add(key, in.Payload(index))
	})
	if err != nil {
		w.Discard()
		return nil, err
	}
	joined, err := w.Finish()
	for _, r := range runs {
		os.Remove(r.name)
	}
	return joined, err
}

// A Reader is an [Input] that reads a run.
type Reader struct {
	file     *os.File
	position int64
	buffer   []byte
	rest     []byte // part of buffer not parsed yet
	keys     []Key
	payloads [][2]int // start and end of each payload in buffer
}

// Open opens the run for a merge. The more inputs the merge has, the less memory the Reader uses.
func (r *Run) Open(inputs int) (*Reader, error) {
	if r.name == "" {
		return &Reader{}, nil
	}
	f, err := os.Open(r.name)
	if err != nil {
		return nil, err
	}
	size := min(runBuffer, max(4096, mergeMemory/inputs/4))
	return &Reader{file: f, buffer: make([]byte, 0, size)}, nil
}

// Next implements [Input].
func (r *Reader) Next() ([]Key, error) {
	r.keys, r.payloads = r.keys[:0], r.payloads[:0]
	for ended := r.file == nil; !ended; {
		kept := copy(r.buffer[:cap(r.buffer)], r.rest)
		if kept == cap(r.buffer) {
			r.buffer = append(r.buffer[:kept], make([]byte, cap(r.buffer))...)
		}
		n, err := io.ReadFull(r.file, r.buffer[kept:cap(r.buffer)])
		if ended = err == io.EOF || err == io.ErrUnexpectedEOF; err != nil && !ended {
			return nil, err
		}
		r.position += int64(n)
		r.buffer = r.buffer[:kept+n]
		r.parse()
		if len(r.keys) > 0 {
			return r.keys, nil
		}
		if ended && len(r.rest) > 0 {
			return nil, fmt.Errorf("%s: %w", r.file.Name(), io.ErrUnexpectedEOF)
		}
	}
	return nil, nil
}

func (r *Reader) parse() {
	i := 0
	for b := r.buffer; len(b)-i > keySize; {
		n, width := binary.Uvarint(b[i+keySize:])
		start := i + keySize + width
		if width <= 0 || uint64(len(b)-start) < n {
			break
		}
		r.keys = append(r.keys, Key{uint64(binary.BigEndian.Uint32(b[i:])),
			binary.BigEndian.Uint64(b[i+4:]), binary.BigEndian.Uint64(b[i+12:])})
		i = start + int(n)
		r.payloads = append(r.payloads, [2]int{start, i})
	}
	r.rest = r.buffer[i:]
}

// Payload returns the payload of the key at this index in the list from Next. It is valid until the
// next call of Next.
func (r *Reader) Payload(index int) []byte {
	p := r.payloads[index]
	return r.buffer[p[0]:p[1]]
}

// Position returns how many bytes were read.
func (r *Reader) Position() int64 { return r.position }

// Close implements [Input].
func (r *Reader) Close() error {
	if r.file == nil {
		return nil
	}
	return r.file.Close()
}
