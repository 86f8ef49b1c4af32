// Package extsort sorts records that do not fit in memory. A record has a [Key] and a payload. A
// [Sorter] makes runs, which are sorted, in memory and in files. [Merge] merges runs and other
// sorted inputs.
package extsort

import (
	"bufio"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"sync"

	"github.com/sortid/sortid/internal/integer"
)

const (
	// MaxFanIn is how many files should be open at most. Some systems let a process open only 256
	// files.
	MaxFanIn = 128

	// mergeMemory is the memory for all runs of a merge, in bytes. Long records can need more.
	mergeMemory = 32 << 20
	runBuffer   = 1 << 16

	keySize  = 20
	itemSize = 32 // bytes of a record in memory, without its payload

	// blockSize is the size of the records that are sorted at once, in bytes. They should fit in a
	// processor's cache.
	blockSize = 512 << 10
)

// A Key orders records. It has 192 bits, and its upper 32 bits are zero, because IDs have at most
// 160 bits.
type Key = integer.Words

// A Dir has the files of runs. They are in the folder Parent, or, if Parent is empty, in the
// system's folder for temporary files. If the system permits it, a file has no name from the
// beginning, so that it does not outlive the process.
type Dir struct {
	Parent string

	mu     sync.Mutex
	files  map[*os.File]bool // whether the file still has a name
	closed bool
}

func (d *Dir) create() (*os.File, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil, os.ErrClosed
	}
	if d.files == nil {
		d.files = map[*os.File]bool{}
	}
	if f, err := createUnnamed(cmp.Or(d.Parent, os.TempDir())); err == nil {
		d.files[f] = false
		return f, nil
	}
	f, err := os.CreateTemp(d.Parent, "sortid-")
	if err != nil {
		return nil, fmt.Errorf("cannot make a file for sorting: %w", err)
	}
	d.files[f] = os.Remove(f.Name()) != nil // Windows does not remove an open file
	return f, nil
}

// remove closes and removes a file.
func (d *Dir) remove(f *os.File) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	named := d.files[f]
	delete(d.files, f)
	err := f.Close()
	if named {
		err = errors.Join(err, os.Remove(f.Name()))
	}
	return err
}

// Close removes all runs. A sort that is running then fails.
func (d *Dir) Close() error {
	d.mu.Lock()
	d.closed = true
	files := slices.Collect(maps.Keys(d.files))
	d.mu.Unlock()
	var err error
	for _, f := range files {
		err = errors.Join(err, d.remove(f))
	}
	return err
}

// A Run has sorted records, in a file or in memory. The zero Run is empty.
type Run struct {
	dir   *Dir
	file  *os.File
	items []item // in memory
	text  []byte // their payloads
	size  int64
}

// Size returns the run's size in bytes.
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
	b = binary.BigEndian.AppendUint32(b, uint32(key.High))
	b = binary.BigEndian.AppendUint64(b, key.Mid)
	b = binary.BigEndian.AppendUint64(b, key.Low)
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
	r, err := &Run{dir: w.Dir, file: w.file, size: w.size}, w.w.Flush()
	*w = Writer{Dir: w.Dir}
	return r, err
}

// Discard removes the unfinished run.
func (w *Writer) Discard() {
	if w.file != nil {
		w.Dir.remove(w.file)
	}
	*w = Writer{Dir: w.Dir}
}

// A Sorter sorts records into runs. It writes to a file while it receives more records.
type Sorter struct {
	Context context.Context // It ends merges of files.
	Dir     *Dir
	Memory  int // Bytes of the records in memory.

	// Add appends to batch, while other is written to a file.
	batch, other *batch
	written      chan error // the result of the writing; nil: nothing is being written
	files        []*Run
}

// A batch has the records of half the memory.
type batch struct {
	blocks  []*Run // all but the last are full, and sorted or being sorted
	spare   []*Run // empty blocks with memory
	size    int
	sorting sync.WaitGroup
}

type item struct {
	key        Key
	start, end uint32 // the payload is Run.text[start:end]
}

// Add adds a record. Records with the same key come out in any order.
func (s *Sorter) Add(key Key, payload []byte) error {
	if s.batch == nil {
		s.batch, s.other = new(batch), new(batch)
	}
	size := itemSize + len(payload)
	if s.batch.size > 0 && s.batch.size+size > s.Memory/2 {
		if err := s.write(); err != nil {
			return err
		}
	}
	s.batch.block(size).append(key, payload)
	s.batch.size += size
	return nil
}

// block returns the block for a record of this size.
func (b *batch) block(size int) *Run {
	if n := len(b.blocks); n > 0 {
		last := b.blocks[n-1]
		if len(last.items)*itemSize+len(last.text)+size <= blockSize {
			return last
		}
		b.sorting.Go(last.sort)
	}
	next := &Run{}
	if n := len(b.spare); n > 0 {
		next, b.spare = b.spare[n-1], b.spare[:n-1]
	} else if n := len(b.blocks); n > 0 { // records mostly have similar sizes
		last := b.blocks[n-1]
		next.items = make([]item, 0, len(last.items)+len(last.items)/16)
		next.text = make([]byte, 0, len(last.text)+len(last.text)/16)
	}
	b.blocks = append(b.blocks, next)
	return next
}

func (r *Run) append(key Key, payload []byte) {
	start := uint32(len(r.text))
	r.text = append(r.text, payload...)
	r.items = append(r.items, item{key, start, start + uint32(len(payload))})
}

func (r *Run) sort() {
	slices.SortFunc(r.items, func(a, b item) int { return a.key.Compare(b.key) })
	r.size = int64(len(r.items)*keySize + len(r.text))
}

// finish returns the blocks when they are sorted.
func (b *batch) finish() []*Run {
	if n := len(b.blocks); n > 0 {
		b.blocks[n-1].sort()
	}
	b.sorting.Wait()
	return b.blocks
}

