package lease

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sortid/sortid/internal/check"
	"github.com/sortid/sortid/internal/window"
)

func clone(s *session, ahead time.Duration) *session {
	c := *s
	now := s.config.Now
	c.config.Now = func() time.Time { return now().Add(ahead) }
	if s.pending != nil {
		pending := *s.pending
		c.pending = &pending
	}
	return &c
}

// One clone keeps the node ID. The other clone's window ends when that clone next renews.
func TestClones(t *testing.T) {
	for _, tick := range []time.Duration{time.Millisecond, 256 * time.Millisecond} {
		for _, ahead := range []time.Duration{0, tick, 9 * time.Second} {
			synctest.Test(t, func(t *testing.T) {
				m := NewMemory()
				c := Config{Realm: "realm", Format: Format{Bits: 16, Tick: tick,
					Epoch: time.UnixMilli(0)}, NodeBits: 8}
				c = check.Must(c.complete())(t)
				a := newSession(m, c)
				check.OK(t, errors.Join(a.enter(t.Context(), true), a.renew(t.Context(), window.None)))
				b := clone(a, ahead)
				node := a.held.Block
				time.Sleep(30 * time.Second)
				if err := a.renew(t.Context(), window.None); err != nil || a.held.Block != node {
					t.Fatalf("the process that renews first: %v, %v", a.held, err)
				}
				if err := b.renew(t.Context(), window.None); err != nil || b.held.Block == node ||
					b.held.Owner == a.held.Owner {
					t.Errorf(
						"tick %v, clock %v ahead: the clone renews and has %+v, the original has "+
							"%+v, %v", tick, ahead, b.held, a.held, err)
				}
				time.Sleep(30 * time.Second)
				if err := errors.Join(b.renew(t.Context(), window.None),
					a.renew(t.Context(), window.None)); err != nil || a.held.Block != node ||
					b.held.Block == node {
					t.Errorf("later the original has %v, the clone %v, %v", a.held.Block,
						b.held.Block, err)
				}
			})
		}
	}
}

// A process is cloned before it sends a request. The first answer tells the clone that the grant is
// not its own.
func TestCloneBeforeSending(t *testing.T) {
	m := NewMemory()
	c := check.Must(config(8).complete())(t)
	var b *session
	n := &network{Store: m}
	a := newSession(n, c)
	n.watch = func(op string, args ...Record) {
		if op == "set" && args[1].Owner != (Owner{}) && b == nil {
			b = clone(a, 0)
			b.store = m
		}
	}
	check.OK(t, errors.Join(a.enter(t.Context(), true), a.renew(t.Context(), window.None)))
	mine := a.held
	other := clone(b, 0)
	if err := b.renew(t.Context(), window.None); err != nil || b.held.Block == mine.Block {
		t.Errorf("the clone has %+v, the original %+v, %v", b.held, mine, err)
	}
	check.OK(t, other.release(t.Context(), window.None))
	if r, err := m.Get(t.Context(), mine.Realm, mine.Block); err != nil || r != mine {
		t.Errorf("a clone has released %+v, %v; it was %+v", r, err, mine)
	}
}

// A grant from before a fence can end after the first tick that the fence allows. Until the grant
// ends, no overlapping block is granted.
func TestFenceCarriesHWMs(t *testing.T) {
	for _, sizes := range [][]int{{4, 6, 1, 1}, {1, 1, 4, 6}} {
		synctest.Test(t, func(t *testing.T) {
			n := &network{Store: NewMemory(), noClock: true}
			c := config(4)
			c.Format.Bits = 6
			ahead := c
			skewed(&ahead).Store(int64(150 * time.Second))
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
						t.Errorf("%v is granted from tick %[4]d on, but its part %[2]v was "+
							"granted up to tick %[3]d", b, node, hi, lo)
					}
				}
			}
			if part != 15.0/16 {
				t.Errorf("one of 16 node IDs is ahead of the floor; %v of the realm can be leased",
					part)
			}
		})
	}
}

