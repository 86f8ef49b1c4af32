package extsort

import "errors"

// ErrUnsorted means that an input is not sorted.
var ErrUnsorted = errors.New("extsort: not sorted")

// An Input gives the keys of records in order.
type Input interface {
	// Next returns the keys of the next block, or none at the end. They are valid until the next
	// call.
	Next() ([]Key, error)
	Close() error
}

// Merge calls yield for all records in order, with the record's input, its index in this input's
// last block, and its key. It returns [ErrUnsorted] if an input's keys decrease.
func Merge[I Input](inputs []I, yield func(in I, at int, key Key) error) error {
	live := make([]*cursor[I], 0, len(inputs))
	for _, in := range inputs {
		c := &cursor[I]{in: in}
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

type cursor[I Input] struct {
	in   I
	keys []Key
	at   int
}

func (c *cursor[I]) refill() (ok bool, err error) {
	c.at = 0
	c.keys, err = c.in.Next()
	return len(c.keys) > 0, err
}

// A tree is a tournament of cursors. The smallest key wins. Each node remembers the loser of its
// match. When the winner moves to its next key, only its matches are repeated.
type tree[I Input] struct {
	cursors []*cursor[I]
	keys    []Key
	losers  []int
	winner  int
}

func newTree[I Input](cursors []*cursor[I]) *tree[I] {
	n := len(cursors)
	t := &tree[I]{cursors: cursors, keys: make([]Key, n), losers: make([]int, n)}
	for i, c := range cursors {
		t.keys[i] = c.keys[c.at]
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

func (t *tree[I]) run(yield func(in I, at int, key Key) error) (ended int, err error) {
	keys, losers := t.keys, t.losers
	winner := t.winner
	for {
		c := t.cursors[winner]
		before := keys[winner]
		if err := yield(c.in, c.at, before); err != nil {
			return 0, err
		}
		c.at++
		if c.at == len(c.keys) {
			ok, err := c.refill()
			if err != nil {
				return 0, err
			}
			if !ok {
				return winner, nil
			}
		}
		key := c.keys[c.at]
		if key.Less(&before) {
			return 0, ErrUnsorted
		}
		keys[winner] = key
		for node := (winner + len(keys)) / 2; node > 0; node /= 2 {
			if other := losers[node]; keys[other].Less(&key) {
				losers[node], winner, key = winner, other, keys[other]
			}
		}
	}
}
