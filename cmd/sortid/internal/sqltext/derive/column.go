package derive

import (
	"fmt"
	"math/big"
	"strings"
	"time"

	"github.com/sortid/sortid/internal/integer"
	"github.com/sortid/sortid/internal/spec"
)

// A dialect writes expressions for a database. Integers are bigints unless they are wide.
type dialect struct {
	value    func(text string, at, count int, symbols string) string // the integer of some digits
	write    func(n string, count int, symbols string) string        // the digits of an integer
	divide   func(n, by string) string
	join     func(parts []string) string // concatenates texts
	right    func(text string, n int) string
	position func(symbol, text string) string // the first position, from 1
	fold     func(function, text string) string
	matches  func(c *column, text string) string // whether a text has the right characters
	binary   func(text string) string            // to compare by bytes

	// Wide integers have at least 127 bits. If wide is nil, the database has none.
	wide, narrow       func(n string) string
	wideDiv, wideMod   func(n, by string) string
	uuidHex, uuidOfHex func(value string) string // between a stored UUID and its 32 digits
	microsSince        func(epoch time.Time, at string) string
	atMicros           func(epoch time.Time, us string) string // the time so long after the epoch
	literalTime        func(t time.Time) string                // or empty if t is too late or early
}

// minus subtracts the epoch from a Unix time in microseconds.
func minus(us string, epoch time.Time) string {
	switch n := epoch.UnixMicro(); {
	case n < 0:
		return fmt.Sprintf("(%s + %d)", us, -n)
	case n > 0:
		return fmt.Sprintf("(%s - %d)", us, n)
	}
	return us
}

