package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// Nobody has edited the files by hand.
func TestFilesAreCurrent(t *testing.T) {
	for file, want := range files() {
		got, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s differs: run go run ./internal/vectors", filepath.Base(file))
		}
	}
}
