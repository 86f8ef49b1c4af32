package sortid_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/sortid/sortid"
	"github.com/sortid/sortid/euid"
	"github.com/sortid/sortid/scru128"
	"github.com/sortid/sortid/scru160"
	"github.com/sortid/sortid/scru64"
	"github.com/sortid/sortid/uid60"
)

// Each call of a generator that NewGenerator did not make returns an error.
func TestZeroGenerator(t *testing.T) {
	var (
		g64  scru64.Generator
		g128 scru128.Generator
		g160 scru160.Generator
		gE   euid.Generator
		g60  uid60.Generator
	)
	for name, f := range map[string]func() error{
		"scru64":       func() error { _, err := g64.Generate(); return err },
		"scru64 Fill":  func() error { return g64.Fill(make([]scru64.ID, 2)) },
		"scru128":      func() error { _, err := g128.Generate(); return err },
		"scru128 Fill": func() error { return g128.Fill(make([]scru128.ID, 2)) },
		"scru160":      func() error { _, err := g160.Generate(); return err },
		"scru160 Fill": func() error { return g160.Fill(make([]scru160.ID, 2)) },
		"euid":         func() error { _, err := gE.Generate(); return err },
		"euid Fill":    func() error { return gE.Fill(make([]euid.ID, 2)) },
		"uid60":        func() error { _, err := g60.Generate(); return err },
		"uid60 Fill":   func() error { return g60.Fill(make([]uid60.ID, 2)) },
	} {
		for range 2 {
			if err := f(); !errors.Is(err, sortid.ErrOption) ||
				!strings.Contains(err.Error(), "NewGenerator") {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// A copy of a generator would repeat IDs, so go vet must find copies.
func TestVetFindsCopies(t *testing.T) {
	const file = "testdata/copies/main.go"
	source, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	output, err := exec.Command("go", "vet", "-copylocks", file).CombinedOutput()
	if err == nil {
		t.Error("go vet finds nothing")
	}
	n := 0
	for line := range strings.Lines(string(source)) {
		n++
		where := fmt.Sprintf("main.go:%d:", n)
		if strings.Contains(line, "// WANT") != strings.Contains(string(output), where) {
			t.Errorf("line %d: %sgo vet says\n%s", n, line, output)
		}
	}
}
