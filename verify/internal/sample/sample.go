// Package sample turns an input's lines into IDs, in blocks.
//
// One goroutine fills blocks with whole lines, and other goroutines parse the blocks. The caller
// gets the blocks in order, and returns them with [Reader.Release].
package sample

import (
	"bytes"
	"context"
	"io"
	"time"
)

const (
	// BlockSize is the default size of a block, in bytes.
	BlockSize = 256 << 10
	// MaxParsers is the largest useful number of parsers. Four parsers are faster than the one
	// goroutine that checks the IDs.
	MaxParsers = 4

	// fillTime is the longest wait for a full block.
	fillTime = 100 * time.Millisecond
)

type Reader struct {
	free, queue chan *Block
	stop        context.CancelFunc
}

type Options struct {
	Format  *Format
	Now     func() time.Time // Nil means time.Now.
	Eager   bool             // Return blocks before they are full.
	Size    int              // Bytes of a block; 0 means BlockSize.
	Parsers int              // Goroutines that parse; 0 means 1.
}

func New(ctx context.Context, r io.Reader, o Options) *Reader {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Size == 0 {
		o.Size = BlockSize
	}
	o.Parsers = max(o.Parsers, 1)
	ctx, stop := context.WithCancel(ctx)
	blocks := o.Parsers + 2
	s := &Reader{free: make(chan *Block, blocks), queue: make(chan *Block, blocks), stop: stop}
	for range blocks {
		s.free <- &Block{ready: make(chan struct{}, 1)}
	}
	work := make(chan *Block, blocks)
	go func() {
		defer close(work)
		defer close(s.queue)
		s.fill(ctx, r, o, work)
	}()
	for range o.Parsers {
		go func() {
			for b := range work {
				b.parse(o.Format)
				b.ready <- struct{}{}
			}
		}()
	}
	return s
}

// Next returns the next block, or nil at the end. If the context of New ends, the last block has
// the lines read until then.
func (s *Reader) Next() *Block {
	b := <-s.queue
	if b != nil {
		<-b.ready
	}
	return b
}

func (s *Reader) Release(b *Block) { s.free <- b }

// Close ends the reading, but does not interrupt a running Read.
func (s *Reader) Close() { s.stop() }

// block returns a free block, or nil if ctx has ended. It makes buffers only when needed, because a
// short input needs few.
func (s *Reader) block(ctx context.Context, size int) *Block {
	select {
	case b := <-s.free:
		if b.buffer == nil {
			b.buffer = make([]byte, size)
		}
		return b
	case <-ctx.Done():
		return nil
	}
}

// The type reads calls Read in a goroutine, so that the caller can stop waiting when the context
// ends.
type reads struct {
	ctx    context.Context
	want   chan []byte
	result chan readResult
}

type readResult struct {
	n   int
	err error
}

func newReads(ctx context.Context, r io.Reader) *reads {
	in := &reads{ctx, make(chan []byte), make(chan readResult, 1)}
	go func() {
		for b := range in.want {
			n, err := r.Read(b)
			in.result <- readResult{n, err}
		}
	}()
	return in
}

// read reads into b. If the context ends first, ok is false and Read may still write to b.
func (in *reads) read(b []byte) (n int, ok bool, err error) {
	in.want <- b
	select {
	case got := <-in.result:
		return got.n, true, got.err
	case <-in.ctx.Done():
	}
	select {
	case got := <-in.result:
		return got.n, true, got.err
	default:
		return 0, false, nil
	}
}

func (s *Reader) fill(ctx context.Context, r io.Reader, o Options, work chan<- *Block) {
	in := newReads(ctx, r)
	defer close(in.want)
	rest := make([]byte, 0, o.Size) // the start of an incomplete line
	skip := false
	for first, ok, err := true, true, error(nil); ok && err == nil; {
		b := s.block(ctx, o.Size)
		if b == nil {
			return
		}
		n := copy(b.buffer, rest)
		begin, end := o.Now(), -1
		for idle := 0; err == nil && n < len(b.buffer); {
			var k int
			if k, ok, err = in.read(b.buffer[n:]); !ok {
				break
			} else if k > 0 {
				idle = 0
			} else if idle++; idle > 100 && err == nil {
				err = io.ErrNoProgress
			}
			if skip {
				i := bytes.IndexByte(b.buffer[n:n+k], '\n')
				if i < 0 {
					continue
				}
				k = copy(b.buffer[n:], b.buffer[n+i+1:n+k])
				skip = false
			}
			if i := bytes.LastIndexByte(b.buffer[n:n+k], '\n'); i >= 0 {
				end = n + i + 1
			}
			n += k
			b.At = o.Now()
			if end >= 0 && (o.Eager || b.At.Sub(begin) > fillTime) {
				break
			}
		}
		if !ok { // interrupted: drop the incomplete line
			if end < 0 {
				return
			}
		} else if end < 0 || err != nil {
			end, skip = n, err == nil // the last line, or a line as long as a block
		}
		b.overlong = skip && end == n
		rest = append(rest[:0], b.buffer[end:n]...)
		b.text, b.first, b.Err = b.buffer[:end], first, err
		first = false
		s.queue <- b
		work <- b
	}
}
