package lease

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sortid/sortid/internal/check"
)

func TestGrantSaysWhatTheClientMayDo(t *testing.T) {
	at(t, SCRU64(), 8, func(t *testing.T, d *desk) {
		g := d.acquire(d.a, ask("a"))
		now := time.Now()
		if g.Block.Size != 8 || g.Realm != "realm" || g.Format != "scru64" || g.Holder != "a" ||
			g.Tick != 256*time.Millisecond || !g.Epoch.Equal(time.UnixMilli(0)) || g.Repeated {
			t.Errorf("got %+v", g)
		}
		if from := g.ValidFrom(); from.After(now) || now.Sub(from) >= g.Tick {
			t.Errorf("valid from %v at %v", from, now)
		}
		if left := g.ValidUntil().Sub(now); left <= 59*time.Second || left > 61*time.Second {
			t.Errorf("valid for %v", left)
		}
		if !g.ServerTime.Equal(now) || g.StartsIn != 0 ||
			g.ValidFor != g.ValidUntil().Sub(now).Truncate(time.Millisecond) {
			t.Errorf("starts in %v, valid for %v, at %v", g.StartsIn, g.ValidFor, g.ServerTime)
		}
		if g.RenewAt.Before(now) || g.RenewAt.After(g.ValidUntil().Add(-29*time.Second)) {
			t.Errorf("renew at %v, which is %v after the grant", g.RenewAt, g.RenewAt.Sub(now))
		}
		if len(g.Secret) > 512 || g.Secret == "" || g.ID == "" {
			t.Errorf("id %q, secret %q", g.ID, g.Secret)
		}
	})
}

// Two servers answer a repeated request with the same lease, also if the first answer was lost.
func TestRepeatedRequestGetsTheSameLease(t *testing.T) {
	at(t, forever, 8, func(t *testing.T, d *desk) {
		d.lossy(1)
		if _, err := d.a.Acquire(d.Context(), "realm", ask("a")); !errors.Is(err, errDown) {
			t.Fatalf("the answer was lost, but Acquire returned %v", err)
		}
		first := d.acquire(d.b, ask("a"))
		time.Sleep(10 * time.Second)
		for _, l := range []*StoreLessor{d.a, d.b} {
			g := d.acquire(l, ask("a"))
			if g.ID != first.ID || g.Secret != first.Secret || g.Block != first.Block ||
				g.FirstTick != first.FirstTick || g.EndTick != first.EndTick || !g.Repeated {
				t.Errorf("got %+v, want the lease %+v", g, first)
			}
			if want := first.ValidFor - 10*time.Second; g.ValidFor != want {
				t.Errorf("valid for %v, want %v", g.ValidFor, want)
			}
		}
		renewed := d.mustRenew(d.a, first, "renewal 1")
		if g := d.acquire(d.b, ask("a")); g.EndTick != renewed.EndTick || g.ID != first.ID {
			t.Errorf("after a renewal: got %+v, want the end %d", g, renewed.EndTick)
		}
		if held := len(held(t, d.Store)); held != 1 {
			t.Errorf("%d node IDs are held, want 1", held)
		}
	})
}

// Many copies of one request arrive at two servers at once. They get one lease.
func TestCopiesOfARequestAtOnce(t *testing.T) {
	at(t, forever, 8, func(t *testing.T, d *desk) {
		d.delay = func() time.Duration { return time.Duration(time.Now().UnixNano()%7) * 100 }
		const copies = 20
		grants := make([]Grant, copies)
		var wg sync.WaitGroup
		for i := range copies {
			wg.Go(func() {
				g, err := []*StoreLessor{d.a, d.b}[i%2].Acquire(d.Context(), "realm", ask("a"))
				if err != nil {
					t.Error(err)
				}
				grants[i] = g
			})
		}
		wg.Wait()
		for _, g := range grants {
			if g.ID != grants[0].ID || g.Secret != grants[0].Secret {
				t.Errorf("two leases for one request: %+v and %+v", g, grants[0])
			}
		}
		if held := len(held(t, d.Store)); held != 1 {
			t.Errorf("%d node IDs are held, want 1", held)
		}
	})
}

