package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/sortid/sortid/internal/check"
	"github.com/sortid/sortid/internal/testserver"
)

const most = 128 << 20

func mostMemory(t *testing.T, pid int) (bytes int) {
	t.Helper()
	status := check.Must(os.ReadFile(fmt.Sprintf("/proc/%d/status", pid)))(t)
	_, line, _ := strings.Cut(string(status), "VmHWM:")
	check.Must(fmt.Sscanf(line, "%d kB", &bytes))(t)
	return bytes << 10
}

func (s *served) skipLog() {
	for s.log.Scan() {
	}
}

// dial connects. With a small buffer, long answers wait in the server.
func (s *served) dial(t *testing.T, from net.IP, buffer int) net.Conn {
	t.Helper()
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: from}}
	conn := check.Must(d.Dial("tcp", strings.TrimPrefix(s.url, "http://")))(t)
	t.Cleanup(func() { conn.Close() })
	conn.(*net.TCPConn).SetReadBuffer(buffer)
	return conn
}

// Answers that clients do not read need little memory.
func TestUntakenAnswers(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux reports the largest memory of a process; to run this test: use Linux")
	}
	testserver.Long(t, "measures memory, and the race detector needs much of it")
	for _, c := range []struct {
		name    string
		headers map[string]string
		attack  func(*testing.T, *served, map[string]string)
	}{
		{"HTTP1", nil, unread},
		{"HTTP1Gzip", map[string]string{"accept-encoding": "gzip"}, unread},
		{"HTTP1JSON", map[string]string{"accept": "application/json"}, unread},
		{"HTTP2", nil, closedWindow},
		{"HTTP2Gzip", map[string]string{"accept-encoding": "gzip"}, closedWindow},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := serve(t)
			go s.skipLog()
			c.attack(t, s, c.headers)
			if status, _ := get(t, s.url+"/v1/ids/scru128"); status != http.StatusOK {
				t.Errorf("another client gets %d", status)
			}
			used := mostMemory(t, s.Process.Pid)
			t.Logf("%d MB", used>>20)
			if used > most {
				t.Errorf("%d MB of memory used, want at most %d", used>>20, most>>20)
			}
		})
	}
}

// client returns one of 20 addresses, because the server limits the requests of each address.
func client(i int) net.IP { return net.IPv4(127, 0, 0, byte(2+i%20)) }

func unread(t *testing.T, s *served, headers map[string]string) {
	request := "GET /v1/ids/scru128?n=100000 HTTP/1.1\r\nHost: localhost\r\n"
	for name, value := range headers {
		request += name + ": " + value + "\r\n"
	}
	var answered sync.WaitGroup
	for i := range 200 {
		conn := s.dial(t, client(i), 4<<10)
		check.Must(io.WriteString(conn, request+"\r\n"))(t)
		answered.Go(func() {
			if _, err := io.ReadFull(conn, make([]byte, 12)); err != nil {
				t.Error(err)
			}
		})
	}
	answered.Wait()
}

// closedWindow opens 250 streams with a window of 0, and waits until all have begun.
func closedWindow(t *testing.T, s *served, headers map[string]string) {
	const streams = 250
	for begun := 0; begun < streams; {
		conn := s.dial(t, client(begun/5), 4<<10)
		check.Must(io.WriteString(conn, http2.ClientPreface))(t)
		f := http2.NewFramer(conn, conn)
		check.OK(t, f.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize,
			Val: 0}))
		begun += stall(t, f, streams-begun, headers)
	}
}

func stall(t *testing.T, f *http2.Framer, n int, headers map[string]string) (opened int) {
	begun := map[uint32]bool{}
	for opened == 0 || len(begun) < opened {
		frame := check.Must(f.ReadFrame())(t)
		switch frame := frame.(type) {
		case *http2.SettingsFrame:
			if frame.IsAck() {
				continue
			}
			if most, ok := frame.Value(http2.SettingMaxConcurrentStreams); ok {
				n = min(n, int(most))
			}
			for ; opened < n; opened++ {
				check.OK(t, f.WriteHeaders(http2.HeadersFrameParam{StreamID: uint32(2*opened + 1),
					EndStream: true, EndHeaders: true,
					BlockFragment: requestHeaders(headers)}))
			}
		case *http2.HeadersFrame:
			begun[frame.StreamID] = true
		case *http2.RSTStreamFrame:
			if !begun[frame.StreamID] {
				t.Fatalf("stream %d is refused: %v", frame.StreamID, frame.ErrCode)
			}
		}
	}
	return opened
}

