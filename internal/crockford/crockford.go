// Package crockford encodes 128 bits and 7 more, a check value, in 27 symbols of
// Crockford's Base32: digits and capital letters without I, L, O and U, five bits in
// each, most significant first. Decoding ignores case and takes O for 0 and I and L
// for 1. What the check value is, is the caller's business.
package crockford

// Len is the length of a text.
const Len = 27

const (
	symbols = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
	invalid = 0xff
)

// pairs holds the 1024 texts of ten bits, and values each symbol's value.
var (
	pairs  [1 << 10][2]byte
	values [256]byte
)

func init() {
	for i := range pairs {
		pairs[i] = [2]byte{symbols[i>>5], symbols[i&31]}
	}
	for i := range values {
		values[i] = invalid
	}
	set := func(c byte, value int) {
		values[c] = byte(value)
		if c >= 'A' {
			values[c-'A'+'a'] = byte(value)
		}
	}
	for i := range len(symbols) {
		set(symbols[i], i)
	}
	set('O', 0)
	set('I', 1)
	set('L', 1)
}

// Encode writes the text of the integer (hi * 2^64 + lo) * 2^7 + check, where check is
// below 2^7.
func Encode(dst *[Len]byte, hi, lo, check uint64) {
	dst[0] = symbols[hi>>59]
	*(*[2]byte)(dst[1:3]) = pairs[hi>>49&1023]
	*(*[2]byte)(dst[3:5]) = pairs[hi>>39&1023]
	*(*[2]byte)(dst[5:7]) = pairs[hi>>29&1023]
	*(*[2]byte)(dst[7:9]) = pairs[hi>>19&1023]
	*(*[2]byte)(dst[9:11]) = pairs[hi>>9&1023]
	*(*[2]byte)(dst[11:13]) = pairs[(hi<<1|lo>>63)&1023]
	*(*[2]byte)(dst[13:15]) = pairs[lo>>53&1023]
	*(*[2]byte)(dst[15:17]) = pairs[lo>>43&1023]
	*(*[2]byte)(dst[17:19]) = pairs[lo>>33&1023]
	*(*[2]byte)(dst[19:21]) = pairs[lo>>23&1023]
	*(*[2]byte)(dst[21:23]) = pairs[lo>>13&1023]
	*(*[2]byte)(dst[23:25]) = pairs[lo>>3&1023]
	*(*[2]byte)(dst[25:27]) = pairs[(lo<<7|check)&1023]
}

// Decode reads a text; at is then -1. If a byte is no symbol, at is the offset of the
// first such byte and the rest is zero.
func Decode(src *[Len]byte) (hi, lo, check uint64, at int) {
	a, bad1 := get9((*[9]byte)(src[0:9]))
	b, bad2 := get9((*[9]byte)(src[9:18]))
	c, bad3 := get9((*[9]byte)(src[18:27]))
	if bad1|bad2|bad3 == invalid {
		return 0, 0, 0, badSymbol(src)
	}
	return a<<19 | b>>26, b<<38 | c>>7, c & 127, -1
}

// get9 returns the 45 bits of 9 symbols, and invalid in bad if any is none: a value
// has five bits, so no other sum of bits looks like that.
func get9(s *[9]byte) (v uint64, bad byte) {
	d0, d1, d2 := values[s[0]], values[s[1]], values[s[2]]
	d3, d4, d5 := values[s[3]], values[s[4]], values[s[5]]
	d6, d7, d8 := values[s[6]], values[s[7]], values[s[8]]
	v = uint64(d0)<<40 | uint64(d1)<<35 | uint64(d2)<<30 |
		uint64(d3)<<25 | uint64(d4)<<20 | uint64(d5)<<15 |
		uint64(d6)<<10 | uint64(d7)<<5 | uint64(d8)
	return v, d0 | d1 | d2 | d3 | d4 | d5 | d6 | d7 | d8
}

func badSymbol(s *[Len]byte) int {
	for i, c := range s {
		if values[c] == invalid {
			return i
		}
	}
	return len(s)
}
