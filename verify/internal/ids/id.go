// Package ids holds IDs of any format as integers, and reads them from the encodings in
// which files have them. What it knows of a format beyond its codec it takes from
// package format.
package ids

import (
	"cmp"
	"math/bits"
)

// An ID is the integer of an ID of any format: the first 64 bits, the next 64 and the
// last 32. Parts that a format has no bits for are zero.
type ID struct {
	Hi, Lo uint64
	Tail   uint32
}

// Less reports whether a is smaller than b.
func Less(a, b ID) bool {
	if a.Hi == b.Hi && a.Lo == b.Lo {
		return a.Tail < b.Tail
	}
	_, borrow := bits.Sub64(a.Lo, b.Lo, 0)
	_, borrow = bits.Sub64(a.Hi, b.Hi, borrow)
	return borrow != 0
}

// Compare returns -1, 0 or +1 as a is less than, equal to or greater than b.
func Compare(a, b ID) int {
	return cmp.Or(cmp.Compare(a.Hi, b.Hi), cmp.Compare(a.Lo, b.Lo), cmp.Compare(a.Tail, b.Tail))
}

// Ascending returns how many IDs strictly increase from the first one on. There must be
// at least one.
func Ascending(list []ID) int {
	before := list[0]
	for i, v := range list[1:] {
		if !Less(before, v) {
			return i + 1
		}
		before = v
	}
	return len(list)
}
