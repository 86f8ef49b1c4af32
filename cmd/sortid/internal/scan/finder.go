package scan

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"slices"
	"strings"
	"time"
	"unsafe"

	"github.com/sortid/sortid/cmd/sortid/internal/inspect"
	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/internal/integer"
	"github.com/sortid/sortid/internal/textcodec"
)

// contextSize is how many bytes before an ID [finder.find] must see: the longest prefix, its
// underscore, and one byte.
const contextSize = 65

type match struct {
	Start, End int // the ID is text[Start:End]
	ID         format.ID
	Encoding   format.Encoding
}

// A finder finds IDs in text, by the rules of docs/command.md. It learns from the IDs and hashes
// that it reads, so one finder should read all parts of an input in order. testdata/scan.json has
// cases for all implementations.
type finder struct {
	now  time.Time
	only bool // formats are named, so hexadecimal numbers are IDs, not hashes

	// Formats by the length of a run of letters and digits.
	texts    [maxRun + 1][]textRule
	hex      [maxRun + 1][]hexRule
	ints     [maxRun + 1][]*format.Format
	uuids    []hexRule
	shortest int

	// The same for formats whose texts can contain - or _.
	words        [maxRun + 1][]textRule
	shortestWord int // 0 if there are no such formats

	hashes [maxRun + 1]inspect.Ratio // of hexadecimal numbers, by length
	mixed  [maxRun + 1]inspect.Ratio // of texts with small and capital letters, by length

	// Counts UUIDs, to judge whether they can be our IDs. It does not count UUIDs with a plausible
	// time in a format of another project.
	seen inspect.UUIDs

	constants []constant
}

// maxRun is the length of the longest ID, with 0x or \x before it.
const maxRun = 42

const lastGroup = 12 // digits after a UUID's last hyphen

// A constant is a field to which generators write this value.
type constant struct {
	format *format.Format
	place  integer.Place
	value  uint64
}

type textRule struct {
	format  *format.Format
	written byte // classes of bytes in the format's alphabet
	symbols byte // classes of bytes that may occur: also the other case if the format folds case
}

func (r textRule) prefixed() bool { return r.format.Text.PrefixCharacters != "" }

// A hexRule is a format, and which integers can be its IDs.
type hexRule struct {
	format     *format.Format
	first, end integer.Words // No other integers have a plausible time; equal if not known.
}

