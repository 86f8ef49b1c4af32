package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// measureGo runs all benchmarks once before it runs them again. So if the machine is busy for a
// while, each benchmark has some slow repetitions, but none has only slow repetitions.
func measureGo(lines io.Writer, o options) error {
	dir, err := os.MkdirTemp("", "bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if version := newestGo(); version != "" {
		os.Setenv("GOTOOLCHAIN", version) // this Go has package uuid
		fmt.Fprintf(lines, "toolchain: %s\n", version)
	} else {
		fmt.Fprintln(os.Stderr,
			"bench: no newer Go can be fetched, so the standard library's uuid may be missing")
	}
	const root = "github.com/sortid/sortid/internal/"
	var binaries []string
	for _, p := range []string{"./bench", root + "clock", root + "gencore"} {
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

// newestGo returns a version such as go1.27.4, if the go command can fetch it.
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

// fastest returns the rows of a benchmark, beginning with the fastest row.
func (d *document) fastest(benchmark string) ([]string, error) {
	rows := slices.Clone(d.Rows(benchmark))
	if len(rows) == 0 {
		return nil, fmt.Errorf("no results for %s", benchmark)
	}
	slices.SortFunc(rows, func(a, b string) int {
		took := func(row string) float64 { return d.Value(benchmark, row, "ns/op") }
		return cmp.Or(cmp.Compare(took(a), took(b)), cmp.Compare(a, b))
	})
	return rows, nil
}

// operation writes the number of allocations in parentheses.
func (d *document) operation(title, benchmark, unit string) column {
	took := d.column(title, "%.1f", benchmark, unit)
	return column{title, func(row string) string {
		allocs := d.Value(benchmark, row, "allocs/op")
		if unit == "ns/id" {
			allocs /= 1000
		}
		if allocs < 1 {
			return took.text(row)
		}
		return took.text(row) + fmt.Sprintf(" (%.0f)", allocs)
	}}
}
