//go:build release

package release

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sortid/sortid/internal/check"
	"github.com/sortid/sortid/internal/testserver"
)

const rootPath = "github.com/sortid/sortid"

// notForUsers are prefixes of module paths. Only tests need these modules. A program that keeps
// leases in PostgreSQL must not have them in go.sum.
var notForUsers = []string{"go.etcd.io/etcd/server", "go.opentelemetry.io/",
	"github.com/prometheus/", "github.com/grpc-ecosystem/"}

// A user is somebody with the next version of our modules, and a module cache of their own.
type user struct {
	dir, version string
	env          []string
}

func newUser(t *testing.T) user {
	t.Helper()
	testserver.Long(t, "builds the command")
	u := user{dir: t.TempDir(), version: nextVersion(t)}
	env := run(t, root, nil, "go", "run", "./internal/release", "pack", u.version, u.dir)
	u.env = strings.Split(env, "\n")
	return u
}

// nextVersion returns the version at which the modules require each other.
func nextVersion(t *testing.T) string {
	t.Helper()
	_, rest, _ := strings.Cut(file(t, "store/go.mod"), rootPath+" ")
	version, _, ok := strings.Cut(rest, "\n")
	if !ok {
		t.Fatalf("store/go.mod does not require %s", rootPath)
	}
	return version
}

// program makes a module that imports packages, and runs it.
func (u user) program(t *testing.T, modules, packages []string) (goSum string) {
	t.Helper()
	dir := t.TempDir()
	source := "package main\n\nimport (\n"
	for _, name := range packages {
		source += fmt.Sprintf("\t_ %q\n", name)
	}
	source += ")\n\nfunc main() {}\n"
	check.OK(t, os.WriteFile(filepath.Join(dir, "main.go"), []byte(source), 0o644))
	get := []string{"get"}
	for _, m := range modules {
		get = append(get, m+"@"+u.version)
	}
	for _, args := range [][]string{{"mod", "init", "example.org/program"}, get, {"mod", "tidy"},
		{"run", "."}} {
		run(t, dir, u.env, "go", args...)
	}
	sum := check.Must(os.ReadFile(filepath.Join(dir, "go.sum")))(t)
	return string(sum)
}

func TestPackedModules(t *testing.T) {
	u := newUser(t)
	t.Run("command", u.testCommand)
	t.Run("imports", u.testImports)
}

func (u user) testCommand(t *testing.T) {
	run(t, u.dir, u.env, "go", "install", rootPath+"/cmd/sortid@"+u.version)
	sortid := filepath.Join(u.dir, "go", "bin", "sortid")
	if got := run(t, u.dir, nil, sortid, "--version"); !strings.HasPrefix(got,
		"sortid "+u.version+",") {
		t.Errorf("sortid --version says %q, expected version %s", got, u.version)
	}
	if id := run(t, u.dir, nil, sortid, "new", "scru64", "--lease", "bolt:leases.db",
		"--create"); len(id) != 12 {
		t.Errorf("on a lease, sortid makes %q", id)
	}
}

func (u user) testImports(t *testing.T) {
	var modules, packages []string
	for line := range strings.Lines(file(t, "go.work")) {
		dir, comment, _ := strings.Cut(strings.TrimSpace(line), " ")
		if !strings.HasPrefix(dir, ".") || strings.Contains(comment, "not published") {
			continue
		}
		modules = append(modules, strings.TrimSuffix(rootPath+strings.TrimPrefix(dir, "."), "/"))
		const public = `{{if and .GoFiles (ne .Name "main")}}{{.ImportPath}}{{end}}`
		for _, name := range strings.Fields(
			run(t, root, nil, "go", "list", "-f", public, dir+"/...")) {
			if !slices.Contains(strings.Split(name, "/"), "internal") {
				packages = append(packages, name)
			}
		}
	}
	t.Run("all", func(t *testing.T) {
		t.Logf("%d modules with %d packages", len(modules), len(packages))
		u.program(t, modules, packages)
	})
	t.Run("scru128", func(t *testing.T) {
		sum := u.program(t, []string{rootPath}, []string{rootPath + "/scru128"})
		for line := range strings.Lines(sum) {
			if !strings.HasPrefix(line, rootPath+" ") {
				t.Errorf("a program that uses one format needs %s", line)
			}
		}
	})
	t.Run("postgres", func(t *testing.T) {
		sum := u.program(t, []string{rootPath + "/store"}, []string{rootPath + "/store/postgres"})
		for line := range strings.Lines(sum) {
			for _, prefix := range notForUsers {
				if strings.HasPrefix(line, prefix) {
					t.Errorf("a program with leases in PostgreSQL needs %s", line)
				}
			}
		}
	})
}
