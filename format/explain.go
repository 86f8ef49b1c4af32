package format

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sortid/sortid"
	"github.com/sortid/sortid/internal/integer"
	"github.com/sortid/sortid/internal/parseerr"
	"github.com/sortid/sortid/internal/spec"
	"github.com/sortid/sortid/internal/textcodec"
	"github.com/sortid/sortid/internal/words"
)

// Explain returns why [Detect] finds nothing in a text. Call it only then. The error can
// match [sortid.ErrUnlike] or [sortid.ErrWithin].
func Explain(text string, now time.Time) *sortid.ParseError {
	return parseerr.Guess(text, explain(text, now))
}

// mostDigits returns how many decimal digits the largest ID of all formats has.
func mostDigits() (n int) {
	for _, f := range spec.All() {
		n = max(n, f.Digits())
	}
	return n
}

func explain(text string, now time.Time) error {
	kinds := textcodec.KindsOf(text)
	n := len(text)
	if order := spec.InOtherOrder(text, now); order != "" {
		return errors.New(order)
	}
	switch {
	case n == 0:
		return parseerr.Kindf(sortid.ErrUnlike, "it is empty")
	case kinds.In(textcodec.Digit) && n > mostDigits():
		return parseerr.Kindf(sortid.ErrUnlike, "it is larger than the largest ID of any format")
	case kinds.In(textcodec.HexDigits) && !kinds.In(textcodec.Digit) && spec.Judgement.Hashes[n] != "":
		return fmt.Errorf("it looks like a hash: "+
			"it has %d hexadecimal digits, as %s has, and no plausible time", n, spec.Judgement.Hashes[n])
	}
	if err := damaged(text, now); err != nil {
		return err
	}
	if err := implausible(text, kinds, now); err != nil {
		return err
	}
	for _, word := range within(text, kinds) {
		for _, c := range AppendDetect(nil, word, now) {
			if c.sure() {
				return parseerr.Kindf(sortid.ErrWithin,
					"other text is around %s, which can be read as %s", c.text(),
					c.ID.spec.Name)
			}
		}
	}
	if kinds.In(textcodec.Digit) {
		return parseerr.Kindf(sortid.ErrUnlike,
			"no format known to sortid has a plausible time in this integer")
	}
	return parseerr.Kindf(sortid.ErrUnlike, "no format known to sortid has such IDs")
}

// within returns the words of a text, and what follows their first hyphens.
func within(text string, kinds textcodec.Kinds) (words []string) {
	if !kinds.Has(textcodec.Other | textcodec.Dash) {
		return nil
	}
	at := 0
	for _, word := range strings.FieldsFunc(text, func(r rune) bool {
		return r > 0x7f || textcodec.KindOf[r] == textcodec.Other
	}) {
		at += strings.Index(text[at:], word)
		end := at + len(word)
		word = text[spec.AfterEscape(text, at):end]
		at = end
		for i, more := 0, word != text; i <= 8; i++ {
			if more {
				words = append(words, word)
			}
			if _, word, more = strings.Cut(word, "-"); !more {
				break
			}
		}
	}
	return words
}

func (c Candidate) sure() bool {
	return c.Encoding != Int && c.ID.spec.Timed(&c.ID.words) != nil && !c.WordLike && !c.ID.spec.Search.Named
}

// implausible explains an ID whose time is implausible, or that no generator makes.
func implausible(text string, kinds textcodec.Kinds, now time.Time) error {
	if len(text) >= len(allWays()) || kinds.In(textcodec.Digit) && len(text) < 16 {
		return nil
	}
	var chosen way
	var w integer.Words
	shown := -1
	for _, way := range allWays()[len(text)] {
		f := way.format
		if !way.fits(text, kinds) || f.Search.WordLike || f.Search.Named && f.FixedBits() < 4 {
			continue
		}
		read, err := f.ParseAs(way.encoding, text)
		if err != nil || f.Search.Mixed && !textcodec.Mixed(text) {
			continue
		}
		shows := f.FixedBits()
		if f.Plausible(&read, now) {
			shows = 1 // no generator makes this version
		}
		if shows > shown {
			chosen, w, shown = way, read, shows
		}
	}
	f := chosen.format
	if f == nil {
		return nil
	}
	as := f.Name
	if f.Generates {
		as += " " + string(chosen.encoding)
	}
	from, to := f.PlausibleRange(now)
	reason := fmt.Sprintf(
		"as %s its time would be %s, which is outside the plausible range, %s to %s",
		as, words.Time(f.Time(&w)), from.Format(time.DateOnly), to.Format(time.DateOnly))
	if f.Plausible(&w, now) {
		reason = fmt.Sprintf("it would be %s, but of a version that no generator makes", as)
	}
	return errors.New(reason + "; --format " + f.Name + " reads it anyway")
}

