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

// A document is one that a subcommand writes, in Markdown, with the results in it.
type document struct {
	bytes.Buffer
	*result.Set
	charts string // the folder
	err    error  // of the first chart that could not be written
}

func (d *document) printf(format string, args ...any) { fmt.Fprintf(d, format, args...) }

// A column of a table has a value for each row. A row without one has an empty cell.
type column struct {
	title, format string
	value         func(row string) (value float64, ok bool)
}

// of is a value for each row of a benchmark.
func (d *document) of(benchmark, unit string) func(string) (float64, bool) {
	return func(row string) (float64, bool) { return d.Get(benchmark, row, unit) }
}

// times multiplies the values of a column.
func times(factor float64, value func(string) (float64, bool)) func(string) (float64, bool) {
	return func(row string) (float64, bool) {
		v, ok := value(row)
		return factor * v, ok
	}
}

// table writes a table. Its first column has the rows' names, as show returns them.
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
			if v, ok := c.value(row); ok {
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

// bold shows a name in bold if it is one of this project's.
func bold(name string) string {
	if ours(name) {
		return "**" + name + "**"
	}
	return name
}

// ours reports whether a name is one of this project's.
func ours(name string) bool {
	return name == "clock" || name == "entropy-32-bits" || strings.HasPrefix(name, "scru") || strings.HasPrefix(name, "euid") || name == "uid60"
}

// machine describes the machine in a line.
func machine() string {
	return fmt.Sprintf("%s, %d processors, %s/%s, %s", processor(), runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, runtime.Version())
}

// processor returns the processor's name, as far as the system tells it.
func processor() string {
	info, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(info)) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return "unknown processor"
}

// chart writes horizontal bars as an SVG file that reads on light and dark pages, and refers
// to it. A bar over four times the median is cut off, with its figure beside it all the same.
func (d *document) chart(file, title, alt string, rows []string, value func(string) (float64, bool)) {
	const row, left, width, right = 22, 180, 420, 80
	values, top := make([]float64, len(rows)), 0.0
	for i, name := range rows {
		values[i], _ = value(name)
		top = max(top, values[i])
	}
	top = min(top, 4*values[len(values)/2])
	var svg bytes.Buffer
	fmt.Fprintf(&svg, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif" font-size="13">
<rect width="100%%" height="100%%" fill="#ffffff"/>
<text x="10" y="22" font-weight="bold" fill="#222222">%s</text>
`, left+width+right, 40+row*len(rows), html.EscapeString(title))
	for i, name := range rows {
		y := 36 + row*i
		w := min(values[i]/top, 1) * width
		colour, mark := "#b8c0cc", ""
		if ours(name) {
			colour = "#2563eb"
		}
		if values[i] > top {
			mark = " (cut)"
		}
		fmt.Fprintf(&svg, `<text x="%d" y="%d" text-anchor="end" fill="#222222">%s</text>
<rect x="%d" y="%d" width="%.1f" height="%d" fill="%s"/>
<text x="%.1f" y="%d" fill="#222222">%.1f%s</text>
`, left-8, y+14, html.EscapeString(name), left, y+2, w, row-6, colour, float64(left)+w+6, y+14, values[i], mark)
	}
	svg.WriteString("</svg>\n")
	d.printf("\n![%s](benchmarks/%s.svg)\n", alt, file)
	if d.err == nil {
		d.err = os.WriteFile(filepath.Join(d.charts, file+".svg"), svg.Bytes(), 0o644)
	}
}
