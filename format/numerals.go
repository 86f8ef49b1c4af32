package format

import (
	"bytes"
	"math/bits"
	"strings"

	"github.com/sortid/sortid"
)

// A Group is a number in a text.
type Group struct {
	Before  string `json:"before,omitempty"` // the text before it
	Digits  int    `json:"digits"`
	Symbols string `json:"symbols,omitempty"` // in order of value; if empty, the format's
	Bits    int    `json:"bits"`
	// Low is the position of the number's lowest bit in the ID. If Low is -n, the number's lowest n
	// bits are not in the ID, but after it, such as a check value.
	Low int `json:"low"`
}

// numerals reads and writes texts of groups of digits.
type numerals struct {
	format *Format
	length int
	groups []group
}

type group struct {
	Group
	values [256]uint8
	limit  Words
}

const noDigit = 0xff

func newNumerals(f *Format) *numerals {
	n := &numerals{format: f}
	groups := f.Groups
	if groups == nil {
		groups = []Group{{Digits: f.TextLengths[0], Bits: f.Bits}}
	}
	for _, g := range groups {
		if g.Symbols == "" {
			g.Symbols = f.Symbols
		}
		n.length += len(g.Before) + g.Digits
		full := group{Group: g}
		for i := range full.values {
			full.values[i] = noDigit
		}
		for i, c := range []byte(g.Symbols) {
			full.values[c] = uint8(i)
			if f.FoldsCase {
				full.values[strings.ToLower(string(c))[0]] = uint8(i)
				full.values[strings.ToUpper(string(c))[0]] = uint8(i)
			}
		}
		for range g.Digits {
			full.limit.timesPlus(uint64(len(g.Symbols)), uint64(len(g.Symbols)-1))
		}
		if ones := ones(g.Bits); full.limit.Compare(ones) > 0 {
			full.limit = ones
		}
		n.groups = append(n.groups, full)
	}
	return n
}

// blank is the first symbol of a format with several lengths. It pads shorter texts.
const blank = " "

func (n *numerals) max() (w Words) {
	for i := range n.groups {
		w = w.or(n.groups[i].limit.shift(n.groups[i].Low))
	}
	return w
}

func (n *numerals) alphabet() class {
	if n.format.Prefix != nil {
		return 0
	}
	symbols := ""
	for _, g := range n.groups {
		symbols += g.Symbols + g.Before
		if n.format.FoldsCase {
			symbols += strings.ToLower(g.Symbols) + strings.ToUpper(g.Symbols)
		}
	}
	return classify(symbols)
}

func (n *numerals) check(w Words) error {
	for i := range n.groups {
		if g := &n.groups[i]; g.of(w).Compare(g.limit) > 0 {
			return sortid.ErrLayout
		}
	}
	if n.format.Symbols[0] == blank[0] {
		text := n.append(nil, w)
		if !n.format.hasTextLength(len(text)) || bytes.Contains(text, []byte(blank)) {
			return sortid.ErrLayout
		}
	}
	return nil
}

func (g *group) of(w Words) Words { return w.shift(-g.Low).and(ones(g.Bits)) }

func (n *numerals) parse(text string) (w Words, err error) {
	f := n.format
	_, rest := f.cutPrefix(text)
	if !f.hasTextLength(len(rest)) {
		return Words{}, f.inputErrorf(text, "want %s", f.Alphabet)
	}
	if f.CheckSuffix != "" {
		bare, err := cutBech32(text)
		if err != nil {
			return Words{}, f.inputErrorf(text, "%v", err)
		}
		if _, rest = f.cutPrefix(bare); len(rest) != n.length {
			return Words{}, f.inputErrorf(text, "want %s", f.Alphabet)
		}
		text = bare
	}
	at, end := len(text)-len(rest), len(text)
	if fill := n.length - len(rest); fill > 0 {
		text += strings.Repeat(blank, fill)
	}
	for i := range n.groups {
		g := &n.groups[i]
		if !strings.HasPrefix(text[at:], g.Before) {
			return Words{}, f.wrongSymbol(text, at, "not in the alphabet")
		}
		at += len(g.Before)
		var v Words
		for last := at + g.Digits; at < last; at++ {
			digit := g.values[text[at]]
			if digit == noDigit || digit == 0 && at < end && g.Symbols[0] == blank[0] {
				return Words{}, f.wrongSymbol(text, at, "not in the alphabet")
			}
			v.timesPlus(uint64(len(g.Symbols)), uint64(digit))
		}
		placed := v.shift(g.Low)
		if v.Compare(g.limit) > 0 || placed.shift(-g.Low) != v {
			return Words{}, f.inputErrorf(text, "it has more bits than an ID")
		}
		w = w.or(placed)
	}
	return w, f.check(w)
}

func (n *numerals) append(b []byte, w Words) []byte {
	var buf [64]byte
	for i := range n.groups {
		g := &n.groups[i]
		v, base := g.of(w), uint64(len(g.Symbols))
		for i := g.Digits - 1; i >= 0; i-- {
			var rest uint64
			for j := range v {
				v[j], rest = bits.Div64(rest, v[j], base)
			}
			buf[i] = g.Symbols[rest]
		}
		b = append(append(b, g.Before...), buf[:g.Digits]...)
	}
	return bytes.TrimRight(b, blank)
}

// timesPlus multiplies by factor and adds carry. It drops the overflow.
func (w *Words) timesPlus(factor, carry uint64) {
	for j := 2; j >= 0; j-- {
		high, low := bits.Mul64(w[j], factor)
		low, over := bits.Add64(low, carry, 0)
		w[j], carry = low, high+over
	}
}

// shift shifts left, or right if n < 0, by less than 192 bits.
func (w Words) shift(n int) (s Words) {
	switch {
	case n == 0:
		return w
	case n > 0:
		for i := 0; i+n/64 < 3; i++ {
			s[i] = w[i+n/64] << (n % 64)
			if i+n/64 < 2 {
				s[i] |= w[i+n/64+1] >> (64 - n%64)
			}
		}
		return s
	}
	n = -n
	for i := n / 64; i < 3; i++ {
		s[i] = w[i-n/64] >> (n % 64)
		if i > n/64 {
			s[i] |= w[i-n/64-1] << (64 - n%64)
		}
	}
	return s
}

func (w Words) or(v Words) Words  { return Words{w[0] | v[0], w[1] | v[1], w[2] | v[2]} }
func (w Words) and(v Words) Words { return Words{w[0] & v[0], w[1] & v[1], w[2] & v[2]} }

func ones(n int) Words { return Words{^uint64(0), ^uint64(0), ^uint64(0)}.shift(n - 192) }
