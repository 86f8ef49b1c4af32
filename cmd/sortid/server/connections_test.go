package server

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sortid/sortid/cmd/sortid/server/api"
	"github.com/sortid/sortid/internal/check"
)

// Aborted requests and probes leave the server ready.
func TestAbortedRequestsFreeTheirPlaces(t *testing.T) {
	inBubble(t, testAbortedRequestsFreeTheirPlaces)
}

func testAbortedRequestsFreeTheirPlaces(t *testing.T) {
	s := virtual(t, Config{})
	most := free(s.gates.Requests, s.gates.LargeAnswers)
	gone, leave := context.WithCancel(t.Context())
	leave()
	for i := range 50 {
		for _, path := range []string{"/readyz", "/v1/ids/scru64?n=2000", "/v1/ids/uid60?n=2000",
			"/metrics"} {
			abandon(gone, s, path)
		}
		if w := ask(t.Context(), s, "GET", "/readyz", ""); w.Code != http.StatusOK {
			t.Fatalf("after %d aborted requests of each kind: status %d, want 200: %s", i+1, w.Code, w.Body)
		}
	}
	if n := most - free(s.gates.Requests, s.gates.LargeAnswers); n != 0 {
		t.Errorf("%d requests are still under way, want none", n)
	}
}

func abandon(gone context.Context, s *Server, path string) {
	defer func() {
		if p := recover(); p != nil && p != http.ErrAbortHandler {
			panic(p)
		}
	}()
	ask(gone, s, "GET", path, "")
}

// A body that comes byte by byte times out.
func TestTrickledLinesEnd(t *testing.T) { inBubble(t, testTrickledLinesEnd) }

func testTrickledLinesEnd(t *testing.T) {
	s := virtual(t, Config{})
	most := free(s.gates.LineBodies)
	conn := serveVirtual(t, s).Dial("127.0.0.1:1")
	defer conn.Close()
	begin := time.Now()
	io.WriteString(conn,
		"POST /v1/inspect HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n")
	var writing sync.WaitGroup
	writing.Go(func() {
		for {
			if _, err := io.WriteString(conn, "x"); err != nil {
				return
			}
			time.Sleep(api.LineTimeout / 2)
		}
	})
	answer, err := io.ReadAll(conn)
	took := time.Since(begin)
	writing.Wait()
	if err != nil || took < api.LinesTimeout || took > api.LinesTimeout+api.LineTimeout {
		t.Errorf("the body ends after %v, want %v: %v", took, api.LinesTimeout, err)
	}
	if !strings.Contains(string(answer), "so the rest was not read") {
		t.Errorf("the answer is %s, want one that says that the rest was not read", answer)
	}
	if n := most - free(s.gates.LineBodies); n != 0 {
		t.Errorf("%d bodies are still under way, want none", n)
	}
}

func TestUnreadAnswersEnd(t *testing.T) { inBubble(t, testUnreadAnswersEnd) }

func testUnreadAnswersEnd(t *testing.T) {
	s := virtual(t, Config{})
	l := serveVirtual(t, s)
	for _, c := range []struct {
		request string
		read    int // bytes that the client reads
		gate    *api.Gate
	}{
		{"GET /v1/ids/scru128?n=100000", 0, s.gates.LargeAnswers},
		{"GET /v1/ids/scru128?n=100000", 100_000, s.gates.LargeAnswers},
		{"GET /v1/ids/scru128", 0, s.gates.Requests},
		{"GET /openapi.json", 1, s.gates.Requests},
	} {
		most := free(c.gate, s.gates.Requests)
		conn := l.Dial("127.0.0.1:1")
		io.WriteString(conn, c.request+" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
		check.Must(io.CopyN(io.Discard, conn, int64(c.read)))(t)
		synctest.Wait()
		// A small answer waits in a buffer of net/http, whose timeout ends it.
		time.Sleep(api.WriteTimeout + time.Second)
		synctest.Wait()
		if n := most - free(c.gate, s.gates.Requests); n != 0 {
			t.Errorf("%s: it is still under way %v after the client stopped", c.request,
				api.WriteTimeout)
		}
		if n, err := io.Copy(io.Discard, conn); err != nil || n > 64<<10 {
			t.Errorf("%s: the connection goes on: %d bytes, %v; want an error", c.request, n, err)
		}
		conn.Close()
	}
}
