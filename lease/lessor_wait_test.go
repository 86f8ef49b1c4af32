package lease

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"
)

func TestWaitForANodeID(t *testing.T) {
	at(t, forever, 1, func(t *testing.T, d *desk) {
		a, b := d.acquire(d.a, ask("a")), d.acquire(d.a, ask("b"))
		r := ask("c")
		r.Wait = 5 * time.Second
		began := time.Now()
		_, err := d.a.Acquire(d.Context(), "realm", r)
		fails(t, "no node ID", err, ErrFull)
		if took := time.Since(began); took != r.Wait {
			t.Errorf("waited for %v, want %v", took, r.Wait)
		}
		r.Wait = 20 * time.Second
		for _, l := range []*StoreLessor{d.a, d.b} { // the server that waits, and another one
			began, release := time.Now(), a
			time.AfterFunc(3*time.Second, func() { d.release(l, release, began) })
			a = d.acquire(d.a, r)
			if took := time.Since(began); took < 3*time.Second || took > 4500*time.Millisecond {
				t.Errorf("waited for %v, want 3 s or somewhat more", took)
			}
			r = ask("c " + r.Request)
			r.Wait = 20 * time.Second
		}
		d.network.down = true
		began = time.Now()
		_, err = d.b.Acquire(d.Context(), "realm", r)
		if !errors.Is(err, errDown) || time.Since(began) > time.Second {
			t.Errorf("without a store: %v after %v", err, time.Since(began))
		}
		d.network.down = false
		ctx, cancel := context.WithTimeout(d.Context(), time.Second)
		defer cancel()
		if _, err = d.b.Acquire(ctx, "realm", r); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("after the client has hung up: %v", err)
		}
		d.release(d.a, b, time.Now())
		time.Sleep(time.Minute)
		for _, h := range held(t, d.Store) {
			if h.Name == r.Holder {
				t.Errorf("granted after the client has hung up: %+v", h)
			}
		}
		for _, l := range []*StoreLessor{d.a, d.b} {
			if n := len(l.realm("realm").queues); n != 0 {
				t.Errorf("%d queues remain", n)
			}
		}
	})
}

// As node IDs come free, as many of those who wait get one, and the others go on waiting.
func TestManyWait(t *testing.T) {
	at(t, forever, 4, func(t *testing.T, d *desk) {
		var first []Grant
		for i := range 16 {
			first = append(first, d.acquire(d.a, ask(fmt.Sprint("first ", i))))
		}
		var mu sync.Mutex
		var got []Block
		var wg sync.WaitGroup
		for i := range 30 {
			wg.Go(func() {
				time.Sleep(time.Duration(i) * time.Millisecond)
				r := ask(fmt.Sprint("second ", i))
				r.Wait = 25 * time.Second
				g, err := []*StoreLessor{d.a, d.b}[i%2].Acquire(d.Context(), "realm", r)
				mu.Lock()
				defer mu.Unlock()
				switch {
				case err == nil:
					got = append(got, g.Block)
				case !errors.Is(err, ErrFull):
					t.Error(err)
				}
			})
		}
		time.Sleep(5 * time.Second)
		before := d.calls("list")
		time.Sleep(5 * time.Second)
		if lists := d.calls("list") - before; lists > 24 {
			t.Errorf("30 clients who wait make %d lists in 5 s", lists)
		}
		for _, g := range first[:10] {
			d.release(d.a, g, time.Now().Add(-time.Second))
		}
		wg.Wait()
		slices.SortFunc(got, compareOrder)
		if len(got) != 10 || len(slices.Compact(got)) != 10 {
			t.Errorf("%d clients got %v, want 10 node IDs", len(got), got)
		}
	})
}
