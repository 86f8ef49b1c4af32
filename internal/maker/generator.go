package maker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/sortid/sortid/internal/integer"
)

// A Generator makes the IDs of one format; see generate.Generator.
type Generator interface {
	Next(ctx context.Context) (integer.Words, error)
	NextAt(at time.Time) (integer.Words, error)
	NewBatch() Batch
}

// A Batch contains IDs; see generate.Batch.
type Batch interface {
	Fill(ctx context.Context, n int) error
	Len() int
	At(i int) integer.Words
	// AppendText appends the texts of all IDs, with sep after each ID.
	AppendText(b []byte, sep byte) []byte
}

// An ID is an ID of a format's package.
type ID interface {
	Time() time.Time
	AppendText([]byte) ([]byte, error)
}

// A Source is a generator of a format's package.
type Source[T any] interface {
	GenerateContext(context.Context) (T, error)
	FillContext(context.Context, []T) error
}

// Of is a [Generator] of IDs with the type T.
type Of[T ID] struct {
	Source Source[T]
	At     func(time.Time) (T, error) // nil if Maker.NoAt
	Words  func(T) integer.Words
	Fixed  *FixedClock // the source's clock, or nil
	// Texts appends the texts of all IDs faster than calls for each ID. It may be nil.
	Texts func(b []byte, ids []T, sep byte) []byte
}

// Next returns the next ID.
func (g *Of[T]) Next(ctx context.Context) (w integer.Words, err error) {
	v, err := g.next(ctx)
	if err != nil {
		return w, err
	}
	return g.Words(v), nil
}

// NextAt returns an ID of the time at.
func (g *Of[T]) NextAt(at time.Time) (w integer.Words, err error) {
	v, err := g.At(at)
	if err != nil {
		return w, err
	}
	return g.Words(v), nil
}

func (g *Of[T]) next(ctx context.Context) (T, error) {
	v, err := g.Source.GenerateContext(ctx)
	if err == nil && g.Fixed != nil {
		g.Fixed.follow(v.Time())
	}
	return v, err
}

// NewBatch returns an empty batch.
func (g *Of[T]) NewBatch() Batch { return &batch[T]{Of: g} }

type batch[T ID] struct {
	*Of[T]
	ids []T
}

func (b *batch[T]) Fill(ctx context.Context, n int) error {
	ids := slices.Grow(b.ids[:0], n)[:n]
	b.ids = ids[:0]
	if b.Fixed == nil {
		if err := b.Source.FillContext(ctx, ids); err != nil {
			return err
		}
	} else {
		for i := range ids {
			var err error
			if ids[i], err = b.next(ctx); err != nil {
				return err
			}
		}
	}
	b.ids = ids
	return nil
}

func (b *batch[T]) Len() int { return len(b.ids) }

func (b *batch[T]) At(i int) integer.Words { return b.Words(b.ids[i]) }

func (b *batch[T]) AppendText(dst []byte, sep byte) []byte {
	if b.Texts != nil {
		return b.Texts(dst, b.ids, sep)
	}
	for _, id := range b.ids {
		dst, _ = id.AppendText(dst)
		dst = append(dst, sep)
	}
	return dst
}

// A Retrying source waits a moment and retries if the error is temporary.
type Retrying[T any] struct {
	Source[T]
	Temporary error
}

func (r Retrying[T]) GenerateContext(ctx context.Context) (v T, err error) {
	err = r.retry(ctx, func() error {
		v, err = r.Source.GenerateContext(ctx)
		return err
	})
	return v, err
}

func (r Retrying[T]) FillContext(ctx context.Context, ids []T) error {
	return r.retry(ctx, func() error { return r.Source.FillContext(ctx, ids) })
}

func (r Retrying[T]) retry(ctx context.Context, try func() error) error {
	for {
		err := try()
		if !errors.Is(err, r.Temporary) {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w; gave up waiting: %w", err, context.Cause(ctx))
		case <-time.After(100 * time.Microsecond):
		}
	}
}
