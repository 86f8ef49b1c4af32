package verify

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/internal/gencore"
	"github.com/sortid/sortid/internal/integer"
	"github.com/sortid/sortid/internal/spec"
	"github.com/sortid/sortid/internal/textcodec"
	"github.com/sortid/sortid/internal/words"
	"github.com/sortid/sortid/verify/internal/sample"
	"github.com/sortid/sortid/verify/report"
)

// A Guess is what [Detect] learns of an input's format from the input's first lines.
type Guess struct {
	Format string // the most probable format, or empty if the lines do not show it
	Open   bool   // more lines can show another format

	// If Format is empty, Nearest has at most three formats, the most probable first. Reason says why
	// none of them is sure. Integers says that nearly all lines are integers of these formats.
	Nearest  []string
	Reason   string
	Integers bool
}

const (
	// Detect tries all formats for at most detectLines lines.
	detectLines = 512
	// From fewLines lines on, a time that is plausible in all lines is no chance.
	fewLines   = 4
	maxNearest = 3
)

// Detect guesses the format of the IDs in head, the first lines of an input. It guesses only this
// module's formats if the IDs are integers, because integers of many other formats look alike.
func Detect(head []byte) Guess {
	found := newSurvey(head)
	all := found.common()
	common := slices.DeleteFunc(slices.Clone(all), func(k *seen) bool {
		return k.integers && !k.f.Generates
	})
	switch {
	case len(all) == 0:
		return found.unknown()
	case len(common) == 0 || found.lines >= fewLines && common[0].mistaken(all, head):
		return found.ambiguous(all)
	case len(common) == 1:
		return Guess{Format: common[0].f.Name}
	case found.lines < fewLines:
		return Guess{Format: common[0].f.Name, Open: true}
	}
	best, open := common[0], false
	for _, k := range common[1:] {
		if better, more := k.beats(best, head); better {
			best, open = k, false
		} else {
			open = open || more
		}
	}
	return Guess{Format: best.f.Name, Open: open}
}

// The type seen has what a survey has seen of a format.
type seen struct {
	f        *spec.Format
	lines    int  // Lines that may be IDs of the format.
	rank     int  // The sum of the positions among the candidates of these lines.
	timed    int  // Lines whose IDs have a time.
	integers bool // The lines are integers.
}

type survey struct {
	texts   int     // Lines that are not empty.
	lines   int     // Lines that may be IDs.
	formats []*seen // The formats of these lines.
	first   string  // The first line that may be an ID, or else the first line.
}

func newSurvey(head []byte) (s survey) {
	now := time.Now()
	for line := range bytes.Lines(head) {
		text, _ := textcodec.CutHexPrefix(bytes.TrimSpace(line))
		candidates := format.AppendDetect(nil, string(text), now)
		if s.first == "" || s.lines == 0 && len(candidates) > 0 {
			s.first = string(text)
		}
		for rank, c := range candidates {
			s.see(spec.Of(c.ID.Format()), string(text), rank, !c.ID.Time().IsZero())
		}
		isV4 := isV4Hex(string(text))
		if isV4 {
			s.see(v4(), string(text), len(candidates), false)
		}
		if len(text) > 0 {
			s.texts++
		}
		if len(candidates) > 0 || isV4 {
			s.lines++
		}
		if s.lines == detectLines {
			break
		}
	}
	return s
}

var v4 = sync.OnceValue(func() *spec.Format { return gencore.Must(spec.Lookup("uuidv4")) })

// isV4Hex reports whether a text is a UUIDv4 without hyphens. format.Detect does not say so, because
// a hash can look like one UUIDv4. A stream of hashes cannot.
func isV4Hex(text string) bool {
	if len(text) != 2*v4().Size {
		return false
	}
	_, err := v4().ParseAs(spec.Hex, text)
	return err == nil
}

// see notes that a text may be an ID of a format, which has a rank among the text's formats.
func (s *survey) see(f *spec.Format, text string, rank int, timed bool) {
	if !sample.Verifiable(f) {
		return
	}
	i := slices.IndexFunc(s.formats, func(k *seen) bool { return k.f == f })
	if i < 0 {
		i = len(s.formats)
		s.formats = append(s.formats, &seen{f: f})
	}
	k := s.formats[i]
	k.lines++
	k.rank += rank
	if timed {
		k.timed++
	}
	k.integers = textcodec.KindsOf(text).In(textcodec.Digit)
}

// common returns the formats of nearly all lines that may be IDs, the most probable first.
func (s *survey) common() (all []*seen) {
	most := 0
	for _, k := range s.formats {
		most = max(most, k.lines)
	}
	if 8*most < s.texts {
		return nil // some hashes have a plausible time by chance
	}
	for _, k := range s.formats {
		if 10*k.lines >= 9*most {
			all = append(all, k)
		}
	}
	slices.SortStableFunc(all, func(a, b *seen) int { return a.rank*b.lines - b.rank*a.lines })
	return all
}

