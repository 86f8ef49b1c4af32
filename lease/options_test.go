package lease

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sortid/sortid/internal/check"
)

// A source acquires a lease from a store, directly or through a lessor.
type source func(context.Context, Config) (*Lease, error)

// sources calls a test with both sources of a new store.
func sources(t *testing.T, test func(t *testing.T, n *network, acquire source)) {
	for _, direct := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			n := &network{Store: NewMemory()}
			lessor := NewLessor(n, LessorOptions{})
			test(t, n, func(ctx context.Context, c Config) (*Lease, error) {
				if direct {
					return Acquire(ctx, n, c)
				}
				return AcquireFrom(ctx, lessor, c)
			})
		})
	}
}

func workers(bits int) Config { return Config{Realm: "workers", NodeBits: bits} }

// The zero Format is for any generator.
func TestAnyGenerator(t *testing.T) {
	sources(t, func(t *testing.T, n *network, acquire source) {
		made, err := Create(t.Context(), n, workers(10))
		if err != nil || !made {
			t.Fatalf("Create: %v, %v", made, err)
		}
		l := check.Must(acquire(t.Context(), workers(10)))(t)
		defer closed(t, l)
		if l.TickLength() != time.Millisecond || l.Epoch().UnixMilli() != 0 || l.NodeBits() != 10 {
			t.Errorf("ticks of %v since %v, %d bits", l.TickLength(), l.Epoch(), l.NodeBits())
		}
		if _, tick, err := l.ClaimTick(time.Now().UnixMilli()); err != nil ||
			tick != time.Now().UnixMilli() {
			t.Errorf("tick %d, %v", tick, err)
		}
		_, err = acquire(t.Context(), workers(8))
		fails(t, "another size", err, ErrRealm,
			`realm "workers" grants node IDs of 10 bits, not 8`)
		for _, bits := range []int{0, 25, -1} {
			_, err := acquire(t.Context(), workers(bits))
			fails(t, "a wrong size", err, ErrConfig, "bits")
			_, err = Create(t.Context(), n, workers(bits))
			fails(t, "a realm of a wrong size", err, ErrConfig, "bits")
		}
		root := check.Must(Realm(t.Context(), n, "workers"))(t)
		same := workers(10)
		same.Format = root.Terms.LeaseFormat()
		again, err := acquire(t.Context(), same)
		check.OK(t, err)
		closed(t, again)
		_, err = Fence(t.Context(), n, workers(10), time.Minute)
		check.OK(t, err)
		lost := workers(10)
		lost.Realm = "lost"
		_, err = Fence(t.Context(), n, lost, time.Minute)
		check.OK(t, err)
		if root, err := Realm(t.Context(), n, "lost"); err != nil || root.Terms.Only != 10 {
			t.Errorf("the lost realm: %+v, %v", root.Terms, err)
		}
	})
}

// A lease of one node ID gets this node ID or none.
func TestNodeID(t *testing.T) {
	sources(t, func(t *testing.T, n *network, acquire source) {
		_, err := Create(t.Context(), n, workers(3))
		check.OK(t, err)
		c := workers(3)
		for _, id := range []uint32{0, 5} {
			c.NodeID, c.Name = &id, "first"
			l, err := acquire(t.Context(), c)
			if err != nil || l.NodeID() != id {
				t.Fatalf("node ID %d: %v", id, err)
			}
			defer closed(t, l)
		}
		tooLarge := uint32(8)
		c.NodeID = &tooLarge
		_, err = acquire(t.Context(), c)
		fails(t, "too large", err, ErrConfig, "node ID 8 needs more than 3 bits")

		five := uint32(5)
		c.NodeID, c.Name = &five, "second"
		_, err = acquire(t.Context(), c)
		var held *HeldError
		if !errors.As(err, &held) || held.Holder != "first" || held.Block != (Block{5, 3}) ||
			held.State != Held || held.Until.IsZero() || !held.FreeFrom.After(held.Until) {
			t.Fatalf("a held node ID: %v, %+v", err, held)
		}
		fails(t, "a held node ID", err, ErrFull, `node ID 5/3 of realm "workers" is held by "first"`)
	})
}

// Config.Wait waits until the node ID is free.
func TestNodeIDWait(t *testing.T) {
	sources(t, func(t *testing.T, n *network, acquire source) {
		_, err := Create(t.Context(), n, workers(3))
		check.OK(t, err)
		five := uint32(5)
		c := workers(3)
		c.NodeID = &five
		l := check.Must(acquire(t.Context(), c))(t)
		time.AfterFunc(7*time.Minute, func() { closed(t, l) })
		began := time.Now()
		c.Wait = true
		again, err := acquire(t.Context(), c)
		if err != nil || again.NodeID() != 5 || time.Since(began) < 7*time.Minute {
			t.Fatalf("after %v: %v", time.Since(began), err)
		}
		closed(t, again)
	})
}

