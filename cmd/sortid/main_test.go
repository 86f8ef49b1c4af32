package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/sortid/sortid/cmd/sortid/internal/nodeid"
	"github.com/sortid/sortid/internal/testserver"
	"github.com/sortid/sortid/lease"
	"github.com/sortid/sortid/store"
)

func TestMain(m *testing.M) {
	// For slow machines.
	nodeid.SetPatience(5 * time.Minute)
	testscript.Main(tests{m}, map[string]func(){
		"sortid": main,
		// This "serve" drains until its standard input ends.
		"sortid-drains": func() {
			drain = func() { io.Copy(io.Discard, os.Stdin) }
			main()
		},
	})
}

type tests struct{ *testing.M }

// Run runs the tests. TestMain also starts commands, which need their own SIGHUP.
func (t tests) Run() int {
	// Without a handler, children of tests under nohup would ignore SIGHUP.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	return t.M.Run()
}

// TestQuickScripts changes the process's working directory, so no other test may run beside it.
func TestQuickScripts(t *testing.T) {
	params := scripts()
	params.Files, _ = splitScripts(t)
	testscript.RunT(oneByOne{t}, params)
}

func TestScripts(t *testing.T) {
	testserver.Waits(t, "waits for many commands")
	t.Parallel()
	params := scripts()
	_, params.Files = splitScripts(t)
	testscript.Run(t, params)
}

func scripts() testscript.Params {
	return testscript.Params{
		RequireExplicitExec: true,
		UpdateScripts:       *update,
		Setup: func(env *testscript.Env) error {
			// The race detector would delay each command's end by a second.
			env.Setenv("GORACE", "atexit_sleep_ms=0")
			until, err := os.ReadFile(filepath.Join("testdata", "until.sh"))
			return errors.Join(err, os.WriteFile(filepath.Join(env.WorkDir, "until.sh"), until, 0o644))
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exit": exits, "later": later,
			"call": func(ts *testscript.TestScript, neg bool, args []string) {
				if code := call(ts, args); (code != 0) != neg {
					ts.Fatalf("exit code %d", code)
				}
			},
		},
		Condition: func(name string) (bool, error) {
			if name != "root" {
				return false, fmt.Errorf("no condition %s", name)
			}
			return os.Getuid() == 0, nil
		},
	}
}

// exits CODE PROGRAM [ARG...] checks a program's exit code.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exit CODE PROGRAM [ARG...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if args[1] == "call" {
		got = call(ts, args[2:])
	} else if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exited *exec.ExitError
		if !errors.As(err, &exited) {
			ts.Fatalf("%v", err)
		}
		got = exited.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// later FILE DURATION makes the leases in a file older.
func later(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: later FILE DURATION")
	}
	d, err := time.ParseDuration(args[1])
	ts.Check(err)
	ctx := context.Background()
	st, err := store.OpenExisting(ctx, "bolt:"+ts.MkAbs(args[0]))
	ts.Check(err)
	defer st.Close()
	names, err := st.Realms(ctx)
	ts.Check(err)
	for _, name := range names {
		root, blocks, err := lease.Records(ctx, st, name)
		ts.Check(err)
		ticks := d.Milliseconds() / root.Terms.Tick
		for _, r := range blocks {
			if r.Owner == (lease.Owner{}) {
				continue
			}
			next := r
			next.Revision, next.HWM, next.Deadline = r.Revision+1, r.HWM-ticks, r.Deadline-ticks
			if ok, err := st.CompareAndSet(ctx, r, next); err != nil || !ok {
				ts.Fatalf("%v: changed: %v, %v", r.Block, ok, err)
			}
		}
	}
}
