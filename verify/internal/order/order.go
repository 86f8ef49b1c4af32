// Package order checks that the IDs of a source strictly increase, or measures how far
// they are from that.
package order

import (
	"github.com/sortid/sortid/verify/internal/findings"
	"github.com/sortid/sortid/verify/internal/ids"
	"github.com/sortid/sortid/verify/internal/words"
	"github.com/sortid/sortid/verify/report"
)

// A Step says what the rules of a format make of an ID that is smaller than the one
// before it.
type Step uint8

// The kinds of steps back.
const (
	Unknown  Step = iota // nothing that the rules know
	Outlier              // a fault of that ID alone: leave it out
	Continue             // a fault, and the source goes on from there
)

// A Sink takes the IDs in the order in which they belong.
type Sink interface {
	// Accept takes IDs that increase, on lines that follow each other.
	Accept(list []ids.ID, line uint64)
	// Back says what to make of an ID that is smaller than the one before it. It may
	// count a fault of its own.
	Back(before, v ids.ID, line uint64) Step
	// Gap says that something is missing before the next ID, so that the step to it
	// cannot be judged; Restart that the source starts afresh.
	Gap()
	Restart()
}

// A Checker checks that IDs strictly increase. Where they do not it looks at the
// neighbours to tell what happened, counts one fault, and keeps the odd ID from the sink,
// which judges the steps from one ID to the next:
//
//	1 2 2 3        a duplicate
//	1 3 2 4        two swapped
//	1 2 9 3 4      one ahead of its place
//	5 6 2 7 8      one behind its place
//	5 6 2 3 4      the source went back
//
// So the newest ID is held back until the next one is seen.
type Checker struct {
	f        *ids.Format
	sink     Sink
	show     func(ids.ID) string // the text for an example
	state    state
	last     item // before held; at line 0: none
	held     item
	released bool // whether held was handed on
	odd      item // smaller than held
	one      [1]ids.ID
	n        uint64

	duplicate, swapped, ahead, behind, back, rollback *findings.Check
	largestRollback                                   uint64
}

type item struct {
	id   ids.ID
	line uint64
}

type state uint8

const (
	empty  state = iota
	steady       // held is the newest ID
	broken       // odd is, and smaller than held
)

// NewChecker returns a checker that adds its checks to the findings and shows IDs there as
// show does.
func NewChecker(f *ids.Format, found *findings.List, show func(ids.ID) string, sink Sink) *Checker {
	return &Checker{
		f: f, sink: sink, show: show,
		duplicate: found.Check("order.duplicate", "no ID comes twice in a row", report.Fail),
		swapped:   found.Check("order.swapped", "no two IDs have changed places", report.Fail),
		ahead:     found.Check("order.ahead", "no ID is far ahead of its place", report.Fail),
		behind:    found.Check("order.behind", "no ID is behind its place", report.Fail),
		back:      found.Check("order.back", "IDs do not start to decrease within a tick", report.Fail),
		rollback:  found.Check("clock.rollback", "timestamps do not go back", report.Fail),
	}
}

// Feed takes the IDs of lines that follow each other, and is told if they are known to
// increase.
func (o *Checker) Feed(list []ids.ID, line uint64, rising bool) {
	o.n += uint64(len(list))
	o.feed(list, line, rising)
}

func (o *Checker) feed(list []ids.ID, line uint64, rising bool) {
	for len(list) > 0 {
		if o.state != steady || !ids.Less(o.held.id, list[0]) {
			o.step(item{list[0], line})
			list, line = list[1:], line+1
			continue
		}
		n := len(list)
		if !rising {
			n = ids.Ascending(list)
		}
		o.release()
		o.last = o.held
		if n > 1 {
			o.sink.Accept(list[:n-1], line)
			o.last = item{list[n-2], line + uint64(n) - 2}
		}
		o.hold(item{list[n-1], line + uint64(n) - 1})
		list, line = list[n:], line+uint64(n)
	}
}

func (o *Checker) hold(v item) { o.held, o.released, o.state = v, false, steady }

