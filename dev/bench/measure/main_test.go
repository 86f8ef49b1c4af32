package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sortid/sortid/dev/bench"
	"github.com/sortid/sortid/internal/check"
	"github.com/sortid/sortid/internal/testserver"
)

func TestReplacePart(t *testing.T) {
	file := filepath.Join(t.TempDir(), "benchmarks.md")
	const before, after = "before\n<!-- begin a -->\n",
		"<!-- end a -->\n<!-- begin b -->\nkept\n<!-- end b -->\n"
	text := before + "old\n" + after
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := replacePart(file, "a", []byte("new\n")); err != nil {
		t.Fatal(err)
	}
	got, _ := os.ReadFile(file)
	if want := before + "new\n" + after; string(got) != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if err := replacePart(file, "c", nil); err == nil {
		t.Error("no error for a part that the file does not have")
	}
	for name := range subcommands {
		data, err := os.ReadFile("../../../docs/benchmarks.md")
		if err != nil {
			t.Fatal(err)
		}
		os.WriteFile(file, data, 0o644)
		if err := replacePart(file, name, []byte("x\n")); err != nil {
			t.Error(err)
		}
	}
}

// Each part's template finds the functions and results that it names.
func TestParts(t *testing.T) {
	lines, err := os.ReadFile("testdata/results")
	if err != nil {
		t.Fatal(err)
	}
	set, err := bench.Read(bytes.NewReader(lines))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range subcommands {
		var text strings.Builder
		d := &document{set}
		err := d.write(&text, name, c.options)
		if err != nil || !strings.HasPrefix(text.String(), "## ") ||
			strings.Contains(text.String(), "%!") {
			t.Errorf("%s: %v\n%s", name, err, &text)
		}
	}
}

// Command floor prints the same bytes as the command.
func TestFloors(t *testing.T) {
	testserver.Long(t, "builds programs")
	bin, dir := testserver.Sortid(t), t.TempDir()
	t.Chdir("../..") // floors builds the program there
	pairs := check.Must(floors(bin, dir, 1000))(t)
	for _, p := range pairs {
		if err := p.measure(io.Discard, bin, 1); err != nil {
			t.Errorf("%s: %v", p.title, err)
		}
	}
}

// README.md has the times of the table that it links to. The time of uid60 is the wait for the next
// millisecond.
func TestReadme(t *testing.T) {
	table := check.Must(os.ReadFile("../../../docs/benchmarks.md"))(t)
	_, table, _ = bytes.Cut(table, []byte("\n## Making and reading\n"))
	table, _, _ = bytes.Cut(table, []byte("\n## "))
	var times []float64
	row := regexp.MustCompile(`(?m)^\| \*\*(\w+)\*\* \| ([0-9.]+) `)
	for _, m := range row.FindAllSubmatch(table, -1) {
		if string(m[1]) != "uid60" {
			times = append(times, check.Must(strconv.ParseFloat(string(m[2]), 64))(t))
		}
	}
	if len(times) < 2 {
		t.Fatalf("the table has times of %d formats", len(times))
	}
	want := fmt.Sprintf("[%.0f to %.0f ns](docs/benchmarks.md#making-and-reading)",
		slices.Min(times), slices.Max(times))
	readme := check.Must(os.ReadFile("../../../README.md"))(t)
	if !bytes.Contains(readme, []byte(want)) {
		t.Errorf("README.md does not have %q", want)
	}
}