// A fence allows ticks that are before the end of a process's grant. The process says when it will
// get a new node ID, and then gets it.
func TestFenceBelowGrants(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &network{Store: NewMemory(), noClock: true}
		c := config(8)
		wrong := skewed(&c)
		wrong.Store(int64(300 * time.Second))
		l := acquire(t, n, c)
		hi := l.window.Grant().Hi
		until := check.Must(Fence(t.Context(), n, Config{Realm: "realm"}, 0))(t)
		wrong.Store(0)
		// The process continues with its grant. Its renewal finds the fence.
		time.Sleep(time.Until(time.UnixMilli(hi*256)) - 20*time.Second)
		if !time.Now().After(until) {
			t.Fatal("the floor is still in the future")
		}
		fails(t, "fenced below its grants", claim(l, 0), ErrExpired, ErrForgotten,
			"and this process already had times up to "+
				time.UnixMilli(hi*256).UTC().Format(timeFormat)+
				"; after that time it gets a new node ID by itself")
		time.Sleep(time.Until(time.UnixMilli(hi*256)) + 30*time.Second)
		if _, at, err := l.ClaimTick(time.Now().UnixMilli() / 256); err != nil || at < hi {
			t.Errorf("when the time has passed: %d, %v, want at least %d", at, err, hi)
		}
		closed(t, l)
	})
}

// The answer to a renewal is lost. When the lease finds that the store has made the renewal,
// generators get the new window.
func TestPublishedBeforeFailure(t *testing.T) {
	leased(t, config(8), func(t *testing.T, n *network, l *Lease) {
		until := l.Until()
		var broken atomic.Bool
		n.set(func() {
			n.deaf = func(op string, _ ...Record) bool { return op == "set" && !broken.Swap(true) }
			n.before = func(op string, _ Record) error {
				if op == "time" && broken.Load() {
					return errDown
				}
				return nil
			}
		})
		time.Sleep(50 * time.Second)
		if !broken.Load() || l.Err() == nil {
			t.Fatal("nothing went wrong")
		}
		if more := l.Until().Sub(until); more <= 0 {
			t.Errorf("the renewal was made, but the window has grown by %v: %v", more, l.Err())
		}
		broken.Store(false)
	})
}

type logFunc func()

func (f logFunc) Write(b []byte) (int, error) { f(); return len(b), nil }

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

// With a slow store, renewals fail only if an answer is lost.
func TestSlowStore(t *testing.T) {
	for _, c := range []struct {
		window, delay time.Duration
		lost          bool // the answer to the first renewal is lost
		least         int  // how many of 200 claims must be granted
	}{
		{4 * time.Second, 220 * time.Millisecond, false, 200},
		{2 * time.Second, 420 * time.Millisecond, true, 100},
	} {
		cfg, made := config(8), 0
		cfg.Window, cfg.MaxLead = c.window, 10*time.Second
		leased(t, cfg, func(t *testing.T, n *network, l *Lease) {
			lost := !c.lost
			n.set(func() {
				n.delay = func() time.Duration { return c.delay }
				n.deaf = func(op string, _ ...Record) bool {
					defer func() { lost = lost || op == "set" }()
					return op == "set" && !lost
				}
			})
			for range 200 {
				time.Sleep(300 * time.Millisecond)
				if claim(l, 0) == nil && (c.lost || l.Err() == nil) {
					made++
				}
			}
			if made < c.least {
				t.Errorf("%v a request: a tick was granted %d times of 200: %v", c.delay, made,
					l.Err())
			}
			n.set(func() { n.delay = nil })
		})
	}
}

func TestBackSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for range 50 {
			n := &network{Store: NewMemory()}
			l := acquire(t, n, config(8))
			n.set(func() { n.down = true })
			time.Sleep(62 * time.Second)
			n.set(func() { n.down = false })
			time.Sleep(2 * time.Second)
			check.OK(t, claim(l, 0))
			closed(t, l)
		}
	})
}

func TestSpread(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &network{Store: NewMemory()}
		// A lease is renewed in a given second with a probability of at most 1/15: two of its
		// renewals can be in that second, each at a random time within 30 s. So 13 leases are
		// expected. More than 50 have a probability below 1e-12.
		const limit = 50
		var leases []*Lease
		for range 200 {
			leases = append(leases, acquire(t, n, config(10)))
		}
		if most := n.mostInASecond(10 * time.Minute); most > limit {
			t.Errorf("%d of 200 leases, all acquired at once, were renewed in one second", most)
		}
		n.set(func() { n.down = true })
		time.Sleep(5 * time.Minute)
		n.set(func() { n.down = false })
		time.Sleep(20 * time.Second)
		if most := n.mostInASecond(10 * time.Minute); most > limit {
			t.Errorf("after an outage %d of 200 leases were renewed in one second", most)
		}
		closed(t, leases...)
	})
}

func (n *network) mostInASecond(d time.Duration) int {
	seconds := map[int64]int{}
	n.set(func() {
		n.watch = func(op string, _ ...Record) {
			if op == "set" {
				seconds[time.Now().Unix()]++
			}
		}
	})
	time.Sleep(d)
	n.set(func() { n.watch = nil })
	return slices.Max(slices.Collect(maps.Values(seconds)))
}

