package spec

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/sortid/sortid/internal/integer"
	"github.com/sortid/sortid/internal/textcodec"
)

// chanceUntil ends the range of times for [Format.Chance]. It is fixed, so that the figures do not
// change from day to day.
var chanceUntil = date(2030, 1)

// Chance returns the share of random texts like text that also have a reading as an ID of the
// format with a plausible time, from 0 to 1. The text begins with a prefix of this length, or 0. The
// random texts have the same length, and they are of the same alphabet: digits, hexadecimal digits,
// or digits and letters of one or both cases, with hyphens and underscores if the text has them. If
// the text has fewer kinds of symbols than most IDs, Chance may return more than the share.
func (f *Format) Chance(e Encoding, text string, prefix int) float64 {
	if prefix > 0 && (e != Text || !f.Generates && f.Text.Prefix == nil) {
		text, prefix = text[prefix:], 0 // the format has no prefix, so it says nothing
	}
	symbols, length := alphabetSize(text), len(text)-prefix
	texts := math.Pow(symbols, float64(length))
	n := f.readable()[e][length]
	if prefix > 0 {
		texts *= symbols     // for the underscore
		if f.Within != nil { // with a prefix, the ID inside may have no time
			n = math.Pow(2, float64(f.Bits))
		}
		if rule := f.Text.Prefix; rule != nil && rule.Known != nil {
			texts *= math.Pow(symbols, float64(prefix-1)) / float64(len(rule.Known))
		}
	}
	return min(n/texts, 1)
}

// Readable returns how many texts have a plausible reading, by encoding and by length without the
// prefix.
func (f *Format) Readable() map[Encoding]map[int]float64 { return f.readable() }

func (f *Format) countReadable() map[Encoding]map[int]float64 {
	all := map[Encoding]map[int]float64{}
	set := func(e Encoding, length int, n float64) {
		if n == 0 || !f.HasEncoding(e) {
			return
		}
		if all[e] == nil {
			all[e] = map[int]float64{}
		}
		all[e][length] = Round(n)
	}
	set(Hex, 2*f.Size, f.readings(Hex, 0, math.Inf(1)))
	set(UUID, textcodec.UUIDLen, f.readings(UUID, 0, math.Inf(1)))
	for length := 1; length <= f.Digits(); length++ {
		to := math.Pow(10, float64(length))
		// The first digit of random integers is not zero, so there are fewer.
		set(Int, length, f.readings(Int, to/10, to)/0.9)
	}
	shorter := f.Text.Groups == nil && f.Text.Suffix == "" // if there are several lengths
	for _, length := range f.Text.Lengths {
		from, to, base := 0.0, math.Inf(1), float64(len(f.Text.Symbols))
		if shorter && len(f.Text.Lengths) > 1 {
			if to = math.Pow(base, float64(length)); f.HasTextLength(length - 1) {
				from = to / base
			}
		}
		texts := 1.0          // for one ID
		if f.Text.FoldsCase { // letters may stand for other symbols
			texts = math.Pow(1+float64(len(f.Text.Aliases)/2)/base, float64(length))
		}
		set(Text, length, f.readings(Text, from, to)*texts)
	}
	return all
}

// Round returns a number with three significant digits.
func Round(x float64) float64 {
	x, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 3, 64), 64)
	if err != nil {
		panic(err) // a bug: the text is a number
	}
	return x
}

// alphabetSize returns the number of symbols of random texts that look like a text.
func alphabetSize(text string) (size float64) {
	kinds := textcodec.KindsOf(text)
	switch letters := kinds.Has(textcodec.Lower | textcodec.Upper); {
	case !letters:
		size = 10
	case kinds.In(textcodec.HexDigits | textcodec.Dash):
		size = 16
	case kinds.HasCases():
		size = 52
	default:
		size = 26
	}
	if kinds.Has(textcodec.Digit) && size > 16 {
		size += 10
	}
	if kinds.Has(textcodec.Dash) {
		for _, c := range [2]byte{'-', '_'} {
			if strings.IndexByte(text, c) >= 0 {
				size++
			}
		}
	}
	return size
}

// readings returns how many integers from from to to are IDs with a plausible time. The integers
// are those that texts of the encoding can have.
func (f *Format) readings(e Encoding, from, to float64) (n float64) {
	if f.Within != nil {
		for _, inner := range f.Within {
			n += inner.readings(Hex, from, to)
		}
		return n
	}
	if e == Text && f.Text.Groups != nil {
		n = 1
		for _, g := range newNumerals(f).groups {
			values := f.plausibleValues(max(g.Low, 0), g.Bits+min(g.Low, 0))
			n *= min(values, math.Pow(float64(g.base), float64(g.Digits)))
		}
		return n
	}
	bits := 8 * f.Size
	all := math.Pow(2, float64(bits))
	n = f.plausibleValues(0, bits)
	if f.Tick != 0 && f.Ordered {
		first, last := number(f.firstOf(f.chanceFrom())), number(f.firstOf(chanceUntil))
		return n * max(0, min(to, last)-max(from, first)) / (last - first)
	}
	return n * (min(to, all) - from) / all
}

// plausibleValues returns how many values some bits have in IDs with plausible times.
func (f *Format) plausibleValues(low, bits int) float64 {
	ticks, free := 1.0, bits
	for _, field := range f.Layout {
		switch {
		case field.Low < low || field.Low >= low+bits:
		case field.Kind == KindTime:
			ticks = float64(f.TimestampOf(chanceUntil) - f.TimestampOf(f.chanceFrom()))
			free -= field.Bits
		case field.isConstant() || field.Constant:
			free -= field.Bits
		}
	}
	return ticks * math.Pow(2, float64(free))
}

func (f *Format) chanceFrom() time.Time {
	from, _ := f.PlausibleRange(chanceUntil)
	return from
}

func number(w integer.Words) float64 {
	return math.Ldexp(float64(w.High), 128) + math.Ldexp(float64(w.Mid), 64) + float64(w.Low)
}
