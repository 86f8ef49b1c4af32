package lease

import (
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/sortid/sortid/internal/check"
)

func TestEndedLeaseIsLost(t *testing.T) {
	at(t, forever, 4, func(t *testing.T, d *desk) {
		last := time.Now().Add(time.Second)
		for name, end := range map[string]func(g Grant){
			"released": func(g Grant) { d.release(d.b, g, last) },
			"evicted": func(g Grant) {
				if err := d.b.Evict(d.Context(), "realm", g.ID); err != nil {
					t.Error(err)
				}
				fails(t, "evict again", d.a.Evict(d.Context(), "realm", g.ID), ErrNotFound)
			},
			"taken": func(g Grant) {
				time.Sleep(2 * time.Minute)
				other := ask("other of taken")
				other.NodeID = int64(g.Block.NodeID)
				d.acquire(d.b, other)
			},
		} {
			g := d.acquire(d.a, ask(name))
			end(g)
			_, err := d.renew(d.a, g, "renewal")
			fails(t, name+", renewed", err, ErrLost)
			_, err = d.b.Acquire(d.Context(), "realm", ask(name))
			fails(t, name+", requested again", err, ErrLost)
			d.release(d.a, g, last) // does nothing
			if name == "taken" {
				if r := d.record(g); r.Name != "other of taken" {
					t.Errorf("the record is %+v", r)
				}
			}
		}
	})
}

func TestFencedLeaseIsLost(t *testing.T) {
	at(t, forever, 4, func(t *testing.T, d *desk) {
		g := d.acquire(d.a, ask("a"))
		_, err := Fence(d.Context(), d.Store, Config{Realm: "realm"}, 0)
		check.OK(t, err)
		far := g
		far.EndTick = math.MaxInt64
		for _, g := range []Grant{far, g} { // at first, one of the servers remembers the old realm
			for _, l := range []*StoreLessor{d.a, d.b} {
				_, err = d.renew(l, g, "renewal")
				fails(t, "renewed", err, ErrLost)
			}
		}
		d.release(d.a, g, time.Now())
		fails(t, "evicted", d.a.Evict(d.Context(), "realm", g.ID), ErrNotFound)
		time.Sleep(2 * time.Minute)
		if again := d.acquire(d.b, ask("a")); again.ID == g.ID || again.Secret == g.Secret ||
			again.FirstTick < g.EndTick {
			t.Errorf("got %+v after %+v", again, g)
		}
	})
}

// A store that was restored from an old copy knows less than its clients.
func TestForgottenLeaseIsNotLost(t *testing.T) {
	at(t, forever, 4, func(t *testing.T, d *desk) {
		empty := d.acquire(d.a, ask("granted later"))
		old := d.acquire(d.a, ask("renewed later"))
		short := d.record(old)
		renewed := old
		for i := range 3 {
			time.Sleep(30 * time.Second)
			renewed = d.mustRenew(d.a, renewed, fmt.Sprint("renewal ", i))
		}
		forget := func(r Record) {
			d.Store.(*Memory).realms[r.Realm][r.Block] = r
		}
		forget(Record{Realm: d.record(empty).Realm, Block: empty.Block})
		forget(short)
		for _, l := range []*StoreLessor{d.a, d.b} {
			for _, g := range []Grant{empty, renewed} {
				_, err := d.renew(l, g, "renewal")
				fails(t, "a lease that the store forgot", err, ErrForgotten)
			}
			liar := renewed
			liar.EndTick += 1 << 40
			_, err := d.renew(l, liar, "renewal")
			var wrong *RequestError
			if !errors.As(err, &wrong) || wrong.Field != "end_tick" {
				t.Errorf("a tick that cannot have been granted: %v", err)
			}
		}
		d.Store = NewMemory()
		_, err := d.renew(NewLessor(d.network, LessorOptions{}), renewed, "renewal")
		fails(t, "a realm that the store forgot", err, ErrForgotten)
	})
}

