package base36

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// AppendLines128 appends the 25 digits of each big-endian integer, and sep after each. It computes
// the first digits only when they change, which halves the work for IDs of one generator.
func AppendLines128[T ~[16]byte](b []byte, integers []T, sep byte) []byte {
	const line, head = Len128 + 1, Len128 - Len62
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
		if i == 0 || above|below != 0 || rest >= Limit62 {
			Append128(dst[:0], hi, lo)
			first = [head]byte(dst[:head])
			rest, _ = Decode62(dst[head:Len128])
			baseLo, borrow = bits.Sub64(lo, rest, 0)
			baseHi = hi - borrow
		}
		*(*[head]byte)(dst[:head]) = first
		put12((*[12]byte)(dst[head:Len128]), rest)
		dst[Len128] = sep
	}
	return b
}
