package scru64

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/sortid/sortid"
	"github.com/sortid/sortid/internal/parseerr"
)

// The limits of a node ID's size, in bits.
const (
	MinNodeIDSize = 1
	MaxNodeIDSize = 23
)

// ErrNodeSpec: a node spec is malformed or missing, or its node ID does not fit its size.
var ErrNodeSpec = errors.New("scru64: invalid node spec")

// A NodeSpec is a node ID and its size in bits. It can also contain a previous ID: the last ID of
// an earlier generator. Then a new generator continues after that ID.
//
//	42/8               node ID 42 of 8 bits, so the counter has 16 bits
//	0xb00/12           node ID 2816 of 12 bits
//	0u2r85hm2pt3/16    the 16-bit node ID in this ID; all new IDs are larger
//
// The node ID is written as 1 to 8 decimal digits, as 0x and 1 to 6 hexadecimal digits, or as an
// ID. The size is 1 to 23. Digits may be in either case. Signs and spaces are not allowed.
//
// NodeSpecs are comparable with ==. The zero NodeSpec means "no node spec".
type NodeSpec struct {
	id   ID // the previous ID, or an ID with timestamp 0, the node ID and counter 0
	size uint8
}

// NewNodeSpec returns the spec of a node ID and its size in bits. The error is [ErrNodeSpec] if
// size is not 1 to 23, or if the node ID does not fit this size.
func NewNodeSpec(nodeID uint32, size int) (NodeSpec, error) {
	if err := checkNodeID(nodeID, size); err != nil {
		return NodeSpec{}, fmt.Errorf("%w: %w", ErrNodeSpec, err)
	}
	return newNodeSpec(nodeID, size), nil
}

func newNodeSpec(nodeID uint32, size int) NodeSpec {
	return NodeSpec{ID(nodeID << counterBits(size)), uint8(size)}
}

func checkNodeID(nodeID uint32, size int) error {
	if err := checkSize(size); err != nil {
		return err
	}
	if limit := uint32(1)<<size - 1; nodeID > limit {
		return fmt.Errorf("node ID %d, want at most %d for a size of %d bits", nodeID, limit, size)
	}
	return nil
}

func checkSize(size int) error {
	if size < MinNodeIDSize || size > MaxNodeIDSize {
		return fmt.Errorf("size %d, want %d to %d", size, MinNodeIDSize, MaxNodeIDSize)
	}
	return nil
}

// NodeSpecAfter returns the spec of a generator that continues after id, with the node ID
// id.NodeID(size). If the timestamp of id is 0, the spec contains only the node ID. The error is
// [ErrNodeSpec] if size is not 1 to 23, or if the ID is above [Max].
func NodeSpecAfter(id ID, size int) (NodeSpec, error) {
	if err := checkSize(size); err != nil {
		return NodeSpec{}, fmt.Errorf("%w: %w", ErrNodeSpec, err)
	}
	if id > maxID {
		return NodeSpec{}, fmt.Errorf("%w: ID %d, %w", ErrNodeSpec, uint64(id), sortid.ErrRange)
	}
	return nodeSpecAfter(id, size), nil
}

func nodeSpecAfter(id ID, size int) NodeSpec {
	if id.Timestamp() == 0 {
		return newNodeSpec(id.NodeID(size), size)
	}
	return NodeSpec{id, uint8(size)}
}

// ParseNodeSpec reads a text such as 42/8, or returns [ErrNodeSpec].
func ParseNodeSpec(s string) (NodeSpec, error) {
	spec, err := parseNodeSpec(s)
	if err != nil {
		return NodeSpec{}, fmt.Errorf("%w %q: %w", ErrNodeSpec, parseerr.Shorten(s), err)
	}
	return spec, nil
}

func parseNodeSpec(s string) (NodeSpec, error) {
	if len(s) > parseerr.MaxInput {
		return NodeSpec{}, fmt.Errorf("%d bytes long, want a text such as 42/8", len(s))
	}
	node, sizeText, found := strings.Cut(s, "/")
	if !found {
		return NodeSpec{}, errors.New(
			"no slash, want a node ID, a slash and a size, such as 42/8")
	}
	size, err := number(sizeText, 10, 2)
	if err != nil {
		return NodeSpec{}, fmt.Errorf("size %w", err)
	}
	if err := checkSize(int(size)); err != nil {
		return NodeSpec{}, err
	}

	var nodeID uint32
	switch {
	case len(node) == TextLen:
		id, err := Parse(node)
		if err != nil {
			return NodeSpec{}, err
		}
		return nodeSpecAfter(id, int(size)), nil
	case strings.HasPrefix(node, "0x"):
		nodeID, err = number(node[2:], 16, 6)
	default:
		nodeID, err = number(node, 10, 8)
	}
	if err != nil {
		return NodeSpec{}, fmt.Errorf("node ID %w", err)
	}
	if err := checkNodeID(nodeID, int(size)); err != nil {
		return NodeSpec{}, err
	}
	return newNodeSpec(nodeID, int(size)), nil
}

func number(s string, base, maxDigits int) (uint32, error) {
	n, err := strconv.ParseUint(s, base, 32) // rejects signs, spaces and underscores
	if err != nil || len(s) > maxDigits {
		return 0, fmt.Errorf("%q, want 1 to %d digits of base %d", s, maxDigits, base)
	}
	return uint32(n), nil
}

// NodeID returns the node ID.
func (s NodeSpec) NodeID() uint32 { return s.id.NodeID(int(s.size)) }

// NodeIDSize returns the size of the node ID in bits.
func (s NodeSpec) NodeIDSize() int { return int(s.size) }

// Previous returns the ID that all new IDs must follow, and whether there is one.
func (s NodeSpec) Previous() (ID, bool) {
	if s.id.Timestamp() == 0 {
		return 0, false
	}
	return s.id, true
}

// IsZero reports whether s is the zero NodeSpec.
func (s NodeSpec) IsZero() bool { return s == NodeSpec{} }

// String returns the spec's text. The text contains the previous ID if there is one, and otherwise
// the node ID in decimal. The text of the zero NodeSpec is "0/0", which does not parse.
func (s NodeSpec) String() string {
	if id, ok := s.Previous(); ok {
		return fmt.Sprintf("%v/%d", id, s.size)
	}
	return fmt.Sprintf("%d/%d", s.NodeID(), s.size)
}

// AppendText appends the spec's text to b. It fails only for the zero NodeSpec.
func (s NodeSpec) AppendText(b []byte) ([]byte, error) {
	if s.IsZero() {
		return b, fmt.Errorf("%w: none", ErrNodeSpec)
	}
	return append(b, s.String()...), nil
}

// MarshalText returns the spec's text; see AppendText.
func (s NodeSpec) MarshalText() ([]byte, error) { return s.AppendText(nil) }

// UnmarshalText is like [ParseNodeSpec]. An error does not change the spec.
func (s *NodeSpec) UnmarshalText(b []byte) error {
	parsed, err := ParseNodeSpec(string(b))
	if err != nil {
		return err
	}
	*s = parsed
	return nil
}
