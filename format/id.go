package format

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/sortid/sortid"
	"github.com/sortid/sortid/internal/integer"
	"github.com/sortid/sortid/internal/parseerr"
	"github.com/sortid/sortid/internal/textcodec"
	"github.com/sortid/sortid/internal/words"
)

// An ID is an ID of any format. It is immutable and comparable. The zero ID has no format. Call
// only its methods Format, MarshalJSON and String.
type ID struct {
	format *Format
	words  integer.Words
}

// An Encoding is a way to write an ID.
type Encoding string

// All our formats have the first three encodings. Our 128-bit formats also have UUID.
const (
	Text Encoding = "text" // the format's own text
	Hex  Encoding = "hex"  // the whole ID, big-endian, full width, lower case
	Int  Encoding = "int"  // a decimal integer
	UUID Encoding = "uuid" // 36 characters; our IDs have no UUID version or variant
)

// Format returns the ID's format. For the zero ID it returns nil.
func (id ID) Format() *Format { return id.format }

// Compare returns -1, 0 or +1 if the ID's integer is below, equal to or above the other integer. If
// Format.Ordered is true, this is the order of time.
func (id ID) Compare(other ID) int { return id.words.Compare(other.words) }

// Bytes returns the ID's bytes, big-endian.
func (id ID) Bytes() []byte { return id.appendBytes(nil) }

func (id ID) appendBytes(b []byte) []byte {
	var full [24]byte
	id.words.Put(&full)
	return append(b, full[24-id.format.Size:]...)
}

// FromBytes returns the ID with these big-endian bytes.
func (f *Format) FromBytes(b []byte) (ID, error) {
	if len(b) != f.Size {
		return ID{}, parseerr.Binary(f.Name, len(b), sortid.ErrBinaryLength, fmt.Sprint(f.Size))
	}
	var full [24]byte
	copy(full[24-len(b):], b)
	return f.fromInteger(integer.FromBytes(&full))
}

func (f *Format) id(w integer.Words, err error) (ID, error) {
	if err != nil {
		return ID{}, err
	}
	return ID{f, w}, nil
}

// String returns the text, in the format's first encoding.
func (id ID) String() string {
	if id.format == nil {
		return "no ID"
	}
	return id.In(id.format.Encodings[0])
}

// In returns the ID in an encoding of its format.
func (id ID) In(e Encoding) string { return string(id.Append(nil, e)) }

// Append appends the ID to b, in an encoding of the format's Encodings. It panics if e is [Text] or
// [UUID] and the format does not have it.
func (id ID) Append(b []byte, e Encoding) []byte {
	switch e {
	case Text:
		if id.format.appendText != nil {
			return id.format.appendText(b, id.words)
		}
	case Hex:
		var raw [20]byte
		return hex.AppendEncode(b, id.appendBytes(raw[:0]))
	case Int:
		return id.words.AppendDecimal(b)
	case UUID:
		if id.format.Bits == 128 {
			var raw [16]byte
			id.appendBytes(raw[:0])
			return textcodec.AppendUUID(b, &raw)
		}
	}
	panic("format: " + id.format.Name + " IDs have no encoding " + strconv.Quote(string(e)))
}

// checkEncoding returns [sortid.ErrOption] with the reason if IDs do not have the encoding.
func (f *Format) checkEncoding(e Encoding) error {
	if f.hasEncoding(e) {
		return nil
	}
	names := make([]string, len(f.Encodings))
	for i, e := range f.Encodings {
		names[i] = string(e)
	}
	why := ""
	if e == UUID && f.Bits != 128 {
		why = fmt.Sprintf("have %d bits, so they ", f.Bits)
	}
	return parseerr.Kindf(sortid.ErrOption, "%s IDs %shave no encoding %q; their encodings are %s",
		f.Name, why, e, words.List(names, "and"))
}

// Words returns the ID's integer, the most significant word first.
func (id ID) Words() [3]uint64 { return id.words.Array() }

// FromWords returns the ID with this integer, the most significant word first. It fails if the
// format has no such ID.
func (f *Format) FromWords(w [3]uint64) (ID, error) { return f.fromInteger(integer.FromArray(w)) }

func (f *Format) fromInteger(w integer.Words) (id ID, err error) {
	if f.check != nil {
		if err = f.check(w); err != nil {
			return
		}
	}
	return ID{f, w}, nil
}

// has reports whether the format has an ID with this integer.
func (f *Format) has(w integer.Words) bool { return f.check == nil || f.check(w) == nil }

// Parse returns the ID of a text in the format's first encoding.
func (f *Format) Parse(text string) (ID, error) { return f.ParseAs(f.Encodings[0], text) }

// ParseAs returns the ID of a text in the encoding. A hexadecimal number must have its full width;
// letter case does not matter. An integer must not have a sign.
func (f *Format) ParseAs(e Encoding, text string) (ID, error) {
	if e == Text && f.parse != nil {
		return f.id(f.parse(text))
	}
	if err := f.checkEncoding(e); err != nil {
		return ID{}, err
	}
	switch e {
	case Hex:
		return f.parseHex(text)
	case Int:
		return f.parseInt(text)
	}
	return f.parseUUID(text)
}

