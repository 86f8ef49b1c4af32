package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sortid/sortid/cmd/sortid/internal/console"
	"github.com/sortid/sortid/internal/check"
	"github.com/sortid/sortid/internal/testserver"
)

type wrapped struct {
	*testing.T
	*exec.Cmd
	program int // the program's process ID
	out     *os.File
	stderr  bytes.Buffer
}

// wrapExec runs "lease exec" with a script and a loop that prints the time. Only one test at a time
// may call it.
func wrapExec(t *testing.T, script string) *wrapped {
	dir := t.TempDir()
	store := "bolt:" + filepath.Join(dir, "s.db")
	createRealm(t, store)
	out := check.Must(os.Create(filepath.Join(dir, "out")))(t)
	t.Cleanup(func() { out.Close() })
	w := &wrapped{T: t, out: out, Cmd: exec.Command(commandPath(t, "sortid"), "-q", "lease",
		"exec", store, "--ahead", "4s", "--grace", "1s", "--lease-window", "26s", "--",
		"sh", "-c", `echo $$; `+script+`; while :; do date +%s%N; sleep 0.05; done`)}
	w.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	w.Stdout, w.Stderr = out, &w.stderr
	check.OK(t, w.Start())
	t.Cleanup(func() { syscall.Kill(-w.Process.Pid, syscall.SIGKILL) })
	if !check.Soon(func() bool { return len(w.lines()) > 2 }) {
		t.Fatal("the program does not run")
	}
	w.program = check.Must(strconv.Atoi(w.lines()[0]))(t)
	return w
}

func (w *wrapped) lines() []string {
	b := check.Must(os.ReadFile(w.out.Name()))(w.T)
	return strings.Split(string(b), "\n")
}

func (w *wrapped) code() int {
	var exit *exec.ExitError
	if err := w.Wait(); err != nil && !errors.As(err, &exit) {
		w.Fatal(err)
	}
	return w.ProcessState.ExitCode()
}

// stat returns the state and the parent of a process, or "X" if there is no such process.
func stat(process int) (state string, parent int) {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", process))
	_, rest, ok := strings.Cut(string(b), ") ")
	if !ok {
		return "X", 0
	}
	fmt.Sscan(rest, &state, &parent)
	return state, parent
}

func dead(process int) bool {
	state, _ := stat(process)
	return state == "X" || state == "Z"
}

// watchdog returns the watchdog, the program's parent.
func (w *wrapped) watchdog() int {
	_, process := stat(w.program)
	if _, parent := stat(process); parent != w.Process.Pid {
		w.Fatalf("%d is not the program's watchdog", process)
	}
	return process
}

// In a container that is killed again and again, exec holds one node ID. Two programs cannot use
// one file.
func TestLeaseFile(t *testing.T) {
	testserver.Long(t, "waits for a lock")
	unshare := []string{testserver.Program(t, "unshare"), "--pid", "--fork", "--kill-child",
		"--mount-proc", "--map-root-user"}
	if text, err := exec.Command(unshare[0],
		append(unshare[1:], "true")...).CombinedOutput(); err != nil {
		t.Skipf("%s; to run this: allow user namespaces", text)
	}
	dir := t.TempDir()
	store, file := "bolt:"+filepath.Join(dir, "s.db"), filepath.Join(dir, "lease")
	sortid(t, "", "lease", "create", store, "--realm", "shop", "--node-bits", "4")
	run := func() (*exec.Cmd, *bytes.Buffer, string) {
		cmd := exec.Command(unshare[0], append(unshare[1:], commandPath(t, "sortid"), "lease",
			"exec", store, "--realm", "shop", "--lease-file", file, "--",
			"sh", "-c", "echo $SORTID_NODE_ID; exec sleep 1000")...)
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		out := check.Must(cmd.StdoutPipe())(t)
		check.OK(t, cmd.Start())
		t.Cleanup(func() { cmd.Process.Kill() })
		node, _ := bufio.NewReader(out).ReadString('\n')
		return cmd, &stderr, node
	}
	for i := range 5 {
		cmd, stderr, node := run()
		if node == "" {
			t.Fatalf("start %d: %s", i, stderr)
		}
		list := sortid(t, "", "lease", "list", store, "--realm", "shop")
		if n := strings.Count(list, " held "); n != 1 {
			t.Errorf("start %d: %d node IDs are held\n%s", i, n, list)
		}
		if !check.Soon(func() bool { // the file is written soon
			text, _ := os.ReadFile(file)
			return bytes.Contains(text, []byte(`"record"`))
		}) {
			t.Fatal("nothing is kept")
		}
		if i == 4 {
			if _, stderr, node := run(); node != "" ||
				!strings.Contains(stderr.String(), "another program with this file runs") {
				t.Errorf("a second program has node ID %s: %s", node, stderr)
			}
		}
		cmd.Process.Kill()
		cmd.Wait()
	}
}

