package exact

import (
	"math/bits"

	"github.com/sortid/sortid/internal/integer"
	"github.com/sortid/sortid/internal/spec"
	"github.com/sortid/sortid/internal/words"
	"github.com/sortid/sortid/verify/internal/findings"
)

// A byteOrder finds a counter of whole bytes that a generator writes with the lowest byte first.
// Such a counter increases in nearly all steps, too.
type byteOrder struct {
	place     integer.Place
	timestamp func(*integer.Words) uint64
	across    bool // the counter continues in a new tick
	check     *findings.Check

	known       bool // value and tick are of the previous ID
	value, tick uint64
	steps       uint64
}

const (
	// fewSteps is how many steps of a counter are enough to infer the order of its bytes. No generator
	// changes the order, so more than maxSteps steps are not compared.
	fewSteps = 16
	maxSteps = 1 << 14
)

func newByteOrder(r *Rules, f spec.Field) *byteOrder {
	return &byteOrder{place: integer.PlaceOf(f.Low, f.Bits), timestamp: r.Format.Timestamp,
		across: f.Start == spec.StartNever,
		check: r.check(f.Name+".bytes", "the highest byte of "+f.Name+" is first",
			"the lowest byte of "+f.Name+" is first")}
}

func (b *byteOrder) run(list []integer.Words, line uint64) {
	for i := range list {
		if b.steps == maxSteps {
			return
		}
		value, tick := b.place.Of(&list[i]), b.timestamp(&list[i])
		if b.known && (b.across || tick == b.tick) {
			b.steps++
			if b.reverse(value) == b.reverse(b.value)+1 {
				b.check.FoundID(line+uint64(i), &list[i], "0x%0*x after 0x%0*x", b.place.Width()/4,
					value, b.place.Width()/4, b.value)
			}
		}
		b.value, b.tick, b.known = value, tick, true
	}
}

func (b *byteOrder) reverse(v uint64) uint64 {
	return bits.ReverseBytes64(v) >> (64 - b.place.Width())
}

func (b *byteOrder) finish() {
	if b.steps < fewSteps || b.check.Count <= b.steps/2 {
		b.check.Clear()
		return
	}
	b.check.Detail = "it goes up by one in " + words.Percent(b.check.Count, b.steps) +
		" of the steps if its bytes are reversed"
}
