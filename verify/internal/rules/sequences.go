package rules

import (
	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/verify/internal/findings"
	"github.com/sortid/sortid/verify/report"
)

// sequences checks that a counter that goes on repeats no value in a tick, even on distant lines.
type sequences struct {
	name   string
	check  *findings.Check
	recent [recentTicks]used
}

type used struct {
	tick uint64
	bits []uint64
}

// recentTicks is how many ticks are kept, to find repeats in mixed ticks.
const recentTicks = 16

func newSequences(r *Rules, name string) *sequences {
	return &sequences{name: name, check: r.Check("rules."+name, "no "+name+" comes twice in a tick",
		report.Fail)}
}

func (s *sequences) add(r *Rules, list []format.Words, line uint64) {
	u := r.usage
	for i := range list {
		h := u.headOf(&list[i])
		tick, value := u.tickOf(h), h.low&u.counter
		if !s.fresh(tick, value, u.counter) && s.check.Hit() {
			s.check.Example(line+uint64(i), r.Show(list[i]), "%s %d again in the same tick", s.name,
				value)
		}
	}
}

// fresh notes a value and reports whether it is new in its tick.
func (s *sequences) fresh(tick, value, most uint64) bool {
	u := &s.recent[tick%recentTicks]
	if u.bits == nil {
		u.bits = make([]uint64, most/64+1)
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
