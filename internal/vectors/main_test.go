package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/sortid/sortid/internal/conformance"
)

// The files are what this program writes, and nobody edited them by hand.
func TestFilesAreCurrent(t *testing.T) {
	for _, f := range formats {
		got, err := os.ReadFile(filepath.Join(conformance.Dir(), f.name+".json"))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, encode(f.vectors())) {
			t.Errorf("testdata/vectors/%s.json differs: run go run ./internal/vectors", f.name)
		}
	}
}