// If exec is stopped, its program ends before the lease does, even if the program ignores SIGTERM
// or is stopped, too.
func TestExecStopped(t *testing.T) {
	testserver.Waits(t, "waits until leases end")
	t.Parallel()
	for _, c := range []struct {
		name, script string
		group        bool
	}{
		{"obeys SIGTERM", `trap 'date +%s%N; exit 0' TERM`, false},
		{"ignores SIGTERM", `trap '' TERM`, false},
		{"stopped", `:`, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := wrapExec(t, c.script)
			t.Parallel()
			target := w.Process.Pid
			if c.group {
				target = -target
			}
			check.OK(t, syscall.Kill(target, syscall.SIGSTOP))
			if !check.Soon(func() bool { return dead(w.program) }) {
				t.Fatal("the program continues while exec is stopped")
			}
			if state, _ := stat(w.Process.Pid); state != "T" {
				t.Errorf("exec is in state %s, want it stopped", state)
			}
			syscall.Kill(target, syscall.SIGCONT)
			if code := w.code(); code != console.Failure {
				t.Errorf("exit code %d, want %d", code, console.Failure)
			}
			ended := regexp.MustCompile(
				`was ended, because .*(?:its lease ends|the lease ended) at (\S+)`,
			).FindStringSubmatch(w.stderr.String())
			if ended == nil {
				t.Fatalf("%q", &w.stderr)
			}
			end := check.Must(time.Parse(time.RFC3339, ended[1]))(t)
			lines := w.lines()
			last, err := strconv.ParseInt(lines[len(lines)-2], 10, 64)
			if at := time.Unix(0, last); err != nil || !at.Before(end) {
				t.Errorf("the program ran until %v, its lease until %v: %v", at, end, err)
			}
		})
	}
}

// If all processes are stopped past the lease's end, the program gets nothing but SIGKILL.
func TestExecFrozen(t *testing.T) {
	testserver.Long(t, "waits for the ends of leases")
	w := wrapExec(t, `trap 'echo term' TERM`)
	t.Parallel()
	frozen := []int{w.program, w.watchdog(), w.Process.Pid}
	for _, process := range frozen {
		check.OK(t, syscall.Kill(process, syscall.SIGSTOP))
	}
	time.Sleep(30 * time.Second) // longer than the window
	resumed := time.Now()
	for _, process := range frozen {
		check.OK(t, syscall.Kill(process, syscall.SIGCONT))
	}
	code, lines := w.code(), w.lines()
	if code != console.Failure || slices.Contains(lines, "term") ||
		!strings.Contains(w.stderr.String(), " stood still for ") {
		t.Errorf("exit code %d, %q", code, &w.stderr)
	}
	last := check.Must(strconv.ParseInt(lines[len(lines)-2], 10, 64))(t)
	ran := time.Unix(0, last).Sub(resumed)
	t.Logf("the program ran for %v", max(0, ran))
	if ran > time.Second {
		t.Errorf("the program ran for %v", ran)
	}
}

// The watchdog ignores signals, and ends with exec. If the watchdog is killed, the program ends.
func TestExecWatchdog(t *testing.T) {
	t.Run("signalled", func(t *testing.T) {
		w := wrapExec(t, `trap 'exit 9' TERM`)
		t.Parallel()
		dog := w.watchdog()
		syscall.Kill(dog, syscall.SIGTERM)
		syscall.Kill(dog, syscall.SIGSTOP) // a stopped watchdog does not delay exec
		w.Process.Signal(syscall.SIGTERM)
		if code := w.code(); code != 9 || w.stderr.Len() > 0 {
			t.Errorf("exit code %d, want 9; %s", code, &w.stderr)
		}
		if !dead(dog) {
			t.Error("the watchdog continues")
		}
	})
	t.Run("killed", func(t *testing.T) {
		w := wrapExec(t, `trap '' TERM`)
		t.Parallel()
		syscall.Kill(w.watchdog(), syscall.SIGKILL)
		if code := w.code(); code != console.Failure ||
			!strings.Contains(w.stderr.String(), "was ended, because its watchdog ") {
			t.Errorf("exit code %d; %s", code, &w.stderr)
		}
		if !dead(w.program) {
			t.Error("the program continues")
		}
	})
	t.Run("orphaned", func(t *testing.T) {
		w := wrapExec(t, `trap '' TERM`)
		t.Parallel()
		dog := w.watchdog()
		w.Process.Kill()
		w.Wait()
		if !check.Soon(func() bool { return dead(dog) && dead(w.program) }) {
			t.Error("the watchdog or the program continues")
		}
	})
}
