// Package inspect guesses the format of a text, gives a reason, and lists other possible formats.
package inspect

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sortid/sortid"
	"github.com/sortid/sortid/cmd/sortid/internal/judge"
	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/internal/spec"
	"github.com/sortid/sortid/internal/words"
)

// A Guess is one way to read a text.
type Guess struct{ format.Candidate }

// Ours reports whether sortid makes IDs of the format.
func (g Guess) Ours() bool { return g.ID.Format().Generates() }

func (g *Guess) Name() string { return g.ID.Format().Name() }

func (g *Guess) Time() time.Time { return g.ID.Time() }

func (g *Guess) Text() string { return g.Prefix + g.ID.String() }

// textIn returns the ID in an encoding, or "" if the format lacks it. It overwrites the buffer
// scratch.
func (g *Guess) textIn(e format.Encoding, scratch []byte) string {
	if !slices.Contains(g.ID.Format().Encodings(), e) {
		return ""
	}
	return string(g.ID.Append(scratch[:0], e))
}

func (g *Guess) As() string { return g.Name() + " " + string(g.Encoding) }

// Shape says what texts of the encoding look like.
func (g *Guess) Shape() string {
	f := g.ID.Format()
	shape := spec.Of(f).Text.Alphabet
	switch g.Encoding {
	case format.Hex:
		shape = fmt.Sprintf("%d hexadecimal digits", 2*f.Size())
	case format.Int:
		shape = "a decimal integer"
	case format.UUID:
		shape = "a UUID's 36 characters"
	}
	return shape + spec.Of(f).Text.Mark
}

// A Reading is a text that was read as an ID, and other IDs that it could be.
type Reading struct {
	Input    string
	Stripped []string // What was removed from Input.
	Guess
	Given  bool           // The format was named, not guessed.
	Others []Guess        // The most probable is first.
	Split  []format.Field // Node ID and counter, to show instead of their common field.
	now    time.Time      // When it was read.
	bare   string         // Input without what was removed.
	chance float64        // See [spec.Format.Chance].
	number number         // What Input was, if it was a number of a program.
}

// hashLength is the number of hexadecimal digits of a SHA-1.
const hashLength = 40

// A Reader reads texts as IDs of Format, in the encoding From, in one of the Bases or of the Orders.
// If Format is nil, it guesses the format. If From is empty, it reads all encodings.
type Reader struct {
	Format *format.Format
	From   format.Encoding

	// Judge has counted texts with hashLength digits, and UUIDs.
	Judge judge.Judge

	candidates []format.Candidate // for reuse
	guesses    []Guess
}

// Read sets r to the reading of a text at the time now. r.Others is valid until the next call. If
// Format is set, goroutines may share the Reader.
func (in *Reader) Read(r *Reading, text string, now time.Time) error {
	*r = Reading{}
	r.Input, r.now = text, now
	switch {
	case slices.Contains(Bases, string(in.From)):
		return in.readBase(r)
	case slices.Contains(Orders, string(in.From)):
		return in.readOrder(r)
	case in.Format != nil:
		return in.parseGiven(r)
	}
	err := in.guess(r)
	if err == nil && in.From != "" {
		err = r.keep(in.From)
	}
	return err
}

func (in *Reader) guess(r *Reading) error {
	var text string
	text, r.Stripped, r.number = strip(r.Input)
	in.candidates = format.AppendDetect(in.candidates[:0], text, r.now)
	all := in.guesses[:0]
	for _, c := range in.candidates {
		all = append(all, Guess{Candidate: c})
	}
	if len(text) == hashLength && isHex(text) && !in.Judge.Accept(judge.Hash(hashLength), len(all) > 0) && len(all) > 0 {
		return fmt.Errorf(
			"%s is probably a hash, like other texts of the input; use --format %s if it is an ID",
			Quote(text), all[0].Name())
	}
	if len(all) == 0 {
		return r.aboutSign(unreadable(text, r.now))
	}
	if len(text) == uuidLength {
		in.judgeUUID(all)
	}
	in.guesses = all
	r.choose(all, text)
	return nil
}

// aboutSign appends what a negative number is to an error.
func (r *Reading) aboutSign(err error) error {
	if err == nil || !r.number.signed {
		return err
	}
	return fmt.Errorf("%w; %s is %s", err, r.Input, r.number.note(format.ID{}))
}