// damaged explains a text that differs from an ID by one character: added, lost or changed. The ID
// must have a plausible time, or the text must have a wrong check.
func damaged(text string, now time.Time) error {
	for _, f := range spec.All() {
		d := damage{format: f, encoding: f.Encodings[0], now: now}
		if f.Search.WordLike || f.Tick == 0 && f.Within == nil || d.encoding == spec.Int ||
			!strings.HasPrefix(text, f.Search.Prefix) {
			continue
		}
		_, d.text = f.CutPrefix(text)
		d.prefix = text[:len(text)-len(d.text)]
		reason := d.reason()
		if reason != "" && (!f.Search.Mixed || textcodec.Mixed(d.text)) {
			return fmt.Errorf("as %s %s", f.Name, reason)
		}
	}
	return nil
}

// A damage compares a text with the IDs of a format, in its usual encoding.
type damage struct {
	format       *spec.Format
	encoding     spec.Encoding
	prefix, text string
	now          time.Time
}

// reason says which damage the text has, or is empty.
func (d *damage) reason() string {
	lengths := d.format.Text.Lengths
	switch d.encoding {
	case spec.Hex:
		lengths = []int{2 * d.format.Size}
	case spec.UUID:
		lengths = []int{textcodec.UUIDLen}
	}
	n := len(d.text)
	if slices.Contains(lengths, n) { // no symbol was lost or added
		return d.changed()
	}
	for _, want := range lengths {
		switch {
		case n == want-1 && d.lost():
			return fmt.Sprintf("it has %d of %d characters: was one lost?", n, want)
		case n == want+1 && d.plausible(d.text[:n-1]):
			return fmt.Sprintf("it has %d characters, one more than %d: was one added?", n, want)
		}
	}
	return ""
}

// plausible reports whether a text is an ID with a plausible time.
func (d *damage) plausible(text string) bool {
	text = d.prefix + text
	if i := strings.LastIndexByte(text, '-'); i >= 0 && d.format.Text.Suffix != "" {
		text = text[:i] // ignore the check, because a changed text has a wrong check
	}
	w, err := d.format.ParseAs(d.encoding, text)
	return err == nil && d.format.Timed(&w) != nil && d.format.Plausible(&w, d.now)
}

// lost reports whether an ID has one symbol more. It adds the symbol at the end, although the lost
// symbol may be anywhere.
func (d *damage) lost() bool {
	symbols := d.format.Text.Symbols
	return symbols != "" && d.plausible(d.text+symbols[:1]) ||
		d.encoding != spec.Text && d.plausible(d.text+"0")
}

// changed says which character was changed: the only wrong symbol, or any if the check is wrong.
func (d *damage) changed() string {
	at, n := d.wrong()
	switch {
	case n == 1 && d.plausible(d.text[:at]+string(d.standIn())+d.text[at+1:]):
		return fmt.Sprintf("it has %q at offset %d, which is not in the alphabet: %s",
			d.text[at:at+1], len(d.prefix)+at, d.format.Text.Alphabet)
	case n == 0 && d.hasCheck():
		if _, err := d.format.ParseAs(d.encoding, d.prefix+d.text); err != nil {
			return "its check is wrong: was a character changed?"
		}
	}
	return ""
}

func (d *damage) hasCheck() bool {
	rules := &d.format.Text
	return rules.Check != 0 || rules.Suffix != "" && len(d.text) != rules.Lengths[0]
}

// wrong returns the offset of the last wrong symbol, and the number of wrong symbols.
func (d *damage) wrong() (at, n int) {
	rules := &d.format.Text
	for i := range len(d.text) {
		if d.text[i] == '-' && rules.Suffix != "" && i == rules.Lengths[0] {
			continue // the check follows
		}
		if !d.hasSymbol(d.text[i]) {
			at = i
			n++
		}
	}
	return at, n
}

func (d *damage) hasSymbol(c byte) bool {
	if d.encoding != spec.Text {
		return textcodec.KindOf[c].In(textcodec.HexDigits) || c == '-' && d.encoding == spec.UUID
	}
	rules := &d.format.Text
	in := func(symbols string) bool {
		return strings.IndexByte(symbols, c) >= 0 ||
			rules.FoldsCase && textcodec.KindOf[c] != textcodec.Other && strings.IndexByte(symbols, c^0x20) >= 0
	}
	return in(rules.Symbols) || slices.ContainsFunc(rules.Groups,
		func(g spec.TextPart) bool { return in(g.Symbols) || in(g.Before) })
}

// standIn returns a symbol to replace a wrong one.
func (d *damage) standIn() byte {
	if d.encoding != spec.Text {
		return '0'
	}
	symbols := d.format.Text.Symbols
	return symbols[len(symbols)/2]
}
