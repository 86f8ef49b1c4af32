package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sortid/sortid/cmd/sortid/internal/console"
	"github.com/sortid/sortid/internal/check"
	"github.com/sortid/sortid/internal/testserver"
)

// The program in docs/verify.md fails for the reasons given there. The linked one passes.
func TestDocumentedExample(t *testing.T) {
	testserver.Long(t, "makes half a million IDs in Python")
	python := testserver.Program(t, "python3")
	doc := check.Must(os.ReadFile("../../docs/verify.md"))(t)
	_, program, found := strings.Cut(string(doc), "```python\n")
	program, _, _ = strings.Cut(program, "```")
	if !found {
		t.Fatal("no program")
	}
	corrected := check.Must(os.ReadFile("../../examples/generators/scru128.py"))(t)
	dir := t.TempDir()
	var names []string
	for i, p := range []string{program, string(corrected)} {
		name := filepath.Join(dir, fmt.Sprint(i, ".py"))
		check.OK(t, os.WriteFile(name, []byte(p), 0o600))
		names = append(names, name)
	}
	ids := func(name string) []byte {
		out, err := exec.Command(python, name).Output()
		if err != nil {
			t.Error(err)
		}
		return out
	}

	var out bytes.Buffer
	code, stderr := start(bytes.NewReader(ids(names[0])), &out, "verify", "scru128")
	if code != console.Failure || stderr != "" {
		t.Errorf("the first program: code %d, %s", code, stderr)
	}
	for _, want := range []string{"rules.counter_hi.early  counter_hi",
		"random.entropy\n      same        bit 31 is always 0\n",
		"random.counter_lo\n      same        the value is always 0x000000\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the first program: no %q in:\n%s", want, out.String())
		}
	}

	sortid(t, string(ids(names[1])), "verify", "scru128")
	if got := sortid(t, "", "verify", "scru128", "--exec", python+" "+names[1], "--processes", "3",
		"--for", "10m"); !strings.Contains(got,
		"ok    each ID is on one line\n      scru128, 300,000 IDs in 3 sources") {
		t.Errorf("three processes: %s", got)
	}
}

func TestVerifyOthers(t *testing.T) {
	var lines strings.Builder
	for i := range 200 {
		fmt.Fprintf(&lines, "01HJ3QZ8XG%016d\n", i*i)
	}
	for _, args := range [][]string{{"verify"}, {"verify", "ulid"}} {
		var out bytes.Buffer
		code, stderr := start(strings.NewReader(lines.String()), &out, args...)
		if code != console.Success || stderr != "" ||
			!strings.Contains(out.String(), "ulid, 200 IDs in 200 lines") {
			t.Errorf("%v: code %d, %s%s", args, code, stderr, out.String())
		}
	}
	if code, stderr := start(strings.NewReader(lines.String()), io.Discard, "verify",
		"uuid-nil"); code != console.WrongUsage || !strings.Contains(
		stderr, "nothing to verify") {
		t.Errorf("uuid-nil: code %d, %s", code, stderr)
	}
}

func TestVerifyRawHead(t *testing.T) {
	ids := strings.NewReader(sortid(t, "", "new", "scru128", "-n", "100000"))
	r, w := io.Pipe()
	go func() {
		io.ReadFull(r, make([]byte, 10))
		r.Close()
	}()
	code, stderr := start(ids, w, "verify", "scru128", "--raw", "entropy")
	if code != console.Success || !strings.Contains(stderr, "checks passed") {
		t.Errorf("code %d, %s", code, stderr)
	}
}
