package main

import (
	"context"
	"io"
	"math"
	"runtime"
	"sync"
	"time"

	"github.com/sortid/sortid/cmd/sortid/internal/console"
	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/generate"
)

type productionOptions struct {
	Encode func(batch generate.Batch, b []byte, sep byte) []byte
	Count  uint64  // math.MaxUint64: no end
	Paced  bool    // the clock stands still, so one worker makes all IDs
	Rate   float64 // IDs a second; 0: as fast as possible
}

// produce makes IDs, and writes them to standard output in order. It returns the last ID, or the
// zero ID if there is none.
func produce(ctx context.Context, c *console.Console, g generate.Generator,
	o productionOptions) (last format.ID, err error) {
	total := int64(-1)
	if o.Count < math.MaxInt64 {
		total = int64(o.Count)
	}
	p := &production{out: c.Out, generator: g, encode: o.Encode, left: o.Count,
		progress: c.Progress("IDs", total)}
	defer p.progress.End()
	if o.Paced || o.Rate != 0 {
		err = p.walk(ctx, o.Rate)
	} else {
		err = p.race(ctx)
	}
	return p.last, err
}

type production struct {
	out       io.Writer
	generator generate.Generator
	encode    func(batch generate.Batch, b []byte, sep byte) []byte
	left      uint64 // IDs still to make
	progress  *console.Progress

	mu      sync.Mutex
	size    int // of the next batch
	last    format.ID
	written uint64
	err     error
}

const (
	maxBatch  = 16384                 // small enough for the cache, large enough for few writes
	slowBatch = 10 * time.Millisecond // after a slower batch, the next is smaller
)

// race makes IDs as fast as possible. Workers take turns at the generator and at the output, so
// batches are in order. In between, they format texts in parallel. The first batches are small, so
// that the first IDs appear at once.
func (p *production) race(ctx context.Context) error {
	p.size = 1
	if p.left > maxBatch {
		console.Widen(p.out)
	}
	turn := make(chan struct{})
	close(turn)
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), 4) {
		workers.Go(func() {
			batch := p.generator.NewBatch()
			var text []byte
			for {
				p.mu.Lock()
				n, err := p.fill(ctx, batch)
				before, after := turn, make(chan struct{})
				turn = after
				p.mu.Unlock()
				if n > 0 {
					text = p.encode(batch, text[:0], '\n')
				}
				<-before
				p.write(text, n, err)
				close(after)
				if n == 0 {
					return
				}
			}
		})
	}
	workers.Wait()
	return p.err
}

// fill makes the next batch, and returns its size, or 0 at the end.
func (p *production) fill(ctx context.Context, batch generate.Batch) (int, error) {
	n := int(min(p.left, uint64(p.size)))
	if n == 0 || ctx.Err() != nil {
		return 0, context.Cause(ctx)
	}
	start := time.Now()
	if err := batch.Fill(ctx, n); err != nil {
		p.left = 0
		return 0, err
	}
	p.last = batch.Last()
	if p.left != math.MaxUint64 {
		p.left -= uint64(n)
	}
	if time.Since(start) < slowBatch {
		p.size = min(2*p.size, maxBatch)
	} else {
		p.size = max(p.size/2, 1)
	}
	return n, nil
}

func (p *production) write(text []byte, n int, err error) {
	if err == nil && p.err == nil && n > 0 {
		_, err = p.out.Write(text)
		p.written += uint64(n)
		p.progress.Show(p.written)
	}
	if err != nil && p.err == nil {
		p.err = err
		p.mu.Lock()
		p.left = 0
		p.mu.Unlock()
	}
}

// walk makes one batch after another. If perSecond is not 0, it makes at most that many IDs a
// second. It counts the IDs due since the start, so that delays do not add up.
func (p *production) walk(ctx context.Context, perSecond float64) error {
	batch := p.generator.NewBatch()
	var text []byte
	start := time.Now()
	for p.left > 0 {
		n := uint64(maxBatch)
		if perSecond > 0 {
			due := time.Since(start).Seconds()*perSecond + 1 - float64(p.written)
			if due < 1 {
				next := min(float64(p.written)/perSecond, 1e9) // seconds
				wait := time.Duration(next*1e9) - time.Since(start)
				if err := console.Sleep(ctx, wait); err != nil {
					return err
				}
				continue
			}
			n = uint64(min(due, maxBatch))
		}
		p.size = int(n)
		made, err := p.fill(ctx, batch)
		if err != nil {
			return err
		}
		text = p.encode(batch, text[:0], '\n')
		if p.write(text, made, nil); p.err != nil {
			return p.err
		}
	}
	return nil
}
