package spec

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"

	"github.com/sortid/sortid"
	"github.com/sortid/sortid/internal/integer"
	"github.com/sortid/sortid/internal/parseerr"
	"github.com/sortid/sortid/internal/textcodec"
	"github.com/sortid/sortid/internal/words"
)

// Check returns an error if the format has no ID with this integer.
func (f *Format) Check(w integer.Words) error {
	if f.Codec.Check == nil {
		return nil
	}
	return f.Codec.Check(w)
}

// Has reports whether the format has an ID with this integer.
func (f *Format) Has(w integer.Words) bool { return f.Check(w) == nil }

// HasAll reports whether each integer of f.Size bytes is an ID.
func (f *Format) HasAll() bool { return f.allIDs }

// In returns an integer in an encoding of the format.
func (f *Format) In(w integer.Words, e Encoding) string { return string(f.Append(nil, w, e)) }

// Append appends an integer to b, in an encoding of f.Encodings. It panics if e is [Text] or [UUID]
// and the format does not have it.
func (f *Format) Append(b []byte, w integer.Words, e Encoding) []byte {
	switch e {
	case Text:
		if f.Codec.Append != nil {
			return f.Codec.Append(b, w)
		}
	case Hex:
		var raw [20]byte
		return textcodec.AppendHex(b, f.AppendBytes(raw[:0], w))
	case Int:
		return w.AppendDecimal(b)
	case UUID:
		if f.Bits == 128 {
			var raw [16]byte
			f.AppendBytes(raw[:0], w)
			return textcodec.AppendUUID(b, &raw)
		}
	}
	panic("format: " + f.Name + " IDs have no encoding " + strconv.Quote(string(e)))
}

// AppendBytes appends an integer's f.Size bytes to b, big-endian.
func (f *Format) AppendBytes(b []byte, w integer.Words) []byte {
	var full [24]byte
	w.Put(&full)
	return append(b, full[24-f.Size:]...)
}

// FromBytes returns the integer with these big-endian bytes.
func (f *Format) FromBytes(b []byte) (integer.Words, error) {
	if len(b) != f.Size {
		return integer.Words{}, parseerr.Binary(f.Name, len(b), sortid.ErrBinaryLength,
			fmt.Sprint(f.Size))
	}
	var full [24]byte
	copy(full[24-len(b):], b)
	w := integer.FromBytes(&full)
	return w, f.Check(w)
}

// Parse returns the integer of a text in the format's first encoding.
func (f *Format) Parse(text string) (integer.Words, error) {
	return f.ParseAs(f.Encodings[0], text)
}

// ParseAs returns the integer of a text in the encoding. A hexadecimal number must have its full
// width; letter case does not matter. An integer must not have a sign.
func (f *Format) ParseAs(e Encoding, text string) (integer.Words, error) {
	if e == Text && f.Codec.Parse != nil {
		return f.Codec.Parse(text)
	}
	if err := f.CheckEncoding(e); err != nil {
		return integer.Words{}, err
	}
	switch e {
	case Hex:
		return f.parseHex(text)
	case Int:
		return f.parseInt(text)
	}
	return f.parseUUID(text)
}

// Digits returns how many decimal digits the largest ID has.
func (f *Format) Digits() int { return f.digits }

// HasEncoding reports whether IDs have the encoding.
func (f *Format) HasEncoding(e Encoding) bool { return slices.Contains(f.Encodings, e) }

// HasTextLength reports whether texts, without a prefix, have the length.
func (f *Format) HasTextLength(n int) bool { return slices.Contains(f.Text.Lengths, n) }

func (f *Format) parseHex(text string) (integer.Words, error) {
	var raw [20]byte
	if want := 2 * f.Size; len(text) != want {
		return integer.Words{}, f.wrongLength(text, fmt.Sprintf("%d hexadecimal digits", want))
	}
	n, err := hex.Decode(raw[:], []byte(text))
	if err != nil {
		for i := range len(text) {
			if !textcodec.KindOf[text[i]].In(textcodec.HexDigits) {
				return integer.Words{}, f.wrongSymbol(text, i, "not a hexadecimal digit")
			}
		}
	}
	return f.FromBytes(raw[:n])
}

func (f *Format) parseUUID(text string) (integer.Words, error) {
	if len(text) != textcodec.UUIDLen {
		return integer.Words{}, f.wrongLength(text, "a UUID's 36 characters")
	}
	var raw [16]byte
	if at := textcodec.DecodeUUID(&raw, []byte(text)); at >= 0 {
		return integer.Words{}, f.wrongSymbol(text, at, "not the hexadecimal digit or hyphen of a UUID")
	}
	return f.FromBytes(raw[:])
}

func (f *Format) parseInt(text string) (integer.Words, error) {
	if text == "" {
		return integer.Words{}, f.wrongLength(text, "an integer's decimal digits")
	}
	var w integer.Words
	for i := 0; i < len(text); {
		// A word has room for 19 digits.
		part, scale := uint64(0), uint64(1)
		for end := min(i+19, len(text)); i < end; i++ {
			digit := text[i] - '0'
			if digit > 9 {
				return integer.Words{}, f.wrongSymbol(text, i, "not a decimal digit")
			}
			part, scale = part*10+uint64(digit), scale*10
		}
		if over := w.TimesPlus(scale, part); over != 0 || w.Compare(f.Codec.Max) > 0 {
			return integer.Words{}, f.inputErrorf(text, sortid.ErrRange, "larger than %s, the largest ID",
				f.In(f.Codec.Max, Int))
		}
	}
	return w, f.Check(w)
}

// CheckEncoding returns [sortid.ErrOption] with the reason if IDs do not have the encoding.
func (f *Format) CheckEncoding(e Encoding) error {
	if f.HasEncoding(e) {
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

// inputErrorf returns a [*sortid.ParseError] of a kind.
func (f *Format) inputErrorf(input string, kind error, reason string, args ...any) error {
	return parseerr.Text(f.Name, input, -1, parseerr.Kindf(kind, reason, args...), "")
}

// wrongLength returns a [*sortid.ParseError] that says what the format wants.
func (f *Format) wrongLength(input, want string) error {
	return parseerr.Text(f.Name, input, -1, sortid.ErrLength, want)
}

// wrongSymbol returns the [*sortid.ParseError] of the symbol at an offset.
func (f *Format) wrongSymbol(input string, at int, is string) error {
	return parseerr.Text(f.Name, input, -1, &symbolError{input[at], at, is}, "")
}

// A symbolError makes its text only on demand, because most texts that a program tries have this
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
