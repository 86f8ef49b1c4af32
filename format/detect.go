package format

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sortid/sortid/internal/spec"
	"github.com/sortid/sortid/internal/textcodec"
)

// A Candidate is one reading of a text: an ID and its encoding.
type Candidate struct {
	ID       ID
	Encoding Encoding
	Prefix   string // the text before the ID, with its underscore, such as user_
	WordLike bool   // many words look like the text
}

// text returns the whole text.
func (c Candidate) text() string { return c.Prefix + c.ID.String() }

// Doubtful reports whether texts that are no IDs of the format often have this reading: many words,
// or at least 1 in 1000 random texts with the same length and alphabet.
func (c Candidate) Doubtful() bool {
	text := c.Prefix + c.ID.In(c.Encoding)
	return c.WordLike ||
		c.ID.spec.Chance(spec.Encoding(c.Encoding), text, len(c.Prefix)) >= spec.Judgement.Doubt
}

// rank is lower for more probable candidates: first typed IDs, then UUIDs with version and variant,
// then decimal integers, then our formats, then other formats, and at last texts that look like
// words. The text has these kinds of bytes.
func (c Candidate) rank(text string, kinds textcodec.Kinds) int {
	f := c.ID.spec
	r := 0
	if c.Prefix != "" {
		kinds = textcodec.KindsOf(text[len(c.Prefix):])
	}
	if c.Prefix != "" && c.Encoding == Text && f.Generates {
		r = -99 // a prefix is rarely a coincidence
		if c.WordLike {
			r = 99
		}
	}
	switch c.Encoding {
	case UUID:
		r = 1
	case Hex:
		r = 2
	case Int:
		return -1
	}
	switch {
	case f.FixedBits() > 4:
		return -2
	case c.WordLike && !f.Generates:
		return 16
	case f.Within != nil && f.Text.Prefix != nil && !c.ID.holdsUsual():
		return 13 // one ULID in eight has a UUID's version and variant
	case !f.Generates && f.Text.Prefix != nil && c.Prefix != "":
		r = 7 // a prefix is rarely a coincidence
	case !f.Generates:
		r = 8
	}
	// A text is less probable if its letters are in a case that the format does not write.
	letters := textcodec.Lower
	if c.Encoding == Text {
		letters = f.Letters
	}
	wrong := letters != 0 && !kinds.In(textcodec.Base64&^(textcodec.Lower|textcodec.Upper)|letters)
	if wrong || c.Encoding == Text && f.HasCases() && !kinds.HasCases() {
		r += 4
	}
	return r
}

// unlikeliness is lower for more probable readings of a decimal integer, by [spec.Rules]. Times within an hour are
// equal, because scru64 has larger ticks than other formats.
func (c Candidate) unlikeliness(now time.Time) (hours int64) {
	f, rules := c.ID.spec, &spec.Judgement
	years := f.Search.Rarity * rules.Rare
	for i := range f.Layout {
		if field := &f.Layout[i]; field.Usual != 0 {
			if _, low := field.Of(&c.ID.words); low > field.Usual {
				years += rules.Unusual
			}
		}
	}
	timed := f.Timed(&c.ID.words)
	past := now.UnixMilli() - timed.MilliOf(timed.Timestamp(&c.ID.words))
	if past < -(24 * time.Hour).Milliseconds() {
		years += rules.Ahead
	}
	const year = 365 * 24 * time.Hour
	return (int64(years)*year.Milliseconds() + max(past, -past)) / time.Hour.Milliseconds()
}

// Detect returns the IDs that a text may be, the most probable first. If there is none, [Explain] says
// why. The text must be the ID alone; it can have a prefix such as user_, in any format.
//
// All of the IDs are plausible, as [ID.Plausible] reports, and have the constant fields that
// generators write. Hexadecimal numbers must have their full width.
func Detect(text string) []Candidate { return AppendDetect(nil, text, time.Now()) }

// AppendDetect is like [Detect], but appends to found. The parameter now is the current time.
func AppendDetect(found []Candidate, text string, now time.Time) []Candidate {
	return allWays().detect(found, text, now)
}

type way struct {
	format   *spec.Format
	encoding spec.Encoding
}

// ways lists, for each length of a text, the formats and encodings that the text may have.
type ways [][]way

var allWays = sync.OnceValue(func() ways { return newWays(spec.All()) })

func newWays(formats []*spec.Format) (w ways) {
	for _, f := range formats {
		for _, e := range f.Search.Guess {
			for _, length := range f.LengthsOf(e) {
				for len(w) <= length {
					w = append(w, nil)
				}
				if !slices.Contains(w[length], way{f, e}) {
					w[length] = append(w[length], way{f, e})
				}
			}
		}
	}
	return w
}

