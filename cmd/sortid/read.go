package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sortid/sortid/cmd/sortid/internal/finder"
	"github.com/sortid/sortid/format"
)

// A guess is one way to read a text.
type guess struct{ format.Candidate }

// ours reports whether the ID is of a format that sortid makes, or else only reads.
func (g *guess) ours() bool { return g.ID.Format().Generates() }

// name returns the name of the format.
func (g *guess) name() string {
	if !g.ours() {
		return g.ID.Format().Title
	}
	return g.ID.Format().Name
}

// time returns the ID's time, zero if it has none.
func (g *guess) time() time.Time { return g.ID.Time() }

func (g *guess) text() string { return g.Candidate.String() }

// encoding returns the encoding of the text, of an ID that sortid can write in others.
func (g *guess) encoding() format.Encoding {
	if !g.ours() {
		return ""
	}
	return g.Encoding
}

// as names the format and the encoding.
func (g *guess) as() string {
	if !g.ours() {
		return g.name()
	}
	return g.name() + " " + string(g.Encoding)
}

// shape words what a text that is read so looks like.
func (g *guess) shape() string {
	f := g.ID.Format()
	shape := f.Alphabet
	switch g.Encoding {
	case format.Hex:
		shape = fmt.Sprintf("%d hexadecimal digits", f.Bits/4)
	case format.Int:
		shape = "a decimal integer"
	case format.UUID:
		shape = "a UUID's 36 characters"
	}
	return shape + f.Mark
}

// A reading is a text read as an ID, and what else the text could be.
type reading struct {
	input    string
	stripped []string // what was taken off the input first
	guess
	given  bool           // whether the format was given, and not found out
	others []guess        // other readings, the most probable first
	split  []format.Field // node ID and counter, if they are to be shown instead of their field
	now    time.Time      // when it was read
}

// hashLength is how many hexadecimal digits a SHA-1 has, as the names of Git's commits.
const hashLength = 40

// A reader reads texts: in any encoding of a format, or in all encodings that are plausible if the
// format is nil.
type reader struct {
	format *format.Format
	hashes finder.Ratio // of hashLength hexadecimal digits: hashes or IDs

	candidates []format.Candidate // for reuse
	guesses    []guess
}

// read reads a text. The reading's others are good until the next call.
func (in *reader) read(text string) (reading, error) {
	now := time.Now()
	r := reading{input: text, now: now}
	if s := in.format; s != nil {
		id, encoding, err := s.ParseAny(text)
		if err != nil { // unless it is one as it stands, as uid60's may be
			if text, r.stripped = strip(text); r.stripped != nil {
				id, encoding, err = s.ParseAny(text)
			}
		}
		r.Candidate, r.given = format.Candidate{ID: id, Encoding: encoding}, true
		return r, err
	}
	text, r.stripped = strip(text)
	in.candidates = format.AppendDetect(in.candidates[:0], text, now)
	all := in.guesses[:0]
	for _, c := range in.candidates {
		all = append(all, guess{Candidate: c})
	}
	if len(text) == hashLength && isHex(text) && !in.hashes.Accept(len(all) > 0) && len(all) > 0 {
		return r, fmt.Errorf("%s is probably a hash, as others here are; --format %s reads it all the same", quote(text), all[0].name())
	}
	if len(all) == 0 {
		return r, unreadable(text)
	}
	in.guesses = all
	r.guess, r.others = all[0], all[1:]
	return r, nil
}

// sure returns an error if the reading is a guess that is more than a little likely to be
// wrong: another one is plausible as well, or it is a text of uid60.
func (r *reading) sure() error {
	switch {
	case r.given:
		return nil
	case len(r.others) > 0:
		names := []string{r.as()}
		for i := range r.others {
			names = append(names, r.others[i].as())
		}
		return fmt.Errorf("%s can be read as %s; --format tells which it is", quote(r.input), strings.Join(names, " or as "))
	case r.wordLike():
		return fmt.Errorf("%s looks like a %s, but many words do; --format %[2]s tells that it is one", quote(r.input), r.name())
	}
	return nil
}

// wordLike reports whether the text was read as one that any word of its length may pass for.
func (r *reading) wordLike() bool {
	return r.ID.Format().Search.WordLike && r.Encoding == format.Text
}

