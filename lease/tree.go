package lease

import (
	"cmp"
	"math/rand/v2"
	"slices"
)

// A region is a part of the realm that is free: one block of the size asked for, or a
// larger one of which a part can be split off.
type region struct {
	record Record
	mark   int64 // no tick of the region below it can be granted
	effort int
}

// A survey finds where in a realm a block of some size can be had.
type survey struct {
	records map[Block]Record
	now     int64
	size    uint8
	regions []region
	held    []Record
}

// look surveys records, of one generation, whose floor is given.
func look(records []Record, floor, now int64, size uint8) *survey {
	v := &survey{records: make(map[Block]Record, len(records)), now: now, size: size}
	for _, r := range records {
		v.records[r.Block] = r
	}
	v.walk(Block{0, 1}, floor, 0)
	v.walk(Block{1, 1}, floor, 0)
	return v
}

// walk surveys a block. The mark is that of the blocks around it.
func (v *survey) walk(b Block, mark int64, effort int) {
	r := v.get(b)
	mark = max(mark, r.HWM)
	switch {
	case r.State == Retired || free(r, v.now):
		v.regions = append(v.regions, region{r, mark, effort})
	case r.State == Whole:
		v.held = append(v.held, r)
	case b.Size < v.size:
		if r.State == Merging {
			effort = 1 // someone is about to make this one whole
		}
		v.walk(b.child(0), mark, effort)
		v.walk(b.child(1), mark, effort)
	default:
		if top, ok := v.vacant(r); ok {
			v.regions = append(v.regions, region{r, max(mark, top), 2})
		}
	}
}

// vacant reports whether nobody holds any part of a divided block, and its highest mark.
func (v *survey) vacant(r Record) (mark int64, ok bool) {
	mark, ok = r.HWM, true
	for i := range uint32(2) {
		half := v.get(r.Block.child(i))
		if half.State == Split || half.State == Merging {
			m, vacant := v.vacant(half)
			mark, ok = max(mark, m), ok && vacant
			continue
		}
		if half.Held(v.now) {
			v.held = append(v.held, half)
			ok = false
		}
		mark = max(mark, half.HWM)
	}
	return mark, ok
}

// get returns a block's record. In the survey, one that does not exist has no Realm.
func (v *survey) get(b Block) Record {
	if r, ok := v.records[b]; ok {
		return r
	}
	return Record{Block: b}
}

// usable returns the regions of which a grant can start now or, if there is none, within
// the lead. The tightest come first, so that large blocks remain for those who need them.
func (v *survey) usable(lead int64) []region {
	some := v.until(v.now)
	if len(some) == 0 {
		some = v.until(v.now + lead)
	}
	slices.SortFunc(some, func(a, b region) int {
		return cmp.Or(cmp.Compare(b.record.Block.Size, a.record.Block.Size),
			cmp.Compare(a.effort, b.effort), cmp.Compare(a.record.Block.NodeID, b.record.Block.NodeID))
	})
	return some
}

// choose picks a block that can be granted, at random from the first few that there are.
// How many are a few grows with the attempts that others have spoiled, so that many who
// start at once soon spread out. It returns the record of the region that it lies in.
func (v *survey) choose(lead int64, attempt int, r *rand.Rand) (Block, Record, bool) {
	regions, total := v.usable(lead), 0
	for _, u := range regions {
		total += u.count(v.size)
	}
	if total == 0 {
		return Block{}, Record{}, false
	}
	k := r.IntN(min(total, 8<<min(attempt, MaxBits)))
	for _, u := range regions {
		if n := u.count(v.size); k >= n {
			k -= n
			continue
		}
		b := u.record.Block
		return Block{b.NodeID<<(v.size-b.Size) + uint32(k), v.size}, u.record, true
	}
	panic("unreachable")
}

// until returns the regions of which grants can start at tick t or earlier.
func (v *survey) until(t int64) (some []region) {
	for _, u := range v.regions {
		if u.mark <= t {
			some = append(some, u)
		}
	}
	return some
}

// count returns how many blocks of a size there are in the region.
func (u region) count(size uint8) int { return 1 << (size - u.record.Block.Size) }
