package sortid_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/internal/check"
)

// A copy of a generator would repeat IDs, so go vet must find copies.
func TestVetFindsCopies(t *testing.T) {
	formats := format.Ours()
	imports, copies := "package main\n", "func main() {\n"
	for _, f := range formats {
		imports += fmt.Sprintf("import %q\n", "github.com/sortid/sortid/"+f.Name())
		copies += fmt.Sprintf("{ var a %s.Generator; b := a; _ = &b }\n", f.Name())
	}
	file := filepath.Join(t.TempDir(), "main.go")
	check.OK(t, os.WriteFile(file, []byte(imports+copies+"}\n"), 0o600))
	output, _ := exec.Command("go", "vet", "-copylocks", file).CombinedOutput()
	for _, f := range formats {
		if !strings.Contains(string(output), "/"+f.Name()+".Generator contains") {
			t.Errorf("go vet does not find the copy of %s", f.Name())
		}
	}
	if n := strings.Count(string(output), "copies lock value"); n != len(formats) {
		t.Errorf("%d copies, want %d:\n%s", n, len(formats), output)
	}
}