func TestRequestThatDiffersFromItsCopy(t *testing.T) {
	at(t, SCRU64(), 0, func(t *testing.T, d *desk) {
		r := ask("a")
		r.NodeBits = 8
		g := d.acquire(d.a, r)
		same := r
		same.NodeID = int64(g.Block.NodeID)
		if again := d.acquire(d.b, same); again.ID != g.ID {
			t.Errorf("got another lease: %+v", again)
		}
		for _, change := range []func(r *AcquireRequest){
			func(r *AcquireRequest) { r.NodeBits = 9 },
			func(r *AcquireRequest) { r.NodeID = int64(g.Block.NodeID ^ 1) },
		} {
			other := r
			change(&other)
			// Only a bucket of the same realm knows the earlier copy.
			_, err := d.b.Acquire(d.Context(), "realm", other)
			fails(t, "a copy that differs", err, ErrRequestDiffers)
		}
	})
}

func TestRequestErrors(t *testing.T) {
	at(t, SCRU64(), 0, func(t *testing.T, d *desk) {
		for field, change := range map[string]func(r *AcquireRequest){
			"request":         func(r *AcquireRequest) { r.Request = "short" },
			"node_bits":       func(r *AcquireRequest) { r.NodeBits = 0 },
			"node_id":         func(r *AcquireRequest) { r.NodeID = 256 },
			"holder":          func(r *AcquireRequest) { r.Holder = "a\nb" },
			"lease_window_ms": func(r *AcquireRequest) { r.Window = 61 * time.Second },
			"wait_ms":         func(r *AcquireRequest) { r.Wait = 31 * time.Second },
		} {
			r := ask("a")
			r.NodeBits = 8
			change(&r)
			_, err := d.a.Acquire(d.Context(), "realm", r)
			var wrong *RequestError
			if !errors.As(err, &wrong) || wrong.Field != field || !errors.Is(err, ErrConfig) {
				t.Errorf("%s: got %v", field, err)
			}
		}
		for name, change := range map[string]func(r *AcquireRequest){
			"16 characters":  func(r *AcquireRequest) { r.Request = "0123456789abcdef" },
			"24 bits":        func(r *AcquireRequest) { r.NodeBits = 24 },
			"the last":       func(r *AcquireRequest) { r.NodeID = 255 },
			"a whole window": func(r *AcquireRequest) { r.Window = time.Minute },
		} {
			r := ask("a " + name)
			r.NodeBits = 8
			change(&r)
			if _, err := d.a.Acquire(d.Context(), "realm", r); (err != nil) != (r.NodeBits == 24) ||
				err != nil && !errors.Is(err, ErrRealm) {
				t.Errorf("%s: %v", name, err)
			}
		}
		for _, realm := range []string{"absent", "", "a@b"} {
			_, err := d.a.Acquire(d.Context(), realm, ask("a"))
			fails(t, "a missing realm", err, ErrNoRealm)
		}
	})
}

func TestOneSize(t *testing.T) {
	at(t, SCRU160(), 10, func(t *testing.T, d *desk) {
		r := ask("a")
		r.NodeBits = 8
		_, err := d.a.Acquire(d.Context(), "realm", r)
		fails(t, "another size", err, ErrRealm, `realm "realm" grants node IDs of 10 bits, not 8`)
		_, err = Acquire(d.Context(), d.Store, Config{Realm: "realm", Format: SCRU160(), NodeBits: 8})
		fails(t, "another size, directly", err, ErrRealm,
			`realm "realm" grants node IDs of 10 bits, not 8`)
		if g := d.acquire(d.a, ask("a")); g.Block.Size != 10 {
			t.Errorf("got %v", g.Block)
		}
		l := acquire(t, d.Store, Config{Realm: "realm", Format: SCRU160(), NodeBits: 10})
		closed(t, l)
	})
}

