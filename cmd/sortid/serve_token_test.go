package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sortid/sortid/cmd/sortid/internal/console"
)

// If a token cannot be printed, an error names the line to delete from the file.
func TestTokenNotPrinted(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tokens")
	r, closed := io.Pipe()
	r.Close()
	for name, out := range map[string]io.Writer{"shop": &full{}, "orders": closed} {
		code, stderr := start(nil, out, "serve", "token", name, "--tokens", path)
		if want := "delete the line of " + name + " from " + path; code != console.Failure ||
			!strings.Contains(stderr, want) {
			t.Errorf("code %d, %q, want %q", code, stderr, want)
		}
		if b, err := os.ReadFile(path); err != nil || !strings.Contains(string(b), name+" ") {
			t.Errorf("%v: %s", err, b)
		}
		if code, stderr := start(nil, out, "serve", "token", name); code == console.Success &&
			out != closed || strings.Contains(stderr, name) {
			t.Errorf("without a file: code %d, %q", code, stderr)
		}
	}
}
