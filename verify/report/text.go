package report

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/sortid/sortid/internal/words"
)

// A Tone says how text should look.
type Tone int

const (
	Plain Tone = iota
	Strong
	Faint
	Good
	Caution
	Bad
)

// A Style says how to write text. The zero value is for files and pipes.
type Style struct {
	Paint func(t Tone, s string) string // nil: no colours
	Bars  bool                          // draw charts with block characters
	Width int                           // in characters; 0: no limit
}

func (s Style) paint(t Tone, text string) string {
	if s.Paint == nil || t == Plain {
		return text
	}
	return s.Paint(t, text)
}

var marks = map[Status]struct {
	word string
	tone Tone
}{
	Pass: {"ok", Good},
	Warn: {"warn", Caution},
	Fail: {"FAIL", Bad},
	Skip: {"-", Faint},
}

func (s Style) mark(status Status) string {
	m := marks[status]
	return s.paint(m.tone, fmt.Sprintf("%-4s", m.word))
}

type printer struct {
	style Style
	w     io.Writer
	line  strings.Builder // the incomplete line
	err   error
}

func (p *printer) printf(format string, args ...any) {
	for line := range strings.Lines(fmt.Sprintf(format, args...)) {
		p.line.WriteString(line)
		if p.err == nil && strings.HasSuffix(line, "\n") {
			_, p.err = io.WriteString(p.w, wrap(p.line.String(), p.style.Width))
			p.line.Reset()
		}
	}
}

func (p *printer) title(title string) { p.printf("\n%s\n", p.style.paint(Strong, title)) }

// wrap breaks a line at spaces, so that no part is longer than width. It breaks a word only if the
// word is too long for a part. It indents all parts except the first by two more spaces.
func wrap(line string, width int) string {
	indent := len(line) - len(strings.TrimLeft(line, " ")) + 2
	if width <= indent+10 {
		return line
	}
	var b strings.Builder
	column, space, spaceColumn := 0, 0, 0 // space is the index after the last space in b
	escape := false
	for _, r := range line {
		if column == width && r != '\n' && r != ' ' && r != '\x1b' && !escape {
			rest := ""
			if spaceColumn > indent {
				rest = b.String()[space:]
				kept := strings.TrimRight(b.String()[:space], " ")
				b.Reset()
				b.WriteString(kept)
				column -= spaceColumn
			} else {
				column = 0
			}
			b.WriteString("\n" + strings.Repeat(" ", indent) + rest)
			column += indent
			spaceColumn = 0
		}
		b.WriteRune(r)
		switch {
		case r == '\x1b':
			escape = true
		case escape:
			escape = r != 'm'
		default:
			column++
			if r == ' ' { // a space at a line's end has no width
				column = min(column, width)
				space, spaceColumn = b.Len(), column
			}
		}
	}
	return b.String()
}

// Text writes a report for people.
func Text(w io.Writer, r *Report, s Style) error {
	p := &printer{style: s, w: w}
	p.printf("%s  %s: %s\n", s.mark(r.Status), s.paint(Strong, source(r)),
		s.paint(Strong, verdict(r)))
	p.printf("      %s\n", s.paint(Faint, volume(r)))
	p.printf("\n")
	for _, g := range Groups() {
		p.group(r, g.Name, g.Title)
	}
	p.outcomes("Failed", r.Failed(), Bad)
	p.outcomes("Warnings", r.Warned(), Caution)
	p.fields(r)
	p.facts(r)
	p.skipped(r)
	return p.err
}

func (p *printer) group(r *Report, name, title string) {
	n := tally(r, name)
	var status Status
	var words []string
	for _, c := range []struct {
		status Status
		word   string
	}{{Fail, "failed"}, {Warn, "warned"}, {Pass, "passed"}, {Skip, "not made"}} {
		if n[c.status] > 0 {
			status = cmp.Or(status, c.status)
			words = append(words, fmt.Sprintf("%d %s", n[c.status], c.word))
		}
	}
	if status == "" {
		return
	}
	p.printf("  %-7s %s  %s %s\n", name, p.style.mark(status), title,
		p.style.paint(Faint, "("+strings.Join(words, ", ")+")"))
}

