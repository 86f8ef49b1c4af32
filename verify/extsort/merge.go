package extsort

import (
	"errors"
	"math"
)

// ErrUnsorted means that an input is not sorted.
var ErrUnsorted = errors.New("extsort: not sorted")

// An Input returns the keys of records in order.
type Input interface {
	// Next returns the keys of the next block, or none at the end. The keys are valid until the
	// next call.
	Next() ([]Key, error)
	Close() error
}

// end is larger than any key.
var end = Key{math.MaxUint64}

// Merge calls yield for all records in order, with the record's input, its index in this input's
// last block, and its key. It returns [ErrUnsorted] if an input's keys decrease.
func Merge[I Input](inputs []I, yield func(in I, at int, key Key) error) error {
	n := len(inputs)
	if n == 0 {
		return nil
	}
	cursors, keys := make([]cursor[I], n), make([]Key, n)
	// The inputs are the leaves of a tournament, which the smallest key wins. Each node remembers
	// the loser of its match. When the winner has its next key, Merge repeats only the winner's
	// matches.
	winners, losers := make([]int, 2*n), make([]int, n)
	for i, in := range inputs {
		var err error
		cursors[i].in = in
		if keys[i], err = cursors[i].next(); err != nil {
			return err
		}
		winners[n+i] = i
	}
	for node := n - 1; node > 0; node-- {
		a, b := winners[2*node], winners[2*node+1]
		if keys[b].Less(&keys[a]) {
			a, b = b, a
		}
		winners[node], losers[node] = a, b
	}
	for winner := winners[1]; keys[winner] != end; {
		c, before := &cursors[winner], keys[winner]
		if err := yield(c.in, c.at, before); err != nil {
			return err
		}
		key, err := c.next()
		if err != nil {
			return err
		}
		if key.Less(&before) {
			return ErrUnsorted
		}
		keys[winner] = key
		for node := (n + winner) / 2; node > 0; node /= 2 {
			if other := losers[node]; keys[other].Less(&key) {
				losers[node], winner, key = winner, other, keys[other]
			}
		}
	}
	return nil
}

type cursor[I Input] struct {
	in   I
	keys []Key
	at   int
}

func (c *cursor[I]) next() (key Key, err error) {
	if c.at++; c.at >= len(c.keys) {
		c.at = 0
		if c.keys, err = c.in.Next(); err != nil || len(c.keys) == 0 {
			return end, err
		}
	}
	return c.keys[c.at], nil
}
