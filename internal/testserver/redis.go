package testserver

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Redis returns a URL with a prefix that no other test has.
func Redis(t testing.TB) string {
	t.Helper()
	u := choose(t, "SORTID_TEST_REDIS_URL", listening, StartRedis, "redis://127.0.0.1:6379")
	server, prefix := *u, uniqueName()+":"
	cleanUp(t, func(ctx context.Context) error {
		const script = "for _, key in ipairs(redis.call('KEYS', ARGV[1])) do " +
			"redis.call('DEL', key) end return 1"
		_, err := redisCall(ctx, &server, "EVAL", script, "0", prefix+"*")
		return err
	})
	u.RawQuery = url.Values{"prefix": {prefix}}.Encode()
	return u.String()
}

// StartRedis starts a server that keeps acknowledged changes, unless settings such as
// "--appendonly", "no" override this.
func StartRedis(t testing.TB, settings ...string) *Server {
	t.Helper()
	Waits(t, "needs a server")
	port := FreePort(t)
	// A server of a cluster listens on another port, too. Linux gives ports from 32768 on to clients.
	for port+10_000 >= 32768 || busy(port+10_000) {
		port = FreePort(t)
	}
	return startRedis(t, port, append([]string{
		"--save", "", "--appendonly", "yes", "--appendfsync", "always",
	}, settings...)...)
}

func startRedis(t testing.TB, port int, settings ...string) *Server {
	t.Helper()
	program, dir := Program(t, "redis-server"), tempDir(t)
	settings = append(settings, "--bind", "127.0.0.1", "--port", strconv.Itoa(port), "--dir", dir)
	return (&Server{URL: "redis://" + address(port), Dir: dir, t: t, crash: syscall.SIGKILL,
		command: func() *exec.Cmd { return exec.Command(program, settings...) },
		ready: func(ctx context.Context) error {
			_, err := redisCall(ctx, &url.URL{Host: address(port)}, "PING")
			if err != nil && strings.Contains(err.Error(), "NOAUTH") {
				return nil
			}
			return err
		},
	}).start()
}

// StartRedisPair starts a master, a replica, and a Sentinel, which makes the replica the master when
// it cannot reach the master. The Network cuts off the master from both.
func StartRedisPair(t testing.TB) ([]*Server, *Network) {
	t.Helper()
	master := StartRedis(t, "--repl-diskless-sync-delay", "0")
	network, link := newNetwork(), fmt.Sprint(FreePort(t))
	network.link(t, "127.0.0.1:"+link, 1, 0, strings.TrimPrefix(master.URL, "redis://"), nil)
	replica := StartRedis(t, "--replicaof", "127.0.0.1", link)
	awaitAnswer(t, master, ":1", "WAIT", "1", "1000")
	config := filepath.Join(tempDir(t), "sentinel.conf") // Sentinel keeps its state in this file
	text := "sentinel monitor leases 127.0.0.1 " + link + " 1\n" +
		"sentinel down-after-milliseconds leases 3000\nsentinel failover-timeout leases 5000\n"
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	sentinel := startRedis(t, FreePort(t), config, "--sentinel")
	awaitAnswer(t, sentinel, "*1", "SENTINEL", "REPLICAS", "leases")
	return []*Server{master, replica}, network
}

func awaitAnswer(t testing.TB, s *Server, want string, command ...string) {
	t.Helper()
	u := &url.URL{Host: strings.TrimPrefix(s.URL, "redis://")}
	for end := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) {
		switch line, err := redisCall(t.Context(), u, command...); {
		case err == nil && line == want:
			return
		case time.Now().After(end):
			t.Fatalf("the answer to %q is %q, %v, want %q", command, line, err, want)
		}
	}
}

// redisCall returns the first line of the answer.
func redisCall(ctx context.Context, u *url.URL, command ...string) (line string, err error) {
	conn, err := dial(ctx, u.Host)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	commands := [][]string{command}
	if password, ok := u.User.Password(); ok && u.User.Username() != "" {
		commands = [][]string{{"AUTH", u.User.Username(), password}, command}
	} else if ok {
		commands = [][]string{{"AUTH", password}, command}
	}
	answers := bufio.NewReader(conn)
	for _, words := range commands {
		fmt.Fprintf(conn, "*%d\r\n", len(words))
		for _, w := range words {
			fmt.Fprintf(conn, "$%d\r\n%s\r\n", len(w), w)
		}
		if line, err = answers.ReadString('\n'); err != nil {
			return "", err
		}
		line = strings.TrimSpace(line)
		if text, ok := strings.CutPrefix(line, "-"); ok {
			return "", errors.New(text)
		}
	}
	return line, nil
}
