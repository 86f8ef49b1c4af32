package scan

import (
	"encoding/hex"
	"iter"
	"slices"
	"strings"

	"github.com/sortid/sortid/cmd/sortid/internal/judge"
	"github.com/sortid/sortid/internal/integer"
	"github.com/sortid/sortid/internal/spec"
	"github.com/sortid/sortid/internal/textcodec"
)

// find returns the IDs in text[from:], in order. text[:from] is context. The text must not end
// within a word.
func (f *finder) find(text string, from int) iter.Seq[*match] {
	return func(yield func(*match) bool) {
		f.search(text, from)
		f.judged(yield)
	}
}

// search finds the candidates in text[from:], which does not depend on other texts. If a word is an
// ID, it ignores the IDs in it.
func (f *finder) search(text string, from int) {
	f.candidates = f.candidates[:0]
	if f.shortestWord > 0 {
		f.searchWords(text, from)
	}
	words := len(f.candidates)
	f.searchRuns(text, from)
	if words > 0 { // so formats are named, and nothing is judged
		slices.SortStableFunc(f.candidates, func(a, b match) int { return a.Start - b.Start })
		end := 0
		f.candidates = slices.DeleteFunc(f.candidates, func(m match) bool {
			inside := m.Start < end
			end = max(end, m.End)
			return inside
		})
	}
}

// judged calls yield with the candidates that are IDs.
func (f *finder) judged(yield func(*match) bool) {
	for i := range f.candidates {
		m := &f.candidates[i]
		if (m.kind == judge.None || f.judge.Accept(m.kind, m.found())) && !yield(m) {
			return
		}
	}
}

// searchRuns finds candidates that end with a run of letters and digits. They can begin before the
// run, but not before text[from] or in another candidate.
func (f *finder) searchRuns(text string, from int) {
	var m match
	for i := from; ; {
		r, ok := nextRun(text, i, f.shortest, &isAlnum)
		if !ok {
			return
		}
		i = r.end
		if r.len() > maxRun {
			continue
		}
		if f.judgeRun(&m, &r, from) {
			f.candidates = append(f.candidates, m)
			i, from = m.End, m.End
		}
	}
}

// judgeRun sets m to the ID that ends with a run, which may begin within an escape. It reports
// whether there is one, as all functions here do. Returning m would copy it often.
func (f *finder) judgeRun(m *match, r *run, from int) bool {
	if at := spec.AfterEscape(r.text, r.start); at > r.start {
		rest := run{r.text, at, r.end}
		found := f.judgeWhole(m, &rest, from)
		// Only behind a percent sign, an escape is not also the start of a word.
		if found || r.text[r.start-1] == '%' {
			return found
		}
	}
	return f.judgeWhole(m, r, from)
}

func (f *finder) judgeWhole(m *match, r *run, from int) bool {
	n := r.len()
	if f.ints[n] != nil && f.integer(m, r) {
		return true
	}
	if f.hex[n] != nil && r.kinds().In(textcodec.HexDigits) {
		return f.number(m, r)
	}
	for i := range f.texts[n] {
		if f.texts[n][i].judge(f, m, r, from) {
			return true
		}
	}
	if n == lastGroup && f.uuids != nil {
		return f.uuid(m, r)
	}
	digits := run{r.text, r.hexStart(), r.end}
	n = digits.len()
	return n > 0 && n < r.len() && f.hex[n] != nil && digits.kinds().In(textcodec.HexDigits) &&
		f.number(m, &digits)
}

// integer finds a decimal integer of one of the named formats.
func (f *finder) integer(m *match, r *run) bool {
	if !r.kinds().In(textcodec.Digit) || r.text[r.start] == '0' || r.isFraction() {
		return false
	}
	for _, s := range f.ints[r.len()] {
		if f.parse(m, s, spec.Int, r) {
			return true
		}
	}
	return false
}

// number finds a hexadecimal number of full width.
func (f *finder) number(m *match, r *run) bool {
	if r.kinds().HasCases() {
		return false
	}
	var raw [24]byte
	hex.Decode(raw[24-r.len()/2:], []byte(r.String()))
	found := f.first(m, f.hex[r.len()], spec.Hex, r, integer.FromBytes(&raw))
	switch {
	case f.only:
		return found
	case found && m.Format.Search.Labelled:
		return r.isLabelled()
	}
	return f.like(judge.Hash(r.len()), m, found)
}

// uuid finds a UUID whose last group is the run.
func (f *finder) uuid(m *match, r *run) bool {
	u := run{r.text, r.start - 24, r.end}
	if u.start < 0 || u.text[u.start+8] != '-' {
		return false
	}
	if first, rest := u.wordStarts(); first != u.start && rest != u.start {
		return false
	}
	var raw [24]byte
	if textcodec.DecodeUUID((*[16]byte)(raw[8:]), []byte(u.String())) >= 0 {
		return false
	}
	found := f.first(m, f.uuids, spec.UUID, &u, integer.FromBytes(&raw))
	if f.only || found && !m.Format.Generates {
		return found
	}
	version, variant := u.text[u.start+14], u.text[u.start+19]
	standard := version >= '1' && version <= '8' && strings.IndexByte("89abAB", variant) >= 0
	kind := judge.Other
	if standard {
		kind = judge.Standard
	}
	return f.like(kind, m, found)
}

