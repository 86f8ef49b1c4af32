package exact

import (
	"math"
	"slices"
	"sort"

	"github.com/sortid/sortid/internal/integer"
	"github.com/sortid/sortid/internal/spec"
	"github.com/sortid/sortid/internal/words"
	"github.com/sortid/sortid/verify/internal/findings"
	"github.com/sortid/sortid/verify/report"
)

// A Repeats looks for IDs that occur twice. It remembers the latest maxRemembered IDs or more. If
// times must be in order, it remembers only fewRemembered IDs of older ticks. It also counts the IDs
// of each tick: if a node makes more IDs than a tick has room for, IDs occur twice, even if Repeats
// does not remember them.
type Repeats struct {
	duplicate *findings.Chance
	room      *findings.Check // Nil if a tick has room for all IDs.
	n         uint64

	largest records
	others  window                      // All other IDs, with their lines.
	timely  func(*integer.Words) uint64 // Returns the tick. Nil if times need not be in order.

	after   integer.Words // The bits in which the IDs of a node can differ within a tick.
	size    uint64        // How many values these bits have, at most noLimit.
	span    string        // A tick, for readers.
	tick    integer.Words // The previous ID without these bits: its time and node.
	inTick  uint64        // How many IDs have this time and node.
	earlier window        // How many have other times and nodes.
}

const (
	maxRemembered = 1 << 17
	fewRemembered = 1 << 12

	// noLimit is more IDs than a generator makes in a tick.
	noLimit = 1<<24 + 1
	// Chance does not repeat so many random bits.
	manyBits = 64
)

// NewRepeats adds its checks to the list of the rules. It returns nil if IDs are only times.
func NewRepeats(r *Rules) *Repeats {
	if !slices.ContainsFunc(r.usage.Layout, func(f spec.Field) bool {
		return f.Kind != spec.KindTime && f.Kind != spec.KindFixed && f.Kind != spec.KindZero
	}) {
		return nil
	}
	p := &Repeats{largest: records{limit: maxRemembered}, others: window{limit: maxRemembered},
		earlier: window{limit: maxRemembered}, size: 1, span: words.Span(r.Format.Tick, 1)}
	if r.rising() && r.Habits.Wraps == nil && r.Habits.Free == 0 {
		p.largest.limit = fewRemembered
	}
	if r.Format.Tick != 0 && !r.Options.Unordered {
		p.timely, p.earlier.limit = r.Format.Timestamp, fewRemembered
	}
	p.addChecks(r, p.measure(r))
	return p
}

// measure determines how a node's IDs of one tick differ. It returns the number of bits that chance
// chooses.
func (p *Repeats) measure(r *Rules) (random int) {
	for _, f := range r.usage.Layout {
		varies, byChance := r.varies(&f)
		if !varies {
			continue
		}
		p.after = p.after.Or(integer.Ones(f.Bits).Shift(f.Low))
		values := uint64(1) << min(f.Bits, 32)
		if f.Most > 0 {
			values = f.Most + 1
		}
		p.size = min(p.size*min(values, noLimit), noLimit)
		if byChance {
			random += f.Bits
		}
	}
	return random
}

func (p *Repeats) addChecks(r *Rules, random int) {
	const title, wrong = "no ID occurs twice", "IDs occur twice"
	timed := r.Format.Tick != 0
	if timed && 0 < random && random < manyBits {
		p.duplicate = r.Found.Chance("order.duplicate", title, wrong, "comparison",
			math.Ldexp(1, -random))
		p.duplicate.Warns = true
	} else {
		p.duplicate = &findings.Chance{Check: r.Found.Check("order.duplicate", title, wrong)}
	}
	if r.Format.Habits.Repeats {
		p.duplicate.Severity = report.Warn
	}
	if timed && 1 < p.size && p.size < noLimit {
		p.room = r.Found.Check("order.room", "no tick has more IDs than it has room for",
			"ticks have more IDs than they have room for")
	}
}

// varies reports whether a node's IDs of one tick can differ in the field, and whether only chance
// keeps the field from being the same.
func (r *Rules) varies(f *spec.Field) (varies, byChance bool) {
	mixed := r.Options.Unordered
	switch f.Kind {
	case spec.KindRandom, spec.KindData:
		return true, mixed || !r.rising()
	case spec.KindCounter: // several generators without node IDs count independently
		return true, mixed && !r.hasNode()
	case spec.KindNode:
		loose := mixed && f.Loose
		return loose, loose
	}
	return false, false
}

// rising reports whether all IDs must increase.
func (r *Rules) rising() bool {
	return !r.Options.Unordered && (r.Format.Generates || r.Habits.Rising)
}