// choose sets the first of the guesses for a text.
func (r *Reading) choose(all []Guess, text string) {
	r.Guess, r.Others = all[0], all[1:]
	r.bare = text
	r.chance = spec.Of(r.ID.Format()).Chance(spec.Encoding(r.Encoding), text, len(r.Prefix))
}

// Time returns the time of an ID. If the ID is not in the reader's format, Time guesses the format.
func (in *Reader) Time(text string) (time.Time, error) {
	now := time.Now()
	var r Reading
	err := in.Read(&r, text, now)
	if err != nil && in.Format != nil {
		err = new(Reader).Read(&r, text, now)
	}
	switch {
	case err != nil:
		return time.Time{}, err
	case r.Time().IsZero():
		return time.Time{}, fmt.Errorf("%s is %s, which has no time in it", Quote(text), r.As())
	}
	return r.Time(), r.Exact()
}

// parseGiven parses the input. It first tries the unchanged input, because the function strip
// could damage a uid60.
func (in *Reader) parseGiven(r *Reading) (err error) {
	r.Given = true
	if err = in.parse(r, r.Input); err != nil {
		var bare string
		if bare, r.Stripped, r.number = strip(r.Input); r.Stripped != nil {
			err = r.aboutSign(in.parse(r, bare))
		}
		if errors.Is(err, sortid.ErrLayout) {
			err = otherVersion(r.Input, in.Format, err)
		}
	}
	return err
}

func (in *Reader) parse(r *Reading, text string) (err error) {
	if in.From == "" {
		r.Candidate, err = in.Format.Read(text)
		return err
	}
	r.Encoding = in.From
	if r.ID, err = in.Format.ParseAs(in.From, text); err != nil {
		c, wrong := in.Format.Read(text)
		if wrong == nil && c.Prefix != "" && c.Encoding == in.From {
			r.Candidate, err = c, nil
		}
	}
	return err
}

// otherVersion returns an error that names the version of the text, if it is the only difference.
func otherVersion(text string, given *format.Format, err error) error {
	want, ok := version(given)
	for _, f := range format.All() {
		if has, versioned := version(f); ok && versioned && f.Size() == given.Size() {
			if _, wrong := f.Read(text); wrong == nil {
				return fmt.Errorf("%s: cannot parse %s: it is a %s (version %d, want %d)",
					given.Name(), Quote(text), f.Title(), has, want)
			}
		}
	}
	return err
}

// version returns the version that all IDs of a format have.
func version(f *format.Format) (v uint64, ok bool) {
	for _, field := range spec.Of(f).Layout {
		if field.Kind == spec.KindFixed && field.Name == "version" {
			return field.Value, true
		}
	}
	return 0, false
}

// keep keeps only the readings in an encoding.
func (r *Reading) keep(e format.Encoding) error {
	fit := slices.DeleteFunc(append([]Guess{r.Guess}, r.Others...),
		func(g Guess) bool { return g.Encoding != e })
	if slices.ContainsFunc(fit, Guess.Ours) { // any UUID or number could be an ID of another format
		fit = slices.DeleteFunc(fit, func(g Guess) bool { return !g.Ours() })
	}
	if len(fit) == 0 {
		return fmt.Errorf("no format reads %s as %s with a plausible time, only as %s; "+
			"use --format to choose a format", Quote(r.Input), e, r.As())
	}
	r.choose(fit, r.bare)
	return nil
}

const uuidLength = 36

// judgeUUID moves the guess of one of our formats to the front if "sortid scan" would choose it.
func (in *Reader) judgeUUID(all []Guess) {
	i := slices.IndexFunc(all, Guess.Ours)
	kind := judge.Other
	if !all[0].Ours() {
		kind = judge.Standard
	}
	if in.Judge.Accept(kind, i >= 0) && kind == judge.Standard && all[0].Time().IsZero() {
		own := all[i]
		copy(all[1:i+1], all[:i])
		all[0] = own
	}
}

// Found returns the reading of an ID that was found in a text. The parameter given says whether
// its format was named.
func Found(id format.ID, e format.Encoding, text string, given bool, now time.Time) Reading {
	c := format.Candidate{ID: id, Encoding: e,
		WordLike: spec.Of(id.Format()).Search.WordLike && e == format.Text}
	return Reading{Input: text, Guess: Guess{c}, Given: given, now: now}
}

