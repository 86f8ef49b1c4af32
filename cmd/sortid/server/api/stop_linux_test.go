package api

import (
	"errors"
	"net"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/sortid/sortid/internal/check"
)

// While the listener closes, a new client waits, and is refused afterwards. All who have connected
// before are accepted.
func TestStop(t *testing.T) {
	l := NewListener(check.Must(Listen("127.0.0.1:0"))(t))
	connected := 0
	dial := func() (err error) {
		conn, err := net.DialTimeout("tcp", l.Addr().String(), 50*time.Millisecond)
		if err == nil {
			t.Cleanup(func() { conn.Close() })
			connected++
		}
		return err
	}
	check.OK(t, dial())
	stopped := make(chan error, 1)
	go func() { stopped <- l.Stop(time.Now().Add(5 * time.Minute)) }()
	if !check.Soon(func() bool { return errors.Is(dial(), os.ErrDeadlineExceeded) }) {
		t.Error("clients connect while the listener closes")
	}
	for range connected {
		conn := check.Must(l.Accept())(t)
		conn.Close()
	}
	check.OK(t, <-stopped)
	if err := dial(); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("after the end: %v", err)
	}
}
