// Package crockford encodes 128 bits and a check value of 7 bits in 27 symbols of Crockford's
// Base32: digits and capitals without I, L, O and U, most significant first. Decode ignores case,
// and reads O as 0, and I and L as 1. The caller computes the check value.
package crockford

import "github.com/sortid/sortid/internal/basen"

const Len = 27

// Symbols has the symbols in order of value.
const Symbols = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

var (
	pairs       [1 << 10][2]byte
	decodeTable = basen.NewDecodeTable(Symbols, true)
)

func init() {
	basen.FillPairs(pairs[:], Symbols)
	decodeTable.Alias('O', '0')
	decodeTable.Alias('I', '1')
	decodeTable.Alias('L', '1')
}

// Encode writes (hi * 2^64 + lo) * 2^7 + check, where check is below 2^7.
func Encode(dst *[Len]byte, hi, lo, check uint64) {
	dst[0] = Symbols[hi>>59]
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

// Decode returns zeros and false if a byte is not a symbol; see [BadSymbol].
func Decode(src *[Len]byte) (hi, lo, check uint64, ok bool) {
	a, b, c := decodeTable.Four((*[4]byte)(src[0:4])), decodeTable.Four((*[4]byte)(src[4:8])),
		decodeTable.Four((*[4]byte)(src[8:12]))
	d, e, f := decodeTable.Four((*[4]byte)(src[12:16])), decodeTable.Four((*[4]byte)(src[16:20])),
		decodeTable.Four((*[4]byte)(src[20:24]))
	g := decodeTable[1][src[24]] + decodeTable[2][src[25]] + decodeTable[3][src[26]]
	if a|b|c|d|e|f|g >= basen.NoSymbol {
		return 0, 0, 0, false
	}
	// The integers have 20 bits, but g has 15. The results have 64, 64 and 7 bits.
	hi = uint64(a)<<44 | uint64(b)<<24 | uint64(c)<<4 | uint64(d)>>16
	lo = uint64(d)<<48 | uint64(e)<<28 | uint64(f)<<8 | uint64(g)>>7
	return hi, lo, uint64(g) & 127, true
}

func BadSymbol(s *[Len]byte) int { return decodeTable.BadSymbol(s[:]) }
