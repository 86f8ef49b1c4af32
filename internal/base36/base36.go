// Package base36 encodes unsigned integers in the digits 0-9a-z at a fixed width,
// most significant digit first, and decodes them ignoring case.
package base36

import (
	"encoding/binary"
	"math/bits"
)

// The widths of the two sizes of integers in digits.
const (
	Len62  = 12 // for integers below Limit62
	Len128 = 25
)

// Limit62 is 36^12, the first integer that 12 digits cannot hold.
const Limit62 = 36 * 36 * 36 * 36 * 36 * 36 * 36 * 36 * 36 * 36 * 36 * 36

const (
	pow2 = 36 * 36
	pow4 = pow2 * pow2
	pow6 = pow4 * pow2
	pow8 = pow4 * pow4

	pow16Hi = pow8 * pow8 >> 64
	pow16Lo = pow8 * pow8 & (1<<64 - 1)
	maxTop  = 1 << 128 / (pow8 * pow8) // the first nine of 25 digits are at most this

	pow24Hi    = Limit62 * Limit62 >> 64
	pow24Lo    = Limit62 * Limit62 & (1<<64 - 1)
	reciprocal = 1 << 125 / Limit62
)

// A Fault says what is wrong with a text.
type Fault uint8

const (
	OK     Fault = iota
	Length       // not as many bytes as the width
	Symbol       // a byte that is no digit; see BadSymbol
	Range        // digits all, but the integer has more than 128 bits
)

const digits = "0123456789abcdefghijklmnopqrstuvwxyz"

// noDigit is the weight of a byte that is no digit: more than four digits are worth, so
// that a sum shows it.
const noDigit = 1 << 28

var (
	// pairs holds the 1296 numerals of two digits, the first in the low byte.
	pairs [2048]uint16
	// weights holds what a digit is worth in each of four places.
	weights [4][256]uint32
)

func init() {
	for i := range pow2 {
		pairs[i] = uint16(digits[i/36]) | uint16(digits[i%36])<<8
	}
	for place, worth := range []uint32{pow2 * 36, pow2, 36, 1} {
		for c := range weights[place] {
			weights[place][c] = noDigit
		}
		for i, c := range []byte(digits) {
			weights[place][c] = uint32(i) * worth
			if c >= 'a' {
				weights[place][c-'a'+'A'] = uint32(i) * worth
			}
		}
	}
}

// Append62 appends the 12 digits of v, which must be below Limit62, to b.
func Append62(b []byte, v uint64) []byte {
	n := len(b)
	if cap(b)-n < Len62 {
		b = append(b, make([]byte, Len62)...)
	}
	b = b[:n+Len62]
	put12((*[12]byte)(b[n:]), v)
	return b
}

// Append128 appends the 25 digits of the integer hi * 2^64 + lo to b.
func Append128(b []byte, hi, lo uint64) []byte {
	n := len(b)
	if cap(b)-n < Len128 {
		b = append(b, make([]byte, Len128)...)
	}
	b = b[:n+Len128]
	dst := (*[Len128]byte)(b[n:])
	dst[0] = '0'
	if hi >= 1<<60 { // as timestamps will be in some centuries
		dst[0], hi, lo = firstDigit(hi, lo)
	}
	// Divide the rest, which is below 36^24, by 36^12: by way of the reciprocal the
	// quotient comes out right or one too small. No branch: nobody could predict it.
	high, _ := bits.Mul64(hi<<3|lo>>61, reciprocal)
	low := lo - high*Limit62
	_, fits := bits.Sub64(low, Limit62, 0)
	high += 1 - fits
	low -= Limit62 & (fits - 1)
	put6((*[6]byte)(dst[1:7]), high/pow6)
	put6((*[6]byte)(dst[7:13]), high%pow6)
	put6((*[6]byte)(dst[13:19]), low/pow6)
	put6((*[6]byte)(dst[19:25]), low%pow6)
	return b
}

