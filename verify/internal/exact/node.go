package exact

import (
	"fmt"
	"math/bits"
	"strings"

	"github.com/sortid/sortid/internal/spec"
	"github.com/sortid/sortid/internal/words"
	"github.com/sortid/sortid/verify/internal/findings"
	"github.com/sortid/sortid/verify/internal/sample"
)

// A Node is the node ID of a source, and the time in which the source used it.
type Node struct {
	source string
	// digits is binary. If the size of the node ID is unknown, digits also has bits of the counter
	// that are always the same.
	digits      string
	first, last uint64 // timestamps
}

// IDs with at least enoughRandom random bits are different without a node ID.
const enoughRandom = 32

// Node returns the source's node ID, or nil if it has none, or if generators may share it.
func (r *Rules) Node(source string, k *Clock) *Node {
	random, n := 0, &Node{source: source}
	for _, f := range r.usage.Layout {
		if f.Kind == spec.KindRandom {
			random += f.Bits
		}
	}
	if k == nil || k.n == 0 || r.Options.Unordered || random >= enoughRandom {
		return nil
	}
	n.first, n.last = k.first, k.last
	if r.Format.NodeCounter > 0 {
		n.digits = r.nodeDigits()
	}
	for _, w := range r.watched {
		if w.Kind != spec.KindNode || w.Loose || w.check.Count > 0 {
			continue
		}
		n.digits += fmt.Sprintf("%0*b", w.Bits, w.Value)
	}
	if n.digits == "" {
		return nil
	}
	return n
}

// nodeDigits returns the high bits that are always the same in the field that node ID and counter
// share, or "" if it cannot know them.
func (r *Rules) nodeDigits() string {
	if len(r.nodes) == 1 {
		return fmt.Sprintf("%0*b", r.nodes[0].NodeIDSize(), r.nodes[0].NodeID())
	}
	s := r.counter.starts
	if s.width < 0 || s.n < 2 || r.node.Count > 0 {
		return ""
	}
	low := max(s.width, bits.Len64(r.counter.changedBits))
	if low == s.size {
		return ""
	}
	return fmt.Sprintf("%0*b", s.size-low, s.top>>(low-s.width))
}

// CompareNodes adds a check if the source has a node ID: no other source may have it at the same
// time.
func CompareNodes(found *findings.List, f *sample.Format, own *Node, others []*Node) {
	if own == nil || len(others) == 0 {
		return
	}
	c := found.Check("rules.shared", "no other source has the same node ID at the same time",
		"another source has the same node ID at the same time")
	for _, n := range others {
		first, last := max(own.first, n.first), min(own.last, n.last)
		same := strings.HasPrefix(own.digits, n.digits) || strings.HasPrefix(n.digits, own.digits)
		if !same || first >= last {
			continue
		}
		if c.Count++; c.Count == 1 {
			c.Detail = fmt.Sprintf("%s has this node ID, too, and both make IDs from %s to %s",
				n.source, words.Time(f.TimeOf(first)), words.Time(f.TimeOf(last)))
		}
	}
}
