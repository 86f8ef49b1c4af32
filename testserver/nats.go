package testserver

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// NATS returns a URL with a bucket for the test alone, which does not exist yet.
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
	hasJetStream, err := natsCall(t.Context(), u, "")
	if err != nil {
		t.Fatalf("%s: %v", u.Redacted(), err)
	}
	if !hasJetStream {
		if os.Getenv("SORTID_TEST_NATS_URL") != "" {
			t.Fatalf("%s: the server has no JetStream", u.Redacted())
		}
		return StartNATS(t).URL + "/" + uniqueName()
	}
	bucket := uniqueName()
	t.Cleanup(func() {
		if _, err := natsCall(context.Background(), u, "$JS.API.STREAM.DELETE.KV_"+
			bucket); err != nil {
			t.Logf("deleting the test's bucket from NATS: %v", err)
		}
	})
	return u.JoinPath(bucket).String()
}

// natsCall reports whether a server has JetStream. If there is a subject, it sends an empty request
// there and waits for the answer.
func natsCall(ctx context.Context, u *url.URL, subject string) (hasJetStream bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	conn, err := dial(ctx, u.Host)
	if err != nil {
		return false, err
	}
	defer conn.Close()
	var info struct{ JetStream bool }
	login := map[string]any{"verbose": false, "pedantic": false}
	if password, ok := u.User.Password(); ok {
		login["user"], login["pass"] = u.User.Username(), password
	} else if u.User != nil {
		login["auth_token"] = u.User.Username()
	}
	connect, err := json.Marshal(login)
	if err != nil {
		return false, err
	}
	lines := bufio.NewReader(conn)
	for connected := false; ; {
		line, err := lines.ReadString('\n')
		if err != nil {
			return false, err
		}
		switch word, rest, _ := strings.Cut(strings.TrimSpace(line), " "); word {
		case "INFO":
			if err := json.Unmarshal([]byte(rest), &info); err != nil {
				return false, err
			}
			if !connected { // the server repeats it when its cluster changes
				fmt.Fprintf(conn, "CONNECT %s\r\nPING\r\n", connect)
				connected = true
			}
		case "PING":
			fmt.Fprint(conn, "PONG\r\n")
		case "PONG":
			if subject == "" {
				return info.JetStream, nil
			}
			fmt.Fprintf(conn, "SUB %s 1\r\nPUB %s %[1]s 0\r\n\r\n", "_INBOX."+uniqueName(), subject)
		case "MSG", "HMSG":
			return info.JetStream, nil
		case "-ERR":
			return false, errors.New(rest)
		}
	}
}

// StartNATS starts a server with JetStream and these lines of configuration.
func StartNATS(t testing.TB, lines ...string) *Server {
	t.Helper()
	notShort(t)
	program, dir := natsServer(t), tempDir(t)
	return startNATS(t, program, dir, FreePort(t), lines)
}

// StartNATSCluster starts three servers with JetStream. Each URL names one.
func StartNATSCluster(t testing.TB) [3]*Server {
	t.Helper()
	notShort(t)
	program := natsServer(t)
	var ports [3]int
	var routes []string
	for i := range ports {
		ports[i] = FreePort(t)
		routes = append(routes, "nats://"+address(ports[i]))
	}
	var servers [3]*Server
	for i, port := range ports {
		servers[i] = startNATS(t, program, tempDir(t), FreePort(t), []string{
			fmt.Sprintf("server_name: s%d", i),
			fmt.Sprintf("cluster { name: test, listen: %q, routes: [%s] }", address(port),
				strings.Join(routes, ", ")),
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
		return run(t, exec.Command(program, "-c", config), syscall.SIGKILL,
			func(ctx context.Context) error {
				// It listens before JetStream has started, but not before it has recovered.
				conn, err := dial(ctx, address(port))
				if err == nil {
					conn.Close()
				}
				return err
			})
	})
}
