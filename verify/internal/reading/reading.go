// Package reading turns the lines of an input into IDs.
//
// Three kinds of goroutines share the work: one fills blocks with whole lines, a few turn
// the lines of a block into IDs, and the caller takes the blocks in their order. Blocks
// are used again, so the memory is that of the blocks, however long the input is.
package reading

import (
	"bytes"
	"context"
	"io"
	"time"

	"github.com/sortid/sortid/verify/internal/ids"
)

const (
	// BlockSize is a good size of blocks where there is one input.
	BlockSize = 256 << 10
	// MaxParsers is how many parsing goroutines can be of use: to turn lines into IDs
	// takes less than this many times as long as to check the IDs.
	MaxParsers = 4

	// fillTime is how long a block waits to become full.
	fillTime = 100 * time.Millisecond
)

// A Reader reads the lines of an input in blocks.
type Reader struct {
	free, queue chan *Block
	made        int // blocks
	stop        context.CancelFunc
}

// Options say how to read an input.
type Options struct {
	Format  *ids.Format
	Now     func() time.Time // nil: time.Now
	Eager   bool             // whether to hand on at once what there is
	Size    int              // that of a block in bytes; 0: BlockSize
	Parsers int              // goroutines that turn lines into IDs; 0: 1
}

// New starts reading. The blocks come from Next and go back to Release.
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

// Next returns the next block, or nil after the last one or when ctx has ended.
func (s *Reader) Next(ctx context.Context) *Block {
	select {
	case b := <-s.queue:
		if b != nil {
			<-b.ready
		}
		return b
	case <-ctx.Done():
		return nil
	}
}

// Release takes a block back, to be filled again.
func (s *Reader) Release(b *Block) { s.free <- b }

// Close ends the reading, as soon as a Read of the input returns that has begun.
func (s *Reader) Close() { s.stop() }

// block returns a free block, or nil when ctx has ended. Short inputs do not get to use
// all that there may be.
func (s *Reader) block(ctx context.Context, size int) *Block {
	select {
	case b := <-s.free:
		return b
	default:
	}
	if s.made < cap(s.free) {
		s.made++
		return &Block{buffer: make([]byte, size), ready: make(chan struct{}, 1)}
	}
	select {
	case b := <-s.free:
		return b
	case <-ctx.Done():
		return nil
	}
}

// fill reads the input into blocks of whole lines.
func (s *Reader) fill(ctx context.Context, r io.Reader, o Options, work chan<- *Block) {
	rest := make([]byte, 0, o.Size) // the start of a line whose end is not yet here
	skip := false                   // the line goes on, but is too long to be looked at
	for first, err := true, error(nil); err == nil; {
		b := s.block(ctx, o.Size)
		if b == nil {
			return
		}
		n := copy(b.buffer, rest)
		begin, end := o.Now(), -1
		for idle := 0; err == nil && n < len(b.buffer); {
			var k int
			k, err = r.Read(b.buffer[n:])
			if k > 0 {
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
		if end < 0 || err != nil {
			end, skip = n, err == nil // the last line, or one that fills the block
		}
		b.overlong = skip && end == n
		rest = append(rest[:0], b.buffer[end:n]...)
		b.text, b.first, b.Err = b.buffer[:end], first, err
		first = false
		if ctx.Err() != nil {
			return
		}
		s.queue <- b
		work <- b
	}
}
