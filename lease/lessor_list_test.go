package lease

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"
)

// exactly asks for one node ID.
func exactly(name string, b Block) AcquireRequest {
	r := ask(name)
	r.NodeBits, r.NodeID = int(b.Size), int64(b.NodeID)
	return r
}

// A request for a node ID that is held, or that waits, must not read the realm's other records.
func TestHeldNodeIDIsNotListed(t *testing.T) {
	at(t, forever, 10, func(t *testing.T, d *desk) {
		waits := d.acquire(d.a, exactly("waits", Block{1000, 10})) // before another client has it
		var last Grant
		for i := range 300 {
			last = d.acquire(d.a, ask(fmt.Sprint("client ", i)))
		}
		d.release(d.a, waits, time.Time{})
		d.set(func() { d.count = nil })
		for _, b := range []Block{last.Block, {1000, 10}} {
			_, err := d.b.Acquire(d.Context(), "realm", exactly("late", b))
			if held := (*HeldError)(nil); !errors.As(err, &held) || held.Block != b {
				t.Errorf("%v: got %v", b, err)
			}
		}
		if lists, records := d.calls("list"), d.calls("records"); lists != 0 || records > 2*40 {
			t.Errorf("%d lists, %d records", lists, records)
		}
	})
}

// Requests that find a realm full share lists. A node ID that the same server frees can be had at
// once.
func TestFullRealmIsListedSeldom(t *testing.T) {
	at(t, forever, 4, func(t *testing.T, d *desk) {
		var last Grant
		for i := range 16 {
			last = d.acquire(d.a, ask(fmt.Sprint("client ", i)))
		}
		d.set(func() {
			d.count, d.delay = nil, func() time.Duration { return 100 * time.Millisecond }
		})
		const clients = 64
		var wg sync.WaitGroup
		for i := range clients {
			wg.Go(func() {
				for try := range 3 {
					_, err := d.a.Acquire(d.Context(), "realm", ask(fmt.Sprint("late ", try, i)))
					fails(t, "full", err, ErrFull)
				}
			})
		}
		wg.Wait()
		if n := d.calls("list"); n > 12 {
			t.Errorf("%d lists for %d requests", n, 3*clients)
		}
		_, err := d.a.Acquire(d.Context(), "realm", ask("just before"))
		fails(t, "full", err, ErrFull)
		time.Sleep(time.Second)
		d.release(d.a, last, time.Now().Add(-time.Second))
		if g := d.acquire(d.a, ask("just after")); g.Block != last.Block {
			t.Errorf("got %v, want %v", g.Block, last.Block)
		}
	})
}