// After a lease has ended, the next one can be shorter, and end earlier. The first holder's late
// renewal does not mean that the store has forgotten anything.
func TestLostAndTakenWithAShorterWindow(t *testing.T) {
	at(t, forever, 4, func(t *testing.T, d *desk) {
		g := d.acquire(d.a, ask("a"))
		d.release(d.a, g, time.Now())
		r := ask("b")
		r.NodeID, r.Window = int64(g.Block.NodeID), time.Second
		if next := d.acquire(d.b, r); next.EndTick >= g.EndTick {
			t.Fatalf("the next lease ends at %d, not before %d", next.EndTick, g.EndTick)
		}
		_, err := d.renew(d.a, g, "renewal")
		fails(t, "a late renewal", err, ErrLost)
	})
}

func TestRenewKeepsTheLease(t *testing.T) {
	at(t, forever, 8, func(t *testing.T, d *desk) {
		r := ask("a")
		r.Window = 20*time.Second + time.Millisecond // an odd number of ticks
		first := d.acquire(d.a, r)
		g := first
		for i := range 20 {
			time.Sleep(10 * time.Second)
			next := d.mustRenew([]*StoreLessor{d.a, d.b}[i%2], g, fmt.Sprint("renewal ", i))
			if next.ID != first.ID || next.Secret != first.Secret ||
				next.FirstTick != first.FirstTick || next.EndTick <= g.EndTick ||
				next.ValidFor != r.Window {
				t.Fatalf("renewal %d: got %+v after %+v", i, next, g)
			}
			if r := d.record(g); r.Deadline-r.HWM != 10_000 || r.Window != 20_001 {
				t.Fatalf("the record is %+v", r)
			}
			if again := d.mustRenew(d.b, g, fmt.Sprint("renewal ", i)); again.EndTick !=
				next.EndTick {
				t.Errorf("renewal %d, repeated: the end went from %d to %d", i, next.EndTick,
					again.EndTick)
			}
			g = next
		}
		_, err := SetTerms(d.Context(), d.Store, "realm",
			TermsChange{Window: 5 * time.Second, Force: true})
		check.OK(t, err)
		d.mustRenew(d.a, g, "with the old window")
		time.Sleep(21 * time.Second)
		if g = d.acquire(d.a, r); g.ValidFor != 0 {
			t.Errorf("a lease that is over is valid for %v", g.ValidFor)
		}
		if g = d.mustRenew(d.a, g, "with the new window"); g.ValidFor != 5*time.Second {
			t.Errorf("in a realm with a shorter window, the lease is valid for %v", g.ValidFor)
		}
	})
}

// A renewal is sent twice, and its first copy comes late. It must not spoil the next renewal.
func TestLateCopyOfARenewalDoesNothing(t *testing.T) {
	at(t, forever, 8, func(t *testing.T, d *desk) {
		g := d.acquire(d.a, ask("a"))
		same := d.mustRenew(d.a, g, "at once") // there is nothing to extend
		if same.EndTick != g.EndTick {
			t.Fatalf("the end went from %d to %d", g.EndTick, same.EndTick)
		}
		time.Sleep(time.Second)
		if late := d.mustRenew(d.b, g, "at once"); late.EndTick != g.EndTick {
			t.Errorf("a late copy moved the end from %d to %d", g.EndTick, late.EndTick)
		}
		next := d.mustRenew(d.a, same, "next")
		time.Sleep(time.Second)
		if _, err := d.renew(d.b, g, "at once"); !errors.Is(err, ErrLost) {
			t.Errorf("a very late copy: %v", err)
		}
		d.mustRenew(d.a, next, "after the late copy")
	})
}

func TestOneOfTwoClonesLosesTheLease(t *testing.T) {
	at(t, forever, 8, func(t *testing.T, d *desk) {
		g := d.acquire(d.a, ask("a"))
		time.Sleep(30 * time.Second)
		first := d.mustRenew(d.a, g, "of the first clone")
		_, err := d.renew(d.b, g, "of the second clone")
		fails(t, "the second clone", err, ErrLost)
		// A release by the second clone must not give back ticks of the first.
		d.release(d.b, g, time.Now())
		if r := d.record(g); r.HWM != first.EndTick {
			t.Errorf("hwm is %d, want %d", r.HWM, first.EndTick)
		}
	})
}

