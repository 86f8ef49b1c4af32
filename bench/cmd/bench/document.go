package main

import (
	"bytes"
	"fmt"
	"html"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/sortid/sortid/bench/internal/result"
)

// A document is a subcommand's Markdown and its results.
type document struct {
	bytes.Buffer
	*result.Set
	charts string
	err    error // of the first chart that could not be written
}

func (d *document) printf(format string, args ...any) { fmt.Fprintf(d, format, args...) }

type values func(row string) (value float64, ok bool)

// A column of a table. A row without a value has an empty cell.
type column struct {
	title, format string
	values        values
}

func (d *document) of(benchmark, unit string) values {
	return func(row string) (float64, bool) { return d.Get(benchmark, row, unit) }
}

func (v values) times(factor float64) values {
	return func(row string) (float64, bool) {
		value, ok := v(row)
		return factor * value, ok
	}
}

// table writes a table. Its first column has the rows' names from show.
func (d *document) table(title string, rows []string, show func(string) string, columns ...column) {
	if title != "" {
		title = " " + title
	}
	d.printf("|%s |", title)
	for _, c := range columns {
		d.printf(" %s |", c.title)
	}
	d.printf("\n|---|%s\n", strings.Repeat("--:|", len(columns)))
	for _, row := range rows {
		d.printf("| %s |", show(row))
		for _, c := range columns {
			if v, ok := c.values(row); ok {
				d.printf(" "+c.format, v)
			}
			d.WriteString(" |")
		}
		d.WriteByte('\n')
	}
}

// plain shows a name as it is, code as code.
func plain(name string) string { return name }
func code(name string) string  { return "`" + name + "`" }

func bold(name string) string {
	if ours(name) {
		return "**" + name + "**"
	}
	return name
}

func ours(name string) bool {
	for _, prefix := range []string{"scru", "euid", "uid60", "clock", "entropy"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

func machine() string {
	return fmt.Sprintf("%s, %d processors, %s/%s, %s",
		processor(), runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, runtime.Version())
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

// chart writes horizontal bars as an SVG file for light and dark pages, and refers to it. It cuts
// bars off at four times the median; the figure beside is full.
func (d *document) chart(file, title, alt string, rows []string, v values) {
	const row, left, width, right = 22, 180, 420, 80
	lengths, top := make([]float64, len(rows)), 0.0
	for i, name := range rows {
		lengths[i], _ = v(name)
		top = max(top, lengths[i])
	}
	top = min(top, 4*lengths[len(lengths)/2])
	var svg bytes.Buffer
	fmt.Fprintf(&svg, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif" font-size="13">
<rect width="100%%" height="100%%" fill="#ffffff"/>
<text x="10" y="22" font-weight="bold" fill="#222222">%s</text>
`, left+width+right, 40+row*len(rows), html.EscapeString(title))
	for i, name := range rows {
		y := 36 + row*i
		w := min(lengths[i]/top, 1) * width
		colour, mark := "#b8c0cc", ""
		if ours(name) {
			colour = "#2563eb"
		}
		if lengths[i] > top {
			mark = " (cut)"
		}
		fmt.Fprintf(&svg, `<text x="%d" y="%d" text-anchor="end" fill="#222222">%s</text>
<rect x="%d" y="%d" width="%.1f" height="%d" fill="%s"/>
<text x="%.1f" y="%d" fill="#222222">%.1f%s</text>
`, left-8, y+14, html.EscapeString(name), left, y+2, w, row-6, colour,
			float64(left)+w+6, y+14, lengths[i], mark)
	}
	svg.WriteString("</svg>\n")
	d.printf("\n![%s](benchmarks/%s.svg)\n", alt, file)
	if d.err == nil {
		d.err = os.WriteFile(filepath.Join(d.charts, file+".svg"), svg.Bytes(), 0o644)
	}
}