// ambiguous is the guess if all lines are integers of other projects' formats.
func (s *survey) ambiguous(formats []*seen) Guess {
	g := Guess{Integers: true}
	var readings []string
	for _, k := range formats[:min(len(formats), maxNearest)] {
		g.Nearest = append(g.Nearest, k.f.Name)
		if w, err := k.f.ParseAs(spec.Int, s.first); err == nil {
			readings = append(readings,
				k.f.Name+" from "+k.f.Time(&w).Format(time.DateOnly))
		}
	}
	g.Reason = fmt.Sprintf("%s can be %s", s.first, words.List(readings, "or"))
	return g
}

// unknown is the guess if no line may be an ID.
func (s *survey) unknown() (g Guess) {
	for _, f := range spec.Nearest(s.first) {
		if sample.Verifiable(f) && len(g.Nearest) < maxNearest {
			g.Nearest = append(g.Nearest, f.Name)
		}
	}
	g.Reason = fmt.Sprintf("%.40q is no ID of a known format; "+
		"by length and alphabet, the nearest are %s", s.first, words.List(g.Nearest, "and"))
	return g
}

// mistaken reports whether the integers have many faults in the format k, and another format is
// more probable, or has nearly the same times and fewer faults.
func (k *seen) mistaken(all []*seen, head []byte) bool {
	return k.integers && k.fails(head) && slices.ContainsFunc(all, func(other *seen) bool {
		near := other.rank <= k.rank+2*k.lines
		return !other.f.Generates && (other.rank < k.rank || near && !other.fails(head))
	})
}

// fails reports whether one of ten IDs or more has a fault.
func (k *seen) fails(head []byte) bool {
	r, err := Check(context.Background(), k.f.Name, bytes.NewReader(head), Options{})
	return err != nil || slices.ContainsFunc(r.Failed(), func(c report.Outcome) bool {
		return c.Group() == "random" || 10*c.Count >= r.IDs
	})
}

// beats reports whether k explains the lines better than the format best, which is more probable at
// first sight. The result open says that more lines can show that.
func (k *seen) beats(best *seen, head []byte) (better, open bool) {
	fixed, _ := best.f.Constant()
	own, _ := k.f.Constant()
	if none := (integer.Words{}); fixed == none || own != none || k.f.Bits != best.f.Bits {
		return 2*k.timed > k.lines && 2*best.timed < best.lines, false
	}
	// The fixed bits are chance if they belong to parts of k's fields that hardly change.
	const few = 3
	list, values := k.read(head), map[integer.Words]bool{}
	parts := partsOver(k.f, fixed)
	for i := range list {
		if best.f.Has(list[i]) {
			values[list[i].And(parts)] = true
		}
		if len(values) == few {
			return false, false
		}
	}
	if best.timed == 0 {
		return k.timed > 0, false
	}
	return keepsCounter(k.f, list)
}

// read returns the IDs of the head.
func (k *seen) read(head []byte) (list []integer.Words) {
	f := sample.FormatOf(k.f)
	for line := range bytes.Lines(head) {
		if w, _, _, err := f.ReadLine(bytes.TrimSpace(line)); err == nil {
			list = append(list, w)
		}
	}
	return list
}

// partsOver returns, of each field that has any of these bits, all bits down to some bits below
// these: in a counter, they hardly change.
func partsOver(f *spec.Format, bits integer.Words) (mask integer.Words) {
	const below = 8
	for _, field := range f.Layout {
		for low := field.Low; low < field.Low+field.Bits; low++ {
			if bits.And(integer.Ones(1).Shift(low)) != (integer.Words{}) {
				low = max(low-below, field.Low)
				mask = mask.Or(integer.Ones(field.Low + field.Bits - low).Shift(low))
				break
			}
		}
	}
	return mask
}

// keepsCounter reports whether the IDs are like SCRU128 IDs: the upper counter stays the same for
// many ticks, and the lower counter starts at random in each tick. The result open says that there
// are too few ticks.
func keepsCounter(f *spec.Format, list []integer.Words) (keeps, open bool) {
	i := slices.IndexFunc(f.Layout, func(field spec.Field) bool { return field.Every > 0 })
	if i < 0 {
		return false, false
	}
	const fewTicks, fewNear = 12, 4
	upper := integer.PlaceOf(f.Layout[i].Low, f.Layout[i].Bits)
	ticks, near, kept, rising := 1, 0, 0, 0
	for k := 1; k < len(list); k++ {
		before, v := &list[k-1], &list[k]
		from, to := f.Timestamp(before), f.Timestamp(v)
		if from == to {
			continue
		}
		if ticks++; to-from >= f.Layout[i].Every {
			continue
		}
		near++
		if upper.Of(v) == upper.Of(before) {
			kept++
		}
		if first, next := f.AfterTime(*before), f.AfterTime(*v); first.Less(&next) {
			rising++
		}
	}
	return near >= fewNear && 2*kept >= near && 10*rising < 9*near, ticks <= fewTicks
}
