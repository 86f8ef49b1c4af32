// Package base32hex encodes 20 bytes in the symbols 0-9A-V, five bits in each, most
// significant first (base32hex of RFC 4648, which at this length has no padding), and
// decodes them ignoring case.
package base32hex

import "encoding/binary"

// The lengths of the two sides in bytes.
const (
	Len  = 32
	Size = 20
)

const (
	symbols = "0123456789ABCDEFGHIJKLMNOPQRSTUV"
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
	for i := range len(symbols) {
		values[symbols[i]] = byte(i)
		if symbols[i] >= 'A' {
			values[symbols[i]-'A'+'a'] = byte(i)
		}
	}
}

// Encode writes the text of src.
func Encode(dst *[Len]byte, src *[Size]byte) {
	a := binary.BigEndian.Uint64(src[0:8])
	b := binary.BigEndian.Uint64(src[5:13])
	c := binary.BigEndian.Uint64(src[10:18])
	d := binary.BigEndian.Uint64(src[12:20])
	put8((*[8]byte)(dst[0:8]), a>>24)
	put8((*[8]byte)(dst[8:16]), b>>24)
	put8((*[8]byte)(dst[16:24]), c>>24)
	put8((*[8]byte)(dst[24:32]), d)
}

// put8 writes the low 40 bits of v.
func put8(dst *[8]byte, v uint64) {
	*(*[2]byte)(dst[0:2]) = pairs[v>>30&1023]
	*(*[2]byte)(dst[2:4]) = pairs[v>>20&1023]
	*(*[2]byte)(dst[4:6]) = pairs[v>>10&1023]
	*(*[2]byte)(dst[6:8]) = pairs[v&1023]
}

// Decode reads a text into dst and returns -1. If a byte is no symbol it returns the
// offset of the first such byte and leaves dst alone.
func Decode(dst *[Size]byte, src *[Len]byte) (at int) {
	a, bad1 := get8((*[8]byte)(src[0:8]))
	b, bad2 := get8((*[8]byte)(src[8:16]))
	c, bad3 := get8((*[8]byte)(src[16:24]))
	d, bad4 := get8((*[8]byte)(src[24:32]))
	if bad1|bad2|bad3|bad4 == invalid {
		return badSymbol(src)
	}
	binary.BigEndian.PutUint64(dst[0:8], a<<24|b>>16)
	binary.BigEndian.PutUint64(dst[8:16], b<<48|c<<8|d>>32)
	binary.BigEndian.PutUint32(dst[16:20], uint32(d))
	return -1
}

// get8 returns the 40 bits of 8 symbols, and invalid in bad if any is none: a value
// has five bits, so no other sum of bits looks like that.
func get8(s *[8]byte) (v uint64, bad byte) {
	d0, d1, d2, d3 := values[s[0]], values[s[1]], values[s[2]], values[s[3]]
	d4, d5, d6, d7 := values[s[4]], values[s[5]], values[s[6]], values[s[7]]
	v = uint64(d0)<<35 | uint64(d1)<<30 | uint64(d2)<<25 | uint64(d3)<<20 |
		uint64(d4)<<15 | uint64(d5)<<10 | uint64(d6)<<5 | uint64(d7)
	return v, d0 | d1 | d2 | d3 | d4 | d5 | d6 | d7
}

func badSymbol(s *[Len]byte) int {
	for i, c := range s {
		if values[c] == invalid {
			return i
		}
	}
	return len(s)
}
