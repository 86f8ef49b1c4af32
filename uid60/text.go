package uid60

import (
	"encoding/binary"
	"fmt"
	"math/bits"

	"github.com/sortid/sortid"
	"github.com/sortid/sortid/internal/parseerr"
	"github.com/sortid/sortid/internal/textcodec"
)

// The lengths that an ID's text may have. IDs since May 2020 have ten characters, older IDs have
// nine or fewer.
const (
	MinTextLen = 4
	MaxTextLen = 10
)

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

var (
	pairs       [1 << 12]uint16 // the 4096 numerals of two digits
	decodeTable = textcodec.NewDecodeTable(alphabet, false)
)

func init() { textcodec.FillPairs(pairs[:], alphabet) }

// Parse reads a text of 4 to 10 characters. Padding with A, from the third character on, is
// allowed. Case matters. An error is a [*sortid.ParseError].
func Parse(s string) (ID, error) {
	v, ok := decode([]byte(s)) // does not copy s
	if !ok {
		return 0, textError([]byte(s))
	}
	return ID(v), nil
}

// MustParse is like [Parse], but panics on an error.
func MustParse(s string) ID {
	id, err := Parse(s)
	if err != nil {
		panic(err)
	}
	return id
}

// decode does not keep b, so that Parse need not copy its string.
func decode(b []byte) (v uint64, ok bool) {
	if len(b) < MinTextLen || len(b) > MaxTextLen {
		return 0, false
	}
	last := decodeTable[2][b[0]] + decodeTable[3][b[1]]
	if len(b) == MaxTextLen { // all IDs since May 2020
		high, low := decodeTable.Four((*[4]byte)(b[2:6])), decodeTable.Four((*[4]byte)(b[6:10]))
		return high<<36 | low<<12 | last, high|low|last < textcodec.NoSymbol
	}
	all := last
	for _, c := range b[2:] {
		all |= decodeTable[3][c]
		v = v<<6 | decodeTable[3][c]
	}
	return v<<12 | last, all < textcodec.NoSymbol
}

func textError(b []byte) error {
	if len(b) < MinTextLen || len(b) > MaxTextLen {
		return parseerr.Text(name, b, -1, sortid.ErrLength, "4 to 10")
	}
	return parseerr.Text(name, b, decodeTable.BadSymbol(b), sortid.ErrSymbol,
		"A-Z, a-z, 0-9, - or _")
}

// appendText appends the text of v, which must not be above Max.
func appendText(b []byte, v uint64) []byte {
	n := len(b)
	if cap(b)-n < MaxTextLen {
		b = append(b, make([]byte, MaxTextLen)...)
	}
	if size := max(MinTextLen, (bits.Len64(v)+5)/6); size < MaxTextLen {
		b = append(b[:n], alphabet[v>>6&63], alphabet[v&63])
		for place := size - 1; place >= 2; place-- {
			b = append(b, alphabet[v>>(6*place)&63])
		}
		return b
	}
	b = b[:n+MaxTextLen]
	dst := (*[MaxTextLen]byte)(b[n:])
	first := uint64(pairs[v&4095]) | uint64(pairs[v>>48&4095])<<16 |
		uint64(pairs[v>>36&4095])<<32 | uint64(pairs[v>>24&4095])<<48
	binary.LittleEndian.PutUint64(dst[0:8], first)
	binary.LittleEndian.PutUint16(dst[8:10], pairs[v>>12&4095])
	return b
}

// String returns the ID's text, of 4 to 10 characters.
func (id ID) String() string {
	if id > maxID {
		return fmt.Sprintf("invalid uid60.ID(%d)", uint64(id))
	}
	var b [MaxTextLen]byte
	return string(appendText(b[:0], uint64(id)))
}

// AppendText appends the ID's text to b.
func (id ID) AppendText(b []byte) ([]byte, error) {
	if id > maxID {
		_, err := FromUint64(uint64(id))
		return b, err
	}
	return appendText(b, uint64(id)), nil
}

// MarshalText returns the ID's text.
func (id ID) MarshalText() ([]byte, error) { return id.AppendText(nil) }

// UnmarshalText is like [Parse]. An error does not change the ID.
func (id *ID) UnmarshalText(b []byte) error {
	v, ok := decode(b)
	if !ok {
		return textError(b)
	}
	*id = ID(v)
	return nil
}

// UnmarshalJSON reads a JSON string with the ID's text, or an integer below 2^53. Programs that read
// JSON numbers as floating point round larger ones, so they are an error. An error does not change
// the ID.
func (id *ID) UnmarshalJSON(b []byte) error {
	text, v, isNumber, err := textcodec.UnmarshalJSON(name, b)
	switch {
	case err != nil:
		return err
	case text != nil:
		return id.UnmarshalText(text)
	case isNumber:
		*id = ID(v)
	}
	return nil
}

// AppendBinary appends the ID's 8 bytes, big-endian, to b.
func (id ID) AppendBinary(b []byte) ([]byte, error) {
	if id > maxID {
		_, err := FromUint64(uint64(id))
		return b, err
	}
	return binary.BigEndian.AppendUint64(b, uint64(id)), nil
}

// MarshalBinary returns the ID's 8 bytes, big-endian.
func (id ID) MarshalBinary() ([]byte, error) { return id.AppendBinary(nil) }

// UnmarshalBinary reads 8 bytes, big-endian. An error is a [*sortid.ParseError] and does not change
// the ID.
func (id *ID) UnmarshalBinary(b []byte) error {
	if len(b) != Size {
		return parseerr.Binary(name, len(b), sortid.ErrBinaryLength, "8")
	}
	v := binary.BigEndian.Uint64(b)
	if v > maxID {
		return parseerr.Binary(name, len(b), sortid.ErrRange, integers)
	}
	*id = ID(v)
	return nil
}
