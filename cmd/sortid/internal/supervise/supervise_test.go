//go:build unix

package supervise

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	bbolt "go.etcd.io/bbolt"

	"github.com/sortid/sortid/cmd/sortid/internal/console"
	"github.com/sortid/sortid/cmd/sortid/internal/nodeid"
	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/internal/check"
	"github.com/sortid/sortid/internal/gencore"
	"github.com/sortid/sortid/internal/testserver"
)

// Without a renewal, the program ends before the lease does.
func TestStoreUnreachable(t *testing.T) {
	testserver.Waits(t, "waits until leases end")
	patience := nodeid.ReleasePatience
	t.Cleanup(func() { nodeid.ReleasePatience = patience })
	nodeid.ReleasePatience = time.Second
	for _, c := range []struct {
		name, script string
	}{
		{"obeys SIGTERM", `trap 'date +%s%N; exit 0' TERM; echo up; while :; do sleep 0.05; done`},
		{"ignores SIGTERM", `trap '' TERM; echo up; while :; do date +%s%N; sleep 0.05; done`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "s.db")
			out := check.Must(os.CreateTemp(t.TempDir(), "out"))(t)
			defer out.Close()
			var stderr bytes.Buffer
			terminal := &console.Console{Out: out, Err: &stderr, Width: 80}
			// On a slow machine, the program needs seconds.
			o := &Options{Path: check.Must(exec.LookPath("sh"))(t),
				Args:  []string{"sh", "-c", c.script},
				Lease: &nodeid.Options{URL: "bolt:" + path, Create: true, Window: 26 * time.Second},
				Realm: check.Must(nodeid.NewRealm(gencore.Must(format.Lookup("scru64")), "", 8))(t),
				Times: Times{Ahead: 4 * time.Second, Grace: 3 * time.Second}}
			done := make(chan error, 1)
			go func() { done <- Run(terminal, o) }()

			read := func() string {
				b := check.Must(os.ReadFile(out.Name()))(t)
				return string(b)
			}
			up := func() bool { return strings.HasPrefix(read(), "up\n") || len(done) > 0 }
			if !check.Soon(up) {
				t.Fatal("the program did not start")
			}
			// From now on the store does not answer.
			db := check.Must(bbolt.Open(path, 0o600, nil))(t)
			err := <-done
			db.Close()
			if err == nil || !strings.Contains(err.Error(),
				"was ended, because its lease ends at ") {
				t.Fatalf("%v", err)
			}
			_, text, _ := strings.Cut(err.Error(), "its lease ends at ")
			text, _, _ = strings.Cut(text, " ")
			end := check.Must(time.Parse(time.RFC3339, text))(t)
			var last int64
			for line := range strings.Lines(strings.TrimPrefix(read(), "up\n")) {
				fmt.Sscan(line, &last)
			}
			if at := time.Unix(0, last); last == 0 || !at.Before(end) {
				t.Errorf("the program ran until %v, its lease until %v", at, end)
			}
		})
	}
}

// An early signal that ends programs interrupts the wait for the node ID. The program gets this
// signal later. Other early signals do nothing.
func TestPassSignals(t *testing.T) {
	from, to, err := os.Pipe()
	check.OK(t, err)
	defer from.Close()
	far := time.Now().Add(time.Hour)
	p := check.Must(startProgram(&console.Console{Out: to}, check.Must(exec.LookPath("sh"))(t),
		[]string{"sh", "-c", `trap 'exit 9' TERM; echo ready; while :; do sleep 0.05; done`},
		os.Environ(), deadlines{far, far, far}))(t)
	to.Close()
	if lines := bufio.NewScanner(from); !lines.Scan() {
		t.Fatal("the program prints nothing")
	}
	signals, started := make(chan os.Signal), make(chan *program)
	interrupted := 0
	var passed sync.WaitGroup
	passed.Go(
		func() { passSignals(new(console.Console), signals, started, func(os.Signal) { interrupted++ }) })
	signals <- syscall.SIGWINCH
	signals <- syscall.SIGCONT
	signals <- syscall.SIGTERM
	started <- p
	if <-p.gone; p.code != 9 {
		t.Errorf("exit code %d, want 9", p.code)
	}
	close(started)
	passed.Wait()
	if interrupted != 1 {
		t.Errorf("interrupted %d times, want once", interrupted)
	}
}

func TestEnvironment(t *testing.T) {
	t.Setenv("STORE_TOKEN", "secret")
	t.Setenv("STORE_URL", "https://ids.example.com?ca=ca.pem&token=env:STORE_TOKEN")
	t.Setenv("STORE_TOKEN_FILE", "kept")
	for url, want := range map[string]string{
		"bolt:s.db":     "STORE_TOKEN STORE_TOKEN_FILE STORE_URL",
		"env:STORE_URL": "STORE_TOKEN_FILE",
		"https://ids.example.com?token=env:STORE_TOKEN": "STORE_TOKEN_FILE STORE_URL",
	} {
		var names []string
		for _, variable := range environ(&nodeid.Options{URL: url}) {
			if name, _, _ := strings.Cut(variable, "="); strings.HasPrefix(name, "STORE_") {
				names = append(names, name)
			}
		}
		slices.Sort(names)
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%s: %s, want %s", url, got, want)
		}
	}
}
