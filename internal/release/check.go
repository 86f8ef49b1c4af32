package main

import (
	"embed"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
)

// programs are like the first programs of a user.
//
//go:embed testdata/all testdata/scru128 testdata/postgres
var programs embed.FS

// notForUsers are prefixes of module paths. Only tests need these modules. A program that keeps
// leases in PostgreSQL must not have them in go.mod or go.sum.
var notForUsers = []string{
	"go.etcd.io/etcd/server",
	"go.opentelemetry.io/",
	"github.com/prometheus/",
	"github.com/grpc-ecosystem/",
}

// A program is what a user could write, with the modules that it may require.
type program struct {
	name, title string
	imports     []string // packages that an extra file imports
	modules     []string
	accepts     func(modulePath string) bool // whether go.mod and go.sum may have the module
}

func (s *sandbox) checkInstall(w io.Writer, r *repo) error {
	fmt.Fprintf(w, "go install %s/cmd/sortid@%s\n", rootPath, s.version)
	sortid, err := s.install(target{})
	if err != nil {
		return err
	}
	got, err := output(s.command(s.dir, sortid, "--version"))
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "  %s\n", got)
	if !strings.HasPrefix(got, "sortid "+s.version+",") {
		return fmt.Errorf("sortid --version says %q, expected version %s", got, s.version)
	}
	packages, err := r.publicPackages()
	if err != nil {
		return err
	}
	var published []string
	for _, m := range r.published() {
		published = append(published, m.path())
	}
	for _, p := range []program{
		{"all", fmt.Sprintf("all %d packages", len(packages)), packages, published,
			func(string) bool { return true }},
		{"scru128", "scru128: one requirement", nil, []string{rootPath},
			func(path string) bool { return path == rootPath }},
		{"postgres", "store/postgres: nothing that only tests need", nil,
			[]string{rootPath, rootPath + "/store"}, func(path string) bool {
				return !slices.ContainsFunc(notForUsers,
					func(prefix string) bool { return strings.HasPrefix(path, prefix) })
			}},
	} {
		fmt.Fprintf(w, "a program that imports %s\n", p.title)
		if err := s.run(p); err != nil {
			return fmt.Errorf("in a program that imports %s: %w", p.name, err)
		}
	}
	return nil
}

// run makes a module and runs the program, like a user. It checks go.mod and go.sum.
func (s *sandbox) run(p program) error {
	source, err := fs.Sub(programs, "testdata/"+p.name)
	if err != nil {
		return err
	}
	dir := filepath.Join(s.dir, p.name)
	if err := os.CopyFS(dir, source); err != nil {
		return err
	}
	imports := "package main\n\n"
	for _, path := range p.imports {
		imports += fmt.Sprintf("import _ %q\n", path)
	}
	if err := os.WriteFile(filepath.Join(dir, "imports.go"), []byte(imports), 0o644); err != nil {
		return err
	}
	steps := [][]string{{"mod", "init", "example.org/" + p.name}}
	for _, m := range p.modules {
		steps = append(steps, []string{"get", m + "@" + s.version})
	}
	for _, args := range append(steps, []string{"mod", "tidy"}, []string{"run", "-trimpath", "."}) {
		if _, err := output(s.command(dir, "go", args...)); err != nil {
			return err
		}
	}
	goMod := filepath.Join(dir, "go.mod")
	data, err := os.ReadFile(goMod)
	if err != nil {
		return err
	}
	mod, err := modfile.Parse(goMod, data, nil)
	if err != nil {
		return err
	}
	for _, q := range mod.Require {
		if !p.accepts(q.Mod.Path) {
			return fmt.Errorf("its go.mod has a requirement that it must not have: %s", q.Mod)
		}
	}
	sum, err := os.ReadFile(filepath.Join(dir, "go.sum"))
	for line := range strings.Lines(string(sum)) {
		if path, _, _ := strings.Cut(line, " "); !p.accepts(path) {
			return fmt.Errorf("its go.sum has a line that it must not have: %s", line)
		}
	}
	return err
}
