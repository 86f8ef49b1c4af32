package main

import (
	"embed"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/mod/modfile"
)

// programs are those that a user might write first.
//
//go:embed testdata/all testdata/scru128 testdata/postgres
var programs embed.FS

// notForUsers are prefixes of modules for tests. A program that keeps leases in PostgreSQL must not
// have them in go.mod and go.sum.
var notForUsers = []string{
	"go.etcd.io/etcd/server",
	"go.opentelemetry.io/",
	"github.com/prometheus/",
	"github.com/grpc-ecosystem/",
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
	var imports strings.Builder
	imports.WriteString("package main\n\nimport (\n")
	for _, p := range packages {
		fmt.Fprintf(&imports, "\t_ %q\n", p)
	}
	imports.WriteString(")\n")
	fmt.Fprintf(w, "a program that imports all %d packages\n", len(packages))
	if err := s.writeProgram("all", map[string]string{"imports.go": imports.String()}); err != nil {
		return err
	}
	var published []string
	for _, m := range r.published() {
		published = append(published, m.path())
	}
	if _, _, err := s.runProgram("all", published...); err != nil {
		return err
	}

	fmt.Fprintln(w, "a program that imports scru128: one requirement")
	if err := s.writeProgram("scru128", nil); err != nil {
		return err
	}
	mod, sum, err := s.runProgram("scru128", rootPath)
	if err != nil {
		return err
	}
	if len(mod.Require) != 1 {
		return fmt.Errorf("its go.mod has %d requirements, expected one: %s", len(mod.Require),
			modfile.Format(mod.Syntax))
	}
	for _, line := range sum {
		if !strings.HasPrefix(line, rootPath+" ") {
			return fmt.Errorf("its go.sum has a line for another module than %s: %s", rootPath,
				line)
		}
	}

	fmt.Fprintln(w, "a program that imports store/postgres: nothing that only tests need")
	if err := s.writeProgram("postgres", nil); err != nil {
		return err
	}
	mod, sum, err = s.runProgram("postgres", rootPath, rootPath+"/store")
	if err != nil {
		return err
	}
	lines := sum
	for _, q := range mod.Require {
		lines = append(lines, q.Mod.String())
	}
	for _, line := range lines {
		for _, prefix := range notForUsers {
			if strings.HasPrefix(line, prefix) {
				return fmt.Errorf("its go.mod or go.sum has what only tests need: %s", line)
			}
		}
	}
	return nil
}

func (s *sandbox) writeProgram(name string, extra map[string]string) error {
	dir := filepath.Join(s.dir, name)
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	data, err := programs.ReadFile("testdata/" + name + "/main.go")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "main.go"), data, 0o644); err != nil {
		return err
	}
	for file, text := range extra {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// runProgram makes a module and runs the program, as a user does. It returns the go.mod and
// go.sum's lines.
func (s *sandbox) runProgram(name string, modules ...string) (*modfile.File, []string, error) {
	dir := filepath.Join(s.dir, name)
	steps := [][]string{{"mod", "init", "example.org/" + name}}
	for _, m := range modules {
		steps = append(steps, []string{"get", m + "@" + s.version})
	}
	for _, args := range append(steps, []string{"mod", "tidy"}, []string{"run", "-trimpath", "."}) {
		if _, err := output(s.command(dir, "go", args...)); err != nil {
			return nil, nil, fmt.Errorf("in a program that imports %s: %w", name, err)
		}
	}
	goMod := filepath.Join(dir, "go.mod")
	data, err := os.ReadFile(goMod)
	if err != nil {
		return nil, nil, err
	}
	mod, err := modfile.Parse(goMod, data, nil)
	if err != nil {
		return nil, nil, err
	}
	sum, err := os.ReadFile(filepath.Join(dir, "go.sum"))
	return mod, strings.Split(strings.TrimSpace(string(sum)), "\n"), err
}
