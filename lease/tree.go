package lease

import (
	"cmp"
	"math/rand/v2"
	"slices"
)

// A region is a free block as large as the requested block, or larger.
type region struct {
	block  Block
	hwm    int64 // no earlier tick of the region can be granted
	effort int   // 0: none; 1: a merging block contains it; 2: its halves must be merged
}

// A survey finds the regions for one block size. It uses some or all records of a realm.
type survey struct {
	records map[Block]*Record
	partial bool // a block that is missing in records may still have a record in the store
	now     int64
	size    uint8
	regions []region
	held    []Record
}

func newSurvey(records []Record, floor, now int64, size uint8, partial bool) *survey {
	v := &survey{records: make(map[Block]*Record, len(records)), partial: partial, now: now,
		size: size}
	v.add(records)
	v.walk(Block{0, 1}, floor, 0)
	v.walk(Block{1, 1}, floor, 0)
	return v
}

func (v *survey) add(records []Record) {
	for i := range records { // without copies, because a realm can have many
		v.records[records[i].Block] = &records[i]
	}
}

// walk surveys block b. The parameter hwm is the highest HWM of the blocks that contain b.
func (v *survey) walk(b Block, hwm int64, effort int) {
	if !v.knows(b) {
		return
	}
	r := v.get(b)
	hwm = max(hwm, r.HWM)
	switch {
	case r.State == Retired || free(r, v.now):
		if b.Size <= v.size {
			v.regions = append(v.regions, region{b, hwm, effort})
		}
	case r.State == Whole:
		v.held = append(v.held, r)
	case v.partial && (r.State == Merging || b.Size >= v.size):
		// The known records do not show whether the block is free.
	case b.Size < v.size:
		if r.State == Merging {
			effort = 1 // another process is about to make this block whole
		}
		v.walk(b.child(0), hwm, effort)
		v.walk(b.child(1), hwm, effort)
	default:
		if top, ok := v.vacant(r); ok {
			v.regions = append(v.regions, region{b, max(hwm, top), 2})
		}
	}
}

// vacant returns the highest HWM of a divided block and its parts, and whether all parts are free.
func (v *survey) vacant(r Record) (hwm int64, ok bool) {
	hwm, ok = r.HWM, true
	for i := range uint32(2) {
		half := v.get(r.Block.child(i))
		if half.State == Split || half.State == Merging {
			m, vacant := v.vacant(half)
			hwm, ok = max(hwm, m), ok && vacant
			continue
		}
		if half.Held(v.now) {
			v.held = append(v.held, half)
			ok = false
		}
		hwm = max(hwm, half.HWM)
	}
	return hwm, ok
}

// knows reports whether v.get(b) returns what the store has for block b.
func (v *survey) knows(b Block) bool {
	_, ok := v.records[b]
	return ok || !v.partial
}

// get returns a block's record, possibly without a Realm.
func (v *survey) get(b Block) Record {
	if r, ok := v.records[b]; ok {
		return *r
	}
	return Record{Block: b}
}

func (v *survey) around(leaf Block) (region, bool) {
	for _, u := range v.regions {
		if u.block.Contains(leaf) {
			return u, true
		}
	}
	return region{}, false
}

// shows reports whether v has all records that decide whether leaf is free. Only a divided leaf has
// parts that its path does not show.
func (v *survey) shows(leaf Block) bool {
	if _, ok := v.around(leaf); ok || !v.partial {
		return true
	}
	return slices.ContainsFunc(v.held, func(r Record) bool { return r.Block.Contains(leaf) })
}

func (v *survey) grantable(leaf Block, lead int64) bool {
	u, ok := v.around(leaf)
	return ok && u.hwm <= v.now+lead
}

// edge returns the path of the first node ID of a size.
func edge(size uint8) []Block { return path(Block{0, size}) }

// path returns leaf and the blocks that contain leaf, each followed by the other half of its
// parent. Smaller blocks come first.
func path(leaf Block) (blocks []Block) {
	for b := leaf; b.Size > 0; b = b.parent() {
		blocks = append(blocks, b, Block{b.NodeID ^ 1, b.Size})
	}
	return blocks
}

// parts returns a block (area), its parts of at most the given size in bits, and all blocks that
// contain it. Smaller blocks come first.
func parts(area Block, size uint8) (blocks []Block) {
	for ; size > area.Size; size-- {
		n := uint32(1) << (size - area.Size)
		for i := range n {
			blocks = append(blocks, Block{area.NodeID*n + i, size})
		}
	}
	for b := area; b.Size > 0; b = b.parent() {
		blocks = append(blocks, b)
	}
	return blocks
}

// area returns a block at the beginning of the realm. As far as v's records show, this block
// contains all node IDs in use.
func (v *survey) area() Block {
	area := Block{0, v.size}
	for k := v.size; k >= 1; k-- {
		if r := v.get(Block{1, k}); r.State == Split || r.State == Merging || r.Held(v.now) {
			area = Block{0, k - 1}
		}
	}
	return area
}

// usable returns the regions where a grant can start now or, if there are none, within the lead.
// Small regions come first, so that large blocks remain free.
func (v *survey) usable(lead int64) []region {
	some := v.until(v.now)
	if len(some) == 0 {
		some = v.until(v.now + lead)
	}
	slices.SortFunc(some, func(a, b region) int {
		return cmp.Or(cmp.Compare(b.block.Size, a.block.Size),
			cmp.Compare(a.effort, b.effort),
			cmp.Compare(a.block.NodeID, b.block.NodeID))
	})
	return some
}

// choose picks a random block of the requested size within area. It picks from the first 8 that can
// be granted. Each time another process has taken the chosen block first, this number doubles.
func (v *survey) choose(area Block, lead int64, lost int, r *rand.Rand) (Block, bool) {
	regions := slices.DeleteFunc(v.usable(lead),
		func(u region) bool { return !area.Contains(u.block) })
	total := 0
	for _, u := range regions {
		total += u.count(v.size)
	}
	if total == 0 {
		return Block{}, false
	}
	k := r.IntN(min(total, 8<<min(lost, MaxBits)))
	for _, u := range regions {
		if n := u.count(v.size); k >= n {
			k -= n
			continue
		}
		b := u.block
		return Block{b.NodeID<<(v.size-b.Size) + uint32(k), v.size}, true
	}
	panic("unreachable")
}

func (v *survey) until(t int64) (some []region) {
	for _, u := range v.regions {
		if u.hwm <= t {
			some = append(some, u)
		}
	}
	return some
}

func (u region) count(size uint8) int { return 1 << (size - u.block.Size) }

func (v *survey) soonest(lead int64) (tick int64, ok bool) {
	from := map[Block]int64{}
	for _, r := range v.held {
		b := r.Block
		for b.Size > v.size {
			b = b.parent()
		}
		from[b] = max(from[b], r.Deadline)
	}
	for _, u := range v.regions {
		from[u.block] = u.hwm - lead
	}
	for _, t := range from {
		if !ok || t < tick {
			tick, ok = t, true
		}
	}
	return tick, ok
}
