// Package testserver starts servers for a test. They stop when the test ends. It also skips tests
// that need what a machine does not have.
//
// A function with the name of a server, such as Postgres, returns the URL of a database, schema,
// prefix or bucket for this test alone. The function uses the server that an environment variable
// such as SORTID_TEST_POSTGRES_URL names. Without the variable, it uses a local server or, if none
// answers, starts a server. A function whose name begins with Start always starts a server. If a
// program is not installed, the test is skipped, or fails if CI is set, as in [Missing].
//
// With -short, tests that need a server are skipped, but not those with the variable, and not with
// the race detector: "make check" uses -short with the race detector, and no other step looks for
// races in the clients of servers.
package testserver

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Only one goroutine at a time may use a Server.
type Server struct {
	URL string // the URL that the store's Open takes
	Dir string // the folder of its data, or "" if it has none on disk

	t       testing.TB
	command func() *exec.Cmd
	ready   func(context.Context) error
	crash   syscall.Signal // SIGKILL, or another signal that ends the program as fast
	stop    func()         // nil while the server does not run
	process *os.Process
}

func (s *Server) start() *Server {
	s.t.Cleanup(s.Stop)
	s.Start()
	return s
}

// Stop stops the server suddenly, like a crash.
func (s *Server) Stop() {
	if s.stop != nil {
		s.stop()
		s.stop = nil
	}
}

const patience = 3 * time.Minute

// Signal sends a signal, such as SIGSTOP, to the running server.
func (s *Server) Signal(signal os.Signal) {
	s.t.Helper()
	if err := s.process.Signal(signal); err != nil {
		s.t.Fatal(err)
	}
}

// Start starts the server after Stop, with the same data and port, and waits until it is ready.
func (s *Server) Start() {
	s.t.Helper()
	if s.stop != nil {
		return
	}
	var out tail
	cmd := s.command()
	cmd.Stdout = &out
	if cmd.Stderr == nil {
		cmd.Stderr = &out
	}
	cmd.WaitDelay = 10 * time.Second // the server's child processes may keep the output open
	killWithParent(cmd)
	if err := cmd.Start(); err != nil {
		s.t.Fatalf("starting %s: %v", cmd.Path, err)
	}
	s.process = cmd.Process
	ended := make(chan struct{})
	go func() {
		cmd.Wait()
		close(ended)
	}()
	s.stop = func() {
		cmd.Process.Signal(s.crash)
		select {
		case <-ended:
		case <-time.After(30 * time.Second):
			cmd.Process.Kill()
			<-ended
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for {
		err := s.ready(ctx)
		if err == nil {
			return
		}
		select {
		case <-ended:
		case <-ctx.Done():
		case <-time.After(30 * time.Millisecond):
			continue
		}
		s.Stop()
		s.t.Fatalf("%s does not serve: %v\n%v\n%s", cmd.Path, err, cmd.ProcessState,
			bytes.TrimSpace(out))
	}
}

// choose returns the server in an environment variable, or a local server, or a new server.
func choose(t testing.TB, variable string, serves func(ctx context.Context, server string) error,
	start func(t testing.TB, settings ...string) *Server, local ...string) *url.URL {
	t.Helper()
	server := os.Getenv(variable)
	if server == "" {
		Waits(t, "needs a server")
		if i := slices.IndexFunc(local, func(url string) bool {
			return serves(t.Context(), url) == nil
		}); i >= 0 {
			server = local[i]
		} else {
			server = start(t).URL
		}
	} else if err := serves(t.Context(), server); err != nil {
		t.Fatalf("%s: %v", variable, err)
	}
	u, err := url.Parse(server)
	if err != nil {
		t.Fatalf("%s is not a URL", variable)
	}
	return u
}

// At the end of the test, cleanUp deletes the test's data, because other tests use the server, too.
func cleanUp(t testing.TB, remove func(context.Context) error) {
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := remove(ctx); err != nil {
			t.Logf("deleting what the test has left on the server: %v", err)
		}
	})
}

// A client runs a program that sends a statement to a server, and returns its output.
type client func(ctx context.Context, server, statement string) (string, error)

func (c client) serves(statement string) func(ctx context.Context, server string) error {
	return func(ctx context.Context, server string) error {
		ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
		defer cancel()
		_, err := c(ctx, server, statement)
		return err
	}
}

func (c client) exec(t testing.TB, server, statement string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if _, err := c(ctx, server, statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

func command(t testing.TB, cmd *exec.Cmd) {
	t.Helper()
	killWithParent(cmd)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(cmd.Args, " "), err, out)
	}
}

func clientOutput(cmd *exec.Cmd) (string, error) {
	var out, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s: %s: %w", filepath.Base(cmd.Path),
			bytes.TrimSpace(stderr.Bytes()), err)
	}
	return strings.TrimSpace(out.String()), nil
}

type tail []byte

func (o *tail) Write(p []byte) (int, error) {
	const most = 16 << 10
	*o = append(*o, p...)
	if n := len(*o); n > 2*most {
		*o = append((*o)[:0], (*o)[n-most:]...)
	}
	return len(p), nil
}

// tempDir returns a new folder. Unlike t.TempDir, it is open to other users, because some servers
// run as another user. Its path is short enough for a socket.
func tempDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "sortid")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// FreePort returns a port of 127.0.0.1 on which nothing listens. The system does not use it for
// outgoing connections, so a stopped server can start on it again. Until the test ends, FreePort
// holds the UDP port of the same number, so no other test gets the number.
func FreePort(t testing.TB) int {
	t.Helper()
	for range 100 {
		port := 10000 + rand.IntN(20000)
		held, err := net.ListenPacket("udp", address(port))
		if err != nil {
			continue
		}
		l, err := net.Listen("tcp", address(port))
		if err != nil {
			held.Close()
			continue
		}
		l.Close()
		t.Cleanup(func() { held.Close() })
		return port
	}
	t.Fatal("no free port on 127.0.0.1")
	return 0
}

func busy(port int) bool {
	l, err := net.Listen("tcp", address(port))
	if err == nil {
		l.Close()
	}
	return err != nil
}

func address(port int) string { return "127.0.0.1:" + strconv.Itoa(port) }

func dial(ctx context.Context, address string) (net.Conn, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if end, ok := ctx.Deadline(); ok && err == nil {
		conn.SetDeadline(end)
	}
	return conn, err
}

func listening(ctx context.Context, server string) error {
	u, err := url.Parse(server)
	if err != nil {
		return err
	}
	conn, err := dial(ctx, u.Host)
	if err == nil {
		conn.Close()
	}
	return err
}

func uniqueName() string { return fmt.Sprintf("sortid_test_%016x", rand.Uint64()) }
