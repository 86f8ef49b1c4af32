package sample

import (
	"bytes"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/sortid/sortid"
	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/internal/integer"
	"github.com/sortid/sortid/internal/parseerr"
	"github.com/sortid/sortid/internal/spec"
	"github.com/sortid/sortid/internal/textcodec"
)

// A Format reads and writes IDs of a format as integers, line by line.
type Format struct{ *spec.Format }

// FormatOf returns the reader of a format.
func FormatOf(f *spec.Format) *Format { return &Format{f} }

// Lookup returns the description of a variant, or if it is nil, of the named format.
func Lookup(name string, variant *format.Format) (*spec.Format, error) {
	if variant != nil {
		return spec.Of(variant), nil
	}
	return spec.Lookup(name)
}

// Timed returns the format whose fields contain the time: usually the format itself, but UUIDv7 for
// TypeIDs, as TypeID's document demands. It returns nil if IDs have no time.
func Timed(f *spec.Format) *spec.Format {
	if f.Tick != 0 {
		return f
	}
	i := slices.IndexFunc(f.Within, func(inner *spec.Format) bool { return inner.Name == "uuidv7" })
	if i < 0 {
		return nil
	}
	return f.Within[i]
}

// Boxed reports whether the format's texts are UUIDs of several versions, in another alphabet.
func Boxed(f *spec.Format) bool { return f.Within != nil && f.Text.Prefix == nil }

// Verifiable reports whether IDs of the format differ, so that there is something to verify.
func Verifiable(f *spec.Format) bool {
	return slices.ContainsFunc(f.Layout, func(field spec.Field) bool {
		return field.Kind != spec.KindFixed && field.Kind != spec.KindZero
	})
}

// InEncoding returns the integer in an encoding of the format, or in hexadecimal if the integer is
// not an ID.
func (f *Format) InEncoding(w integer.Words, e spec.Encoding) string {
	if !f.Has(w) {
		return hex.EncodeToString(f.AppendBytes(nil, w))
	}
	return f.In(w, e)
}

// errSmall is the error of an integer in the format's first tick. Such an integer is so small that
// it is probably a count.
var errSmall = parseerr.Kindf(sortid.ErrRange, "the number is too small: its timestamp would be 0")

// ReadLine returns the ID of a text in any encoding, and the encoding. The text is canonical if the
// format writes the ID in this way. The text may have the prefix of a typed ID, or \x or 0x before
// hexadecimal digits.
func (f *Format) ReadLine(text []byte) (w integer.Words, e spec.Encoding, canonical bool,
	err error) {
	if f.HasEncoding(spec.Text) {
		if w, canonical, err = f.readText(text); err == nil {
			return w, spec.Text, canonical, nil
		}
	}
	digits, r, err := f.readOther(text)
	switch {
	case err != nil && r.Encoding == spec.Text:
		_, _, err = f.readText(text)
		return integer.Words{}, r.Encoding, false, err
	case err != nil:
		return integer.Words{}, r.Encoding, false, err
	case r.Encoding == spec.Int && f.Tick != 0 && f.Timestamp(&r.Words) == 0:
		return integer.Words{}, r.Encoding, false, errSmall
	}
	return r.Words, r.Encoding, r.Prefix+f.In(r.Words, r.Encoding) == string(digits), nil
}

// readOther reads a text that is not a plain text of the format. The result digits is the text
// without 0x or \x.
func (f *Format) readOther(text []byte) (digits []byte, r spec.Reading, err error) {
	digits, prefixed := textcodec.CutHexPrefix(text)
	if prefixed {
		r.Encoding = spec.Hex
	} else {
		r, err = f.Read(string(text))
		if r.Encoding != spec.Text || r.Prefix != "" || len(text) != 2*f.Size ||
			!f.HasEncoding(spec.Hex) {
			return digits, r, err
		}
		r.Encoding = spec.Hex // it is probably a hexadecimal text with a wrong digit
	}
	r.Words, err = f.ParseAs(spec.Hex, string(digits))
	return digits, r, err
}

func (f *Format) readText(text []byte) (w integer.Words, canonical bool, err error) {
	if f.Codec.Read != nil {
		return f.Codec.Read(text)
	}
	full := text
	if zeros := f.omittedZeros(text); zeros > 0 {
		full = append(bytes.Repeat([]byte(f.Text.Symbols[:1]), zeros), text...)
	}
	w, err = f.ParseAs(spec.Text, string(full))
	if err != nil {
		return w, false, err
	}
	var buf [64]byte
	written := f.Append(buf[:0], w, spec.Text)
	if len(full) > len(text) {
		return w, bytes.Equal(full, written) && text[0] != f.Text.Symbols[0], nil
	}
	if i := bytes.LastIndexByte(text, '-'); i > 0 && !strings.Contains(f.Text.Characters, "-") &&
		!textcodec.HasCapital(text[i:]) {
		text = text[:i] // ParseAs has compared the check
	}
	prefix, found := bytes.CutSuffix(text, written)
	return w, found && (len(prefix) == 0 || prefix[len(prefix)-1] == '_'), nil
}

// omittedZeros returns how many leading zeros a text lacks. Many libraries write a UUID in another
// alphabet with as few digits as possible.
func (f *Format) omittedZeros(text []byte) int {
	const least = 16 // a random UUID hardly has fewer digits
	if !Boxed(f.Format) || f.Text.Groups != nil || len(text) < least {
		return 0
	}
	return max(f.Text.Lengths[0]-len(text), 0)
}

// AppendLines appends the IDs of the text's first lines. It stops at the first line that is not a
// canonical ID of this encoding and length, or that does not end with LF.
func (f *Format) AppendLines(list []integer.Words, text []byte, e spec.Encoding,
	length int) []integer.Words {
	if e == spec.Text && f.Codec.Lines != nil && length == f.Text.Lengths[0] {
		return f.Codec.Lines(list, text)
	}
	for length < len(text) && text[length] == '\n' {
		var w integer.Words
		var ok bool
		switch e {
		case spec.Text:
			var err error
			w, ok, err = f.readText(text[:length])
			ok = ok && err == nil
		case spec.Hex, spec.UUID:
			w, ok = f.readBytes(text[:length], e)
		}
		if !ok {
			break
		}
		list = append(list, w)
		text = text[length+1:]
	}
	return list
}

func (f *Format) readBytes(text []byte, e spec.Encoding) (w integer.Words, ok bool) {
	var raw [24]byte
	if e == spec.UUID {
		if len(text) != textcodec.UUIDLen || textcodec.DecodeUUID((*[16]byte)(raw[8:]), text) >= 0 {
			return w, false
		}
	} else {
		text, _ = textcodec.CutHexPrefix(text)
		if len(text) != 2*f.Size {
			return w, false
		}
		if _, err := hex.Decode(raw[24-f.Size:], text); err != nil {
			return w, false
		}
	}
	if textcodec.HasCapital(text) {
		return w, false
	}
	w = integer.FromBytes(&raw)
	return w, f.HasAll() || f.Has(w)
}
