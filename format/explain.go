package format

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sortid/sortid"
	"github.com/sortid/sortid/internal/parseerr"
	"github.com/sortid/sortid/internal/textcodec"
	"github.com/sortid/sortid/internal/words"
)

var hashes = map[int]string{32: "MD5", 40: "SHA-1", 56: "SHA-224", 64: "SHA-256", 96: "SHA-384",
	128: "SHA-512"}

// Explain returns why [AppendDetect] finds nothing in a text. Call it only then. The error can
// match [sortid.ErrUnlike] or [sortid.ErrWithin].
func Explain(text string, now time.Time) *sortid.ParseError {
	return parseerr.Guess(text, explain(text, now))
}

// mostDigits returns how many decimal digits the largest ID of all formats has.
func mostDigits() (n int) {
	for _, f := range all() {
		n = max(n, f.digits)
	}
	return n
}

func explain(text string, now time.Time) error {
	c := classify(text)
	n := len(text)
	switch {
	case n == 0:
		return parseerr.Kindf(sortid.ErrUnlike, "it is empty")
	case c&classDecimal != 0 && n > mostDigits():
		return parseerr.Kindf(sortid.ErrUnlike, "it is larger than the largest ID of any format")
	case c&classHex != 0 && c&classDecimal == 0 && hashes[n] != "":
		return fmt.Errorf("it looks like a hash: "+
			"it has %d hexadecimal digits, as %s has, and no plausible time", n, hashes[n])
	}
	if err := damaged(text, now); err != nil {
		return err
	}
	if err := implausible(text, c, now); err != nil {
		return err
	}
	var words []string
	if c == 0 {
		words = strings.FieldsFunc(text, func(r rune) bool { return r > 0x7f || classes[r] == 0 })
	}
	for _, word := range words {
		for _, c := range AppendDetect(nil, word, now) {
			if c.sure() {
				return parseerr.Kindf(sortid.ErrWithin,
					"other text is around %s, which can be read as %s", c.text(),
					c.ID.format.Name)
			}
		}
	}
	if c&classDecimal != 0 {
		return parseerr.Kindf(sortid.ErrUnlike,
			"no format known to sortid has a plausible time in this integer")
	}
	return parseerr.Kindf(sortid.ErrUnlike, "no format known to sortid has such IDs")
}

func (c Candidate) sure() bool {
	return c.Encoding != Int && c.ID.timed() != nil && !c.WordLike && !c.ID.format.Search.Named
}

