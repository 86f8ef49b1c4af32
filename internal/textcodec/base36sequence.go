package textcodec

import (
	"encoding/binary"
	"math/bits"
)

// A Base36Sequence decodes texts of 25 digits, one after the other. It decodes the first digits
// only when they change, which halves the work for IDs of one generator. Capitals are invalid. The
// zero value is ready for use.
type Base36Sequence struct {
	known        bool
	first, other uint64 // digits 0 to 7 and 5 to 12 of the previous text
	hi, lo       uint64 // the integer of these digits and twelve zeros
}

const headLen = Base36LongLen - Base36ShortLen

var base36LowerTable = NewDecodeTable(digits36, false)

// Decode returns the integer hi * 2^64 + lo, and whether the text is valid.
func (s *Base36Sequence) Decode(text *[Base36LongLen]byte) (hi, lo uint64, ok bool) {
	first := binary.LittleEndian.Uint64(text[:8])
	other := binary.LittleEndian.Uint64(text[headLen-8 : headLen])
	if (first != s.first || other != s.other || !s.known) &&
		!s.begin((*[headLen]byte)(text[:headLen]), first, other) {
		return 0, 0, false
	}
	t := &base36LowerTable
	a, b, c := t.Four((*[4]byte)(text[13:17])), t.Four((*[4]byte)(text[17:21])),
		t.Four((*[4]byte)(text[21:25]))
	lo, carry := bits.Add64(s.lo, (a*pow4+b)*pow4+c, 0)
	hi, over := bits.Add64(s.hi, 0, carry)
	return hi, lo, a|b|c < NoSymbol && over == 0
}

func (s *Base36Sequence) begin(head *[headLen]byte, first, other uint64) (ok bool) {
	s.known = false
	t := &base36LowerTable
	top := t[3][head[0]]
	a, b, c := t.Four((*[4]byte)(head[1:5])), t.Four((*[4]byte)(head[5:9])),
		t.Four((*[4]byte)(head[9:13]))
	if a|b|c >= NoSymbol || top >= 16 {
		return false
	}
	// top * 36^24 + abc * 36^12
	hi, lo := bits.Mul64((a*pow4+b)*pow4+c, Base36Limit)
	topHi, topLo := bits.Mul64(top, pow24Lo)
	lo, carry := bits.Add64(lo, topLo, 0)
	hi, over := bits.Add64(hi, topHi+top*pow24Hi, carry)
	if over != 0 {
		return false
	}
	s.known, s.first, s.other, s.hi, s.lo = true, first, other, hi, lo
	return true
}
