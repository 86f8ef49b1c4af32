package format

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/big"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sortid/sortid/internal/parseerr"
	"github.com/sortid/sortid/internal/uuidtext"
)

// An ID is an ID of one of the five formats. It is immutable and comparable. The zero
// ID belongs to no format, and has no methods to call but IsZero, Format and String.
type ID struct {
	format *Format
	words  words
}

// words are the integer of an ID, most significant word first.
type words [3]uint64

func (w words) compare(other words) int { return slices.Compare(w[:], other[:]) }

// A Encoding is a way to write an ID.
type Encoding string

// The forms. All formats have the first three; those of 128 bits have the last.
const (
	Text Encoding = "text" // the format's own
	Hex  Encoding = "hex"  // the whole ID, big-endian, at full width, in lower case
	Int  Encoding = "int"  // a decimal integer
	UUID Encoding = "uuid" // 36 characters, without a UUID's version and variant
)

// LookupEncoding returns the form of a name.
func LookupEncoding(name string) (Encoding, error) {
	switch f := Encoding(strings.ToLower(name)); f {
	case Text, Hex, Int, UUID:
		return f, nil
	}
	return "", &UnknownError{What: "form", Name: name, Known: []string{"text", "hex", "int", "uuid"}}
}

// Format returns the ID's format, nil for the zero ID.
func (id ID) Format() *Format { return id.format }

// IsZero reports whether id is the zero value, which is no ID at all; the ID 0 of a
// format is not.
func (id ID) IsZero() bool { return id.format == nil }

// Compare returns -1, 0 or +1 as id is less than, the same as or greater than other,
// as an integer. IDs of one format then are in order of time.
func (id ID) Compare(other ID) int { return id.words.compare(other.words) }

// Bytes returns the ID's bytes in big-endian order, as many as its format has.
func (id ID) Bytes() []byte { return id.appendBytes(nil) }

func (id ID) appendBytes(b []byte) []byte {
	switch id.format.Bits {
	case 160:
		b = binary.BigEndian.AppendUint32(b, uint32(id.words[0]))
		fallthrough
	case 128:
		b = binary.BigEndian.AppendUint64(b, id.words[1])
	}
	return binary.BigEndian.AppendUint64(b, id.words[2])
}

// FromBytes returns the ID of its bytes in big-endian order.
func (s *Format) FromBytes(b []byte) (ID, error) {
	if len(b) != s.Bits/8 {
		return ID{}, kindErrorf(ErrEncoding, "%s: %d bytes, want %d", s.Name, len(b), s.Bits/8)
	}
	var full [24]byte
	copy(full[24-len(b):], b)
	return s.fromWords(words{
		binary.BigEndian.Uint64(full[0:]), binary.BigEndian.Uint64(full[8:]), binary.BigEndian.Uint64(full[16:]),
	})
}

func (s *Format) fromWords(w words) (ID, error) { return s.id(w, s.check(w)) }

// id makes an ID of what an adapter returned.
func (s *Format) id(w words, err error) (ID, error) {
	if err != nil {
		return ID{}, err
	}
	return ID{s, w}, nil
}

// String returns the ID's text.
func (id ID) String() string {
	if id.IsZero() {
		return "no ID"
	}
	return id.In(Text)
}

// In returns the ID in a form that its format has.
func (id ID) In(f Encoding) string { return string(id.Append(nil, f)) }

// Append appends the ID in a form that its format has to b; see [Format.HasEncoding].
func (id ID) Append(b []byte, f Encoding) []byte {
	switch f {
	case Text:
		return id.format.appendText(b, id.words)
	case Hex:
		var raw [20]byte
		return hex.AppendEncode(b, id.appendBytes(raw[:0]))
	case Int:
		return id.words.appendInt(b)
	case UUID:
		if id.format.Bits == 128 {
			var raw [16]byte
			id.appendBytes(raw[:0])
			return uuidtext.Append(b, &raw)
		}
	}
	panic("format: " + id.format.Name + " IDs have no form " + strconv.Quote(string(f)))
}

