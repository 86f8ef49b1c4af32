package lease

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sortid/sortid/internal/window"
)

// clone copies a session to a machine whose clock is ahead.
func clone(s *session, ahead time.Duration) *session {
	c := *s
	now := s.config.Now
	c.config.Now = func() time.Time { return now().Add(ahead) }
	return &c
}

// Of two clones one keeps the node ID. The other one's window ends at the next renewal.
func TestClones(t *testing.T) {
	for _, tick := range []time.Duration{time.Millisecond, 256 * time.Millisecond} {
		for _, ahead := range []time.Duration{0, tick, 9 * time.Second} {
			synctest.Test(t, func(t *testing.T) {
				m := NewMemory()
				c := Config{Realm: "realm", Format: Format{Bits: 16, Tick: tick,
					Epoch: time.UnixMilli(0)}, NodeBits: 8}
				c, err := c.complete()
				if err != nil {
					t.Fatal(err)
				}
				a := newSession(m, c)
				if err := errors.Join(a.enter(t.Context(), true),
					a.renew(t.Context(), window.None)); err != nil {
					t.Fatal(err)
				}
				b := clone(a, ahead)
				node := a.held.Block
				time.Sleep(30 * time.Second)
				if err := a.renew(t.Context(), window.None); err != nil || a.held.Block != node {
					t.Fatalf("the first to renew: %v, %v", a.held, err)
				}
				if err := b.renew(t.Context(), window.None); err != nil || b.held.Block == node ||
					b.held.Owner == a.held.Owner {
					t.Errorf(
						"tick %v, clock %v ahead: the clone renews and has %+v, the first has "+
							"%+v, %v", tick, ahead, b.held, a.held, err)
				}
				time.Sleep(30 * time.Second)
				if err := errors.Join(b.renew(t.Context(), window.None),
					a.renew(t.Context(), window.None)); err != nil || a.held.Block != node ||
					b.held.Block == node {
					t.Errorf("later the first has %v, the clone %v, %v", a.held.Block, b.held.Block,
						err)
				}
			})
		}
	}
}

// A clone made between the drawing of a request and its sending learns of it from the first answer.
// It gives back nothing that is not its own.
func TestCloneBeforeSending(t *testing.T) {
	m := NewMemory()
	c, err := config(8).complete()
	if err != nil {
		t.Fatal(err)
	}
	var b *session
	n := &network{Store: m}
	a := newSession(n, c)
	n.watch = func(op string, args ...Record) {
		if op == "set" && args[1].Owner != (Owner{}) && b == nil {
			b = clone(a, 0)
			pending := *a.pending
			b.pending, b.store = &pending, m
		}
	}
	if err := errors.Join(a.enter(t.Context(), true),
		a.renew(t.Context(), window.None)); err != nil {
		t.Fatal(err)
	}
	mine := a.held
	other := clone(b, 0)
	pending := *b.pending
	other.pending = &pending
	if err := b.renew(t.Context(), window.None); err != nil || b.held.Block == mine.Block {
		t.Errorf("the clone has %+v, the first %+v, %v", b.held, mine, err)
	}
	if err := other.release(t.Context(), window.None); err != nil {
		t.Error(err)
	}
	if r, err := m.Get(t.Context(), mine.Realm, mine.Block); err != nil || r != mine {
		t.Errorf("a clone has released %+v, %v; it was %+v", r, err, mine)
	}
}

// After a fence, the store still knows of grants beyond the floor. Such a block, the blocks around
// it and its parts are not granted before the end of these grants.
func TestFenceCarriesMarks(t *testing.T) {
	for _, sizes := range [][]int{{4, 6, 1, 1}, {1, 1, 4, 6}} {
		synctest.Test(t, func(t *testing.T) {
			n := &network{Store: NewMemory(), noClock: true}
			c := config(4)
			c.Format.Bits = 6
			ahead := c
			ahead.Now = func() time.Time { return time.Now().Add(150 * time.Second) }
			l := acquire(t, n, ahead)
			node, hi := Block{l.NodeID(), 4}, l.window.Grant().Hi
			abandon(l)
			until, err := Fence(t.Context(), n, Config{Realm: "realm"}, 5*time.Second)
			if err != nil || until.UnixMilli()/256 >= hi {
				t.Fatalf("fenced until %v, %v: not below tick %d", until, err, hi)
			}
			time.Sleep(time.Until(until))
			part := 0.0
			for _, size := range sizes {
				for {
					c.NodeBits = size
					l, err := Acquire(t.Context(), n, c)
					if err != nil {
						break
					}
					defer abandon(l)
					part += 1 / float64(int(1)<<size)
					b, lo := Block{l.NodeID(), uint8(size)}, l.window.Grant().Lo
					if (b.Contains(node) || node.Contains(b)) && lo < hi {
						t.Errorf("%v is granted from tick %[4]d on, and its part %[2]v was "+
							"granted up to tick %[3]d", b, node, hi, lo)
					}
				}
			}
			if part != 15.0/16 {
				t.Errorf("with one of 16 node IDs ahead of the floor %v of the realm can be had",
					part)
			}
		})
	}
}

