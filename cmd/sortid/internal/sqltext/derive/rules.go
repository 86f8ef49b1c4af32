// Package derive writes SQL functions that read IDs, from the layout and the texts of any format in
// package format. The functions F_time and F_first return an ID's time and a time's smallest ID.
package derive

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"math/bits"
	"slices"
	"strings"
	"time"

	"github.com/sortid/sortid/format"
)

// Rules is what SQL must know about a format.
type rules struct {
	*format.Format
	prefix string // of the functions' names
	inner  []*format.Format
	usual  *format.Format // of the IDs that F_first returns; nil if IDs are not in order
	text   textRules
	// The largest ID; of several inner formats, of the usual one.
	largestInt string
}

type textRules struct {
	Groups  []group           `json:"groups"`
	Check   int               `json:"check_modulus"`
	Suffix  string            `json:"check_suffix"`
	Rotated int               `json:"rotated"`
	Aliases map[string]string `json:"aliases"`
	Prefix  *struct {
		Symbols  string
		Min, Max int
	} `json:"prefix"`
}

// A group is a number in a text.
type group struct {
	Before  string `json:"before"`
	Digits  int    `json:"digits"`
	Symbols string `json:"symbols"`
	Bits    int    `json:"bits"`
	Low     int    `json:"low"` // The position of the lowest bit in the ID.

	at int // How many characters are before the first digit.
}

// rulesOf returns the rules of a format, or an error if its IDs have no time.
func rulesOf(f *format.Format) (*rules, error) {
	r := &rules{Format: f, prefix: strings.ReplaceAll(f.Name, "-", "_")}
	for _, g := range append([]*format.Format{f}, f.Within...) {
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
		i := slices.IndexFunc(r.inner, func(g *format.Format) bool {
			id, _, err := g.Bounds(at, at.AddDate(1, 0, 0))
			return err == nil && id.Words() == first.Words()
		})
		r.usual = r.inner[i]
	}
	// The JSON has also what package format does not export.
	var row struct {
		Max  string
		Text textRules
	}
	b, err := json.Marshal(f)
	if err == nil {
		err = json.Unmarshal(b, &row)
	}
	r.text, r.largestInt = row.Text, row.Max
	if err == nil && r.usual != f && r.usual != nil {
		b, err = json.Marshal(r.usual)
		if err == nil {
			err = json.Unmarshal(b, &row)
		}
		r.largestInt = row.Max
	}
	return r, err
}

// A column stores the IDs of a format in an encoding: Text or Hex as text, UUID as 16 bytes, and
// Int as a signed integer of 64 bits.
type column struct {
	*rules
	dialect  *dialect
	encoding format.Encoding
	binary   bool    // Whether Hex means bytes, not hexadecimal digits.
	sorts    bool    // Whether values sort by time.
	symbols  string  // The digits, unless a group has its own.
	groups   []group // Of a text, or of the 32 hexadecimal digits of a UUID.
	length   int     // The length of the text without its prefix.
}

const hexDigits = "0123456789abcdef"

// columns returns the columns that a format needs. The usual one is first.
func (r *rules) columns(d *dialect) (list []*column) {
	for _, e := range []format.Encoding{r.Encodings[0], format.UUID, format.Int} {
		if !slices.Contains(r.Encodings, e) || e == format.Int && r.Bits > 64 ||
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
	if c.encoding == format.Text && len(c.Text.Lengths) > 1 && c.text.Suffix == "" {
		return false
	}
	return !c.isWide() || c.dialect.wide != nil && c.Within == nil
}

func (c *column) layOut() {
	switch c.encoding {
	case format.Int:
		return
	case format.Text:
		c.symbols, c.groups = c.Text.Symbols, slices.Clone(c.text.Groups)
		c.sorts = c.sorts && c.Text.Sorts
		if c.groups == nil {
			n := slices.Max(c.Text.Lengths)
			if c.text.Suffix != "" {
				n = c.Text.Lengths[0]
			}
			c.groups = []group{{Digits: n, Bits: c.Bits}}
		}
	default:
		c.symbols, c.groups = hexDigits, []group{{Digits: c.Size * 2, Bits: c.Size * 8}}
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
			slices.ContainsFunc(c.inner[0].Layout, func(f format.Field) bool {
				return f.Kind == format.KindTime && g.has(f.Low, f.Bits)
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
	if p := c.text.Prefix; p != nil && c.encoding == format.Text {
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
		last := w > 0 && g.Low < 0 && c.text.Check == 0
		if last {
			n--
		}
		if shortest := slices.Min(append(c.Text.Lengths, n)); c.text.Rotated > 0 {
			fmt.Fprintf(&b, "%s{%d,%d}", class(g.Symbols), shortest, n)
		} else if n > 0 {
			fmt.Fprintf(&b, "%s{%d}", class(g.Symbols), n)
		}
		if last {
			b.WriteString(class(g.lastSymbols()))
		}
	}
	if c.text.Suffix != "" {
		fmt.Fprintf(&b, "(-%s{4})?", class(c.symbols))
	}
	return b.String() + "$"
}

// Formats returns the formats of other projects for which a function of this package has SQL. It
// leaves out formats that are only a time.
func Formats(write func(*format.Format) (string, error)) (list []*format.Format) {
	for _, f := range format.All() {
		isID := slices.ContainsFunc(f.Layout, func(field format.Field) bool {
			return field.Kind != format.KindTime && field.Kind != format.KindZero
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
