package testserver

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// Redis returns a URL with a prefix for the test alone.
func Redis(t testing.TB) string {
	t.Helper()
	base := os.Getenv("SORTID_TEST_REDIS_URL")
	if base == "" {
		if base = "redis://127.0.0.1:6379"; !listening("127.0.0.1:6379") {
			base = StartRedis(t).URL
		}
	}
	u, err := url.Parse(base)
	if err != nil {
		t.Fatalf("SORTID_TEST_REDIS_URL: %v", err)
	}
	prefix := uniqueName() + ":"
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		const script = "for _, key in ipairs(redis.call('KEYS', ARGV[1])) do " +
			"redis.call('DEL', key) end return 1"
		if err := redisCall(ctx, u, "EVAL", script, "0", prefix+"*"); err != nil {
			t.Logf("deleting the test's keys from Redis: %v", err)
		}
	})
	u.RawQuery = url.Values{"prefix": {prefix}}.Encode()
	return u.String()
}

// StartRedis starts a server that keeps what it has answered. Settings, such as "--appendonly",
// "no", override its own.
func StartRedis(t testing.TB, settings ...string) *Server {
	t.Helper()
	notShort(t)
	program, err := exec.LookPath("redis-server")
	if err != nil {
		Missing(t, "redis-server is not installed: %v", err)
	}
	dir, port := tempDir(t), FreePort(t)
	settings = append([]string{
		"--bind", "127.0.0.1", "--port", strconv.Itoa(port), "--dir", dir,
		"--save", "", "--appendonly", "yes", "--appendfsync", "always",
	}, settings...)
	return newServer(t, "redis://"+address(port), dir, func() (stop func()) {
		return run(t, exec.Command(program, settings...), syscall.SIGKILL,
			func(ctx context.Context) error {
				err := redisCall(ctx, &url.URL{Host: address(port)}, "PING")
				if err != nil && strings.Contains(err.Error(), "NOAUTH") {
					return nil
				}
				return err
			})
	})
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
