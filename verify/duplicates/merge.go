package duplicates

import (
	"context"
	"io"

	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/verify/internal/reading"
)

// A record is an ID and where it comes from.
type record struct {
	id     format.Words
	source uint32
	line   uint64
}

// A cursor goes through an input whose IDs do not decrease.
type cursor struct {
	ids    []format.Words
	at     int
	source uint32 // of the IDs, if origin is nil
	line   uint64 // of the first ID, if origin is nil
	origin []origin
	lines  inputLines
}

// An origin is where an ID of a run comes from.
type origin struct {
	source uint32
	line   uint64
}

// inputLines fills a cursor with the next IDs, and reports whether there are any.
type inputLines interface {
	fill(c *cursor) (bool, error)
	close()
}

func (c *cursor) record() record {
	r := record{id: c.ids[c.at], source: c.source, line: c.line + uint64(c.at)}
	if c.origin != nil {
		r.source, r.line = c.origin[c.at].source, c.origin[c.at].line
	}
	return r
}

// refill gets the next IDs when there are none left.
func (c *cursor) refill() (bool, error) {
	c.at = 0
	return c.lines.fill(c)
}

// merge calls yield for the records of all cursors in order. It returns errUnsorted if the
// IDs of one decrease.
func merge(cursors []*cursor, yield func(record) error) error {
	live := make([]*cursor, 0, len(cursors))
	for _, c := range cursors {
		ok, err := c.refill()
		if err != nil {
			return err
		}
		if ok {
			live = append(live, c)
		}
	}
	for len(live) > 0 {
		t := newTree(live)
		ended, err := t.run(yield)
		if err != nil {
			return err
		}
		live = append(live[:ended], live[ended+1:]...)
	}
	return nil
}

// A tree is a tournament of cursors, and the smallest ID wins. Each node remembers the loser
// of its match. When the winner moves on, only the matches on its way up are played again.
type tree struct {
	cursors []*cursor
	keys    []format.Words // the cursors' IDs
	losers  []int          // of node 1 and up; the cursors follow the nodes
	winner  int
}

func newTree(cursors []*cursor) *tree {
	n := len(cursors)
	t := &tree{cursors: cursors, keys: make([]format.Words, n), losers: make([]int, n)}
	for i, c := range cursors {
		t.keys[i] = c.ids[c.at]
	}
	winners := make([]int, 2*n)
	for i := range n {
		winners[n+i] = i
	}
	for node := n - 1; node > 0; node-- {
		a, b := winners[2*node], winners[2*node+1]
		if t.keys[b].Less(&t.keys[a]) {
			a, b = b, a
		}
		winners[node], t.losers[node] = a, b
	}
	if n > 1 {
		t.winner = winners[1]
	}
	return t
}

// run yields records until a cursor ends, and returns which one ended.
func (t *tree) run(yield func(record) error) (ended int, err error) {
	keys, losers := t.keys, t.losers
	winner := t.winner
	for {
		c := t.cursors[winner]
		if err := yield(c.record()); err != nil {
			return 0, err
		}
		before := keys[winner]
		c.at++
		if c.at == len(c.ids) {
			ok, err := c.refill()
			if err != nil {
				return 0, err
			}
			if !ok {
				return winner, nil
			}
		}
		key := c.ids[c.at]
		if key.Less(&before) {
			return 0, errUnsorted
		}
		keys[winner] = key
		for node := (winner + len(keys)) / 2; node > 0; node /= 2 {
			if other := losers[node]; keys[other].Less(&key) {
				losers[node], winner, key = winner, other, keys[other]
			}
		}
	}
}

// textLines fills a cursor from the blocks of a source.
type textLines struct {
	s      *search
	index  int
	src    *reading.Reader
	closer io.Closer
	block  *reading.Block
	line   uint64 // of the block's first line
	next   int    // segment of the block
}

func (t *textLines) fill(c *cursor) (bool, error) {
	for {
		if b := t.block; b != nil && t.next < len(b.Segments) {
			c.ids, c.line = b.Segment(t.next), t.line+b.Segments[t.next].Line
			t.next++
			return true, nil
		}
		if t.block != nil {
			t.src.Release(t.block)
		}
		t.block = t.src.Next()
		if t.block == nil || t.s.ctx.Err() != nil {
			return false, context.Cause(t.s.ctx)
		}
		t.line, t.next = t.s.account(t.index, t.block), 0
	}
}

func (t *textLines) close() {
	t.src.Close()
	t.closer.Close()
}
