// The command bench runs the benchmarks of this module, prints benchstat's table of
// them, and writes docs/benchmarks.md with a chart for each operation. All its figures
// come from that one run.
//
//	go run ./cmd/bench [-count 10] [-benchtime 200ms] [-bench REGEXP]
package main

import (
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/perf/benchfmt"

	"github.com/sortid/sortid/bench/internal/report"
)

// An operation is a benchmark, told as what it measures and against whom. Without a base
// what ends in -leased is compared with what does not.
type operation struct {
	name, title, unit, base string
}

var operations = []operation{
	{"New", "Make an ID", "ns/op", "xid"},
	{"Lease", "Make an ID on a lease", "ns/op", ""},
	{"NewString", "Make an ID as a string", "ns/op", "ulid"},
	{"Append", "Append the text to a buffer", "ns/op", "ulid"},
	{"Parse", "Parse the text", "ns/op", "ulid"},
	{"Parallel", "Make an ID, on all processors at once", "ns/op", "xid"},
	{"Batch", "Make an ID of a thousand at once", "ns/id", "xid"},
	{"Parts", "What an ID is made of", "ns/op", "time.Now"},
}

// ours are the libraries of this project.
var ours = []string{"scru64", "scru128", "scru160", "euid", "uid60", "scru64-leased", "scru160-leased", "scru128-each", "clock", "entropy-32-bits"}

func main() {
	log.SetFlags(0)
	log.SetPrefix("bench: ")
	count := flag.Int("count", 10, "repetitions of each benchmark")
	benchtime := flag.String("benchtime", "200ms", "time of each repetition")
	pattern := flag.String("bench", ".", "which benchmarks to run; with another than . nothing is written")
	docs := flag.String("docs", "../docs", "the folder for benchmarks.md and its charts")
	flag.Parse()

	raw, err := run(*pattern, *count, *benchtime)
	if err != nil {
		log.Fatal(err)
	}
	if err := benchstat(raw); err != nil {
		log.Fatal(err)
	}
	if *pattern != "." {
		return
	}
	results, err := read(raw)
	if err != nil {
		log.Fatal(err)
	}
	if err := write(*docs, results, *count, *benchtime); err != nil {
		log.Fatal(err)
	}
}

// run runs all benchmarks once, and again, so that the repetitions of each are spread
// over the whole time: a noisy minute then spoils one of each, not all of some.
func run(pattern string, count int, benchtime string) ([]byte, error) {
	dir, err := os.MkdirTemp("", "bench-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	const root = "github.com/sortid/sortid/internal/"
	var binaries []string
	for _, p := range []string{".", root + "clock", root + "entropy"} {
		bin := filepath.Join(dir, filepath.Base(p)+".test")
		build := exec.Command("go", "test", "-c", "-o", bin, p)
		build.Stdout, build.Stderr = os.Stderr, os.Stderr
		if err := build.Run(); err != nil {
			return nil, err
		}
		binaries = append(binaries, bin)
	}
	var out bytes.Buffer
	for range count {
		for _, bin := range binaries {
			cmd := exec.Command(bin, "-test.run", "^$", "-test.bench", pattern, "-test.benchmem", "-test.benchtime", benchtime)
			cmd.Stdout = io.MultiWriter(&out, os.Stderr)
			cmd.Stderr = os.Stderr
			if err := cmd.Run(); err != nil {
				return nil, err
			}
		}
	}
	return out.Bytes(), nil
}

func benchstat(raw []byte) error {
	f, err := os.CreateTemp("", "bench-*.txt")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	if _, err := f.Write(raw); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	cmd := exec.Command("go", "tool", "benchstat", "-row", "/lib", "-table", ".name", "-col", "", f.Name())
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	return cmd.Run()
}

// Of one operation and library: the least of the repetitions of each unit.
type key struct{ operation, lib, unit string }

func read(raw []byte) (map[key]float64, error) {
	results := map[key]float64{}
	r := benchfmt.NewReader(bytes.NewReader(raw), "go test")
	for r.Scan() {
		res, ok := r.Result().(*benchfmt.Result)
		if !ok {
			continue
		}
		base, parts := res.Name.Parts()
		lib := ""
		for _, p := range parts {
			if name, ok := strings.CutPrefix(string(p), "/lib="); ok {
				lib = name
			}
		}
		for _, v := range res.Values {
			value, unit := v.Value, v.Unit
			if v.OrigUnit != "" {
				value, unit = v.OrigValue, v.OrigUnit
			}
			k := key{string(base), lib, unit}
			if old, ok := results[k]; !ok || value < old {
				results[k] = value
			}
		}
	}
	return results, r.Err()
}

func write(docs string, results map[key]float64, count int, benchtime string) error {
	charts := filepath.Join(docs, "benchmarks")
	if err := os.MkdirAll(charts, 0o755); err != nil {
		return err
	}
	var md strings.Builder
	fmt.Fprintf(&md, `# Benchmarks

Written by `+"`make bench`"+`; do not edit.

| | |
|---|---|
| Machine | %s, %d processors |
| System | %s/%s |
| Go | %s |
| Repetitions | %d of %s each; the tables give the least |

A ratio compares with the library marked 1.00 in the same table and run; that of a generator
on a lease, with the same format's without. What each nanosecond goes to is told in
[performance.md](performance.md).
`, report.Processor(), runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, runtime.Version(), count, benchtime)
	for _, op := range operations {
		rows := rows(op, results)
		if len(rows) == 0 {
			return fmt.Errorf("no results for %s", op.name)
		}
		fmt.Fprintf(&md, "\n## %s\n\n![%[1]s](benchmarks/%s.svg)\n\n", op.title, strings.ToLower(op.name))
		fmt.Fprintf(&md, "| Library | %s | Ratio | B/op | allocs/op |\n|---|--:|--:|--:|--:|\n", op.unit)
		bars := make([]report.Bar, 0, len(rows))
		for _, r := range rows {
			name := r.lib
			if r.ours {
				name = "**" + name + "**"
			}
			fmt.Fprintf(&md, "| %s | %.1f | %.2f | %.0f | %.0f |\n", name, r.value, r.ratio, r.bytes, r.allocs)
			bars = append(bars, report.Bar{Name: r.lib, Value: r.value, Strong: r.ours})
		}
		svg := report.Chart(op.title+", "+op.unit, bars)
		if err := os.WriteFile(filepath.Join(charts, strings.ToLower(op.name)+".svg"), svg, 0o644); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(docs, "benchmarks.md"), []byte(md.String()), 0o644)
}

type row struct {
	lib                         string
	ours                        bool
	value, ratio, bytes, allocs float64
}

func rows(op operation, results map[key]float64) (out []row) {
	for k, v := range results {
		if k.operation == op.name && k.unit == op.unit {
			base := cmp.Or(op.base, strings.TrimSuffix(k.lib, "-leased"))
			out = append(out, row{
				lib: k.lib, ours: slices.Contains(ours, k.lib),
				value: v, ratio: v / results[key{op.name, base, op.unit}],
				bytes:  results[key{op.name, k.lib, "B/op"}],
				allocs: results[key{op.name, k.lib, "allocs/op"}],
			})
		}
	}
	slices.SortFunc(out, func(a, b row) int { return cmp.Or(cmp.Compare(a.value, b.value), cmp.Compare(a.lib, b.lib)) })
	return out
}
