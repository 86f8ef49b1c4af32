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

// NATS returns a URL with the name of a bucket that does not exist yet.
func NATS(t testing.TB) string {
	t.Helper()
	u := choose(t, "SORTID_TEST_NATS_URL", func(ctx context.Context, server string) error {
		u, err := url.Parse(server)
		if err != nil {
			return err
		}
		return natsCall(ctx, u, "$JS.API.INFO")
	}, StartNATS, "nats://127.0.0.1:4222")
	bucket := uniqueName()
	cleanUp(t, func(ctx context.Context) error {
		return natsCall(ctx, u, "$JS.API.STREAM.DELETE.KV_"+bucket)
	})
	return u.JoinPath(bucket).String()
}

func natsCall(ctx context.Context, u *url.URL, subject string) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	conn, err := dial(ctx, u.Host)
	if err != nil {
		return err
	}
	defer conn.Close()
	login := map[string]any{"verbose": false, "pedantic": false}
	if password, ok := u.User.Password(); ok {
		login["user"], login["pass"] = u.User.Username(), password
	} else if u.User != nil {
		login["auth_token"] = u.User.Username()
	}
	connect, err := json.Marshal(login)
	if err != nil {
		return err
	}
	lines := bufio.NewReader(conn)
	for connected := false; ; {
		line, err := lines.ReadString('\n')
		if err != nil {
			return err
		}
		switch word, rest, _ := strings.Cut(strings.TrimSpace(line), " "); word {
		case "INFO":
			var info struct{ JetStream bool }
			if err := json.Unmarshal([]byte(rest), &info); err != nil {
				return err
			}
			if !info.JetStream {
				return errors.New("the server has no JetStream")
			}
			if !connected { // the server sends INFO again when its cluster changes
				fmt.Fprintf(conn, "CONNECT %s\r\nPING\r\n", connect)
				connected = true
			}
		case "PING":
			fmt.Fprint(conn, "PONG\r\n")
		case "PONG":
			fmt.Fprintf(conn, "SUB %s 1\r\nPUB %s %[1]s 0\r\n\r\n", "_INBOX."+uniqueName(), subject)
		case "MSG", "HMSG":
			return nil
		case "-ERR":
			return errors.New(rest)
		}
	}
}

// StartNATS starts a server with JetStream and these lines of configuration.
func StartNATS(t testing.TB, lines ...string) *Server {
	t.Helper()
	Waits(t, "needs a server")
	program := Program(t, "nats-server")
	dir, port := tempDir(t), FreePort(t)
	if !strings.Contains(strings.Join(lines, "\n"), "jetstream") {
		lines = append(lines, "jetstream { }")
	}
	config := filepath.Join(dir, "nats.conf")
	text := fmt.Sprintf("listen: %q\n%s\n", address(port), strings.Join(lines, "\n"))
	text = strings.ReplaceAll(text, "jetstream {", fmt.Sprintf("jetstream { store_dir: %q, ", dir))
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	server := "nats://" + address(port)
	return (&Server{URL: server, Dir: dir, t: t, crash: syscall.SIGKILL,
		command: func() *exec.Cmd { return exec.Command(program, "-c", config) },
		// When the server listens, JetStream has recovered its data, but may not run yet.
		ready: func(ctx context.Context) error { return listening(ctx, server) },
	}).start()
}

func StartNATSCluster(t testing.TB) (servers []*Server) {
	t.Helper()
	Waits(t, "needs a server")
	var listen, routes [3]string
	for i := range listen {
		listen[i] = address(FreePort(t))
		routes[i] = "nats://" + listen[i]
	}
	for i, address := range listen {
		servers = append(servers, StartNATS(t, fmt.Sprintf("server_name: s%d", i),
			fmt.Sprintf("cluster { name: test, listen: %q, routes: [%s] }", address,
				strings.Join(routes[:], ", "))))
	}
	return servers
}
