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
	return startNATS(t, Program(t, "nats-server"), lines...)
}

func startNATS(t testing.TB, program string, lines ...string) *Server {
	t.Helper()
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

// StartNATSCluster starts three servers. Each Server has the URL of one.
func StartNATSCluster(t testing.TB) (servers []*Server, network *Network) {
	t.Helper()
	Waits(t, "needs a server")
	program, err := once("github.com/nats-io/nats-server/v2", buildTool)
	if err != nil {
		Missing(t, fmt.Sprintf("no server of NATS with replicas: %v", err),
			"connect to a network, so that the go command can fetch and build it")
	}
	network = newNetwork()
	var listen [members]string
	for i := range listen {
		listen[i] = address(FreePort(t))
	}
	for i := range listen {
		var routes []string
		for j := range listen {
			if i != j {
				route := address(FreePort(t))
				network.link(t, route, i, j, listen[j], nil)
				routes = append(routes, "nats://"+route)
			}
		}
		// Other servers and clients must not learn addresses without a proxy, or of other servers.
		servers = append(servers, startNATS(t, program, fmt.Sprintf("server_name: s%d", i),
			fmt.Sprintf("cluster { name: test, listen: %q, advertise: %q, no_advertise: true, "+
				"routes: [%s] }", listen[i], address(1), strings.Join(routes, ", "))))
	}
	return servers, network
}
