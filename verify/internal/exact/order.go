package exact

import (
	"github.com/sortid/sortid/internal/integer"
	"github.com/sortid/sortid/internal/words"
	"github.com/sortid/sortid/verify/internal/findings"
	"github.com/sortid/sortid/verify/internal/sample"
)

// A Step is the judgement of an ID that is smaller than the previous ID.
type Step uint8

const (
	Unknown  Step = iota // the sink cannot judge the ID
	Outlier              // only this ID is wrong
	Continue             // the source continues from this ID
)

// A Sink gets IDs in order.
type Sink interface {
	// Accept gets increasing IDs on consecutive lines.
	Accept(list []integer.Words, line uint64)
	// Back judges an ID that is smaller than the previous ID. It may count a fault.
	Back(before, v *integer.Words, line uint64) Step
	// Gap means that the sink must not compare the next ID with the previous ID.
	Gap()
	// Restart means that the source starts again from a smaller ID.
	Restart()
}

// An Order checks that IDs increase. It ignores an ID that equals the previous ID, which a [Repeats]
// reports. In each of these cases, it counts one fault:
//
//	1 3 2 4        two IDs are swapped
//	1 2 9 3 4      one ID is far too large
//	5 6 2 7 8      one ID is far too small
//	5 6 2 3 4      the source went back
//
// To distinguish these cases, an Order keeps the newest ID until the next ID comes. If the source
// went back, the Order calls Restart and continues from the smaller ID. In the other cases it
// does not pass the wrong IDs to the sink.
type Order struct {
	f        *sample.Format
	sink     Sink
	state    state
	previous item // the ID before the ID in current; its line is 0 if there is none
	current  item
	released bool // the sink has received the ID in current
	smaller  item // the next ID, if it is smaller than the ID in current
	one      [1]integer.Words
	n        uint64
	falls    uint64 // how many IDs were not larger than the previous ID

	swapped, ahead, behind, back, rollback *findings.Check
	largestRollback                        uint64
}

type item struct {
	id   integer.Words
	line uint64
}

type state uint8

const (
	empty  state = iota
	steady       // the field current has the newest ID
	broken       // the field smaller has the newest ID
)

// NewOrder adds its checks to the list. The list already has the check in rollback.
func NewOrder(f *sample.Format, sink Sink, found *findings.List,
	rollback *findings.Check) *Order {
	return &Order{
		f: f, sink: sink, rollback: rollback,
		swapped: found.Check("order.swapped", "no two neighbouring IDs are swapped",
			"neighbouring IDs are swapped"),
		ahead: found.Check("order.ahead", "no single ID is larger than the IDs after it",
			"single IDs are larger than the IDs after them"),
		behind: found.Check("order.behind", "no single ID is smaller than the IDs before it",
			"single IDs are smaller than the IDs before them"),
		back: found.Check("order.back", "IDs do not go back within a tick", "IDs go back within a tick"),
	}
}

// Feed checks IDs on consecutive lines. The parameter rising says that they strictly increase.
func (o *Order) Feed(list []integer.Words, line uint64, rising bool) {
	o.n += uint64(len(list))
	o.feed(list, line, rising)
}

func (o *Order) feed(list []integer.Words, line uint64, rising bool) {
	for len(list) > 0 {
		if o.state != steady || !o.current.id.Less(&list[0]) {
			o.step(item{list[0], line})
			list, line = list[1:], line+1
			continue
		}
		n := len(list)
		if !rising {
			n = sample.Ascending(list)
		}
		o.release()
		o.previous = o.current
		if n > 1 {
			o.sink.Accept(list[:n-1], line)
			o.previous = item{list[n-2], line + uint64(n) - 2}
		}
		o.hold(item{list[n-1], line + uint64(n) - 1})
		list, line = list[n:], line+uint64(n)
	}
}

func (o *Order) hold(v item) { o.current, o.released, o.state = v, false, steady }

func (o *Order) release() {
	if !o.released {
		o.one[0] = o.current.id
		o.sink.Accept(o.one[:], o.current.line)
		o.released = true
	}
}

// Gap must be called after a line without an ID.
func (o *Order) Gap() {
	o.judgeSmaller(item{})
	if o.state == steady {
		o.release()
	}
	o.sink.Gap()
}

// Finish ends the checks. It returns how many IDs were not larger than the previous ID.
func (o *Order) Finish() (falls uint64) {
	if o.n < 2 {
		for _, c := range []*findings.Check{o.swapped, o.ahead, o.behind, o.back, o.rollback} {
			c.Skip("an order needs at least two IDs")
		}
	}
	o.judgeSmaller(item{})
	if o.state == steady {
		o.release()
	}
	return o.falls
}

func (o *Order) step(v item) {
	switch o.state {
	case empty:
		o.hold(v)
	case broken:
		o.judgeSmaller(v)
	case steady:
		o.falls++
		if v.id == o.current.id {
			return
		}
		switch o.sink.Back(&o.current.id, &v.id, v.line) {
		case Outlier:
		case Continue:
			o.restart(v)
		default:
			o.smaller, o.state = v, broken
		}
	}
}

func (o *Order) restart(v item) {
	o.release()
	o.sink.Restart()
	o.previous = item{}
	o.hold(v)
}

// judgeSmaller uses the next ID to decide what is wrong. At a gap or the end, next.line is 0.
func (o *Order) judgeSmaller(next item) {
	if o.state != broken {
		return
	}
	none := next.line == 0
	o.state = steady
	switch fits := o.previous.line == 0 || o.previous.id.Less(&o.smaller.id); {
	case !none && next.id == o.smaller.id:
		o.state = broken
		return
	case fits && (none || o.current.id.Less(&next.id)):
		o.swapped.FoundID(o.smaller.line, &o.smaller.id,
			"is smaller than the ID in line %d, and belongs before that ID", o.current.line)
		o.sink.Gap()
		o.released = true // the sink gets neither ID
	case fits && o.smaller.id.Less(&next.id):
		o.ahead.FoundID(o.current.line, &o.current.id, "is larger than the IDs after it, by %s",
			o.distance())
		o.sink.Gap()
		o.hold(o.smaller)
	case !none && o.current.id.Less(&next.id):
		o.behind.FoundID(o.smaller.line, &o.smaller.id, "is smaller than the IDs before it, by %s",
			o.distance())
		o.release()
		o.sink.Gap()
	default:
		o.wentBack()
		o.restart(o.smaller)
	}
	if !none {
		o.feed([]integer.Words{next.id}, next.line, true)
	}
}

func (o *Order) wentBack() {
	f, v := o.f, &o.smaller
	from, to := f.Timestamp(&o.current.id), f.Timestamp(&v.id)
	if from == to {
		o.back.FoundID(v.line, &v.id,
			"is smaller than the ID in line %d, but has the same timestamp", o.current.line)
		return
	}
	foundRollback(o.rollback, &o.largestRollback, f, from-to)
	o.rollback.FoundID(v.line, &v.id, "the timestamp goes back by %s, from %s",
		words.Span(f.Tick, from-to), words.Time(f.TimeOf(from)))
}

func foundRollback(c *findings.Check, largest *uint64, f *sample.Format, by uint64) {
	if by > *largest {
		*largest = by
		c.Detail = "by at most " + words.Span(f.Tick, by)
	}
}

func (o *Order) distance() string {
	if a, b := o.f.Timestamp(&o.smaller.id), o.f.Timestamp(&o.current.id); a != b {
		return words.Span(o.f.Tick, max(a, b)-min(a, b))
	}
	return "less than a tick"
}