// After a fence with a floor below its grants, a process says when it will have a node ID, and then
// gets one by itself.
func TestFenceBelowGrants(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &network{Store: NewMemory(), noClock: true}
		var mu sync.Mutex
		wrong := 300 * time.Second
		c := config(8)
		c.Now = func() time.Time {
			mu.Lock()
			defer mu.Unlock()
			return time.Now().Add(wrong)
		}
		l := acquire(t, n, c)
		hi := l.window.Grant().Hi
		until, err := Fence(t.Context(), n, Config{Realm: "realm"}, 0)
		if err != nil {
			t.Fatal(err)
		}
		mu.Lock()
		wrong = 0
		mu.Unlock()
		// Its window is known to the store, so it goes on. The renewal finds the fence.
		time.Sleep(time.Until(time.UnixMilli(hi*256)) - 20*time.Second)
		if !time.Now().After(until) {
			t.Fatal("the floor is still to come")
		}
		_, _, err = l.ClaimTick(time.Now().UnixMilli() / 256)
		want := "below " + time.UnixMilli(hi*256).UTC().Format(timeFormat) +
			", up to which this process was granted times; when these have passed, it gets a new " +
			"node ID by itself"
		if !errors.Is(err, ErrExpired) || !errors.Is(err, ErrForgotten) ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want ErrForgotten that says %q", err, want)
		}
		time.Sleep(time.Until(time.UnixMilli(hi*256)) + 30*time.Second)
		if _, at, err := l.ClaimTick(time.Now().UnixMilli() / 256); err != nil || at < hi {
			t.Errorf("when the time has passed: %d, %v, want at least %d", at, err, hi)
		}
		closed(t, l)
	})
}

type clockless struct {
	Store
	broken atomic.Bool
}

func (c *clockless) Time(ctx context.Context) (time.Time, error) {
	if c.broken.Load() {
		return time.Time{}, errDown
	}
	return c.Store.Time(ctx)
}

// The answer to a renewal is lost. Once it is known to be made, generators have its window, though
// the next one fails.
func TestPublishedBeforeFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &network{Store: NewMemory()}
		c := &clockless{Store: n}
		l := acquire(t, c, config(8))
		until := l.Until()
		n.set(func() {
			n.deaf = func(op string, args ...Record) bool {
				return op == "set" && !c.broken.Swap(true)
			}
		})
		time.Sleep(50 * time.Second)
		if !c.broken.Load() || l.Err() == nil {
			t.Fatal("nothing went wrong")
		}
		if more := l.Until().Sub(until); more <= 0 {
			t.Errorf("the renewal was made, and the window has grown by %v: %v", more, l.Err())
		}
		c.broken.Store(false)
		closed(t, l)
	})
}

type logFunc func()

func (f logFunc) Write(b []byte) (int, error) { f(); return len(b), nil }

// While renewals fail, the lease always says why.
func TestErrWhileFailing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &network{Store: NewMemory()}
		failures := 0
		var l *Lease
		c := config(8)
		c.Logger = slog.New(slog.NewTextHandler(logFunc(func() {
			if failures++; !errors.Is(l.Err(), errDown) {
				t.Errorf("failure %d: %v", failures, l.Err())
			}
		}), &slog.HandlerOptions{Level: slog.LevelWarn}))
		l = acquire(t, n, c)
		n.set(func() { n.down = true })
		time.Sleep(5 * time.Minute)
		abandon(l)
		if failures < 10 {
			t.Errorf("%d failures", failures)
		}
	})
}

