// Package finder finds IDs in text. Its rules are stated in docs/command.md, under "Where
// scan sees an ID"; testdata/scan.json holds cases for this and any other implementation.
package finder

import (
	"bytes"
	"slices"
	"strings"
	"time"
	"unsafe"

	"github.com/sortid/sortid/format"
)

// Context is how many bytes before a place [Finder.Find] has to see to judge what stands
// there: those of a UUID and the one before it.
const Context = 37

// A Match is an ID in a text.
type Match struct {
	Start, End int // its place: text[Start:End]
	ID         format.ID
	Encoding   format.Encoding
}

// A Finder finds IDs. It remembers how many numbers in hexadecimal digits had plausible
// times, so one Finder should see all parts of an input, in order.
type Finder struct {
	now  time.Time
	only bool // whether formats were named: then their IDs are not held to be hashes

	// What to look for, by the length of a run of letters and digits.
	texts [maxRun + 1][]textRule
	hex   [maxRun + 1][]*format.Format
	uuids []*format.Format // in the form with hyphens

	// Those whose alphabet has - and _, by the length of a run of these, letters and digits.
	words [maxRun + 1][]textRule
	word  bool // whether there are any

	hashes  [maxRun + 1]Ratio // by length
	uuid    Ratio             // without the UUIDs of RFC 9562
	anyUUID Ratio
}

// maxRun is the length of the longest run that can be an ID, a prefix such as 0x included.
const maxRun = 42

// A textRule says how to judge a run as long as a format's text.
type textRule struct {
	*format.Format
	written byte // the classes that its alphabet has a part in
	symbols byte // and those in which it may be read, too
}

// New returns a Finder of IDs that are plausible now: of the named formats, or, if none is
// named, of all formats of ours that no words look like.
func New(now time.Time, named ...*format.Format) *Finder {
	f := &Finder{now: now, only: len(named) > 0}
	for _, s := range format.Ours() {
		if f.only && !slices.Contains(named, s) || !f.only && s.Search.WordLike {
			continue
		}
		rule := textRule{s, kindsOf([]byte(s.Symbols)), kindsOf([]byte(s.Symbols))}
		if s.FoldsCase {
			rule.symbols |= kindsOf([]byte(strings.ToUpper(s.Symbols) + strings.ToLower(s.Symbols)))
		}
		rules := &f.texts
		if rule.symbols&dash != 0 {
			rules, f.word = &f.words, true
		}
		for _, n := range s.UsualLengths() {
			rules[n] = append(rules[n], rule)
		}
		f.hex[s.Bits/4] = append(f.hex[s.Bits/4], s)
		if s.HasEncoding(format.UUID) {
			f.uuids = append(f.uuids, s)
		}
	}
	return f
}

// The classes of bytes.
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
	for c := range t {
		switch b := byte(c); {
		case '0' <= b && b <= '9':
			t[c] = digit
		case 'a' <= b && b <= 'f':
			t[c] = lowerHex
		case 'g' <= b && b <= 'v':
			t[c] = lowerMid
		case 'w' <= b && b <= 'z':
			t[c] = lowerHigh
		case 'A' <= b && b <= 'F':
			t[c] = upperHex
		case 'G' <= b && b <= 'V':
			t[c] = upperMid
		case 'W' <= b && b <= 'Z':
			t[c] = upperHigh
		case b == '-' || b == '_':
			t[c] = dash
		}
	}
	return t
}()

// InWord reports whether a byte may be one of an ID in any encoding.
func InWord(b byte) bool { return classes[b] != 0 }

// isAlnum is classes[b]&alnum != 0 in a table of its own, for the loop that sees most bytes.
var isAlnum = func() (t [256]bool) {
	for c := range t {
		t[c] = classes[c]&alnum != 0
	}
	return t
}()

// shortest is the length of the shortest run that is looked at, and of a UUID's last group.
const shortest = 12

