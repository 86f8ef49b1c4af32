package derive

import (
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"

	"github.com/sortid/sortid/internal/spec"
)

// stored returns the column that DuckDB has for one of our formats: a UUID, an integer or bytes.
func (r *rules) stored(columns []*column) *column {
	i := slices.IndexFunc(columns, func(c *column) bool { return c.encoding != spec.Text })
	if i >= 0 {
		return columns[i]
	}
	c := &column{rules: r, dialect: duckdb, encoding: spec.Hex, sorts: true, binary: true}
	c.layOut()
	return c
}

// asText returns the column that stores the texts of c.
func (c *column) asText() *column {
	t := &column{rules: c.rules, dialect: c.dialect, encoding: spec.Text}
	t.layOut()
	return t
}

// write returns the text of a stored value.
func (c *column) write(id string) string {
	t := c.asText()
	g := &t.groups[0]
	digits := c.digits(id)
	var parts []string
	switch {
	case g.isSmall():
		parts = append(parts, c.dialect.write(digits, g.Digits, g.Symbols))
	case g.width() > 0:
		w := g.width()
		for at, n := 0, 0; at < g.Digits; at += n {
			n = min(8, g.Digits-at)
			low := g.Low + (g.Digits-at-n)*w
			part := c.bits(digits, max(low, 0), n*w+min(low, 0))
			if low < 0 {
				part = fmt.Sprintf("((%s << %d) + %s)", part, -low, c.checkValue(digits))
			}
			parts = append(parts, c.dialect.write(part, n, g.Symbols))
		}
	default:
		var terms []term
		for low := 0; low < c.Bits; low += 32 {
			terms = append(terms, term{c.bits(digits, low, 32), low})
		}
		parts = c.wideDigits(terms, new(big.Int), g)
	}
	text := strings.Join(parts, " || ")
	if n := t.Text.Rotated; n > 0 {
		// The text has no leading zeros, but at least the shortest length.
		zero, shortest := g.Symbols[:1], slices.Min(t.Text.Lengths)
		text = fmt.Sprintf("ltrim(%s, '%s')", text, zero)
		text = fmt.Sprintf("lpad(%[1]s, CAST(greatest(length(%[1]s), %d) AS INTEGER), '%s')", text,
			shortest, zero)
		text = fmt.Sprintf("right(%s, %d) || left(%[1]s, -%[2]d)", text, n)
	}
	if c.encoding == spec.Int {
		text = fmt.Sprintf("CASE WHEN %s BETWEEN 0 AND %s THEN %s END", id, c.literal(c.largest()), text)
	}
	return text
}

// checkValue returns the check value of an ID: its remainder.
func (c *column) checkValue(digits string) string {
	var terms []string
	m := big.NewInt(int64(c.Text.Check))
	for low := 0; low < c.Bits; low += 32 {
		factor := new(big.Int).Mod(power(low), m)
		terms = append(terms, fmt.Sprintf("%s * %d", c.bits(digits, low, 32), factor))
	}
	return fmt.Sprintf("((%s) %% %d)", strings.Join(terms, " + "), m)
}

// parse returns the stored value of a text, or NULL.
func (c *column) parse(text string) string {
	t := c.asText()
	g := &t.groups[0]
	read := text
	if aliases := t.Text.AliasOf(); aliases != nil {
		from, to := "", ""
		for _, a := range slices.Sorted(maps.Keys(aliases)) {
			from, to = from+a, to+aliases[a]
		}
		read = fmt.Sprintf("translate(%s, '%s', '%s')", t.folded(text), from, to)
	}
	digits := t.digits(read)
	if n := t.Text.Rotated; n > 0 {
		digits = fmt.Sprintf("lpad(substr(%s, %d) || left(%[1]s, %[3]d), %[4]d, '%[5]s')", digits, n+1, n,
			g.Digits, g.Symbols[:1])
	}
	value := ""
	conditions := t.checks(t.Format, read, digits)
	switch {
	case g.isSmall():
		value = t.bits(digits, 0, t.Bits)
	case g.width() > 0:
		var parts []string
		for high := t.Bits; high > 0; {
			n := (high-1)%40 + 1
			high -= n
			parts = append(parts, fmt.Sprintf("printf('%%0%dx', %s)", n/4, t.bits(digits, high, n)))
		}
		hex := strings.Join(parts, " || ")
		if t.Text.Check > 0 {
			conditions = append(conditions, fmt.Sprintf("%s = %s",
				t.bits(digits, g.Low, -g.Low), t.checkValue(digits)))
		}
		value = c.ofHex(hex)
	default:
		var terms []string
		size, count := g.chunk()
		for i := range count {
			end := g.Digits - i*size
			from := max(0, end-size)
			terms = append(terms, fmt.Sprintf("CAST(%s AS UHUGEINT) * %d",
				c.dialect.value(digits, g.at+from+1, end-from, g.Symbols), g.span(i*size)))
		}
		value = c.ofHex(fmt.Sprintf("lpad(hex(%s), %d, '0')", strings.Join(terms, " + "), c.Size*2))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "CASE\n  WHEN %s\n  THEN %s", strings.Join(conditions, "\n    AND "), value)
	switch {
	case c.encoding == spec.UUID:
		fmt.Fprintf(&b, "\n  WHEN length(%s) = 36\n  THEN TRY_CAST(%[1]s AS UUID)", text)
	case t.Text.Hex:
		fmt.Fprintf(&b, "\n  WHEN regexp_matches(%s, '^[0-9A-Fa-f]{%d}$')\n  THEN unhex(%[1]s)", text,
			2*t.Size)
	}
	return b.String() + "\n  END"
}