// A full realm says when a node ID will be free, and a waiting Acquire gets it.
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
			fails(t, "no node ID", err, "the next can be had from "+full.From.Format(timeFormat)+" on")
		}
		c.NodeBits, c.Wait = 1, true
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		_, err := Acquire(ctx, m, c)
		fails(t, "its context ended while it waited", err, ErrFull, context.DeadlineExceeded)
		n := &network{Store: m}
		ctx, cancel = context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		time.AfterFunc(time.Second, func() { n.set(func() { n.hang = true }) })
		_, err = Acquire(ctx, n, c)
		fails(t, "its context ended while it read", err, ErrFull, context.DeadlineExceeded)
		start := time.Now()
		l := acquire(t, m, c)
		if d := time.Since(start); d < 30*time.Second || d > 2*time.Minute {
			t.Errorf("Acquire waited for %v", d)
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
	fails(t, "a missing realm that must exist", acquireError(t, m, c), ErrNoRealm)
	if names, err := m.Realms(t.Context()); err != nil || len(names) != 0 {
		t.Errorf("the realms are %v, %v", names, err)
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
	c.Format = UID60()
	if _, err := Create(t.Context(), m, c); !errors.Is(err, ErrRealm) ||
		strings.Contains(err.Error(), "another realm") {
		t.Errorf("Create with another format: %v", err)
	}
}

// A fence uses the longest window and lead since the last fence.
func TestSetTerms(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := NewMemory()
		l := acquire(t, m, config(8))
		if _, err := SetTerms(t.Context(), m, "realm", TermsChange{Window: 10 * time.Minute}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Minute)
		if left := time.Until(l.Until()); left < 5*time.Minute {
			t.Errorf("the window is ten minutes, but %v are left", left)
		}
		short := config(8) // with a window of its own, so it needs no longer one
		short.Window = time.Minute
		other := acquire(t, m, short)
		for _, c := range []struct {
			change  TermsChange
			holders int
		}{
			{TermsChange{Window: 2 * time.Minute}, 1},
			{TermsChange{Window: 30 * time.Second}, 2},
			{TermsChange{Window: time.Hour, Lead: time.Second}, 2},
		} {
			var used *InUseError
			_, err := SetTerms(t.Context(), m, "realm", c.change)
			if !errors.As(err, &used) || !errors.Is(err, ErrInUse) || used.Holders != c.holders ||
				used.Until.Before(l.Until()) {
				t.Errorf("%+v: got %v, want %d holders", c.change, err, c.holders)
			}
		}
		abandon(other)
		terms, err := SetTerms(t.Context(), m, "realm",
			TermsChange{Window: 2 * time.Minute, Lead: 5 * time.Second, Force: true})
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
			_, err := SetTerms(t.Context(), m, "realm", TermsChange{Window: d})
			fails(t, "a wrong window", err, ErrConfig)
		}
		_, err = SetTerms(t.Context(), m, "none", TermsChange{Window: time.Minute})
		fails(t, "no realm", err, ErrNoRealm)
		abandon(l)
	})
}

// The number of calls hardly depends on the number of held node IDs.
func TestReadsPerStart(t *testing.T) {
	n := &network{Store: NewMemory()}
	cfg := check.Must(config(14).complete())(t)
	r := rand.New(rand.NewPCG(1, 1))
	start := func() {
		s := newSession(n, cfg)
		s.rand = r
		check.OK(t, errors.Join(s.enter(t.Context(), true), s.renew(t.Context(), window.None)))
	}
	count, goals := 0, []int{10, 100, 1000, 10_000}
	if testing.Short() {
		goals = goals[:3]
	}
	for _, goal := range goals {
		for ; count < goal; count++ {
			start()
		}
		const starts = 100
		clear(n.count)
		for range starts {
			start()
			count++
		}
		calls := float64(n.calls("get", "set", "list")) / starts
		records, lists := float64(n.calls("records"))/starts, n.calls("list")
		t.Logf("%d held: %.1f calls a start, %.0f records read, %d of %d list the realm", goal,
			calls, records, lists, starts)
		if lists > 0 || calls > 15 || records > 250 {
			t.Error("too many calls, records or lists")
		}
		// The node IDs are close together. 110 random node IDs would be in 105 groups of 16, and
		// 1100 in 674 groups.
		groups := map[uint32]bool{}
		for _, r := range held(t, n.Store) {
			groups[r.Block.NodeID>>4] = true
		}
		if fit := (count + 15) / 16; len(groups) > 3*fit {
			t.Errorf("%d node IDs are in %d groups of 16, but fit in %d", count, len(groups), fit)
		}
	}
}
