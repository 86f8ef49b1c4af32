package verify

import "github.com/sortid/sortid/verify/internal/words"

// An order checks that IDs strictly increase. Where they do not it looks at the
// neighbours to tell what happened, counts one fault, and keeps the odd ID from those
// who check the steps from one ID to the next:
//
//	1 2 2 3        a duplicate
//	1 3 2 4        two swapped
//	1 2 9 3 4      one ahead of its place
//	5 6 2 7 8      one behind its place
//	5 6 2 3 4      the source went back
//
// So the newest ID is held back until the next one is seen.
type order struct {
	c     *checker
	state state
	last  item // before held; at line 0: none
	held  item
	given bool // held was handed on already
	odd   item // smaller than held
	one   [1]id

	duplicate, swapped, ahead, behind, back, rollback *tally
}

type item struct {
	id   id
	line uint64
}

type state uint8

const (
	empty  state = iota
	steady       // held is the newest ID
	broken       // odd is, and smaller than held
)

func newOrder(c *checker) *order {
	return &order{
		c:         c,
		duplicate: c.tally("order.duplicate", "no ID comes twice in a row", Fail),
		swapped:   c.tally("order.swapped", "no two IDs have changed places", Fail),
		ahead:     c.tally("order.ahead", "no ID is far ahead of its place", Fail),
		behind:    c.tally("order.behind", "no ID is behind its place", Fail),
		back:      c.tally("order.back", "IDs do not start to decrease within a tick", Fail),
		rollback:  c.tally("clock.rollback", "timestamps do not go back", Fail),
	}
}

// feed takes the IDs of lines that follow each other, and is told if they are known to
// increase.
func (o *order) feed(ids []id, line uint64, rising bool) {
	for len(ids) > 0 {
		if o.state != steady || !less(o.held.id, ids[0]) {
			o.step(item{ids[0], line})
			ids, line = ids[1:], line+1
			continue
		}
		n := len(ids)
		if !rising {
			n = ascending(ids)
		}
		o.give()
		o.last = o.held
		if n > 1 {
			o.c.accept(ids[:n-1], line)
			o.last = item{ids[n-2], line + uint64(n) - 2}
		}
		o.hold(item{ids[n-1], line + uint64(n) - 1})
		ids, line = ids[n:], line+uint64(n)
	}
}

// ascending returns how many IDs strictly increase from the first one on.
func ascending(ids []id) int {
	before := ids[0]
	for i, v := range ids[1:] {
		if !less(before, v) {
			return i + 1
		}
		before = v
	}
	return len(ids)
}

func (o *order) hold(v item) { o.held, o.given, o.state = v, false, steady }

// give hands held on.
func (o *order) give() {
	if !o.given {
		o.one[0] = o.held.id
		o.c.accept(o.one[:], o.held.line)
		o.given = true
	}
}

// gap says that there was something else than an ID.
func (o *order) gap() {
	o.settle(item{})
	if o.state == steady {
		o.give()
	}
	o.c.rules.resume()
}

func (o *order) finish() {
	o.settle(item{})
	if o.state == steady {
		o.give()
	}
}

// step takes an ID that is not simply larger than the one before.
func (o *order) step(v item) {
	switch o.state {
	case empty:
		o.hold(v)
	case broken:
		o.settle(v)
	case steady:
		if v.id == o.held.id {
			o.twice(o.held, v)
			return
		}
		switch o.c.rules.back(o.held.id, v.id, v.line) {
		case alone:
		case onwards:
			o.afresh(v)
		default:
			o.odd, o.state = v, broken
		}
	}
}

func (o *order) twice(first, second item) {
	if o.duplicate.hit() {
		o.duplicate.example(second.line, o.c.show(second.id), "the same as in line %d", first.line)
	}
}

// afresh goes on from v after the source went back to it.
func (o *order) afresh(v item) {
	o.give()
	o.c.rules.restart()
	o.last = item{}
	o.hold(v)
}

// settle decides what odd was, given the ID after it, or none at the end.
func (o *order) settle(next item) {
	if o.state != broken {
		return
	}
	none := next.line == 0
	o.state = steady
	switch fits := o.last.line == 0 || less(o.last.id, o.odd.id); {
	case !none && next.id == o.odd.id:
		o.twice(o.odd, next)
		o.state = broken
		return
	case fits && (none || less(o.held.id, next.id)):
		if o.swapped.hit() {
			o.swapped.example(o.odd.line, o.c.show(o.odd.id), "is smaller than line %d, and belongs before it", o.held.line)
		}
		o.c.rules.resume()
		o.given = true // neither of the two is judged
	case fits && less(o.odd.id, next.id):
		if o.ahead.hit() {
			o.ahead.example(o.held.line, o.c.show(o.held.id), "is larger than the lines after it, by %s", o.distance(o.odd.id, o.held.id))
		}
		o.c.rules.resume()
		o.hold(o.odd)
	case !none && less(o.held.id, next.id):
		if o.behind.hit() {
			o.behind.example(o.odd.line, o.c.show(o.odd.id), "is smaller than the lines before it, by %s", o.distance(o.odd.id, o.held.id))
		}
		o.give()
		o.c.rules.resume()
	default:
		o.wentBack()
		o.afresh(o.odd)
	}
	if !none {
		o.feed([]id{next.id}, next.line, true)
	}
}

// wentBack counts a source that goes on from a smaller ID.
func (o *order) wentBack() {
	t, f := o.back, o.c.f
	from, to := f.timestamp(o.held.id), f.timestamp(o.odd.id)
	if from == to {
		if t.hit() {
			t.example(o.odd.line, o.c.show(o.odd.id), "is smaller than line %d, of the same timestamp", o.held.line)
		}
		return
	}
	t = o.rollback
	if by := from - to; by > t.largest {
		t.largest = by
		t.Detail = "at most by " + f.span(by)
	}
	if t.hit() {
		t.example(o.odd.line, o.c.show(o.odd.id), "the timestamp goes back by %s, from %s", f.span(from-to), words.Stamp(f.time(from)))
	}
}

// distance words how far apart two IDs are.
func (o *order) distance(a, b id) string {
	f := o.c.f
	if x, y := f.timestamp(a), f.timestamp(b); x != y {
		return f.span(max(x, y) - min(x, y))
	}
	return "less than a tick"
}
