package textcodec

import (
	"encoding/binary"
	"slices"

	"github.com/sortid/sortid"
	"github.com/sortid/sortid/internal/parseerr"
)

// CrockfordLen is the length of a text of 128 bits and a check value of 7 bits, which is the
// integer of these bits modulo 127.
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

// checksum returns the integer hi * 2^64 + lo modulo 127. A number has the same remainder as the
// sum of its digits in base 2^7, because 2^7 is 127 + 1. Digits in base 2^35 have this property,
// too. 2^64 has the same remainder as 2.
func checksum(hi, lo uint64) uint64 {
	const block = 35
	n := 2*(hi>>block+hi&(1<<block-1)) + lo>>block + lo&(1<<block-1)
	return n % 127
}

// AppendCrockford appends the text of src.
func AppendCrockford(text []byte, src *[16]byte) []byte {
	n := len(text)
	text = slices.Grow(text, CrockfordLen)[:n+CrockfordLen]
	dst := (*[CrockfordLen]byte)(text[n:])
	hi, lo := binary.BigEndian.Uint64(src[:8]), binary.BigEndian.Uint64(src[8:])
	check := checksum(hi, lo)
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

// UnmarshalCrockford reads 27 symbols. An error is a [*sortid.ParseError] for the format, and does
// not change dst.
func UnmarshalCrockford(format string, dst *[16]byte, src []byte) error {
	if len(src) != CrockfordLen {
		return wrongLength(format, src, "27")
	}
	t := &crockfordTable
	a := t.Four((*[4]byte)(src[0:4]))<<20 + t.Four((*[4]byte)(src[4:8]))
	b := t.Four((*[4]byte)(src[8:12]))<<20 + t.Four((*[4]byte)(src[12:16]))
	c := t.Four((*[4]byte)(src[16:20]))<<20 + t.Four((*[4]byte)(src[20:24]))
	d := t[1][src[24]] + t[2][src[25]] + t[3][src[26]]
	if a|b|c|d >= NoSymbol {
		return wrongSymbol(format, src, t, "one of Crockford's Base32, 0-9 or A-Z without U")
	}
	// The integers have 40 bits, but d has 15. The results have 64, 64 and 7 bits.
	hi, lo, check := a<<24|b>>16, b<<48|c<<8|d>>7, d&127
	if check != checksum(hi, lo) {
		return parseerr.Text(format, src, -1, sortid.ErrCheck, "")
	}
	binary.BigEndian.PutUint64(dst[:8], hi)
	binary.BigEndian.PutUint64(dst[8:], lo)
	return nil
}
