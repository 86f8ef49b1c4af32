package bolt

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/sortid/sortid/internal/check"
	"github.com/sortid/sortid/internal/testserver"
	"github.com/sortid/sortid/lease"
	"go.etcd.io/bbolt"
)

func TestMain(m *testing.M) {
	if role := os.Getenv("BOLT_TEST_ROLE"); role != "" {
		if err := roles[role](os.Getenv("BOLT_TEST_URL")); err != nil {
			fmt.Println("error:", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

var roles = map[string]func(url string) error{
	"lease": playLease,
	"count": playCount,
	"hold":  playHold,
}

type process struct {
	*exec.Cmd
	lines *bufio.Scanner
}

// start starts this test program in a role. It opens few files, because some systems allow a
// process only 256. The functions prepare run before the start.
func start(t *testing.T, role, url string, prepare ...func(*exec.Cmd)) *process {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), "BOLT_TEST_ROLE="+role, "BOLT_TEST_URL="+url)
	cmd.Stderr = os.Stderr
	for _, p := range prepare {
		p(cmd)
	}
	out, err := cmd.StdoutPipe()
	check.OK(t, errors.Join(err, cmd.Start()))
	return &process{cmd, bufio.NewScanner(out)}
}

func playLease(url string) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	s, err := Open(ctx, url)
	if err != nil {
		return err
	}
	l, err := lease.Acquire(ctx, s,
		lease.Config{Realm: "r", Format: lease.SCRU160(), NodeBits: 7, Window: time.Hour})
	if err != nil {
		return err
	}
	for range 20 {
		node, tick, err := l.ClaimTick(time.Now().UnixMilli())
		if err != nil {
			return err
		}
		fmt.Println(node, tick)
	}
	return l.Close(ctx)
}

// No tick of a node ID is used twice.
func TestProcessesUseNoTickTwice(t *testing.T) {
	n := 100
	if testing.Short() {
		n = 20
	}
	_, url := temp(t)
	begin := time.Now()
	var processes []*process
	for range n {
		processes = append(processes, start(t, "lease", url))
	}
	used := map[string]bool{}
	for _, p := range processes {
		lines, last := 0, ""
		for ; p.lines.Scan(); lines++ {
			last = p.lines.Text()
			if used[last] {
				t.Errorf("node ID and tick %s were used twice", last)
			}
			used[last] = true
		}
		if err := p.Wait(); err != nil || lines != 20 {
			t.Errorf("%d lines, %v; the last: %s", lines, err, last)
		}
	}
	t.Logf("%d processes leased, used and returned node IDs in %v", n, time.Since(begin))
}

func playCount(url string) error {
	s, err := Open(context.Background(), url)
	for err == nil {
		var r lease.Record
		if r, err = s.Get(context.Background(), "realm", block); err == nil {
			var ok bool
			if ok, err = s.CompareAndSet(context.Background(), r, record(r.Revision+1)); ok {
				fmt.Println(r.Revision + 1)
			}
		}
	}
	return err
}

// If a process is killed, the store has the changes that the process has printed.
func TestKilledProcessLosesNoChange(t *testing.T) {
	testserver.Long(t, "kills many processes")
	_, url := temp(t)
	s := must(t, url)
	var last uint64
	for round := 0; round < 10 || last < 50; round++ {
		var killed []*process
		for range 3 {
			killed = append(killed, start(t, "count", url))
		}
		said := map[string]bool{}
		hear := func(p *process) bool {
			t.Helper()
			if !p.lines.Scan() {
				return false
			}
			var n uint64
			if _, err := fmt.Sscan(p.lines.Text(), &n); err != nil {
				t.Fatal(p.lines.Text())
			}
			if said[p.lines.Text()] {
				t.Errorf("two processes were told to have made change %d", n)
			}
			said[p.lines.Text()] = true
			last = max(last, n)
			return true
		}
		for _, p := range killed { // wait until each process has made a change
			if !hear(p) {
				t.Fatal("a process ended by itself")
			}
		}
		time.Sleep(rand.N(50 * time.Millisecond))
		for _, p := range killed {
			p.Process.Kill()
			for hear(p) {
			}
			p.Wait()
		}
		r, err := s.Get(t.Context(), "realm", block)
		if err != nil || r.Revision < last {
			t.Fatalf("the store has change %d, %v; but a process was told that it has change %d",
				r.Revision, err, last)
		}
		last = r.Revision
		put(t, s, last+1)
	}
}

func playHold(url string) error {
	db, err := bbolt.Open(strings.TrimPrefix(url, "bolt:"), 0o600, nil)
	if err != nil {
		return err
	}
	defer db.Close()
	fmt.Println("held")
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

func TestErrorNamesTheProcessThatHoldsTheFile(t *testing.T) {
	path, url := temp(t)
	s := must(t, url)
	put(t, s, 1)
	in, release := io.Pipe()
	p := start(t, "hold", url, func(cmd *exec.Cmd) { cmd.Stdin = in })
	if !p.lines.Scan() || p.lines.Text() != "held" {
		t.Fatal(p.lines.Text())
	}
	for name, call := range map[string]func(ctx context.Context) error{
		"Open": func(ctx context.Context) error { _, err := Open(ctx, url); return err },
		"Get": func(ctx context.Context) error {
			_, err := s.Get(ctx, "realm", block)
			return err
		},
		"List": func(ctx context.Context) error { _, err := s.List(ctx, "realm"); return err },
		"CompareAndSet": func(ctx context.Context) error {
			_, err := s.CompareAndSet(ctx, record(1), record(2))
			return err
		},
	} {
		var err error
		// A slow machine may need longer to open the file.
		for d, seen := 100*time.Millisecond, false; !seen && d < patience; d *= 4 {
			ctx, cancel := context.WithTimeout(t.Context(), d)
			err = call(ctx)
			cancel()
			seen = err == nil || strings.Contains(err.Error(), "has the file locked")
		}
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: %v", name, err)
		} else if !strings.Contains(err.Error(), path) ||
			!strings.Contains(err.Error(), "has the file locked") {
			t.Errorf("%s: the error is %v", name, err)
		} else if linux &&
			!strings.Contains(err.Error(), fmt.Sprintf("process %d ", p.Process.Pid)) {
			t.Errorf("%s: the error does not name process %d: %v", name, p.Process.Pid, err)
		}
	}
	time.AfterFunc(50*time.Millisecond, func() { release.Close() })
	put(t, s, 2)
	if err := p.Wait(); err != nil {
		t.Error(err)
	}
}
