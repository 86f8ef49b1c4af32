package textcodec

// CrockfordLen is the length of a text of 128 bits and a check value of 7 bits, which the caller
// computes.
const CrockfordLen = 27

// CrockfordSymbols has the symbols of Crockford's Base32 in order of value. Decoding ignores case,
// and reads O as 0, and I and L as 1.
const CrockfordSymbols = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

var (
	crockfordPairs [1 << 10][2]byte
	crockfordTable = NewDecodeTable(CrockfordSymbols, true)
)

func init() {
	FillPairs(crockfordPairs[:], CrockfordSymbols)
	crockfordTable.Alias('O', '0')
	crockfordTable.Alias('I', '1')
	crockfordTable.Alias('L', '1')
}

// EncodeCrockford writes (hi * 2^64 + lo) * 2^7 + check, where check is below 2^7.
func EncodeCrockford(dst *[CrockfordLen]byte, hi, lo, check uint64) {
	dst[0] = CrockfordSymbols[hi>>59]
	*(*[2]byte)(dst[1:3]) = crockfordPairs[hi>>49&1023]
	*(*[2]byte)(dst[3:5]) = crockfordPairs[hi>>39&1023]
	*(*[2]byte)(dst[5:7]) = crockfordPairs[hi>>29&1023]
	*(*[2]byte)(dst[7:9]) = crockfordPairs[hi>>19&1023]
	*(*[2]byte)(dst[9:11]) = crockfordPairs[hi>>9&1023]
	*(*[2]byte)(dst[11:13]) = crockfordPairs[(hi<<1|lo>>63)&1023]
	*(*[2]byte)(dst[13:15]) = crockfordPairs[lo>>53&1023]
	*(*[2]byte)(dst[15:17]) = crockfordPairs[lo>>43&1023]
	*(*[2]byte)(dst[17:19]) = crockfordPairs[lo>>33&1023]
	*(*[2]byte)(dst[19:21]) = crockfordPairs[lo>>23&1023]
	*(*[2]byte)(dst[21:23]) = crockfordPairs[lo>>13&1023]
	*(*[2]byte)(dst[23:25]) = crockfordPairs[lo>>3&1023]
	*(*[2]byte)(dst[25:27]) = crockfordPairs[(lo<<7|check)&1023]
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
