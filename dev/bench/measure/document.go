package main

import (
	"cmp"
	_ "embed"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"text/template"

	"github.com/sortid/sortid/dev/bench"
)

// A document has a subcommand's results for docs/benchmarks.md.
type document struct {
	*bench.Set
}

//go:embed parts.md.tmpl
var parts string

func (d *document) write(w io.Writer, part string, o options) error {
	t, err := template.New("").Funcs(template.FuncMap{
		"machine": func() string { return d.machine(part, o) },
		"config":  func(key string) string { return d.Config[key] },
		"figure":  d.figure, "total": d.total,
		"rows": d.merged, "fastest": d.fastest, "list": func(rows ...string) []string { return rows },
		"table": table, "column": d.column, "operation": d.operation,
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

// merged returns the rows of the first benchmark, and then the rows that only later ones have.
func (d *document) merged(benchmarks ...string) (rows []string) {
	for _, name := range benchmarks {
		for _, row := range d.Rows(name) {
			if !slices.Contains(rows, row) {
				rows = append(rows, row)
			}
		}
	}
	return rows
}

type column struct {
	title string
	text  func(row string) string
}

// column returns a column of a benchmark's values. A cell without a value is empty.
func (d *document) column(title, format, benchmark, unit string) column {
	return column{title, func(row string) string {
		value, spread, ok := d.Get(benchmark, row, unit)
		switch {
		case !ok:
			return ""
		case spread == "":
			return fmt.Sprintf(" "+format, value)
		}
		return fmt.Sprintf(" "+format+" ± %s", value, spread)
	}}
}

var shows = map[string]func(string) string{
	"plain": func(name string) string { return name },
	"code":  func(name string) string { return "`" + name + "`" },
	"bold": func(name string) string {
		name = strings.Replace(name, "-a-second-long", ", a second long", 1)
		if ours(name) {
			return "**" + name + "**"
		}
		return name
	},
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

// machine returns the command that measured, and where it ran.
func (d *document) machine(part string, o options) string {
	command := "make bench-" + part
	if part == "go" {
		command = "make bench"
	}
	text := "Measured by `" + command + "`"
	if o.count > 0 {
		text += fmt.Sprintf(" with %d rounds", o.count)
	}
	if calls, ok := strings.CutSuffix(o.benchtime, "x"); ok {
		text += " with " + calls + " calls"
	} else if o.benchtime != "" {
		text += " of " + o.benchtime
	}
	return fmt.Sprintf("%s on %s, %d processors, %s/%s, %s", text, processor(), runtime.NumCPU(),
		runtime.GOOS, runtime.GOARCH, cmp.Or(d.Config["toolchain"], runtime.Version()))
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
