// Command typecheck checks types as a compiler for another system does, in packages and their
// tests:
//
//	go run ./internal/typecheck windows/amd64,darwin/arm64 ./...
//
// "go vet" for another system compiles all dependencies first, which takes ten times as long.
package main

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

type listed struct {
	ImportPath, Dir string
	GoFiles         []string
	ImportMap       map[string]string
	Module          *struct {
		Main      bool
		GoVersion string
	}
}

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: typecheck OS/ARCH,... PACKAGE...")
		os.Exit(2)
	}
	failed := false
	for _, system := range strings.Split(os.Args[1], ",") {
		goos, arch, _ := strings.Cut(system, "/")
		count, err := check(goos, arch, os.Args[2:])
		if err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", system, err)
			failed = true
		}
		fmt.Printf("%s: type-checked %d packages\n", system, count)
	}
	if failed {
		os.Exit(1)
	}
}

// check checks the packages of the main modules, and returns their number. In other packages it
// checks only the declarations.
func check(goos, arch string, patterns []string) (count int, err error) {
	list := exec.Command("go", append([]string{"list", "-deps", "-test",
		"-json=ImportPath,Dir,GoFiles,ImportMap,Module"}, patterns...)...)
	list.Env = append(os.Environ(), "GOOS="+goos, "GOARCH="+arch, "CGO_ENABLED=0")
	list.Stderr = os.Stderr
	out, err := list.StdoutPipe()
	if err != nil {
		return 0, err
	}
	if err := list.Start(); err != nil {
		return 0, err
	}
	sizes := types.SizesFor("gc", arch)
	if sizes == nil {
		return 0, fmt.Errorf("no such processor: %s", arch)
	}
	checked := map[string]*types.Package{"unsafe": types.Unsafe}
	for packages := json.NewDecoder(out); packages.More(); { // imported packages come first
		var p listed
		if err := packages.Decode(&p); err != nil {
			return count, err
		}
		if p.ImportPath == "unsafe" || strings.HasSuffix(p.ImportPath, ".test") {
			continue // the main package of a test does not exist yet
		}
		main := p.Module != nil && p.Module.Main
		if main {
			count++
		}
		config := types.Config{Sizes: sizes, IgnoreFuncBodies: !main,
			Importer: importer(func(path string) (*types.Package, error) {
				if actual := p.ImportMap[path]; actual != "" {
					path = actual
				}
				if imported := checked[path]; imported != nil {
					return imported, nil
				}
				return nil, fmt.Errorf("no package %s", path)
			})}
		if p.Module != nil && p.Module.GoVersion != "" {
			config.GoVersion = "go" + p.Module.GoVersion
		}
		if checked[p.ImportPath], err = p.check(&config); err != nil {
			return count, err
		}
	}
	return count, list.Wait()
}

func (p *listed) check(config *types.Config) (*types.Package, error) {
	set := token.NewFileSet()
	var files []*ast.File
	for _, name := range p.GoFiles {
		file, err := parser.ParseFile(set, filepath.Join(p.Dir, name), nil,
			parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	path, _, _ := strings.Cut(p.ImportPath, " ")
	return config.Check(path, set, files, nil)
}

type importer func(path string) (*types.Package, error)

func (i importer) Import(path string) (*types.Package, error) { return i(path) }
