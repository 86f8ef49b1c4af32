package scheme

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sortid/sortid/internal/uuidtext"
)

// A class is a set of alphabets.
type class uint8

const (
	classDecimal class = 1 << iota
	classHex
	classBase36
	classBase32hex
	classCrockford
	classBase64
	classLower // no capital letter
	classUpper // no small letter
)

// classes holds the alphabets that each byte is in.
var classes = func() (t [256]class) {
	add := func(c class, symbols string) {
		for _, b := range []byte(symbols) {
			t[b] |= c
		}
	}
	const (
		digits  = "0123456789"
		lower   = "abcdefghijklmnopqrstuvwxyz"
		capital = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	)
	add(classDecimal, digits)
	add(classHex, digits+"abcdefABCDEF")
	add(classBase36, digits+lower+capital)
	add(classBase32hex, digits+lower[:22]+capital[:22])
	add(classCrockford, digits+strings.ReplaceAll(lower, "u", "")+strings.ReplaceAll(capital, "U", ""))
	add(classBase64, digits+lower+capital+"-_")
	add(classLower, digits+lower+"-_")
	add(classUpper, digits+capital+"-_")
	return t
}()

// classify returns the alphabets that all of the text is in.
func classify(text string) class {
	if text == "" {
		return 0
	}
	c := ^class(0)
	for i := range len(text) {
		c &= classes[text[i]]
	}
	return c
}

// A Candidate is one way to read a text.
type Candidate struct {
	ID   ID
	Form Form
	// Plausible says that the ID's time is one to be believed: not before 2010 or the
	// first month of the format, and not after a year from now.
	Plausible bool

	usual bool // written just as the format writes it
}

// Reason says why the text may be read so.
func (c Candidate) Reason() string { return c.shape() + c.believed() }

func (c Candidate) shape() string {
	switch c.Form {
	case Hex:
		switch c.ID.scheme.Bits {
		case 64:
			return "16 hexadecimal digits"
		case 128:
			return "32 hexadecimal digits"
		}
		return "40 hexadecimal digits"
	case Int:
		return "a decimal integer"
	case UUID:
		return "a UUID's 36 characters"
	}
	return c.ID.scheme.Alphabet
}

func (c Candidate) believed() string {
	if c.Plausible {
		return ", and its time is plausible"
	}
	return ", but its time is not plausible"
}

// rank orders candidates, the most probable first.
func (c Candidate) rank() int {
	r := 0
	if !c.Plausible {
		r += 8
	}
	switch c.Form {
	case UUID:
		r += 1
	case Hex:
		r += 2
	case Int:
		r += 3
	}
	if !c.usual {
		r += 4
	}
	return r
}

// Detect returns the ways to read a text without knowing its format, the most probable
// first: by length, alphabet, check symbols and time. It tries the text forms, UUIDs,
// hexadecimal numbers at full width and decimal integers. A reading whose time is not
// plausible counts only for a text just as the format writes it, in a form that is
// hard to take for another. [Undetected] words the error where there is no reading.
func Detect(text string) []Candidate { return AppendDetect(nil, text) }

// AppendDetect is [Detect]; it appends to dst.
func AppendDetect(dst []Candidate, text string) []Candidate {
	c := classify(text)
	if c == 0 && len(text) != uuidtext.Len {
		return dst
	}
	start, now := len(dst), time.Now().UnixMilli()
	for _, s := range all {
		dst = s.detect(dst, text, c, now)
	}
	if found := dst[start:]; len(found) > 1 {
		slices.SortStableFunc(found, func(a, b Candidate) int { return a.rank() - b.rank() })
	}
	return dst
}

func (s *Scheme) detect(dst []Candidate, text string, c class, now int64) []Candidate {
	add := func(f Form, usual bool) {
		id, err := s.ParseAs(f, text)
		if err != nil {
			return
		}
		ms := id.Milli()
		plausible := s.believeFrom <= ms && ms <= now+366*24*time.Hour.Milliseconds()
		if plausible || usual && s.distinct(f) {
			dst = append(dst, Candidate{ID: id, Form: f, Plausible: plausible, usual: usual})
		}
	}
	if s.hasTextLength(len(text)) && c&s.alphabet != 0 {
		add(Text, c&s.letters == s.letters)
	}
	if s.Bits == 128 && len(text) == uuidtext.Len {
		add(UUID, c&classLower != 0)
	}
	if c&classHex != 0 && len(text) == s.Bits/4 {
		add(Hex, c&classLower != 0)
	}
	if c&classDecimal != 0 && text[0] != '0' && len(text) <= s.digits {
		add(Int, true)
	}
	return dst
}

// distinct reports whether a text of the form is hardly ever anything else.
func (s *Scheme) distinct(f Form) bool {
	switch f {
	case Text:
		return len(s.TextLengths) == 1
	case Hex:
		return s.Bits == 160
	}
	return false
}

// Undetected returns the error for a text that [Detect] finds no reading for.
func Undetected(text string) error {
	wrong := func(reason string) error {
		return because(ErrForm, "cannot tell what %q is: %s", clip(text), reason)
	}
	if text == "" {
		return wrong("it is empty")
	}
	implausible := false
	var mistake error
	for _, s := range all {
		_, form, err := s.ParseAny(text)
		switch {
		case err == nil:
			implausible = true
		case form == Int: // too large
		case form != Text || s.hasTextLength(len(text)):
			// As long as an ID of the format, with a mistake.
			mistake = cmp.Or(mistake, err)
		}
	}
	switch {
	case implausible:
		return wrong("no format reads it as an ID of a plausible time; name the scheme to have it read all the same")
	case mistake != nil:
		return mistake
	case classify(text)&classDecimal != 0:
		return wrong("it is larger than the largest ID of any format")
	}
	lengths := make([]string, len(all))
	for i, s := range all {
		lengths[i] = fmt.Sprintf("%s %s", s.Name, s.Lengths())
	}
	return wrong(fmt.Sprintf("its length of %d characters fits no format (%s)", len(text), strings.Join(lengths, ", ")))
}
