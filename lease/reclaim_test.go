package lease

import (
	"errors"
	"testing"
	"time"

	"github.com/sortid/sortid/internal/check"
)

func TestReclaim(t *testing.T) {
	at(t, forever, 3, func(t *testing.T, d *desk) {
		const second, lead = time.Second, 10 * time.Second
		reclaim := func(b Block, ahead time.Duration) error {
			return Reclaim(d.Context(), d.Store, "realm", b, ahead)
		}
		request := ask("holder")
		request.NodeID = 5
		g := d.acquire(d.a, request)
		var held *HeldError
		if err := reclaim(g.Block, 0); !errors.As(err, &held) || held.Holder != "holder" {
			t.Errorf("a held node ID: %v", err)
		}
		check.OK(t, reclaim(Block{4, 3}, 0)) // nobody ever had it
		fails(t, "ahead", reclaim(g.Block, -1), ErrConfig)
		fails(t, "ahead", reclaim(g.Block, 25*time.Hour), ErrConfig)

		time.Sleep(5 * second)
		released := time.Now()
		d.release(d.a, g, time.Time{})
		before := d.record(g)
		if before.HWM != g.EndTick || before.Released != released.UnixMilli() {
			t.Errorf("after the release: %+v", before)
		}
		time.Sleep(7 * second)
		fails(t, "too early", reclaim(g.Block, 7*second), ErrWaiting,
			"can be freed from "+released.Add(7*second+1e6).UTC().Format(timeFormat),
			"can be had from "+g.ValidUntil().Add(-lead).Format(timeFormat))
		time.Sleep(time.Millisecond)
		check.OK(t, reclaim(g.Block, 7*second))
		r := d.record(g)
		if want := released.Add(7*second+lead).UnixMilli() + 1; r.HWM != want || r.Peak != before.HWM {
			t.Errorf("reclaimed: %+v, want the hwm %d", r, want)
		}
		check.OK(t, reclaim(g.Block, 0)) // it does not wait any more
		if is := d.record(g); is != r {
			t.Errorf("reclaimed twice: %+v", is)
		}
		_, err := d.renew(d.a, g, "late")
		fails(t, "a late renewal", err, ErrLost)

		request.Request += "again"
		g = d.acquire(d.b, request)
		if g.FirstTick != r.HWM || d.record(g).Released != 0 {
			t.Errorf("the next lease begins at %d, want %d: %+v", g.FirstTick, r.HWM, d.record(g))
		}
		// A node ID that was evicted may still be in use.
		check.OK(t, d.a.Evict(d.Context(), "realm", g.ID))
		time.Sleep(30 * second)
		fails(t, "after an eviction", reclaim(g.Block, 0), ErrWaiting, "did not release it",
			"it can be had from "+g.ValidUntil().Add(-lead).Format(timeFormat))

		// A clone has renewed the lease.
		request.Request, request.NodeID = request.Request+"more", 6
		g = d.acquire(d.b, request)
		time.Sleep(40 * second)
		clone := d.mustRenew(d.a, g, "clone")
		d.release(d.a, g, time.Time{})
		time.Sleep(30 * second)
		fails(t, "released by a clone", reclaim(g.Block, 0), ErrWaiting)
		if r := d.record(g); r.HWM != clone.EndTick {
			t.Errorf("%+v", r)
		}

		// The last tick was said, so the ticks before it are used.
		request.Request, request.NodeID = request.Request+"most", 7
		g = d.acquire(d.b, request)
		d.release(d.a, g, g.ValidUntil().Add(-second))
		fails(t, "released with the last tick", reclaim(g.Block, 0), ErrWaiting)
	})
}

// Only a release that is silent about the last tick can be reclaimed, as long as nothing else
// happens to the block.
func TestReleasedIsForgotten(t *testing.T) {
	r := Record{State: Whole, HWM: 100, Released: 10, Key: Owner{1}}
	granted := check.Must(request{owner: Owner{2}, now: 100, window: 10, lead: 10}.grant(r))(t)
	divided := check.Must(split(r, 50))(t)
	retired := check.Must(retire(r, 50))(t)
	for name, next := range map[string]Record{"granted": granted, "split": divided,
		"retired": retired, "evicted": end(r)} {
		if next.Released != 0 || next.HWM < 100 {
			t.Errorf("%s: %+v", name, next)
		}
	}
	for name, change := range map[string]func(*Record){
		"held": func(r *Record) { r.Owner = Owner{1} }, "split": func(r *Record) { r.State = Split },
		"not released": func(r *Record) { r.Released = 0 },
	} {
		r := r
		change(&r)
		if _, err := reclaim(r, 0); err != errRefused {
			t.Errorf("%s: %v", name, err)
		}
	}
	r.From = 40
	for ahead, want := range map[int64]int64{0: 40, 29: 40, 30: 41, 1000: 100} {
		if next, err := reclaim(r, ahead); err != nil || next.HWM != want || next.Peak != 100 {
			t.Errorf("%d ahead: %+v, %v", ahead, next, err)
		}
	}
}
