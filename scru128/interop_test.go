package scru128

import (
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sortid/sortid/internal/check"
	"github.com/sortid/sortid/internal/conformance"
)

// The peer is an implementation by the format's author.
const peer = "scru128@3.0.6"

// install installs the peer in a temporary folder. If that fails, install skips the test, but in CI
// the test fails.
func install(t *testing.T) (dir string) {
	t.Helper()
	missing := func(format string, args ...any) {
		t.Helper()
		if os.Getenv("CI") != "" {
			t.Fatalf(format, args...)
		}
		t.Skipf(format, args...)
	}
	for _, tool := range []string{"node", "npm"} {
		if _, err := exec.LookPath(tool); err != nil {
			missing("%s is not installed; to run this test: .ci/setup (on Debian and Ubuntu; "+
				"elsewhere, install it)", tool)
		}
	}
	dir = t.TempDir()
	cmd := exec.Command("npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", dir,
		peer)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		missing("npm cannot install %s: %v\n%s; to run this test: connect to npm's registry", peer,
			err, out)
	}
	script := check.Must(os.ReadFile(filepath.Join("testdata", "interop.mjs")))(t)
	check.OK(t, os.WriteFile(filepath.Join(dir, "interop.mjs"), script, 0o644))
	return dir
}

func show(id ID) string {
	return fmt.Sprintln(id, hex.EncodeToString(id[:]), id.Timestamp(), id.CounterHi(),
		id.CounterLo(), id.Entropy())
}

func TestInterop(t *testing.T) {
	if testing.Short() {
		t.Skip("it installs a package from npm, and -short is set; to run this test: " +
			"go test without -short")
	}
	dir := install(t)
	vectors := conformance.VectorsOf(t, "scru128")
	var in, want strings.Builder
	add := func(text string, id ID) {
		fmt.Fprintln(&in, "parse", text)
		want.WriteString(show(id))
	}
	for range 1000 {
		id := New()
		add(id.String(), id)
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		id := FromUint128(r.Uint64()>>r.IntN(64), r.Uint64())
		add(strings.ToUpper(id.String()), id)
	}
	for _, v := range vectors.Valid {
		add(v.Text, MustParse(v.Text))
	}
	for _, v := range vectors.Invalid {
		if v.Text != "" && !strings.ContainsAny(v.Text, " \n\x00") {
			fmt.Fprintln(&in, "parse", v.Text)
			want.WriteString("invalid\n")
		}
	}
	const made = 20_000
	fmt.Fprintln(&in, "make", made)

	cmd := exec.Command("node", "interop.mjs")
	cmd.Dir, cmd.Stdin, cmd.Stderr = dir, strings.NewReader(in.String()), os.Stderr
	out := check.Must(cmd.Output())(t)
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	expected := strings.Split(strings.TrimSuffix(want.String(), "\n"), "\n")
	if len(lines) != len(expected)+made {
		t.Fatalf("%d lines of output, want %d", len(lines), len(expected)+made)
	}
	for i, w := range expected {
		if lines[i] != w {
			t.Fatalf("line %d: the other implementation says %q, this package %q", i+1, lines[i], w)
		}
	}
	var ids []ID
	for _, line := range lines[len(expected):] {
		text, _, _ := strings.Cut(line, " ")
		id := check.Must(Parse(text))(t)
		if show(id) != line+"\n" {
			t.Fatalf("the other implementation says %q, this package %q", line, show(id))
		}
		ids = append(ids, id)
	}
	conformance.Increasing(t, ids)
}
