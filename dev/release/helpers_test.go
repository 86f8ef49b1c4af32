// Package release tests what users install and deploy. With the tag "release", which
// "make check-release" sets, it also packs the modules, archives and packages of a release.
package release

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sortid/sortid/internal/check"
)

// root is the root of the repository.
const root = "../.."

// file returns the text of a file of the repository.
func file(t *testing.T, name string) string {
	t.Helper()
	data := check.Must(os.ReadFile(filepath.Join(root, name)))(t)
	return string(data)
}

// run returns what a program prints.
func run(t *testing.T, dir string, env []string, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s%s", cmd, err, out, &stderr)
	}
	return strings.TrimSuffix(string(out), "\n")
}
