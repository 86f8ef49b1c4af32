package main

import (
	"flag"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/sortid/sortid/internal/check"
)

var update = flag.Bool("update", false, "write what the tests compare to its file, and to the scripts")

// The file has commands with wrong options and wrong texts, and what each prints to standard error.
func TestMessages(t *testing.T) {
	const name = "testdata/messages.txt"
	file := check.Must(os.ReadFile(name))(t)
	var got strings.Builder
	commands := 0
	for line := range strings.Lines(string(file)) {
		command, ok := strings.CutPrefix(line, "$ sortid ")
		if !ok {
			continue
		}
		commands++
		code, stderr := start(strings.NewReader(""), io.Discard, strings.Fields(command)...)
		got.WriteString(line + stderr)
		if code == 0 {
			t.Errorf("%sis no mistake", line)
		}
	}
	if *update {
		check.OK(t, os.WriteFile(name, []byte(got.String()), 0o644))
	} else if got.String() != string(file) {
		t.Errorf("run the test with -update if this is right:\n%s",
			diff.Diff(name, file, "messages", []byte(got.String())))
	}
	if commands < 50 {
		t.Errorf("only %d commands", commands)
	}
}
