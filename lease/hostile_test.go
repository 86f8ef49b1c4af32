package lease

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"
)

// harm changes a record as only a hostile client would, if [Known.Check] allows the change.
func (w *world) harm() {
	root := w.get("sim", Block{})
	if root.Revision == 0 {
		return
	}
	is := root
	if w.chance(0.98) {
		is = w.anyRecord(root)
	}
	next := w.worse(root, is)
	next.Revision = is.Revision + 1
	for range w.rand.IntN(3) {
		next = w.mutate(next)
	}
	changes := []Change{{is, next}}
	realm, blocks, err := Evidence(changes)
	if err != nil {
		return
	}
	ok, _ := w.known(realm, blocks).Check(changes)
	if w.unchecked || ok {
		w.count["harm"]++
		w.count[fmt.Sprintf("harm: %v to %v", is.State, next.State)]++
		if next.HWM < is.HWM {
			w.count["harm: hwm lowered"]++
		}
		w.tell("harm: %+v to %+v", is, next)
		w.apply(is, next)
	}
}

func (w *world) anyRecord(root Record) Record {
	if w.chance(0.3) {
		size := 1 + w.rand.IntN(w.format.Bits)
		return w.get("sim@"+root.Generation, Block{uint32(w.rand.IntN(1 << size)), uint8(size)})
	}
	keys := slices.SortedFunc(maps.Keys(w.store), func(a, b simKey) int {
		return cmp.Or(strings.Compare(a.realm, b.realm),
			compareBlocks(Record{Block: a.block}, Record{Block: b.block}))
	})
	key := keys[w.rand.IntN(len(keys))]
	return w.get(key.realm, key.block)
}

var hostileKey = Owner{0xff, 1}

// worse returns the stored record with a change that a hostile client might make.
func (w *world) worse(root, is Record) Record {
	t := root.Terms
	now := t.At(time.UnixMilli(w.now + w.storeClock))
	span := 2 * (max(t.Window, t.MostWindow) + max(t.Lead, t.MostLead))
	tick := func() int64 { return now + w.rand.Int64N(2*span) - span }
	if is.Block == (Block{}) {
		if w.chance(0.1) {
			is.Terms, _ = t.with(t.Duration(t.Window+w.rand.Int64N(5)),
				t.Duration(t.Lead+w.rand.Int64N(3)))
			return is
		}
		generation := newGeneration()
		if w.chance(0.5) {
			_, generation, _ = strings.Cut(w.anyRecord(root).Realm, "@")
		}
		return fenced(is, t, generation, max(is.HWM, tick()+t.Window))
	}
	q := request{owner: ownerOf(hostileKey), nonce: uint64(w.draws), now: tick(), at: tick(),
		window: 1 + w.rand.Int64N(span), lead: span}
	whole := is
	whole.State = Whole
	switch w.rand.IntN(9) {
	case 0, 1:
		if w.chance(0.5) {
			whole = vacate(whole)
		}
		next, _ := q.grant(whole)
		return next
	case 2:
		if w.chance(0.5) {
			q.owner = is.Owner
		}
		next, _ := q.extend(is)
		return next
	case 3, 4:
		next, _ := release(is, is, is.HWM-w.rand.Int64N(span))
		if next.Key = hostileKey; w.chance(0.5) {
			next.Key = is.Owner
		}
		return next
	case 5:
		return vacate(is)
	case 6:
		next := vacate(is)
		next.State = State(w.rand.IntN(4))
		return next
	case 7:
		next := vacate(is)
		next.State, next.Request = Retired, w.get(is.Realm, is.Block.parent()).Revision
		return next
	}
	a, b := w.get(is.Realm, is.Block.child(0)), w.get(is.Realm, is.Block.child(1))
	if w.chance(0.5) {
		a.State, b.State = Retired, Retired
	}
	next, _ := join(is, a, b)
	return next
}

func (w *world) mutate(r Record) Record {
	by := w.rand.Int64N(41) - 20
	switch w.rand.IntN(8) {
	case 0:
		r.HWM += by
	case 1:
		r.From += by
	case 2:
		r.Deadline += by
	case 3:
		r.HWM, r.Deadline = r.HWM+by, r.Deadline+by
	case 4:
		r.State = State(w.rand.IntN(4))
	case 5:
		r.Owner = ownerOf(hostileKey)
	case 6:
		r.Request += uint64(by)
	case 7:
		r.Revision++
	}
	return r
}

func hostileWorld(w *world) {
	w.hostile, w.hasTime, w.restores, w.clones, w.fences = true, true, false, false, true
	w.wild, w.skew = 200, 1000
}

// Whatever changes a hostile client makes, the other processes use no tick twice.
func TestHostile(t *testing.T) {
	explore(t, 60, hostileWorld, "use", "renewal", "takeover", "fence", "harm: hwm lowered",
		"harm: whole to whole", "harm: whole to split", "harm: split to merging",
		"harm: merging to split", "harm: retired to whole", "harm: retired to retired")
}