// A renewal succeeds even if the store takes longer than it should.
func TestSlowStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &network{Store: NewMemory()}
		c := config(8)
		c.Window, c.MaxLead = 2*time.Second, 10*time.Second
		l := acquire(t, n, c)
		lost := false
		n.set(func() {
			n.delay = func() time.Duration { return 420 * time.Millisecond }
			n.deaf = func(op string, args ...Record) bool {
				defer func() { lost = lost || op == "set" }()
				return op == "set" && !lost
			}
		})
		time.Sleep(20 * time.Second)
		made := 0
		for range 100 {
			time.Sleep(100 * time.Millisecond)
			if _, _, err := l.ClaimTick(time.Now().UnixMilli() / 256); err == nil {
				made++
			}
		}
		if made < 20 {
			t.Errorf(
				"with 420 ms a request, and one answer lost, a tick was granted %d times of 100: %v",
				made, l.Err())
		}
		n.set(func() { n.delay = nil })
		closed(t, l)
	})
}

// With a short window and a slow store no renewal fails.
func TestShortWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &network{Store: NewMemory()}
		n.delay = func() time.Duration { return 220 * time.Millisecond }
		c := config(8)
		c.Window, c.MaxLead = 4*time.Second, 10*time.Second
		l := acquire(t, n, c)
		for range 200 {
			time.Sleep(300 * time.Millisecond)
			if _, _, err := l.ClaimTick(time.Now().UnixMilli() / 256); err != nil ||
				l.Err() != nil {
				t.Fatalf("%v; %v", err, l.Err())
			}
		}
		n.set(func() { n.delay = nil })
		closed(t, l)
	})
}

// A lease is back within two seconds after its store, which was away for a minute.
func TestBackSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for range 50 {
			n := &network{Store: NewMemory()}
			l := acquire(t, n, config(8))
			n.set(func() { n.down = true })
			time.Sleep(62 * time.Second)
			n.set(func() { n.down = false })
			time.Sleep(2 * time.Second)
			if _, _, err := l.ClaimTick(time.Now().UnixMilli() / 256); err != nil {
				t.Error(err)
			}
			closed(t, l)
		}
	})
}

// Leases that were acquired or renewed at one moment are renewed at different times.
func TestSpread(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &network{Store: NewMemory()}
		var mu sync.Mutex
		seconds := map[int64]int{}
		n.watch = func(op string, args ...Record) {
			if op == "set" {
				mu.Lock()
				defer mu.Unlock()
				seconds[time.Now().Unix()]++
			}
		}
		most := func(after string, limit int) {
			mu.Lock()
			defer mu.Unlock()
			for _, k := range seconds {
				if k > limit {
					t.Errorf("%s: %d of 200 leases were renewed in one second", after, k)
					break
				}
			}
			clear(seconds)
		}
		// The chance that a lease is renewed in one given second is at most 1/15: two of its
		// renewals can fall there, each within 30 s. So 13 are expected, and more than 50 have a
		// chance below 1e-12.
		const limit = 50
		var leases []*Lease
		for range 200 {
			leases = append(leases, acquire(t, n, config(10)))
		}
		mu.Lock()
		clear(seconds)
		mu.Unlock()
		time.Sleep(10 * time.Minute)
		most("all at one moment", limit)
		n.set(func() { n.down = true })
		time.Sleep(5 * time.Minute)
		n.set(func() { n.down = false })
		time.Sleep(20 * time.Second)
		mu.Lock()
		clear(seconds)
		mu.Unlock()
		time.Sleep(10 * time.Minute)
		most("after an outage", limit)
		closed(t, leases...)
	})
}

// A full realm says when a node ID is free, and a lease that waits gets one.
func TestWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := NewMemory()
		c := config(1)
		a, b := acquire(t, m, c), acquire(t, m, c)
		defer closed(t, a)
		abandon(b)
		for _, size := range []int{1, 8} {
			c.NodeBits = size
			_, err := Acquire(t.Context(), m, c)
			var full *FullError
			if !errors.As(err, &full) || full.From.Before(b.Until()) ||
				full.From.After(b.Until().Add(31*time.Second)) {
				t.Fatalf("no node ID of %d bits: %v", size, err)
			}
			if want := "the next is free from " + full.From.Format(timeFormat) +
				" on"; !strings.Contains(err.Error(), want) {
				t.Errorf("%q does not say %q", err, want)
			}
		}
		c.NodeBits, c.Wait = 1, true
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		if _, err := Acquire(ctx, m, c); !errors.Is(err, ErrFull) ||
			!errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("it waited until its context ended: %v", err)
		}
		n := &network{Store: m}
		ctx, cancel = context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		time.AfterFunc(time.Second, func() { n.set(func() { n.hang = true }) })
		if _, err := Acquire(ctx, n, c); !errors.Is(err, ErrFull) ||
			!errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("its context ended during a read: %v", err)
		}
		start := time.Now()
		l := acquire(t, m, c)
		if d := time.Since(start); d < 30*time.Second || d > 2*time.Minute {
			t.Errorf("it waited for %v", d)
		}
		closed(t, l)
	})
}

