// Package derive writes SQL functions that read IDs, from the layout and the texts of any format in
// package format. The functions F_time and F_first return an ID's time and a time's smallest ID.
package derive

import (
	"cmp"
	"fmt"
	"maps"
	"math/big"
	"math/bits"
	"slices"
	"strings"
	"time"

	"github.com/sortid/sortid/internal/integer"
	"github.com/sortid/sortid/internal/spec"
)

// Rules is what SQL must know about a format.
type rules struct {
	*spec.Format
	prefix string // of the functions' names
	inner  []*spec.Format
	usual  *spec.Format // of the IDs that F_first returns; nil if IDs are not in order
}

// A group is a number in a text.
type group struct {
	spec.TextPart
	at int // How many characters are before the first digit.
}

// rulesOf returns the rules of a format, or an error if its IDs have no time.
func rulesOf(f *spec.Format) (*rules, error) {
	r := &rules{Format: f, prefix: strings.ReplaceAll(f.Name, "-", "_")}
	for _, g := range append([]*spec.Format{f}, f.Within...) {
		if g.Tick != 0 {
			r.inner = append(r.inner, g)
		}
	}
	if r.inner == nil {
		return nil, fmt.Errorf("%s: IDs have no time", f.Name)
	}
	// Of several inner formats, the usual one has the same bounds as f.
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	if first, _, err := f.Bounds(at, at.AddDate(1, 0, 0)); err == nil {
		i := slices.IndexFunc(r.inner, func(g *spec.Format) bool {
			id, _, err := g.Bounds(at, at.AddDate(1, 0, 0))
			return err == nil && id == first
		})
		r.usual = r.inner[i]
	}
	return r, nil
}

// largest returns the largest ID. If there are several inner formats, it is of the usual one.
func (r *rules) largest() integer.Words { return cmp.Or(r.usual, r.Format).Codec.Max }

// A column stores the IDs of a format in an encoding: Text or Hex as text, UUID as 16 bytes, and
// Int as a signed integer of 64 bits.
type column struct {
	*rules
	dialect  *dialect
	encoding spec.Encoding
	binary   bool    // Whether Hex means bytes, not hexadecimal digits.
	sorts    bool    // Whether values sort by time.
	symbols  string  // The digits, unless a group has its own.
	groups   []group // Of a text, or of the 32 hexadecimal digits of a UUID.
	length   int     // The length of the text without its prefix.
}

const hexDigits = "0123456789abcdef"

// columns returns the columns that a format needs. The usual one is first.
func (r *rules) columns(d *dialect) (list []*column) {
	for _, e := range []spec.Encoding{r.Encodings[0], spec.UUID, spec.Int} {
		if !slices.Contains(r.Encodings, e) || e == spec.Int && r.Bits > 64 ||
			slices.ContainsFunc(list, func(c *column) bool { return c.encoding == e }) {
			continue
		}
		c := &column{rules: r, dialect: d, encoding: e, sorts: r.usual != nil}
		c.layOut()
		if c.isReadable() {
			list = append(list, c)
		}
	}
	return list
}

// isReadable reports whether the expressions of this package can read the values. They cannot read
// texts of several lengths. In a wide number, they do not find constant bits, which inner IDs need.
func (c *column) isReadable() bool {
	if c.encoding == spec.Text && len(c.Text.Lengths) > 1 && c.Text.Suffix == "" {
		return false
	}
	return !c.isWide() || c.dialect.wide != nil && c.Within == nil
}

func (c *column) layOut() {
	switch c.encoding {
	case spec.Int:
		return
	case spec.Text:
		c.symbols = c.Text.Symbols
		for _, part := range c.Text.Groups {
			c.groups = append(c.groups, group{TextPart: part})
		}
		c.sorts = c.sorts && c.Text.Sorts
		if c.groups == nil {
			n := slices.Max(c.Text.Lengths)
			if c.Text.Suffix != "" {
				n = c.Text.Lengths[0]
			}
			c.groups = []group{{TextPart: spec.TextPart{Digits: n, Bits: c.Bits}}}
		}
	default:
		c.symbols = hexDigits
		c.groups = []group{{TextPart: spec.TextPart{Digits: c.Size * 2, Bits: c.Size * 8}}}
	}
	for i := range c.groups {
		g := &c.groups[i]
		if g.Symbols == "" {
			g.Symbols = c.symbols
		}
		g.at = c.length + len(g.Before)
		c.length = g.at + g.Digits
	}
}