// release hands held on.
func (o *Checker) release() {
	if !o.released {
		o.one[0] = o.held.id
		o.sink.Accept(o.one[:], o.held.line)
		o.released = true
	}
}

// Gap says that there was a line without an ID.
func (o *Checker) Gap() {
	o.judgeOdd(item{})
	if o.state == steady {
		o.release()
	}
	o.sink.Gap()
}

// Finish takes the end of the input.
func (o *Checker) Finish() {
	if o.n < 2 {
		for _, c := range []*findings.Check{o.duplicate, o.swapped, o.ahead, o.behind, o.back, o.rollback} {
			c.Skip("one ID has no order")
		}
	}
	o.judgeOdd(item{})
	if o.state == steady {
		o.release()
	}
}

// step takes an ID that is not larger than the one before, or the first one.
func (o *Checker) step(v item) {
	switch o.state {
	case empty:
		o.hold(v)
	case broken:
		o.judgeOdd(v)
	case steady:
		if v.id == o.held.id {
			o.foundDuplicate(o.held, v)
			return
		}
		switch o.sink.Back(o.held.id, v.id, v.line) {
		case Outlier:
		case Continue:
			o.restart(v)
		default:
			o.odd, o.state = v, broken
		}
	}
}

func (o *Checker) foundDuplicate(first, second item) {
	if o.duplicate.Hit() {
		o.duplicate.Example(second.line, o.show(second.id), "the same as in line %d", first.line)
	}
}

// restart goes on from v after the source went back to it.
func (o *Checker) restart(v item) {
	o.release()
	o.sink.Restart()
	o.last = item{}
	o.hold(v)
}

// judgeOdd decides what odd was, given the ID after it, or none at the end.
func (o *Checker) judgeOdd(next item) {
	if o.state != broken {
		return
	}
	none := next.line == 0
	o.state = steady
	switch fits := o.last.line == 0 || ids.Less(o.last.id, o.odd.id); {
	case !none && next.id == o.odd.id:
		o.foundDuplicate(o.odd, next)
		o.state = broken
		return
	case fits && (none || ids.Less(o.held.id, next.id)):
		if o.swapped.Hit() {
			o.swapped.Example(o.odd.line, o.show(o.odd.id), "is smaller than line %d, and belongs before it", o.held.line)
		}
		o.sink.Gap()
		o.released = true // neither of the two is judged
	case fits && ids.Less(o.odd.id, next.id):
		if o.ahead.Hit() {
			o.ahead.Example(o.held.line, o.show(o.held.id), "is larger than the lines after it, by %s", o.distance(o.odd.id, o.held.id))
		}
		o.sink.Gap()
		o.hold(o.odd)
	case !none && ids.Less(o.held.id, next.id):
		if o.behind.Hit() {
			o.behind.Example(o.odd.line, o.show(o.odd.id), "is smaller than the lines before it, by %s", o.distance(o.odd.id, o.held.id))
		}
		o.release()
		o.sink.Gap()
	default:
		o.wentBack()
		o.restart(o.odd)
	}
	if !none {
		o.feed([]ids.ID{next.id}, next.line, true)
	}
}

// wentBack counts a step back after which the source went on from the smaller ID.
func (o *Checker) wentBack() {
	t, f := o.back, o.f
	from, to := f.Timestamp(o.held.id), f.Timestamp(o.odd.id)
	if from == to {
		if t.Hit() {
			t.Example(o.odd.line, o.show(o.odd.id), "is smaller than line %d, of the same timestamp", o.held.line)
		}
		return
	}
	t = o.rollback
	if by := from - to; by > o.largestRollback {
		o.largestRollback = by
		t.Detail = "at most by " + f.Span(by)
	}
	if t.Hit() {
		t.Example(o.odd.line, o.show(o.odd.id), "the timestamp goes back by %s, from %s", f.Span(from-to), words.Stamp(f.Time(from)))
	}
}

// distance returns in words how far apart two IDs are.
func (o *Checker) distance(a, b ids.ID) string {
	f := o.f
	if x, y := f.Timestamp(a), f.Timestamp(b); x != y {
		return f.Span(max(x, y) - min(x, y))
	}
	return "less than a tick"
}
