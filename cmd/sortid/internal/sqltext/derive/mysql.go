package derive

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sortid/sortid/internal/spec"
)

var mysql = &dialect{
	value: func(text string, at, count int, symbols string) string {
		digits := substr(text, at, count)
		if strings.EqualFold(symbols, hexDigits) {
			return "CAST(CONV(" + digits + ", 16, 10) AS UNSIGNED)"
		}
		return fmt.Sprintf("sortid_digits_value(%s, %s)", digits, quote(symbols))
	},
	write: func(n string, count int, symbols string) string {
		return fmt.Sprintf("sortid_digits_text(%s, %d, %s)", n, count, quote(symbols))
	},
	divide: func(n, by string) string { return "(" + n + " DIV " + by + ")" },
	join:   func(parts []string) string { return "CONCAT(" + strings.Join(parts, ", ") + ")" },
	right:  func(text string, n int) string { return fmt.Sprintf("RIGHT(%s, %d)", text, n) },
	position: func(symbol, text string) string {
		return fmt.Sprintf("LOCATE(%s, %s)", quote(symbol), text)
	},
	fold: func(function, text string) string {
		return strings.ToUpper(function) + "(CONVERT(" + text + " USING latin1))"
	},
	matches: func(c *column, text string) string { // the symbol $ also matches before a last newline
		return fmt.Sprintf("CAST(%s AS BINARY) REGEXP %s AND RIGHT(%[1]s, 1) <> CHAR(10)", text,
			quote(c.pattern()))
	},
	binary:    func(text string) string { return "CAST(" + text + " AS BINARY)" },
	wide:      func(n string) string { return "CAST(" + n + " AS DECIMAL(65))" },
	narrow:    func(n string) string { return "CAST(" + n + " AS UNSIGNED)" },
	wideDiv:   func(n, by string) string { return "((" + n + ") DIV " + by + ")" },
	wideMod:   func(n, by string) string { return "((" + n + ") MOD " + by + ")" },
	uuidHex:   func(value string) string { return "sortid_hex(" + value + ")" },
	uuidOfHex: func(hex string) string { return "UNHEX(" + hex + ")" },
	microsSince: func(epoch time.Time, at string) string { // MariaDB evaluates ELSE too often
		return "GREATEST(0, " + minus("sortid_unix_us("+at+")", epoch) + ")"
	},
	atMicros: func(epoch time.Time, us string) string {
		return fmt.Sprintf("sortid_time_at(TIMESTAMP'%s', %s)", micros(epoch), us)
	},
	literalTime: func(t time.Time) string {
		if t.Year() > 9999 {
			return ""
		}
		return "TIMESTAMP'" + micros(t) + "'"
	},
}

// MySQL returns the functions of a format for MariaDB and MySQL.
func MySQL(f *spec.Format) (string, error) {
	r, err := rulesOf(f)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "-- %s: %s.\n\nDELIMITER //\n", f.Name, f.Summary)
	function := func(name, parameter, typ, body, about string) {
		fmt.Fprintf(&b, "\nDROP FUNCTION IF EXISTS %[1]s //\nCREATE FUNCTION %[1]s(%[2]s) "+
			"RETURNS %[3]s DETERMINISTIC NO SQL\nCOMMENT %[4]s\nRETURN %[5]s //\n",
			name, parameter, typ, quote(about), body)
	}
	columns := r.columns(mysql)
	bytes := slices.DeleteFunc(slices.Clone(columns),
		func(c *column) bool { return c.encoding == spec.Int })
	if len(bytes) > 0 {
		var times []string
		for _, c := range bytes {
			times = append(times, c.time("id"))
		}
		body := times[0]
		if len(times) > 1 {
			body = "COALESCE(" + strings.Join(times, ", ") + ")"
		}
		function(r.prefix+"_time", "id VARBINARY(255)", "DATETIME(6)", body, bytes[0].aboutTime())
	}
	first := ""
	for _, c := range columns {
		if c.encoding == spec.Int {
			name := r.prefix + "_time"
			if len(bytes) > 0 {
				name += "_int"
			}
			function(name, "id BIGINT", "DATETIME(6)", c.time("id"), c.aboutTime())
		}
		if c.sorts {
			first = c.firstName(first)
			function(first, "at DATETIME(6)", c.mysqlType(), c.bounded("at"), c.aboutFirst(first))
		}
	}
	return b.String() + "\nDELIMITER ;\n", nil
}

func (c *column) mysqlType() string {
	switch c.encoding {
	case spec.Int:
		return "BIGINT"
	case spec.UUID:
		return "BINARY(16)"
	}
	return fmt.Sprintf("CHAR(%d) CHARACTER SET ascii COLLATE ascii_bin", c.length)
}
