package spec

import (
	"slices"
	"strings"

	"github.com/sortid/sortid/internal/integer"
	"github.com/sortid/sortid/internal/textcodec"
	"github.com/sortid/sortid/typed"
)

// A Reading is one way to read a text.
type Reading struct {
	Words    integer.Words
	Encoding Encoding
	Prefix   string // the text before the ID, with its underscore, such as user_
}

// Read reads a text in any encoding. If several encodings fit, it uses the first of text, UUID, hex
// and int. A label may be before the ID.
func (f *Format) Read(text string) (Reading, error) {
	r, err := f.read(text)
	for i := 0; err != nil && !f.Search.WordLike && i < min(len(text), MaxLabel+1); i++ {
		if text[i] != '_' {
			continue
		}
		labelled, wrong := f.read(text[i+1:])
		end := i + len(labelled.Prefix)
		if wrong == nil && IsLabel(text[:end]) {
			labelled.Prefix = text[:end+1]
			return labelled, nil
		}
	}
	return r, err
}

func (f *Format) read(text string) (r Reading, err error) {
	r.Encoding = Text
	if f.Text.Prefix == nil && f.HasTextLength(len(text)) { // faster
		r.Words, err = f.ParseAs(Text, text)
		return r, err
	}
	rest := text
	if f.Generates {
		r.Prefix, rest = f.CutTyped(text)
	}
	if r.Prefix == "" {
		r.Encoding = f.encodingOf(text)
	}
	r.Words, err = f.ParseAs(r.Encoding, rest)
	if f.Text.Prefix != nil {
		r.Prefix, _ = f.CutPrefix(text)
	}
	return r, err
}

// encodingOf returns the encoding that fits the length and alphabet, or the format's usual encoding
// if none fits.
func (f *Format) encodingOf(text string) Encoding {
	if _, rest := f.CutPrefix(text); f.HasTextLength(len(rest)) {
		return Text
	}
	switch kinds := textcodec.KindsOf(text); {
	case len(text) == textcodec.UUIDLen && f.HasEncoding(UUID):
		return UUID
	case len(text) == 2*f.Size && kinds.In(textcodec.HexDigits) && f.HasEncoding(Hex):
		return Hex
	case text != "" && kinds.In(textcodec.Digit) && f.HasEncoding(Int):
		return Int
	}
	return f.Encodings[0]
}

// CutTyped splits a text into a typed ID's prefix, with underscore, and the ID's text.
func (f *Format) CutTyped(text string) (prefix, rest string) {
	i := strings.LastIndexByte(text, '_')
	if i < 0 {
		return "", text
	}
	if strings.Contains(f.Text.Symbols, "_") { // the last _ may be part of the ID
		if f.HasTextLength(len(text)) {
			return "", text
		}
		from := max(len(text)-slices.Max(f.Text.Lengths)-1, 0)
		i = from + strings.IndexByte(text[from:], '_')
	}
	if i < 1 || !f.HasTextLength(len(text)-i-1) || typed.CheckPrefix(text[:i]) != nil {
		return "", text
	}
	return text[:i+1], text[i+1:]
}

// MaxLabel is the length of the longest label.
const MaxLabel = 63

// IsLabel reports whether a text may stand before an ID of any format, with an underscore between
// them: letters, digits and underscores, with a letter at the start and no underscore at the end.
func IsLabel(text string) bool {
	n := len(text)
	return 0 < n && n <= MaxLabel && text[n-1] != '_' &&
		textcodec.KindOf[text[0]].In(textcodec.Lower|textcodec.Upper) &&
		textcodec.KindsOf(text).In(textcodec.Base64) && strings.IndexByte(text, '-') < 0
}