// reason says why the text was read so.
func (r *reading) reason() string {
	switch {
	case r.given:
		return "the format was given"
	case r.time().IsZero():
		return r.shape()
	case r.wordLike():
		return r.shape() + ", and its time is plausible, as that of many words is"
	}
	return r.shape() + ", and its time is plausible"
}

func (r *reading) plausible() bool { return r.ID.Plausible(r.now) }

// A readingJSON is a reading in JSON, but for what the ID itself has.
type readingJSON struct {
	Input     string          `json:"input"`
	Encoding  format.Encoding `json:"encoding,omitempty"`
	Stripped  []string        `json:"stripped,omitempty"`
	Plausible bool            `json:"plausible"`
	Reason    string          `json:"reason"`
	Others    []otherJSON     `json:"others"`
}

type otherJSON struct {
	Format   string          `json:"format,omitempty"`
	Foreign  string          `json:"foreign,omitempty"`
	Encoding format.Encoding `json:"encoding,omitempty"`
	Text     string          `json:"text"`
	Time     string          `json:"time,omitempty"`
	Reason   string          `json:"reason"`
}

// appendJSON appends the reading as a JSON object in one line.
func (r *reading) appendJSON(b []byte) ([]byte, error) {
	v := readingJSON{r.input, r.encoding(), r.stripped, r.plausible(), r.reason(), make([]otherJSON, len(r.others))}
	for i := range r.others {
		o := &r.others[i]
		v.Others[i] = otherJSON{Encoding: o.encoding(), Text: o.text(), Time: formatTime(o.time()), Reason: o.shape()}
		if !o.ours() {
			v.Others[i].Foreign = o.name()
		} else {
			v.Others[i].Format = o.name()
		}
	}
	if !r.ours() {
		object, err := json.Marshal(struct {
			Foreign string `json:"foreign"`
			Text    string `json:"text"`
			Time    string `json:"time,omitempty"`
			readingJSON
		}{r.name(), r.text(), formatTime(r.time()), v})
		return append(b, object...), err
	}
	rest, err := json.Marshal(v)
	if err != nil {
		return b, err
	}
	b = r.ID.AppendJSON(b, r.split...)
	return append(append(b[:len(b)-1], ','), rest[1:]...), nil
}

// formatTime is [format.FormatTime], and nothing for no time.
func formatTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return format.FormatTime(t)
}

// unreadable returns the error for a text that is no ID of any format.
func unreadable(text string) error {
	wrong := func(format string, args ...any) error {
		return fmt.Errorf("cannot tell what %s is: %s", quote(text), fmt.Sprintf(format, args...))
	}
	if text == "" {
		return wrong("it is empty")
	}
	var invalid error
	for _, s := range format.Ours() {
		id, encoding, err := s.ParseAny(text)
		switch {
		case err == nil:
			now := time.Now()
			if from, to := s.PlausibleRange(now); !id.Plausible(now) {
				return wrong("as %s %s its time would be %s, which is not plausible (%s to %s); --format %s reads it all the same",
					s.Name, encoding, format.FormatTime(id.Time()), from.Format(time.DateOnly), to.Format(time.DateOnly), s.Name)
			}
			return wrong("it would be %s, but of a version that no generator makes; --format %s reads it all the same", s.Name, s.Name)
		case encoding == format.Int: // too large
		case encoding != format.Text || slices.Contains(s.UsualLengths(), len(text)):
			// As long as an ID of the format, with an error in it.
			invalid = cmp.Or(invalid, err)
		}
	}
	switch {
	case invalid != nil:
		return invalid
	case strings.Trim(text, "0123456789") == "":
		return wrong("it is larger than the largest ID of any format")
	}
	var lengths []string
	for _, s := range format.Ours() {
		lengths = append(lengths, s.Name+" "+s.Lengths())
	}
	return wrong("its length of %d characters fits no format (%s)", len(text), strings.Join(lengths, ", "))
}

// quote returns the start of a text in quotes, as errors show it.
func quote(text string) string {
	if len(text) > 64 {
		return strconv.Quote(text[:64] + "...")
	}
	return strconv.Quote(text)
}
