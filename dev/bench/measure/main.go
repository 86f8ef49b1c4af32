// Command measure measures this project, and rewrites a part of docs/benchmarks.md.
//
//	go run ./bench/measure [go|cli|db|leases|serve|soak] [flags]
//
// It prints results like Go's benchmarks. With -results, it reads results from a file instead.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"github.com/sortid/sortid/dev/bench"
)

// A subcommand measures one part of the document.
type subcommand struct {
	options options
	measure func(lines io.Writer, o options) error
}

type options struct {
	count            int
	benchtime, bench string
	scale            float64
}

var subcommands = map[string]subcommand{
	"go":     {options{count: 10, benchtime: "200ms", bench: "."}, measureGo},
	"cli":    {options{count: 6, scale: 1}, measureCLI},
	"db":     {options{count: 30, scale: 1}, measureDatabases},
	"leases": {options{benchtime: "300x", scale: 1}, measureLeases},
	"serve":  {options{count: 6, benchtime: "1500ms"}, measureServe},
	"soak":   {options{benchtime: "1h"}, measureSoak},
}

func main() {
	log.SetFlags(0)
	log.SetPrefix("bench: ")
	name, args := "go", os.Args[1:]
	if len(args) > 0 && args[0] != "" && args[0][0] != '-' {
		name, args = args[0], args[1:]
	}
	c, ok := subcommands[name]
	if !ok {
		log.Fatalf("there is no subcommand %q: want go, cli, db, leases, serve or soak", name)
	}
	o := c.options
	flags := flag.NewFlagSet("bench "+name, flag.ExitOnError)
	docs := flags.String("docs", "../docs", "the folder with benchmarks.md")
	results := flags.String("results", "",
		"a `FILE` with results to use, instead of measuring")
	if o.count > 0 {
		flags.IntVar(&o.count, "count", o.count,
			"number of rounds; with fewer than six, the spread is unknown")
	}
	if o.benchtime != "" {
		flags.StringVar(&o.benchtime, "benchtime", o.benchtime,
			"time of each round, or 300x for 300 calls")
	}
	if o.bench != "" {
		flags.StringVar(&o.bench, "bench", o.bench,
			"which benchmarks to run; only \".\" writes the document")
	}
	if o.scale > 0 {
		flags.Float64Var(&o.scale, "scale", o.scale,
			"a factor for the number of lines, rows or leases")
	}
	flags.Parse(args)

	lines, err := read(*results, c, o)
	if err != nil {
		log.Fatal(err)
	}
	if c.options.bench != o.bench {
		return
	}
	if err := write(lines, *docs, name, o); err != nil {
		log.Fatal(err)
	}
}

// read returns the lines of the file. Without a file, it measures, and also prints the lines.
func read(file string, c subcommand, o options) ([]byte, error) {
	if file != "" {
		return os.ReadFile(file)
	}
	var lines bytes.Buffer
	err := c.measure(io.MultiWriter(&lines, os.Stdout), o)
	return lines.Bytes(), err
}

func write(lines []byte, docs, name string, o options) error {
	set, err := bench.Read(bytes.NewReader(lines))
	if err != nil {
		return err
	}
	d := &document{set}
	var text bytes.Buffer
	if err := d.write(&text, name, o); err != nil {
		return err
	}
	return replacePart(filepath.Join(docs, "benchmarks.md"), name, text.Bytes())
}

func replacePart(file, part string, text []byte) error {
	old, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	begin, end := fmt.Appendf(nil, "<!-- begin %s -->\n", part), fmt.Appendf(
		nil, "<!-- end %s -->\n", part)
	before, rest, ok := bytes.Cut(old, begin)
	_, after, ok2 := bytes.Cut(rest, end)
	if !ok || !ok2 {
		return fmt.Errorf("%s: no lines %q and %q around the part to replace", file, begin, end)
	}
	return os.WriteFile(file, slices.Concat(before, begin, text, end, after), 0o644)
}

func test(lines io.Writer, dir string, args ...string) error {
	cmd := exec.Command("go", append([]string{"test", "-count", "1"}, args...)...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, lines, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w", cmd, err)
	}
	return nil
}

func testServers(lines io.Writer, name string, args ...string) error {
	os.Setenv("CI", "1") // with CI, a missing server is an error
	return test(lines, "", append([]string{"-timeout", "0", "-v", "-run", "^" + name + "$",
		"./bench"}, args...)...)
}
