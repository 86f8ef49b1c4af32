package format

import (
	"fmt"
	"time"

	"github.com/sortid/sortid"
	"github.com/sortid/sortid/internal/integer"
	"github.com/sortid/sortid/internal/parseerr"
	"github.com/sortid/sortid/internal/spec"
)

// An ID is an ID of any format. It is immutable and comparable. The zero ID has no format. Call
// only its methods Format, MarshalJSON and String.
type ID struct {
	spec  *spec.Format
	words integer.Words
}

// An Encoding is a way to write an ID.
type Encoding string

// All our formats have the first three encodings. Our 128-bit formats also have UUID.
const (
	Text = Encoding(spec.Text) // the format's own text
	Hex  = Encoding(spec.Hex)  // the whole ID, big-endian, full width, lower case
	Int  = Encoding(spec.Int)  // a decimal integer
	UUID = Encoding(spec.UUID) // 36 characters; our IDs have no UUID version or variant
)

// Format returns the ID's format. For the zero ID it returns nil.
func (id ID) Format() *Format {
	if id.spec == nil {
		return nil
	}
	return of(id.spec)
}

// Compare returns -1, 0 or +1 if the ID's integer is below, equal to or above the other integer. If
// [Format.Ordered] returns true, this is the order of time.
func (id ID) Compare(other ID) int { return id.words.Compare(other.words) }

// Bytes returns the ID's bytes, big-endian.
func (id ID) Bytes() []byte { return id.spec.AppendBytes(nil, id.words) }

// String returns the text, in the format's first encoding.
func (id ID) String() string {
	if id.spec == nil {
		return "no ID"
	}
	return id.spec.In(id.words, id.spec.Encodings[0])
}

// In returns the ID in an encoding of its format.
func (id ID) In(e Encoding) string { return id.spec.In(id.words, spec.Encoding(e)) }

// Append appends the ID to b, in an encoding of the format's Encodings. It panics if e is [Text] or
// [UUID] and the format does not have it.
func (id ID) Append(b []byte, e Encoding) []byte {
	return id.spec.Append(b, id.words, spec.Encoding(e))
}

// Words returns the ID's integer, the most significant word first.
func (id ID) Words() [3]uint64 { return id.words.Array() }

// FromWords returns the ID with this integer, the most significant word first. It fails if the
// format has no such ID.
func (f *Format) FromWords(w [3]uint64) (ID, error) {
	words := integer.FromArray(w)
	return f.id(words, spec.Of(f).Check(words))
}

// FromBytes returns the ID with these big-endian bytes.
func (f *Format) FromBytes(b []byte) (ID, error) { return f.id(spec.Of(f).FromBytes(b)) }

// id returns the ID with this integer, or the error.
func (f *Format) id(w integer.Words, err error) (ID, error) {
	if err != nil {
		return ID{}, err
	}
	return ID{spec.Of(f), w}, nil
}

// Parse returns the ID of a text in the format's first encoding.
func (f *Format) Parse(text string) (ID, error) { return f.id(spec.Of(f).Parse(text)) }

// ParseAs returns the ID of a text in the encoding. A hexadecimal number must have its full width;
// letter case does not matter. An integer must not have a sign.
func (f *Format) ParseAs(e Encoding, text string) (ID, error) {
	return f.id(spec.Of(f).ParseAs(spec.Encoding(e), text))
}

// Read returns the ID of a text in any encoding, with the encoding and a typed ID's prefix, if any.
// If several encodings fit, Read uses the first of text, UUID, hex and int.
func (f *Format) Read(text string) (Candidate, error) {
	r, err := spec.Of(f).Read(text)
	c := Candidate{Encoding: Encoding(r.Encoding), Prefix: r.Prefix}
	c.ID, err = f.id(r.Words, err)
	return c, err
}

// A Value is a field's content, of up to 128 bits.
type Value struct {
	Field
	high, low uint64
}

// Of returns the field's content in an ID.
func (f Field) Of(id ID) Value {
	high, low := f.of(&id.words)
	return Value{f, high, low}
}

func (f *Field) of(w *integer.Words) (high, low uint64) {
	return (&spec.Field{Low: f.Low, Bits: f.Bits}).Of(w)
}

// String returns the decimal integer.
func (v Value) String() string {
	return string(integer.Words{Mid: v.high, Low: v.low}.AppendDecimal(nil))
}

// Fields returns each named field's content, in the order of the layout. For a TypeID these are the
// fields of its UUID, if the UUID has a known version.
func (id ID) Fields() []Value {
	layout := fieldsOf(id.spec.LayoutOf(&id.words))
	values := make([]Value, 0, len(layout))
	for _, f := range layout {
		if f.Name != "" {
			values = append(values, f.Of(id))
		}
	}
	return values
}

// As returns another format's ID that has the same bits, if these bits have the same meaning there.
// If there is no such ID, As fails. For example, few SCRU128 IDs have a UUID's version and variant.
func (id ID) As(g *Format) (ID, error) {
	to := spec.Of(g)
	if id.spec == to {
		return id, nil
	}
	if !id.spec.ConvertsTo(to) {
		return ID{}, parseerr.Kindf(sortid.ErrOption,
			"%s IDs are not %s IDs: their bits mean something else", id.spec.Name, to.Name)
	}
	if err := to.Check(id.words); err != nil {
		return ID{}, fmt.Errorf("%s cannot be a %s ID: %w", id, to.Name, err)
	}
	return ID{to, id.words}, nil
}

// Time returns the ID's time in UTC, or the zero time if the ID has no time.
func (id ID) Time() time.Time { return id.spec.Time(&id.words) }

// Plausible reports whether the ID's time is in [Format.PlausibleRange], or the ID has no time.
func (id ID) Plausible(now time.Time) bool { return id.spec.Plausible(&id.words, now) }

// Notes returns remarks about the ID, such as "no generator makes this ID".
func (id ID) Notes() []string {
	var notes []string
	if id.spec.Reserved {
		if t := id.Time(); t.Before(id.spec.First) || t.After(id.spec.Last) {
			notes = append(notes, "the timestamp is reserved: no generator makes this ID")
		}
	}
	for i := range id.spec.Layout {
		f := &id.spec.Layout[i]
		if !f.Constant && f.PartBits == "" {
			continue
		}
		_, v := f.Of(&id.words)
		if f.Constant && v != f.Value {
			notes = append(notes,
				fmt.Sprintf("the %s is %d: generators write %d", f.Name, v, f.Value))
		}
		if n := id.field(f.PartBits); n > 0 {
			notes = append(notes, fmt.Sprintf("%s %d, in %d bits", f.Part, v&(1<<n-1), n))
		}
	}
	return notes
}

// field returns the content of the field with this name, or 0 if there is none.
func (id ID) field(name string) uint64 {
	if name == "" {
		return 0
	}
	for i := range id.spec.Layout {
		if f := &id.spec.Layout[i]; f.Name == name {
			_, v := f.Of(&id.words)
			return v
		}
	}
	return 0
}
