package main

import (
	"bytes"
	"cmp"
	_ "embed"
	"fmt"
	"html"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"text/template"

	"github.com/sortid/sortid/dev/bench"
)

// A document has a subcommand's results for docs/benchmarks.md.
type document struct {
	*bench.Set
	charts string // the folder of the charts
}

//go:embed parts.md.tmpl
var parts string

func (d *document) write(w io.Writer, part string, o options) error {
	t, err := template.New("").Funcs(template.FuncMap{
		"machine": d.machine, "count": func() int { return o.count },
		"benchtime": func() string { return o.benchtime },
		"config":    func(key string) string { return d.Config[key] },
		"figure":    d.figure, "total": d.total,
		"rows": d.Rows, "fastest": d.fastest, "stores": d.stores, "single": single,
		"values": d.of, "times": times, "over": over, "calls": func() values { return d.calls }, "held": d.held,
		"table": table, "column": d.column, "figures": figures, "operation": d.operation,
		"rounded": d.rounded, "chart": d.chart,
	}).Parse(parts)
	if err != nil {
		return err
	}
	return t.ExecuteTemplate(w, part, nil)
}

func (d *document) figure(format, benchmark, row, unit string) string {
	return fmt.Sprintf(format, d.Value(benchmark, row, unit))
}

func (d *document) total(by float64, benchmark, unit string) (sum float64) {
	for _, row := range d.Rows(benchmark) {
		sum += d.Value(benchmark, row, unit)
	}
	return sum / by
}

type values func(row string) (value float64, ok bool)

func (d *document) of(benchmark, unit string) values {
	return func(row string) (float64, bool) { return d.Get(benchmark, row, unit) }
}

func times(factor float64, v values) values {
	return func(row string) (float64, bool) {
		value, ok := v(row)
		return factor * value, ok
	}
}

// over divides by the value of one row.
func over(row string, v values) values {
	return func(other string) (float64, bool) {
		value, ok := v(other)
		by, also := v(row)
		return value / by, ok && also && by > 0
	}
}

type column struct {
	title string
	text  func(row string) string
}

// figures returns a column of values. A cell without a value is empty.
func figures(title, format string, v values) column {
	return column{title, func(row string) string {
		if value, ok := v(row); ok {
			return fmt.Sprintf(" "+format, value)
		}
		return ""
	}}
}

func (d *document) column(title, format, benchmark, unit string) column {
	return figures(title, format, d.of(benchmark, unit))
}

var shows = map[string]func(string) string{
	"plain": func(name string) string { return name },
	"code":  func(name string) string { return "`" + name + "`" },
	"bold": func(name string) string {
		if ours(name) {
			return "**" + name + "**"
		}
		return name
	},
	"words":    strings.NewReplacer("-", " ").Replace,
	"together": strings.NewReplacer("-10000-held", ", 10,000 held", "-floor", ", the floor").Replace,
}

func table(title string, rows []string, show string, columns ...column) string {
	var b strings.Builder
	b.WriteString("|")
	if title != "" {
		b.WriteString(" " + title)
	}
	b.WriteString(" |")
	for _, c := range columns {
		b.WriteString(" " + c.title + " |")
	}
	b.WriteString("\n|---|" + strings.Repeat("--:|", len(columns)))
	for _, row := range rows {
		b.WriteString("\n| " + shows[show](row) + " |")
		for _, c := range columns {
			b.WriteString(c.text(row) + " |")
		}
	}
	return b.String()
}

func ours(name string) bool {
	for _, prefix := range []string{"scru", "euid", "uid60", "clock", "entropy"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

func (d *document) machine() string {
	return fmt.Sprintf("%s, %d processors, %s/%s, %s", processor(), runtime.NumCPU(), runtime.GOOS,
		runtime.GOARCH, cmp.Or(d.Config["toolchain"], runtime.Version()))
}

func processor() string {
	info, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(info)) {
		name, value, _ := strings.Cut(line, ":")
		if strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return "unknown processor"
}

// chart writes an SVG file with horizontal bars, for light and dark pages, and returns a link to the
// file. A bar longer than four times the median is cut, but the number beside it is not.
func (d *document) chart(file, title string, rows []string, v values) (string, error) {
	const row, left, width, right = 22, 180, 420, 80
	lengths, top := make([]float64, len(rows)), 0.0
	for i, name := range rows {
		lengths[i], _ = v(name)
		top = max(top, lengths[i])
	}
	top = min(top, 4*lengths[len(lengths)/2])
	var svg bytes.Buffer
	fmt.Fprintf(&svg, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" `+
		`font-family="sans-serif" font-size="13">
<rect width="100%%" height="100%%" fill="#ffffff"/>
<text x="10" y="22" font-weight="bold" fill="#222222">%s</text>
`, left+width+right, 40+row*len(rows), html.EscapeString(title))
	for i, name := range rows {
		y := 36 + row*i
		w := min(lengths[i]/top, 1) * width
		colour, note := "#b8c0cc", ""
		if ours(name) {
			colour = "#2563eb"
		}
		if lengths[i] > top {
			note = " (cut)"
		}
		fmt.Fprintf(&svg, `<text x="%d" y="%d" text-anchor="end" fill="#222222">%s</text>
<rect x="%d" y="%d" width="%.1f" height="%d" fill="%s"/>
<text x="%.1f" y="%d" fill="#222222">%.1f%s</text>
`, left-8, y+14, html.EscapeString(name), left, y+2, w, row-6, colour,
			float64(left)+w+6, y+14, lengths[i], note)
	}
	svg.WriteString("</svg>\n")
	alt, _, _ := strings.Cut(title, ", ") // without the unit
	return fmt.Sprintf("![%s](benchmarks/%s.svg)", alt, file),
		os.WriteFile(filepath.Join(d.charts, file+".svg"), svg.Bytes(), 0o644)
}
