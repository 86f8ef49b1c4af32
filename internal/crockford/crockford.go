// Package crockford encodes 128 bits and 7 more, a check value, in 27 symbols of
// Crockford's Base32: digits and capital letters without I, L, O and U, five bits in
// each, most significant first. Decoding ignores case and takes O for 0 and I and L
// for 1. What the check value is, is the caller's business.
package crockford

// Len is the length of a text.
const Len = 27

const symbols = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

// noSymbol is the worth of a byte that is no symbol: a bit that no four symbols have.
const noSymbol = 1 << 31

var (
	// pairs holds the 1024 texts of ten bits.
	pairs [1 << 10][2]byte
	// worths holds a symbol's bits in each of four places.
	worths [4][256]uint32
)

func init() {
	for i := range pairs {
		pairs[i] = [2]byte{symbols[i>>5], symbols[i&31]}
	}
	for place := range worths {
		worth := &worths[place]
		for i := range worth {
			worth[i] = noSymbol
		}
		set := func(c byte, value int) {
			bits := uint32(value) << (5 * (3 - place))
			worth[c] = bits
			if c >= 'A' {
				worth[c-'A'+'a'] = bits
			}
		}
		for i := range len(symbols) {
			set(symbols[i], i)
		}
		set('O', 0)
		set('I', 1)
		set('L', 1)
	}
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

// Decode reads a text. If a byte is no symbol ok is false and the rest zero; see
// [BadSymbol].
func Decode(src *[Len]byte) (hi, lo, check uint64, ok bool) {
	a, b, c := four((*[4]byte)(src[0:4])), four((*[4]byte)(src[4:8])), four((*[4]byte)(src[8:12]))
	d, e, f := four((*[4]byte)(src[12:16])), four((*[4]byte)(src[16:20])), four((*[4]byte)(src[20:24]))
	g := worths[1][src[24]] | worths[2][src[25]] | worths[3][src[26]]
	if (a|b|c|d|e|f|g)&noSymbol != 0 {
		return 0, 0, 0, false
	}
	// 20 bits in each, 15 in the last: 64, 64 and 7.
	hi = uint64(a)<<44 | uint64(b)<<24 | uint64(c)<<4 | uint64(d)>>16
	lo = uint64(d)<<48 | uint64(e)<<28 | uint64(f)<<8 | uint64(g)>>7
	return hi, lo, uint64(g) & 127, true
}

// four returns the 20 bits of four symbols, and noSymbol if any is none.
func four(s *[4]byte) uint32 {
	return worths[0][s[0]] | worths[1][s[1]] | worths[2][s[2]] | worths[3][s[3]]
}

// BadSymbol returns the offset of the first byte that is no symbol.
func BadSymbol(s *[Len]byte) int {
	for i, c := range s {
		if worths[3][c] == noSymbol {
			return i
		}
	}
	return len(s)
}
