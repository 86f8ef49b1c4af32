package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/sortid/sortid/cmd/sortid/internal/console"
	"github.com/sortid/sortid/internal/check"
	"github.com/sortid/sortid/scru64"
)

// In these scripts, commands without standard input run in this process, because the start of a
// process takes longer than the command.
var quickScripts = []string{"bounds", "convert", "formats", "hints", "inspect", "lease", "new",
	"options", "page", "plan", "scan", "serve-token", "sql", "verify", "verify-unique"}

var (
	execLine = regexp.MustCompile(`^(! )?exec sortid (.*[^&])\n$`)
	exitLine = regexp.MustCompile(`^exit (\d) sortid(.*)\n$`)
)

// splitScripts returns copies of quickScripts, with "call" instead of "exec sortid", and the other
// scripts.
func splitScripts(t *testing.T) (quick, others []string) {
	t.Helper()
	files, err := filepath.Glob("testdata/script/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("there are no scripts: ", err)
	}
	for _, name := range quickScripts {
		if !slices.Contains(files, "testdata/script/"+name+".txtar") {
			t.Errorf("there is no script %s", name)
		}
	}
	dir := t.TempDir()
	for _, file := range files {
		name := filepath.Base(file)
		if base, _, _ := strings.Cut(name, "."); *update || !slices.Contains(quickScripts, base) {
			others = append(others, file)
			continue
		}
		data := check.Must(os.ReadFile(file))(t)
		lines := strings.SplitAfter(string(data), "\n")
		for i, line := range lines {
			if strings.HasPrefix(line, "-- ") || strings.HasPrefix(line, "env ") &&
				!strings.HasPrefix(line, "env "+scru64.NodeSpecVar+"=") {
				break
			}
			if i == 0 || !strings.HasPrefix(lines[i-1], "stdin ") {
				line = execLine.ReplaceAllString(line, "${1}call $2\n")
				lines[i] = exitLine.ReplaceAllString(line, "exit $1 call$2\n")
			}
		}
		name = filepath.Join(dir, name)
		check.OK(t, os.WriteFile(name, []byte(strings.Join(lines, "")), 0o600))
		quick = append(quick, name)
	}
	return quick, others
}

// call runs the command in this process, in the script's folder and with its node spec. Scripts
// that set other variables start processes.
func call(ts *testscript.TestScript, args []string) (code int) {
	here, err := os.Getwd()
	ts.Check(err)
	ts.Check(os.Chdir(ts.MkAbs(".")))
	defer os.Chdir(here)
	if spec := ts.Getenv(scru64.NodeSpecVar); spec != "" {
		ts.Check(os.Setenv(scru64.NodeSpecVar, spec))
		defer os.Unsetenv(scru64.NodeSpecVar)
	}
	return run(&console.Console{In: strings.NewReader(""), Out: ts.Stdout(), Err: ts.Stderr(),
		Width: 80}, args)
}

type oneByOne struct{ *testing.T }

func (oneByOne) Parallel() {}

// Verbose reports false, because some scripts print megabytes. The log of a script that fails is
// printed anyway.
func (oneByOne) Verbose() bool { return false }

func (t oneByOne) Run(name string, f func(testscript.T)) {
	t.T.Run(name, func(t *testing.T) { f(oneByOne{t}) })
}
