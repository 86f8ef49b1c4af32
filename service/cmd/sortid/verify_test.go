package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The example in docs/verify.md does what it says: the first program fails for the
// reasons given, the second one passes, also in several processes at once.
func TestDocumentedExample(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("there is no python3")
	}
	doc, err := os.ReadFile("../../../docs/verify.md")
	if err != nil {
		t.Fatal(err)
	}
	programs := strings.Split(string(doc), "```python\n")[1:]
	if len(programs) != 2 {
		t.Fatalf("%d programs, want 2", len(programs))
	}
	dir := t.TempDir()
	var names []string
	for i, p := range programs {
		p, _, _ = strings.Cut(p, "```")
		name := filepath.Join(dir, fmt.Sprint(i, ".py"))
		if err := os.WriteFile(name, []byte(p), 0o600); err != nil {
			t.Fatal(err)
		}
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
	if code != exitBad || stderr != "" {
		t.Errorf("the first program: code %d, %s", code, stderr)
	}
	for _, want := range []string{"rules.counter_hi.early  counter_hi", "random.entropy\n      balance     bit 31 is 1 in 0.00%", "random.counter_lo\n      balance     bit 0"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the first program: no %q in:\n%s", want, out.String())
		}
	}

	out.Reset()
	if code, stderr := start(bytes.NewReader(ids(names[1])), &out, "verify", "scru128"); code != exitOK {
		t.Errorf("the second program: code %d, %s%s", code, stderr, out.String())
	}
	results := make([]chan []byte, 3)
	for i := range results {
		results[i] = make(chan []byte)
		go func() { results[i] <- ids(names[1]) }()
	}
	args := []string{"verify", "--unique"}
	for i, r := range results {
		name := filepath.Join(dir, fmt.Sprint(i, ".txt"))
		if err := os.WriteFile(name, <-r, 0o600); err != nil {
			t.Fatal(err)
		}
		args = append(args, name)
	}
	out.Reset()
	if code, stderr := start(nil, &out, args...); code != exitOK || !strings.Contains(out.String(), "300,000 IDs in 3 sources") {
		t.Errorf("three processes: code %d, %s%s", code, stderr, out.String())
	}
}