// Read returns the ID of a text in any encoding, with the encoding and a typed ID's prefix, if any.
// If several encodings fit, Read uses the first of text, UUID, hex and int.
func (f *Format) Read(text string) (c Candidate, err error) {
	c.Encoding = Text
	if f.Text.prefix == nil && f.hasTextLength(len(text)) { // faster
		c.ID, err = f.ParseAs(Text, text)
		return c, err
	}
	rest := text
	if f.Generates {
		c.Prefix, rest = f.cutTyped(text)
	}
	if c.Prefix == "" {
		c.Encoding = f.encodingOf(text)
	}
	c.ID, err = f.ParseAs(c.Encoding, rest)
	if f.Text.prefix != nil {
		c.Prefix, _ = f.cutPrefix(text)
	}
	return c, err
}

// encodingOf returns the encoding that fits the length and alphabet, or the format's own text if
// none fits.
func (f *Format) encodingOf(text string) Encoding {
	if _, rest := f.cutPrefix(text); f.hasTextLength(len(rest)) {
		return Text
	}
	switch c := classify(text); {
	case len(text) == textcodec.UUIDLen && f.hasEncoding(UUID):
		return UUID
	case len(text) == 2*f.Size && c&classHex != 0 && f.hasEncoding(Hex):
		return Hex
	case c&classDecimal != 0:
		return Int
	}
	return Text
}

func (f *Format) hasTextLength(n int) bool { return slices.Contains(f.Text.Lengths, n) }

func (f *Format) parseHex(text string) (ID, error) {
	var raw [20]byte
	if want := 2 * f.Size; len(text) != want {
		return ID{}, f.inputErrorf(text, "%d characters; the hexadecimal encoding has %d",
			len(text), want)
	}
	n, err := hex.Decode(raw[:], []byte(text))
	if err != nil {
		for i := range len(text) {
			if classes[text[i]]&classHex == 0 {
				return ID{}, f.wrongSymbol(text, i, "not a hexadecimal digit")
			}
		}
	}
	return f.FromBytes(raw[:n])
}

func (f *Format) parseUUID(text string) (ID, error) {
	if len(text) != textcodec.UUIDLen {
		return ID{}, f.inputErrorf(text, "%d characters; a UUID has %d", len(text),
			textcodec.UUIDLen)
	}
	var raw [16]byte
	if at := textcodec.DecodeUUID(&raw, []byte(text)); at >= 0 {
		return ID{}, f.wrongSymbol(text, at, "not the hexadecimal digit or hyphen of a UUID")
	}
	return f.FromBytes(raw[:])
}

func (f *Format) parseInt(text string) (ID, error) {
	if text == "" {
		return ID{}, f.inputErrorf(text, "an integer has decimal digits")
	}
	var w integer.Words
	for i := 0; i < len(text); {
		// A word has room for 19 digits.
		part, scale := uint64(0), uint64(1)
		for end := min(i+19, len(text)); i < end; i++ {
			digit := text[i] - '0'
			if digit > 9 {
				return ID{}, f.wrongSymbol(text, i, "not a decimal digit")
			}
			part, scale = part*10+uint64(digit), scale*10
		}
		if over := w.TimesPlus(scale, part); over != 0 || w.Compare(f.max) > 0 {
			return ID{}, f.inputErrorf(text, "larger than %s, the largest ID", f.largest().In(Int))
		}
	}
	return f.fromInteger(w)
}

// inputErrorf returns a [*sortid.ParseError].
func (f *Format) inputErrorf(input, reason string, args ...any) error {
	return parseerr.Text(f.Name, input, -1, fmt.Errorf(reason, args...), "")
}

// wrongSymbol returns the [*sortid.ParseError] of the symbol at an offset.
func (f *Format) wrongSymbol(input string, at int, is string) error {
	return parseerr.Text(f.Name, input, -1, &symbolError{input[at], at, is}, "")
}

// A symbolError makes its text only on demand, because most texts that AppendDetect tries have this
// error.
type symbolError struct {
	symbol byte
	at     int
	is     string
}

func (e *symbolError) Error() string {
	return fmt.Sprintf("%q at offset %d is %s", string([]byte{e.symbol}), e.at, e.is)
}

func (e *symbolError) Is(target error) bool { return target == sortid.ErrSymbol }

// A Value is a field's content, of up to 128 bits.
type Value struct {
	Field
	high, low uint64
}

// Of returns the field's content in an ID.
func (f Field) Of(id ID) Value {
	high, low := id.content(&f)
	return Value{f, high, low}
}

// content returns the content of a field.
func (id *ID) content(f *Field) (high, low uint64) {
	place := integer.PlaceOf(f.Low, min(f.Bits, 64))
	if low = place.Of(&id.words); f.Bits > 64 {
		place = integer.PlaceOf(f.Low+64, f.Bits-64)
		high = place.Of(&id.words)
	}
	return high, low
}

// appendField appends a field's content as a decimal integer.
func (id *ID) appendField(b []byte, f *Field) []byte {
	high, low := id.content(f)
	return integer.Words{Mid: high, Low: low}.AppendDecimal(b)
}

