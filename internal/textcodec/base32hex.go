package textcodec

import (
	"encoding/binary"
)

// The lengths of a text in base32hex of RFC 4648 and of its bytes. The symbols are 0-9A-V, and
// decoding ignores case.
const (
	Base32HexLen  = 32
	Base32HexSize = 20
)

const base32HexSymbols = "0123456789ABCDEFGHIJKLMNOPQRSTUV"

var (
	base32HexPairs [1 << 10][2]byte
	base32HexTable = NewDecodeTable(base32HexSymbols, true)
)

func init() { FillPairs(base32HexPairs[:], base32HexSymbols) }

func EncodeBase32Hex(dst *[Base32HexLen]byte, src *[Base32HexSize]byte) {
	a := binary.BigEndian.Uint64(src[0:8])
	b := binary.BigEndian.Uint64(src[5:13])
	c := binary.BigEndian.Uint64(src[10:18])
	d := binary.BigEndian.Uint64(src[12:20])
	putBase32Hex8((*[8]byte)(dst[0:8]), a>>24)
	putBase32Hex8((*[8]byte)(dst[8:16]), b>>24)
	putBase32Hex8((*[8]byte)(dst[16:24]), c>>24)
	putBase32Hex8((*[8]byte)(dst[24:32]), d)
}

func putBase32Hex8(dst *[8]byte, v uint64) {
	*(*[2]byte)(dst[0:2]) = base32HexPairs[v>>30&1023]
	*(*[2]byte)(dst[2:4]) = base32HexPairs[v>>20&1023]
	*(*[2]byte)(dst[4:6]) = base32HexPairs[v>>10&1023]
	*(*[2]byte)(dst[6:8]) = base32HexPairs[v&1023]
}

// DecodeBase32Hex returns -1, or the offset of the first byte that is not a symbol. An error does
// not change dst.
func DecodeBase32Hex(dst *[Base32HexSize]byte, src *[Base32HexLen]byte) (at int) {
	t := &base32HexTable
	a, b, c, d := t.Four((*[4]byte)(src[0:4])), t.Four((*[4]byte)(src[4:8])),
		t.Four((*[4]byte)(src[8:12])), t.Four((*[4]byte)(src[12:16]))
	e, f, g, h := t.Four((*[4]byte)(src[16:20])), t.Four((*[4]byte)(src[20:24])),
		t.Four((*[4]byte)(src[24:28])), t.Four((*[4]byte)(src[28:32]))
	if a|b|c|d|e|f|g|h >= NoSymbol {
		return t.BadSymbol(src[:])
	}
	// Each integer has 20 bits. Write them as 64, 64 and 32 bits.
	binary.BigEndian.PutUint64(dst[0:8], uint64(a)<<44|uint64(b)<<24|uint64(c)<<4|uint64(d)>>16)
	binary.BigEndian.PutUint64(dst[8:16], uint64(d)<<48|uint64(e)<<28|uint64(f)<<8|uint64(g)>>12)
	binary.BigEndian.PutUint32(dst[16:20], g<<20|h)
	return -1
}