// isWide reports whether the times are in a number that does not fit a bigint.
func (c *column) isWide() bool {
	return slices.ContainsFunc(c.groups, func(g group) bool {
		return !g.isSmall() && g.width() == 0 &&
			slices.ContainsFunc(c.inner[0].Layout, func(f spec.Field) bool {
				return f.Kind == spec.KindTime && g.has(f.Low, f.Bits)
			})
	})
}

// width returns the bits of a digit, or 0 if the base is not a power of two.
func (g *group) width() int {
	if base := len(g.Symbols); base&(base-1) == 0 {
		return bits.TrailingZeros(uint(base))
	}
	return 0
}

// span returns how many numbers the digits can write.
func (g *group) span(digits int) *big.Int {
	return new(big.Int).Exp(big.NewInt(int64(len(g.Symbols))), big.NewInt(int64(digits)), nil)
}

// isSmall reports whether all numbers of the group fit a bigint.
func (g *group) isSmall() bool { return g.span(g.Digits).BitLen() <= 63 }

func (g *group) has(low, bits int) bool { return g.Low <= low && low+bits <= g.Low+g.Bits }

// class returns the characters as a class of a regular expression.
func class(symbols string) string {
	set := map[byte]bool{}
	for _, c := range []byte(symbols) {
		set[c] = true
	}
	dash := ""
	if set['-'] {
		delete(set, '-')
		dash = "-"
	}
	sorted := slices.Sorted(maps.Keys(set))
	var b strings.Builder
	for len(sorted) > 0 {
		n := 1
		for n < len(sorted) && sorted[n] == sorted[0]+byte(n) {
			n++
		}
		b.WriteByte(sorted[0])
		if n > 2 {
			b.WriteByte('-')
		}
		if n > 1 {
			b.WriteByte(sorted[n-1])
		}
		sorted = sorted[n:]
	}
	return "[" + b.String() + dash + "]"
}

// lastSymbols returns the possible last digits of a number whose lowest bits are zero, because they
// are not in the ID.
func (g *group) lastSymbols() (symbols string) {
	for i := 0; i < len(g.Symbols); i += 1 << -g.Low {
		symbols += g.Symbols[i : i+1]
	}
	return symbols
}

// pattern returns the regular expression of all texts, in the letter case of the symbols.
func (c *column) pattern() string {
	var b strings.Builder
	b.WriteByte('^')
	if p := c.Text.Prefix; p != nil && c.encoding == spec.Text {
		last := strings.ReplaceAll(p.Symbols, "_", "")
		more := fmt.Sprintf("%s{%d,%d}%s", class(p.Symbols), max(0, p.Min-2), p.Max-2, class(last))
		if p.Min < 2 {
			more = "(" + more + ")?"
		}
		b.WriteString("[a-z]" + more + "_")
	}
	for _, g := range c.groups {
		b.WriteString(g.Before)
		n, w := g.Digits, g.width()
		if spare := n*w - g.Bits; w > 0 && spare > 0 {
			b.WriteString(class(g.Symbols[:1<<(w-spare)]))
			n--
		}
		last := w > 0 && g.Low < 0 && c.Text.Check == 0
		if last {
			n--
		}
		if shortest := slices.Min(append(c.Text.Lengths, n)); c.Text.Rotated > 0 {
			fmt.Fprintf(&b, "%s{%d,%d}", class(g.Symbols), shortest, n)
		} else if n > 0 {
			fmt.Fprintf(&b, "%s{%d}", class(g.Symbols), n)
		}
		if last {
			b.WriteString(class(g.lastSymbols()))
		}
	}
	if c.Text.Suffix != "" {
		fmt.Fprintf(&b, "(-%s{4})?", class(c.symbols))
	}
	return b.String() + "$"
}

// Formats returns the formats of other projects for which a function of this package has SQL. It
// leaves out formats that are only a time.
func Formats(write func(*spec.Format) (string, error)) (list []*spec.Format) {
	for _, f := range spec.All() {
		isID := slices.ContainsFunc(f.Layout, func(field spec.Field) bool {
			return field.Kind != spec.KindTime && field.Kind != spec.KindZero
		})
		if f.Generates || !isID {
			continue
		}
		if _, err := write(f); err == nil {
			list = append(list, f)
		}
	}
	return list
}
