package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sortid/sortid/dev/bench"
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
		d := &document{Set: set, charts: t.TempDir()}
		err := d.write(&text, name, c.options)
		if err != nil || !strings.HasPrefix(text.String(), "## ") ||
			strings.Contains(text.String(), "%!") {
			t.Errorf("%s: %v\n%s", name, err, &text)
		}
	}
}
