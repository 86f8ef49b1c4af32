package lease

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sortid/sortid/internal/check"
)

// At least half of a window is always left, and the store makes few changes.
func TestKeepsAhead(t *testing.T) {
	leased(t, config(8), func(t *testing.T, n *network, l *Lease) {
		g := new(book).generator(t, l)
		first := g.must()
		if first != (Block{l.NodeID(), 8}) {
			t.Errorf("the lease has %d/%d, its grant has %v", l.NodeID(), l.NodeBits(), first)
		}
		before := n.calls("set")
		for range 3600 {
			time.Sleep(time.Second)
			synctest.Wait()
			if b := g.must(); b != first {
				t.Fatalf("the node ID went from %v to %v", first, b)
			}
			if left := time.Until(l.Until()); left < 29*time.Second ||
				left > time.Minute+256*time.Millisecond {
				t.Fatalf("%v of the window are left", left)
			}
			check.OK(t, l.Err())
		}
		// A window has 235 ticks. It is renewed after 89 to 118 ticks, the first time sooner.
		if sets := n.calls("set") - before; sets < 120 || sets > 161 {
			t.Errorf("%d changes in an hour, want one in 22.5 to 30 s", sets)
		}
	})
}

// While the store is down, generators continue to the window's end. When the store returns, they
// resume with the same node ID.
func TestStoreDown(t *testing.T) {
	for _, c := range []struct {
		name        string
		fault       func(n *network, is bool)
		err         error
		least, most int           // how often the lease tries in an hour
		back        time.Duration // how long the lease may need to find that the store is back
	}{
		{"down", func(n *network, is bool) { n.down = is }, errDown, 400, 2000, 8 * time.Second},
		{"hangs", func(n *network, is bool) { n.hang = is }, context.DeadlineExceeded, 200, 2000,
			20 * time.Second},
	} {
		leased(t, config(8), func(t *testing.T, n *network, l *Lease) {
			g := new(book).generator(t, l)
			time.Sleep(10 * time.Minute)
			first := g.must()
			n.set(func() { c.fault(n, true) })
			since := time.Now()
			b, _, err := g.next()
			for ; err == nil; b, _, err = g.next() {
				if b != first {
					t.Fatalf("node ID %v, want %v", b, first)
				}
				time.Sleep(time.Second)
			}
			fails(t, c.name, err, ErrExpired, c.err)
			if d := time.Since(since); d < 29*time.Second || d > 61*time.Second {
				t.Errorf("%s: generators continued for %v", c.name, d)
			}
			if l.Err() == nil || time.Until(l.Until()) > 0 {
				t.Errorf("%s: %v, %v", c.name, l.Err(), l.Until())
			}
			tries := n.calls("get", "set", "time")
			time.Sleep(time.Hour)
			tries = n.calls("get", "set", "time") - tries
			if tries < c.least || tries > c.most {
				t.Errorf("%s: the lease called the store %d times in an hour", c.name, tries)
			}

			waited := make(chan error)
			go func() { waited <- l.WaitTick(t.Context(), time.Now().UnixMilli()/256) }()
			synctest.Wait()
			n.set(func() { c.fault(n, false) })
			since = time.Now()
			check.OK(t, <-waited)
			if d := time.Since(since); d > c.back {
				t.Errorf("%s: with the store back, generators waited for %v more", c.name, d)
			}
			if b := g.must(); b != first || l.Err() != nil {
				t.Errorf("%s, and back: %v, %v, want node ID %v", c.name, b, l.Err(), first)
			}
		})
	}
}

// If another process gets the node ID, the lease gets a new node ID. Until then, generators have no
// ticks.
func TestLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := NewMemory()
		n := &network{Store: m}
		c := config(1) // two node IDs
		c.Format.Bits = 1
		c.Name = "A"
		book := new(book)
		l := acquire(t, n, c)
		g := book.generator(t, l)
		first := g.must()
		n.set(func() { n.down = true })
		time.Sleep(3 * time.Minute)

		c.Name = "B"
		b1, b2 := acquire(t, m, c), acquire(t, m, c)
		g1, g2 := book.generator(t, b1), book.generator(t, b2)
		g1.must()
		g2.must()
		n.set(func() { n.down = false })
		for range 100 {
			time.Sleep(time.Second)
			_, _, err := g.next()
			fails(t, "others hold both node IDs", err, ErrExpired)
			g1.must()
			g2.must()
		}
		fails(t, "the lease", l.Err(), ErrFull, "by B until")
		other := b1
		if b1.NodeID() == first.NodeID {
			other = b2
		}
		closed(t, other)
		time.Sleep(10 * time.Second)
		if b := g.must(); b == first || l.NodeID() != b.NodeID {
			t.Errorf("the lease has %d again, generators %v", l.NodeID(), b)
		}
		closed(t, l, b1, b2)
	})
}

func TestFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := NewMemory()
		c := config(3)
		var leases []*Lease
		for i := range 8 {
			c.Name = fmt.Sprint("host-", i)
			leases = append(leases, acquire(t, m, c))
		}
		for _, size := range []int{1, 3, 9} {
			err := acquireError(t, m, config(size))
			var full *FullError
			if errors.Is(err, ErrLead) || !errors.As(err, &full) || len(full.Held) != 8 {
				t.Fatalf("the full realm: %v", err)
			}
			fails(t, "the full realm", err, ErrFull, fmt.Sprintf("of %d bits", size), `"realm"`,
				fmt.Sprintf("all %d are held;", 1<<size), "by host-", "until 2000-01-01T00:01:",
				"and 3 more")
		}
		closed(t, leases[2])
		again := acquire(t, m, c)
		if again.NodeID() != leases[2].NodeID() {
			t.Errorf("got node ID %d, want %d, which was given back", again.NodeID(),
				leases[2].NodeID())
		}
		abandon(leases[5])
		start := time.Now()
		for {
			l, err := Acquire(t.Context(), m, c)
			if err == nil {
				if l.NodeID() != leases[5].NodeID() {
					t.Errorf("got node ID %d, want %d, which was abandoned", l.NodeID(),
						leases[5].NodeID())
				}
				closed(t, l)
				break
			}
			time.Sleep(time.Second)
		}
		if d := time.Since(start); d < time.Minute || d > 2*time.Minute {
			t.Errorf("the abandoned node ID was free after %v", d)
		}
		closed(t, again)
		closed(t, leases...)
	})
}

func TestSizes(t *testing.T) {
	m := NewMemory()
	c := config(4)
	c.Format.Bits = 6
	sized := func(size, count int) (leases []*Lease) {
		t.Helper()
		c.NodeBits = size
		for range count {
			leases = append(leases, acquire(t, m, c))
		}
		return leases
	}
	disjoint := func(leases ...*Lease) {
		t.Helper()
		for i, a := range leases {
			for _, b := range leases[:i] {
				x, y := Block{a.NodeID(), uint8(a.NodeBits())}, Block{b.NodeID(),
					uint8(b.NodeBits())}
				if x.Contains(y) || y.Contains(x) {
					t.Errorf("%v and %v", x, y)
				}
			}
		}
	}
	full := func(size int) {
		t.Helper()
		c.NodeBits = size
		fails(t, fmt.Sprint("a node ID with bits: ", size), acquireError(t, m, c), ErrFull)
	}
	for range 3 {
		small := sized(6, 64)
		disjoint(small...)
		full(1)
		full(6)
		closed(t, small[1:]...)
		large := sized(1, 1)
		full(1)
		middle := append(sized(2, 1), sized(3, 1)...)
		full(3)
		disjoint(append(append(middle, large...), small[0])...)
		closed(t, small[0])
		closed(t, large...)
		closed(t, middle...)
		both := sized(1, 2)
		disjoint(both...)
		closed(t, both...)
	}
	leases := append(sized(6, 8), sized(2, 3)...)
	closed(t, leases...)
}

