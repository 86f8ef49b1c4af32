package derive

import (
	"fmt"
	"math/big"
	"strings"
	"time"

	"github.com/sortid/sortid/internal/spec"
)

// SQLite has no integers of more than 64 bits.
var sqlite = &dialect{
	value: func(text string, at, count int, symbols string) string {
		if strings.EqualFold(symbols, hexDigits) {
			return "(('[0x' || " + substr(text, at, count) + " || ']') ->> 0)"
		}
		return expandedValue(text, at, count, symbols)
	},
	write: func(n string, count int, symbols string) string {
		if symbols == hexDigits {
			return fmt.Sprintf("printf('%%0%dx', %s)", count, n)
		}
		return expandedDigits(n, count, symbols)
	},
	divide: func(n, by string) string { return "(" + n + " / " + by + ")" },
	join:   func(parts []string) string { return strings.Join(parts, " || ") },
	right:  func(text string, n int) string { return fmt.Sprintf("substr(%s, -%d)", text, n) },
	position: func(symbol, text string) string {
		return fmt.Sprintf("instr(%s, %s)", text, quote(symbol))
	},
	fold:        func(function, text string) string { return function + "(" + text + ")" },
	matches:     (*column).glob,
	binary:      func(text string) string { return text },
	uuidHex:     func(value string) string { return "nullif(lower(hex(" + value + ")), '')" },
	uuidOfHex:   func(hex string) string { return "unhex(" + hex + ")" },
	microsSince: func(epoch time.Time, at string) string { return minus(at, epoch) },
	atMicros: func(epoch time.Time, us string) string {
		return fmt.Sprintf("strftime('%%Y-%%m-%%d %%H:%%M:%%f', (%d + %s / 1000) / 1000.0, 'unixepoch')",
			epoch.UnixMilli(), us)
	},
	literalTime: func(t time.Time) string { return fmt.Sprint(t.UnixMicro()) },
}

// glob returns the condition that a text has the right characters.
func (c *column) glob(text string) string {
	digits := c.digits("id")
	var b strings.Builder
	and := func(condition string, args ...any) {
		if b.Len() > 0 {
			b.WriteString("\n      AND ")
		}
		fmt.Fprintf(&b, condition, args...)
	}
	if p := c.Text.Prefix; p != nil && c.encoding == spec.Text {
		rest := c.length
		if c.Text.Suffix != "" {
			and("(length(%[1]s) - instr(%[1]s, '_') = %[2]d OR %[1]s GLOB '*_%[3]s-%[4]s%[4]s%[4]s%[4]s')",
				text, c.length, strings.Repeat("?", c.length), class(c.symbols))
			and("instr(%s, '_') - 1 BETWEEN %d AND %d", text, p.Min, p.Max)
			and("substr(%[1]s, 1, instr(%[1]s, '_') - 1) NOT GLOB '*[^%[2]s]*'", text, negated(p.Symbols))
		} else {
			prefix := fmt.Sprintf("substr(%[1]s, 1, length(%[1]s) - %[2]d)", text, rest+1)
			and("length(%s) BETWEEN %d AND %d", prefix, p.Min, p.Max)
			and("substr(%s, -%d, 1) = '_'", text, rest+1)
			and("%s NOT GLOB '*[^%s]*'", prefix, negated(p.Symbols))
			and("%s NOT GLOB '*_'", prefix)
		}
		and("%s GLOB '[a-z]*'", text)
	} else {
		and("length(%s) = %d", text, c.length)
	}
	for _, g := range c.groups {
		if g.Before != "" {
			and("%s = %s", substr(digits, g.at-len(g.Before)+1, len(g.Before)), quote(g.Before))
		}
		and("%s NOT GLOB '*[^%s]*'", substr(digits, g.at+1, g.Digits), negated(g.Symbols))
		w := g.width()
		if spare := g.Digits*w - g.Bits; w > 0 && spare > 0 {
			and("%s GLOB '%s'", substr(digits, g.at+1, 1), class(g.Symbols[:1<<(w-spare)]))
		}
		if w > 0 && g.Low < 0 {
			and("%s GLOB '%s'", substr(digits, g.at+g.Digits, 1), class(g.lastSymbols()))
		}
	}
	return b.String()
}

func negated(symbols string) string {
	c := class(symbols)
	return c[1 : len(c)-1]
}

// SQLite returns example tables of a format, with the time in a column, and queries of a day.
func SQLite(f *spec.Format) (string, error) {
	r, err := rulesOf(f)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	columns := r.columns(sqlite)
	if len(columns) == 0 {
		return "", fmt.Errorf("%s: SQLite has no integers that are large enough to read the texts; "+
			"for a time range, use the command sortid bounds", f.Name)
	}
	for i, c := range columns {
		table, typ := "events_"+r.prefix, "TEXT"
		switch c.encoding {
		case spec.Int:
			typ = "INTEGER"
		case spec.UUID:
			typ = "BLOB"
		}
		if i > 0 {
			b.WriteByte('\n')
			table += "_" + string(c.encoding)
		}
		fmt.Fprintf(&b, `-- %s: %s.

CREATE TABLE IF NOT EXISTS %s (
  id   %s PRIMARY KEY,
  at   TEXT AS (%s),
  what TEXT NOT NULL
) WITHOUT ROWID;
`, f.Name, c.about(), table, typ, c.time("id"))
		if !c.sorts {
			continue
		}
		prefix, about := "", ""
		if c.Text.Prefix != nil && c.encoding == spec.Text {
			prefix, about = "'user_' || ", ", with the prefix user"
		}
		first := func(day string) string {
			return prefix + fmt.Sprintf("(SELECT %s FROM (SELECT unixepoch('%s') * 1000000 AS us))",
				c.bounded("us"), day)
		}
		fmt.Fprintf(&b, `
-- The events of a day%s:
SELECT * FROM %s
WHERE id >= %s
  AND id < %s;
`, about, table, first("2026-11-17"), first("2026-11-18"))
	}
	return b.String(), nil
}

// expandedValue returns the integer of some digits as a sum, for databases whose SQL has no
// functions.
func expandedValue(text string, at, count int, symbols string) string {
	terms := make([]string, count)
	base, factor := big.NewInt(int64(len(symbols))), big.NewInt(1)
	for i := count - 1; i >= 0; i-- {
		terms[i] = fmt.Sprintf("(instr(%s, %s) - 1)", quote(symbols), substr(text, at+i, 1))
		if i < count-1 {
			terms[i] += " * " + factor.String()
		}
		factor = new(big.Int).Mul(factor, base)
	}
	return "(" + strings.Join(terms, " + ") + ")"
}

// expandedDigits returns the digits of an integer.
func expandedDigits(n string, count int, symbols string) string {
	digits := make([]string, count)
	base, factor := big.NewInt(int64(len(symbols))), big.NewInt(1)
	for i := count - 1; i >= 0; i-- {
		digit := n
		if i < count-1 {
			digit += " / " + factor.String()
		}
		if i > 0 {
			digit += fmt.Sprintf(" %% %d", len(symbols))
		}
		digits[i] = fmt.Sprintf("substr(%s, 1 + %s, 1)", quote(symbols), digit)
		factor = new(big.Int).Mul(factor, base)
	}
	return strings.Join(digits, " || ")
}
