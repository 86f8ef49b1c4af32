package spec

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/sortid/sortid/internal/textcodec"
)

// Nearest returns all formats, first those whose IDs look most like a text, by length and alphabet.
func Nearest(text string) []*Format {
	near := All()
	far := map[*Format]int{}
	for _, f := range near {
		far[f] = f.distance(text)
	}
	slices.SortStableFunc(near, func(a, b *Format) int { return cmp.Compare(far[a], far[b]) })
	return near
}

// distance counts wrong characters, and more for a wrong length, a missing prefix or an unusual
// encoding.
func (f *Format) distance(text string) (least int) {
	const symbol, length = 10, 30
	least = math.MaxInt
	for unusual, e := range f.Encodings {
		symbols := map[Encoding]textcodec.Kinds{Text: f.Alphabet,
			UUID: textcodec.HexDigits | textcodec.Dash, Hex: textcodec.HexDigits,
			Int: textcodec.Digit}[e]
		d := unusual
		for i := range len(text) {
			if !textcodec.KindOf[text[i]].In(symbols) {
				d += symbol
			}
		}
		if e == Text && f.Text.Prefix != nil && !strings.Contains(text, "_") {
			d += length
		}
		off := math.MaxInt32
		for _, n := range f.LengthsOf(e) {
			off = min(off, max(n-len(text), len(text)-n))
		}
		least = min(least, d+length*off)
	}
	return least
}

// LengthsOf returns the lengths of the format's texts in an encoding, with the prefix.
func (f *Format) LengthsOf(e Encoding) (lengths []int) {
	switch e {
	case UUID:
		return []int{textcodec.UUIDLen}
	case Hex:
		return []int{2 * f.Size}
	case Int:
		for n := range f.Digits() {
			lengths = append(lengths, n+1)
		}
		return lengths
	}
	rule := f.Text.Prefix
	if rule == nil {
		return f.Text.Lengths
	}
	for _, n := range f.Text.Lengths {
		if rule.Min == 0 {
			lengths = append(lengths, n)
		}
		for prefix := max(rule.Min, 1); prefix <= rule.Max; prefix++ {
			lengths = append(lengths, prefix+1+n)
		}
	}
	return lengths
}