// An evicted lease gets another node ID, and its generators do not stop.
func TestEvict(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := NewMemory()
		book := new(book)
		a := acquire(t, m, config(4))
		g := book.generator(t, a)
		first := g.must()
		hi := a.window.Grant().Hi
		if ok, err := Evict(t.Context(), m, "realm", first, Owner{1}); ok || err != nil {
			t.Errorf("Evict of another owner: %v, %v", ok, err)
		}
		holders := held(t, m)
		if len(holders) != 1 || holders[0].Block != first {
			t.Fatalf("a block was evicted: %+v", holders)
		}
		if ok, err := Evict(t.Context(), m, "realm", first, holders[0].Owner); !ok || err != nil {
			t.Fatalf("Evict: %v, %v", ok, err)
		}
		if r, err := m.Get(t.Context(), holders[0].Realm, first); err != nil || r.HWM != hi {
			t.Errorf("granted up to tick %d, then evicted: %+v, %v", hi, r, err)
		}
		if ok, err := Evict(t.Context(), m, "realm", first, Owner{}); ok || err != nil {
			t.Errorf("Evict again: %v, %v", ok, err)
		}
		var others []*Lease
		for range 10 {
			l := acquire(t, m, config(4))
			others = append(others, l)
			book.generator(t, l).next()
		}
		if a.NodeID() != first.NodeID {
			t.Error("the node ID has changed too soon")
		}
		for range 60 {
			time.Sleep(time.Second)
			g.must()
		}
		if a.NodeID() == first.NodeID {
			t.Error("the lease still has the evicted node ID")
		}
		_, err := Evict(t.Context(), m, "other", first, Owner{})
		fails(t, "Evict from no realm", err, ErrNoRealm)
		closed(t, a)
		closed(t, others...)
	})
}

// The answer to a grant is lost. The process asks again, and finds the grant.
func TestRetried(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := NewMemory()
		for _, lost := range []string{"the grant", "the read after the grant",
			"every other answer"} {
			n := &network{Store: m}
			times, granted := 0, false
			n.deaf = func(op string, args ...Record) bool {
				grant := op == "set" && args[1].Owner != Owner{}
				defer func() { granted = granted || grant }()
				switch lost {
				case "the grant":
					times++
					return grant && !granted
				case "the read after the grant":
					times++
					return op == "get" && granted && times < 3
				}
				times++
				return times%2 == 0 && times < 8
			}
			l := acquire(t, n, config(8))
			if got := len(held(t, m)); got != 1 {
				t.Errorf("lost was %s: %d node IDs are held", lost, got)
			}
			g := new(book).generator(t, l)
			first := g.must()
			for i := range 600 {
				if i%60 == 0 {
					n.set(func() { times, granted = i%120/60, false })
				}
				time.Sleep(time.Second)
				if b := g.must(); b != first {
					t.Fatalf("lost was %s: from %v to %v", lost, first, b)
				}
			}
			if got := len(held(t, m)); got != 1 {
				t.Errorf("lost was %s: %d node IDs are held", lost, got)
			}
			closed(t, l)
			if got := len(held(t, m)); got != 0 {
				t.Errorf("lost was %s: after Close %d node IDs are held", lost, got)
			}
		}
	})
}

// Close gives the unused ticks back.
func TestClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := NewMemory()
		n := &network{Store: m}
		c := config(1)
		c.Format.Bits = 1
		other := acquire(t, m, c)
		defer closed(t, other)
		book := new(book)
		l := acquire(t, n, c)
		g := book.generator(t, l)
		time.Sleep(time.Second)
		b := g.must()
		record := func() Record {
			root, _, _ := Records(t.Context(), m, "realm")
			r, _ := m.Get(t.Context(), "realm@"+root.Generation, b)
			return r
		}

		n.set(func() { n.hang = true })
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		fails(t, "the store hangs: Close", l.Close(ctx), context.DeadlineExceeded)
		fails(t, "closed", claim(l, 0), ErrClosed)
		// While one Close hangs, a second Close waits until the context of the second Close ends.
		patient, cancel := context.WithTimeout(t.Context(), time.Hour)
		hung := make(chan error, 1)
		go func() { hung <- l.Close(patient) }()
		synctest.Wait()
		start := time.Now()
		ctx, stop := context.WithTimeout(t.Context(), time.Second)
		defer stop()
		fails(t, "while another Close hangs", l.Close(ctx), context.DeadlineExceeded)
		if d := time.Since(start); d != time.Second {
			t.Errorf("while another Close hangs: %v", d)
		}
		cancel()
		fails(t, "the Close that hung", <-hung, context.Canceled)
		if record().Owner == (Owner{}) {
			t.Error("released without the store")
		}
		n.set(func() { n.hang = false })
		closed(t, l)
		closed(t, l)
		if r := record(); r.Owner != (Owner{}) || r.HWM != g.last+1 || r.Name != "" ||
			r.Deadline != 0 {
			t.Errorf("after tick %d the record is %+v", g.last, r)
		}
		time.Sleep(time.Second)
		l = acquire(t, n, c)
		if g := l.window.Grant(); g.Lo != time.Now().UnixMilli()/256 {
			t.Errorf("the next window begins at %d, the time is %d", g.Lo,
				time.Now().UnixMilli()/256)
		}
		lo := l.window.Grant().Lo
		closed(t, l)
		if r := record(); r.HWM != lo {
			t.Errorf("no tick was used from %d on, and the record is %+v", lo, r)
		}
	})
}

