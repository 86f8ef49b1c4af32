package main

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/sortid/sortid/internal/testserver"
)

func TestFilesAreCurrent(t *testing.T) {
	t.Chdir("..")
	for _, f := range files {
		t.Run(f.name, func(t *testing.T) {
			if strings.HasPrefix(f.name, "bundle/") {
				testserver.Long(t, "builds esbuild")
				if out, err := exec.Command("go", "run", esbuild, "--version").CombinedOutput(); err != nil {
					testserver.Missing(t, "go run "+esbuild+": "+string(out), "connect to a module proxy")
				}
			}
			have, err := os.ReadFile(f.name)
			if err != nil {
				t.Fatal(err)
			}
			want, err := f.text()
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(have, want) {
				t.Errorf("%s is out of date: run go generate in the folder of package web", f.name)
			}
		})
	}
}
