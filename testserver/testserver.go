// Package testserver gives tests the servers that they use, until the test ends.
//
// A function named like a kind of server returns a URL for the test alone. It uses the server that
// an environment variable such as SORTID_TEST_POSTGRES_URL names. Otherwise it uses the server at
// the kind's usual address on this machine or, if there is none, a new one. A function Start...
// always starts a server. If programs are not installed, the test is skipped, or fails if CI is
// set.
package testserver

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// Missing skips the test, or fails it if CI is set.
func Missing(t testing.TB, format string, args ...any) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Fatalf(format, args...)
	}
	t.Skipf(format, args...)
}

func notShort(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("starts a server: not with -short")
	}
}

// A Server is one test's server. Only one goroutine at a time may use it.
type Server struct {
	URL string // for the store's Open
	Dir string // its data, or "" if it has none on disk

	t     testing.TB
	start func() (stop func())
	stop  func() // nil if the server does not run
}

// newServer calls start, which returns when the server is ready.
func newServer(t testing.TB, url, dir string, start func() (stop func())) *Server {
	s := &Server{URL: url, Dir: dir, t: t, start: start}
	t.Cleanup(s.Stop)
	s.Start()
	return s
}

// Start starts the server again after Stop, with the same data and port.
func (s *Server) Start() {
	s.t.Helper()
	if s.stop == nil {
		s.stop = s.start()
	}
}

// Stop stops the server as a crash would.
func (s *Server) Stop() {
	if s.stop != nil {
		s.stop()
		s.stop = nil
	}
}

// patience makes a test fail instead of hang, even on a slow machine.
const patience = 3 * time.Minute

// run starts a server's program and calls ready until that returns nil. The returned function sends
// the program a signal, SIGKILL or one that ends it as fast, and waits for its end.
func run(t testing.TB, cmd *exec.Cmd, sig syscall.Signal,
	ready func(context.Context) error) (stop func()) {
	t.Helper()
	var out output
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.WaitDelay = 10 * time.Second // for child processes that keep the output open
	killWithParent(cmd)
	if err := cmd.Start(); err != nil {
		t.Fatalf("starting %s: %v", cmd.Path, err)
	}
	ended := make(chan struct{})
	go func() {
		cmd.Wait()
		close(ended)
	}()
	stop = func() {
		cmd.Process.Signal(sig)
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
		err := ready(ctx)
		if err == nil {
			return stop
		}
		select {
		case <-ended:
		case <-ctx.Done():
		case <-time.After(30 * time.Millisecond):
			continue
		}
		stop()
		t.Fatalf("%s does not serve: %v\n%v\n%s", cmd.Path, err, cmd.ProcessState, out.String())
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

// output is the last part of what a program has printed.
type output struct {
	mu  sync.Mutex
	buf []byte
}

func (o *output) Write(p []byte) (int, error) {
	const most = 16 << 10
	o.mu.Lock()
	defer o.mu.Unlock()
	o.buf = append(o.buf, p...)
	if n := len(o.buf); n > 2*most {
		o.buf = append(o.buf[:0], o.buf[n-most:]...)
	}
	return len(p), nil
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return string(bytes.TrimSpace(o.buf))
}

// tempDir returns a new folder that other users can reach, unlike t.TempDir's: servers run as other
// users. Its path is short enough for a socket.
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

// FreePort returns a port of 127.0.0.1 where nothing listens. The system does not use it for
// outgoing connections, so it is still free when a stopped server starts again. Until the test ends
// no other test gets it, in any process: FreePort holds the UDP port of the same number.
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

func address(port int) string { return "127.0.0.1:" + strconv.Itoa(port) }

func dial(ctx context.Context, address string) (net.Conn, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	if end, ok := ctx.Deadline(); ok {
		conn.SetDeadline(end)
	}
	return conn, nil
}

func listening(addr string) bool {
	conn, err := net.DialTimeout("tcp", addr, time.Second)
	if err == nil {
		conn.Close()
	}
	return err == nil
}

func uniqueName() string { return fmt.Sprintf("sortid_test_%016x", rand.Uint64()) }