func newHexRule(s *format.Format, now time.Time) hexRule {
	r := hexRule{format: s}
	from, to := s.PlausibleRange(now)
	if first, end, err := s.Bounds(from, to.Add(time.Hour)); err == nil && s.Within == nil {
		r.first, r.end = integer.FromArray(first.Words()), integer.FromArray(end.Words())
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
func newFinder(now time.Time, named ...*format.Format) *finder {
	f := &finder{now: now, only: len(named) > 0, shortest: maxRun}
	formats := slices.DeleteFunc(format.All(), func(s *format.Format) bool {
		return f.only || s.Search.WordLike || s.Search.Named
	})
	for _, s := range append(formats, inOrder(named)...) {
		for _, field := range s.Layout {
			if field.Constant {
				f.constants = append(f.constants,
					constant{s, integer.PlaceOf(field.Low, field.Bits), field.Value})
			}
		}
		for _, e := range s.Search.Guess {
			switch e {
			case format.Text:
				f.addText(s)
			case format.Hex:
				f.hex[2*s.Size] = append(f.hex[2*s.Size], newHexRule(s, now))
				f.shortest = min(f.shortest, 2*s.Size)
			case format.UUID:
				f.uuids = append(f.uuids, newHexRule(s, now))
				f.shortest = min(f.shortest, lastGroup)
			case format.Int:
				if f.only && !s.Generates { // any number could be an ID of our formats
					f.addInt(s)
				}
			}
		}
	}
	// A text that looks like a UUID of RFC 9562 is seldom one of our IDs, so the formats of
	// RFC 9562 come first.
	first := func(a, b hexRule) int {
		return number(a.format.Generates) - number(b.format.Generates)
	}
	slices.SortStableFunc(f.uuids, first)
	slices.SortStableFunc(f.hex[32], first)
	return f
}

// inOrder returns formats in the order of the table. Formats that are not in the table are last.
func inOrder(formats []*format.Format) []*format.Format {
	all := format.All()
	place := func(f *format.Format) uint { return uint(slices.Index(all, f)) } // -1 is the largest
	return slices.SortedStableFunc(slices.Values(formats),
		func(a, b *format.Format) int { return cmp.Compare(place(a), place(b)) })
}

func (f *finder) addText(s *format.Format) {
	all := s.Text.Characters
	rule := textRule{s, kindsOf([]byte(all)), kindsOf([]byte(all))}
	if s.Text.FoldsCase {
		rule.symbols |= kindsOf([]byte(strings.ToUpper(all) + strings.ToLower(all)))
	}
	for _, n := range s.Text.Usual {
		switch {
		case rule.symbols&dash != 0:
			f.words[n] = append(f.words[n], rule)
			if f.shortestWord == 0 || n < f.shortestWord {
				f.shortestWord = n
			}
		case n <= maxRun:
			// Formats with a prefix come first.
			f.texts[n] = append(f.texts[n], rule)
			slices.SortStableFunc(f.texts[n],
				func(a, b textRule) int {
					return number(b.prefixed()) - number(a.prefixed())
				})
			f.shortest = min(f.shortest, n)
		}
	}
}

func number(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// addInt adds a format for each length of its integers with plausible times.
func (f *finder) addInt(s *format.Format) {
	first, end, err := s.Bounds(s.PlausibleRange(f.now))
	if err != nil {
		// This never happens: integers of other projects' formats are in order of time.
		return
	}
	for n := len(first.In(format.Int)); n <= len(end.In(format.Int)); n++ {
		f.ints[n] = append(f.ints[n], s)
		f.shortest = min(f.shortest, n)
	}
}

const (
	digit     = 1 << iota
	lowerHex  // a-f
	lowerMid  // g-v
	lowerHigh // w-z
	upperHex
	upperMid
	upperHigh
	dash // - and _

	alnum = dash - 1
	lower = lowerHex | lowerMid | lowerHigh
	upper = upperHex | upperMid | upperHigh

	hexDigits = digit | lowerHex | upperHex
)

var classes = func() (t [256]byte) {
	for i, all := range []string{"09", "af", "gv", "wz", "AF", "GV", "WZ", "--", "__"} {
		for c := int(all[0]); c <= int(all[1]); c++ {
			t[c] = 1 << min(i, 7)
		}
	}
	return t
}()

// inWord says which bytes IDs can contain. In the main loop, tables of booleans are faster than
// masks.
var isAlnum, inWord = func() (alnums, words [256]bool) {
	for c, class := range classes {
		alnums[c], words[c] = class&alnum != 0, class != 0
	}
	return alnums, words
}()

// find calls the function report for every ID in text[from:], in order. text[:from] is context. The
// text must not end within a word.
func (f *finder) find(text []byte, from int, report func(match)) {
	if f.shortestWord == 0 {
		for {
			m, ok := f.next(text, from)
			if !ok {
				return
			}
			report(m)
			from = m.End
		}
	}
	a, okA := f.next(text, from)
	b, okB := f.nextWord(text, from)
	for okA || okB {
		if okA && (!okB || a.Start < b.Start) {
			report(a)
			a, okA = f.next(text, a.End)
		} else {
			report(b)
			b, okB = f.nextWord(text, b.End)
		}
	}
}

// nextRun returns the next whole run of bytes in a set. It ignores runs with fewer bytes than the
// parameter shortest. It first reads the byte at which the shortest run from i would end. If this
// byte is not in the set, nextRun skips all bytes before it.
func nextRun(text []byte, i, shortest int, set *[256]bool) (start, end int, ok bool) {
	for i+shortest <= len(text) {
		last := i + shortest - 1
		if !set[text[last]] {
			i = last + 1
			continue
		}
		start, end = last, last+1
		for start > i && set[text[start-1]] {
			start--
		}
		for end < len(text) && set[text[end]] {
			end++
		}
		if n := end - start; n >= shortest && (start == 0 || !set[text[start-1]]) {
			return start, end, true
		}
		i = end
	}
	return 0, 0, false
}

func (f *finder) next(text []byte, from int) (match, bool) {
	for i := from; ; {
		start, end, ok := nextRun(text, i, f.shortest, &isAlnum)
		if !ok {
			return match{}, false
		}
		if end-start <= maxRun {
			if m, ok := f.judge(text, from, start, end); ok {
				return m, true
			}
		}
		i = end
	}
}

// judge returns the ID that ends with the run text[start:end]. The ID can begin before the run, but
// not before text[from].
func (f *finder) judge(text []byte, from, start, end int) (match, bool) {
	n := end - start
	if f.hex[n] != nil || f.ints[n] != nil {
		kinds := kindsOf(text[start:end])
		if f.ints[n] != nil && kinds == digit && text[start] != '0' {
			for _, s := range f.ints[n] {
				if m, ok := f.parse(s, format.Int, text, start, end); ok {
					return m, true
				}
			}
		}
		if f.hex[n] != nil && kinds&^hexDigits == 0 {
			return f.judgeHex(text, start, end, kinds)
		}
	}
	for i := range f.texts[n] {
		if m, ok := f.judgeText(&f.texts[n][i], text, from, start, end); ok {
			return m, true
		}
	}
	switch {
	case n == lastGroup && f.uuids != nil:
		return f.judgeUUID(text, start-24, end)
	case n > 1 && f.hex[n-1] != nil && text[start] == 'x' && start > 0 && text[start-1] == '\\':
		start++ // PostgreSQL prints \x before bytes
	case n > 2 && f.hex[n-2] != nil && text[start] == '0' && (text[start+1] == 'x' ||
		text[start+1] == 'X'):
		start += 2
	default:
		return match{}, false
	}
	if kinds := kindsOf(text[start:end]); kinds&^hexDigits == 0 {
		return f.judgeHex(text, start, end, kinds)
	}
	return match{}, false
}

func kindsOf(text []byte) (kinds byte) {
	for _, b := range text {
		kinds |= classes[b]
	}
	return kinds
}

// judgeText does the work of the method judge for a format's own encoding. If the
// alphabet has one case, a text must not mix cases. A short text does not count if it is a number
// such as 0x0123456789, or inside Base64. If no format is named, a short text must also have a
// digit, and the case that the format writes.
func (f *finder) judgeText(s *textRule, text []byte, from, start, end int) (match, bool) {
	search := &s.format.Search
	if p := search.Prefix; p != "" && string(text[start:start+len(p)]) != p {
		return match{}, false
	}
	kinds := kindsOf(text[start:end])
	bothCases := s.written&lower != 0 && s.written&upper != 0
	if kinds&^s.symbols != 0 || !bothCases && kinds&lower != 0 && kinds&upper != 0 {
		return match{}, false
	}
	if !f.only && kinds&^hexDigits == 0 && end-start > 16 { // probably a hash
		return match{}, false
	}
	if s.prefixed() {
		return f.judgePrefixed(s, text, from, start, end)
	}
	if search.Mixed || bothCases {
		if bothCases && (kinds&lower == 0 || kinds&upper == 0) ||
			!textcodec.Mixed(unsafe.String(&text[start], end-start)) ||
			besideBase64(text, start, end) {
			return match{}, false
		}
		m, ok := f.parse(s.format, format.Text, text, start, end)
		return m, f.only && ok || !f.only && f.mixed[end-start].Accept(ok)
	}
	if search.Short && (!f.only && (kinds&^s.written != 0 || kinds&digit == 0) ||
		isNumber(text[start:end])) {
		return match{}, false
	}
	m, ok := f.parse(s.format, format.Text, text, start, end)
	return m, ok && !(search.Short && besideBase64(text, start, end))
}

func (f *finder) judgePrefixed(s *textRule, text []byte, from, start, end int) (match, bool) {
	first := start - 1
	if first < from || text[first] != '_' { // only named formats may lack the prefix
		m, ok := f.parse(s.format, format.Text, text, start, end)
		return m, ok && f.only && !m.ID.Time().IsZero()
	}
	for first > from && strings.IndexByte(s.format.Text.PrefixCharacters, text[first-1]) >= 0 {
		first--
	}
	if first > 0 && isAlnum[text[first-1]] ||
		s.format.Search.Mixed && !textcodec.Mixed(unsafe.String(&text[start], end-start)) {
		return match{}, false
	}
	m, ok := f.parse(s.format, format.Text, text, first, end)
	for _, n := range s.format.Text.Lengths { // the text can continue with check symbols
		if longer := start + n; ok && longer > end && longer <= len(text) && (longer == len(text) ||
			classes[text[longer]] == 0) {
			if with, ok := f.parse(s.format, format.Text, text, first, longer); ok {
				return with, true
			}
		}
	}
	return m, ok
}

// isNumber reports whether a text is a number such as 0x1f.
func isNumber(text []byte) bool {
	base := text[1] | 0x20
	return text[0] == '0' && (base == 'x' || base == 'b' || base == 'o') &&
		kindsOf(text[2:])&^hexDigits == 0
}

// besideBase64 reports whether + / - or _ joins the run to a run that looks like Base64. Such a run
// has digits and letters of both cases in its nearest 24 characters.
func besideBase64(text []byte, start, end int) bool {
	const joints, reach = "+/-_", 24
	mixed := func(kinds byte) bool {
		return kinds&digit != 0 && kinds&lower != 0 &&
			kinds&upper != 0
	}
	if i := start - 1; i >= 0 && bytes.IndexByte([]byte(joints), text[i]) >= 0 {
		first := i
		for first > max(0, i-reach) && isAlnum[text[first-1]] {
			first--
		}
		if mixed(kindsOf(text[first:i])) {
			return true
		}
	}
	if i := end; i < len(text) && bytes.IndexByte([]byte(joints), text[i]) >= 0 {
		last := i + 1
		for last < min(len(text), i+1+reach) && isAlnum[text[last]] {
			last++
		}
		return mixed(kindsOf(text[i+1 : last]))
	}
	return false
}

// generated reports whether the ID's constant fields have the values that generators write.
func (f *finder) generated(id format.ID) bool {
	for i := range f.constants {
		if c := &f.constants[i]; c.format == id.Format() {
			w := integer.FromArray(id.Words())
			if c.place.Of(&w) != c.value {
				return false
			}
		}
	}
	return true
}

// accepts reports whether an ID is probably no accident.
func (f *finder) accepts(id format.ID) bool {
	return id.Plausible(f.now) && f.generated(id) &&
		(f.only || id.Format().Tick != 0 || !id.Time().IsZero())
}

func (f *finder) parse(s *format.Format, e format.Encoding, text []byte, start,
	end int) (match, bool) {
	// The ID does not keep the string, so the string can share the text's memory.
	id, err := s.ParseAs(e, unsafe.String(&text[start], end-start))
	if err != nil || !f.accepts(id) {
		return match{}, false
	}
	return match{start, end, id, e}, true
}

// parseHex parses hexadecimal digits or a UUID as an ID of the first of the formats that has it. It
// decodes the digits only once.
func (f *finder) parseHex(rules []hexRule, e format.Encoding, text []byte, start,
	end int) (match, bool) {
	var raw [24]byte
	if e == format.UUID {
		textcodec.DecodeUUID((*[16]byte)(raw[8:]), text[start:end])
	} else {
		hex.Decode(raw[24-(end-start)/2:], text[start:end])
	}
	w := integer.FromBytes(&raw)
	for i := range rules {
		if rules[i].excludes(&w) {
			continue
		}
		if id, err := rules[i].format.FromWords(w.Array()); err == nil && f.accepts(id) {
			return match{start, end, id, e}, true
		}
	}
	return match{}, false
}

func (f *finder) judgeHex(text []byte, start, end int, kinds byte) (match, bool) {
	if kinds&lower != 0 && kinds&upper != 0 {
		return match{}, false
	}
	m, ok := f.parseHex(f.hex[end-start], format.Hex, text, start, end)
	if ok && !f.only && m.ID.Format().Search.Labelled {
		return m, labelled(text, start)
	}
	return m, f.only && ok || !f.only && f.hashes[end-start].Accept(ok)
}

// labelled reports whether the last word before text[start] ends with "id" in small or capital
// letters, as in "_id":"..." and ObjectId("...").
func labelled(text []byte, start int) bool {
	const reach = 8
	i := start
	for i > max(2, start-reach) && classes[text[i-1]]&alnum == 0 {
		i--
	}
	return i > 1 && text[i-1]|0x20 == 'd' && text[i-2]|0x20 == 'i'
}

// judgeUUID does the work of the method judge for text[start:end], which has a UUID's length.
func (f *finder) judgeUUID(text []byte, start, end int) (match, bool) {
	if start < 0 || text[start+8] != '-' || text[start+13] != '-' || text[start+18] != '-' ||
		text[start+23] != '-' ||
		start > 0 && isAlnum[text[start-1]] {
		return match{}, false
	}
	kinds := kindsOf(text[start:start+8]) | kindsOf(text[start+9:start+13]) | kindsOf(
		text[start+14:start+18]) |
		kindsOf(text[start+19:start+23]) | kindsOf(text[start+24:end])
	if kinds&^hexDigits != 0 {
		return match{}, false
	}
	m, ok := f.parseHex(f.uuids, format.UUID, text, start, end)
	if f.only || ok && !m.ID.Format().Generates {
		return m, ok
	}
	version := text[start+14]
	standard := version >= '1' && version <= '8' && bytes.IndexByte([]byte("89abAB"),
		text[start+19]) >= 0
	return m, f.seen.Accept(standard, ok)
}

// nextWord returns the next ID that is a run of letters, digits, - and _. It skips words. A word
// has no digit, and all its letters after the first have one case.
func (f *finder) nextWord(text []byte, i int) (match, bool) {
	for {
		start, end, ok := nextRun(text, i, f.shortestWord, &inWord)
		if !ok {
			return match{}, false
		}
		i = end
		n := end - start
		if n > maxRun || f.words[n] == nil {
			continue
		}
		kinds := kindsOf(text[start+1 : end])
		if kinds&digit == 0 && (kinds&lower == 0 || kinds&upper == 0) {
			continue
		}
		for _, rule := range f.words[n] {
			if rule.format.Search.Mixed && !textcodec.Mixed(unsafe.String(&text[start], n)) {
				continue
			}
			if m, ok := f.parse(rule.format, format.Text, text, start, end); ok {
				return m, true
			}
		}
	}
}
