//go:build !generated

package main

import (
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"entgo.io/ent/entc"
	"entgo.io/ent/entc/gen"
)

func TestGenerated(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds a program")
	}
	dir := t.TempDir()
	config := &gen.Config{Target: dir, Package: "github.com/sortid/sortid/examples/ent/ent"}
	if err := entc.Generate("./ent/schema", config); err != nil {
		t.Fatal(err)
	}
	here, err := filepath.Abs("ent")
	if err != nil {
		t.Fatal(err)
	}
	replace := map[string]string{}
	err = fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			replace[filepath.Join(here, name)] = filepath.Join(dir, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	overlay := filepath.Join(t.TempDir(), "overlay.json")
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err == nil {
		err = os.WriteFile(overlay, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	// vet would look for folders that only the overlay has.
	cmd := exec.Command("go", "test", "-count", "1", "-v", "-vet=off",
		"-tags", "generated", "-overlay", overlay, ".")
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Fatal(err)
	}
}
