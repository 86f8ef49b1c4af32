// Package extsort sorts records that do not fit in memory. A record is a [Key] and bytes, which are
// called payload. A [Sorter] writes sorted files, which are called runs. [Merge] merges runs and
// other sorted inputs.
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

	"github.com/sortid/sortid/format"
)

const (
	// MaxFanIn is the largest number of inputs of a merge.
	MaxFanIn = 256

	// mergeMemory is how many bytes the blocks of all runs have. Long records can need more.
	mergeMemory = 32 << 20
	runBuffer   = 1 << 16

	keySize  = 20
	itemSize = 32 // bytes of a record in memory, without its payload
)

// A Key orders records. Its upper 32 bits are zero, because IDs have at most 160 bits.
type Key = format.Words

// A Dir is a folder for runs. The first run creates the folder in Parent. If Parent is empty, the
// folder is in the system's folder for temporary files.
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

// Close removes the folder and all runs. Close may be called during a sort, which then fails.
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

// Finish returns the run, which may be empty. The Writer can then write another run.
func (w *Writer) Finish() (*Run, error) {
	if w.file == nil {
		return &Run{}, nil
	}
	err := errors.Join(w.w.Flush(), w.file.Close())
	r := &Run{w.file.Name(), w.size}
	*w = Writer{Dir: w.Dir}
	return r, err
}

// Discard removes what was written.
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
	key    Key
	at, to uint32 // of its payload
}

// Add adds a record. Records with the same key come out in any order.
func (s *Sorter) Add(key Key, payload []byte) error {
	if n := len(s.items); n > 0 && (n+1)*itemSize+len(s.payloads)+len(payload) > s.Memory {
		if err := s.flush(); err != nil {
			return err
		}
	}
	at := uint32(len(s.payloads))
	s.payloads = append(s.payloads, payload...)
	s.items = append(s.items, item{key, at, at + uint32(len(payload))})
	return nil
}

func (s *Sorter) flush() error {
	slices.SortFunc(s.items, func(a, b item) int { return a.key.Compare(b.key) })
	w := Writer{Dir: s.Dir}
	for _, i := range s.items {
		if err := w.Add(i.key, s.payloads[i.at:i.to]); err != nil {
			return err
		}
	}
	s.items, s.payloads = s.items[:0], s.payloads[:0]
	r, err := w.Finish()
	s.runs = append(s.runs, r)
	return err
}

// Finish returns the runs. If there are more than most, Finish merges some of them.
func (s *Sorter) Finish(ctx context.Context, most int) ([]*Run, error) {
	if len(s.items) > 0 {
		if err := s.flush(); err != nil {
			return nil, err
		}
	}
	s.items, s.payloads = nil, nil
	for most = max(most, 2); len(s.runs) > most; {
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
	err := Merge(inputs, func(in *Reader, at int, key Key) error {
		if n++; n%(1<<16) == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return w.Add(key, in.Payload(at))
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
	file   *os.File
	at     int64
	buffer []byte
	rest   []byte // part of buffer not parsed yet
	keys   []Key
	places [][2]int // of the payloads in buffer
}

// Open opens the run for a merge with this number of inputs, because they share the memory.
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
	r.keys, r.places = r.keys[:0], r.places[:0]
	for ended := r.file == nil; !ended; {
		kept := copy(r.buffer[:cap(r.buffer)], r.rest)
		if kept == cap(r.buffer) {
			r.buffer = append(r.buffer[:kept], make([]byte, cap(r.buffer))...)
		}
		n, err := io.ReadFull(r.file, r.buffer[kept:cap(r.buffer)])
		if ended = err == io.EOF || err == io.ErrUnexpectedEOF; err != nil && !ended {
			return nil, err
		}
		r.at += int64(n)
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
		r.places = append(r.places, [2]int{start, i})
	}
	r.rest = r.buffer[i:]
}

// Payload returns the payload of a record in the last block. It is valid until the next call of
// Next.
func (r *Reader) Payload(at int) []byte {
	p := r.places[at]
	return r.buffer[p[0]:p[1]]
}

// Position returns how many bytes were read.
func (r *Reader) Position() int64 { return r.at }

// Close implements [Input].
func (r *Reader) Close() error {
	if r.file == nil {
		return nil
	}
	return r.file.Close()
}
