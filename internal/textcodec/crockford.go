package textcodec

import "encoding/binary"

// CrockfordLen is the length of a text of 128 bits and a check value of 7 bits, which the caller
// computes.
const CrockfordLen = 27

// CrockfordSymbols has the symbols of Crockford's Base32 in order of value. Decoding ignores case,
// and reads O as 0, and I and L as 1.
const CrockfordSymbols = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

var (
	crockfordPairs [1 << 10]uint16
	crockfordTable = NewDecodeTable(CrockfordSymbols, true)
)

func init() {
	FillPairs(crockfordPairs[:], CrockfordSymbols)
	crockfordTable.Alias('O', '0')
	crockfordTable.Alias('I', '1')
	crockfordTable.Alias('L', '1')
}

// AppendCrockford appends the text of (hi * 2^64 + lo) * 2^7 + check, where check is below 2^7.
func AppendCrockford(text []byte, hi, lo, check uint64) []byte {
	n := len(text)
	if cap(text)-n < CrockfordLen {
		text = append(text, make([]byte, CrockfordLen)...)
	}
	text = text[:n+CrockfordLen]
	dst := (*[CrockfordLen]byte)(text[n:])
	a := eight(&crockfordPairs, hi>>24)
	b := eight(&crockfordPairs, hi<<16|lo>>48)
	c := eight(&crockfordPairs, lo>>8)
	binary.LittleEndian.PutUint64(dst[0:8], a)
	binary.LittleEndian.PutUint64(dst[8:16], b)
	binary.LittleEndian.PutUint64(dst[16:24], c)
	binary.LittleEndian.PutUint16(dst[24:26], crockfordPairs[(lo<<2|check>>5)&1023])
	dst[26] = CrockfordSymbols[check&31]
	return text
}

// DecodeCrockford returns zeros and false if a byte is not a symbol; see [BadCrockford].
func DecodeCrockford(src *[CrockfordLen]byte) (hi, lo, check uint64, ok bool) {
	t := &crockfordTable
	a, b, c := t.Four((*[4]byte)(src[0:4])), t.Four((*[4]byte)(src[4:8])),
		t.Four((*[4]byte)(src[8:12]))
	d, e, f := t.Four((*[4]byte)(src[12:16])), t.Four((*[4]byte)(src[16:20])),
		t.Four((*[4]byte)(src[20:24]))
	g := t[1][src[24]] + t[2][src[25]] + t[3][src[26]]
	if a|b|c|d|e|f|g >= NoSymbol {
		return 0, 0, 0, false
	}
	// The integers have 20 bits, but g has 15. The results have 64, 64 and 7 bits.
	hi = uint64(a)<<44 | uint64(b)<<24 | uint64(c)<<4 | uint64(d)>>16
	lo = uint64(d)<<48 | uint64(e)<<28 | uint64(f)<<8 | uint64(g)>>7
	return hi, lo, uint64(g) & 127, true
}

func BadCrockford(s *[CrockfordLen]byte) int { return crockfordTable.BadSymbol(s[:]) }
