package rules

import (
	"fmt"
	"math"

	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/verify/internal/findings"
	"github.com/sortid/sortid/verify/internal/randomness"
	"github.com/sortid/sortid/verify/report"
)

// A renewal checks the upper counter, renewed only after some ticks.
type renewal struct {
	format.Field
	shift   uint // in the head
	mask    uint64
	values  *randomness.Field // the new values
	missed  *findings.Chance
	early   *findings.Check
	at      uint64 // the last renewal's tick, or an upper limit
	exactly bool   // whether at is exact
}

const never = math.MaxUint64

func newRenewal(r *Rules, u *usage, f format.Field) *renewal {
	n := &renewal{Field: f, shift: uint(f.Low - u.field.Low), mask: 1<<f.Bits - 1,
		values: r.Fields.Add(f.Name, f.Bits), at: never}
	if !r.Unordered {
		n.missed = r.Chance("rules."+f.Name,
			fmt.Sprintf("%s is renewed once the timestamp has moved on by %d", f.Name, f.Every),
			math.Ldexp(1, -f.Bits))
		n.early = r.Check("rules."+f.Name+".early", f.Name+" is not renewed more often than that",
			report.Fail)
	}
	return n
}

func (n *renewal) of(h head) uint64 { return h.low >> n.shift & n.mask }

func (n *renewal) begin(tick uint64, renewed bool) {
	if renewed || tick < n.at {
		n.at, n.exactly = tick, false
	}
}

func (n *renewal) forget() { n.at, n.exactly = never, false }

// judge checks a step to a new tick, now.
func (n *renewal) judge(r *Rules, last, h head, now uint64, v *format.Words, line uint64) {
	value := n.of(h)
	due := now-n.at >= n.Every
	if due {
		n.missed.Tries++
	}
	switch {
	case value != n.of(last):
		if !due && n.exactly && n.early.Hit() {
			n.early.Example(line, r.Show(*v), "%s is new, %d ticks after it was last renewed",
				n.Name, now-n.at)
		}
		n.values.Add(value)
		n.at, n.exactly = now, true
	case due:
		if n.missed.Hit() {
			n.missed.Example(line, r.Show(*v), "%s is the same as %d ticks before", n.Name,
				now-n.at)
		}
		n.at = now
	}
}
