package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sortid/sortid/internal/spec"
	"github.com/sortid/sortid/internal/testserver"
)

func TestFilesAreCurrent(t *testing.T) {
	t.Chdir("..")
	for _, f := range files() {
		t.Run(f.name, func(t *testing.T) {
			if strings.HasPrefix(f.name, "bundle/") {
				needsEsbuild(t)
			}
			have, err := os.ReadFile(f.name)
			if err != nil {
				t.Fatal(err)
			}
			want, err := f.text()
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(have, want) {
				t.Errorf("%s is out of date: run go generate in the folder of package web", f.name)
			}
		})
	}
}

// One format must not cost a web page much.
func TestBundleOfOneFormat(t *testing.T) {
	const most = 8600
	needsEsbuild(t)
	t.Chdir("..")
	for _, f := range spec.Ours() {
		entry := filepath.Join(t.TempDir(), "entry.js")
		path, err := filepath.Abs("ours/" + f.Name + ".js")
		if err != nil {
			t.Fatal(err)
		}
		text := fmt.Sprintf("export { %s } from %q;", f.Name, filepath.ToSlash(path))
		if err := os.WriteFile(entry, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		b, err := run(entry, "--bundle", "--minify", "--format=esm")
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %d bytes", f.Name, len(b))
		if len(b) > most || !bytes.Contains(b, []byte(f.Name)) {
			t.Errorf("%s: a bundle of %d bytes, want at most %d", f.Name, len(b), most)
		}
	}
}

func needsEsbuild(t *testing.T) {
	t.Helper()
	testserver.Long(t, "builds esbuild")
	if out, err := exec.Command("go", "run", esbuild, "--version").CombinedOutput(); err != nil {
		testserver.Missing(t, "go run "+esbuild+": "+string(out), "connect to a module proxy")
	}
}
