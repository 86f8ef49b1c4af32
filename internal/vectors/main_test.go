package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// The files are the output of the command, without later changes.
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