// firstDigit returns the first of 25 digits and the rest of the integer.
func firstDigit(hi, lo uint64) (digit byte, restHi, restLo uint64) {
	// It is hi >> 60 or one less, since 36^24 is a little over 2^124.
	first := hi >> 60
	for {
		overHi, timesLo := bits.Mul64(first, pow24Lo)
		timesHi := first*pow24Hi + overHi
		restLo, borrow := bits.Sub64(lo, timesLo, 0)
		restHi, borrow := bits.Sub64(hi, timesHi, borrow)
		if borrow == 0 {
			return digits[first], restHi, restLo
		}
		first--
	}
}

// put12 writes v, which must be below 36^12.
func put12(dst *[12]byte, v uint64) {
	put6((*[6]byte)(dst[0:6]), v/pow6)
	put6((*[6]byte)(dst[6:12]), v%pow6)
}

// put6 writes v, which must be below 36^6: as the fraction v / 36^6 of 53 bits, in which
// a multiplication by 36^2 moves two digits before the point. The fraction starts too large
// by less than 2^-21, and the last two digits are worth more. A product fits 64 bits, and
// what it has before the point needs no bounds check.
func put6(dst *[6]byte, v uint64) {
	const point, whole = 53, 64 - 53
	a := v * (1<<point/pow4 + 1)
	b := a << whole >> whole * pow2
	c := b << whole >> whole * pow2
	binary.LittleEndian.PutUint16(dst[0:], pairs[a>>point])
	binary.LittleEndian.PutUint16(dst[2:], pairs[b>>point])
	binary.LittleEndian.PutUint16(dst[4:], pairs[c>>point])
}

// Decode62 reads 12 digits.
func Decode62(src []byte) (v uint64, fault Fault) {
	if len(src) != Len62 {
		return 0, Length
	}
	a, b, c := four((*[4]byte)(src[0:4])), four((*[4]byte)(src[4:8])), four((*[4]byte)(src[8:12]))
	if a|b|c >= noDigit {
		return 0, Symbol
	}
	return (uint64(a)*pow4+uint64(b))*pow4 + uint64(c), OK
}

// Decode128 reads 25 digits as the integer hi * 2^64 + lo.
func Decode128(src []byte) (hi, lo uint64, fault Fault) {
	if len(src) != Len128 {
		return 0, 0, Length
	}
	first := weights[3][src[0]]
	a1, a0 := four((*[4]byte)(src[1:5])), four((*[4]byte)(src[5:9]))
	b1, b0 := four((*[4]byte)(src[9:13])), four((*[4]byte)(src[13:17]))
	c1, c0 := four((*[4]byte)(src[17:21])), four((*[4]byte)(src[21:25]))
	if first|a1|a0|b1|b0|c1|c0 >= noDigit {
		return 0, 0, Symbol
	}
	// a * 36^16 + b * 36^8 + c, with nine digits in a and eight in the others
	a := uint64(first)*pow8 + uint64(a1)*pow4 + uint64(a0)
	b := uint64(b1)*pow4 + uint64(b0)
	c := uint64(c1)*pow4 + uint64(c0)
	hi, lo = bits.Mul64(a, pow16Lo)
	midHi, midLo := bits.Mul64(b, pow8)
	lo, carry1 := bits.Add64(lo, midLo, 0)
	lo, carry2 := bits.Add64(lo, c, 0)
	hi += midHi + carry1 + carry2 // of less than 48 bits
	hi, over := bits.Add64(hi, a*pow16Hi, 0)
	if a > maxTop || over != 0 {
		return 0, 0, Range
	}
	return hi, lo, OK
}

// four returns the value of four digits, noDigit or more if one of them is none.
func four(s *[4]byte) uint32 {
	return weights[0][s[0]] + weights[1][s[1]] + weights[2][s[2]] + weights[3][s[3]]
}

// BadSymbol returns the offset of the first byte that is no digit.
func BadSymbol(s []byte) int {
	for i, c := range s {
		if weights[3][c] == noDigit {
			return i
		}
	}
	return len(s)
}