func (p *printer) outcomes(title string, cs []Outcome, tone Tone) {
	if len(cs) == 0 {
		return
	}
	p.title(title)
	field := ""
	for _, c := range cs {
		if c.Group() == "random" {
			dot := strings.LastIndexByte(c.Name, '.')
			if c.Name[:dot] != field {
				field = c.Name[:dot]
				p.printf("  %s\n", p.style.paint(tone, field))
			}
			p.printf("      %-10s  %s\n", c.Name[dot+1:], c.Detail)
			continue
		}
		p.printf("  %s  %s\n", p.style.paint(tone, c.Name), c.Headline())
		if f := found(c); f != "" {
			p.printf("      %s\n", f)
		}
		for _, e := range c.Examples {
			p.printf("      %s\n", p.style.paint(Faint, example(e)))
		}
		if left := c.Count - uint64(len(c.Examples)); len(c.Examples) > 0 && left > 0 {
			p.printf("      %s\n", p.style.paint(Faint, "and "+words.Count(left)+" more"))
		}
	}
}

var blocks = []rune("▁▂▃▄▅▆▇█")

func bars(values []float64, full float64) string {
	out := make([]rune, len(values))
	for i, v := range values {
		out[i] = ' '
		if v > 0 && full > 0 {
			out[i] = blocks[min(len(blocks)-1, int(v/full*float64(len(blocks))))]
		}
	}
	return string(out)
}

func (p *printer) fields(r *Report) {
	if !slices.ContainsFunc(r.Fields, func(f Field) bool { return f.Values > 0 }) {
		return
	}
	p.title("Random fields")
	width := 0
	for _, f := range r.Fields {
		width = max(width, len(f.Name))
	}
	for _, f := range r.Fields {
		p.printf("  %-*s  %s", width, f.Name, tested(f))
		if f.Tests > 0 {
			p.printf(": %s", smallest(f))
		}
		p.printf("\n")
		if p.style.Bars && len(f.Ones) > 0 {
			p.printf("  %*s  %s %s\n", width, "", p.style.paint(Good, bars(deviations(f), 8)),
				p.style.paint(Faint, "how far each bit's share of ones is from one half: at most "+
					fmt.Sprintf("%.1f", slices.Max(deviations(f)))+" standard deviations"))
		}
		p.printf("  %*s  %s\n", width, "", p.style.paint(Faint, bias(f)))
	}
}

// deviations returns how far each bit's share of ones is from one half, in standard deviations.
func deviations(f Field) []float64 {
	d := make([]float64, len(f.Ones))
	for i, share := range f.Ones {
		d[i] = math.Abs(share-0.5) * 2 * math.Sqrt(float64(f.Values))
	}
	return d
}

func (p *printer) facts(r *Report) {
	if len(r.Facts) == 0 {
		return
	}
	p.title("What the IDs show")
	width := 0
	for _, f := range r.Facts {
		width = max(width, len(f.Name))
	}
	for _, f := range r.Facts {
		p.printf("  %s  %s\n", p.style.paint(Faint, fmt.Sprintf("%-*s", width, f.Name)), f.Value)
	}
	if p.style.Bars && len(r.Timeline.Count) > 1 {
		counts := shrink(r.Timeline.Count, 60)
		if room := p.style.Width - width - 4; p.style.Width > 0 && room < len(counts) {
			counts = shrink(r.Timeline.Count, max(room, 10))
		}
		p.printf("  %s  %s\n", p.style.paint(Faint, fmt.Sprintf("%-*s", width, "IDs over time")),
			p.style.paint(Good, bars(counts, slices.Max(counts)*1.0001)))
	}
}

// shrink adds neighbouring counts, so that no more than n are left.
func shrink(counts []uint64, n int) []float64 {
	each := (len(counts) + n - 1) / n
	out := make([]float64, (len(counts)+each-1)/each)
	for i, count := range counts {
		out[i/each] += float64(count)
	}
	return out
}

func (p *printer) skipped(r *Report) {
	reasons := map[string][]string{}
	var order []string
	for _, c := range r.Checks {
		if c.Status != Skip {
			continue
		}
		if reasons[c.Detail] == nil {
			order = append(order, c.Detail)
		}
		name := c.Name
		if c.Group() == "random" && allSkipped(r, name[:strings.LastIndexByte(name, '.')+1]) {
			name = name[:strings.LastIndexByte(name, '.')]
		}
		if !slices.Contains(reasons[c.Detail], name) {
			reasons[c.Detail] = append(reasons[c.Detail], name)
		}
	}
	if len(order) == 0 {
		return
	}
	p.title("Not checked")
	for _, reason := range order {
		p.printf("  %s: %s\n", p.style.paint(Faint, strings.Join(reasons[reason], ", ")), reason)
	}
}

