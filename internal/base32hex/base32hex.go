// Package base32hex encodes 20 bytes in base32hex of RFC 4648: the symbols 0-9A-V, most significant
// first. Decoding ignores case.
package base32hex

import (
	"encoding/binary"

	"github.com/sortid/sortid/internal/basen"
)

const (
	Len  = 32
	Size = 20
)

const symbols = "0123456789ABCDEFGHIJKLMNOPQRSTUV"

var (
	pairs       [1 << 10][2]byte
	decodeTable = basen.NewDecodeTable(symbols, true)
)

func init() { basen.FillPairs(pairs[:], symbols) }

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

func put8(dst *[8]byte, v uint64) {
	*(*[2]byte)(dst[0:2]) = pairs[v>>30&1023]
	*(*[2]byte)(dst[2:4]) = pairs[v>>20&1023]
	*(*[2]byte)(dst[4:6]) = pairs[v>>10&1023]
	*(*[2]byte)(dst[6:8]) = pairs[v&1023]
}

// Decode returns -1, or the offset of the first byte that is not a symbol. An error does not change
// dst.
func Decode(dst *[Size]byte, src *[Len]byte) (at int) {
	a, b, c, d := decodeTable.Four((*[4]byte)(src[0:4])), decodeTable.Four((*[4]byte)(src[4:8])),
		decodeTable.Four((*[4]byte)(src[8:12])), decodeTable.Four((*[4]byte)(src[12:16]))
	e, f, g, h := decodeTable.Four((*[4]byte)(src[16:20])),
		decodeTable.Four((*[4]byte)(src[20:24])), decodeTable.Four((*[4]byte)(src[24:28])),
		decodeTable.Four((*[4]byte)(src[28:32]))
	if a|b|c|d|e|f|g|h >= basen.NoSymbol {
		return decodeTable.BadSymbol(src[:])
	}
	// Each integer has 20 bits. Write them as 64, 64 and 32 bits.
	binary.BigEndian.PutUint64(dst[0:8], uint64(a)<<44|uint64(b)<<24|uint64(c)<<4|uint64(d)>>16)
	binary.BigEndian.PutUint64(dst[8:16], uint64(d)<<48|uint64(e)<<28|uint64(f)<<8|uint64(g)>>12)
	binary.BigEndian.PutUint32(dst[16:20], g<<20|h)
	return -1
}
