package lease

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"
)

// A census says how a realm's node IDs are used at one moment.
type census struct {
	space  string
	began  time.Time
	took   time.Duration
	blocks []Block // which are held or were held last by somebody, in the order of node IDs

	held, waiting, free int
	share               float64
}

// maxCensus is how old a census may be. A census that was fast may be used only for a shorter time.
const maxCensus = 10 * time.Second

// census lists a realm's records, or returns the last list if that is recent.
func (l *StoreLessor) census(ctx context.Context, root Record) (*census, error) {
	if l.alone {
		return l.count(ctx, root)
	}
	r := l.realm(root.Realm)
	r.mu.Lock()
	c := r.census
	r.mu.Unlock()
	if c != nil && c.space == spaceOf(root) && time.Since(c.began) < min(maxCensus, 50*c.took) {
		return c, nil
	}
	return r.lists.do(ctx, func(ctx context.Context) (*census, error) {
		c, err := l.count(ctx, root)
		if err == nil {
			r.mu.Lock()
			r.census = c
			r.mu.Unlock()
		}
		return c, err
	})
}

func (l *StoreLessor) count(ctx context.Context, root Record) (*census, error) {
	c := &census{space: spaceOf(root), began: time.Now()}
	t, err := l.now(ctx)
	if err != nil {
		return nil, err
	}
	now, terms := root.Terms.At(t), root.Terms
	var all blockStates
	if err := scan(ctx, l.store, c.space, func(r Record) {
		if r.Block.Size < 1 || r.Block.Size > MaxBits {
			return
		}
		all = append(all, blockState{r.Block, r.State, r.Held(now), r.HWM})
		switch stateOf(r, now, terms.Lead) {
		case Held:
			c.held++
		case Waiting:
			c.waiting++
		default:
			return
		}
		c.blocks = append(c.blocks, r.Block)
	}); err != nil {
		return nil, fmt.Errorf("lease: realm %q: cannot list the node IDs: %w", root.Realm, err)
	}
	slices.SortFunc(c.blocks, compareOrder)
	unit := terms.Only
	if unit == 0 {
		unit = min(8, terms.Bits)
	}
	c.free = all.sorted().free(Block{}, uint8(unit), root.HWM, now+terms.Lead)
	if terms.Only != 0 {
		c.waiting = max(c.waiting, 1<<unit-c.held-c.free)
	}
	c.share = float64(c.free) / float64(int(1)<<unit)
	c.took = time.Since(c.began)
	return c, nil
}

// A blockState is what must be known of a record to count free blocks. A realm can have millions of
// records.
type blockState struct {
	block Block
	state State
	held  bool
	hwm   int64
}

// blockStates are of a block and its parts, in the order of compareOrder. A missing one is
// Retired.
type blockStates []blockState

func (all blockStates) sorted() blockStates {
	slices.SortFunc(all, func(a, b blockState) int { return compareOrder(a.block, b.block) })
	return all
}

// free returns how many blocks of a size in block b can be granted up to a tick. Larger blocks
// count as many, and a block with parts counts if all of them can be granted. The parameter hwm is
// the highest HWM of the blocks that contain b.
func (all blockStates) free(b Block, size uint8, hwm, until int64) int {
	is := blockState{block: b}
	if b == (Block{}) {
		is.state = Split
	}
	if len(all) > 0 && all[0].block == b {
		is, all = all[0], all[1:]
	}
	if hwm = max(hwm, is.hwm); is.held || hwm > until {
		return 0
	}
	if is.state == Retired || is.state == Whole {
		return 1 << max(0, int(size)-int(b.Size))
	}
	left, right := b.child(0), b.child(1)
	i, _ := slices.BinarySearchFunc(all, right,
		func(s blockState, b Block) int { return compareOrder(s.block, b) })
	n, m := all[:i].free(left, size, hwm, until), all[i:].free(right, size, hwm, until)
	if b.Size >= size {
		return min(n, m)
	}
	return n + m
}

// compareOrder compares blocks in the order of node IDs, with each block before its parts.
func compareOrder(a, b Block) int {
	return cmp.Or(cmp.Compare(a.NodeID<<(MaxBits-a.Size), b.NodeID<<(MaxBits-b.Size)),
		cmp.Compare(a.Size, b.Size))
}

// stateOf returns "" for a record that is neither held nor waiting.
func stateOf(r Record, now, lead int64) HoldingState {
	switch {
	case r.Held(now):
		return Held
	case r.State == Whole && r.Owner == (Owner{}) && r.Key != Owner{} && r.HWM > now+lead:
		return Waiting
	}
	return ""
}

func (l *StoreLessor) info(ctx context.Context, root Record) (RealmInfo, error) {
	c, err := l.census(ctx, root)
	if err != nil {
		return RealmInfo{}, err
	}
	return RealmInfo{Name: root.Realm, Terms: root.Terms, Held: c.held, Waiting: c.waiting,
		Free: c.free, FreeShare: c.share}, nil
}

func holding(root, r Record, state HoldingState) Holding {
	t, owner, from := root.Terms, r.Owner, r.Deadline
	if state == Waiting {
		owner, from = r.Key, r.HWM-t.Lead
	}
	return Holding{ID: newLeaseID(root, r.Block, owner).String(), Block: r.Block, Holder: r.Name,
		State: state, Since: t.Time(r.From), Until: t.Time(r.HWM), FreeFrom: t.Time(from)}
}

// Holdings returns up to limit leases of a realm, in the order of node IDs. It begins after the
// position after; "" is the beginning. It also returns the last position, or "" at the end. A lease
// that was acquired in the last 10 seconds may be missing. Holdings fails with [ErrNoRealm] if
// there is no such realm.
func (l *StoreLessor) Holdings(ctx context.Context, realm, after string,
	limit int) (rows []Holding, next string, err error) {
	root, err := l.present(ctx, realm)
	if err != nil {
		return nil, "", err
	}
	c, err := l.census(ctx, root)
	if err != nil {
		return nil, "", err
	}
	blocks := c.blocks
	if after != "" {
		b, err := ParseBlock(after)
		if err != nil || b.Size > MaxBits {
			return nil, "", &RequestError{"after", "it is not the next of an earlier answer"}
		}
		i, found := slices.BinarySearchFunc(blocks, b, compareOrder)
		if found {
			i++
		}
		blocks = blocks[i:]
	}
	t, err := l.now(ctx)
	if err != nil {
		return nil, "", err
	}
	now := root.Terms.At(t)
	const batch = 100
	for len(blocks) > 0 {
		if len(rows) >= limit {
			return rows, rows[len(rows)-1].Block.String(), nil
		}
		n := min(batch, limit-len(rows), len(blocks))
		records, err := l.store.GetMany(ctx, spaceOf(root), blocks[:n])
		if err != nil {
			return nil, "", fmt.Errorf("lease: realm %q: cannot read node IDs: %w", realm, err)
		}
		blocks = blocks[n:]
		for _, r := range records {
			if state := stateOf(r, now, root.Terms.Lead); state != "" {
				rows = append(rows, holding(root, r, state))
			}
		}
	}
	return rows, "", nil
}
