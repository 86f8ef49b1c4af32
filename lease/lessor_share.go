package lease

import (
	"context"
	"sync"
	"time"
)

// A share lets many callers share one read. A caller gets only what a read returns that began
// after the call.
type share[T any] struct {
	mu      sync.Mutex
	running int
	next    *shared[T]
}

type shared[T any] struct {
	done  chan struct{}
	value T
	err   error
}

const (
	shareReads = 2 // reads at a time, because one of them may hang
	shareLimit = 10 * time.Second
)

func (s *share[T]) do(ctx context.Context, read func(context.Context) (T, error)) (v T, err error) {
	s.mu.Lock()
	c := s.next
	if c == nil {
		c = &shared[T]{done: make(chan struct{})}
		s.next = c
		if s.running < shareReads {
			s.running++
			go s.run(context.WithoutCancel(ctx), read)
		}
	}
	s.mu.Unlock()
	select {
	case <-c.done:
		return c.value, c.err
	case <-ctx.Done():
		return v, context.Cause(ctx)
	}
}

// doShort is like do, for a read of one request. If few others read, the caller reads by itself,
// which saves a change of goroutines and back.
func (s *share[T]) doShort(ctx context.Context,
	read func(context.Context) (T, error)) (T, error) {
	s.mu.Lock()
	if s.running == shareReads {
		s.mu.Unlock()
		return s.do(ctx, read)
	}
	s.running++
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.next == nil {
			s.running--
		} else {
			go s.run(context.WithoutCancel(ctx), read)
		}
	}()
	limited, cancel := context.WithTimeout(ctx, shareLimit)
	defer cancel()
	return read(limited)
}

func (s *share[T]) run(ctx context.Context, read func(context.Context) (T, error)) {
	for {
		s.mu.Lock()
		c := s.next
		if s.next = nil; c == nil {
			s.running--
			s.mu.Unlock()
			return
		}
		s.mu.Unlock()
		limited, cancel := context.WithTimeout(ctx, shareLimit)
		c.value, c.err = read(limited)
		cancel()
		close(c.done)
	}
}