func TestExactNodeID(t *testing.T) {
	at(t, SCRU64(), 0, func(t *testing.T, d *desk) {
		for i, b := range []Block{{42, 8}, {0, 8}, {255, 8}, {43, 8}, {1 << 22, 23}} {
			if g := d.acquire(d.a, exactly(fmt.Sprint("free ", i), b)); g.Block != b {
				t.Errorf("got %v, want %v", g.Block, b)
			}
		}
		for i, b := range []Block{{42, 8}, {85, 9}, {10, 6}, {21, 7}, {1, 1}} {
			_, err := d.b.Acquire(d.Context(), "realm", exactly(fmt.Sprint("held ", i), b))
			var held *HeldError
			if !errors.As(err, &held) || held.State != Held || !held.Block.Contains(b) &&
				!b.Contains(held.Block) || held.Holder == "" || !errors.Is(err, ErrFull) {
				t.Fatalf("%v: got %v", b, err)
			}
			if d := held.FreeFrom.Sub(held.Until); d < 29*time.Second || d > 30*time.Second {
				t.Errorf("%v is free %v after the lease's end", b, d)
			}
		}
		g := d.acquire(d.b, exactly("released", Block{7, 8}))
		d.release(d.a, g, time.Time{})
		_, err := d.b.Acquire(d.Context(), "realm", exactly("waiting", Block{7, 8}))
		var waiting *HeldError
		if !errors.As(err, &waiting) || waiting.State != Waiting || waiting.Holder != "released" ||
			waiting.ID != g.ID || !waiting.Until.Equal(g.ValidUntil()) ||
			!strings.Contains(err.Error(), `waits after its last use by "released" until `) {
			t.Fatalf("got %+v, %v", waiting, err)
		}
		time.Sleep(time.Until(waiting.FreeFrom))
		if next := d.acquire(d.b, exactly("waiting", Block{7, 8})); next.FirstTick < g.EndTick ||
			next.StartsIn == 0 {
			t.Errorf("got %+v after %+v", next, g)
		}
	})
}

func TestClientClock(t *testing.T) {
	at(t, forever, 8, func(t *testing.T, d *desk) {
		g := d.acquire(d.a, ask("a"))
		for _, c := range []struct {
			ahead time.Duration
			ok    bool
		}{{0, true}, {10 * time.Second, true}, {-10 * time.Second, true},
			{10*time.Second + 1, false}, {-11 * time.Second, false}, {1000 * time.Hour, false}} {
			r := ask(fmt.Sprint("clock ", c.ahead))
			r.Time = time.Now().Add(c.ahead)
			got, err := d.a.Acquire(d.Context(), "realm", r)
			_, err2 := d.a.Renew(d.Context(), "realm", g.ID, RenewRequest{Secret: g.Secret,
				EndTick: g.EndTick, Time: r.Time})
			for _, err := range []error{err, err2} {
				var wrong *ClockError
				if c.ok && err != nil || !c.ok && (!errors.As(err, &wrong) ||
					wrong.Difference != c.ahead || !errors.Is(err, ErrClock)) {
					t.Errorf("%v ahead: %v", c.ahead, err)
				}
			}
			if want := time.Minute + max(0, c.ahead); c.ok && got.ValidFor != want {
				t.Errorf("%v ahead: valid for %v, want %v", c.ahead, got.ValidFor, want)
			}
		}
	})
}

// If a store's time is not exact, the client must not begin too early or stop too late.
func TestImpreciseTime(t *testing.T) {
	at(t, forever, 8, func(t *testing.T, d *desk) {
		l := NewLessor(imprecise{d.network}, LessorOptions{})
		g := d.acquire(l, ask("a"))
		if g.ValidFor != 59*time.Second || g.StartsIn != time.Second {
			t.Errorf("starts in %v, valid for %v", g.StartsIn, g.ValidFor)
		}
	})
}

// 300 clients start at once at two servers. Each gets a node ID of its own, with few requests to
// the store.
func TestManyAcquireAtOnce(t *testing.T) {
	at(t, forever, 9, func(t *testing.T, d *desk) {
		i := 0
		d.set(func() {
			d.delay = func() time.Duration {
				i++
				return time.Duration(i*7919%5000) * time.Microsecond
			}
		})
		const clients = 300
		grants := make([]Grant, clients)
		var wg sync.WaitGroup
		began := time.Now()
		for i := range clients {
			wg.Go(func() {
				g, err := []*StoreLessor{d.a, d.b}[i%2].Acquire(d.Context(), "realm",
					ask(fmt.Sprint("client ", i)))
				if err != nil {
					t.Error(err)
				}
				grants[i] = g
			})
		}
		wg.Wait()
		took, blocks := time.Since(began), map[Block]bool{}
		for _, g := range grants {
			blocks[g.Block] = true
		}
		if len(blocks) != clients {
			t.Errorf("%d clients got %d node IDs", clients, len(blocks))
		}
		reads, changes := d.calls("get"), d.calls("set")
		t.Logf("%v, %d reads, %d changes, %d lists, %d times", took, reads, changes,
			d.calls("list"), d.calls("time"))
		if took > 3*time.Second || reads > 6*clients || changes > 5*clients {
			t.Errorf("%v, %d reads and %d changes are too much", took, reads, changes)
		}
	})
}

