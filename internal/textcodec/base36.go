package textcodec

import (
	"encoding/binary"
	"math/bits"
	"slices"

	"github.com/sortid/sortid"
	"github.com/sortid/sortid/internal/parseerr"
)

// The widths of texts in base 36. Their digits are 0-9a-z, and decoding ignores case.
const (
	Base36ShortLen = 12 // of integers below Base36Limit
	Base36LongLen  = 25 // of integers of 128 bits
)

// Base36Limit is 36^12, the first integer that does not fit in 12 digits.
const Base36Limit = 36 * 36 * 36 * 36 * 36 * 36 * 36 * 36 * 36 * 36 * 36 * 36

const (
	pow2 = 36 * 36
	pow4 = pow2 * pow2
	pow6 = pow4 * pow2
	pow8 = pow4 * pow4

	pow16Hi = pow8 * pow8 >> 64
	pow16Lo = pow8 * pow8 & (1<<64 - 1)
	maxTop  = 1 << 128 / (pow8 * pow8) // the maximum of the first nine of 25 digits

	pow24Hi = Base36Limit * Base36Limit >> 64
	pow24Lo = Base36Limit * Base36Limit & (1<<64 - 1)

	// 2^62 / 36^12 = 0.97: the 64 bits after the point, and the next 64, rounded up
	recipHi = 1 << 126 / Base36Limit
	recipLo = 1<<190/Base36Limit - recipHi<<64 + 1
	// 2^64 / 36^12 = 3.89: the part before the point and the 64 bits after it, rounded up
	unit     = 1 << 64 / Base36Limit
	unitRest = 1<<128/Base36Limit - unit<<64 + 1
)

const (
	digits36    = "0123456789abcdefghijklmnopqrstuvwxyz"
	base36Digit = "a Base36 digit, 0-9 or a-z"
)

var (
	base36Pairs [pow2]uint16
	base36Table = NewDecodeTable(digits36, true)
)

func init() { FillPairs(base36Pairs[:], digits36) }

// AppendBase36Short appends the 12 digits of v, which must be below Base36Limit.
func AppendBase36Short(b []byte, v uint64) []byte {
	n := len(b)
	b = slices.Grow(b, Base36ShortLen)[:n+Base36ShortLen]
	put12((*[Base36ShortLen]byte)(b[n:]), v)
	return b
}

// AppendBase36Long appends the 25 digits of src, a big-endian integer.
func AppendBase36Long(b []byte, src *[16]byte) []byte {
	n := len(b)
	b = slices.Grow(b, Base36LongLen)[:n+Base36LongLen]
	dst := (*[Base36LongLen]byte)(b[n:])
	hi, lo := binary.BigEndian.Uint64(src[:8]), binary.BigEndian.Uint64(src[8:])
	dst[0] = '0'
	if hi >= 1<<60 { // only for timestamps some centuries ahead
		dst[0], hi, lo = firstDigit(hi, lo)
	}
	// Write the low half first, because its fraction is ready first.
	high, f := divide(hi, lo)
	f = put6((*[6]byte)(dst[13:19]), f)
	put6((*[6]byte)(dst[19:25]), f)
	f = put6((*[6]byte)(dst[1:7]), fraction(high))
	put6((*[6]byte)(dst[7:13]), f)
	return b
}

func firstDigit(hi, lo uint64) (digit byte, restHi, restLo uint64) {
	// The first digit is hi >> 60 or one less, because 36^24 is a little above 2^124.
	first := hi >> 60
	for {
		overHi, timesLo := bits.Mul64(first, pow24Lo)
		timesHi := first*pow24Hi + overHi
		restLo, borrow := bits.Sub64(lo, timesLo, 0)
		restHi, borrow := bits.Sub64(hi, timesHi, borrow)
		if borrow == 0 {
			return digits36[first], restHi, restLo
		}
		first--
	}
}

// put12 writes v, which must be below 36^12.
func put12(dst *[12]byte, v uint64) {
	f := put6((*[6]byte)(dst[0:6]), fraction(v))
	put6((*[6]byte)(dst[6:12]), f)
}

