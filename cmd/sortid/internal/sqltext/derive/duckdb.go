package derive

import (
	"fmt"
	"strings"
	"time"

	"github.com/sortid/sortid/internal/spec"
)

var duckdb = &dialect{
	value: func(text string, at, count int, symbols string) string {
		if strings.EqualFold(symbols, hexDigits) {
			return "TRY_CAST('0x' || " + substr(text, at, count) + " AS BIGINT)"
		}
		return fmt.Sprintf("sortid_digits_value(%s, %s)", substr(text, at, count), quote(symbols))
	},
	write: func(n string, count int, symbols string) string {
		if symbols == hexDigits {
			return fmt.Sprintf("printf('%%0%dx', CAST(%s AS BIGINT))", count, n)
		}
		return fmt.Sprintf("sortid_digits_text(%s, %d, %s)", n, count, quote(symbols))
	},
	divide: func(n, by string) string { return "(" + n + " // " + by + ")" },
	join:   func(parts []string) string { return strings.Join(parts, " || ") },
	right:  func(text string, n int) string { return fmt.Sprintf("right(%s, %d)", text, n) },
	position: func(symbol, text string) string {
		return fmt.Sprintf("strpos(%s, %s)", text, quote(symbol))
	},
	fold: func(function, text string) string { return function + "(" + text + ")" },
	matches: func(c *column, text string) string {
		return fmt.Sprintf("regexp_matches(%s, %s)", text, quote(c.pattern()))
	},
	binary:  func(text string) string { return text },
	wide:    func(n string) string { return n + "::HUGEINT" },
	narrow:  func(n string) string { return "(" + n + ")::BIGINT" },
	wideDiv: func(n, by string) string { return "((" + n + ") // " + by + ")" },
	wideMod: func(n, by string) string { return "((" + n + ") % " + by + ")" },
	uuidHex: func(value string) string {
		return "replace(CAST(TRY_CAST(" + value + " AS UUID) AS VARCHAR), '-', '')"
	},
	uuidOfHex: func(hex string) string { return "CAST(" + hex + " AS UUID)" },
	microsSince: func(epoch time.Time, at string) string {
		return minus("epoch_us("+at+")", epoch)
	},
	atMicros: func(epoch time.Time, us string) string {
		return fmt.Sprintf("make_timestamptz(%d + %s)", epoch.UnixMicro(), us)
	},
	literalTime: func(t time.Time) string { return "TIMESTAMPTZ '" + micros(t) + "+00'" },
}

// DuckDB returns the macros of a format. For our formats, they also read and write texts.
func DuckDB(f *spec.Format) (string, error) {
	r, err := rulesOf(f)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "-- %s: %s.\n", f.Name, f.Summary)
	macro := func(name, parameter, body, about string) {
		fmt.Fprintf(&b, "\n-- %s\nCREATE OR REPLACE MACRO %s(%s) AS\n%s;\n", about, name, parameter, body)
	}
	columns := r.columns(duckdb)
	if f.Generates {
		stored := r.stored(columns)
		columns = []*column{stored}
		macro(r.prefix+"_parse", "text", stored.parse("CAST(text AS VARCHAR)"),
			"The "+stored.duckdbType()+" of a text, or NULL if the text is not an ID.")
		macro(r.prefix+"_text", "id", stored.write("id"),
			"The text of "+article(f.Title)+" "+f.Title+" that is stored as "+stored.duckdbType()+".")
	}
	macro(r.prefix+"_time", "id", duckdbTime(columns), columns[0].aboutTime())
	first := ""
	for _, c := range columns {
		if c.sorts {
			first = c.firstName(first)
			macro(first, "t", c.bounded("CAST(t AS TIMESTAMPTZ)"), c.aboutFirst(first))
		}
	}
	return b.String(), nil
}

// duckdbTime returns the time of an ID of any column's type, because macros have no types.
func duckdbTime(columns []*column) string {
	var texts []string
	other := ""
	for _, c := range columns {
		switch {
		case c.Generates:
			id := fmt.Sprintf("CASE WHEN typeof(id) = 'VARCHAR' THEN %s_parse(CAST(id AS VARCHAR)) "+
				"ELSE TRY_CAST(id AS %s) END", c.prefix, c.duckdbType())
			return c.time(id)
		case c.encoding == spec.Int:
			other = c.time("TRY_CAST(id AS BIGINT)")
		default:
			texts = append(texts, c.time("CAST(id AS VARCHAR)"))
		}
	}
	if texts == nil {
		return other
	}
	text := texts[0]
	if len(texts) > 1 {
		text = "COALESCE(" + strings.Join(texts, ", ") + ")"
	}
	if other != "" {
		text = "CASE WHEN typeof(id) = 'VARCHAR' THEN " + text + " ELSE " + other + " END"
	}
	return text
}

func (c *column) duckdbType() string {
	switch c.encoding {
	case spec.UUID:
		return "UUID"
	case spec.Int:
		return "BIGINT"
	}
	return "BLOB"
}