func TestCreate(t *testing.T) {
	m := NewMemory()
	var log bytes.Buffer
	c := config(8)
	c.Logger = slog.New(slog.NewTextHandler(&log, nil))
	c.MustExist = true
	if _, err := Acquire(t.Context(), m, c); !errors.Is(err, ErrNoRealm) {
		t.Errorf("a realm that must exist: %v", err)
	}
	if names, err := m.Realms(t.Context()); err != nil || len(names) != 0 {
		t.Errorf("there are %v, %v", names, err)
	}
	for _, want := range []bool{true, false} {
		created, err := Create(t.Context(), m, c)
		if err != nil || created != want {
			t.Errorf("Create: %v, %v, want %v", created, err, want)
		}
	}
	const line = `level=INFO msg="lease: realm created" realm=realm store=*lease.Memory`
	if strings.Count(log.String(), line) != 1 {
		t.Errorf("the log is %q", &log)
	}
	closed(t, acquire(t, m, c))
	log.Reset()
	c.MustExist, c.Realm = false, "other"
	closed(t, acquire(t, m, c))
	if !strings.Contains(log.String(),
		`msg="lease: realm created" realm=other store=*lease.Memory`) {
		t.Errorf("the log is %q", &log)
	}
	c.Format = UID60
	if _, err := Create(t.Context(), m, c); !errors.Is(err, ErrRealm) ||
		strings.Contains(err.Error(), "another realm") {
		t.Errorf("Create with another format: %v", err)
	}
}

// The window and the lead change while leases are held, and a fence uses the longest.
func TestSetTerms(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := NewMemory()
		l := acquire(t, m, config(8))
		if _, err := SetTerms(t.Context(), m, "realm", 10*time.Minute, 0); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Minute)
		if left := time.Until(l.Until()); left < 5*time.Minute {
			t.Errorf("with windows of ten minutes %v are left", left)
		}
		terms, err := SetTerms(t.Context(), m, "realm", 2*time.Minute, 5*time.Second)
		if err != nil || terms.Rounded(terms.Window) != 2*time.Minute {
			t.Fatal(terms, err)
		}
		until, err := Fence(t.Context(), m, Config{Realm: "realm"}, 0)
		if d := time.Until(until); err != nil || d < 10*time.Minute || until.Before(l.Until()) {
			t.Errorf("fenced for %v, %v; a window of ten minutes was granted until %v", d, err,
				l.Until())
		}
		root, err := Realm(t.Context(), m, "realm")
		if err != nil || root.Terms.Window != terms.Window || root.Terms.MostWindow != 0 {
			t.Errorf("after the fence the terms are %+v, %v", root.Terms, err)
		}
		if _, err := Fence(t.Context(), m, Config{Realm: "realm", Window: time.Minute},
			0); err != nil {
			t.Fatal(err)
		}
		if root, err := Realm(t.Context(), m, "realm"); err != nil ||
			root.Terms.Rounded(root.Terms.Window) != time.Minute {
			t.Errorf("after a fence with a window of a minute the terms are %+v, %v", root.Terms,
				err)
		}
		for _, d := range []time.Duration{-time.Second, time.Millisecond, 25 * time.Hour} {
			if _, err := SetTerms(t.Context(), m, "realm", d, 0); !errors.Is(err, ErrConfig) {
				t.Errorf("a window of %v: %v", d, err)
			}
		}
		if _, err := SetTerms(t.Context(), m, "none", time.Minute, 0); !errors.Is(err, ErrNoRealm) {
			t.Errorf("no realm: %v", err)
		}
		abandon(l)
	})
}

type counted struct {
	Store
	mu                           sync.Mutex
	calls, lists, records, races int
}

