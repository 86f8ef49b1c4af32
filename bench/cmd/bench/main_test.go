package main

import (
	"os"
	"path/filepath"
	"testing"
)

func TestReplacePart(t *testing.T) {
	file := filepath.Join(t.TempDir(), "benchmarks.md")
	const text = "before\n<!-- begin a -->\nold\n<!-- end a -->\n<!-- begin b -->\nkept\n<!-- end b -->\n"
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := replacePart(file, "a", []byte("new\n")); err != nil {
		t.Fatal(err)
	}
	got, _ := os.ReadFile(file)
	if want := "before\n<!-- begin a -->\nnew\n<!-- end a -->\n<!-- begin b -->\nkept\n<!-- end b -->\n"; string(got) != want {
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