// hasNode reports whether the IDs of two generators always differ in a node ID.
func (r *Rules) hasNode() bool {
	return r.Format.NodeCounter > 0 || slices.ContainsFunc(r.usage.Layout, func(f spec.Field) bool {
		return f.Kind == spec.KindNode && !f.Loose
	})
}

// Feed checks IDs on consecutive lines. The parameter rising says that they strictly increase.
func (p *Repeats) Feed(list []integer.Words, line uint64, rising bool) {
	p.n += uint64(len(list))
	if p.room != nil || p.duplicate.Probability > 0 {
		for i := range list {
			p.count(&list[i], line+uint64(i))
		}
	}
	start := 0
	if rising && p.largest.last.Less(&list[0]) { // so add would soon replace the first records
		start = max(0, len(list)-p.largest.limit)
	}
	for i := start; i < len(list); i++ {
		at, newest := line+uint64(i), p.largest.last
		switch {
		case !p.largest.add(list[i], at):
			p.remember(&list[i], at)
		case p.timely != nil && len(p.others.fresh) >= fewRemembered &&
			p.timely(&newest) != p.timely(&list[i]):
			p.others.forget()
		}
	}
}

func (p *Repeats) count(v *integer.Words, line uint64) {
	if tick := v.AndNot(p.after); tick != p.tick || p.inTick == 0 {
		if p.inTick > 0 {
			p.earlier.set(p.tick, p.inTick)
		}
		p.tick = tick
		p.inTick, _ = p.earlier.get(tick)
	}
	p.duplicate.Tries += p.inTick
	p.inTick++
	switch {
	case p.room == nil || p.inTick <= p.size:
	case p.inTick == p.size+1:
		p.room.FoundID(line, v, "is ID %s in %s, which has room for %s", words.Count(p.inTick),
			p.span, words.Count(p.size))
	default:
		p.room.Count++
	}
}

// remember remembers an ID that is not larger than all IDs before it.
func (p *Repeats) remember(v *integer.Words, line uint64) {
	record, _ := p.largest.from(v)
	first, again := record.line, record.id == *v
	if !again {
		first, again = p.others.get(*v)
	}
	if again {
		p.duplicate.FoundID(line, v, "the same as in line %d", first)
		return
	}
	p.others.set(*v, line)
}

func (p *Repeats) Finish() {
	if p.n < 2 {
		p.duplicate.Skip("there is only one ID")
	}
	if p.room != nil && p.room.Count > 0 {
		p.room.Detail = "so IDs occur twice"
	}
}

// The type records has the latest IDs that were larger than all IDs before them, at most limit.
type records struct {
	limit int
	items []item // a ring buffer
	head  int    // index of the oldest record
	last  integer.Words
}

// add adds an ID if it is larger than all IDs before it.
func (r *records) add(v integer.Words, line uint64) bool {
	if len(r.items) > 0 && !r.last.Less(&v) {
		return false
	}
	r.last = v
	if len(r.items) < r.limit {
		r.items = append(r.items, item{v, line})
		return true
	}
	r.items[r.head] = item{v, line}
	if r.head++; r.head == r.limit {
		r.head = 0
	}
	return true
}

// from returns the first record that is not smaller than v, if v is not larger than all. The result
// oldest says that there may have been an earlier such record. It searches near the end first,
// because most late IDs belong there.
func (r *records) from(v *integer.Words) (record item, oldest bool) {
	n := len(r.items)
	at := func(k int) *item { return &r.items[(r.head+k)%n] }
	low, step := n-1, 1
	for low > 0 && !at(low-1).id.Less(v) {
		low, step = max(0, low-step), 2*step
	}
	k := low + sort.Search(min(step, n-1-low), func(k int) bool { return !at(low + k).id.Less(v) })
	return *at(k), k == 0 && n == r.limit
}

// A window maps IDs to numbers. By itself, it does not forget the latest IDs, as many as limit.
type window struct {
	limit      int
	old, fresh map[integer.Words]uint64
}

func (w *window) get(v integer.Words) (n uint64, ok bool) {
	if n, ok = w.fresh[v]; !ok {
		n, ok = w.old[v]
	}
	return n, ok
}

func (w *window) set(v integer.Words, n uint64) {
	if len(w.fresh) == w.limit {
		w.forget()
	}
	if w.fresh == nil {
		w.fresh = map[integer.Words]uint64{}
	}
	w.fresh[v] = n
}

func (w *window) forget() {
	w.old, w.fresh = w.fresh, w.old
	clear(w.fresh)
}