// Sure returns an error if there is another plausible reading, or the text looks like a word.
func (r *Reading) Sure() error {
	switch {
	case r.Given:
		return nil
	case len(r.Others) > 0:
		names := []string{r.As()}
		for i := range r.Others {
			names = append(names, r.Others[i].As())
		}
		return fmt.Errorf("%s can be read as %s; use --format to choose one", Quote(r.Input),
			strings.Join(names, " or as "))
	case r.WordLike:
		return fmt.Errorf(
			"%s looks like a %s, but many words do; use --format %[2]s if it is one",
			Quote(r.Input), r.Name())
	}
	return nil
}

// Exact returns an error with the time if the input is a number that may have been rounded.
func (r *Reading) Exact() error {
	if !r.number.rounded() {
		return nil
	}
	at := ""
	if t := r.Time(); !t.IsZero() {
		at = ": " + FormatTime(t)
	}
	return fmt.Errorf("%s is %s%s", Quote(r.Input), r.number.note(r.ID), at)
}

// note says what the number is if it is not exactly the ID, or that a UUID without a time has one in
// another order of its bytes.
func (r *Reading) note() string {
	if note := r.number.note(r.ID); note != "" {
		return note
	}
	if r.Given || r.bare == "" || !r.Time().IsZero() {
		return ""
	}
	return spec.InOtherOrder(r.bare, r.now)
}

// Notes returns remarks about the ID and about its number.
func (r *Reading) Notes() []string {
	notes := r.ID.Notes()
	if note := r.note(); note != "" {
		notes = append(notes, note)
	}
	return notes
}

// Doubtful reports whether the number may have been rounded; or the format was guessed, and another
// reading has another time or many other texts have this reading.
func (r *Reading) Doubtful() bool {
	return r.number.rounded() || !r.Given && (r.isCommon() ||
		slices.ContainsFunc(r.Others, func(g Guess) bool { return !g.Time().Equal(r.Time()) }))
}

// isCommon reports whether many other texts have this reading.
func (r *Reading) isCommon() bool { return r.WordLike || r.chance >= spec.Judgement.Doubt }

// Agreed returns the ID in an encoding if all readings are the same there, and "" otherwise. Formats
// that have no such encoding must have the same number.
func (r *Reading) Agreed(e format.Encoding) (text string) {
	for _, g := range append([]Guess{r.Guess}, r.Others...) {
		own := g.textIn(e, nil)
		switch {
		case own == "" && (e == format.Text || g.ID.Words() != r.ID.Words()):
			return ""
		case own == "":
		case text != "" && own != text:
			return ""
		default:
			text = own
		}
	}
	return text
}

// AppendTime appends the time. It fails if readings have different times, or if the only
// reading is not [Reading.Sure].
func (r *Reading) AppendTime(b []byte) ([]byte, error) {
	t := r.Time()
	if err := r.Exact(); err != nil {
		return b, err
	}
	if r.Doubtful() {
		if err := r.Sure(); err != nil {
			return b, err
		}
	}
	if t.IsZero() {
		return b, fmt.Errorf("%s is %s, which has no time in it", Quote(r.Input), r.As())
	}
	return words.AppendTime(b, t), nil
}

// Reason says why the text was read in this way.
func (r *Reading) Reason() string { return string(r.appendReason(nil)) }

func (r *Reading) appendReason(b []byte) []byte {
	if r.Given {
		return append(b, "the format was given"...)
	}
	b = append(b, r.Shape()...)
	if !r.Time().IsZero() {
		b = append(b, ", and its time is plausible"...)
	}
	switch {
	case r.WordLike:
		b = append(b, ", but many words look like that"...)
	case r.isCommon():
		b = strconv.AppendFloat(append(b, ", but "...), 100*r.chance, 'g', 3, 64)
		b = append(b, " % of random texts like it have this reading"...)
	}
	return b
}

func (r *Reading) Plausible() bool { return r.ID.Plausible(r.now) }

func unreadable(text string, now time.Time) error {
	err := format.Explain(text, now)
	if errors.Is(err, sortid.ErrWithin) {
		return fmt.Errorf("%w; \"sortid scan\" finds IDs in text", err)
	}
	return err
}

// Unlike reports whether a text could not be read because it resembles no ID.
func Unlike(err error) bool { return errors.Is(err, sortid.ErrUnlike) }

// Quote returns the start of a text in quotes, for errors.
func Quote(text string) string {
	if len(text) > 64 {
		return strconv.Quote(text[:64] + "...")
	}
	return strconv.Quote(text)
}

// FormatTime is [words.Time], but returns "" for the zero time.
func FormatTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return words.Time(t)
}