func (w ways) detect(found []Candidate, text string, now time.Time) []Candidate {
	start := len(found)
	kinds := textcodec.KindsOf(text)
	if len(text) < len(w) {
		for _, way := range w[len(text)] {
			if c, ok := way.read(text, kinds, now); ok {
				found = append(found, c)
			}
		}
	}
	if strings.IndexByte(text, '_') > 0 {
		found = appendTyped(found, text, now)
		found = w.appendLabelled(found, text, now)
	}
	if more := found[start:]; len(more) > 1 {
		slices.SortStableFunc(more, func(a, b Candidate) int {
			if a.Encoding == Int && b.Encoding == Int {
				return cmp.Compare(a.unlikeliness(now), b.unlikeliness(now))
			}
			return a.rank(text, kinds) - b.rank(text, kinds)
		})
	}
	return found
}

// read reads a text with these kinds of bytes, if it is a plausible ID.
func (w way) read(text string, kinds textcodec.Kinds, now time.Time) (c Candidate, ok bool) {
	if !w.fits(text, kinds) {
		return c, false
	}
	f := w.format
	words, err := f.ParseAs(w.encoding, text)
	if err != nil || !f.Plausible(&words, now) || !f.Generated(&words) {
		return c, false
	}
	id := ID{f, words}
	prefix, rest := f.CutPrefix(text)
	if f.Within != nil && prefix == "" && !id.holds(len(text)) {
		return c, false
	}
	wordLike := w.encoding == spec.Text &&
		(f.Search.WordLike || f.Search.Mixed && !textcodec.Mixed(rest))
	return Candidate{id, Encoding(w.encoding), prefix, wordLike}, true
}

// fits reports whether a text with these kinds of bytes may have the way's format and encoding.
func (w way) fits(text string, kinds textcodec.Kinds) bool {
	switch w.encoding {
	case spec.Text:
		_, id := w.format.CutPrefix(text)
		groups := w.format.Text.Groups
		return kinds.In(w.format.Alphabet) && w.format.HasTextLength(len(id)) &&
			(len(groups) == 0 || strings.HasPrefix(id, groups[0].Before))
	case spec.Hex:
		return kinds.In(textcodec.HexDigits)
	case spec.Int:
		return kinds.In(textcodec.Digit) && text[0] != '0'
	}
	return true
}

// holds reports whether there is an ID inside. If the text is shorter than usual, that ID must be
// of the usual format, because other random texts are as short.
func (id ID) holds(length int) bool {
	return id.holdsUsual() || id.spec.Inner(&id.words) != nil && length >= id.spec.Text.Lengths[0]
}

// holdsUsual reports whether the ID inside is of the format that generators use.
func (id ID) holdsUsual() bool {
	return id.spec.Within != nil && id.spec.Inner(&id.words) == id.spec.Within[0]
}

// appendTyped appends IDs of our formats with the prefix of a typed ID.
func appendTyped(found []Candidate, text string, now time.Time) []Candidate {
	for _, f := range spec.Ours() {
		prefix, rest := f.CutTyped(text)
		if prefix == "" || !textcodec.KindsOf(rest).In(f.Alphabet) {
			continue
		}
		words, err := f.ParseAs(spec.Text, rest)
		if err == nil && f.Plausible(&words, now) && f.Generated(&words) {
			found = append(found, Candidate{ID{f, words}, Text, prefix, f.Search.WordLike})
		}
	}
	return found
}

// appendLabelled appends IDs with a prefix that their format does not have, such as user_ before a
// ULID. Texts that may be words are no IDs.
func (w ways) appendLabelled(found []Candidate, text string, now time.Time) []Candidate {
	for i := max(1, len(text)-len(w)); i < min(len(text), spec.MaxLabel+1); i++ {
		if text[i] != '_' || !spec.IsLabel(text[:i]) {
			continue
		}
		rest := text[i+1:]
		kinds := textcodec.KindsOf(rest)
		for _, way := range w[len(rest)] {
			if !way.labelled(kinds) {
				continue
			}
			c, ok := way.read(rest, kinds, now)
			if !ok || way.lacksPrefix(c) {
				continue
			}
			c.Prefix = text[:i+1+len(c.Prefix)]
			if spec.IsLabel(c.Prefix[:len(c.Prefix)-1]) && !slices.ContainsFunc(found, c.isIn) {
				found = append(found, c)
			}
		}
	}
	return found
}

// isIn reports whether another reading says the same, or has the ID in a TypeID as generators write it.
func (c Candidate) isIn(o Candidate) bool {
	return o.Prefix == c.Prefix && o.ID.words == c.ID.words &&
		(o.ID.spec == c.ID.spec || o.ID.holdsUsual())
}

// lacksPrefix reports whether the format's texts have a prefix, but not the reading. So user_ before
// the UUID of a TypeID is the prefix of the TypeID.
func (w way) lacksPrefix(c Candidate) bool {
	return w.encoding == spec.Text && w.format.Text.Prefix != nil && c.Prefix == ""
}

// labelled reports whether a text with these kinds of bytes may follow a prefix that is not of the
// format. Words must not look like texts of the format. The text must have a digit, and both cases if
// the alphabet has both.
func (w way) labelled(kinds textcodec.Kinds) bool {
	f := w.format
	return w.encoding != spec.Text || !f.Search.WordLike && !f.Search.Mixed &&
		kinds.Has(textcodec.Digit) && (kinds.HasCases() || !f.HasCases())
}
