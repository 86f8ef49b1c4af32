package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// An operation is a benchmark, its column, and whether it has a chart.
type operation struct {
	name, title, unit string
	chart             bool
}

// tables has the operations of each table; the first sorts the rows.
var tables = []struct {
	title, text string
	operations  []operation
}{
	{"Making and reading", "", []operation{
		{"New", "Make", "ns/op", true},
		{"Parallel", "Make, all processors", "ns/op", false},
		{"Batch", "Make, of a thousand", "ns/id", false},
		{"NewString", "Make a string", "ns/op", true},
		{"Append", "Append the text", "ns/op", false},
		{"Parse", "Parse the text", "ns/op", true},
	}},
	{"Typed IDs", "The prefix is user. The rows without -typed are the same IDs without a prefix.", []operation{
		{"TypedParse", "Parse", "ns/op", false},
		{"TypedNew", "Make", "ns/op", false},
		{"TypedString", "Write as a string", "ns/op", false},
		{"TypedAppend", "Append", "ns/op", false},
	}},
	{"On a lease", "", []operation{{"Lease", "Make", "ns/op", false}}},
	{"What an ID is made of", "", []operation{{"Parts", "One step", "ns/op", false}}},
}

// measureGo repeats the whole set of benchmarks. So a noisy minute spoils one repetition of each,
// not all of some. It prints benchstat's table.
func measureGo(lines io.Writer, o options) error {
	dir, err := os.MkdirTemp("", "bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if version := newestGo(); version != "" {
		os.Setenv("GOTOOLCHAIN", version) // which has a package uuid
		fmt.Fprintf(lines, "toolchain: %s\n", version)
	} else {
		fmt.Fprintln(os.Stderr,
			"bench: no newer Go can be had, so the standard library's uuid may be missing")
	}
	const root = "github.com/sortid/sortid/internal/"
	var binaries []string
	for _, p := range []string{".", root + "clock", root + "entropy"} {
		bin := filepath.Join(dir, filepath.Base(p)+".test")
		if err := test(os.Stderr, "", "-c", "-o", bin, p); err != nil {
			return err
		}
		binaries = append(binaries, bin)
	}
	file, err := os.Create(filepath.Join(dir, "results"))
	if err != nil {
		return err
	}
	defer file.Close()
	for range o.count {
		for _, bin := range binaries {
			cmd := exec.Command(bin, "-test.run", "^$", "-test.bench", o.bench,
				"-test.benchmem", "-test.benchtime", o.benchtime)
			cmd.Stdout, cmd.Stderr = io.MultiWriter(lines, file), os.Stderr
			if err := cmd.Run(); err != nil {
				return err
			}
		}
	}
	stat := exec.Command("go", "tool", "benchstat",
		"-row", "/lib", "-table", ".name", "-col", "", file.Name())
	stat.Stdout, stat.Stderr = os.Stdout, os.Stderr
	return stat.Run()
}

// newestGo returns the newest released Go, as go1.27.4, if the go command can fetch it.
func newestGo() string {
	version, err := exec.Command("go", "list", "-m", "-f", "{{.Version}}", "go@latest").Output()
	if err != nil {
		return ""
	}
	name := "go" + strings.TrimSpace(string(version))
	try := exec.Command("go", "version")
	try.Env = append(os.Environ(), "GOTOOLCHAIN="+name)
	if try.Run() != nil {
		return ""
	}
	return name
}

func writeGo(d *document, o options) {
	d.printf(`## Making and reading IDs

`+"`make bench`"+` writes this part. The tables show nanoseconds for one ID, the least of %d
repetitions of %s each. The number of allocations, if any, is in parentheses. Names with
stdlib are the package uuid of Go 1.27.

Machine: %s, %d processors, %s/%s, %s.
`, o.count, o.benchtime, processor(), runtime.NumCPU(), runtime.GOOS, runtime.GOARCH,
		cmp.Or(d.Config["toolchain"], runtime.Version()))
	for _, t := range tables {
		d.printf("\n### %s\n\n", t.title)
		if t.text != "" {
			d.printf("%s\n\n", t.text)
		}
		var rows []string
		charts := &document{Set: d.Set, charts: d.charts}
		for _, op := range t.operations {
			value := d.of(op.name, op.unit)
			sorted := slices.SortedFunc(slices.Values(d.Rows(op.name)), func(a, b string) int {
				return cmp.Or(cmp.Compare(d.Value(op.name, a, op.unit), d.Value(op.name, b, op.unit)),
					cmp.Compare(a, b))
			})
			if len(sorted) == 0 {
				d.err = cmp.Or(d.err, fmt.Errorf("no results for %s", op.name))
				return
			}
			for _, row := range sorted {
				if !slices.Contains(rows, row) {
					rows = append(rows, row)
				}
			}
			if op.chart {
				charts.chart(strings.ToLower(op.name), op.title+", "+op.unit, op.title, sorted, value)
			}
		}
		d.operations(rows, t.operations)
		d.Write(charts.Bytes())
		d.err = cmp.Or(d.err, charts.err)
	}
}

// operations writes a table with a column for each operation.
func (d *document) operations(rows []string, operations []operation) {
	d.printf("| ns |")
	for _, op := range operations {
		d.printf(" %s |", op.title)
	}
	d.printf("\n|---|%s\n", strings.Repeat("--:|", len(operations)))
	for _, row := range rows {
		d.printf("| %s |", bold(row))
		for _, op := range operations {
			if v, ok := d.Get(op.name, row, op.unit); ok {
				d.printf(" %.1f", v)
			}
			allocs := d.Value(op.name, row, "allocs/op")
			if op.unit == "ns/id" {
				allocs /= 1000
			}
			if allocs >= 1 {
				d.printf(" (%.0f)", allocs)
			}
			d.WriteString(" |")
		}
		d.WriteByte('\n')
	}
}
