package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/fatih/color"
	"github.com/sortid/sortid/cmd/sortid/internal/console"
	"github.com/sortid/sortid/cmd/sortid/internal/inspect"
	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/internal/words"
)

var palette = []*color.Color{
	color.New(color.FgHiCyan), color.New(color.FgHiYellow), color.New(color.FgHiMagenta),
	color.New(color.FgHiGreen), color.New(color.FgHiBlue), color.New(color.FgHiRed),
	color.New(color.FgCyan), color.New(color.FgYellow),
}

// A band is a field on the map of bits. The letter is for output without colours.
type band struct {
	value  format.Value
	style  *color.Color
	letter byte
}

func bands(r *inspect.Reading) []band {
	layout := inspect.Layout(r.ID)
	if r.Split != nil {
		layout = append(layout[:1:1], r.Split...)
	}
	var all []band
	used, colour := "", 0
	for _, f := range layout {
		v := band{value: f.Of(r.ID), style: console.Faint, letter: '.'}
		if f.Name != "" {
			v.style = palette[colour]
			colour++
			for _, c := range []byte(f.Name + "abcdefgh") {
				if 'a' <= c && c <= 'z' && strings.IndexByte(used, c) < 0 {
					v.letter = c
					break
				}
			}
			used += string(v.letter)
		}
		all = append(all, v)
	}
	return all
}

// appendCard draws an ID for people.
func appendCard(c *console.Console, b []byte, r *inspect.Reading, now time.Time) []byte {
	name := r.Name()
	if !r.Ours() {
		name = r.ID.Format().Title()
	}
	title := c.Paint(console.Strong, name) + "  " + c.Paint(console.Strong, r.Text())
	summary := r.ID.Format().Summary()
	if len(name)+2+len(r.Text())+2+len(summary) <= c.Width {
		title += "  " + c.Paint(console.Faint, summary)
	}
	b = fmt.Appendf(b, "%s\n\n", title)
	fields := bands(r)
	if len(r.ID.Format().Encodings()) > 1 || r.ID.Format().Encodings()[0] != format.Text {
		b = append(bits(c, b, r.ID, fields), '\n')
	} // a format that has only texts has no map of bits
	b = append(table(c, b, fields), '\n')
	line := func(name, value string) { b = appendLine(c, b, name, value) }
	if t := r.Time(); !t.IsZero() {
		line("time", c.Paint(console.Strong, words.Time(t))+", "+distance(t, now))
		line("local", t.Local().Format("2006-01-02 15:04:05.000 -07:00"))
	}
	for _, e := range r.ID.Format().Encodings()[1:] { // the first is in the title
		line(string(e), r.ID.In(e))
	}
	for _, note := range r.Notes() {
		line("note", c.Paint(console.Caution, note))
	}
	line("read", "as "+r.As()+": "+r.Reason())
	if r.Stripped != nil {
		line("from", inspect.Quote(r.Input)+", without "+strings.Join(r.Stripped, ", "))
	}
	for i := range r.Others {
		o := &r.Others[i]
		value := "as " + o.As() + ": " + o.Shape()
		if t := o.Time(); !t.IsZero() {
			value += ": " + words.Time(t)
		}
		line("or", value)
	}
	return b
}

func appendLine(c *console.Console, b []byte, name, value string) []byte {
	return fmt.Appendf(b, "  %s  %s\n", c.Paint(console.Faint, fmt.Sprintf("%-6s", name)),
		console.Wrap(value, max(c.Width-10, 30), strings.Repeat(" ", 10)))
}

// bits appends the map of bits. Without colours, letters below the bits show the fields.
func bits(c *console.Console, b []byte, id format.ID, fields []band) []byte {
	raw := id.Bytes()
	perRow := 8
	if c.Width < 2+8*9 {
		perRow = 4
	}
	of := func(bit int) *band { // the field of a bit, counted from the left
		place := len(raw)*8 - 1 - bit
		for i := range fields {
			if fields[i].value.Low <= place {
				return &fields[i]
			}
		}
		return nil
	}
	var digits, letters []byte
	for start := 0; start < len(raw); start += perRow {
		row := raw[start:min(start+perRow, len(raw))]
		digits, letters = digits[:0], append(letters[:0], "  "...)
		current := of(start * 8)
		b = append(b, "  "...)
		for i := range len(row) * 8 {
			if i > 0 && i%8 == 0 {
				digits, letters = append(digits, ' '), append(letters, ' ')
			}
			if f := of(start*8 + i); f != current {
				b = append(b, c.Paint(current.style, string(digits))...)
				digits, current = digits[:0], f
			}
			digits = append(digits, '0'+row[i/8]>>(7-i%8)&1)
			letters = append(letters, current.letter)
		}
		b = append(b, c.Paint(current.style, string(digits))...)
		b = append(b, '\n')
		if !c.Colours {
			b = append(append(b, letters...), '\n')
		}
	}
	return b
}

func table(c *console.Console, b []byte, fields []band) []byte {
	name, size, value := 0, 2, 0
	for _, f := range fields {
		if f.value.Name != "" {
			name, size = max(name, len(f.value.Name)), max(size, len(strconv.Itoa(f.value.Bits)))
			value = max(value, len(f.value.String()))
		}
	}
	indent := 4 + name + 2 + size + 5 + 2 + value + 2
	for _, f := range fields {
		if f.value.Name == "" {
			continue
		}
		mark := string(f.letter)
		if c.Colours {
			mark = "■"
		}
		meaning := console.Wrap(f.value.Meaning, max(c.Width-indent, 12),
			strings.Repeat(" ", indent))
		b = fmt.Appendf(b, "  %s %s  %*d bits  %*s  %s\n", c.Paint(f.style, mark),
			c.Paint(f.style, fmt.Sprintf("%-*s", name, f.value.Name)),
			size, f.value.Bits, value, f.value.String(), meaning)
	}
	return b
}

// gap says how much later or earlier t is than the other time.
func gap(t, other time.Time) string {
	d, order := t.Sub(other), "later than"
	switch {
	case d == 0:
		return "the same time as"
	case d < 0:
		d, order = -d, "earlier than"
	}
	const day = 24 * time.Hour
	words := ""
	if n := d / day; n > 0 {
		words = quantity(int64(n), "day") + " "
	}
	return words + (d % day).String() + ", " + order
}

// distance says how far t is from now, in two units.
func distance(t, now time.Time) string {
	d := now.Unix() - t.Unix() // a time.Duration is at most 292 years
	past := d >= 0
	if !past {
		d = -d
	}
	if d == 0 {
		return "just now"
	}
	const hour, day = 3600, 24 * 3600
	units := []struct {
		name   string
		length int64
	}{{"year", 365*day + 6*hour}, {"month", 30*day + 10*hour}, {"day", day}, {"hour",
		hour}, {"minute", 60}, {"second", 1}}
	words := ""
	for i, u := range units {
		n := d / u.length
		if n == 0 {
			continue
		}
		words = quantity(n, u.name)
		if i+1 < len(units) {
			if m := d % u.length / units[i+1].length; m > 0 {
				words += " " + quantity(m, units[i+1].name)
			}
		}
		break
	}
	if past {
		return words + " ago"
	}
	return "in " + words
}

func quantity(n int64, unit string) string {
	if n != 1 {
		unit += "s"
	}
	return fmt.Sprintf("%d %s", n, unit)
}
