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
	base32HexPairs [1 << 10]uint16
	base32HexTable = NewDecodeTable(base32HexSymbols, true)
)

func init() { FillPairs(base32HexPairs[:], base32HexSymbols) }

// AppendBase32Hex appends the text of src. It reads words of 4, 8 and 8 bytes: after the compiler
// has copied src as two parts that overlap, such reads are faster than reads of 8, 8 and 4 bytes.
func AppendBase32Hex(text []byte, src *[Base32HexSize]byte) []byte {
	n := len(text)
	if cap(text)-n < Base32HexLen {
		text = append(text, make([]byte, Base32HexLen)...)
	}
	text = text[:n+Base32HexLen]
	dst := (*[Base32HexLen]byte)(text[n:])
	hi := binary.BigEndian.Uint32(src[0:4])
	mid, lo := binary.BigEndian.Uint64(src[4:12]), binary.BigEndian.Uint64(src[12:20])
	a := eight(&base32HexPairs, uint64(hi)<<8|mid>>56)
	b := eight(&base32HexPairs, mid>>16)
	c := eight(&base32HexPairs, mid<<24|lo>>40)
	d := eight(&base32HexPairs, lo)
	binary.LittleEndian.PutUint64(dst[0:8], a)
	binary.LittleEndian.PutUint64(dst[8:16], b)
	binary.LittleEndian.PutUint64(dst[16:24], c)
	binary.LittleEndian.PutUint64(dst[24:32], d)
	return text
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
