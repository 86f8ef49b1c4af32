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

// An operation is a benchmark of this module: what it measures, and against whom. Without a
// base, a row that ends in -leased or -typed is compared with the row without that ending.
type operation struct {
	name, title, unit, base string
}

var operations = []operation{
	{"New", "Make an ID", "ns/op", "xid"},
	{"Lease", "Make an ID on a lease", "ns/op", ""},
	{"NewString", "Make an ID as a string", "ns/op", "ulid"},
	{"Append", "Append the text to a buffer", "ns/op", "ulid"},
	{"Parse", "Parse the text", "ns/op", "ulid"},
	{"TypedNew", "Make a typed ID", "ns/op", ""},
	{"TypedString", "Write a typed ID as a string", "ns/op", ""},
	{"TypedAppend", "Append the text of a typed ID", "ns/op", ""},
	{"TypedParse", "Parse the text of a typed ID", "ns/op", ""},
	{"Parallel", "Make an ID, on all processors at once", "ns/op", "xid"},
	{"Batch", "Make an ID of a thousand at once", "ns/id", "xid"},
	{"Parts", "What an ID is made of", "ns/op", "time.Now"},
}

// measureGo runs all benchmarks once, then all again, and so on. So a noisy minute spoils one
// repetition of each benchmark, not all repetitions of some. It prints benchstat's table of
// them.
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

// newestGo returns the newest released Go, as in go1.27.4, if the go command can fetch it.
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

`+"`make bench`"+` writes this part.

| | |
|---|---|
| Machine | %s, %d processors |
| System | %s/%s |
| Go | %s |
| Repetitions | %d of %s each; the tables give the least |

A ratio compares with the library marked 1.00 in the same table and run. A generator on a
lease compares with a generator of the same format without a lease, and a typed ID with the
ID inside. The prefix is user. The rows stdlib are the package uuid of Go 1.27.
`, processor(), runtime.NumCPU(), runtime.GOOS, runtime.GOARCH,
		cmp.Or(d.Config["toolchain"], runtime.Version()),
		o.count, o.benchtime)
	for _, op := range operations {
		value := func(row string) float64 { return d.Value(op.name, row, op.unit) }
		rows := slices.SortedFunc(slices.Values(d.Rows(op.name)), func(a, b string) int {
			return cmp.Or(cmp.Compare(value(a), value(b)), cmp.Compare(a, b))
		})
		if len(rows) == 0 {
			d.err = cmp.Or(d.err, fmt.Errorf("no results for %s", op.name))
			return
		}
		d.printf("\n### %s\n", op.title)
		perOp := d.of(op.name, op.unit)
		d.chart(strings.ToLower(op.name), op.title+", "+op.unit, op.title, rows, perOp)
		d.WriteByte('\n')
		d.table("Library", rows, bold,
			column{op.unit, "%.1f", perOp},
			column{"Ratio", "%.2f", func(row string) (float64, bool) {
				base, _, _ := strings.Cut(row, "-leased")
				return value(row) / value(cmp.Or(op.base, strings.TrimSuffix(base, "-typed"))), true
			}},
			column{"B/op", "%.0f", d.of(op.name, "B/op")},
			column{"allocs/op", "%.0f", d.of(op.name, "allocs/op")})
	}
}
