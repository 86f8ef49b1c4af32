package typed_test

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/internal/check"
	"github.com/sortid/sortid/typed"
)

func TestEveryFormat(t *testing.T) {
	for _, f := range format.Ours() {
		if typed.Tested[f.Name()] == nil {
			t.Errorf("typed/inner.go lacks %s", f.Name())
		}
	}
	for name := range typed.Tested {
		if _, err := format.Lookup(name); err != nil {
			t.Errorf("internal/spec/spec.go lacks %s: %v", name, err)
		}
	}
}

func TestMistakesDoNotCompile(t *testing.T) {
	const file = "testdata/mistakes/main.go"
	output, err := exec.Command("go", "build", "-gcflags=-e", "-o",
		filepath.Join(t.TempDir(), "out"), file).CombinedOutput()
	if err == nil {
		t.Fatal("the program compiles")
	}
	got := map[int]string{}
	for line := range strings.Lines(string(output)) {
		if _, rest, ok := strings.Cut(line, "main.go:"); ok {
			number, message, _ := strings.Cut(rest, ":")
			n, err := strconv.Atoi(number)
			if err != nil {
				t.Fatal(line)
			}
			got[n] += message
		}
	}
	f := check.Must(os.Open(file))(t)
	defer f.Close()
	wanted := 0
	s := bufio.NewScanner(f)
	for n := 1; s.Scan(); n++ {
		_, want, found := strings.Cut(s.Text(), "// ERROR ")
		message, is := got[n]
		if found {
			wanted++
		}
		if found != is || !strings.Contains(message, want) {
			t.Errorf("line %d: %s\nthe compiler says %q, want %q", n, s.Text(), message, want)
		}
	}
	if err := s.Err(); err != nil || wanted == 0 {
		t.Errorf("want %d errors, %v; the compiler said\n%s", wanted, err, output)
	}
}