// implausible explains an ID whose time is implausible, or that no generator makes.
func implausible(text string, alphabets class, now time.Time) error {
	if len(text) >= len(allWays()) || alphabets&classDecimal != 0 && len(text) < 16 {
		return nil
	}
	var chosen way
	var id ID
	shown := -1
	for _, way := range allWays()[len(text)] {
		f := way.format
		if !way.fits(text, alphabets) || f.Search.WordLike || f.Search.Named && f.fixedBits() < 4 {
			continue
		}
		read, err := f.ParseAs(way.encoding, text)
		if err != nil || f.Search.Mixed && !textcodec.Mixed(text) {
			continue
		}
		shows := f.fixedBits()
		if read.Plausible(now) {
			shows = 1 // no generator makes this version
		}
		if shows > shown {
			chosen, id, shown = way, read, shows
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
		as, words.Time(id.Time()), from.Format(time.DateOnly), to.Format(time.DateOnly))
	if id.Plausible(now) {
		reason = fmt.Sprintf("it would be %s, but of a version that no generator makes", as)
	}
	return errors.New(reason + "; --format " + f.Name + " reads it anyway")
}

// damaged explains a text that differs from an ID by one character: added, lost or changed. The ID
// must have a plausible time, or the text must have a wrong check.
func damaged(text string, now time.Time) error {
	plausible := func(f *Format, e Encoding, text string) bool {
		if i := strings.LastIndexByte(text, '-'); i >= 0 && f.Text.suffix != "" {
			text = text[:i] // ignore the check, because a changed text has a wrong check
		}
		id, err := f.ParseAs(e, text)
		return err == nil && id.timed() != nil && id.Plausible(now)
	}
	for _, f := range all() {
		if f.Search.WordLike || f.Tick == 0 && f.Within == nil ||
			!strings.HasPrefix(text, f.Search.Prefix) {
			continue
		}
		e := f.Encodings[0]
		lengths := f.Text.Lengths
		switch one := [1]int{textcodec.UUIDLen}; e {
		case Int:
			continue
		case Hex:
			one[0] = 2 * f.Size
			fallthrough
		case UUID:
			lengths = one[:]
		}
		_, rest := f.cutPrefix(text)
		if f.Search.Mixed && !textcodec.Mixed(rest) {
			continue
		}
		prefix := text[:len(text)-len(rest)]
		if slices.Contains(lengths, len(rest)) {
			lengths = []int{len(rest)} // no symbol was lost or added
		}
		for _, want := range lengths {
			said := func(reason string, args ...any) error {
				return fmt.Errorf("as %s "+reason, append([]any{f.Name}, args...)...)
			}
			switch len(rest) {
			case want - 1:
				// Add a symbol at the end, although the lost symbol may be anywhere.
				if f.Text.Symbols != "" && plausible(f, e, text+f.Text.Symbols[:1]) ||
					e != Text && plausible(f, e, text+"0") {
					return said("it has %d of %d characters: was one lost?", len(rest), want)
				}
			case want + 1:
				if plausible(f, e, text[:len(text)-1]) {
					return said("it has %d characters, one more than %d: was one added?", len(rest),
						want)
				}
			case want:
				// Replace one wrong symbol.
				i, n := wrong(f, e, rest)
				if n == 1 {
					if fixed := prefix + rest[:i] + string(standIn(f, e)) + rest[i+1:]; plausible(f,
						e, fixed) {
						return said("it has %q at offset %d, which is not in the alphabet: %s",
							rest[i:i+1], len(prefix)+i, f.Text.Alphabet)
					}
				} else if _, err := f.checked(e, text, n, want); err != nil {
					return said("its check is wrong: was a character changed?")
				}
			}
		}
	}
	return nil
}

// checked parses a text if it has a check and no wrong symbols. Otherwise it returns no error.
func (f *Format) checked(e Encoding, text string, wrong, length int) (ID, error) {
	if wrong > 0 || f.Text.Check == 0 && (f.Text.suffix == "" || length == f.Text.Lengths[0]) {
		return ID{}, nil
	}
	return f.ParseAs(e, text)
}

// wrong returns the offset of the last wrong symbol, and the number of wrong symbols.
func wrong(f *Format, e Encoding, text string) (at, n int) {
	for i := range len(text) {
		if text[i] == '-' && f.Text.suffix != "" && i == f.Text.Lengths[0] {
			continue // the check follows
		}
		if !f.hasSymbol(e, text[i]) {
			at = i
			n++
		}
	}
	return at, n
}

func (f *Format) hasSymbol(e Encoding, c byte) bool {
	if e != Text {
		return classes[c]&classHex != 0 || c == '-' && e == UUID
	}
	in := func(symbols string) bool {
		return strings.IndexByte(symbols, c) >= 0 ||
			f.Text.FoldsCase && classes[c] != 0 && strings.IndexByte(symbols, c^0x20) >= 0
	}
	return in(f.Text.Symbols) || slices.ContainsFunc(f.Text.groups,
		func(g textPart) bool { return in(g.Symbols) || in(g.Before) })
}

func standIn(f *Format, e Encoding) byte {
	if e != Text {
		return '0'
	}
	return f.Text.Symbols[len(f.Text.Symbols)/2]
}

func (f *Format) fixedBits() (n int) {
	for _, field := range f.Layout {
		if field.Kind == KindFixed {
			n += field.Bits
		}
	}
	return n
}
