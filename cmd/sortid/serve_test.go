package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sortid/sortid/cmd/sortid/internal/exit"
	"github.com/sortid/sortid/cmd/sortid/web"
	"github.com/sortid/sortid/format"
)

type served struct {
	*exec.Cmd
	url string
	log *bufio.Scanner
	in  io.Closer
}

// serve waits until it serves. It drains until in is closed.
func serve(t *testing.T, args ...string) *served {
	t.Helper()
	cmd := exec.Command(commandPath(t, "sortid-drains"),
		append([]string{"serve", "--listen", "127.0.0.1:0"}, args...)...)
	pipe, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	s := &served{Cmd: cmd, log: bufio.NewScanner(pipe), in: in}
	for s.log.Scan() {
		var line struct{ Msg, Address string }
		if err := json.Unmarshal(s.log.Bytes(), &line); err != nil {
			t.Fatalf("%v: %s", err, s.log.Text())
		}
		if line.Msg == "serving" {
			s.url = line.Address
			return s
		}
	}
	t.Fatal("it ended before it served")
	return nil
}

func get(t *testing.T, url string) (status int, body string) {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(b)
}

// The server prints what the command prints, finishes requests, and gives its node IDs back.
func TestServe(t *testing.T) {
	db := "bolt:" + filepath.Join(t.TempDir(), "s.db")
	s := serve(t, "--store", db)

	const id = "0372ijojuxuhjsfkeryi2mrtm"
	var out strings.Builder
	if code, stderr := start(nil, &out, "inspect", "-o", "json", id); code != 0 {
		t.Fatal(stderr)
	}
	if _, body := get(t, s.url+"/v1/inspect/"+id); body != out.String() {
		t.Errorf("inspect: got %s, want %s", body, out.String())
	}
	out.Reset()
	if code, stderr := start(nil, &out, "bounds", "scru128", "--from", "2026-11-17", "--to",
		"2026-11-18", "-o", "json"); code != 0 {
		t.Fatal(stderr)
	}
	if _, body := get(t, s.url+
		"/v1/bounds/scru128?from=2026-11-17&to=2026-11-18"); body != out.String() {
		t.Errorf("bounds: got %s, want %s", body, out.String())
	}
	out.Reset()
	if code, stderr := start(nil, &out, "formats", "-o", "json"); code != 0 {
		t.Fatal(stderr)
	}
	if _, body := get(t, s.url+"/v1/formats"); body != out.String() {
		t.Errorf("formats: got %s, want %s", body, out.String())
	}

	waitReadiness(t, s, http.StatusOK)

	// When the signal comes, one line is answered.
	body, feed := io.Pipe()
	go io.WriteString(feed, id+"\n")
	answer, err := http.Post(s.url+"/v1/inspect", "text/plain", body)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	s.Process.Signal(syscall.SIGTERM)
	waitReadiness(t, s, http.StatusServiceUnavailable)
	s.in.Close()
	if !soon(func() bool {
		conn, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
		if err == nil {
			conn.Close()
		}
		return err != nil
	}) {
		t.Error("it listens on")
	}
	io.WriteString(feed, id+"\n")
	feed.Close()
	if b, err := io.ReadAll(answer.Body); err != nil ||
		strings.Count(string(b), `"format":"scru128"`) != 2 {
		t.Errorf("the request under way: %s, %v", b, err)
	}
	for s.log.Scan() {
	}
	if err := s.Wait(); err != nil {
		t.Errorf("exit: %v", err)
	}
	out.Reset()
	if code, stderr := start(nil, &out, "lease", "list", db, "--realm", "scru64"); code != 0 ||
		strings.Contains(out.String(), " held ") {
		t.Errorf("after the end: %s%s", out.String(), stderr)
	}
}

// A server whose port is taken leases nothing.
func TestServePortTaken(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	fresh := filepath.Join(t.TempDir(), "fresh.db")
	used := filepath.Join(t.TempDir(), "used.db")
	var out strings.Builder
	for _, realm := range format.NamesOf(format.Leased()) {
		if code, stderr := start(nil, &out, "lease", "create", "bolt:"+used, "--realm", realm,
			"--format", realm); code != 0 {
			t.Fatal(stderr)
		}
	}
	before, err := os.ReadFile(used)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{fresh, used} {
		cmd := exec.Command(commandPath(t, "sortid"), "serve", "--listen", taken.Addr().String(),
			"--store", "bolt:"+path)
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		var exited *exec.ExitError
		if err := cmd.Run(); !errors.As(err, &exited) || exited.ExitCode() != exit.Bad {
			t.Errorf("%v: %s", err, &stderr)
		}
		var line struct{ Level, Msg, Error string }
		if err := json.Unmarshal(stderr.Bytes(), &line); err != nil || line.Level != "ERROR" ||
			!strings.Contains(line.Error, taken.Addr().String()) {
			t.Errorf("%v: %s", err, &stderr)
		}
	}
	if _, err := os.Stat(fresh); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it has made a file: %v", err)
	}
	if after, err := os.ReadFile(used); err != nil || !bytes.Equal(before, after) {
		t.Errorf("it has changed the file: %v", err)
	}
}

// The page's policy forbids frames; pages with another host name get nothing.
func TestServePage(t *testing.T) {
	_, policy, err := web.Page()
	if err != nil {
		t.Fatal(err)
	}
	s := serve(t, "--host", "ids.example.com")
	for host, want := range map[string]int{"": 200, "ids.example.com": 200,
		"evil.example": http.StatusMisdirectedRequest} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+"/", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Host = host
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		got := resp.Header.Get("Content-Security-Policy")
		if resp.StatusCode != want || want == 200 &&
			(got != policy || !strings.HasSuffix(got, "; frame-ancestors 'none'")) {
			t.Errorf("%q: %d, want %d, with the policy %q", host, resp.StatusCode, want, got)
		}
	}
}

// waitReadiness waits for a status of /readyz: 200 with node IDs.
func waitReadiness(t *testing.T, s *served, want int) {
	t.Helper()
	if !soon(func() bool { status, _ := get(t, s.url+"/readyz"); return status == want }) {
		t.Fatalf("its readiness is never %d", want)
	}
}

func soon(condition func() bool) bool {
	for deadline := time.Now().Add(2 * time.Minute); !condition(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			return false
		}
	}
	return true
}

// commandPath finds a command of TestMain, which testscript put into the PATH.
func commandPath(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Fatal(err)
	}
	return path
}