// After a lease has lost its node ID, it waits for this node ID, and takes no other.
func TestNodeIDLost(t *testing.T) {
	sources(t, func(t *testing.T, n *network, acquire source) {
		_, err := Create(t.Context(), n, workers(3))
		check.OK(t, err)
		five := uint32(5)
		c := workers(3)
		c.NodeID = &five
		l := check.Must(acquire(t.Context(), c))(t)
		defer closed(t, l)
		other := newSession(n.Store, func() Config { c, _ := c.complete(); return c }())
		if ok, err := Evict(t.Context(), n.Store, "workers", Block{5, 3}, Owner{}); !ok || err != nil {
			t.Fatal(ok, err)
		}
		// The node ID waits for the end of the evicted lease, and another process is the first to
		// get it.
		for other.held.Revision == 0 {
			time.Sleep(10 * time.Millisecond)
			if err := other.keep(t.Context(), 0); err != nil && !errors.Is(err, ErrFull) &&
				!errors.Is(err, ErrLead) {
				t.Fatal(err)
			}
		}
		for range 300 {
			time.Sleep(time.Second)
			if l.NodeID() != 5 {
				t.Fatalf("the lease has moved to node ID %d", l.NodeID())
			}
			check.OK(t, other.keep(t.Context(), 0))
		}
		if err := l.Err(); !errors.Is(err, ErrFull) {
			t.Errorf("while another process has the node ID: %v", err)
		}
		check.OK(t, other.release(t.Context(), 0))
		time.Sleep(2 * time.Minute)
		if _, _, err := l.ClaimTick(time.Now().UnixMilli()); err != nil || l.NodeID() != 5 {
			t.Errorf("node ID %d, %v", l.NodeID(), err)
		}
	})
}

// With Renew, the least that is left is the window minus Renew.
func TestRenewEvery(t *testing.T) {
	for _, every := range []time.Duration{50 * time.Millisecond, 2 * time.Second, 10 * time.Second,
		time.Minute, time.Hour} {
		sources(t, func(t *testing.T, n *network, acquire source) {
			c := workers(3)
			c.Window = 100 * time.Second
			_, err := Create(t.Context(), n, c)
			check.OK(t, err)
			c.Renew = every
			l := check.Must(acquire(t.Context(), c))(t)
			defer closed(t, l)
			want := min(every, 50*time.Second)
			before, began := n.calls("set"), time.Now()
			least := 100 * time.Second
			span := 20 * want
			for time.Since(began) < span {
				time.Sleep(min(want/10, 97*time.Millisecond))
				least = min(least, time.Until(l.Until()))
			}
			if least < 100*time.Second-want-100*time.Millisecond {
				t.Errorf("renewed every %v: only %v of 100 s were left", every, least)
			}
			renewals := n.calls("set") - before
			if renewals < 20 || renewals > 32 {
				t.Errorf("renewed every %v: %d renewals in %v", every, renewals, span)
			}
		})
	}
	c := workers(3)
	c.Renew = -1
	fails(t, "negative", c.Validate(), ErrConfig, "renewal")
}

// With these two values, "sortid lease exec" lets programs survive a store that is away for 120 s:
// at least 20 s of the window are always left.
func TestOutage(t *testing.T) {
	const window, renew = 165 * time.Second, 165 * time.Second / 16
	for _, hang := range []bool{true, false} {
		sources(t, func(t *testing.T, n *network, acquire source) {
			c := workers(3)
			c.Window = window
			_, err := Create(t.Context(), n, c)
			check.OK(t, err)
			c.Renew = renew
			l := check.Must(acquire(t.Context(), c))(t)
			defer closed(t, l)
			least := window
			watch := func(d time.Duration) {
				for end := time.Now().Add(d); time.Now().Before(end); {
					time.Sleep(50 * time.Millisecond)
					least = min(least, time.Until(l.Until()))
				}
			}
			for i := range 40 {
				watch(renew + time.Duration(i)*renew/40)
				// The worst moment is just before a renewal.
				for until := l.Until(); l.Until().Equal(until) && time.Until(until) > window-renew+
					time.Second/2; {
					watch(50 * time.Millisecond)
				}
				n.set(func() { n.hang, n.down = hang, !hang })
				watch(120 * time.Second)
				n.set(func() { n.hang, n.down = false, false })
				watch(20 * time.Second)
			}
			if least < 20*time.Second {
				t.Errorf("hang %v: only %v of the window were left", hang, least)
			}
		})
	}
}
