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
	"regexp"
	"slices"
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

// rest returns the messages of the rest of the log. Each line is JSON.
func (s *served) rest(t *testing.T) (messages []string) {
	t.Helper()
	for s.log.Scan() {
		var line struct{ Msg string }
		if err := json.Unmarshal(s.log.Bytes(), &line); err != nil {
			t.Errorf("%v: %s", err, s.log.Text())
		}
		messages = append(messages, line.Msg)
	}
	return messages
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
	s := serve(t, "--store", db, "--create", "--host", "ids.example.com")

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

	// The versions have no text that would have to be taken apart.
	for path, want := range map[string]string{
		"/metrics":      `sortid_build_info\{goversion="[^ ,"]+",version="[^ ,"]+"\} 1`,
		"/openapi.json": `"version":"[^ ,"]+"`,
	} {
		if _, got := get(t, s.url+path); !regexp.MustCompile(want).MatchString(got) {
			t.Errorf("%s: nothing matches %s", path, want)
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
	said := s.rest(t)
	if err := s.Wait(); err != nil {
		t.Errorf("exit: %v", err)
	}
	want := []string{"shutting down", "the server has given its node IDs back",
		"the server has ended"}
	said = slices.DeleteFunc(said, func(msg string) bool { return msg == "request" })
	if got := said[max(0, len(said)-len(want)):]; !slices.Equal(got, want) {
		t.Errorf("at the end the log has %q, want %q", got, want)
	}
	if out := sortid(t, "", "lease", "list", db, "--realm", "scru64"); strings.Contains(out,
		" held ") {
		t.Errorf("after the end: %s", out)
	}
}

// The log has the version and the store first. At each level it has the right requests.
func TestServeLog(t *testing.T) {
	usual := []string{"serving", "shutting down", "starting", "the server has ended"}
	for level, want := range map[string][]string{
		"debug": append([]string{"request", "request"}, usual...),
		"info":  append([]string{"request"}, usual...),
		"warn":  nil,
	} {
		t.Run(level, func(t *testing.T) {
			port := check.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
			address := port.Addr().String()
			port.Close()
			cmd := exec.Command(commandPath(t, "sortid-drains"), "serve", "--listen", address,
				"--log-level", level)
			in := check.Must(cmd.StdinPipe())(t)
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			check.OK(t, cmd.Start())
			defer cmd.Process.Kill()
			for _, path := range []string{"/healthz", "/v1/formats"} {
				if !check.Soon(func() bool {
					resp, err := http.Get("http://" + address + path)
					if err == nil {
						resp.Body.Close()
					}
					return err == nil
				}) {
					t.Fatal("no answer")
				}
			}
			check.OK(t, cmd.Process.Signal(syscall.SIGTERM))
			in.Close()
			check.OK(t, cmd.Wait())
			s := &served{log: bufio.NewScanner(&stderr)}
			first := strings.Contains(stderr.String(), `"msg":"starting","version":"`)
			got := slices.Sorted(slices.Values(s.rest(t))) // the line of a request may come late
			if !slices.Equal(got, want) || first != (want != nil) {
				t.Errorf("the log has %q, want %q", got, want)
			}
		})
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

// A signal before the store has answered is no failure.
func TestServeEndsAtTheStart(t *testing.T) {
	silent := check.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer silent.Close()
	cmd := exec.Command(commandPath(t, "sortid"), "serve", "--listen", "127.0.0.1:0", "--store",
		"postgres://user@"+silent.Addr().String()+"/ids")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	check.OK(t, cmd.Start())
	conn := check.Must(silent.Accept())(t)
	defer conn.Close()
	cmd.Process.Signal(syscall.SIGTERM)
	if err := cmd.Wait(); err != nil || !strings.Contains(stderr.String(), `"shutting down"`) {
		t.Errorf("%v: %s", err, &stderr)
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
			"--store", "bolt:"+path, "--create")
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
