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
		if m := &f.candidates[i]; f.judge.Accept(m.kind, m.found()) && !yield(m) {
			return
		}
	}
}

// searchRuns finds candidates that end with a run of letters and digits. They can begin before the
// run, but not before text[from] or in another candidate.
func (f *finder) searchRuns(text string, from int) {
	for i := from; ; {
		r, ok := nextRun(text, i, f.shortest, &isAlnum)
		if !ok {
			return
		}
		i = r.end
		if r.len() > maxRun {
			continue
		}
		if m := f.judgeRun(&r, from); m.found() {
			f.candidates = append(f.candidates, m)
			i, from = m.End, m.End
		}
	}
}

// judgeRun returns the ID that ends with a run, which may begin within an escape.
func (f *finder) judgeRun(r *run, from int) match {
	if at := spec.AfterEscape(r.text, r.start); at > r.start {
		rest := run{r.text, at, r.end}
		m := f.judgeWhole(&rest, from)
		// Only behind a percent sign, an escape is not also the start of a word.
		if m.found() || r.text[r.start-1] == '%' {
			return m
		}
	}
	return f.judgeWhole(r, from)
}

func (f *finder) judgeWhole(r *run, from int) match {
	n := r.len()
	if f.ints[n] != nil {
		if m := f.integer(r); m.found() {
			return m
		}
	}
	if f.hex[n] != nil && r.kinds().In(textcodec.HexDigits) {
		return f.number(r)
	}
	for i := range f.texts[n] {
		if m := f.texts[n][i].judge(f, r, from); m.found() {
			return m
		}
	}
	if n == lastGroup && f.uuids != nil {
		return f.uuid(r)
	}
	digits := run{r.text, r.hexStart(), r.end}
	if n := digits.len(); n > 0 && n < r.len() && f.hex[n] != nil &&
		digits.kinds().In(textcodec.HexDigits) {
		return f.number(&digits)
	}
	return match{}
}

// integer returns a decimal integer of one of the named formats.
func (f *finder) integer(r *run) match {
	if !r.kinds().In(textcodec.Digit) || r.text[r.start] == '0' || r.isFraction() {
		return match{}
	}
	for _, s := range f.ints[r.len()] {
		if m := f.parse(s, spec.Int, *r); m.found() {
			return m
		}
	}
	return match{}
}

// number returns a hexadecimal number of full width.
func (f *finder) number(r *run) match {
	if r.kinds().HasCases() {
		return match{}
	}
	var raw [24]byte
	hex.Decode(raw[24-r.len()/2:], []byte(r.String()))
	m := f.first(f.hex[r.len()], spec.Hex, *r, integer.FromBytes(&raw))
	switch {
	case f.only:
		return m
	case m.found() && m.Format.Search.Labelled:
		return m.when(r.isLabelled())
	}
	return f.like(judge.Hash(r.len()), m)
}

// uuid returns a UUID whose last group is the run.
func (f *finder) uuid(r *run) match {
	u := run{r.text, r.start - 24, r.end}
	if u.start < 0 || u.text[u.start+8] != '-' {
		return match{}
	}
	if first, rest := u.wordStarts(); first != u.start && rest != u.start {
		return match{}
	}
	var raw [24]byte
	if textcodec.DecodeUUID((*[16]byte)(raw[8:]), []byte(u.String())) >= 0 {
		return match{}
	}
	m := f.first(f.uuids, spec.UUID, u, integer.FromBytes(&raw))
	if f.only || m.found() && !m.Format.Generates {
		return m
	}
	version, variant := u.text[u.start+14], u.text[u.start+19]
	standard := version >= '1' && version <= '8' && strings.IndexByte("89abAB", variant) >= 0
	kind := judge.Other
	if standard {
		kind = judge.Standard
	}
	return f.like(kind, m)
}

// like returns m with its kind. If there is no match, the judge counts the text.
func (f *finder) like(kind judge.Kind, m match) match {
	m.kind = kind
	if !m.found() {
		f.candidates = append(f.candidates, m)
	}
	return m
}

// when returns m, or no match if m was not accepted.
func (m match) when(accepted bool) match {
	if !accepted {
		return match{}
	}
	return m
}

