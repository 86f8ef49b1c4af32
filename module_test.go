package sortid_test

import (
	"cmp"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/sortid/sortid/internal/check"
)

// The root module has no dependencies, so users get none from it.
func TestNoDependencies(t *testing.T) {
	mod := check.Must(os.ReadFile("go.mod"))(t)
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

const rootPath = "github.com/sortid/sortid"

// Each module is released by itself. If a user upgrades only the root module, its internal packages
// can change, and then a module that uses them does not build. So only the command and tests may
// use them. A replace directive in a go.mod would work only in this clone.
func TestModulesStandAlone(t *testing.T) {
	modules := 0
	walk(t, func(file string) {
		switch {
		case path.Base(file) == "go.mod":
			modules++
			text := check.Must(os.ReadFile(file))(t)
			// Nobody gets this module, and k8s.io/kubernetes cannot be required without replace.
			if strings.Contains(string(text), "=>") && file != "dev/kubernetes/go.mod" {
				t.Errorf("%s has a replace directive", file)
			}
			if n := strings.Count(string(text), "\nrequire "); n > 2 {
				t.Errorf("%s has %d lists of requirements, want direct and indirect ones", file, n)
			}
		case ofAnotherModule(file) && !mayUseInternal(file):
			for _, used := range imports(t, file) {
				if strings.HasPrefix(used, "internal/") {
					t.Errorf("%s imports %s", file, used)
				}
			}
		}
	})
	if modules < 2 {
		t.Errorf("only %d modules were found: that tests nothing", modules)
	}
}

func mayUseInternal(file string) bool {
	return strings.HasPrefix(file, "cmd/sortid/") || strings.HasSuffix(file, "_test.go") ||
		strings.Contains(file, "/internal/faulttest/") // imports testing
}

func ofAnotherModule(file string) bool {
	for dir := path.Dir(file); dir != "."; dir = path.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return true
		}
	}
	return false
}

// layers has the folders of all packages. A package imports packages of its own folder and of lines
// above it. Tests may import all packages.
var layers = []string{
	".",
	"internal",
	"euid scru64 scru128 scru160 uid60",
	"typed",
	"internal/maker",
	"internal/spec",
	"internal/testids internal/conformance",
	"lease",
	"format",
	"generate lease/nodefield",
	"internal/extsort",
	"verify",
	"store pgxid",
	"cmd/sortid",
	"dev examples",
}

func TestImportsGoOneWay(t *testing.T) {
	found := map[string]bool{}
	walk(t, func(file string) {
		if strings.HasSuffix(file, "_test.go") {
			return
		}
		folder, line := layer(path.Dir(file))
		if folder == "" {
			t.Fatalf("%s: no line of layers in this test has its folder", file)
		}
		found[folder] = true
		for _, used := range imports(t, file) {
			if from, above := layer(used); above > line || above == line && from != folder {
				t.Errorf("%s imports %s, but packages of %s may only import packages of lines above "+
					"it: see layers in this test", file, used, folder)
			}
		}
	})
	if !found["cmd/sortid"] || !found["format"] {
		t.Errorf("only %v were found", found)
	}
}

// A variable that users see is an error, because nobody changes an error. Other values are constants
// or results of functions.
func TestNoExportedVariables(t *testing.T) {
	errors := 0
	walk(t, func(file string) {
		if !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") ||
			strings.Contains(file, "internal/") || !isPublished(file) {
			return
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range parsed.Decls {
			if d, ok := d.(*ast.GenDecl); ok && d.Tok == token.VAR {
				for _, spec := range d.Specs {
					for _, name := range spec.(*ast.ValueSpec).Names {
						if strings.HasPrefix(name.Name, "Err") {
							errors++
						} else if name.IsExported() {
							t.Errorf("%s: var %s can be changed by users, want a function", file, name)
						}
					}
				}
			}
		}
	})
	if errors == 0 {
		t.Error("no errors were found: that tests nothing")
	}
}

// isPublished reports whether Go programs of users import the package of a file.
func isPublished(file string) bool {
	folder, _ := layer(path.Dir(file))
	return folder != "cmd/sortid" && folder != "dev" && folder != "examples"
}

// layer returns the longest folder of layers that has the package, and its line.
func layer(pkg string) (folder string, line int) {
	for i, folders := range layers {
		for f := range strings.FieldsSeq(folders) {
			if (pkg == f || strings.HasPrefix(pkg, f+"/")) && len(f) > len(folder) {
				folder, line = f, i
			}
		}
	}
	return folder, line
}

// walk calls try with each go.mod and each Go file of the clone.
func walk(t *testing.T, try func(file string)) {
	t.Helper()
	err := filepath.WalkDir(".", func(file string, d fs.DirEntry, err error) error {
		name := d.Name()
		if err != nil || d.IsDir() && file != "." && (strings.HasPrefix(name, ".") ||
			name == "testdata" || name == "node_modules") {
			return cmp.Or(err, fs.SkipDir)
		}
		if name == "go.mod" || strings.HasSuffix(name, ".go") {
			try(filepath.ToSlash(file))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// imports returns the packages of this project that a file imports, relative to the root.
func imports(t *testing.T, file string) (list []string) {
	t.Helper()
	if !strings.HasSuffix(file, ".go") {
		return nil
	}
	parsed := check.Must(parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly))(t)
	for _, spec := range parsed.Imports {
		used := check.Must(strconv.Unquote(spec.Path.Value))(t)
		if used == rootPath {
			list = append(list, ".")
		} else if used, ok := strings.CutPrefix(used, rootPath+"/"); ok {
			list = append(list, used)
		}
	}
	return list
}