// Find calls each for every ID in text[from:], in order. What stands before from is seen as
// context. The text must not end within a word.
func (f *Finder) Find(text []byte, from int, each func(Match)) {
	if !f.word {
		for {
			m, ok := f.next(text, from)
			if !ok {
				return
			}
			each(m)
			from = m.End
		}
	}
	a, okA := f.next(text, from)
	b, okB := f.nextWord(text, from)
	for okA || okB {
		if okA && (!okB || a.Start < b.Start) {
			each(a)
			a, okA = f.next(text, a.End)
		} else {
			each(b)
			b, okB = f.nextWord(text, b.End)
		}
	}
}

// next returns the next ID whose text is a run of letters and digits. It goes from run to run of letters and
// digits, and skips those that are too short without looking at each byte: if the twelfth
// byte from here is none of a run, no run that begins before it is long enough.
func (f *Finder) next(text []byte, i int) (Match, bool) {
	for i+shortest <= len(text) {
		last := i + shortest - 1
		if !isAlnum[text[last]] {
			i = last + 1
			continue
		}
		start := last
		for start > i && isAlnum[text[start-1]] {
			start--
		}
		if start == i && i > 0 && isAlnum[text[i-1]] { // the rest of a longer run
			for i < len(text) && isAlnum[text[i]] {
				i++
			}
			continue
		}
		end := last + 1
		for end < len(text) && isAlnum[text[end]] {
			end++
		}
		if n := end - start; n >= shortest && n <= maxRun {
			if m, ok := f.judge(text, start, end); ok {
				return m, true
			}
		}
		i = end + 1
	}
	return Match{}, false
}

// judge says whether a run of letters and digits is an ID, or the end of a UUID.
func (f *Finder) judge(text []byte, start, end int) (Match, bool) {
	n := end - start
	if isHexLength(n) {
		if kinds := kindsOf(text[start:end]); kinds&^hexDigits == 0 {
			return f.judgeHex(text, start, end, kinds)
		}
	}
	for i := range f.texts[n] {
		if m, ok := f.judgeText(&f.texts[n][i], text, start, end); ok {
			return m, true
		}
	}
	switch {
	case n == shortest:
		return f.judgeUUID(text, start-24, end)
	case isHexLength(n-1) && text[start] == 'x' && start > 0 && text[start-1] == '\\': // \x of PostgreSQL
		start++
	case isHexLength(n-2) && text[start] == '0' && (text[start+1] == 'x' || text[start+1] == 'X'):
		start += 2
	default:
		return Match{}, false
	}
	if kinds := kindsOf(text[start:end]); kinds&^hexDigits == 0 {
		return f.judgeHex(text, start, end, kinds)
	}
	return Match{}, false
}

// isHexLength reports whether IDs of a format in hexadecimal digits are so long.
func isHexLength(n int) bool { return n >= 0 && n <= maxRun && hexLengths[n] }

var hexLengths = func() (t [maxRun + 1]bool) {
	for _, s := range format.Ours() {
		t[s.Bits/4] = true
	}
	return t
}()

// kindsOf returns the classes of a text's bytes.
func kindsOf(text []byte) (kinds byte) {
	for _, b := range text {
		kinds |= classes[b]
	}
	return kinds
}

// judgeText judges a run as a text in a format's own encoding, with letters of one case. A short
// text may be no number such as 0x0123456789, nothing in the midst of Base64, and, unless its
// format is named, must be in the case that the format writes.
func (f *Finder) judgeText(s *textRule, text []byte, start, end int) (Match, bool) {
	search := &s.Search
	if p := search.Prefix; p != "" && string(text[start:start+len(p)]) != p {
		return Match{}, false
	}
	kinds := kindsOf(text[start:end])
	if kinds&^s.symbols != 0 || kinds&lower != 0 && kinds&upper != 0 {
		return Match{}, false
	}
	if search.Short && (!f.only && kinds&^s.written != 0 || isNumber(text[start:end])) {
		return Match{}, false
	}
	m, ok := f.parse(s.Format, format.Text, text, start, end)
	return m, ok && !(search.Short && besideBase64(text, start, end))
}

