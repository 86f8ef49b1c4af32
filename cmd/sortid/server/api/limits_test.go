package api

import (
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sortid/sortid/internal/check"
)

// One address opens as many connections as it can. Other addresses still get some.
func TestLimit(t *testing.T) { synctest.Test(t, testLimit) }

func testLimit(t *testing.T) {
	pipes := check.NewPipes()
	l := NewListener(pipes)
	accepted := make(chan net.Conn, maxConnections)
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			accepted <- conn
		}
	}()
	defer pipes.Close()
	dial := func(addr string, connections int) (closed int) {
		for range connections {
			client := pipes.Dial(addr)
			synctest.Wait()
			client.SetReadDeadline(time.Now())
			if _, err := client.Read(make([]byte, 1)); err == io.EOF {
				closed++
			}
		}
		return closed
	}
	if n := dial("192.0.2.1:1", maxConnections); n != maxConnections/2 || len(accepted) != n {
		t.Errorf("one address: %d accepted, %d closed", len(accepted), n)
	}
	if n := dial("192.0.2.2:1", 10); n != 0 {
		t.Errorf("another address: %d of 10 closed", n)
	}
	if n := dial("192.0.2.1:2", 1); n != 1 {
		t.Error("one address: one more connection is accepted")
	}
	end := func(connections int) {
		for range connections {
			conn := <-accepted
			conn.Close()
			conn.Close() // must not free a second place
		}
	}
	end(11)
	if n := dial("192.0.2.1:3", 3); n != 0 {
		t.Errorf("after some connections ended: %d of 3 closed", n)
	}
	end(len(accepted))
	if n := l.Open(); n != 0 {
		t.Errorf("after all connections ended: %d are open", n)
	}
}

func TestDocumentedLimits(t *testing.T) {
	text := check.Must(os.ReadFile(filepath.FromSlash("../../../../docs/service.md")))(t)
	_, table, _ := strings.Cut(string(text), "| Limit | Value |\n|---|---|\n")
	table, _, _ = strings.Cut(table, "\n\n")
	rows := map[string]string{}
	for line := range strings.Lines(table + "\n") {
		cells := strings.Split(line, "|")
		what, _, _ := strings.Cut(strings.TrimSpace(cells[1]), ";")
		rows[what] = strings.TrimSpace(cells[2])
	}
	seconds := func(d time.Duration) string { return fmt.Sprintf("%.0f s", d.Seconds()) }
	for what, want := range map[string]string{
		"IDs in a request":                          fmt.Sprintf("%d,%03d", MaxIDs/1000, MaxIDs%1000),
		"connections":                               fmt.Sprint(maxConnections),
		"requests under way":                        fmt.Sprint(maxRequests),
		"requests for leases":                       fmt.Sprint(maxLeases),
		"a body of lines":                           fmt.Sprintf("%d MiB", MaxLines>>20),
		"another body":                              fmt.Sprintf("%d KiB", MaxBody>>10),
		"an inspected line":                         fmt.Sprintf("%d bytes", MaxLine),
		"realms in the store":                       fmt.Sprint(MaxRealms),
		"time for the headers":                      seconds(HeaderTimeout),
		"time for a body of a request for a lease":  seconds(BodyTimeout),
		"time that a client can wait for a node ID": seconds(MaxWait),
		"time for a body of lines": fmt.Sprintf("%.0f min",
			LinesTimeout.Minutes()),
		"time for an answer": seconds(WriteTimeout),
	} {
		if rows[what] != want {
			t.Errorf("%s: %q, want %q", what, rows[what], want)
		}
		delete(rows, what)
	}
	for what := range rows {
		t.Errorf("%q is not a limit that this test knows", what)
	}
}
