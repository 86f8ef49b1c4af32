package lease

import (
	"cmp"
	"errors"
	"maps"
	"slices"
)

// This file is the protocol: how a record may change. It needs no store, clock or randomness. Each
// function takes stored records, and returns the record that replaces the first one. The caller
// must add 1 to Revision for each write.
//
// The order in which a caller reads two records matters; docs/leases.md says why:
//
//   - revive(r, parent): the caller must have read r before it read or wrote parent as Split, or
//     have read both at the same moment.
//   - join(r, a, b): the caller must have written a and b as Retired after it read or wrote r as
//     Merging. It must write them even if they were Retired already.

var (
	errRefused = errors.New("lease: the block has changed, or is held")
	errAhead   = errors.New("lease: the grant would start too far ahead")
)

// A request is what a process asks the store for. Times are in ticks.
type request struct {
	owner  Owner
	nonce  uint64
	name   string
	now    int64 // by the store's clock or, if the store has none, by the process's clock
	at     int64 // the later of the generator's last tick and the tick of the process's clock
	window int64
	lead   int64
	own    int64 // the lease's own window; 0: the realm's
}

func free(r Record, now int64) bool { return r.State == Whole && !r.Held(now) }

// grant grants a free block. The first granted tick is From of the returned record, and the last is
// HWM - 1.
func (q request) grant(r Record) (Record, error) {
	if !free(r, q.now) {
		return r, errRefused
	}
	lo := max(r.HWM, q.now)
	if max(lo, q.at) > q.now+q.lead {
		return r, errAhead
	}
	r.From, r.Key = lo, Owner{}
	return q.hold(r, max(lo, q.at)+q.window), nil
}

// extend grants the owner more ticks, from the HWM on. If the owner needs no more ticks, extend
// returns r.
func (q request) extend(r Record) (Record, error) {
	if r.State != Whole || r.Owner != q.owner {
		return r, errRefused
	}
	if q.at > q.now+q.lead {
		return r, errAhead
	}
	if hi := max(q.now, q.at) + q.window; hi > r.HWM {
		return q.hold(r, hi), nil
	}
	return r, nil
}

func (q request) hold(r Record, hi int64) Record {
	r.Peak = max(r.Peak, r.HWM, hi)
	r.HWM, r.Deadline = hi, hi+q.window/2
	r.Owner, r.Request, r.Name, r.Window = q.owner, q.nonce, q.name, q.own
	r.Released = 0
	return r
}

// release ends a grant after the last used tick. The parameter named held is the record that the
// owner knows. If r differs from it, release fails, because a clone of the owner's process may have
// renewed the lease.
func release(r, held Record, used int64) (Record, error) {
	if r != held || r.State != Whole {
		return r, errRefused
	}
	return end(cut(r, used)), nil
}

// cut gives back the ticks after the last used tick.
func cut(r Record, used int64) Record {
	r.Peak = max(r.Peak, r.HWM)
	if used < r.From {
		r.HWM = min(r.HWM, r.From)
	} else {
		r.HWM = min(r.HWM, used+1)
	}
	return r
}

// end takes a block from its owner, but keeps its HWM. The record still shows who the owner was.
func end(r Record) Record {
	r.Key, r.Owner, r.Request, r.Deadline, r.Window = r.Owner, Owner{}, 0, 0, 0
	r.Released = 0
	return r
}

// reclaim gives back the ticks of a block that was released without the last used tick. When it was
// released, the last used tick was at most the parameter ahead after the store's clock. The caller
// may know how far ahead clocks and generators are, but not whether a holder has stopped. So
// reclaim needs a release.
func reclaim(r Record, ahead int64) (Record, error) {
	if r.State != Whole || r.Owner != (Owner{}) || r.Released == 0 {
		return r, errRefused
	}
	return cut(r, max(r.From-1, r.Released+ahead)), nil
}

func vacate(r Record) Record {
	r = end(r)
	r.From, r.Name, r.Key = 0, "", Owner{}
	return r
}

func split(r Record, now int64) (Record, error) {
	if !free(r, now) {
		return r, errRefused
	}
	r = vacate(r)
	r.State = Split
	return r, nil
}

func revive(r, parent Record) (Record, error) {
	if r.State != Retired || parent.State != Split {
		return r, errRefused
	}
	r.State, r.Request = Whole, 0
	r.HWM = max(r.HWM, parent.HWM)
	return r, nil
}

// merge begins to make a split block whole; resplit undoes this step.
func merge(r Record) (Record, error) { return changeState(r, Split, Merging) }

func resplit(r Record) (Record, error) { return changeState(r, Merging, Split) }

func changeState(r Record, from, to State) (Record, error) {
	if r.State != from {
		return r, errRefused
	}
	r.State = to
	return r, nil
}

func retire(r Record, now int64) (Record, error) {
	if r.State != Retired && !free(r, now) {
		return r, errRefused
	}
	r = vacate(r)
	r.State = Retired
	return r, nil
}

func join(r, a, b Record) (Record, error) {
	if r.State != Merging || a.State != Retired || b.State != Retired {
		return r, errRefused
	}
	r.State = Whole
	r.HWM = max(r.HWM, a.HWM, b.HWM)
	return r, nil
}

// carryOver returns the records with which a fenced realm begins, larger blocks before their parts.
// The floor is the first tick that the fenced realm can grant. Blocks with an HWM above the floor
// keep their HWM. The blocks that contain them are split, because no whole block may have a lower
// HWM than its parts.
func carryOver(old []Record, floor int64) []Record {
	next := map[Block]Record{}
	for _, r := range old {
		if r.HWM <= floor || r.Block == (Block{}) {
			continue
		}
		is := next[r.Block]
		is.Block, is.HWM = r.Block, r.HWM
		next[r.Block] = is
		for b := r.Block; b.Size > 1; {
			b = b.parent()
			around := next[b]
			around.Block, around.State, around.HWM = b, Split, max(around.HWM, floor)
			next[b] = around
		}
	}
	return slices.SortedFunc(maps.Values(next), compareBlocks)
}

func compareBlocks(a, b Record) int {
	return cmp.Or(cmp.Compare(a.Block.Size, b.Block.Size),
		cmp.Compare(a.Block.NodeID, b.Block.NodeID))
}