// isNumber reports whether a text is a number in the notation of programs, such as 0x1f.
func isNumber(text []byte) bool {
	base := text[1] | 0x20
	return text[0] == '0' && (base == 'x' || base == 'b' || base == 'o') && kindsOf(text[2:])&^hexDigits == 0
}

// besideBase64 reports whether a run is joined by + / - or _ to another one that has digits
// and letters of both cases in the 24 characters next to it.
func besideBase64(text []byte, start, end int) bool {
	const joints, reach = "+/-_", 24
	mixed := func(kinds byte) bool { return kinds&digit != 0 && kinds&lower != 0 && kinds&upper != 0 }
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

// parse reads text[start:end] as an ID, if it is one that is plausible.
func (f *Finder) parse(s *format.Format, e format.Encoding, text []byte, start, end int) (Match, bool) {
	// The ID keeps nothing of the string, so that it need not be a copy.
	id, err := s.ParseAs(e, unsafe.String(&text[start], end-start))
	if err != nil || !id.Plausible(f.now) || !id.Generated() {
		return Match{}, false
	}
	return Match{start, end, id, e}, true
}

// judgeHex judges a number in hexadecimal digits.
func (f *Finder) judgeHex(text []byte, start, end int, kinds byte) (Match, bool) {
	if kinds&lower != 0 && kinds&upper != 0 {
		return Match{}, false
	}
	m, ok := f.parseFirst(f.hex[end-start], format.Hex, text, start, end)
	return m, f.only && ok || !f.only && f.hashes[end-start].Accept(ok)
}

// parseFirst reads text[start:end] as an ID of the first of the formats that can be.
func (f *Finder) parseFirst(formats []*format.Format, e format.Encoding, text []byte, start, end int) (m Match, ok bool) {
	for _, s := range formats {
		if m, ok = f.parse(s, e, text, start, end); ok {
			break
		}
	}
	return m, ok
}

// judgeUUID judges text[start:end], which has a UUID's length and ends with a run of twelve.
func (f *Finder) judgeUUID(text []byte, start, end int) (Match, bool) {
	if start < 0 || text[start+8] != '-' || text[start+13] != '-' || text[start+18] != '-' || text[start+23] != '-' ||
		start > 0 && isAlnum[text[start-1]] {
		return Match{}, false
	}
	kinds := kindsOf(text[start:start+8]) | kindsOf(text[start+9:start+13]) | kindsOf(text[start+14:start+18]) |
		kindsOf(text[start+19:start+23]) | kindsOf(text[start+24:end])
	if kinds&^hexDigits != 0 {
		return Match{}, false
	}
	m, ok := f.parseFirst(f.uuids, format.UUID, text, start, end)
	if f.only {
		return m, ok
	}
	version := text[start+14]
	standard := version >= '1' && version <= '8' && bytes.IndexByte([]byte("89abAB"), text[start+19]) >= 0
	likely := f.anyUUID.Accept(ok)
	switch {
	case !standard:
		return m, f.uuid.Accept(ok)
	case version == '7' && ok:
		if v7, ok := f.parse(format.UUIDv7, format.UUID, text, start, end); ok {
			return v7, true
		}
	}
	// By its bits a UUID without a time; but one in eight SCRU128 IDs has such bits, too.
	return m, ok && likely
}

// nextWord returns the next text that is a run of letters, digits, - and _, in which not all
// letters but the first are of one case and no digit is among them, as in words.
func (f *Finder) nextWord(text []byte, i int) (Match, bool) {
	for i < len(text) {
		if classes[text[i]] == 0 {
			i++
			continue
		}
		start := i
		for i < len(text) && classes[text[i]] != 0 {
			i++
		}
		n := i - start
		if n > maxRun || f.words[n] == nil || start > 0 && classes[text[start-1]] != 0 {
			continue
		}
		kinds := kindsOf(text[start+1 : i])
		if kinds&digit == 0 && (kinds&lower == 0 || kinds&upper == 0) {
			continue
		}
		for _, rule := range f.words[n] {
			if m, ok := f.parse(rule.Format, format.Text, text, start, i); ok {
				return m, true
			}
		}
	}
	return Match{}, false
}
