package rules

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/scru64"
)

// This file is for formats whose IDs do not show the node ID's size. If the node ID is not known,
// the checks treat it and the counter as one field.

func (r *Rules) checkPrefixes() {
	t := r.check("prefix", "no node ID is a prefix of another node ID")
	for i, a := range r.nodes {
		for _, b := range r.nodes[:i] {
			size := min(a.NodeIDSize(), b.NodeIDSize())
			if a.NodeID()>>(a.NodeIDSize()-size) == b.NodeID()>>(b.NodeIDSize()-size) {
				t.Found(0, fmt.Sprintf("%d/%d", a.NodeID(), a.NodeIDSize()), "clashes with %d/%d",
					b.NodeID(), b.NodeIDSize())
			}
		}
	}
}

func (r *Rules) checkSpecs(list []format.Words, line uint64) {
	for i := range list {
		v := scru64.ID(list[i][2])
		if !slices.ContainsFunc(r.nodes, func(s scru64.NodeSpec) bool {
			return v.NodeID(s.NodeIDSize()) == s.NodeID()
		}) {
			r.node.FoundID(line+uint64(i), &list[i],
				"its node ID is not among the given node specs")
		}
	}
}

// guarded reports whether the counter's size is unknown.
func (r *Rules) guarded() bool { return r.Format.NodeCounter > 0 && len(r.nodes) == 0 }

// judgeGuard checks a step by one that may carry into the node ID. A bit that is 0 in all starts
// may be a guard bit, so it may become 1. A bit that is 1 belongs to the node ID.
func (r *Rules) judgeGuard(last, h head, v *format.Words, line uint64) {
	s := r.starts
	if s.width < 0 {
		return
	}
	before := last.low & r.usage.counter
	if full := uint64(1)<<s.width - 1; before&full != full {
		return
	}
	r.guardCarries++
	if changed := (before ^ h.low&r.usage.counter) >> s.width; changed&s.top != 0 {
		r.foundCarry(v, line)
	}
}

// guardWraps reports whether enough low bits went from 1 to 0.
func (r *Rules) guardWraps(before, now uint64) bool {
	const least = 4
	ones, wrapped := bits.TrailingZeros64(^before), before-now+1
	width := bits.TrailingZeros64(wrapped)
	return r.guarded() && wrapped&(wrapped-1) == 0 && width <= ones && width >= least
}