// judge returns the run as the format's own text. If the alphabet has one case, a text must not mix
// cases. A short text does not count if it is a number such as 0x0123456789, or inside Base64. If no
// format is named, all texts must have a digit, and short texts the case that the format writes.
func (s *textRule) judge(f *finder, r *run, from int) match {
	search, kinds := &s.format.Search, r.kinds()
	switch {
	case !strings.HasPrefix(r.String(), search.Prefix), !kinds.In(s.symbols),
		!s.written.HasCases() && kinds.HasCases(),
		!f.only && !kinds.Has(textcodec.Digit),                   // probably a word
		!f.only && kinds.In(textcodec.HexDigits) && r.len() > 16: // probably a hash
		return match{}
	case s.prefixed():
		return s.judgePrefixed(f, r, from)
	case search.Mixed || s.written.HasCases():
		return s.judgeMixed(f, r, kinds)
	case search.Short && (!f.only && !kinds.In(s.written) || r.isNumber()):
		return match{}
	}
	m := f.parse(s.format, spec.Text, *r)
	return m.when(!search.Short || m.found() && !r.isBesideBase64())
}

// judgeMixed returns a text in which digits and letters, or letters of both cases, alternate.
func (s *textRule) judgeMixed(f *finder, r *run, kinds textcodec.Kinds) match {
	if s.written.HasCases() && !kinds.HasCases() ||
		!textcodec.Mixed(r.String()) || r.isBesideBase64() {
		return match{}
	}
	m := f.parse(s.format, spec.Text, *r)
	if f.only {
		return m
	}
	return f.like(judge.Mixed(r.len()), m)
}

// judgePrefixed returns a text with its prefix. Only texts of named formats may lack the prefix.
func (s *textRule) judgePrefixed(f *finder, r *run, from int) match {
	whole := run{r.text, r.start - 1, r.end}
	if whole.start < from || whole.text[whole.start] != '_' {
		m := f.parse(s.format, spec.Text, *r)
		return m.when(f.only && m.timed != nil)
	}
	for whole.start > from &&
		strings.IndexByte(s.format.Text.Prefix.Symbols, whole.text[whole.start-1]) >= 0 {
		whole.start--
	}
	_, begins := whole.wordStarts()
	if whole.start > begins ||
		s.format.Search.Mixed && !textcodec.Mixed(r.String()) {
		return match{}
	}
	whole.start = begins
	for whole.text[whole.start] == '_' && whole.start < r.start-1 { // as in the markup _order_..._
		whole.start++
	}
	m := f.parse(s.format, spec.Text, whole)
	if !m.found() {
		return m
	}
	for _, n := range s.format.Text.Lengths { // the text can continue with check symbols
		longer := run{r.text, whole.start, r.start + n}
		if longer.end > r.end && longer.end <= len(r.text) &&
			(longer.end == len(r.text) || !inWord[r.text[longer.end]]) {
			if checked := f.parse(s.format, spec.Text, longer); checked.found() {
				return checked
			}
		}
	}
	return m
}

// searchWords finds IDs that are runs of letters, digits, - and _. It skips words. A word has no
// digit, and all its letters after the first have one case.
func (f *finder) searchWords(text string, from int) {
	for i := from; ; {
		r, ok := nextRun(text, i, f.shortestWord, &inWord)
		if !ok {
			return
		}
		i = r.end
		if m := f.judgeWord(&r); m.found() {
			f.candidates = append(f.candidates, m)
		}
	}
}

func (f *finder) judgeWord(r *run) match {
	if r.len() > maxRun || f.words[r.len()] == nil {
		return match{}
	}
	kinds := textcodec.KindsOf(r.text[r.start+1 : r.end])
	if !kinds.Has(textcodec.Digit) && !kinds.HasCases() {
		return match{}
	}
	for _, rule := range f.words[r.len()] {
		if rule.format.Search.Mixed && !textcodec.Mixed(r.String()) {
			continue
		}
		if m := f.parse(rule.format, spec.Text, *r); m.found() {
			return m
		}
	}
	return match{}
}

// parse parses a run as an ID of a format.
func (f *finder) parse(s *spec.Format, e spec.Encoding, r run) match {
	w, err := s.ParseAs(e, r.String())
	if err != nil {
		return match{}
	}
	return f.accept(s, e, r, w)
}

// first returns the integer as an ID of the first of the formats that has it.
func (f *finder) first(rules []hexRule, e spec.Encoding, r run, w integer.Words) match {
	for i := range rules {
		if s := rules[i].format; !rules[i].excludes(&w) && s.Has(w) {
			if m := f.accept(s, e, r, w); m.found() {
				return m
			}
		}
	}
	return match{}
}

// accept returns an ID if it is probably no accident: its time is plausible.
func (f *finder) accept(s *spec.Format, e spec.Encoding, r run, w integer.Words) match {
	m := match{Start: r.start, End: r.end, Format: s, Words: w, Encoding: e, timed: s.Timed(&w)}
	if m.timed == nil {
		return m.when(f.only && s.Generated(&w))
	}
	m.ticks = m.timed.Timestamp(&w)
	return m.when(m.timed.PlausibleTicks(m.ticks, f.now) && s.Generated(&w))
}
