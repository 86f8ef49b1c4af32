package format

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sortid/sortid/internal/textcodec"
)

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

// classes maps each byte to the alphabets that contain it.
var classes = func() (t [256]class) {
	add := func(c class, symbols string) {
		for _, b := range []byte(symbols) {
			t[b] |= c
		}
	}
	add(classDecimal, digits)
	add(classHex, digits+"abcdefABCDEF")
	add(classBase36, digits+lower+capitals)
	add(classBase32hex, digits+lower[:22]+capitals[:22])
	add(classCrockford, digits+strings.ReplaceAll(lower, "u", "")+strings.ReplaceAll(capitals, "U",
		""))
	add(classBase64, digits+lower+capitals+"-_")
	add(classLower, digits+lower+"-_")
	add(classUpper, digits+capitals+"-_")
	return t
}()

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

// A Candidate is one reading of a text: an ID and its encoding.
type Candidate struct {
	ID       ID
	Encoding Encoding
	Prefix   string // the text before the ID, with its underscore, such as user_
	WordLike bool   // many words look like the text
}

// text returns the whole text.
func (c Candidate) text() string { return c.Prefix + c.ID.String() }

// rank is lower for more probable candidates: first UUIDs with version and variant, then decimal
// integers, then our formats, then other formats, and at last texts that look like words.
func (c Candidate) rank(alphabets class) int {
	f := c.ID.format
	r := 0
	switch c.Encoding {
	case UUID:
		r = 1
	case Hex:
		r = 2
	case Int:
		return -1
	}
	switch {
	case f.fixedBits() > 4:
		return -2
	case c.WordLike && !f.Generates:
		return 16
	case !f.Generates && c.Prefix != "":
		r = 7 // a prefix is rarely a coincidence
	case !f.Generates:
		r = 8
	}
	// A text is less probable if its letters are in a case that the format does not write.
	want := classLower
	if c.Encoding == Text {
		want = f.letters
	}
	if alphabets&want != want {
		r += 4
	}
	return r
}

// Any number can be an ID of several formats. The time nearest to now is the most probable, with
// these handicaps.
const (
	year            = 365 * 24 * time.Hour
	handicapUnusual = 8 * year  // a field is larger than usual
	handicapRare    = 8 * year  // for each step of Rarity
	handicapAhead   = 30 * year // the time is later than tomorrow
)

// unlikeliness is lower for more probable readings of a decimal integer. Times within an hour are
// equal, because scru64 has larger ticks than other formats.
func (c Candidate) unlikeliness(now time.Time) (hours int64) {
	f := c.ID.format
	ms := int64(f.Search.Rarity) * handicapRare.Milliseconds()
	for i := range f.Layout {
		if most := f.Layout[i].Usual; most != 0 && f.Layout[i].Of(c.ID).low > most {
			ms += handicapUnusual.Milliseconds()
		}
	}
	past := now.UnixMilli() - c.ID.milli(c.ID.timed())
	if past < -(24 * time.Hour).Milliseconds() {
		ms += handicapAhead.Milliseconds()
	}
	return (ms + max(past, -past)) / time.Hour.Milliseconds()
}

// AppendDetect appends to found the IDs that a text may be, the most probable first. All of them
// are plausible, as [ID.Plausible] reports, and have the constant fields that generators write. It
// tries the encodings in Search.Guess of all formats. Hexadecimal numbers must have their full
// width. The parameter now is the current time.
func AppendDetect(found []Candidate, text string, now time.Time) []Candidate {
	return allWays().detect(found, text, now)
}

type way struct {
	format   *Format
	encoding Encoding
}

// ways lists, for each length of a text, the formats and encodings that the text may have.
type ways [][]way

var allWays = sync.OnceValue(func() ways { return newWays(all()) })

