package testserver

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// Redis returns a URL with a prefix that no other test has.
func Redis(t testing.TB) string {
	t.Helper()
	u := choose(t, "SORTID_TEST_REDIS_URL", listening, StartRedis, "redis://127.0.0.1:6379")
	server, prefix := *u, uniqueName()+":"
	cleanUp(t, func(ctx context.Context) error {
		const script = "for _, key in ipairs(redis.call('KEYS', ARGV[1])) do " +
			"redis.call('DEL', key) end return 1"
		return redisCall(ctx, &server, "EVAL", script, "0", prefix+"*")
	})
	u.RawQuery = url.Values{"prefix": {prefix}}.Encode()
	return u.String()
}

// StartRedis starts a server that keeps acknowledged changes, unless settings such as
// "--appendonly", "no" override this.
func StartRedis(t testing.TB, settings ...string) *Server {
	t.Helper()
	Waits(t, "needs a server")
	program := Program(t, "redis-server")
	dir, port := tempDir(t), FreePort(t)
	// A server of a cluster listens on another port, too. Linux gives ports from 32768 on to clients.
	for port+10_000 >= 32768 || busy(port+10_000) {
		port = FreePort(t)
	}
	settings = append([]string{
		"--bind", "127.0.0.1", "--port", strconv.Itoa(port), "--dir", dir,
		"--save", "", "--appendonly", "yes", "--appendfsync", "always",
	}, settings...)
	return (&Server{URL: "redis://" + address(port), Dir: dir, t: t, crash: syscall.SIGKILL,
		command: func() *exec.Cmd { return exec.Command(program, settings...) },
		ready: func(ctx context.Context) error {
			err := redisCall(ctx, &url.URL{Host: address(port)}, "PING")
			if err != nil && strings.Contains(err.Error(), "NOAUTH") {
				return nil
			}
			return err
		},
	}).start()
}

func redisCall(ctx context.Context, u *url.URL, command ...string) error {
	conn, err := dial(ctx, u.Host)
	if err != nil {
		return err
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
		line, err := answers.ReadString('\n')
		if err != nil {
			return err
		}
		if text, ok := strings.CutPrefix(line, "-"); ok {
			return errors.New(strings.TrimSpace(text))
		}
	}
	return nil
}