func quote(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

func power(n int) *big.Int { return new(big.Int).Lsh(big.NewInt(1), uint(n)) }

func substr(text string, at, n int) string { return fmt.Sprintf("substr(%s, %d, %d)", text, at, n) }

// shifted returns some bits of an integer. The parameter have is the integer's size in bits.
func shifted(n string, shift, bits, have int) string {
	if shift > 0 {
		n = fmt.Sprintf("(%s >> %d)", n, shift)
	}
	if bits < have-shift {
		n = fmt.Sprintf("(%s & %d)", n, uint64(1)<<bits-1)
	}
	return n
}

// digits returns the digits of the stored value id, without the prefix, in the case of the symbols.
func (c *column) digits(id string) string {
	text := c.folded(id)
	switch {
	case c.encoding == spec.Int:
		return id
	case c.encoding == spec.UUID:
		return c.dialect.uuidHex(id)
	case c.binary:
		return "lower(hex(" + id + "))"
	case c.Text.Prefix == nil:
		return text
	case c.Text.Suffix != "":
		return fmt.Sprintf("substr(%s, %s + 1, %d)", text, c.dialect.position("_", text), c.length)
	}
	return c.dialect.right(text, c.length)
}

func (c *column) folded(id string) string {
	if !c.Text.FoldsCase && c.encoding != spec.Hex {
		return id
	}
	function := "lower"
	if strings.ContainsAny(c.symbols, "ABCDEF") {
		function = "upper"
	}
	return c.dialect.fold(function, id)
}

// bits returns the expression of some bits of the ID with the digits.
func (c *column) bits(digits string, low, n int) string {
	if c.encoding == spec.Int {
		return shifted(digits, low, n, 63)
	}
	for _, g := range c.groups {
		if !g.has(low, n) {
			continue
		}
		at := low - g.Low
		w := g.width()
		switch {
		case w > 0:
			from, end := at/w, (at+n+w-1)/w
			v := c.dialect.value(digits, g.at+g.Digits-end+1, end-from, g.Symbols)
			return shifted(v, at-from*w, n, (end-from)*w)
		case g.isSmall():
			return shifted(c.dialect.value(digits, g.at+1, g.Digits, g.Symbols), at, n, g.Bits)
		}
		return c.wideBits(digits, &g, at)
	}
	panic(fmt.Sprintf("derive: the texts of %s have no group with bits %d to %d", c.Name, low,
		low+n-1))
}

// chunk returns how many digits to handle at once, so that their number has less than 54 bits, and
// how many chunks there are.
func (g *group) chunk() (digits, count int) {
	for g.span(digits+1).BitLen() <= 54 {
		digits++
	}
	return digits, (g.Digits + digits - 1) / digits
}

// wideBits returns all bits of a group above its at lowest bits. The group's number can have more
// bits than a wide integer. So the expression adds up limbs of 64 bits, the lowest first.
func (c *column) wideBits(digits string, g *group, at int) string {
	d := c.dialect
	size, count := g.chunk()
	limb := func(l int) string {
		var terms []string
		factor := big.NewInt(1)
		for i := range count {
			k := new(big.Int).And(new(big.Int).Rsh(factor, uint(64*l)), new(big.Int).Sub(power(64),
				big.NewInt(1)))
			if k.Sign() != 0 {
				end := g.Digits - i*size
				from := max(0, end-size)
				v := d.wide(d.value(digits, g.at+from+1, end-from, g.Symbols))
				terms = append(terms, v+" * "+d.wide(k.String()))
			}
			factor = new(big.Int).Mul(factor, g.span(size))
		}
		return strings.Join(terms, " + ")
	}
	sum := limb(0)
	for l := 1; 64*l <= at; l++ {
		sum = d.wideDiv(sum, power(64).String())
		if more := limb(l); more != "" {
			sum += " + " + more
		}
	}
	if at%64 > 0 {
		sum = d.wideDiv(sum, power(at%64).String())
	}
	for l := at/64 + 1; 64*l < g.Bits; l++ {
		if more := limb(l); more != "" {
			sum += " + (" + more + ") * " + d.wide(power(64*l-at).String())
		}
	}
	return d.narrow(sum)
}

// ticks returns the timestamp of the ID with the digits, as a format f reads it.
func (c *column) ticks(f *spec.Format, digits string) string {
	var parts []string
	for _, field := range f.Layout {
		if field.Kind == spec.KindTime {
			part := c.bits(digits, field.Low, field.Bits)
			if field.Shift > 0 {
				part = fmt.Sprintf("(%s << %d)", part, field.Shift)
			}
			parts = append(parts, part)
		}
	}
	return "(" + strings.Join(parts, " + ") + ")"
}

// checks returns conditions that a value is an ID of a format f, which is the column's format or an
// inner format.
func (c *column) checks(f *spec.Format, id, digits string) (conditions []string) {
	switch c.encoding {
	case spec.Int:
		conditions = append(conditions, fmt.Sprintf("%s BETWEEN 0 AND %s", id, c.literal(c.last())))
	case spec.Text, spec.Hex:
		if c.binary {
			conditions = append(conditions, fmt.Sprintf("octet_length(%s) = %d", id, c.Size))
			break
		}
		conditions = append(conditions, c.dialect.matches(c, c.folded(id)))
		for _, g := range c.groups {
			if limit := power(g.Bits); g.width() == 0 && g.span(g.Digits).Cmp(limit) > 0 {
				largest := writeDigits(limit.Sub(limit, big.NewInt(1)), &g)
				conditions = append(conditions, fmt.Sprintf("%s <= %s",
					c.dialect.binary(substr(digits, g.at+1, g.Digits)), quote(largest)))
			}
		}
	}
	for _, field := range f.Layout {
		if field.Kind != spec.KindFixed && field.Kind != spec.KindZero || !c.has(field) {
			continue
		}
		conditions = append(conditions,
			fmt.Sprintf("%s = %d", c.bits(digits, field.Low, field.Bits), field.Value))
	}
	return conditions
}

// has reports whether a value contains the field.
func (c *column) has(field spec.Field) bool {
	for _, g := range c.groups {
		if g.has(field.Low, field.Bits) {
			return g.width() > 0 || g.isSmall()
		}
	}
	return c.groups == nil && field.Low < 63
}

func writeDigits(n *big.Int, g *group) string {
	text := make([]byte, g.Digits)
	rest, base := new(big.Int), big.NewInt(int64(len(g.Symbols)))
	n = new(big.Int).Set(n)
	for i := range text {
		n.DivMod(n, base, rest)
		text[g.Digits-1-i] = g.Symbols[rest.Int64()]
	}
	return string(text)
}

// time returns the time of a value, or NULL if the value is not an ID.
func (c *column) time(id string) string {
	digits := c.digits(id)
	var b strings.Builder
	b.WriteString("CASE")
	for _, f := range c.inner {
		ticks := c.ticks(f, digits)
		us := ""
		switch {
		case f.Tick < time.Microsecond:
			us = c.dialect.divide(ticks, fmt.Sprint(int64(time.Microsecond/f.Tick)))
		case f.Tick == time.Microsecond:
			us = ticks
		default:
			us = fmt.Sprintf("%s * %d", ticks, f.Tick.Microseconds())
		}
		at := c.dialect.atMicros(f.Epoch, us)
		checks := c.checks(f, id, digits)
		if checks == nil {
			return at
		}
		fmt.Fprintf(&b, "\n  WHEN %s\n  THEN %s", strings.Join(checks, "\n    AND "), at)
	}
	return b.String() + "\n  END"
}

// part returns some bits of a time's first ID. The parameter t is the timestamp. If the bits are
// always the same, expression is empty.
func (c *column) part(t string, low, n int) (expression string, constant uint64) {
	var terms []string
	for _, field := range c.usual.Layout {
		from, end := max(low, field.Low), min(low+n, field.Low+field.Bits)
		if from >= end {
			continue
		}
		switch field.Kind {
		case spec.KindTime:
			shift := field.Shift + from - field.Low
			term := shifted(t, shift, end-from, timestampBits(c.usual))
			if from > low {
				term = fmt.Sprintf("(%s << %d)", term, from-low)
			}
			terms = append(terms, term)
		case spec.KindFixed, spec.KindZero:
			bits := field.Value >> (from - field.Low) & (1<<(end-from) - 1)
			constant |= bits << (from - low)
		}
	}
	if terms == nil {
		return "", constant
	}
	if constant != 0 {
		terms = append(terms, fmt.Sprint(constant))
	}
	return strings.Join(terms, " + "), constant
}

// first returns the smallest value of a timestamp t.
func (c *column) first(t string) string {
	if c.encoding == spec.Int {
		expression, _ := c.part(t, 0, 64)
		return expression
	}
	var parts []string
	constant := ""
	flush := func() {
		if constant != "" {
			parts = append(parts, quote(constant))
		}
		constant = ""
	}
	for _, g := range c.groups {
		constant += g.Before
		w := g.width()
		if w == 0 && !g.isSmall() {
			flush()
			parts = append(parts, c.wideFirst(t, &g)...)
			continue
		}
		size := g.Digits
		if w > 0 {
			size = min(g.Digits, 60/w)
		}
		for at := 0; at < g.Digits; at += size {
			n := min(size, g.Digits-at)
			low, bits := g.Low, g.Bits
			if w > 0 {
				low, bits = g.Low+(g.Digits-at-n)*w, n*w
			}
			expression, same := c.part(t, low, bits)
			if expression == "" {
				part := group{TextPart: spec.TextPart{Digits: n, Symbols: g.Symbols}}
				constant += writeDigits(new(big.Int).SetUint64(same), &part)
				continue
			}
			flush()
			parts = append(parts, c.dialect.write("("+expression+")", n, g.Symbols))
		}
	}
	flush()
	text := c.dialect.join(parts)
	return c.ofHex(text)
}

// ofHex turns digits into the stored value.
func (c *column) ofHex(digits string) string {
	switch {
	case c.encoding == spec.UUID:
		return c.dialect.uuidOfHex(digits)
	case c.binary:
		return "unhex(" + digits + ")"
	}
	return digits
}

func timestampBits(f *spec.Format) (n int) {
	for _, field := range f.Layout {
		if field.Kind == spec.KindTime {
			n += field.Bits
		}
	}
	return n
}

// A term is an integer at a position in an ID.
type term struct {
	n   string
	low int
}

// wideFirst returns the digits of a group whose number does not fit a bigint.
func (c *column) wideFirst(t string, g *group) []string {
	constant := new(big.Int)
	var terms []term
	for _, field := range c.usual.Layout {
		switch {
		case !g.has(field.Low, field.Bits):
		case field.Kind == spec.KindTime:
			n := shifted(t, field.Shift, field.Bits, timestampBits(c.usual))
			terms = append(terms, term{n, field.Low})
		case field.Kind == spec.KindFixed:
			constant.Or(constant, new(big.Int).Lsh(new(big.Int).SetUint64(field.Value),
				uint(field.Low-g.Low)))
		}
	}
	return c.wideDigits(terms, constant, g)
}

// wideDigits returns the digits of a sum. Each chunk of digits is the sum of the terms' products
// and the carry of the lower chunks.
func (c *column) wideDigits(terms []term, constant *big.Int, g *group) []string {
	d := c.dialect
	size, count := g.chunk()
	parts := make([]string, count)
	m := g.span(size)
	chunkOf := func(n *big.Int, i int) *big.Int {
		n = new(big.Int).Div(n, g.span(i*size))
		return n.Mod(n, m)
	}
	carry := ""
	for i := range count {
		var sums []string
		if k := chunkOf(constant, i); k.Sign() != 0 {
			sums = append(sums, k.String())
		}
		for _, t := range terms {
			if k := chunkOf(power(t.low-g.Low), i); k.Sign() != 0 {
				sums = append(sums, d.wide(t.n)+" * "+d.wide(k.String()))
			}
		}
		if carry != "" {
			sums = append(sums, carry)
		}
		sum := strings.Join(sums, " + ")
		parts[count-1-i] = d.write(d.narrow(d.wideMod(sum, m.String())),
			min(size, g.Digits-i*size), g.Symbols)
		carry = d.wideDiv(sum, m.String())
	}
	return parts
}

// last returns the largest ID that the column can store.
func (c *column) last() integer.Words {
	w := c.largest()
	if c.encoding == spec.Int {
		w.Low = min(w.Low, 1<<63-1)
	}
	return w
}

// bounded returns the function F_first: the first value of the time at, the smallest ID for times
// before the epoch, and the largest ID for times after the last.
func (c *column) bounded(at string) string {
	f, d := c.usual, c.dialect
	us := d.microsSince(f.Epoch, at)
	ticks := ""
	switch {
	case f.Tick < time.Microsecond:
		ticks = fmt.Sprintf("(%s * %d)", us, int64(time.Microsecond/f.Tick))
	case f.Tick == time.Microsecond:
		ticks = us
	default:
		ticks = d.divide(us, fmt.Sprint(f.Tick.Microseconds()))
	}
	smallest, _, err := c.Bounds(f.Epoch, f.Epoch.AddDate(1, 0, 0))
	if err != nil {
		panic(err)
	}
	var b strings.Builder
	b.WriteString("CASE")
	if t := d.literalTime(f.Epoch); t != "" {
		fmt.Fprintf(&b, "\n  WHEN %s < %s THEN %s", at, t, c.literal(smallest))
	}
	if t := d.literalTime(c.end()); t != "" {
		fmt.Fprintf(&b, "\n  WHEN %s >= %s THEN %s", at, t, c.literal(c.last()))
	}
	if b.Len() == len("CASE") {
		return c.first(ticks)
	}
	return b.String() + "\n  ELSE " + c.first(ticks) + "\n  END"
}

// end returns the time after the last tick, in whole microseconds.
func (c *column) end() time.Time {
	last := c.last()
	end := c.Time(&last).Add(c.usual.Tick)
	if whole := end.Truncate(time.Microsecond); whole.Before(end) {
		return whole.Add(time.Microsecond)
	}
	return end
}

// literal returns an ID as a stored value.
func (c *column) literal(w integer.Words) string {
	text := c.In(w, c.encoding)
	switch c.encoding {
	case spec.Int:
		return text
	case spec.UUID:
		text = c.In(w, spec.Hex)
	}
	return c.ofHex(quote(text[len(text)-c.length:]))
}
