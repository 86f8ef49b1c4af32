package duplicates

import (
	"context"
	"encoding/binary"
	"io"

	"github.com/sortid/sortid/internal/extsort"
	"github.com/sortid/sortid/internal/integer"
	"github.com/sortid/sortid/verify/internal/sample"
)

type record struct {
	id integer.Words
	origin
}

type origin struct {
	source uint32
	line   uint64
}

const originSize = 12

func (o origin) append(b []byte) []byte {
	b = binary.BigEndian.AppendUint32(b, o.source)
	return binary.BigEndian.AppendUint64(b, o.line)
}

func originOf(payload []byte) origin {
	return origin{binary.BigEndian.Uint32(payload), binary.BigEndian.Uint64(payload[4:])}
}

type input interface {
	extsort.Input
	origin(index int) origin
}

type runInput struct{ *extsort.Reader }

func (in runInput) origin(index int) origin { return originOf(in.Payload(index)) }

type textInput struct {
	s      *search
	source int
	src    *sample.Reader
	closer io.Closer
	block  *sample.Block
	line   uint64 // the block's first line
	next   int    // index of the block's next segment
}

func (t *textInput) Next() ([]integer.Words, error) {
	for {
		if b := t.block; b != nil && t.next < len(b.Segments) {
			t.next++
			return b.Segment(t.next - 1), nil
		}
		if t.block != nil {
			t.src.Release(t.block)
		}
		t.block = t.src.Next()
		if t.block == nil || t.s.ctx.Err() != nil {
			return nil, context.Cause(t.s.ctx)
		}
		t.line, t.next = t.s.account(t.source, t.block), 0
	}
}

func (t *textInput) origin(index int) origin {
	return origin{uint32(t.source), t.line + t.block.Segments[t.next-1].Line + uint64(index)}
}

func (t *textInput) Close() error {
	t.src.Close()
	return t.closer.Close()
}

// groups reads the records from w. For each ID, it yields the first maxPlaces records, and the
// number of all records.
func groups(w *extsort.Writer, yield func(group []record, n uint64)) error {
	r, err := w.Finish()
	if err != nil {
		return err
	}
	in := r.Open(1)
	defer in.Close()
	var group []record
	n := uint64(0)
	for ids, err := in.Next(); len(ids) > 0 || err != nil; ids, err = in.Next() {
		if err != nil {
			return err
		}
		for i, id := range ids {
			if n > 0 && id != group[0].id {
				yield(group, n)
				group, n = group[:0], 0
			}
			if n++; len(group) < maxPlaces {
				group = append(group, record{id, originOf(in.Payload(i))})
			}
		}
	}
	if n > 0 {
		yield(group, n)
	}
	return nil
}