// CheckEncoding returns [ErrEncoding] and says why if the format's IDs do not have the form.
func (s *Format) CheckEncoding(f Encoding) error {
	if s.HasEncoding(f) {
		return nil
	}
	names := make([]string, len(s.Encodings))
	for i, f := range s.Encodings {
		names[i] = string(f)
	}
	return kindErrorf(ErrEncoding, "%s IDs have %d bits, so they have no form %q; their forms are %s",
		s.Name, s.Bits, f, list(names, "and"))
}

// Parse returns the ID of a text in the format's own form.
func (s *Format) Parse(text string) (ID, error) { return s.id(s.parse(text)) }

// ParseAs returns the ID of a text in the given form: a hexadecimal number must have
// its full width, and may be in either case; an integer may not have a sign.
func (s *Format) ParseAs(f Encoding, text string) (ID, error) {
	if err := s.CheckEncoding(f); err != nil {
		return ID{}, err
	}
	switch f {
	case Hex:
		return s.parseHex(text)
	case Int:
		return s.parseInt(text)
	case UUID:
		return s.parseUUID(text)
	}
	return s.Parse(text)
}

// ParseAny returns the ID of a text in any form of the format, and the form. A text
// that could be of two is read as the first of: text, UUID, hex, int.
func (s *Format) ParseAny(text string) (ID, Encoding, error) {
	f := s.encodingOf(text)
	id, err := s.ParseAs(f, text)
	return id, f, err
}

// encodingOf tells the form by length and alphabet; a text that fits none is to be read as
// the format's own.
func (s *Format) encodingOf(text string) Encoding {
	c := classify(text)
	switch {
	case s.hasTextLength(len(text)):
	case s.Bits == 128 && len(text) == uuidtext.Len:
		return UUID
	case len(text) == s.Bits/4 && c&classHex != 0:
		return Hex
	case c&classDecimal != 0:
		return Int
	}
	return Text
}

func (s *Format) hasTextLength(n int) bool { return slices.Contains(s.TextLengths, n) }

func (s *Format) parseHex(text string) (ID, error) {
	var raw [20]byte
	if want := s.Bits / 4; len(text) != want {
		return ID{}, s.inputError(text, fmt.Sprintf("%d characters; the hexadecimal form has %d", len(text), want))
	}
	n, err := hex.Decode(raw[:], []byte(text))
	if err != nil {
		for i := range len(text) {
			if classes[text[i]]&classHex == 0 {
				return ID{}, s.inputError(text, fmt.Sprintf("%q at offset %d is no hexadecimal digit", text[i:i+1], i))
			}
		}
	}
	return s.FromBytes(raw[:n])
}

func (s *Format) parseUUID(text string) (ID, error) {
	if len(text) != uuidtext.Len {
		return ID{}, s.inputError(text, fmt.Sprintf("%d characters; a UUID has %d", len(text), uuidtext.Len))
	}
	var raw [16]byte
	if at := uuidtext.Decode(&raw, []byte(text)); at >= 0 {
		return ID{}, s.inputError(text, fmt.Sprintf("%q at offset %d is not the hexadecimal digit or hyphen of a UUID", text[at:at+1], at))
	}
	return s.FromBytes(raw[:])
}

func (s *Format) parseInt(text string) (ID, error) {
	if text == "" {
		return ID{}, s.inputError(text, "it is empty; an integer has decimal digits")
	}
	var w words
	for i := 0; i < len(text); {
		// Nineteen digits at a time fit a word.
		part, scale := uint64(0), uint64(1)
		for end := min(i+19, len(text)); i < end; i++ {
			digit := text[i] - '0'
			if digit > 9 {
				return ID{}, s.inputError(text, fmt.Sprintf("%q at offset %d is no decimal digit", text[i:i+1], i))
			}
			part, scale = part*10+uint64(digit), scale*10
		}
		for j := 2; j >= 0; j-- {
			over, low := bits.Mul64(w[j], scale)
			low, carry := bits.Add64(low, part, 0)
			w[j], part = low, over+carry
		}
		if part != 0 || w.compare(s.max) > 0 {
			return ID{}, s.inputError(text, fmt.Sprintf("larger than %s, the largest ID", s.Max().In(Int)))
		}
	}
	return s.fromWords(w)
}

