package console

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/sortid/sortid/internal/check"
)

// The commands of a pipeline have the same standard error, but one of them shows progress.
func TestClaimTerminal(t *testing.T) {
	w := check.Must(os.Create(filepath.Join(t.TempDir(), "terminal")))(t)
	defer w.Close()
	first := claimTerminal(w)
	if first == nil {
		t.Fatal("nobody has the terminal")
	}
	if claimTerminal(w) != nil {
		t.Error("two have the terminal")
	}
	first.Close()
	second := claimTerminal(w)
	if second == nil {
		t.Fatal("the terminal was not given back")
	}
	second.Close()
}
