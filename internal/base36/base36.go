// Package base36 encodes unsigned integers in the digits 0-9a-z at a fixed width,
// most significant digit first, and decodes them ignoring case.
package base36

import "math/bits"

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

	reciprocal = 1 << 125 / Limit62
)

// A Fault tells the two kinds of bad text apart; the length is the caller's to check.
type Fault uint8

const (
	OK     Fault = iota
	Symbol       // a byte that is no digit
	Range        // digits all, but the integer has more than 128 bits
)

const invalid = 0xff

// pairs holds the 1296 two-digit numerals, and values each digit's value.
var (
	pairs  [pow2][2]byte
	values [256]byte
)

// multiples holds 0 to 15 times 36^24, high word first.
var multiples [16][2]uint64

func init() {
	const digits = "0123456789abcdefghijklmnopqrstuvwxyz"
	for i := range pairs {
		pairs[i] = [2]byte{digits[i/36], digits[i%36]}
	}
	unitHi, unitLo := bits.Mul64(Limit62, Limit62)
	for i := range multiples {
		over, lo := bits.Mul64(uint64(i), unitLo)
		multiples[i] = [2]uint64{uint64(i)*unitHi + over, lo}
	}
	for i := range values {
		values[i] = invalid
	}
	for i := range len(digits) {
		values[digits[i]] = byte(i)
		if digits[i] >= 'a' {
			values[digits[i]-'a'+'A'] = byte(i)
		}
	}
}

// Encode62 writes v, which must be below Limit62.
func Encode62(dst *[Len62]byte, v uint64) {
	hi, lo := uint32(v/pow6), uint32(v%pow6)
	put6((*[6]byte)(dst[0:6]), hi)
	put6((*[6]byte)(dst[6:12]), lo)
}

// Encode128 writes the integer hi * 2^64 + lo.
func Encode128(dst *[Len128]byte, hi, lo uint64) {
	// The first digit is hi >> 60 or one less, since 36^24 is a little over 2^124.
	first := hi >> 60
	m := &multiples[first]
	restLo, borrow := bits.Sub64(lo, m[1], 0)
	restHi, borrow := bits.Sub64(hi, m[0], borrow)
	if borrow != 0 {
		first--
		var carry uint64
		restLo, carry = bits.Add64(restLo, multiples[1][1], 0)
		restHi, _ = bits.Add64(restHi, multiples[1][0], carry)
	}
	// Divide the rest, which is below 36^24, by 36^12: by way of the reciprocal the
	// quotient comes out right or one too small. No branch: nobody could predict it.
	high, _ := bits.Mul64(restHi<<3|restLo>>61, reciprocal)
	low := restLo - high*Limit62
	_, fits := bits.Sub64(low, Limit62, 0)
	high += 1 - fits
	low -= Limit62 & (fits - 1)
	dst[0] = pairs[first&31][1] // the mask spares a bounds check
	Encode62((*[12]byte)(dst[1:13]), high)
	Encode62((*[12]byte)(dst[13:25]), low)
}

// put6 writes v, which must be below 36^6.
func put6(dst *[6]byte, v uint32) {
	a, rest := v/pow4, v%pow4
	b, c := rest/pow2, rest%pow2
	*(*[2]byte)(dst[0:2]) = pairs[a]
	*(*[2]byte)(dst[2:4]) = pairs[b]
	*(*[2]byte)(dst[4:6]) = pairs[c]
}

// Decode62 reads 12 digits. With a fault, at is the offset of the first bad byte.
func Decode62(src *[Len62]byte) (v uint64, at int, fault Fault) {
	v, bad := get12(src)
	if bad >= 36 {
		return 0, badSymbol(src[:]), Symbol
	}
	return v, 0, OK
}

// Decode128 reads 25 digits as the integer hi * 2^64 + lo. With a fault, at is the
// offset of the first bad byte, or 0 where the integer is too large.
func Decode128(src *[Len128]byte) (hi, lo uint64, at int, fault Fault) {
	first := values[src[0]]
	high, bad1 := get12((*[12]byte)(src[1:13]))
	low, bad2 := get12((*[12]byte)(src[13:25]))
	if max(first, bad1, bad2) >= 36 {
		return 0, 0, badSymbol(src[:]), Symbol
	}
	// (first * 36^12 + high) * 36^12 + low
	qHi, qLo := bits.Mul64(uint64(first), Limit62)
	qLo, carry := bits.Add64(qLo, high, 0)
	qHi += carry
	hi, lo = bits.Mul64(qLo, Limit62)
	over, up := bits.Mul64(qHi, Limit62)
	lo, carry = bits.Add64(lo, low, 0)
	hi, carry = bits.Add64(hi, up, carry)
	if over != 0 || carry != 0 {
		return 0, 0, 0, Range
	}
	return hi, lo, 0, OK
}

// get12 returns the value of 12 digits, and a byte that is 36 or more if any of
// them is none. Pairs before fours before all twelve: the sums need not wait for
// each other.
func get12(s *[12]byte) (v uint64, bad byte) {
	d0, d1, d2, d3 := values[s[0]], values[s[1]], values[s[2]], values[s[3]]
	d4, d5, d6, d7 := values[s[4]], values[s[5]], values[s[6]], values[s[7]]
	d8, d9, d10, d11 := values[s[8]], values[s[9]], values[s[10]], values[s[11]]
	bad = d0 | d1 | d2 | d3 | d4 | d5 | d6 | d7 | d8 | d9 | d10 | d11
	if bad != invalid { // 0-35 have six bits: only an invalid digit sets the others
		bad = 0
	}
	a := pair(d0, d1)*pow2 + pair(d2, d3)
	b := pair(d4, d5)*pow2 + pair(d6, d7)
	c := pair(d8, d9)*pow2 + pair(d10, d11)
	return (a*pow4+b)*pow4 + c, bad
}

func pair(hi, lo byte) uint64 { return uint64(hi)*36 + uint64(lo) }

func badSymbol(s []byte) int {
	for i, c := range s {
		if values[c] == invalid {
			return i
		}
	}
	return len(s)
}