func newWays(formats []*Format) (w ways) {
	add := func(length int, f *Format, e Encoding) {
		for len(w) <= length {
			w = append(w, nil)
		}
		if !slices.Contains(w[length], way{f, e}) {
			w[length] = append(w[length], way{f, e})
		}
	}
	for _, f := range formats {
		for _, e := range f.Search.Guess {
			switch e {
			case Text:
				for _, n := range f.Text.Lengths {
					if f.Text.prefix == nil {
						add(n, f, e)
						continue
					}
					if f.Text.prefix.Min == 0 {
						add(n, f, e)
					}
					for prefix := max(f.Text.prefix.Min, 1); prefix <= f.Text.prefix.Max; prefix++ {
						add(prefix+1+n, f, e)
					}
				}
			case UUID:
				add(textcodec.UUIDLen, f, e)
			case Hex:
				add(2*f.Size, f, e)
			case Int:
				for n := range f.digits {
					add(n+1, f, e)
				}
			}
		}
	}
	return w
}

func (w ways) detect(found []Candidate, text string, now time.Time) []Candidate {
	if len(text) >= len(w) {
		return detectTyped(found, text, now)
	}
	start := len(found)
	alphabets := classify(text)
	for _, way := range w[len(text)] {
		if !way.fits(text, alphabets) {
			continue
		}
		id, err := way.format.ParseAs(way.encoding, text)
		if err == nil && id.Plausible(now) && id.generated() {
			prefix, rest := way.format.cutPrefix(text)
			if way.format.Within != nil && prefix == "" && !id.holds(len(text)) {
				continue
			}
			search := &way.format.Search
			wordLike := way.encoding == Text &&
				(search.WordLike || search.Mixed && !textcodec.Mixed(rest))
			found = append(found, Candidate{id, way.encoding, prefix, wordLike})
		}
	}
	if more := found[start:]; len(more) > 1 {
		slices.SortStableFunc(more, func(a, b Candidate) int {
			if a.Encoding == Int && b.Encoding == Int {
				return cmp.Compare(a.unlikeliness(now), b.unlikeliness(now))
			}
			return a.rank(alphabets) - b.rank(alphabets)
		})
	}
	if n := len(found); strings.IndexByte(text, '_') > 0 {
		if found = detectTyped(found, text, now); len(found) > n {
			// Typed IDs come first, because a prefix is rarely a coincidence. Typed IDs that
			// look like words come last.
			slices.SortStableFunc(found[start:],
				func(a, b Candidate) int { return a.typedRank() - b.typedRank() })
		}
	}
	return found
}

// fits reports whether a text in these alphabets may have the way's format and encoding.
func (w way) fits(text string, alphabets class) bool {
	switch w.encoding {
	case Text:
		_, id := w.format.cutPrefix(text)
		return alphabets&w.format.alphabet == w.format.alphabet &&
			w.format.hasTextLength(len(id))
	case Hex:
		return alphabets&classHex != 0
	case Int:
		return alphabets&classDecimal != 0 && text[0] != '0'
	}
	return true
}

// holds reports whether there is an ID inside. If the text is shorter than usual, that ID must be
// of the usual format, because other random texts are as short.
func (id ID) holds(length int) bool {
	f := id.inner()
	return f != nil && (f == id.format.usual || length >= id.format.Text.Lengths[0])
}

// PlausibleRange returns the range of plausible times. It begins when the format was new, or else
// in 2010. If the epoch is later, it begins a month after the epoch, because small integers look
// like times in the first month. It ends a year after the current time.
func (f *Format) PlausibleRange(now time.Time) (from, to time.Time) {
	from = date(cmp.Or(f.since, 2010), 1)
	if month := f.Epoch.AddDate(0, 1, 0); month.After(from) {
		from = month
	}
	return from, now.UTC().Add(year)
}

// Plausible reports whether the ID's time is in [Format.PlausibleRange], or the ID has no time.
func (id ID) Plausible(now time.Time) bool {
	f := id.timed()
	if f == nil {
		return true
	}
	ms := id.milli(f)
	return f.plausibleFrom <= ms && ms <= now.UnixMilli()+year.Milliseconds()
}

// generated reports whether the ID's constant fields have the values that generators write. For an
// EUID this means version 1.
func (id ID) generated() bool {
	for _, f := range id.format.constants {
		if f.Of(id).low != f.Value {
			return false
		}
	}
	return true
}
