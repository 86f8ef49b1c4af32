package faulttest

import (
	"context"
	"io"
	"net"
	"sync"
	"testing"

	"github.com/sortid/sortid/lease"
)

// An AnswerProxy stands between a store and its server, to lose one of the server's
// answers, of which it counts what it reads at a time: for protocols in which a server
// speaks only when it is asked. Its methods are safe for concurrent use.
type AnswerProxy struct {
	Addr string // where it listens

	target string
	mu     sync.Mutex
	lose   int // so many answers from now, the connection breaks; 0: it does not
}

// NewAnswerProxy returns a proxy for the server at an address. It ends with the test.
func NewAnswerProxy(t *testing.T, target string) *AnswerProxy {
	t.Helper()
	p := &AnswerProxy{target: target}
	p.Addr = listen(t, p.serve)
	return p
}

// Lose has the nth answer from now on lost: it is taken from the server, which so has
// carried out what was asked, and not handed on, and the connection is closed. n <= 0
// means that none is.
func (p *AnswerProxy) Lose(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lose = max(n, 0)
}

// Lost reports whether the answer of the last Lose has been lost.
func (p *AnswerProxy) Lost() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.lose == 0
}

// loses counts an answer, and reports whether it is the one to be lost.
func (p *AnswerProxy) loses() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.lose == 0 {
		return false
	}
	p.lose--
	return p.lose == 0
}

func (p *AnswerProxy) serve(client net.Conn) {
	defer client.Close()
	server, err := net.Dial("tcp", p.target)
	if err != nil {
		return
	}
	defer server.Close()
	go func() {
		io.Copy(server, client)
		server.Close()
	}()
	buf := make([]byte, 64<<10)
	for {
		n, err := server.Read(buf)
		if n > 0 && p.loses() {
			return
		}
		if _, werr := client.Write(buf[:n]); err != nil || werr != nil {
			return
		}
	}
}

// LostAnswers loses one answer of the server after the other, on the way to a store
// that reaches it through the proxy, and tests that no change is then reported as
// refused: it may have been made, so it must be an error. The other store, of the same
// records, tells whether it was.
func LostAnswers(t *testing.T, p *AnswerProxy, through, direct lease.Store) {
	t.Helper()
	const most = 300
	for _, kind := range []string{"first", "further"} {
		b := lease.Block{NodeID: 42, Size: 8}
		was := lease.Record{Realm: "lost " + kind, Block: b}
		if kind == "further" {
			next := was
			next.Revision = 1
			if ok, err := direct.CompareAndSet(t.Context(), was, next); err != nil || !ok {
				t.Fatal(ok, err)
			}
			was = next
		}
		made, lost := 0, true
		for n, all := 1, 1; lost; n, all = n+1, all+1 {
			if all > most {
				t.Fatalf("after %d lost answers of %s changes %d of these were made", most, kind, made)
			}
			if kind == "first" {
				b.NodeID++
				was = lease.Record{Realm: was.Realm, Block: b}
			}
			next := was
			next.Revision, next.HWM, next.State, next.Request = was.Revision+1, was.HWM+1000, lease.Whole, uint64(n)
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			p.Lose(n)
			ok, err := through.CompareAndSet(ctx, was, next)
			lost = p.Lost()
			p.Lose(0)
			cancel()
			is := latest(t, direct, was, lost && err != nil)
			if err == nil && !ok {
				t.Errorf("without answer %d a %s change was reported as refused; made: %v", n, kind, is == next)
			}
			if err == nil && ok != (is == next) {
				t.Errorf("without answer %d a %s change was reported as %v, there is %+v", n, kind, ok, is)
			}
			if err != nil && !lost {
				t.Errorf("a %s change failed though no answer was lost: %v", kind, err)
			}
			if err != nil && is == next {
				made++
			}
			was = is
			// A connection that was still open takes fewer answers than a new one, and what the
			// server sends may come in one piece or in two, so the last may have been left out.
			if !lost && made == 0 {
				n, lost = 0, true
			}
		}
	}
}

// latest returns the record that is stored, where r was. After an ambiguous error the change
// may still be under way. So another one is tried: now either can no longer be made.
func latest(t *testing.T, s lease.Store, r lease.Record, ambiguous bool) lease.Record {
	t.Helper()
	if ambiguous {
		next := r
		next.Revision, next.Name = r.Revision+1, "in its place"
		if _, err := s.CompareAndSet(t.Context(), r, next); err != nil {
			t.Fatal(err)
		}
	}
	is, err := s.Get(t.Context(), r.Realm, r.Block)
	if err != nil {
		t.Fatal(err)
	}
	return is
}