// A client that has hung up gets nothing more, but keeps what was granted.
func TestNothingIsUndoneAfterAHangUp(t *testing.T) {
	at(t, forever, 8, func(t *testing.T, d *desk) {
		for step, granted := range map[string]bool{"before the grant": false, "after it": true} {
			ctx, hangUp := context.WithCancel(d.Context())
			d.set(func() {
				d.watch = func(op string, args ...Record) {
					if op == "get" && !granted || op == "set" && granted {
						hangUp()
					}
				}
			})
			_, err := d.a.Acquire(ctx, "realm", ask(step))
			if !errors.Is(err, context.Canceled) {
				t.Errorf("%s: got %v", step, err)
			}
			d.set(func() { d.watch = nil })
			time.Sleep(time.Second)
			g := d.acquire(d.b, ask(step))
			if g.Repeated != granted {
				t.Errorf("%s: the lease was granted earlier: %v, want %v", step, g.Repeated, granted)
			}
		}
	})
}

// A bucket keeps few entries. An entry whose lease has ended goes first.
func TestBucketIsBounded(t *testing.T) {
	at(t, forever, 1, func(t *testing.T, d *desk) {
		keep := d.acquire(d.a, ask("kept"))
		for i := range 100 {
			g := d.acquire(d.b, ask(fmt.Sprint("short ", i)))
			_, err := d.a.Acquire(d.Context(), "realm", ask("one more"))
			fails(t, "full", err, ErrFull)
			time.Sleep(time.Millisecond)
			d.release(d.a, g, time.Time{}.Add(1))
			_, err = d.a.Acquire(d.Context(), "realm", ask(fmt.Sprint("short ", i)))
			fails(t, "ended", err, ErrLost)
			if again := d.acquire(d.a, ask("kept")); again.ID != keep.ID {
				t.Fatalf("after %d leases, the bucket has forgotten one that is held", i)
			}
		}
		records := check.Must(d.Store.List(d.Context(), d.record(keep).Realm))(t)
		for _, r := range records {
			if es, err := entries(r); r.Block.Size == bucketSize && (err != nil ||
				len(es) > bucketEntries) {
				t.Errorf("a bucket has %d entries, %v", len(es), err)
			}
		}
		_, blocks, err := Records(d.Context(), d.Store, "realm")
		if check.OK(t, err); len(blocks) != 2 {
			t.Errorf("Records returns %+v", blocks)
		}
	})
}

func TestStoreThatMakesChangesOneByOne(t *testing.T) {
	at(t, forever, 4, func(t *testing.T, d *desk) {
		d.delay = func() time.Duration { return time.Duration(time.Now().UnixNano()%5) * 1000 }
		a, b := NewLessor(piecemeal{d.network}, LessorOptions{}),
			NewLessor(piecemeal{d.network}, LessorOptions{})
		grants := map[string]Block{}
		var mu sync.Mutex
		var wg sync.WaitGroup
		for i := range 30 {
			wg.Go(func() {
				name := fmt.Sprint("client ", i%15)
				g, err := []*StoreLessor{a, b}[i/15].Acquire(d.Context(), "realm", ask(name))
				mu.Lock()
				defer mu.Unlock()
				if is, ok := grants[name]; err == nil && ok && is != g.Block {
					t.Errorf("%s got %v and %v", name, is, g.Block)
				}
				grants[name] = g.Block
				if err != nil {
					t.Errorf("%s: %v", name, err)
				}
			})
		}
		wg.Wait()
		blocks := map[Block]bool{}
		for _, b := range grants {
			blocks[b] = true
		}
		if len(blocks) != len(grants) || len(grants) != 15 {
			t.Errorf("%d clients got %d node IDs, want 15", len(grants), len(blocks))
		}
	})
}