func requestHeaders(headers map[string]string) []byte {
	var b bytes.Buffer
	e := hpack.NewEncoder(&b)
	for _, h := range [][2]string{{":method", "GET"}, {":scheme", "http"},
		{":authority", "localhost"}, {":path", "/v1/ids/scru128?n=100000"}} {
		e.WriteField(hpack.HeaderField{Name: h[0], Value: h[1]})
	}
	for name, value := range headers {
		e.WriteField(hpack.HeaderField{Name: name, Value: value})
	}
	return b.Bytes()
}

// After SIGTERM under load, clients get all answers.
func TestServeEndsUnderLoad(t *testing.T) {
	testserver.Long(t, "starts many servers")
	s := serve(t, "--store", "bolt:"+filepath.Join(t.TempDir(), "s.db"), "--create")
	waitReadiness(t, s, http.StatusOK)
	logEnds := make(chan struct{})
	go func() {
		defer close(logEnds)
		s.skipLog()
	}()

	const clients = 8
	var clientsDone sync.WaitGroup
	var rounds [clients]atomic.Int64
	for i := range clients {
		clientsDone.Go(func() { askUntilGone(t, s.url+"/v1/ids/scru64?n=10", &rounds[i]) })
	}
	var large [clients]net.Conn
	for i := range large {
		large[i] = s.dial(t, nil, 64<<10)
		io.WriteString(large[i], "GET /v1/ids/scru160?n=100000 HTTP/1.1\r\nHost: localhost\r\n\r\n")
	}
	readers := make([]*bufio.Reader, clients)
	for i, conn := range large {
		readers[i] = bufio.NewReader(conn)
		check.Must(readers[i].Peek(1))(t)
	}

	s.Process.Signal(syscall.SIGTERM)
	waitReadiness(t, s, http.StatusServiceUnavailable)
	for i := range rounds {
		before := rounds[i].Load()
		if !check.Soon(func() bool { return rounds[i].Load() > before+2 }) {
			t.Error("a client is not answered while the server drains")
		}
	}
	s.in.Close()
	clientsDone.Wait()
	var underWay sync.WaitGroup
	for _, in := range readers {
		underWay.Go(func() {
			resp, err := http.ReadResponse(in, nil)
			if err != nil {
				t.Error(err)
				return
			}
			defer resp.Body.Close()
			b, err := io.ReadAll(resp.Body)
			if lines := bytes.Count(b, []byte("\n")); err != nil || lines != 100_000 {
				t.Errorf("an answer under way: %d lines, %v", lines, err)
			}
		})
	}
	underWay.Wait()
	<-logEnds
	if err := s.Wait(); err != nil {
		t.Errorf("exit: %v", err)
	}
}

func askUntilGone(t *testing.T, url string, rounds *atomic.Int64) {
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	for {
		reused := false
		trace := &httptrace.ClientTrace{GotConn: func(c httptrace.GotConnInfo) { reused = c.Reused }}
		r, err := http.NewRequestWithContext(httptrace.WithClientTrace(t.Context(), trace),
			http.MethodPost, url, http.NoBody)
		if err != nil {
			t.Error(err)
			return
		}
		resp, err := transport.RoundTrip(r)
		if err != nil {
			// Linux refuses new connections. Other systems may reset them.
			if reused || runtime.GOOS == "linux" && !errors.Is(err, syscall.ECONNREFUSED) {
				t.Errorf("a request gets no answer: %v", err)
			}
			return
		}
		b, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || resp.StatusCode != http.StatusOK || bytes.Count(b, []byte("\n")) != 10 {
			t.Errorf("%s: %v: %s", resp.Status, err, b)
		}
		rounds.Add(1)
	}
}
