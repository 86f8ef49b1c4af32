package exact

import (
	"fmt"
	"math"

	"github.com/sortid/sortid/internal/integer"
	"github.com/sortid/sortid/internal/spec"
	"github.com/sortid/sortid/internal/words"
	"github.com/sortid/sortid/verify/internal/chance"
	"github.com/sortid/sortid/verify/internal/findings"
)

// A renewal checks an upper counter, such as counter_hi of scru128. An upper counter gets a new
// random value only after many ticks.
type renewal struct {
	spec.Field
	shift  uint // position in head.low
	mask   uint64
	values *chance.Field
	missed *findings.Chance
	early  *findings.Check
	since  uint64 // the last renewal was in this tick or earlier
	seen   bool   // the input contains the last renewal
}

const never = math.MaxUint64

func newRenewal(c *counter, f spec.Field) *renewal {
	return &renewal{Field: f, shift: uint(f.Low - c.field.Low), mask: 1<<f.Bits - 1,
		values: c.Fields.Add(f.Name, f.Bits), since: never,
		missed: c.Found.Chance("rules."+f.Name,
			fmt.Sprintf("%s is renewed after %d ticks", f.Name, f.Every),
			fmt.Sprintf("%s is kept for more than %d ticks", f.Name, f.Every), "tick", math.Ldexp(1, -f.Bits)),
		early: c.check(f.Name+".early",
			fmt.Sprintf("%s is kept for at least %d ticks", f.Name, f.Every),
			fmt.Sprintf("%s is renewed before %d ticks have passed", f.Name, f.Every))}
}

func (n *renewal) of(h head) uint64 { return h.low >> n.shift & n.mask }

func (n *renewal) begin(tick uint64, renewed bool) {
	if renewed || tick < n.since {
		n.since, n.seen = tick, false
	}
}

func (n *renewal) judge(last, h head, now uint64, v *integer.Words, line uint64) {
	value := n.of(h)
	due := now-n.since >= n.Every
	if due {
		n.missed.Tries++
	}
	switch {
	case value != n.of(last):
		if !due && n.seen {
			n.early.FoundID(line, v, "%s is renewed after %s", n.Name,
				words.Plural(now-n.since, "tick"))
		}
		n.values.Add(value)
		n.since, n.seen = now, true
	case due:
		n.missed.FoundID(line, v, "%s has not been renewed for %s", n.Name,
			words.Plural(now-n.since, "tick"))
		n.since, n.seen = now, false
	}
}

// counterRepeats checks a counter that continues from tick to tick. The counter must not repeat a
// value in a tick, even on distant lines.
type counterRepeats struct {
	heads  *heads
	check  *findings.Check
	recent [recentTicks]used
}

type used struct {
	tick uint64
	bits []uint64 // bit v is 1 if the value v has occurred
}

// IDs of several ticks can alternate, so counterRepeats remembers recentTicks ticks.
const recentTicks = 16

func (s *counterRepeats) add(list []integer.Words, line uint64) {
	u := s.heads
	for i := range list {
		h := u.of(&list[i])
		tick, value := u.tick(h), h.low&u.counter
		if !s.fresh(tick, value, u.counter) {
			s.check.FoundID(line+uint64(i), &list[i], "%s %d occurs again in the same tick",
				u.field.Name, value)
		}
	}
}

// fresh records a value. It reports whether the value is new in its tick.
func (s *counterRepeats) fresh(tick, value, largest uint64) bool {
	u := &s.recent[tick%recentTicks]
	if u.bits == nil {
		u.bits = make([]uint64, largest/64+1)
	}
	if u.tick != tick {
		clear(u.bits)
		u.tick = tick
	}
	word, bit := &u.bits[value/64], uint64(1)<<(value%64)
	fresh := *word&bit == 0
	*word |= bit
	return fresh
}
