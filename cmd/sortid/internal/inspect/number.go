package inspect

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/internal/spec"
)

// A number is what spreadsheets and programs make of an integer.
type number struct {
	digits string  // Of the integer.
	step   float64 // A floating-point number may be rounded to a multiple of it; 0 means exact.
	cut    float64 // The value of the last digit that was written.
	signed bool    // Whether the text had a minus sign.
}

// numerals are a sign, digits, also in groups of three, and the suffix of a literal, or a fraction
// and an exponent. Without a point or a plus sign, an exponent could be a part of a hexadecimal
// number.
var numerals = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(
		`(?i)^(-?)([0-9]{1,50}|[0-9]{1,3}(?:,[0-9]{3})+|[0-9]{1,3}(?:_[0-9]{3})+)` +
			`(?:(n|u?l{1,2}|u)|\.(0+)|(?:[.,]([0-9]{0,50}))?e(\+?[0-9]{1,2}))?$`)
})

// readNumber reads a number that is not only digits. The result form says what was not a digit.
func readNumber(text string) (n number, form string, ok bool) {
	if !mayBeNumber(text) {
		return n, "", false // most texts
	}
	parts := numerals().FindStringSubmatch(text)
	if parts == nil {
		return n, "", false
	}
	sign, digits, suffix, zeros, fraction, exponent := parts[1], parts[2], parts[3], parts[4],
		parts[5], parts[6]
	if bare := strings.NewReplacer(",", "", "_", "").Replace(digits); bare != digits {
		n, form, digits = number{digits: bare}, "separators", bare
	}
	switch {
	case exponent != "":
		if n, ok = scaled(digits, fraction, exponent); !ok {
			return n, "", false
		}
		form = "exponent"
	case zeros != "":
		n, form = number{digits: digits, step: spacing(digits)}, "fraction"
	case suffix != "":
		n, form = number{digits: digits}, "suffix"
	}
	if sign == "" {
		return n, form, form != ""
	}
	v, err := strconv.ParseInt(sign+digits, 10, 64)
	if err != nil || zeros != "" || exponent != "" {
		return number{}, "", false
	}
	return number{digits: strconv.FormatUint(uint64(v), 10), signed: true}, "sign", true
}

// mayBeNumber reports whether digits are before the end or before what may follow digits. It is fast.
func mayBeNumber(text string) bool {
	digits := strings.TrimPrefix(text, "-")
	i := 0
	for i < len(digits) && '0' <= digits[i] && digits[i] <= '9' {
		i++
	}
	if i == len(digits) {
		return i > 0 && len(text) > len(digits) // with a sign
	}
	return i > 0 && strings.IndexByte(".,_eEnNuUlL", digits[i]) >= 0
}

// scaled reads a number with an exponent. It must be an integer.
func scaled(digits, fraction, exponent string) (n number, ok bool) {
	power, err := strconv.Atoi(exponent)
	if err != nil || fraction == "" && exponent[0] != '+' {
		return n, false
	}
	rest := ""
	if len(fraction) > power {
		fraction, rest = fraction[:power], fraction[power:]
	}
	zeros := power - len(fraction)
	n.digits = strings.TrimLeft(digits+fraction+strings.Repeat("0", zeros), "0")
	n.step = spacing(n.digits)
	if zeros > 0 {
		n.cut = math.Pow10(zeros)
	}
	return n, n.digits != "" && strings.Trim(rest, "0") == ""
}

// spacing returns the difference between neighbouring floating-point numbers of 64 bits near an
// integer, or 0 if it is at most 1.
func spacing(digits string) float64 {
	v, _ := strconv.ParseFloat(digits, 64)
	if _, bits := math.Frexp(v); bits > 53 {
		return math.Ldexp(1, bits-53)
	}
	return 0
}

// rounded reports whether the ID may differ from the number that was read.
func (n *number) rounded() bool { return n.step > 0 || n.cut > 0 }

// note says what the number is if it is not exactly the ID, or is empty.
func (n *number) note(id format.ID) string {
	switch {
	case n.signed:
		return "a signed 64-bit integer; the unsigned value is " + n.digits
	case n.cut > 0:
		return "rounded: the ID is lost" + n.known(id)
	case n.step > 0:
		return fmt.Sprintf("a floating-point number, which may be rounded to a multiple of %.0f: "+
			"then the ID is lost", n.step) + n.known(id)
	}
	return ""
}

// known says how well the time is known.
func (n *number) known(id format.ID) string {
	f := spec.Of(id.Format())
	for _, field := range f.Layout {
		if field.Kind == spec.KindTime {
			ticks := math.Ceil(math.Ldexp((n.step+n.cut)/2, -field.Low))
			return fmt.Sprintf("; its time is known to ±%.0f ms",
				math.Ceil(ticks*float64(f.Tick)/1e6))
		}
	}
	return ""
}
