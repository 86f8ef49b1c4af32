//go:build unix

package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/sortid/sortid/cmd/sortid/internal/console"
	"github.com/sortid/sortid/internal/check"
	"github.com/sortid/sortid/internal/testserver"
	"github.com/sortid/sortid/scru64"
)

func interpreters(t *testing.T) map[string][]string {
	all := map[string][]string{}
	for name, file := range map[string]string{"python3": "scru64.py", "node": "scru64.mjs"} {
		path := testserver.Program(t, name)
		file = check.Must(filepath.Abs(filepath.Join("testdata", "exec", file)))(t)
		all[name] = []string{path, file}
	}
	return all
}

// createRealm makes the realm, because commands report a realm that they make.
func createRealm(t *testing.T, store string) {
	t.Helper()
	sortid(t, "", "lease", "create", store, "--format", "scru64")
}

// An incomplete last line does not count.
func countTwice(t *testing.T, files []string) (ids, twice int) {
	t.Helper()
	seen := map[scru64.ID]bool{}
	for _, name := range files {
		f := check.Must(os.Open(name))(t)
		lines := bufio.NewScanner(f)
		for lines.Scan() {
			id, err := scru64.Parse(lines.Text())
			if err != nil {
				if lines.Scan() {
					t.Errorf("%s: %v", name, err)
				}
				break
			}
			ids++
			if seen[id] {
				twice++
			}
			seen[id] = true
		}
		f.Close()
	}
	return ids, twice
}

// Programs that are killed or stopped make no ID twice. Two programs with one node ID make IDs
// twice, and the test finds them.
func TestExecTorture(t *testing.T) {
	t.Parallel()
	testserver.Long(t, "kills programs again and again")
	command, dir := commandPath(t, "sortid"), t.TempDir()
	programs := interpreters(t)
	store := "bolt:" + filepath.Join(dir, "s.db")

	createRealm(t, store)
	var mu sync.Mutex
	var files []string
	output := func(cmd *exec.Cmd) *os.File {
		mu.Lock()
		defer mu.Unlock()
		f, err := os.CreateTemp(dir, "ids")
		if err != nil {
			t.Error(err)
			return nil
		}
		t.Cleanup(func() { f.Close() })
		cmd.Stdout = f
		files = append(files, f.Name())
		return f
	}

	var wg sync.WaitGroup
	for i := range 4 {
		program := programs[[]string{"python3", "node"}[i%2]]
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(i), 1))
			for _, way := range rng.Perm(4) {
				cmd := exec.Command(
					command, append([]string{"-q", "lease", "exec", store, "--node-bits", "6", "--"},
						program...)...)
				cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
				ids := output(cmd)
				var stderr bytes.Buffer
				cmd.Stderr = &stderr
				cmd.WaitDelay = 5 * time.Second
				if err := cmd.Start(); err != nil {
					t.Error(err)
					return
				}
				group := -cmd.Process.Pid
				pause := func() {
					time.Sleep(time.Second + time.Duration(rng.Int64N(int64(2*time.Second))))
				}
				if !check.Soon(func() bool { return size(ids) > 0 }) {
					t.Error("a program makes no IDs")
				}
				pause()
				switch way {
				case 0: // kill only exec; Linux then kills the program
					cmd.Process.Kill()
				case 1:
					syscall.Kill(group, syscall.SIGKILL)
				case 2:
					syscall.Kill(group, syscall.SIGSTOP)
					pause()
					syscall.Kill(group, syscall.SIGCONT)
					pause()
					cmd.Process.Signal(syscall.SIGTERM)
				case 3:
					cmd.Process.Signal(syscall.SIGTERM)
				}
				cmd.Wait()
				if strings.Contains(stderr.String(), "sortid:") {
					t.Errorf("%s", &stderr)
				}
			}
		})
	}
	wg.Wait()
	ids, twice := countTwice(t, files)
	t.Logf("%d IDs of %d processes", ids, len(files))
	if twice > 0 {
		t.Errorf("%d IDs were made twice", twice)
	}

	files = nil
	for _, program := range programs {
		cmd := exec.Command(program[0], program[1:]...)
		cmd.Env = append(os.Environ(), scru64.NodeSpecVar+"=42/8")
		output(cmd)
		check.OK(t, cmd.Start())
		defer cmd.Wait()
		defer cmd.Process.Kill()
	}
	if !check.Soon(func() bool { _, twice := countTwice(t, files); return twice > 0 }) {
		t.Error("two programs with one node ID made no ID twice, so this test finds nothing")
	}
}

func size(f *os.File) int64 {
	info, err := f.Stat()
	if err != nil {
		return 0
	}
	return info.Size()
}

func TestExecExit(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	createRealm(t, "bolt:"+path)
	for script, want := range map[string]int{"exit 0": 0, "exit 7": 7, "kill -TERM $$": 143} {
		var stderr bytes.Buffer
		c := &console.Console{Err: &stderr, Width: 80}
		code := run(c, []string{"-q", "lease", "exec", "bolt:" + path, "--", "sh", "-c",
			script})
		if code != want || stderr.Len() > 0 {
			t.Errorf("%s: exit code %d, want %d; %s", script, code, want, &stderr)
		}
	}

	cmd := exec.Command(commandPath(t, "sortid"), "lease", "exec", "bolt:"+path, "--realm",
		"orders", "--create", "--format", "scru64", "--node-bits", "5", "--",
		"sh", "-c",
		`trap 'echo hup' HUP; trap 'echo term; exit 9' TERM
		echo $SCRU64_NODE_SPEC $SORTID_NODE_ID $SORTID_NODE_BITS
		while :; do sleep 0.05; done`)
	pipe := check.Must(cmd.StdoutPipe())(t)
	check.OK(t, cmd.Start())
	lines := bufio.NewScanner(pipe)
	next := func() string { lines.Scan(); return lines.Text() }
	var id, bits int
	var text string
	check.Must(fmt.Sscan(next(), &text, &id, &bits))(t)
	spec, err := scru64.ParseNodeSpec(text)
	if err != nil || bits != 5 ||
		int(spec.NodeID()) != id || spec.NodeIDSize() != 5 {
		t.Errorf("%q, %d, %d: %v", text, id, bits, err)
	}
	cmd.Process.Signal(syscall.SIGHUP)
	if got := next(); got != "hup" {
		t.Errorf("after SIGHUP: %q", got)
	}
	cmd.Process.Signal(syscall.SIGTERM)
	if got := next(); got != "term" {
		t.Errorf("after SIGTERM: %q", got)
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 9 {
		t.Errorf("%v, want exit code 9", err)
	}
}
