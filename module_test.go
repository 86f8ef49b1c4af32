package sortid_test

import (
	"os"
	"strings"
	"testing"
)

// People adopt an ID library because it drags nothing in.
func TestNoDependencies(t *testing.T) {
	mod, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(string(mod), "\n") {
		switch word, _, _ := strings.Cut(strings.TrimSpace(line), " "); word {
		case "", "module", "go", "//":
		default:
			t.Errorf("go.mod has a line that it should not need: %s", line)
		}
	}
	if _, err := os.Stat("go.sum"); err == nil {
		t.Error("the root module has a go.sum, so it has dependencies")
	}
}