// String returns the decimal integer.
func (v Value) String() string {
	return string(integer.Words{Mid: v.high, Low: v.low}.AppendDecimal(nil))
}

// Fields returns each named field's content, in the order of the layout. For a TypeID these are the
// fields of its UUID, if the UUID has a known version.
func (id ID) Fields() []Value {
	layout := id.layout()
	values := make([]Value, 0, len(layout))
	for _, f := range layout {
		if f.Name != "" {
			values = append(values, f.Of(id))
		}
	}
	return values
}

// convertsTo reports whether an ID's integer has the same meaning in the other format. This is so
// if both formats have the same time in the same bits, or if both are UUIDs, in whatever text.
func (f *Format) convertsTo(g *Format) bool {
	if f == g || f.Bits != g.Bits {
		return false
	}
	if f.Within != nil || g.Within != nil {
		return (f.Within != nil || slices.Contains(versions(), f)) &&
			(g.Within != nil || slices.Contains(versions(), g))
	}
	return f.Tick != 0 && g.Tick != 0 && f.Tick == g.Tick && f.Epoch.Equal(g.Epoch) &&
		slices.EqualFunc(f.timestamp, g.timestamp, func(a, b Field) bool {
			return a.Low == b.Low && a.Bits == b.Bits && a.Shift == b.Shift
		})
}

// As returns another format's ID that has the same bits, if these bits have the same meaning there.
// If there is no such ID, As fails. For example, few SCRU128 IDs have a UUID's version and variant.
func (id ID) As(g *Format) (ID, error) {
	f := id.format
	if f == g {
		return id, nil
	}
	if !f.convertsTo(g) {
		return ID{}, parseerr.Kindf(sortid.ErrOption,
			"%s IDs are not %s IDs: their bits mean something else", f.Name, g.Name)
	}
	other, err := g.fromInteger(id.words)
	if err != nil {
		return ID{}, fmt.Errorf("%s cannot be a %s ID: %w", id, g.Name, err)
	}
	return other, nil
}

// timed returns the format that reads the ID's time, or nil.
func (id ID) timed() *Format {
	f := id.inner()
	if f == nil {
		f = id.format
	}
	if f.Tick == 0 {
		return nil
	}
	return f
}

// inner returns the format of the ID inside, or nil.
func (id ID) inner() *Format {
	for _, f := range id.format.Within {
		if f.has(id.words) {
			return f
		}
	}
	return nil
}

// layout returns the layout of the ID, or of the ID inside.
func (id ID) layout() []Field {
	if f := id.inner(); f != nil {
		return f.Layout
	}
	return id.format.Layout
}

func (id ID) milli(f *Format) int64 { return f.milliOf(f.timestampOf(&id.words)) }

func (f *Format) milliOf(timestamp uint64) int64 {
	if f.tickMilli == 0 {
		return f.epochMilli + int64(timestamp/f.perMilli)
	}
	return f.epochMilli + int64(timestamp)*f.tickMilli
}

// timeOf returns the time of a timestamp in UTC.
func (f *Format) timeOf(timestamp uint64) time.Time {
	t := time.UnixMilli(f.milliOf(timestamp)).UTC()
	if f.tickMilli == 0 {
		t = t.Add(time.Duration(timestamp%f.perMilli) * f.Tick)
	}
	return t
}

// ticks returns a time's timestamp. It does not use a time.Duration, which overflows after 292
// years.
func (f *Format) ticks(t time.Time) uint64 {
	ms := uint64(t.UnixMilli() - f.epochMilli)
	if f.tickMilli == 0 {
		return ms*f.perMilli + uint64(t.Nanosecond()%1e6)/uint64(f.Tick)
	}
	return ms / uint64(f.tickMilli)
}

// Time returns the ID's time in UTC, or the zero time if the ID has no time.
func (id ID) Time() time.Time {
	f := id.timed()
	if f == nil {
		return time.Time{}
	}
	return f.timeOf(f.timestampOf(&id.words))
}

// Notes returns remarks about the ID, such as "no generator makes this ID".
func (id ID) Notes() []string {
	var notes []string
	if id.format.Reserved {
		if t := id.Time(); t.Before(id.format.First) || t.After(id.format.Last) {
			notes = append(notes, "the timestamp is reserved: no generator makes this ID")
		}
	}
	for i := range id.format.Layout {
		f := &id.format.Layout[i]
		if f.Constant {
			if _, v := id.content(f); v != f.Value {
				notes = append(notes,
					fmt.Sprintf("the %s is %d: generators write %d", f.Name, v, f.Value))
			}
		}
		if n := id.field(f.PartBits); n > 0 {
			_, v := id.content(f)
			notes = append(notes, fmt.Sprintf("%s %d, in %d bits", f.Part, v&(1<<n-1), n))
		}
	}
	return notes
}

// field returns the content of the field with this name, or 0 if there is none.
func (id *ID) field(name string) uint64 {
	if name == "" {
		return 0
	}
	for i := range id.format.Layout {
		if f := &id.format.Layout[i]; f.Name == name {
			_, v := id.content(f)
			return v
		}
	}
	return 0
}
