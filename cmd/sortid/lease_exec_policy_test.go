//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/sortid/sortid/internal/check"
	"github.com/sortid/sortid/internal/testserver"
)

// A supervised is a "lease exec" that the test observes by its status.
type supervised struct {
	*testing.T
	*exec.Cmd
	store, file string
	stderr      locked
}

type locked struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *locked) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *locked) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// runSupervised runs "lease exec" in a realm of 16 node IDs with the arguments.
func runSupervised(t *testing.T, store string, args ...string) *supervised {
	if store == "" {
		store = "bolt:" + filepath.Join(t.TempDir(), "s.db")
		sortid(t, "", "lease", "create", store, "--realm", "r", "--node-bits", "4")
	}
	s := &supervised{T: t, store: store, file: filepath.Join(t.TempDir(), "status.json")}
	s.Cmd = exec.Command(commandPath(t, "sortid"), append([]string{"lease", "exec", store, "--realm",
		"r", "--status", s.file}, args...)...)
	s.Stderr = &s.stderr
	check.OK(t, s.Start())
	t.Cleanup(func() { s.Process.Kill() })
	return s
}

// status waits until the status has the state, and returns the status.
func (s *supervised) status(state string) (object map[string]any) {
	s.Helper()
	if !check.Soon(func() bool {
		text, _ := os.ReadFile(s.file)
		object = nil
		if err := json.Unmarshal(text, &object); err != nil && len(text) > 0 {
			s.Fatalf("half a status: %s: %v", text, err)
		}
		return object["state"] == state
	}) {
		s.Fatalf("the state is not %s, but %v; %s", state, object, &s.stderr)
	}
	return object
}

func (s *supervised) says(pattern string) {
	s.Helper()
	if !check.Soon(func() bool {
		return regexp.MustCompile(`(?m)^sortid: ` + pattern).MatchString(s.stderr.String())
	}) {
		s.Fatalf("not said: %s; but: %s", pattern, &s.stderr)
	}
}

func (s *supervised) ends(code int) {
	s.Helper()
	var ended *exec.ExitError
	if err := s.Wait(); err != nil && !errors.As(err, &ended) {
		s.Fatal(err)
	}
	if got := s.ProcessState.ExitCode(); got != code {
		s.Errorf("exit code %d, want %d; %s", got, code, &s.stderr)
	}
}

var sleeper = []string{"--", "sh", "-c", "while :; do sleep 0.05; done"}

// An evicted program ends, or starts again with another node ID. A signal ends the restarts.
func TestExecEvicted(t *testing.T) {
	testserver.Long(t, "waits for the ends of leases")
	t.Parallel()
	served := "bolt:" + filepath.Join(t.TempDir(), "s.db")
	sortid(t, "", "lease", "create", served, "--realm", "r", "--node-bits", "4")
	server := startServer(t, "--store", served, "--leases-only")
	for _, c := range []struct {
		store   string
		restart bool
	}{{"", false}, {"", true}, {server, false}, {server, true}} {
		args := append([]string{"--ahead", "0s", "--grace", "1s", "--lease-window", "16s"}, sleeper...)
		if c.restart {
			args = append([]string{"--on-loss", "restart"}, args...)
		}
		s := runSupervised(t, c.store, args...)
		first := s.status("held")
		sortid(t, "", "lease", "evict", s.store, first["node_spec"].(string), "--realm", "r", "--yes")
		if !c.restart {
			s.ends(1)
			s.says(`.*/sh was ended, because .*node ID \d+/4 of realm "r" was evicted`)
			if last := s.status("ended"); last["pid"] != first["pid"] {
				t.Errorf("%v after %v", last, first)
			}
			continue
		}
		s.says(`.*sh was ended, because .* was evicted.*; starting it again in \d+s`)
		var second map[string]any
		if !check.Soon(func() bool {
			second = s.status("held")
			return second["pid"] != first["pid"]
		}) || second["node_id"] == first["node_id"] {
			t.Fatalf("%v after %v", second, first)
		}
		s.says(`node ID \d+/4 of realm r until .*; before, it was node ID \d+/4$`)
		s.Process.Signal(syscall.SIGTERM)
		s.ends(143)
	}
}

