package textcodec

import (
	"encoding/binary"
	"encoding/hex"
	"slices"

	"github.com/sortid/sortid"
	"github.com/sortid/sortid/internal/parseerr"
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
	text = slices.Grow(text, Base32HexLen)[:n+Base32HexLen]
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

// UnmarshalBase32Hex reads 32 symbols, or 40 hexadecimal digits. An error is a
// [*sortid.ParseError] for the format, and does not change dst.
func UnmarshalBase32Hex(format string, dst *[Base32HexSize]byte, src []byte) error {
	if len(src) != Base32HexLen {
		return unmarshalHex(format, dst, src)
	}
	t := &base32HexTable
	a := t.Four((*[4]byte)(src[0:4]))<<20 + t.Four((*[4]byte)(src[4:8]))
	b := t.Four((*[4]byte)(src[8:12]))<<20 + t.Four((*[4]byte)(src[12:16]))
	c := t.Four((*[4]byte)(src[16:20]))<<20 + t.Four((*[4]byte)(src[20:24]))
	d := t.Four((*[4]byte)(src[24:28]))<<20 + t.Four((*[4]byte)(src[28:32]))
	if a|b|c|d >= NoSymbol {
		return wrongSymbol(format, src, t,
			"0-9 or A-V, because a text of 32 characters is base32hex")
	}
	// Each integer has 40 bits. Write them as 64, 64 and 32 bits.
	binary.BigEndian.PutUint64(dst[0:8], a<<24|b>>16)
	binary.BigEndian.PutUint64(dst[8:16], b<<48|c<<8|d>>32)
	binary.BigEndian.PutUint32(dst[16:20], uint32(d))
	return nil
}

func unmarshalHex(format string, dst *[Base32HexSize]byte, src []byte) error {
	if len(src) != 2*Base32HexSize {
		return wrongLength(format, src, "32 of base32hex or 40 of hex")
	}
	var out [Base32HexSize]byte
	if n, err := hex.Decode(out[:], src); err != nil {
		at := 2 * n // this digit is wrong, or the next
		if err != hex.InvalidByteError(src[at]) {
			at++
		}
		return parseerr.Text(format, src, at, sortid.ErrSymbol,
			"0-9 or a-f, because a text of 40 characters is hex")
	}
	*dst = out
	return nil
}
