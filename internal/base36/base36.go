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

	zeros4 = 0x30303030         // four digits 0
	ones   = 0x0101010101010101 // 1 in each byte
	highs  = 128 * ones

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

const invalid = 0xff

// digits holds the digits, pairs the 1296 numerals of two digits, the first in the
// low byte, and values the value of each digit.
const digits = "0123456789abcdefghijklmnopqrstuvwxyz"

var (
	pairs  [2048]uint16
	values [256]byte
)

func init() {
	for i := range pow2 {
		pairs[i] = uint16(digits[i/36]) | uint16(digits[i%36])<<8
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

// Append62 appends the 12 digits of v, which must be below Limit62, to b.
func Append62(b []byte, v uint64) []byte {
	n := len(b)
	if cap(b)-n < Len62 {
		b = append(b, make([]byte, Len62)...)
	}
	b = b[:n+Len62]
	Encode62((*[Len62]byte)(b[n:]), v)
	return b
}

// Encode62 writes the 12 digits of v, which must be below Limit62.
func Encode62(dst *[Len62]byte, v uint64) {
	put6((*[6]byte)(dst[0:6]), v/pow6)
	put6((*[6]byte)(dst[6:12]), v%pow6)
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

// put6 writes v, which must be below 36^6: as the binary fraction v / 36^6, whose
// next two digits a multiplication by 36^2 moves before the point.
func put6(dst *[6]byte, v uint64) {
	a, f := bits.Mul64(v, 1<<64/pow4+1)
	b, f := bits.Mul64(f, pow2)
	c, _ := bits.Mul64(f, pow2)
	// The masks spare bounds checks.
	binary.LittleEndian.PutUint16(dst[0:], pairs[a&2047])
	binary.LittleEndian.PutUint16(dst[2:], pairs[b&2047])
	binary.LittleEndian.PutUint16(dst[4:], pairs[c&2047])
}

// Decode62 reads 12 digits. With a fault, at is the offset of the first bad byte.
func Decode62(src *[Len62]byte) (v uint64, at int, fault Fault) {
	a, bad1 := get8(binary.LittleEndian.Uint64(src[0:8]))
	b, bad2 := get8(uint64(binary.LittleEndian.Uint32(src[8:12]))<<32 | zeros4)
	if (bad1|bad2)&highs != 0 {
		return 0, BadSymbol(src[:]), Symbol
	}
	return a*pow4 + b, 0, OK
}

// Decode128 reads 25 digits as the integer hi * 2^64 + lo.
func Decode128(src []byte) (hi, lo uint64, fault Fault) {
	if len(src) != Len128 {
		return 0, 0, Length
	}
	first := uint64(values[src[0]])
	a, bad1 := get8(binary.LittleEndian.Uint64(src[1:9]))
	b, bad2 := get8(binary.LittleEndian.Uint64(src[9:17]))
	c, bad3 := get8(binary.LittleEndian.Uint64(src[17:25]))
	if (bad1|bad2|bad3)&highs != 0 || first == invalid {
		return 0, 0, Symbol
	}
	// top * 36^16 + b * 36^8 + c
	top := first*pow8 + a
	hi, lo = bits.Mul64(top, pow16Lo)
	midHi, midLo := bits.Mul64(b, pow8)
	lo, carry1 := bits.Add64(lo, midLo, 0)
	lo, carry2 := bits.Add64(lo, c, 0)
	hi += midHi + carry1 + carry2 // of less than 48 bits
	hi, over := bits.Add64(hi, top*pow16Hi, 0)
	if top > maxTop || over != 0 {
		return 0, 0, Range
	}
	return hi, lo, OK
}

// get8 returns the value of the eight digits in the bytes of x, the first of them in
// the low byte; bad has one of the bits highs if any of them is no digit. It works on
// all bytes at once, on each as if it were alone, for none overflows.
func get8(x uint64) (v, bad uint64) {
	letter := x >> 6 & ones // 1 in each byte that can only be a letter
	v = x ^ '0'*ones        // right for decimal digits
	// For letters of either case: choose that where the mask letter * 255 has ones.
	v ^= (v ^ ((x-letter)&(31*ones) + 10*ones)) & (letter * 255)
	bad = v + (118*ones - 26*letter) | x // 10 and 36, or more, reach 128
	v = v&0x00ff00ff00ff00ff*36 + v>>8&0x00ff00ff00ff00ff
	v = v&0x0000ffff0000ffff*pow2 + v>>16&0x0000ffff0000ffff
	return v&0xffffffff*pow4 + v>>32, bad
}

// BadSymbol returns the offset of the first byte that is no digit.
func BadSymbol(s []byte) int {
	for i, c := range s {
		if values[c] == invalid {
			return i
		}
	}
	return len(s)
}
