package scan

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/sortid/sortid/cmd/sortid/internal/console"
	"github.com/sortid/sortid/cmd/sortid/internal/judge"
	"github.com/sortid/sortid/internal/integer"
	"github.com/sortid/sortid/internal/spec"
	"github.com/sortid/sortid/internal/textcodec"
	"github.com/sortid/sortid/internal/words"
)

// contextSize is how many bytes before an ID [finder.find] must see: the longest prefix, its
// underscore, and one byte.
const contextSize = 65

// A match is a text that may be an ID. The zero match means that there is none.
type match struct {
	Start, End int // the ID is text[Start:End]
	Format     *spec.Format
	Words      integer.Words
	Encoding   spec.Encoding

	timed *spec.Format // the format that reads the time; nil if there is no time
	ticks uint64

	kind judge.Kind // of texts that look like it
}

func (m *match) found() bool { return m.Format != nil }

// milli returns the ID's time in Unix milliseconds. The ID must have a time.
func (m *match) milli() int64 { return m.timed.MilliOf(m.ticks) }

// time returns the ID's time. The ID must have a time.
func (m *match) time() time.Time { return m.timed.TimeOf(m.ticks) }

// A finder finds IDs in text, by the rules of the package comment. Copies share all but the judge
// and the candidates. testdata/scan.json has cases for all implementations.
type finder struct {
	now  time.Time
	only bool // formats are named, so hexadecimal numbers are IDs, not hashes

	// Formats by the length of a run of letters and digits.
	texts    [maxRun + 1][]textRule
	hex      [maxRun + 1][]hexRule
	ints     [maxRun + 1][]*spec.Format
	uuids    []hexRule
	shortest int

	// The same for formats whose texts can contain - or _.
	words        [maxRun + 1][]textRule
	shortestWord int // 0 if there are no such formats

	// What the last search has found, in order: matches, and texts without a plausible time that the
	// judge must count.
	candidates []match

	// Judges hexadecimal numbers, texts with small and capital letters, and UUIDs, but no UUIDs with a
	// plausible time in a format of another project. It learns from the candidates, so it sees the parts
	// of an input in order, or it follows another judge.
	judge judge.Judge
}

// maxRun is the length of the longest ID, with 0x or \x before it.
const maxRun = 42

const lastGroup = 12 // digits after a UUID's last hyphen

type textRule struct {
	format  *spec.Format
	written textcodec.Kinds // of the format's alphabet
	symbols textcodec.Kinds // that may occur: also the other case if the format folds case
}

func (r *textRule) prefixed() bool { return r.format.Text.Prefix != nil }

// A hexRule is a format, and which integers can be its IDs.
type hexRule struct {
	format     *spec.Format
	first, end integer.Words // No other integers have a plausible time; equal if not known.
}

func newHexRule(s *spec.Format, now time.Time) hexRule {
	r := hexRule{format: s}
	from, to := s.PlausibleRange(now)
	if first, end, err := s.Bounds(from, to.Add(time.Hour)); err == nil && s.Within == nil {
		r.first, r.end = first, end
	}
	return r
}

// excludes reports whether the integer cannot be an ID. It is fast, because most numbers in logs
// are hashes and trace IDs.
func (r *hexRule) excludes(w *integer.Words) bool {
	return w.Less(&r.first) || r.first != r.end && !w.Less(&r.end)
}

// newFinder returns a finder for IDs of the named formats, with times that are plausible now.
// Without names, the finder looks for formats whose IDs are easy to tell from other text.
func newFinder(now time.Time, named ...*spec.Format) *finder {
	f := &finder{now: now, only: len(named) > 0, shortest: maxRun}
	formats := slices.Clone(named)
	if !f.only {
		formats = slices.DeleteFunc(spec.All(), func(s *spec.Format) bool {
			return s.Search.WordLike || s.Search.Named
		})
	}
	for _, s := range inOrder(formats) {
		encodings := s.Search.Guess
		if len(encodings) == 0 { // the format is named
			encodings = s.Encodings[:1]
		}
		for _, e := range encodings {
			switch e {
			case spec.Text:
				f.addText(s)
			case spec.Hex:
				f.hex[2*s.Size] = append(f.hex[2*s.Size], newHexRule(s, now))
				f.shortest = min(f.shortest, 2*s.Size)
			case spec.UUID:
				f.uuids = append(f.uuids, newHexRule(s, now))
				f.shortest = min(f.shortest, lastGroup)
			case spec.Int:
				if f.only && !s.Generates { // any number could be an ID of our formats
					f.addInt(s)
				}
			}
		}
	}
	return f
}

// inOrder returns formats in the order in which a text is tried. Formats that a text seldom fits by
// chance come first: formats with a prefix, then formats such as UUIDs, then our formats.
// Otherwise, formats have the order of the table. Formats that are not in the table are last.
func inOrder(formats []*spec.Format) []*spec.Format {
	group := func(f *spec.Format) int {
		switch {
		case f.Generates:
			return 3
		case f.Text.Prefix == nil:
			return 2
		}
		return 1
	}
	all := spec.All()
	place := func(f *spec.Format) uint { return uint(slices.Index(all, f)) } // -1 is the largest
	return slices.SortedStableFunc(slices.Values(formats), func(a, b *spec.Format) int {
		return cmp.Or(cmp.Compare(group(a), group(b)), cmp.Compare(place(a), place(b)))
	})
}

func (f *finder) addText(s *spec.Format) {
	all := s.Text.Characters
	rule := textRule{s, textcodec.KindsOf(all), textcodec.KindsOf(all)}
	if s.Text.FoldsCase {
		rule.symbols |= textcodec.KindsOf(strings.ToUpper(all) + strings.ToLower(all))
	}
	for _, n := range s.Text.Usual {
		switch {
		case rule.symbols.Has(textcodec.Dash):
			f.words[n] = append(f.words[n], rule)
			if f.shortestWord == 0 || n < f.shortestWord {
				f.shortestWord = n
			}
		case n <= maxRun:
			f.texts[n] = append(f.texts[n], rule)
			f.shortest = min(f.shortest, n)
		}
	}
}

// addInt adds a format for each length of its integers with plausible times.
func (f *finder) addInt(s *spec.Format) {
	first, end, _ := s.Bounds(s.PlausibleRange(f.now)) // they are in order of time
	for n := len(s.In(first, spec.Int)); n <= len(s.In(end, spec.Int)); n++ {
		f.ints[n] = append(f.ints[n], s)
		f.shortest = min(f.shortest, n)
	}
}

// noteLeftOut says how many texts with a plausible time were not read as IDs.
func noteLeftOut(c *console.Console, n int) {
	if n > 0 && !c.Quiet {
		c.Say("left out %s, because most texts of this length are no IDs; --format reads them as IDs",
			words.Plural(uint64(n), "possible ID"))
	}
}