func allSkipped(r *Report, prefix string) bool {
	return !slices.ContainsFunc(r.Checks, func(c Outcome) bool {
		return strings.HasPrefix(c.Name, prefix) && c.Status != Skip
	})
}

// UniqueText writes the outcome of a search for people.
func UniqueText(w io.Writer, r *Unique, s Style) error {
	p := &printer{style: s, w: w}
	p.printf("%s  %s\n", s.mark(r.Status), s.paint(Strong, uniqueVerdict(r)))
	p.printf("      %s\n", s.paint(Faint, uniqueVolume(r)))
	if len(r.First) > 0 {
		p.title("Duplicates")
		for _, d := range r.First {
			p.printf("  %s  %s\n", s.paint(Bad, d.Text), places(d))
		}
		if n := left(r); n != "" {
			p.printf("  %s\n", s.paint(Faint, "and "+n+" more"))
		}
	}
	if len(r.Clashes) > 0 {
		p.title("Node IDs that clash")
		for _, c := range r.Clashes {
			p.printf("  %s  %s\n", s.paint(Bad, c.Node), clash(c))
		}
	}
	p.title("Sources")
	for _, src := range r.Sources {
		p.printf("  %s  %s\n", src.Name, s.paint(Faint, sourceNotes(src)))
		for _, fault := range src.faults(r.Format + " ID") {
			p.printf("      %s\n", s.paint(Bad, fault))
		}
		for _, e := range src.Examples {
			p.printf("      %s\n", s.paint(Faint, example(e)))
		}
	}
	return p.err
}

func uniqueVolume(r *Unique) string {
	return fmt.Sprintf("%s, %s in %s", r.Format, words.Plural(r.IDs, "ID"),
		words.Plural(uint64(len(r.Sources)), "source")) + speed(r.IDs, r.Elapsed)
}

// left returns how many duplicates are not in r.First, or "".
func left(r *Unique) string {
	n := r.Duplicates - uint64(len(r.First))
	if n == 0 {
		return ""
	}
	return words.Count(n)
}

func clash(c Clash) string {
	who := c.Sources[0] + " and " + c.Sources[1]
	if c.Sources[0] == c.Sources[1] {
		who = "within " + c.Sources[0]
	}
	return who + ": " + words.Plural(c.Duplicates, "duplicate")
}

func sourceNotes(src Source) string {
	notes := words.Plural(src.IDs, "ID")
	if src.Node != "" {
		notes += ", node ID: " + src.Node
	}
	if src.Copied {
		notes += ", sorted on disk"
	}
	return notes
}

func uniqueVerdict(r *Unique) string {
	switch {
	case r.Interrupted && r.Duplicates > 0:
		return fmt.Sprintf(
			"interrupted after comparing %s: %s on more than one line",
			words.Plural(r.Compared, "ID"), words.Plural(r.Duplicates, "ID"))
	case r.Interrupted && r.Compared == 0:
		return fmt.Sprintf("interrupted after reading %s: none of them were compared",
			words.Plural(r.IDs, "ID"))
	case r.Interrupted:
		return fmt.Sprintf(
			"interrupted after reading %s: of these, %s compared, each on one line",
			words.Plural(r.IDs, "ID"), words.Count(r.Compared))
	case r.Duplicates > 0:
		return fmt.Sprintf("%s on more than one line", words.Plural(r.Duplicates, "ID"))
	case r.IDs == 0:
		return "there are no IDs"
	case r.Status == Fail:
		return "each ID is on one line, but there are lines that could not be read"
	}
	return "each ID is on one line"
}

func places(d Duplicate) string {
	const limit = 10
	var parts []string
	for _, p := range d.Places[:min(len(d.Places), limit)] {
		parts = append(parts, p.Source+":"+fmt.Sprint(p.Line))
	}
	if left := d.Count - uint64(len(parts)); left > 0 {
		parts = append(parts, words.Count(left)+" more")
	}
	return strings.Join(parts, ", ")
}
