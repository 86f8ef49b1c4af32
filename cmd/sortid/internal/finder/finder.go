// Package finder finds IDs in text. Its rules are stated in docs/command.md, under "Where
// scan sees an ID"; testdata/scan.json holds cases for this and any other implementation.
package finder

import (
	"bytes"
	"slices"
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
	Form       format.Encoding
	UUIDv7     bool // whether it is a UUID of version 7, of which ID is the reading as SCRU128
}

// A Finder finds IDs. It remembers how many numbers in hexadecimal digits had plausible
// times, so one Finder should see all parts of an input, in order.
type Finder struct {
	now  time.Time
	only bool // whether schemes were named: then they are not held to be hashes

	scru64, scru128, scru160, euid, uid60 bool

	hex16, hex32, hex40 Ratio
	uuid                Ratio // without those of RFC 9562
	anyUUID             Ratio
}

// New returns a Finder of IDs that are plausible now: of the named schemes, or of all but
// UID60 if none is named.
func New(now time.Time, schemes ...*format.Format) *Finder {
	has := func(s *format.Format) bool {
		return slices.Contains(schemes, s) || len(schemes) == 0 && s != format.UID60
	}
	return &Finder{
		now: now, only: len(schemes) > 0,
		scru64: has(format.SCRU64), scru128: has(format.SCRU128), scru160: has(format.SCRU160),
		euid: has(format.EUID), uid60: has(format.UID60),
	}
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

// InWord reports whether a byte may be one of an ID in any form.
func InWord(b byte) bool { return classes[b] != 0 }

// isAlnum is classes[b]&alnum != 0 in a table of its own, for the loop that sees most bytes.
var isAlnum = func() (t [256]bool) {
	for c := range t {
		t[c] = classes[c]&alnum != 0
	}
	return t
}()

// shortest is the length of the shortest text that is looked for, uid60's aside.
const shortest = 12

// Find calls each for every ID in text[from:], in order. What stands before from is seen as
// context. The text must not end within a word.
func (f *Finder) Find(text []byte, from int, each func(Match)) {
	if !f.uid60 {
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
	b, okB := f.nextUID60(text, from)
	for okA || okB {
		if okA && (!okB || a.Start < b.Start) {
			each(a)
			a, okA = f.next(text, a.End)
		} else {
			each(b)
			b, okB = f.nextUID60(text, b.End)
		}
	}
}

// next returns the next ID that is none of UID60. It goes from run to run of letters and
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
		if n := end - start; n >= shortest && n <= 42 {
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
	switch end - start {
	case 12:
		if text[start] == '0' {
			if m, ok := f.text12(text, start, end); ok {
				return m, true
			}
		}
		return f.judgeUUID(text, start-24, end)
	case 16:
		return f.judgeHex(text, start, end)
	case 25:
		return f.judgeText(f.scru128, format.SCRU128, text, start, end)
	case 27:
		return f.judgeText(f.euid, format.EUID, text, start, end)
	case 32:
		if kinds := kindsOf(text[start:end]); kinds&^(digit|lowerHex|upperHex) == 0 {
			return f.judgeHex(text, start, end)
		} else if kinds&(lowerHigh|upperHigh) != 0 {
			return Match{}, false
		}
		return f.judgeText(f.scru160, format.SCRU160, text, start, end)
	case 40:
		return f.judgeHex(text, start, end)
	case 17, 33, 41: // \x of PostgreSQL
		if text[start] == 'x' && start > 0 && text[start-1] == '\\' {
			return f.judgeHex(text, start+1, end)
		}
	case 18, 34, 42:
		if text[start] == '0' && (text[start+1] == 'x' || text[start+1] == 'X') {
			return f.judgeHex(text, start+2, end)
		}
	}
	return Match{}, false
}

// kindsOf returns the classes of a text's bytes.
func kindsOf(text []byte) (kinds byte) {
	for _, b := range text {
		kinds |= classes[b]
	}
	return kinds
}

// text12 judges a run of twelve that begins with 0, as SCRU64 does until 2033. It takes no
// number such as 0x0123456789, nothing in the midst of Base64, and, unless SCRU64 is named,
// no capitals, which the format does not write: it is short, and has no check.
func (f *Finder) text12(text []byte, start, end int) (Match, bool) {
	if !f.only && kindsOf(text[start:end])&upper != 0 {
		return Match{}, false
	}
	if second := text[start+1] | 0x20; (second == 'x' || second == 'b' || second == 'o') &&
		kindsOf(text[start+2:end])&^(digit|lowerHex|upperHex) == 0 {
		return Match{}, false
	}
	m, ok := f.judgeText(f.scru64, format.SCRU64, text, start, end)
	return m, ok && !besideBase64(text, start, end)
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

// judgeText judges a run as a text in a format's own form, with letters of one case.
func (f *Finder) judgeText(want bool, s *format.Format, text []byte, start, end int) (Match, bool) {
	if !want {
		return Match{}, false
	}
	if kinds := kindsOf(text[start:end]); kinds&lower != 0 && kinds&upper != 0 {
		return Match{}, false
	}
	return f.parse(s, format.Text, text, start, end)
}

// parse reads text[start:end] as an ID, if it is one that is plausible.
func (f *Finder) parse(s *format.Format, form format.Encoding, text []byte, start, end int) (Match, bool) {
	// The ID keeps nothing of the string, so that it need not be a copy.
	id, err := s.ParseAs(form, unsafe.String(&text[start], end-start))
	if err != nil || !id.Plausible(f.now) || !id.Generated() {
		return Match{}, false
	}
	return Match{Start: start, End: end, ID: id, Form: form}, true
}

// judgeHex judges a number of 16, 32 or 40 hexadecimal digits.
func (f *Finder) judgeHex(text []byte, start, end int) (m Match, ok bool) {
	kinds := kindsOf(text[start:end])
	if kinds&^(digit|lowerHex|upperHex) != 0 || kinds&lower != 0 && kinds&upper != 0 {
		return Match{}, false
	}
	var ratio *Ratio
	switch end - start {
	case 16:
		ratio = &f.hex16
		if f.scru64 {
			m, ok = f.parse(format.SCRU64, format.Hex, text, start, end)
		}
		if !ok && f.uid60 {
			m, ok = f.parse(format.UID60, format.Hex, text, start, end)
		}
	case 32:
		ratio = &f.hex32
		m, ok = f.parse128(format.Hex, text, start, end)
	case 40:
		ratio = &f.hex40
		if f.scru160 {
			m, ok = f.parse(format.SCRU160, format.Hex, text, start, end)
		}
	}
	return m, f.only && ok || !f.only && ratio.Accept(ok)
}

// parse128 reads an ID of SCRU128 or EUID.
func (f *Finder) parse128(form format.Encoding, text []byte, start, end int) (m Match, ok bool) {
	if f.scru128 {
		m, ok = f.parse(format.SCRU128, form, text, start, end)
	}
	if !ok && f.euid {
		m, ok = f.parse(format.EUID, form, text, start, end)
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
	if kinds&^(digit|lowerHex|upperHex) != 0 {
		return Match{}, false
	}
	m, ok := f.parse128(format.UUID, text, start, end)
	if f.only {
		return m, ok
	}
	version := text[start+14]
	standard := version >= '1' && version <= '8' && bytes.IndexByte([]byte("89abAB"), text[start+19]) >= 0
	likely := f.anyUUID.Accept(ok)
	switch {
	case !standard:
		return m, f.uuid.Accept(ok)
	case version == '7' && ok && m.ID.Format() == format.SCRU128:
		m.UUIDv7 = true
		return m, true
	}
	// By its bits a UUID without a time; but one in eight SCRU128 IDs has such bits, too.
	return m, ok && likely
}

// nextUID60 returns the next text of UID60: a run of nine or ten characters of its alphabet
// with a plausible time, in which not all letters but the first are of one case and no
// digit is among them, as in words.
func (f *Finder) nextUID60(text []byte, i int) (Match, bool) {
	for i < len(text) {
		if classes[text[i]] == 0 {
			i++
			continue
		}
		start := i
		for i < len(text) && classes[text[i]] != 0 {
			i++
		}
		if n := i - start; n < 9 || n > 10 || start > 0 && classes[text[start-1]] != 0 {
			continue
		}
		kinds := kindsOf(text[start+1 : i])
		if kinds&digit == 0 && (kinds&lower == 0 || kinds&upper == 0) {
			continue
		}
		if m, ok := f.parse(format.UID60, format.Text, text, start, i); ok {
			return m, true
		}
	}
	return Match{}, false
}
