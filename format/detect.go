package format

import (
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

// A Candidate is one way to read a text: as an ID, in one of its forms.
type Candidate struct {
	ID       ID
	Encoding Encoding
}

// rank orders candidates, the most probable first.
func (c Candidate) rank(text string) int {
	r := 0
	switch c.Encoding {
	case UUID:
		r = 1
	case Hex:
		r = 2
	case Int:
		r = 3
	}
	// A format writes the letters of its texts in one case, and numbers in lower case.
	want := classLower
	if c.Encoding == Text {
		want = c.ID.format.letters
	}
	if classify(text)&want != want {
		r += 4
	}
	return r
}

// Detect returns the ways to read a text without knowing its format, the most probable
// first. It tries the text forms, UUIDs, hexadecimal numbers at full width and decimal
// integers, and keeps the readings that are plausible (see [ID.Plausible]) and could
// come from a generator of the format.
func Detect(text string) []Candidate { return AppendDetect(nil, text, time.Now()) }

// AppendDetect is [Detect] at a time; it appends to found.
func AppendDetect(found []Candidate, text string, now time.Time) []Candidate {
	c := classify(text)
	if c == 0 && len(text) != uuidtext.Len {
		return found
	}
	start := len(found)
	for _, s := range all {
		found = s.detect(found, text, c, now)
	}
	if more := found[start:]; len(more) > 1 {
		slices.SortStableFunc(more, func(a, b Candidate) int { return a.rank(text) - b.rank(text) })
	}
	return found
}

func (s *Format) detect(found []Candidate, text string, c class, now time.Time) []Candidate {
	try := func(f Encoding) {
		id, err := s.ParseAs(f, text)
		if err == nil && id.Plausible(now) && id.Generated() {
			found = append(found, Candidate{ID: id, Encoding: f})
		}
	}
	if s.hasTextLength(len(text)) && c&s.alphabet != 0 {
		try(Text)
	}
	if s.Bits == 128 && len(text) == uuidtext.Len {
		try(UUID)
	}
	if c&classHex != 0 && len(text) == s.Bits/4 {
		try(Hex)
	}
	if c&classDecimal != 0 && text[0] != '0' && len(text) <= s.digits {
		try(Int)
	}
	return found
}

// PlausibleRange returns the times that an ID of the format probably has, if it was made
// before now: from 2010, or the second month of the format's epoch where that is later
// (small integers would be of the first), to a year from now.
func (s *Format) PlausibleRange(now time.Time) (from, to time.Time) {
	from = time.Date(2010, 1, 1, 0, 0, 0, 0, time.UTC)
	if month := s.Epoch.AddDate(0, 1, 0); month.After(from) {
		from = month
	}
	return from, now.UTC().Add(365 * 24 * time.Hour)
}

// Plausible reports whether the ID's time is in its format's [Format.PlausibleRange].
func (id ID) Plausible(now time.Time) bool {
	ms := id.Milli()
	return id.format.plausibleFrom <= ms && ms <= now.UnixMilli()+365*24*time.Hour.Milliseconds()
}

// Generated reports whether generators of the format make such IDs, whatever their time: of
// EUID, those of version 1.
func (id ID) Generated() bool { return id.format.generated == nil || id.format.generated(id) }
