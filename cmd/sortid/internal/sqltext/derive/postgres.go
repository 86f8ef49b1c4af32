package derive

import (
	"fmt"
	"strings"
	"time"

	"github.com/sortid/sortid/internal/spec"
)

var postgres = &dialect{
	value: func(text string, at, count int, symbols string) string {
		digits := substr(text, at, count)
		if strings.EqualFold(symbols, hexDigits) && count < 16 {
			return fmt.Sprintf("('x' || %s)::bit(%d)::bigint", digits, 4*count)
		}
		return fmt.Sprintf("sortid.digits_value(%s, %s)", digits, quote(symbols))
	},
	write: func(n string, count int, symbols string) string {
		if symbols == hexDigits {
			return fmt.Sprintf("lpad(to_hex(%s), %d, '0')", n, count)
		}
		return fmt.Sprintf("sortid.digits_text(%s, %d, %s)", n, count, quote(symbols))
	},
	divide: func(n, by string) string { return "(" + n + " / " + by + ")" },
	join:   func(parts []string) string { return strings.Join(parts, " || ") },
	right:  func(text string, n int) string { return fmt.Sprintf("right(%s, %d)", text, n) },
	position: func(symbol, text string) string {
		return fmt.Sprintf("strpos(%s, %s)", text, quote(symbol))
	},
	fold: func(function, text string) string {
		return fmt.Sprintf("%s(%s COLLATE \"C\")", function, text)
	},
	matches: func(c *column, text string) string {
		return fmt.Sprintf("%s COLLATE \"C\" ~ %s", text, quote(c.pattern()))
	},
	binary:    func(text string) string { return text + " COLLATE \"C\"" },
	wide:      func(n string) string { return n + "::numeric" },
	narrow:    func(n string) string { return "(" + n + ")::bigint" },
	wideDiv:   func(n, by string) string { return fmt.Sprintf("div(%s, %s)", n, by) },
	wideMod:   func(n, by string) string { return fmt.Sprintf("mod(%s, %s)", n, by) },
	uuidHex:   func(value string) string { return fmt.Sprintf("encode(uuid_send(%s), 'hex')", value) },
	uuidOfHex: func(hex string) string { return "(" + hex + ")::uuid" },
	microsSince: func(epoch time.Time, at string) string {
		return minus("sortid.unix_us("+at+")", epoch)
	},
	atMicros: func(epoch time.Time, us string) string {
		return fmt.Sprintf("sortid.time_at(timestamp '%s', %s)", micros(epoch), us)
	},
	literalTime: func(t time.Time) string { return "timestamptz '" + micros(t) + "+00'" },
}

// micros writes a time with the digits that it needs, at most six after the point.
func micros(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05.999999") }

var postgresTypes = map[spec.Encoding]string{
	spec.Text: "text", spec.Hex: "text", spec.UUID: "uuid", spec.Int: "bigint",
}

// Postgres returns the functions of a format for PostgreSQL.
func Postgres(f *spec.Format) (string, error) {
	r, err := rulesOf(f)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "-- %s: %s.\n", f.Name, f.Summary)
	name := ""
	for _, c := range r.columns(postgres) {
		typ := postgresTypes[c.encoding]
		fmt.Fprintf(&b, `
CREATE OR REPLACE FUNCTION sortid.%[1]s_time(id %[2]s) RETURNS timestamptz
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN %[3]s;
COMMENT ON FUNCTION sortid.%[1]s_time(%[2]s) IS
%[4]s;
`, r.prefix, typ, c.time("id"), quote(c.aboutTime()))
		if !c.sorts {
			continue
		}
		name = c.firstName(name)
		fmt.Fprintf(&b, `
CREATE OR REPLACE FUNCTION sortid.%[1]s("time" timestamptz) RETURNS %[2]s
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN %[3]s;
COMMENT ON FUNCTION sortid.%[1]s(timestamptz) IS
%[4]s;
`, name, typ, c.bounded(`"time"`), quote(c.aboutFirst(name)))
	}
	return b.String(), nil
}