func TestLostAnswerToARenewal(t *testing.T) {
	at(t, forever, 8, func(t *testing.T, d *desk) {
		g := d.acquire(d.a, ask("a"))
		time.Sleep(30 * time.Second)
		d.lossy(1)
		if _, err := d.renew(d.a, g, "renewal"); !errors.Is(err, errDown) {
			t.Fatalf("the answer was lost, but Renew returned %v", err)
		}
		for _, l := range []*StoreLessor{d.b, d.a} {
			if next := d.mustRenew(l, g, "renewal"); next.EndTick != d.record(g).HWM ||
				next.EndTick <= g.EndTick {
				t.Errorf("the end is %d, was %d, and is %d in the store", next.EndTick, g.EndTick,
					d.record(g).HWM)
			}
		}
	})
}

func TestRenewalAfterTheEnd(t *testing.T) {
	at(t, forever, 8, func(t *testing.T, d *desk) {
		g := d.acquire(d.a, ask("a"))
		time.Sleep(10 * time.Minute)
		next := d.mustRenew(d.b, g, "late")
		if next.ID != g.ID || next.ValidFrom().Before(time.Now()) || next.StartsIn != 0 {
			t.Errorf("got %+v after %+v", next, g)
		}
	})
}

func TestReleaseFreesTheNodeID(t *testing.T) {
	for name, c := range map[string]struct {
		last time.Duration // after the grant
		want time.Duration // when the node ID is free, after the release
	}{
		"used in the future": {25 * time.Second, 15*time.Second + time.Millisecond},
		"used in the past":   {5 * time.Second, 0},
		"not used":           {-time.Hour, 0},
		"a lie":              {time.Hour, 50 * time.Second},
		"unknown":            {0, 50 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			at(t, forever, 8, func(t *testing.T, d *desk) {
				g, last := d.acquire(d.a, ask("a")), time.Time{}
				if c.last != 0 {
					last = time.Now().Add(c.last)
				}
				time.Sleep(10 * time.Second)
				now := time.Now()
				d.release(d.b, g, last)
				d.release(d.a, g, now) // again
				r := d.record(g)
				if free := time.UnixMilli(r.HWM).Sub(now); free != c.want {
					t.Errorf("free after %v, want %v", free, c.want)
				}
				if r.Owner != (Owner{}) || r.Name != "a" || r.From != g.FirstTick ||
					r.Peak != g.EndTick {
					t.Errorf("the record is %+v", r)
				}
			})
		})
	}
}

func TestSecrets(t *testing.T) {
	at(t, forever, 8, func(t *testing.T, d *desk) {
		a, b := d.acquire(d.a, ask("a")), d.acquire(d.a, ask("b"))
		stolen := a
		stolen.Secret = b.Secret
		_, err := d.renew(d.a, stolen, "renewal")
		fails(t, "another's secret", err, ErrLost)
		d.release(d.a, stolen, time.Now())
		if r := d.record(a); r.Name != "a" || r.Owner == (Owner{}) {
			t.Errorf("another's secret released %+v", r)
		}
		for _, secret := range []string{"", "secret", a.Secret + "0", a.Secret[1:], a.ID} {
			a.Secret = secret
			var wrong *RequestError
			if _, err := d.renew(d.a, a, "renewal"); !errors.As(err, &wrong) ||
				wrong.Field != "secret" {
				t.Errorf("Renew with the secret %q: %v", secret, err)
			}
			err := d.a.Release(d.Context(), "realm", a.ID, ReleaseRequest{Secret: secret})
			if !errors.As(err, &wrong) || wrong.Field != "secret" {
				t.Errorf("Release with the secret %q: %v", secret, err)
			}
		}
		for _, id := range []string{"", "1", b.ID + "0", b.ID[1:], "../" + b.ID} {
			b.ID = id
			_, err := d.renew(d.a, b, "renewal")
			fails(t, "Renew with the id "+id, err, ErrNotFound)
			d.release(d.a, b, time.Now())
		}
		_, err = d.a.Renew(d.Context(), "absent", d.acquire(d.a, ask("c")).ID,
			RenewRequest{Secret: b.Secret, EndTick: b.EndTick})
		fails(t, "a missing realm", err, ErrForgotten)
		fails(t, "a missing realm", d.a.Release(d.Context(), "absent", b.ID,
			ReleaseRequest{Secret: b.Secret}), ErrNoRealm)
	})
}
