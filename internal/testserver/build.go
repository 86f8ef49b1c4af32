package testserver

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// Sortid returns the path of the command, built by the go command.
//
// A test that calls Sortid runs again if the command's source in the test's module changes. If
// packages of other modules should have this effect too, the test must import them.
func Sortid(t testing.TB) string {
	t.Helper()
	return Build(t, "github.com/sortid/sortid/cmd/sortid")
}

// Build returns the path of a program, as [Sortid] does. The package is an import path, or relative
// to the test's folder.
func Build(t testing.TB, pkg string) string {
	t.Helper()
	path, err := once(pkg, build)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// once builds each package once.
func once(pkg string, build func(pkg string) (string, error)) (path string, err error) {
	b, _ := built.LoadOrStore(pkg, sync.OnceValues(func() (string, error) { return build(pkg) }))
	return b.(func() (string, error))()
}

var built sync.Map // from packages to func() (string, error)

// The go command keeps programs that "go run" has built in its cache, so all tests share one build.
func build(pkg string) (path string, err error) {
	// The go command notes which files of its module a test looks at. If one of them changes, it
	// does not use the test's cached result.
	const sources = `{{if not .Standard}}{{if not .Module.Version}}{{$dir := .Dir}}` +
		`{{range .GoFiles}}{{$dir}}/{{.}}{{"\n"}}{{end}}` +
		`{{range .EmbedFiles}}{{$dir}}/{{.}}{{"\n"}}{{end}}{{end}}{{end}}`
	files, err := clientOutput(exec.Command("go", "list", "-deps", "-f", sources, pkg))
	if err != nil {
		return "", err
	}
	for file := range strings.Lines(files) {
		os.Stat(strings.TrimSpace(file))
	}
	for range 2 { // only the second run is with the program in the cache
		out, err := clientOutput(exec.Command("go", "run", "-exec", "go version", pkg))
		if err != nil {
			return "", err
		}
		path = out[:max(0, strings.LastIndex(out, ": "))]
		if _, err = os.Stat(path); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("go run %s: the program is not in the go command's cache", pkg)
}

// buildTool builds a tool of module dev.
func buildTool(pkg string) (path string, err error) {
	root, err := clone()
	if err != nil {
		return "", err
	}
	cmd := exec.Command("go", "tool", "-n", pkg)
	cmd.Dir = filepath.Join(root, "dev")
	cmd.Env = append(os.Environ(), "PWD="+cmd.Dir, "GOWORK="+filepath.Join(root, "go.work"),
		"CGO_ENABLED=0")
	if path, err = clientOutput(cmd); err != nil {
		return "", fmt.Errorf("%s in %s: %w", cmd, cmd.Dir, err)
	}
	return path, nil
}

// clone returns the folder of the root module.
var clone = sync.OnceValues(func() (string, error) {
	cmd := exec.Command("go", "list", "-f", "{{.Dir}}", "github.com/sortid/sortid/internal/testserver")
	path, err := clientOutput(cmd)
	return filepath.Join(path, "..", ".."), err
})