func (c *counted) count(calls, lists, records int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls, c.lists, c.records = c.calls+calls, c.lists+lists, c.records+records
}

func (c *counted) Get(ctx context.Context, realm string, b Block) (Record, error) {
	c.count(1, 0, 1)
	return c.Store.Get(ctx, realm, b)
}

func (c *counted) GetMany(ctx context.Context, realm string, blocks []Block) ([]Record, error) {
	c.count(1, 0, len(blocks))
	return c.Store.GetMany(ctx, realm, blocks)
}

func (c *counted) CompareAndSet(ctx context.Context, prev, next Record) (bool, error) {
	c.count(1, 0, 0)
	return c.Store.CompareAndSet(ctx, prev, next)
}

func (c *counted) CompareAndSetMany(ctx context.Context, changes []Change) (bool, error) {
	c.count(1, 0, 0)
	return c.Store.CompareAndSetMany(ctx, changes)
}

func (c *counted) List(ctx context.Context, realm string) ([]Record, error) {
	rs, err := c.Store.List(ctx, realm)
	c.count(1, 1, len(rs))
	return rs, err
}

// A start costs about the same, however many node IDs are held.
func TestReadsPerStart(t *testing.T) {
	c := &counted{Store: NewMemory()}
	cfg, err := config(14).complete()
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 1))
	start := func() {
		s := newSession(c, cfg)
		s.rand = r
		if err := errors.Join(s.enter(t.Context(), true),
			s.renew(t.Context(), window.None)); err != nil {
			t.Fatal(err)
		}
	}
	held := 0
	for _, n := range []int{10, 100, 1000, 10_000} {
		for ; held < n; held++ {
			start()
		}
		const starts = 100
		c.calls, c.lists, c.records = 0, 0, 0
		for range starts {
			start()
			held++
		}
		calls, records := float64(c.calls)/starts, float64(c.records)/starts
		t.Logf("%d held: %.1f calls a start, %.0f records read, %d of %d list the realm", n, calls,
			records, c.lists, starts)
		if c.lists > 0 || calls > 15 || records > 250 {
			t.Errorf("%d held: %.1f calls a start, %.0f records read, %d of %d list the realm", n,
				calls, records, c.lists, starts)
		}
		// They are close together, so that there is room for large ones. They would be in 105 and
		// 674 groups of 16, for 110 and 1100, if each were at a random place.
		_, blocks, err := Records(t.Context(), c.Store, cfg.Realm)
		if err != nil {
			t.Fatal(err)
		}
		groups := map[uint32]bool{}
		for _, r := range blocks {
			if r.State == Whole && r.Owner != (Owner{}) {
				groups[r.Block.NodeID>>4] = true
			}
		}
		if fit := (held + 15) / 16; len(groups) > 3*fit {
			t.Errorf("%d node IDs are in %d groups of 16, and fit in %d", held, len(groups), fit)
		}
	}
}

// A thousand that start at once soon have a node ID each, with few requests.
func TestThousand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, held := range []int{0, 1000} {
			n := &network{Store: NewMemory()}
			cfg := config(12)
			for range held {
				acquire(t, n, cfg)
			}
			r := make(chan time.Duration, 4096)
			n.set(func() {
				i := 0
				n.delay = func() time.Duration {
					i++
					return time.Duration(i*7919%5000) * time.Microsecond
				}
				clear(n.count)
			})
			start := time.Now()
			var wg sync.WaitGroup
			for range 1000 {
				wg.Go(func() {
					l, err := Acquire(t.Context(), n, cfg)
					if err != nil {
						t.Error(err)
						return
					}
					r <- time.Since(start)
					t.Cleanup(func() { abandon(l) })
				})
			}
			wg.Wait()
			close(r)
			var took []time.Duration
			for d := range r {
				took = append(took, d)
			}
			slices.Sort(took)
			if len(took) != 1000 {
				t.Fatalf("%d have a node ID", len(took))
			}
			text := fmt.Sprintf(
				"%d held: half have a node ID after %v, all after %v; %d reads, %d changes, "+
					"%d lists",
				held, took[500], took[999], n.calls("get"), n.calls("set"), n.calls("list"))
			t.Log(text)
			if took[999] > 3*time.Second || n.calls("list") > 20 || n.calls("set") > 8000 ||
				n.calls("get") > 25_000 {
				t.Error(text)
			}
		}
	})
}