func (s *Format) inputError(input, reason string) error {
	return kindErrorf(ErrEncoding, "%s: cannot parse %q: %s", s.Name, parseerr.Shorten(input), reason)
}

const ten19 = 10_000_000_000_000_000_000 // the largest power of ten in a word

// appendInt appends the integer in decimal.
func (w words) appendInt(b []byte) []byte {
	var parts [3]uint64 // of 19 digits, the lowest first: 160 bits have at most 49
	n := 0
	for w[0]|w[1] != 0 {
		var rest uint64
		w[0], rest = w[0]/ten19, w[0]%ten19
		w[1], rest = bits.Div64(rest, w[1], ten19)
		w[2], rest = bits.Div64(rest, w[2], ten19)
		parts[n] = rest
		n++
	}
	parts[n] = w[2]
	if w[2] == 0 && n > 0 {
		n--
	}
	b = strconv.AppendUint(b, parts[n], 10)
	for n--; n >= 0; n-- {
		b = appendPadded(b, parts[n], 19)
	}
	return b
}

// appendPadded appends v with leading zeros to a width of at most 20 digits.
func appendPadded(b []byte, v uint64, width int) []byte {
	var buf [20]byte
	for i := width - 1; i >= 0; i-- {
		buf[i] = byte('0' + v%10)
		v /= 10
	}
	return append(b, buf[:width]...)
}

// Big returns the ID as an integer.
func (id ID) Big() *big.Int { return new(big.Int).SetBytes(id.Bytes()) }

// A Value is the content of a field, of up to 128 bits.
type Value struct {
	Field
	high, low uint64
}

// Of returns the field's content in an ID.
func (f Field) Of(id ID) Value {
	low, high := id.from(f.Low), id.from(f.Low+64)
	if f.Bits < 64 {
		return Value{f, 0, low & (1<<f.Bits - 1)}
	}
	return Value{f, high & (1<<(f.Bits-64) - 1), low}
}

// from returns 64 bits of the ID, given the place of the lowest.
func (id ID) from(place int) uint64 {
	word, shift := 2-place/64, place%64
	if word < 0 {
		return 0
	}
	w := id.words[word] >> shift
	if word > 0 {
		w |= id.words[word-1] << (64 - shift)
	}
	return w
}

// Append appends the content as a decimal integer to b.
func (v Value) Append(b []byte) []byte {
	if v.high == 0 {
		return strconv.AppendUint(b, v.low, 10)
	}
	return words{0, v.high, v.low}.appendInt(b)
}

// String returns the content as a decimal integer.
func (v Value) String() string { return string(v.Append(nil)) }

// Uint64 returns the content of a field of at most 64 bits.
func (v Value) Uint64() uint64 { return v.low }

// Fields returns the content of each named field of the format's layout, in its order.
func (id ID) Fields() []Value {
	values := make([]Value, 0, len(id.format.Layout))
	for _, f := range id.format.Layout {
		if f.Name != "" {
			values = append(values, f.Of(id))
		}
	}
	return values
}

// timestamp returns the content of the timestamp field.
func (id ID) timestamp() uint64 {
	return id.format.Timestamp().Of(id).low
}

// Milli returns the time of the ID's timestamp as Unix time in milliseconds.
func (id ID) Milli() int64 {
	return id.format.Epoch.UnixMilli() + int64(id.timestamp())*id.format.Tick.Milliseconds()
}

// Time returns the time of the ID's timestamp, in UTC.
func (id ID) Time() time.Time { return time.UnixMilli(id.Milli()).UTC() }

// Notes returns what else there is to say about the ID: that no generator makes it,
// what it carries.
func (id ID) Notes() []string {
	var notes []string
	if t := id.Time(); t.Before(id.format.First) || t.After(id.format.Last) {
		notes = append(notes, "the timestamp is reserved: no generator makes this ID")
	}
	if id.format.notes != nil {
		notes = append(notes, id.format.notes(id)...)
	}
	return notes
}
