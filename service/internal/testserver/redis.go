package testserver

import (
	"context"
	"net/url"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"testing"

	"github.com/redis/go-redis/v9"
)

// Redis returns the URL of a prefix of the test's own: on the server at
// SORTID_TEST_REDIS_URL, the one at 127.0.0.1:6379, or a new one.
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
	options, err := redis.ParseURL(base)
	if err != nil {
		t.Fatalf("SORTID_TEST_REDIS_URL: %v", err)
	}
	prefix := placeName() + ":"
	t.Cleanup(func() {
		client := redis.NewClient(options)
		defer client.Close()
		ctx := context.Background()
		for keys := client.Scan(ctx, 0, prefix+"*", 1000).Iterator(); keys.Next(ctx); {
			client.Del(ctx, keys.Val())
		}
	})
	u.RawQuery = url.Values{"prefix": {prefix}}.Encode()
	return u.String()
}

// StartRedis starts a Redis server that keeps what it has answered; settings, such as
// "--appendonly", "no", come after those for that.
func StartRedis(t testing.TB, settings ...string) *Server {
	t.Helper()
	program, err := exec.LookPath("redis-server")
	if err != nil {
		Missing(t, "redis-server is not installed: %v", err)
	}
	dir, port := tempDir(t), freePort(t)
	settings = append([]string{
		"--bind", "127.0.0.1", "--port", strconv.Itoa(port), "--dir", dir,
		"--save", "", "--appendonly", "yes", "--appendfsync", "always",
	}, settings...)
	return newServer(t, "redis://"+address(port), dir, func() (stop func()) {
		client := redis.NewClient(&redis.Options{Addr: address(port)})
		defer client.Close()
		return run(t, exec.Command(program, settings...), syscall.SIGKILL, func(ctx context.Context) error {
			err := client.Ping(ctx).Err()
			for _, answer := range []string{"NOAUTH", "NOPERM", "WRONGPASS"} {
				if redis.HasErrorPrefix(err, answer) {
					return nil
				}
			}
			return err
		})
	})
}
