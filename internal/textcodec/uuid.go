package textcodec

import (
	"encoding/hex"

	"github.com/sortid/sortid"
	"github.com/sortid/sortid/internal/parseerr"
)

// UUIDLen is the length of the text of a UUID (RFC 9562): 32 hexadecimal digits in groups of 8, 4,
// 4, 4 and 12, with hyphens.
const UUIDLen = 36

// uuidGroups has each group's offset in the text and in the bytes.
var uuidGroups = [5]struct{ text, start, end int }{{0, 0, 4}, {9, 4, 6}, {14, 6, 8}, {19, 8, 10},
	{24, 10, 16}}

func AppendUUID(b []byte, u *[16]byte) []byte {
	var digits [32]byte
	AppendHex(digits[:0], u[:])
	b = append(b, "........-....-....-....-............"...)
	text := (*[UUIDLen]byte)(b[len(b)-UUIDLen:])
	copy(text[:], digits[:8])
	copy(text[9:], digits[8:12])
	copy(text[14:], digits[12:16])
	copy(text[19:], digits[16:20])
	copy(text[24:], digits[20:])
	return b
}

// DecodeUUID returns -1, or the offset of the first wrong byte. An error does not change u.
func DecodeUUID(u *[16]byte, s []byte) int {
	var out [16]byte
	bad := false
	for i, g := range uuidGroups {
		_, err := hex.Decode(out[g.start:g.end], s[g.text:g.text+2*(g.end-g.start)])
		bad = bad || err != nil || i > 0 && s[g.text-1] != '-'
	}
	if bad {
		return firstBad(s)
	}
	*u = out
	return -1
}

func firstBad(s []byte) int {
	for i, c := range s {
		hyphen := i == 8 || i == 13 || i == 18 || i == 23
		digit := '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'f'
		if hyphen && c != '-' || !hyphen && !digit {
			return i
		}
	}
	return len(s)
}

// UnmarshalUUID reads a UUID. If the text is invalid, it returns a [*sortid.ParseError] for the
// format and does not change u.
func UnmarshalUUID(format string, u *[16]byte, s []byte) error {
	if len(s) != UUIDLen {
		return parseerr.Text(format, s, -1, sortid.ErrUUIDLength, "36")
	}
	if at := DecodeUUID(u, s); at >= 0 {
		return parseerr.Text(format, s, at, sortid.ErrUUID,
			"a form like 017fef39-c264-1ba5-6a94-83188841e05a")
	}
	return nil
}
