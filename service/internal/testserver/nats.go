package testserver

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// NATS returns the URL of a bucket of the test's own, which does not exist yet: on the
// server at SORTID_TEST_NATS_URL, the one at 127.0.0.1:4222, or a new one.
func NATS(t testing.TB) string {
	t.Helper()
	base := os.Getenv("SORTID_TEST_NATS_URL")
	if base == "" {
		if base = "nats://127.0.0.1:4222"; !listening("127.0.0.1:4222") {
			base = StartNATS(t).URL
		}
	}
	u, err := url.Parse(base)
	if err != nil {
		t.Fatalf("SORTID_TEST_NATS_URL: %v", err)
	}
	conn, err := nats.Connect(base)
	if err != nil {
		t.Fatalf("%s: %v", u.Redacted(), err)
	}
	t.Cleanup(conn.Close)
	js, err := jetstream.New(conn)
	if err == nil {
		_, err = js.AccountInfo(t.Context())
	}
	if err != nil {
		conn.Close()
		if os.Getenv("SORTID_TEST_NATS_URL") != "" {
			t.Fatalf("%s: %v", u.Redacted(), err)
		}
		u, _ = url.Parse(StartNATS(t).URL) // it runs without JetStream
		return u.JoinPath(placeName()).String()
	}
	bucket := placeName()
	t.Cleanup(func() { js.DeleteStream(context.Background(), "KV_"+bucket) })
	return u.JoinPath(bucket).String()
}

// StartNATS starts a NATS server with JetStream. The lines are added to its configuration.
func StartNATS(t testing.TB, lines ...string) *Server {
	t.Helper()
	program, dir := natsServer(t), tempDir(t)
	return startNATS(t, program, dir, freePort(t), lines)
}

// StartNATSCluster starts a cluster of three NATS servers with JetStream. Each URL is
// that of one server alone.
func StartNATSCluster(t testing.TB) [3]*Server {
	t.Helper()
	program := natsServer(t)
	var ports [3]int
	var routes []string
	for i := range ports {
		ports[i] = freePort(t)
		routes = append(routes, "nats://"+address(ports[i]))
	}
	var servers [3]*Server
	for i, port := range ports {
		servers[i] = startNATS(t, program, tempDir(t), freePort(t), []string{
			fmt.Sprintf("server_name: s%d", i),
			fmt.Sprintf("cluster { name: test, listen: %q, routes: [%s] }", address(port), strings.Join(routes, ", ")),
		})
	}
	return servers
}

func natsServer(t testing.TB) string {
	t.Helper()
	program, err := exec.LookPath("nats-server")
	if err != nil {
		Missing(t, "nats-server is not installed: %v", err)
	}
	return program
}

func startNATS(t testing.TB, program, dir string, port int, lines []string) *Server {
	t.Helper()
	if !strings.Contains(strings.Join(lines, "\n"), "jetstream") {
		lines = append(lines, "jetstream { }")
	}
	config := filepath.Join(dir, "nats.conf")
	text := fmt.Sprintf("listen: %q\n%s\n", address(port), strings.Join(lines, "\n"))
	text = strings.ReplaceAll(text, "jetstream {", fmt.Sprintf("jetstream { store_dir: %q, ", dir))
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return newServer(t, "nats://"+address(port), dir, func() (stop func()) {
		return run(t, exec.Command(program, "-c", config), syscall.SIGKILL, func(ctx context.Context) error {
			// It listens before JetStream has started, but not before it has recovered.
			conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address(port))
			if err == nil {
				conn.Close()
			}
			return err
		})
	})
}
