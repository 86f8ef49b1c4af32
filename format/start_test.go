package format_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
)

// A program that imports this package does not wait for its tables.
func TestStart(t *testing.T) {
	program := filepath.Join(t.TempDir(), "start")
	if out, err := exec.Command("go", "build", "-o", program,
		"testdata/start/main.go").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	cmd := exec.Command(program)
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	line := regexp.MustCompile(`init \S+/format @.*, \d+ bytes, (\d+) allocs`).FindSubmatch(out)
	if line == nil {
		t.Fatalf("the runtime printed no line about the package:\n%s", out)
	}
	if n, err := strconv.Atoi(string(line[1])); err != nil || n > 40 {
		t.Errorf("%s\nwant at most 40 allocations", line[0])
	}
}
