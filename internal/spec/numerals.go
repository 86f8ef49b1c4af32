package spec

import (
	"bytes"
	"math"
	"math/bits"
	"strings"

	"github.com/sortid/sortid"
	"github.com/sortid/sortid/internal/integer"
	"github.com/sortid/sortid/internal/textcodec"
)

// A TextPart is a number in a text.
type TextPart struct {
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
	length int // of the longest text
	least  int // of the shortest text that append writes
	groups []group
}

type group struct {
	TextPart
	values [256]uint8
	limit  integer.Words // the largest number
	mask   integer.Words // of the lowest Bits
	base   uint64
	width  int    // how many digits have room in a word
	power  uint64 // base^width
	head   uint64 // base^(Digits mod width)
}

const noDigit = 0xff

func newNumerals(f *Format) *numerals {
	n := &numerals{format: f}
	groups := f.Text.Groups
	if groups == nil {
		n.least = f.Text.Lengths[0]
		groups = []TextPart{{Digits: f.Text.digits(), Bits: f.Bits}}
	}
	for _, g := range groups {
		if g.Symbols == "" {
			g.Symbols = f.Text.Symbols
		}
		n.length += len(g.Before) + g.Digits
		full := group{TextPart: g, base: uint64(len(g.Symbols)), power: 1, head: 1}
		for ; full.power <= math.MaxUint64/full.base; full.width++ {
			full.power *= full.base
		}
		for range g.Digits % full.width {
			full.head *= full.base
		}
		for i := range full.values {
			full.values[i] = noDigit
		}
		for i, c := range []byte(g.Symbols) {
			full.values[c] = uint8(i)
			if f.Text.FoldsCase {
				full.values[strings.ToLower(string(c))[0]] = uint8(i)
				full.values[strings.ToUpper(string(c))[0]] = uint8(i)
			}
		}
		for i := 0; i < len(f.Text.Aliases); i += 2 {
			full.values[f.Text.Aliases[i]] = full.values[f.Text.Aliases[i+1]]
		}
		for range g.Digits {
			full.limit.TimesPlus(full.base, full.base-1)
		}
		if full.mask = integer.Ones(g.Bits); full.limit.Compare(full.mask) > 0 {
			full.limit = full.mask
		}
		n.groups = append(n.groups, full)
	}
	return n
}

// blank is the first symbol of a format with several lengths. It pads shorter texts.
const blank = " "

func (n *numerals) max() (w integer.Words) {
	for i := range n.groups {
		w = w.Or(n.groups[i].limit.Shift(n.groups[i].Low))
	}
	return w
}

func (n *numerals) alphabet() textcodec.Kinds {
	if n.format.Text.Prefix != nil {
		return ^textcodec.Kinds(0)
	}
	symbols := ""
	for i := 0; i < len(n.format.Text.Aliases); i += 2 {
		symbols += n.format.Text.Aliases[i : i+1]
	}
	for _, g := range n.groups {
		symbols += g.Symbols + g.Before
		if n.format.Text.FoldsCase {
			symbols += strings.ToLower(g.Symbols) + strings.ToUpper(g.Symbols)
		}
	}
	return textcodec.KindsOf(symbols)
}

func (n *numerals) check(w integer.Words) error {
	for i := range n.groups {
		if g := &n.groups[i]; g.of(w).Compare(g.limit) > 0 {
			return sortid.ErrLayout
		}
	}
	if n.format.Text.Symbols[0] == blank[0] {
		text := n.append(nil, w)
		if !n.format.HasTextLength(len(text)) || bytes.Contains(text, []byte(blank)) {
			return sortid.ErrLayout
		}
	}
	return nil
}

func (g *group) of(w integer.Words) integer.Words {
	return w.Shift(-g.Low).And(g.mask)
}

func (n *numerals) parse(text string) (w integer.Words, err error) {
	f := n.format
	_, rest := f.CutPrefix(text)
	if !f.HasTextLength(len(rest)) {
		return integer.Words{}, f.wrongLength(text, f.Text.Alphabet)
	}
	if f.Text.Suffix != "" {
		bare, err := cutBech32(text)
		if err != nil {
			return integer.Words{}, f.inputErrorf(text, sortid.ErrCheck, "%v", err)
		}
		if _, rest = f.CutPrefix(bare); len(rest) != n.length {
			return integer.Words{}, f.wrongLength(text, f.Text.Alphabet)
		}
		text = bare
	}
	at, end := len(text)-len(rest), len(text)
	if fill := n.length - len(rest); fill > 0 {
		if n.least > 0 {
			text, at, end = strings.Repeat(f.Text.Symbols[:1], fill)+rest, 0, n.length
		} else {
			text += strings.Repeat(blank, fill)
		}
	}
	for i := range n.groups {
		g := &n.groups[i]
		if !strings.HasPrefix(text[at:], g.Before) {
			return integer.Words{}, f.wrongSymbol(text, at, "not in the alphabet")
		}
		at += len(g.Before)
		var v integer.Words
		for last := at + g.Digits; at < last; {
			part, scale := uint64(0), uint64(1)
			for stop := min(at+g.width, last); at < stop; at++ {
				digit := g.values[text[at]]
				if digit == noDigit || digit == 0 && at < end && g.Symbols[0] == blank[0] {
					return integer.Words{}, f.wrongSymbol(text, at, "not in the alphabet")
				}
				part, scale = part*g.base+uint64(digit), scale*g.base
			}
			v.TimesPlus(scale, part)
		}
		placed := v.Shift(g.Low)
		if v.Compare(g.limit) > 0 || placed.Shift(-g.Low) != v {
			return integer.Words{}, f.inputErrorf(text, sortid.ErrRange, "it has more bits than an ID")
		}
		w = w.Or(placed)
	}
	return w, f.Check(w)
}

func (n *numerals) append(b []byte, w integer.Words) []byte {
	var buf [64]byte
	first, start := len(b), len(b)
	for i := range n.groups {
		g := &n.groups[i]
		v := g.of(w)
		for end := g.Digits; end > 0; end -= g.width {
			power, start := g.power, end-g.width
			if start < 0 {
				power, start = g.head, 0
			}
			// A fraction just above part/power has the same digits, and a multiplication by the base
			// gives the next digit. This is faster than divisions.
			fraction, _ := bits.Div64(v.Divide(power), 0, power)
			fraction++
			for i := start; i < end; i++ {
				var digit uint64
				digit, fraction = bits.Mul64(fraction, g.base)
				buf[i] = g.Symbols[digit]
			}
		}
		b = append(append(b, g.Before...), buf[:g.Digits]...)
	}
	if n.least > 0 { // at the start, drop the zeros that a shorter text does not need
		for len(b)-start > n.least && b[start] == n.format.Text.Symbols[0] {
			start++
		}
		return append(b[:first], b[start:]...)
	}
	return bytes.TrimRight(b, blank)
}