func (b *batch) reset() {
	for _, r := range b.blocks {
		r.items, r.text = r.items[:0], r.text[:0]
	}
	b.spare = append(b.spare, b.blocks...)
	b.blocks, b.size = b.blocks[:0], 0
}

// write begins to write the batch to a file. It first waits for the batch before.
func (s *Sorter) write() error {
	if err := s.wait(); err != nil {
		return err
	}
	full := s.batch
	s.batch, s.other = s.other, full
	written := make(chan error, 1)
	s.written = written
	go func() { written <- s.writeBatch(full) }()
	return nil
}

// wait waits until nothing is being written.
func (s *Sorter) wait() error {
	if s.written == nil {
		return nil
	}
	err := <-s.written
	s.written = nil
	return err
}

func (s *Sorter) writeBatch(b *batch) error {
	if err := s.join(b.finish()); err != nil {
		return err
	}
	b.reset()
	if len(s.files) < MaxFanIn {
		return nil
	}
	return s.limit(MaxFanIn / 2)
}

// limit joins the smallest files, so that at most n files are left.
func (s *Sorter) limit(n int) error {
	joined := len(s.files) - n + 1
	if joined < 2 {
		return nil
	}
	slices.SortFunc(s.files, func(a, b *Run) int { return cmp.Compare(a.size, b.size) })
	small := s.files[:joined]
	s.files = slices.Clone(s.files[joined:])
	return s.join(small)
}

// Finish returns the runs. At most maxFiles of them are in files.
func (s *Sorter) Finish(maxFiles int) ([]*Run, error) {
	if err := s.wait(); err != nil {
		return nil, err
	}
	if err := s.limit(max(maxFiles, 1)); err != nil {
		return nil, err
	}
	s.other = nil
	if s.batch == nil {
		return s.files, nil
	}
	return append(s.files, s.batch.finish()...), nil
}

// join merges runs into a file.
func (s *Sorter) join(runs []*Run) error {
	w := Writer{Dir: s.Dir}
	n := 0
	err := MergeRuns(runs, func(in *Reader, index int, key Key) error {
		if n++; n%(1<<16) == 0 && s.Context.Err() != nil {
			return context.Cause(s.Context)
		}
		return w.Add(key, in.Payload(index))
	})
	if err != nil {
		w.Discard()
		return err
	}
	joined, err := w.Finish()
	s.files = append(s.files, joined)
	return err
}

// MergeRuns is [Merge] for runs. In the end it removes them.
func MergeRuns(runs []*Run, yield func(in *Reader, index int, key Key) error) error {
	inputs := make([]*Reader, len(runs))
	for i, r := range runs {
		inputs[i] = r.Open(len(runs))
		defer inputs[i].Close()
	}
	return Merge(inputs, yield)
}

// A Reader is an [Input] that reads a run.
type Reader struct {
	run      *Run
	position int64
	buffer   []byte
	rest     []byte // part of buffer not parsed yet
	items    []item // the rest of a run in memory
	keys     []Key
	payloads [][2]uint32 // start and end of each payload in buffer
}

// Open opens the run for a merge. A run can be opened once. The more inputs the merge has, the less
// memory the Reader uses.
func (r *Run) Open(inputs int) *Reader {
	in := &Reader{run: r, buffer: r.text, items: r.items}
	if r.file != nil {
		in.buffer = make([]byte, 0, min(runBuffer, max(4096, mergeMemory/inputs/4)))
	}
	return in
}

// Next implements [Input].
func (r *Reader) Next() ([]Key, error) {
	r.keys, r.payloads = r.keys[:0], r.payloads[:0]
	if r.run.file == nil {
		r.nextItems()
		return r.keys, nil
	}
	for ended := false; !ended; {
		kept := copy(r.buffer[:cap(r.buffer)], r.rest)
		if kept == cap(r.buffer) {
			r.buffer = append(r.buffer[:kept], make([]byte, cap(r.buffer))...)
		}
		n, err := r.run.file.ReadAt(r.buffer[kept:cap(r.buffer)], r.position)
		if ended = err == io.EOF; err != nil && !ended {
			return nil, err
		}
		r.position += int64(n)
		r.buffer = r.buffer[:kept+n]
		r.parse()
		if len(r.keys) > 0 {
			return r.keys, nil
		}
		if ended && len(r.rest) > 0 {
			return nil, fmt.Errorf("%s: %w", r.run.file.Name(), io.ErrUnexpectedEOF)
		}
	}
	return nil, nil
}

// nextItems reads from memory.
func (r *Reader) nextItems() {
	n := min(len(r.items), 512)
	for i := range r.items[:n] {
		item := &r.items[i]
		r.keys, r.payloads = append(r.keys, item.key), append(r.payloads,
			[2]uint32{item.start, item.end})
		r.position += int64(keySize + item.end - item.start)
	}
	r.items = r.items[n:]
}

func (r *Reader) parse() {
	i := 0
	for b := r.buffer; len(b)-i > keySize; {
		n, width := binary.Uvarint(b[i+keySize:])
		start := i + keySize + width
		if width <= 0 || uint64(len(b)-start) < n {
			break
		}
		r.keys = append(r.keys, Key{High: uint64(binary.BigEndian.Uint32(b[i:])),
			Mid: binary.BigEndian.Uint64(b[i+4:]), Low: binary.BigEndian.Uint64(b[i+12:])})
		i = start + int(n)
		r.payloads = append(r.payloads, [2]uint32{uint32(start), uint32(i)})
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

// Close implements [Input]. It removes the run.
func (r *Reader) Close() error {
	if r.run.file == nil {
		return nil
	}
	return r.run.dir.remove(r.run.file)
}