// like sets the kind of m. If no ID was found, the judge only counts the text.
func (f *finder) like(kind judge.Kind, m *match, found bool) bool {
	m.kind = kind
	if !found {
		f.candidates = append(f.candidates, match{kind: kind})
	}
	return found
}

// judge reads the run as the format's own text. If the alphabet has one case, a text must not mix
// cases. A short text does not count if it is a number such as 0x0123456789, or inside Base64. If no
// format is named, all texts must have a digit, and short texts the case that the format writes.
func (s *textRule) judge(f *finder, m *match, r *run, from int) bool {
	search, kinds := &s.format.Search, r.kinds()
	switch {
	case !strings.HasPrefix(r.String(), search.Prefix), !kinds.In(s.symbols),
		!s.written.HasCases() && kinds.HasCases(),
		!f.only && !kinds.Has(textcodec.Digit),                   // probably a word
		!f.only && kinds.In(textcodec.HexDigits) && r.len() > 16: // probably a hash
		return false
	case s.prefixed():
		return s.judgePrefixed(f, m, r, from)
	case search.Mixed || s.written.HasCases():
		return s.judgeMixed(f, m, r, kinds)
	case search.Short && (!f.only && !kinds.In(s.written) || r.isNumber()):
		return false
	}
	return f.parse(m, s.format, spec.Text, r) && !(search.Short && r.isBesideBase64())
}

// judgeMixed reads a text in which digits and letters, or letters of both cases, alternate.
func (s *textRule) judgeMixed(f *finder, m *match, r *run, kinds textcodec.Kinds) bool {
	if s.written.HasCases() && !kinds.HasCases() ||
		!textcodec.Mixed(r.String()) || r.isBesideBase64() {
		return false
	}
	found := f.parse(m, s.format, spec.Text, r)
	if f.only {
		return found
	}
	return f.like(judge.Mixed(r.len()), m, found)
}

// judgePrefixed reads a text with its prefix. Only texts of named formats may lack the prefix.
func (s *textRule) judgePrefixed(f *finder, m *match, r *run, from int) bool {
	whole := run{r.text, r.start - 1, r.end}
	if whole.start < from || whole.text[whole.start] != '_' {
		return f.only && f.parse(m, s.format, spec.Text, r) && m.timed != nil
	}
	for whole.start > from &&
		strings.IndexByte(s.format.Text.Prefix.Symbols, whole.text[whole.start-1]) >= 0 {
		whole.start--
	}
	_, begins := whole.wordStarts()
	if whole.start > begins ||
		s.format.Search.Mixed && !textcodec.Mixed(r.String()) {
		return false
	}
	whole.start = begins
	for whole.text[whole.start] == '_' && whole.start < r.start-1 { // as in the markup _order_..._
		whole.start++
	}
	if !f.parse(m, s.format, spec.Text, &whole) {
		return false
	}
	for _, n := range s.format.Text.Lengths { // the text can continue with check symbols
		longer := run{r.text, whole.start, r.start + n}
		if longer.end > r.end && longer.end <= len(r.text) &&
			(longer.end == len(r.text) || !inWord[r.text[longer.end]]) {
			if f.parse(m, s.format, spec.Text, &longer) {
				break
			}
		}
	}
	return true
}

// searchWords finds IDs that are runs of letters, digits, - and _. It skips words. A word has no
// digit, and all its letters after the first have one case.
func (f *finder) searchWords(text string, from int) {
	var m match
	for i := from; ; {
		r, ok := nextRun(text, i, f.shortestWord, &inWord)
		if !ok {
			return
		}
		i = r.end
		if f.judgeWord(&m, &r) {
			f.candidates = append(f.candidates, m)
		}
	}
}

func (f *finder) judgeWord(m *match, r *run) bool {
	if r.len() > maxRun || f.words[r.len()] == nil {
		return false
	}
	kinds := textcodec.KindsOf(r.text[r.start+1 : r.end])
	if !kinds.Has(textcodec.Digit) && !kinds.HasCases() {
		return false
	}
	for _, rule := range f.words[r.len()] {
		if rule.format.Search.Mixed && !textcodec.Mixed(r.String()) {
			continue
		}
		if f.parse(m, rule.format, spec.Text, r) {
			return true
		}
	}
	return false
}

// parse parses a run as an ID of a format. If it is none, it does not change m.
func (f *finder) parse(m *match, s *spec.Format, e spec.Encoding, r *run) bool {
	w, err := s.ParseAs(e, r.String())
	return err == nil && f.accept(m, s, e, r, &w)
}

// first reads the integer as an ID of the first of the formats that has it.
func (f *finder) first(m *match, rules []hexRule, e spec.Encoding, r *run, w integer.Words) bool {
	for i := range rules {
		if s := rules[i].format; !rules[i].excludes(&w) && s.Has(w) && f.accept(m, s, e, r, &w) {
			return true
		}
	}
	return false
}

// accept sets m to an ID if it is probably no accident: its time is plausible.
func (f *finder) accept(m *match, s *spec.Format, e spec.Encoding, r *run, w *integer.Words) bool {
	timed, ticks := s.Timed(w), uint64(0)
	if timed == nil {
		if !f.only {
			return false
		}
	} else if ticks = timed.Timestamp(w); !timed.PlausibleTicks(ticks, f.now) {
		return false
	}
	if !s.Generated(w) {
		return false
	}
	*m = match{Start: r.start, End: r.end, Format: s, Words: *w, Encoding: e, timed: timed,
		ticks: ticks}
	return true
}
