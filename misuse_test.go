package sortid_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sortid/sortid/format"
)

// A copy of a generator would repeat IDs, so go vet must find copies.
func TestVetFindsCopies(t *testing.T) {
	names := format.Names()
	imports, copies := "package main\n", "func main() {\n"
	for _, name := range names {
		imports += fmt.Sprintf("import %q\n", "github.com/sortid/sortid/"+name)
		copies += fmt.Sprintf("{ var a %s.Generator; b := a; _ = &b }\n", name)
	}
	file := filepath.Join(t.TempDir(), "main.go")
	if err := os.WriteFile(file, []byte(imports+copies+"}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	output, _ := exec.Command("go", "vet", "-copylocks", file).CombinedOutput()
	for _, name := range names {
		if !strings.Contains(string(output), "/"+name+".Generator contains") {
			t.Errorf("go vet does not find the copy of %s", name)
		}
	}
	if n := strings.Count(string(output), "copies lock value"); n != len(names) {
		t.Errorf("%d copies, want %d:\n%s", n, len(names), output)
	}
}
