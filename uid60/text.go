package uid60

import (
	"encoding/binary"
	"fmt"
	"math/bits"

	"github.com/sortid/sortid/internal/fault"
)

// The lengths that an ID's text may have. The texts of IDs since May 2020 have ten
// characters, those of the time before nine or fewer.
const (
	MinTextLen = 4
	MaxTextLen = 10
)

const (
	alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	invalid  = 0xff
)

// values holds the value of each character.
var values = func() (v [256]byte) {
	for i := range v {
		v[i] = invalid
	}
	for i := range len(alphabet) {
		v[alphabet[i]] = byte(i)
	}
	return v
}()

// Parse returns the ID of a text of 4 to 10 characters, which may be padded: with A in
// front of the digits, so in the third place of the text. Case matters. Its errors are
// of type [*ParseError].
func Parse(s string) (ID, error) {
	v, at, err := decode([]byte(s))
	if err != nil {
		return 0, &ParseError{Input: fault.Clip(s), Length: len(s), Offset: at, Err: err}
	}
	return ID(v), nil
}

// MustParse is [Parse] for texts known to be right: it panics on any other.
func MustParse(s string) ID {
	id, err := Parse(s)
	if err != nil {
		panic(err)
	}
	return id
}

// decode does not keep b, so that Parse need not copy its string.
func decode(b []byte) (v uint64, at int, err error) {
	if len(b) < MinTextLen || len(b) > MaxTextLen {
		return 0, -1, ErrLength
	}
	var all byte // invalid sets bits that no value has
	for _, c := range b[2:] {
		all |= values[c]
		v = v<<6 | uint64(values[c])
	}
	all |= values[b[0]] | values[b[1]]
	if all == invalid {
		return 0, badSymbol(b), ErrSymbol
	}
	return v<<12 | uint64(values[b[0]])<<6 | uint64(values[b[1]]), -1, nil
}

func badSymbol(b []byte) int {
	for i, c := range b {
		if values[c] == invalid {
			return i
		}
	}
	return len(b)
}

// encode writes the text of v, which must not be above Max, and returns its length.
func encode(dst *[MaxTextLen]byte, v uint64) int {
	n := max(MinTextLen, (bits.Len64(v)+5)/6)
	dst[0], dst[1] = alphabet[v>>6&63], alphabet[v&63]
	v >>= 12
	for i := n - 1; i >= 2; i-- {
		dst[i] = alphabet[v&63]
		v >>= 6
	}
	return n
}

// String returns the ID's text, of 4 to 10 characters. An ID above [Max] has none; for
// it String returns a text that says so and does not parse.
func (id ID) String() string {
	if id > Max {
		return fmt.Sprintf("invalid uid60.ID(%d)", uint64(id))
	}
	var b [MaxTextLen]byte
	n := encode(&b, uint64(id))
	return string(b[:n])
}

// AppendText appends the ID's text to b. It fails only for an ID above [Max].
func (id ID) AppendText(b []byte) ([]byte, error) {
	if id > Max {
		_, err := FromUint64(uint64(id))
		return b, err
	}
	var text [MaxTextLen]byte
	n := encode(&text, uint64(id))
	return append(b, text[:n]...), nil
}

// MarshalText returns the ID's text. It fails only for an ID above [Max].
func (id ID) MarshalText() ([]byte, error) { return id.AppendText(nil) }

// UnmarshalText sets the ID to that of a text, as [Parse] reads it. With an error, of
// type [*ParseError], it leaves the ID as it was.
func (id *ID) UnmarshalText(b []byte) error {
	v, at, err := decode(b)
	if err != nil {
		return &ParseError{Input: fault.Clip(b), Length: len(b), Offset: at, Err: err}
	}
	*id = ID(v)
	return nil
}

// AppendBinary appends the ID's 8 bytes in big-endian order to b. It fails only for an
// ID above [Max].
func (id ID) AppendBinary(b []byte) ([]byte, error) {
	if id > Max {
		_, err := FromUint64(uint64(id))
		return b, err
	}
	return binary.BigEndian.AppendUint64(b, uint64(id)), nil
}

// MarshalBinary returns the ID's 8 bytes in big-endian order. It fails only for an ID
// above [Max].
func (id ID) MarshalBinary() ([]byte, error) { return id.AppendBinary(nil) }

// UnmarshalBinary sets the ID to that of 8 bytes in big-endian order. With an error, of
// type [*ParseError], it leaves the ID as it was.
func (id *ID) UnmarshalBinary(b []byte) error {
	if len(b) != Size {
		return &ParseError{Length: len(b), Offset: -1, Err: ErrBinaryLength}
	}
	v := binary.BigEndian.Uint64(b)
	if v > uint64(Max) {
		return &ParseError{Length: len(b), Offset: -1, Err: ErrRange}
	}
	*id = ID(v)
	return nil
}
