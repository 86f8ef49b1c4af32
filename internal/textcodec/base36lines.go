package textcodec

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// AppendBase36Lines appends the 25 digits of each big-endian integer, and sep after each. It
// computes the first digits only when they change, which halves the work for IDs of one generator.
func AppendBase36Lines[T ~[16]byte](b []byte, integers []T, sep byte) []byte {
	const line, head = Base36LongLen + 1, Base36LongLen - Base36ShortLen
	n := len(b)
	b = slices.Grow(b, line*len(integers))[:n+line*len(integers)]
	// Integers from base up to base + 36^12 have the same first digits.
	var first [head]byte
	var baseHi, baseLo uint64
	for i := range integers {
		dst := (*[line]byte)(b[n+line*i:])
		hi, lo := binary.BigEndian.Uint64(integers[i][:8]), binary.BigEndian.Uint64(integers[i][8:])
		rest, borrow := bits.Sub64(lo, baseLo, 0)
		above, below := bits.Sub64(hi, baseHi, borrow)
		if i == 0 || above|below != 0 || rest >= Base36Limit {
			src := [16]byte(integers[i])
			AppendBase36Long(dst[:0], &src)
			first = [head]byte(dst[:head])
			rest, _ = UnmarshalBase36Short("", dst[head:Base36LongLen])
			baseLo, borrow = bits.Sub64(lo, rest, 0)
			baseHi = hi - borrow
		}
		*(*[head]byte)(dst[:head]) = first
		put12((*[12]byte)(dst[head:Base36LongLen]), rest)
		dst[Base36LongLen] = sep
	}
	return b
}