// fraction returns v / 36^12, for v below 36^12, as a binary fraction of 64 bits. The fraction
// times 36^n has the first n of 12 digits before the point. This product modulo 2^64 is the
// fraction of the other digits. All digits are right if the fraction is too large by less than
// 1/36^12, which is 3.89 units of its last bit. The error is below 1.3 units, because v*unitRest is
// rounded down and unitRest is rounded up.
func fraction(v uint64) uint64 {
	rest, _ := bits.Mul64(v, unitRest)
	return unit*v + rest + 1
}

// divide divides an integer below 36^24 by 36^12. It returns the quotient and the fraction of the
// remainder, which is too large by less than 3.3 units. Rounding loses less than 1 unit in each of
// a, b and lo * recipLo, so divide adds 3. No fraction is so large that this changes the quotient.
func divide(hi, lo uint64) (quotient, f uint64) {
	hi, lo = hi<<2|lo>>62, lo<<2
	quotient, f = bits.Mul64(hi, recipHi)
	a, _ := bits.Mul64(lo, recipHi)
	b, _ := bits.Mul64(hi, recipLo)
	f, carry := bits.Add64(f, a, 0)
	quotient += carry
	f, carry = bits.Add64(f, b+3, 0)
	return quotient + carry, f
}

// put6 writes six digits of a fraction, and returns the fraction of the digits after them.
func put6(dst *[6]byte, f uint64) (rest uint64) {
	a, f := bits.Mul64(f, pow2)
	b, f := bits.Mul64(f, pow2)
	c, f := bits.Mul64(f, pow2)
	binary.LittleEndian.PutUint16(dst[0:], base36Pairs[a])
	binary.LittleEndian.PutUint16(dst[2:], base36Pairs[b])
	binary.LittleEndian.PutUint16(dst[4:], base36Pairs[c])
	return f
}

// UnmarshalBase36Short reads 12 digits. An error is a [*sortid.ParseError] for the format.
func UnmarshalBase36Short(format string, src []byte) (uint64, error) {
	if len(src) != Base36ShortLen {
		return 0, wrongLength(format, src, "12")
	}
	t := &base36Table
	a, b, c := t.Four((*[4]byte)(src[0:4])), t.Four((*[4]byte)(src[4:8])),
		t.Four((*[4]byte)(src[8:12]))
	if a|b|c >= NoSymbol {
		return 0, wrongSymbol(format, src, t, base36Digit)
	}
	return (a*pow4+b)*pow4 + c, nil
}

// UnmarshalBase36Long reads 25 digits. An error is a [*sortid.ParseError] for the format, and does
// not change dst.
func UnmarshalBase36Long(format string, dst *[16]byte, src []byte) error {
	if len(src) != Base36LongLen {
		return wrongLength(format, src, "25")
	}
	t := &base36Table
	first := t[3][src[0]]
	a1, a0 := t.Four((*[4]byte)(src[1:5])), t.Four((*[4]byte)(src[5:9]))
	b1, b0 := t.Four((*[4]byte)(src[9:13])), t.Four((*[4]byte)(src[13:17]))
	c1, c0 := t.Four((*[4]byte)(src[17:21])), t.Four((*[4]byte)(src[21:25]))
	if first|a1|a0|b1|b0|c1|c0 >= NoSymbol {
		return wrongSymbol(format, src, t, base36Digit)
	}
	// a * 36^16 + b * 36^8 + c, with nine digits in a and eight in b and c
	a := (first*pow4+a1)*pow4 + a0
	b := b1*pow4 + b0
	c := c1*pow4 + c0
	hi, lo := bits.Mul64(b, pow8)
	lo, carry := bits.Add64(lo, c, 0)
	hi += carry
	timesHi, timesLo := bits.Mul64(a, pow16Lo)
	lo, carry = bits.Add64(lo, timesLo, 0)
	hi += timesHi + carry // timesHi has less than 48 bits
	top := a * pow16Hi
	hi += top
	if a > maxTop || hi < top {
		return parseerr.Text(format, src, -1, sortid.ErrRange,
			"at most f5lxx1zz5pnorynqglhzmsp33, the largest ID")
	}
	binary.BigEndian.PutUint64(dst[:8], hi)
	binary.BigEndian.PutUint64(dst[8:], lo)
	return nil
}