// SIGTERM and SIGINT end the wait for a node ID or for the store.
func TestExecWaitSignalled(t *testing.T) {
	testserver.Long(t, "waits for signals")
	t.Parallel()
	holder := runSupervised(t, "", append([]string{"--node-id", "5"}, sleeper...)...)
	holder.status("held")
	for _, c := range []struct {
		store, waits string
		sig          syscall.Signal
		code         int
	}{
		{holder.store, `waiting for a node ID: .*node ID 5/4 of realm "r" is held by ".*" until`,
			syscall.SIGTERM, 143},
		{"redis://127.0.0.1:1/", "", syscall.SIGINT, 130},
	} {
		s := runSupervised(t, c.store, append([]string{"--wait", "--node-id", "5"}, sleeper...)...)
		if c.waits != "" {
			s.says(c.waits)
		}
		if status := s.status("starting"); status["pid"] != nil || status["node_id"] != nil {
			t.Errorf("%v", status)
		}
		s.Process.Signal(c.sig)
		s.ends(c.code)
		s.status("ended")
	}
	// It gets the node ID as soon as the other one gives it back.
	s := runSupervised(t, holder.store, append([]string{"--wait", "--node-id", "5"}, sleeper...)...)
	s.says(`waiting for a node ID: `)
	holder.Process.Signal(syscall.SIGTERM)
	holder.ends(143)
	if status := s.status("held"); status["node_id"] != 5.0 {
		t.Errorf("%v", status)
	}
	s.Process.Signal(syscall.SIGTERM)
	s.ends(143)
	if out := sortid(t, "", "lease", "list", s.store); strings.Contains(out, "/4  held") {
		t.Errorf("%s", out)
	}
}

// The state is ending from SIGTERM on, for as long as the program needs to end.
func TestExecEnding(t *testing.T) {
	t.Parallel()
	ready, end := filepath.Join(t.TempDir(), "ready"), filepath.Join(t.TempDir(), "end")
	s := runSupervised(t, "", "--", "sh", "-c",
		"trap '' TERM; : >"+ready+"; until [ -e "+end+" ]; do sleep 0.05; done; exit 7")
	s.status("held")
	if !check.Soon(func() bool { _, err := os.Stat(ready); return err == nil }) {
		t.Fatal("the program does not start")
	}
	s.Process.Signal(syscall.SIGTERM)
	s.status("ending")
	check.OK(t, os.WriteFile(end, nil, 0o600))
	s.ends(7)
	s.status("ended")
}

// Nobody said that the missing realm is of scru64.
func TestExecMissingRealm(t *testing.T) {
	t.Parallel()
	store := "bolt:" + filepath.Join(t.TempDir(), "s.db")
	sortid(t, "", "lease", "create", store, "--realm", "r", "--node-bits", "4")
	for want, args := range map[string][]string{
		"--realm \"x\" --node-bits N (or --format scru64)": {"--realm", "x"},
		"--realm \"x\" --node-bits 5":                      {"--realm", "x", "--node-bits", "5"},
		"--realm \"scru64\" --format scru64":               nil,
		"--realm \"x\" --format snowflake-twitter":         {"--realm", "x", "--format", "snowflake-twitter"},
	} {
		args = append(append([]string{"lease", "exec", store}, args...), "--", "true")
		if _, stderr := expect(t, 1, args); !strings.HasSuffix(stderr, "create "+store+" "+want+"\n") {
			t.Errorf("%q: %s", args, stderr)
		}
	}
}

func TestExecMetrics(t *testing.T) {
	t.Parallel()
	s := runSupervised(t, "", append([]string{"--metrics", "127.0.0.1:0"}, sleeper...)...)
	s.status("held")
	s.says(`metrics are at `)
	url := regexp.MustCompile(`http://\S+/metrics`).FindString(s.stderr.String())
	resp := check.Must(http.Get(url))(t)
	text := string(check.Must(io.ReadAll(resp.Body))(t))
	resp.Body.Close()
	for _, want := range []string{"\nsortid_lease_held 1\n",
		"\nsortid_lease_remaining_seconds 16", "\nsortid_exec_renewals_failed_total 0\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in %s", want, text)
		}
	}
	addr := strings.TrimSuffix(strings.TrimPrefix(url, "http://"), "/metrics")
	other := runSupervised(t, s.store, "--metrics", addr, "--", "sh", "-c", "echo started >&2")
	other.ends(1)
	other.says(`--metrics ` + regexp.QuoteMeta(addr) + `: .*address already in use`)
	if strings.Contains(other.stderr.String(), "started") {
		t.Error("the program was started")
	}
	if out := sortid(t, "", "lease", "list", s.store); strings.Count(out, "/4 ") != 1 {
		t.Errorf("%s", out)
	}
}
