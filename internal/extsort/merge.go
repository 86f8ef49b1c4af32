package extsort

import (
	"errors"
	"math"
)

// ErrUnsorted means that an input is not sorted.
var ErrUnsorted = errors.New("extsort: not sorted")

// An Input returns the keys of records in order.
type Input interface {
	// Next returns the next keys, or none at the end. They are valid until the next call.
	Next() ([]Key, error)
	Close() error
}

// endKey is larger than the key of every record.
var endKey = Key{High: math.MaxUint64}

// Merge calls yield for each record, in the order of keys. The index is the key's index in the list
// from the input's Next. Merge returns [ErrUnsorted] if an input's keys decrease.
func Merge[I Input](inputs []I, yield func(in I, index int, key Key) error) error {
	n := len(inputs)
	if n == 0 {
		return nil
	}
	cursors, keys := make([]cursor[I], n), make([]Key, n)
	// The inputs are the leaves of a binary tree. An inner node compares two inputs: the input with
	// the smaller key wins and goes up, and the node stores the loser. The winner's next key is
	// compared only in the nodes above the winner.
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
	for winner := winners[1]; keys[winner] != endKey; {
		c, before := &cursors[winner], keys[winner]
		if err := yield(c.in, c.index, before); err != nil {
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
	in    I
	keys  []Key
	index int
}

func (c *cursor[I]) next() (key Key, err error) {
	if c.index++; c.index >= len(c.keys) {
		c.index = 0
		if c.keys, err = c.in.Next(); err != nil || len(c.keys) == 0 {
			return endKey, err
		}
	}
	return c.keys[c.index], nil
}
