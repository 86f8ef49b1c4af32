package faulttest

import (
	"context"
	"net"
	"sync"
	"testing"

	"github.com/sortid/sortid/lease"
)

// An AnswerProxy stands between a store and its server, and loses one of the server's answers. It
// counts each read from the server as an answer. It is safe for concurrent use.
type AnswerProxy struct {
	Addr string

	target string
	mu     sync.Mutex
	lose   int // the connection breaks at this answer from now on; 0: never
}

func NewAnswerProxy(t *testing.T, target string) *AnswerProxy {
	t.Helper()
	p := &AnswerProxy{target: target}
	p.Addr = listen(t, p.serve)
	return p
}

// Lose makes the proxy lose the nth answer from now on, and close the connection; 0: none.
func (p *AnswerProxy) Lose(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lose = max(n, 0)
}

func (p *AnswerProxy) Lost() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.lose == 0
}

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
	pipe(client, p.target, nil, func([]byte) bool {
		if p.loses() {
			client.Close()
		}
		return true
	})
}

// LostAnswers loses the server's answers to a store one by one. The store must then return an
// error, not a refusal: the change may have been made. The other store tells whether it was made.
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
				t.Fatalf("after %d lost answers of %s changes %d of these were made", most, kind,
					made)
			}
			if kind == "first" {
				b.NodeID++
				was = lease.Record{Realm: was.Realm, Block: b}
			}
			next := was
			next.Revision, next.HWM = was.Revision+1, was.HWM+1000
			next.State, next.Request = lease.Whole, uint64(n)
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			p.Lose(n)
			ok, err := through.CompareAndSet(ctx, was, next)
			lost = p.Lost()
			p.Lose(0)
			cancel()
			is := latest(t, direct, was, lost && err != nil)
			if err == nil && !ok {
				t.Errorf("without answer %d a %s change was reported as refused; made: %v", n, kind,
					is == next)
			}
			if err == nil && ok != (is == next) {
				t.Errorf("without answer %d a %s change was reported as %v, there is %+v", n, kind,
					ok, is)
			}
			if err != nil && !lost {
				t.Errorf("a %s change failed though no answer was lost: %v", kind, err)
			}
			if err != nil && is == next {
				made++
			}
			was = is
			// An open connection takes fewer answers than a new one, and the server may send an
			// answer in two pieces.
			if !lost && made == 0 {
				n, lost = 0, true
			}
		}
	}
}

// latest returns the stored record of r's block. After an ambiguous error the change may still be
// on its way. So latest makes another one, after which the first cannot be made.
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
