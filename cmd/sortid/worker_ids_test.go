package main

import (
	"bufio"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sortid/sortid/cmd/sortid/internal/nodeid"
	"github.com/sortid/sortid/cmd/sortid/internal/supervise"
	"github.com/sortid/sortid/internal/check"
	"github.com/sortid/sortid/internal/testserver"
)

const workerIDs = "../../docs/worker-ids.md"

// The page's lines of Go are lines of a program that is tested.
func TestWorkerIDGuard(t *testing.T) {
	t.Parallel()
	lines := map[string]bool{"id, err := ids.Next(ctx)": true, "": true}
	for line := range strings.Lines(string(check.Must(os.ReadFile(
		"../../examples/snowflake/main.go"))(t))) {
		lines[strings.TrimSpace(line)] = true
	}
	doc := string(check.Must(os.ReadFile(workerIDs))(t))
	blocks := regexp.MustCompile("(?ms)^```go\n(.*?)^```$").FindAllStringSubmatch(doc, -1)
	if len(blocks) != 1 {
		t.Fatalf("the page has %d programs in Go, want 1", len(blocks))
	}
	for _, block := range blocks {
		for line := range strings.Lines(block[1]) {
			if line = strings.TrimSpace(line); !lines[line] {
				t.Errorf("examples/snowflake/main.go has no line %s", line)
			}
		}
	}
}

// workers returns a file that docs/worker-ids.md links.
func workers(t *testing.T, name string) string {
	t.Helper()
	return string(check.Must(os.ReadFile("../../examples/workers/" + name))(t))
}

// A hook of gunicorn runs in each new worker. The configuration is loaded again when gunicorn
// reloads.
const forks = `
import os, signal, sys

def load():
    hook = {}
    exec(open("gunicorn.conf.py").read(), hook)
    return hook["post_fork"]

def fork(post_fork):
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            post_fork(None, None)
            os.write(write, os.environ["SORTID_NODE_ID"].encode())
            signal.pause()
        except RuntimeError as error:
            os.write(write, str(error).encode())
        finally:
            os._exit(1)
    os.close(write)
    got = os.read(read, 100).decode()
    print(got, flush=True)
    return pid

hook = load()
pids = [fork(hook) for _ in range(2)]
again = load()
pids += [fork(again), fork(hook)]
fork(again)
os.kill(pids[1], signal.SIGKILL)
os.waitpid(pids[1], 0)
pids[1] = fork(again)
for pid in pids:
    os.kill(pid, signal.SIGKILL)
`

// No two workers that live have the same node ID.
func TestWorkersOfGunicorn(t *testing.T) {
	testserver.Long(t, "starts many processes")
	t.Parallel()
	python := testserver.Program(t, "python3")
	dir := t.TempDir()
	check.OK(t, os.WriteFile(filepath.Join(dir, "gunicorn.conf.py"),
		[]byte(workers(t, "gunicorn.conf.py")), 0o600))
	cmd := exec.Command(python, "-c", forks)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "TMPDIR="+dir, "SORTID_NODE_IDS=4,50,6,700")
	out, err := cmd.CombinedOutput()
	if want := "4\n50\n6\n700\nno node ID for this worker: use a larger --count\n50\n"; err != nil ||
		string(out) != want {
		t.Errorf("%v; got\n%s\nwant\n%s", err, out, want)
	}
}

func TestWorkersOfNode(t *testing.T) {
	testserver.Long(t, "starts many processes")
	t.Parallel()
	node := testserver.Program(t, "node")
	dir := t.TempDir()
	// A worker ends soon, and its successor takes a node ID that is free. The file of a worker's
	// node ID exists while the worker runs.
	const app = `
import fs from "node:fs";
const id = process.env.SORTID_NODE_ID;
try {
  fs.openSync(id, "wx");
  console.log(id);
} catch (error) {
  console.log(String(error));
}
setTimeout(() => { fs.unlinkSync(id); process.exit(); }, 100);
`
	for name, text := range map[string]string{"cluster.mjs": workers(t, "cluster.mjs"),
		"app.mjs": app} {
		check.OK(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	cmd := exec.Command(node, "cluster.mjs")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "SORTID_NODE_IDS=1,2,3,4,5,6,7,8,9")
	stdout := check.Must(cmd.StdoutPipe())(t)
	check.OK(t, cmd.Start())
	defer func() { cmd.Process.Kill(); cmd.Wait() }()
	seen := map[string]bool{}
	for lines := bufio.NewScanner(stdout); len(seen) < 9 && lines.Scan(); {
		seen[lines.Text()] = true
	}
	for id := range 9 {
		if !seen[strconv.Itoa(id+1)] {
			t.Fatalf("workers have the node IDs %v, want all of 1 to 9", seen)
		}
	}
}

// The page's figures about windows are the ones of "lease exec".
func TestWindowsOfWorkers(t *testing.T) {
	t.Parallel()
	doc := string(check.Must(os.ReadFile(workerIDs))(t))
	rows := regexp.MustCompile(`(?m)^\| (\w+)[^|]* \| (\w+) \| (\w+) \| (\d+) \|$`).FindAllStringSubmatch(
		doc, -1)
	if len(rows) != 6 {
		t.Fatalf("the page has figures about %d windows, want 6", len(rows))
	}
	for _, row := range rows {
		pace := nodeid.UsualPace
		if strings.Contains(row[0], "kubernetes:") {
			pace = nodeid.KubernetesPace
		}
		window := check.Must(time.ParseDuration(row[1]))(t)
		survives := check.Must(time.ParseDuration(row[2]))(t)
		free := check.Must(time.ParseDuration(row[3]))(t)
		if got := supervise.Usual.Survives(window, pace); got < survives || got > survives+6*time.Second {
			t.Errorf("with a window of %v a program survives %v, and the page says %v", window, got,
				survives)
		}
		if got := supervise.FreeAfter(window); got.Round(time.Second) != free {
			t.Errorf("with a window of %v a node ID is free after %v, and the page says %v", window,
				got, free)
		}
		if ids := 300 + 75 + math.Ceil(10*supervise.FreeAfter(window).Minutes()); row[4] !=
			strconv.Itoa(int(ids)) {
			t.Errorf("with a window of %v, 300 pods need %v node IDs, and the page says %s", window,
				ids, row[4])
		}
		if strings.Contains(row[0], "the default") && window != pace.Window {
			t.Errorf("the usual window is %v, and the page says %v", pace.Window, window)
		}
	}
}
