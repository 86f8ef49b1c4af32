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

	"github.com/sortid/sortid/cmd/sortid/internal/catalog"
	"github.com/sortid/sortid/cmd/sortid/internal/console"
	"github.com/sortid/sortid/cmd/sortid/server/idapi"
	"github.com/sortid/sortid/cmd/sortid/web"
	"github.com/sortid/sortid/internal/check"
)

type served struct {
	*exec.Cmd
	url string
	log *bufio.Scanner
	in  io.Closer
}

// serve starts a server and waits until it serves. After SIGTERM, it drains until in is closed.
func serve(t *testing.T, args ...string) *served {
	t.Helper()
	cmd := exec.Command(commandPath(t, "sortid-drains"),
		append([]string{"serve", "--listen", "127.0.0.1:0"}, args...)...)
	pipe := check.Must(cmd.StderrPipe())(t)
	in := check.Must(cmd.StdinPipe())(t)
	check.OK(t, cmd.Start())
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
	t.Fatal("the server ended before it served")
	return nil
}

func get(t *testing.T, url string) (status int, body string) {
	t.Helper()
	resp := check.Must(http.Get(url))(t)
	defer resp.Body.Close()
	b := check.Must(io.ReadAll(resp.Body))(t)
	return resp.StatusCode, string(b)
}

// The server answers with what the command prints, finishes requests, and gives its node IDs back.
func TestServe(t *testing.T) {
	db := "bolt:" + filepath.Join(t.TempDir(), "s.db")
	s := serve(t, "--store", db, "--host", "ids.example.com")

	const id = "0372ijojuxuhjsfkeryi2mrtm"
	for path, args := range map[string]string{
		"inspect/" + id: "inspect " + id,
		"formats":       "formats",
		"bounds/scru128?from=2026-11-17&to=2026-11-18": "bounds scru128 --on 2026-11-17",
	} {
		want := sortid(t, "", strings.Fields(args+" -o json")...)
		if _, got := get(t, s.url+"/v1/"+path); got != want {
			t.Errorf("%s: got %s, want %s", path, got, want)
		}
	}

	// The policy forbids frames. Requests with another host name get no page.
	_, policy := web.Page()
	for host, want := range map[string]int{"": 200, "ids.example.com": 200,
		"evil.example": http.StatusMisdirectedRequest} {
		r := check.Must(http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+"/", nil))(t)
		r.Host = host
		resp := check.Must(http.DefaultClient.Do(r))(t)
		resp.Body.Close()
		got := resp.Header.Get("Content-Security-Policy")
		if resp.StatusCode != want || want == 200 &&
			(got != policy || !strings.HasSuffix(got, "; frame-ancestors 'none'")) {
			t.Errorf("%q: %d, want %d, with the policy %q", host, resp.StatusCode, want, got)
		}
	}

	waitReadiness(t, s, http.StatusOK)

	// When SIGTERM comes, the server has received one line of a request.
	body, feed := io.Pipe()
	go io.WriteString(feed, id+"\n")
	answer := check.Must(http.Post(s.url+"/v1/inspect", "text/plain", body))(t)
	defer answer.Body.Close()
	s.Process.Signal(syscall.SIGTERM)
	waitReadiness(t, s, http.StatusServiceUnavailable)
	s.in.Close()
	if !check.Soon(func() bool {
		conn, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
		if err == nil {
			conn.Close()
		}
		return err != nil
	}) {
		t.Error("the server still listens")
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
	if out := sortid(t, "", "lease", "list", db, "--realm", "scru64"); strings.Contains(out,
		" held ") {
		t.Errorf("after the end: %s", out)
	}
}

// The log has each answered request, even if the server is killed.
func TestServeKilled(t *testing.T) {
	s := serve(t)
	const requests = 10
	for range requests {
		if status, body := get(t, s.url+"/v1/ids/scru128"); status != http.StatusOK {
			t.Fatal(status, body)
		}
	}
	s.Process.Kill()
	logged := 0
	for s.log.Scan() {
		var line struct{ Path string }
		if json.Unmarshal(s.log.Bytes(), &line) == nil && line.Path == "/v1/ids/scru128" {
			logged++
		}
	}
	if logged != requests {
		t.Errorf("the log has %d of %d requests", logged, requests)
	}
}

func TestServePortTaken(t *testing.T) {
	taken := check.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer taken.Close()
	fresh := filepath.Join(t.TempDir(), "fresh.db")
	used := filepath.Join(t.TempDir(), "used.db")
	for _, realm := range catalog.Names(idapi.Leased()) {
		sortid(t, "", "lease", "create", "bolt:"+used, "--format", realm)
	}
	before := check.Must(os.ReadFile(used))(t)
	for _, path := range []string{fresh, used} {
		cmd := exec.Command(commandPath(t, "sortid"), "serve", "--listen", taken.Addr().String(),
			"--store", "bolt:"+path)
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		var exited *exec.ExitError
		if err := cmd.Run(); !errors.As(err, &exited) || exited.ExitCode() != console.Failure {
			t.Errorf("%v: %s", err, &stderr)
		}
		var line struct{ Level, Msg, Error string }
		if err := json.Unmarshal(stderr.Bytes(), &line); err != nil || line.Level != "ERROR" ||
			!strings.Contains(line.Error, taken.Addr().String()) {
			t.Errorf("%v: %s", err, &stderr)
		}
	}
	if _, err := os.Stat(fresh); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the server has made a file: %v", err)
	}
	if after, err := os.ReadFile(used); err != nil || !bytes.Equal(before, after) {
		t.Errorf("the server has changed the file: %v", err)
	}
}

// waitReadiness waits until /readyz has the status want.
func waitReadiness(t *testing.T, s *served, want int) {
	t.Helper()
	if !check.Soon(func() bool { status, _ := get(t, s.url+"/readyz"); return status == want }) {
		t.Fatalf("the status of /readyz is never %d", want)
	}
}

// commandPath finds a command that testscript put into the PATH.
func commandPath(t *testing.T, name string) string {
	t.Helper()
	path := check.Must(exec.LookPath(name))(t)
	return path
}
