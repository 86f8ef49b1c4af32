package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/sortid/sortid/internal/check"
	"github.com/sortid/sortid/internal/testserver"
)

// A program starts in the same state as without "lease exec": it ignores and blocks the same
// signals, and has the same files, limits, umask, folder, process group and privileges.
func TestExecKeepsTheState(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	store := "bolt:" + filepath.Join(dir, "s.db")
	createRealm(t, store)
	out := check.Must(os.OpenFile(filepath.Join(dir, "out"), os.O_CREATE|os.O_RDWR|os.O_APPEND,
		0o600))(t)
	defer out.Close()
	other := check.Must(os.Open(dir))(t)
	defer other.Close()
	state := func(args ...string) string {
		t.Helper()
		check.OK(t, out.Truncate(0))
		cmd := exec.Command("sh", append([]string{"-c",
			`umask 027; ulimit -S -n 300; ulimit -c 0; exec "$@"`, "sh", testserver.Program(t, "env"),
			"--ignore-signal=HUP,INT,TSTP,CONT", "--block-signal=USR1"}, args...)...)
		cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.ExtraFiles = dir, other, out, []*os.File{other}
		if err := cmd.Run(); err != nil {
			t.Fatalf("%q: %v", args, err)
		}
		text := check.Must(os.ReadFile(out.Name()))(t)
		return changing.ReplaceAllString(string(text), "")
	}
	supervised := []string{commandPath(t, "sortid"), "-q", "lease", "exec", store, "--"}
	for _, program := range [][]string{{"cat", "/proc/self/status", "/proc/self/limits"},
		{"sh", "-c", `pwd; for file in /proc/$$/fd/*; do
			fd=${file##*/}
			[ ! -e $file ] || echo $fd $(readlink $file) $(grep flags /proc/$$/fdinfo/$fd)
		done`}} {
		want := state(program...)
		if got := state(append(slices.Clone(supervised), program...)...); got != want {
			t.Errorf("got\n%s\nwithout lease exec\n%s", got, want)
		}
	}
}

// changing matches what is different in each process.
var changing = regexp.MustCompile(
	`(?m)^(Tgid|Pid|PPid|NStgid|NSpid|SigQ|FDSize|Vm\w+|Rss\w+|\w*ctxt_switches):.*\n`)
