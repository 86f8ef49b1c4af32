package sortid_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// The root module has no dependencies, so users get none from it.
func TestNoDependencies(t *testing.T) {
	mod, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(string(mod), "\n") {
		switch word, _, _ := strings.Cut(strings.TrimSpace(line), " "); word {
		case "", "module", "go", "//":
		default:
			t.Errorf("go.mod has a line that it should not need: %s", line)
		}
	}
	if _, err := os.Stat("go.sum"); err == nil {
		t.Error("the root module has a go.sum, so it has dependencies")
	}
}

// Each module is released by itself. It must not use the root's internal packages, which can change
// without notice. A replace directive would work only in this clone.
func TestModulesStandAlone(t *testing.T) {
	const internal = "github.com/sortid/sortid/internal"
	modules := 0
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() {
			if path != "." && (strings.HasPrefix(name, ".") || name == "testdata" ||
				name == "node_modules") {
				return filepath.SkipDir
			}
			return nil
		}
		switch {
		case name == "go.mod" || name == "go.work":
			if name == "go.mod" {
				modules++
			}
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			for i, line := range strings.Split(string(text), "\n") {
				if strings.HasPrefix(strings.TrimSpace(line), "replace") ||
					strings.Contains(line, "=>") {
					t.Errorf("%s:%d: a replace directive", path, i+1)
				}
			}
		case strings.HasSuffix(name, ".go") && ofAnotherModule(path):
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
			if err != nil {
				return err
			}
			for _, spec := range file.Imports {
				if used, _ := strconv.Unquote(spec.Path.Value); used == internal ||
					strings.HasPrefix(used, internal+"/") {
					t.Errorf("%s imports %s", path, used)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if modules < 2 {
		t.Errorf("only %d modules were found: that tests nothing", modules)
	}
}

func ofAnotherModule(path string) bool {
	for dir := filepath.Dir(path); dir != "."; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return true
		}
	}
	return false
}