// Close returns when its context ends, even if the store ignores contexts and a renewal hangs.
func TestCloseWaitsForRenewal(t *testing.T) {
	leased(t, config(8), func(t *testing.T, n *network, l *Lease) {
		stuck := make(chan struct{})
		n.set(func() { n.before = func(string, Record) error { <-stuck; return nil } })
		time.Sleep(40 * time.Second)
		n.set(func() { n.before = nil })
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		before := n.calls("get", "set")
		fails(t, "Close", l.Close(ctx), context.DeadlineExceeded, "renewal")
		if after := n.calls("get", "set"); after != before {
			t.Errorf("Close has called the store %d times", after-before)
		}
		close(stuck)
	})
}

// A program that was told to stop closes its leases with a context that has ended. Close gives the
// node ID back within a bound of its own.
func TestCloseAfterTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		n := &network{Store: NewMemory()}
		l := acquire(t, n, config(8))
		check.OK(t, l.Close(ended))
		if rs := held(t, n.Store); len(rs) > 0 {
			t.Errorf("still held after Close: %+v", rs)
		}
		check.OK(t, l.Close(ended)) // again

		l = acquire(t, n, config(8))
		n.set(func() { n.hang = true })
		start := time.Now()
		err := l.Close(ended)
		fails(t, "the store hangs", err, context.DeadlineExceeded)
		if d := time.Since(start); d != closeTime || strings.Contains(err.Error(), "renewal") {
			t.Errorf("after %v: %v; want an error after %v that names no renewal", d, err, closeTime)
		}
		n.set(func() { n.hang = false })
		check.OK(t, l.Close(ended))
		if rs := held(t, n.Store); len(rs) > 0 {
			t.Errorf("still held after the second Close: %+v", rs)
		}
	})
}

func TestRenewalFollowsTicks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := config(8)
		c.Window, c.MaxLead = 20*time.Second, 12*time.Second
		l := acquire(t, NewMemory(), c)
		until := l.Until()
		synctest.Wait() // a renewal that is due at once must not run together with the claims
		// More than half of the window is used, so a renewal is due.
		check.OK(t, claim(l, 11*time.Second))
		synctest.Wait()
		if more := l.Until().Sub(until); more < 10*time.Second {
			t.Errorf("a tick 11 s ahead was used, but the window has grown by %v", more)
		}
		claim(l, 29*time.Second)
		time.Sleep(2 * time.Second)
		synctest.Wait()
		fails(t, "ticks used 29 s ahead", l.Err(), ErrLead)
		closed(t, l)
	})
}

type resting struct {
	Store
	n atomic.Int64
}

func (s *resting) CloseIdleConnections() { s.n.Add(1) }

// After a renewal, the lease calls CloseIdleConnections, unless the next renewal is near.
func TestCloseIdleConnections(t *testing.T) {
	for _, tc := range []struct {
		window time.Duration
		rests  bool
	}{{10 * time.Second, true}, {2 * time.Second, false}} {
		synctest.Test(t, func(t *testing.T) {
			s := &resting{Store: NewMemory()}
			l, err := Acquire(t.Context(), s, Config{Realm: "r", Format: SCRU64(), NodeBits: 8,
				Window: tc.window, Now: time.Now})
			check.OK(t, err)
			defer l.Close(t.Context())
			// The first renewal may come at once.
			if n := s.n.Load(); (n >= 1) != tc.rests {
				t.Errorf("window %v: %d calls during Acquire", tc.window, n)
			}
			time.Sleep(6 * tc.window)
			if n := s.n.Load(); (n >= 6) != tc.rests {
				t.Errorf("window %v: %d calls in six windows", tc.window, n)
			}
		})
	}
}
