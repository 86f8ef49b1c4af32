package lease

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// A desk is a realm with two lessors over one store.
type desk struct {
	*testing.T
	*network
	a, b *StoreLessor
}

// at runs a test with a realm of format f, in virtual time.
func at(t *testing.T, f Format, bits int, test func(t *testing.T, d *desk)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		d := &desk{T: t, network: &network{Store: NewMemory()}}
		d.a, d.b = NewLessor(d.network, LessorOptions{}), NewLessor(d.network, LessorOptions{})
		_, made, err := d.a.CreateRealm(t.Context(), Config{Realm: "realm", Format: f,
			NodeBits: bits})
		if err != nil || !made {
			t.Fatalf("CreateRealm: %v, %v", made, err)
		}
		test(t, d)
	})
}

func ask(name string) AcquireRequest {
	return AcquireRequest{Request: fmt.Sprintf("%-16s", name), NodeID: -1, Holder: name}
}

func (d *desk) acquire(l *StoreLessor, r AcquireRequest) Grant {
	d.Helper()
	g, err := l.Acquire(d.Context(), "realm", r)
	if err != nil {
		d.Fatalf("Acquire(%+v): %v", r, err)
	}
	return g
}

func (d *desk) renew(l *StoreLessor, g Grant, renewal string) (Grant, error) {
	return l.Renew(d.Context(), "realm", g.ID,
		RenewRequest{Secret: g.Secret, EndTick: g.EndTick, Renewal: renewal})
}

func (d *desk) mustRenew(l *StoreLessor, g Grant, renewal string) Grant {
	d.Helper()
	next, err := d.renew(l, g, renewal)
	if err != nil {
		d.Fatalf("Renew(%v): %v", g.Block, err)
	}
	return next
}

func (d *desk) release(l *StoreLessor, g Grant, last time.Time) {
	d.Helper()
	if err := l.Release(d.Context(), "realm", g.ID, ReleaseRequest{Secret: g.Secret,
		EndTick: g.EndTick, LastTime: last}); err != nil {
		d.Fatalf("Release(%v): %v", g.Block, err)
	}
}

// record returns the stored record of a lease's block.
func (d *desk) record(g Grant) Record {
	d.Helper()
	root, err := Realm(d.Context(), d.Store, "realm")
	must(d.T, err)
	r, err := d.Store.Get(d.Context(), spaceOf(root), g.Block)
	must(d.T, err)
	return r
}

// lossy makes the store lose the next answers to changes.
func (d *desk) lossy(answers int) {
	d.set(func() {
		d.deaf = func(op string, _ ...Record) bool {
			if op != "set" || answers == 0 {
				return false
			}
			answers--
			return true
		}
	})
}

var forever = SCRU160 // a format with ticks of 1 ms since 1970

func TestGrantSaysWhatTheClientMayDo(t *testing.T) {
	at(t, SCRU64, 8, func(t *testing.T, d *desk) {
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
	at(t, SCRU64, 0, func(t *testing.T, d *desk) {
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
		must(t, err)
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
		_, err := SetTerms(d.Context(), d.Store, "realm", 5*time.Second, 0)
		must(t, err)
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

func TestRequestErrors(t *testing.T) {
	at(t, SCRU64, 0, func(t *testing.T, d *desk) {
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
	at(t, SCRU160, 10, func(t *testing.T, d *desk) {
		r := ask("a")
		r.NodeBits = 8
		_, err := d.a.Acquire(d.Context(), "realm", r)
		fails(t, "another size", err, ErrRealm, `realm "realm" grants node IDs of 10 bits, not 8`)
		_, err = Acquire(d.Context(), d.Store, Config{Realm: "realm", Format: SCRU160, NodeBits: 8})
		fails(t, "another size, directly", err, ErrRealm,
			`realm "realm" grants node IDs of 10 bits, not 8`)
		if g := d.acquire(d.a, ask("a")); g.Block.Size != 10 {
			t.Errorf("got %v", g.Block)
		}
		l := acquire(t, d.Store, Config{Realm: "realm", Format: SCRU160, NodeBits: 10})
		closed(t, l)
	})
}

func TestExactNodeID(t *testing.T) {
	at(t, SCRU64, 0, func(t *testing.T, d *desk) {
		exact := func(name string, b Block) AcquireRequest {
			r := ask(name)
			r.NodeBits, r.NodeID = int(b.Size), int64(b.NodeID)
			return r
		}
		for i, b := range []Block{{42, 8}, {0, 8}, {255, 8}, {43, 8}, {1 << 22, 23}} {
			if g := d.acquire(d.a, exact(fmt.Sprint("free ", i), b)); g.Block != b {
				t.Errorf("got %v, want %v", g.Block, b)
			}
		}
		for i, b := range []Block{{42, 8}, {85, 9}, {10, 6}, {21, 7}, {1, 1}} {
			_, err := d.b.Acquire(d.Context(), "realm", exact(fmt.Sprint("held ", i), b))
			var held *HeldError
			if !errors.As(err, &held) || held.State != Held || !held.Block.Contains(b) &&
				!b.Contains(held.Block) || held.Holder == "" || !errors.Is(err, ErrFull) {
				t.Fatalf("%v: got %v", b, err)
			}
			if d := held.FreeFrom.Sub(held.Until); d < 29*time.Second || d > 30*time.Second {
				t.Errorf("%v is free %v after the lease's end", b, d)
			}
		}
		g := d.acquire(d.b, exact("released", Block{7, 8}))
		d.release(d.a, g, time.Time{})
		_, err := d.b.Acquire(d.Context(), "realm", exact("waiting", Block{7, 8}))
		var waiting *HeldError
		if !errors.As(err, &waiting) || waiting.State != Waiting || waiting.Holder != "released" ||
			waiting.ID != g.ID || !waiting.Until.Equal(g.ValidUntil()) {
			t.Fatalf("got %+v, %v", waiting, err)
		}
		time.Sleep(time.Until(waiting.FreeFrom))
		if next := d.acquire(d.b, exact("waiting", Block{7, 8})); next.FirstTick < g.EndTick ||
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

type imprecise struct{ Store }

func (imprecise) TimePrecision() time.Duration { return time.Second }

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

func TestRealmCounts(t *testing.T) {
	at(t, forever, 8, func(t *testing.T, d *desk) {
		var gs []Grant
		for i := range 20 {
			gs = append(gs, d.acquire(d.a, ask(fmt.Sprint("holder ", i))))
		}
		for i, g := range gs[:5] {
			last := time.Time{}
			if i > 2 {
				last = time.Now()
			}
			d.release(d.a, g, last)
		}
		info, err := d.b.Realm(d.Context(), "realm")
		must(t, err)
		if info.Held != 15 || info.Waiting != 3 || info.Free != 238 ||
			info.FreeShare != 238.0/256 || info.Terms.Only != 8 || info.Name != "realm" {
			t.Errorf("got %+v", info)
		}
		var rows []Holding
		for after, pages := "", 0; pages == 0 || after != ""; pages++ {
			var page []Holding
			page, after, err = d.b.Holdings(d.Context(), "realm", after, 7)
			must(t, err)
			if rows = append(rows, page...); len(page) != 7 && after != "" || pages > 3 {
				t.Fatalf("page %d has %d rows", pages, len(page))
			}
		}
		if len(rows) != 18 || !slices.IsSortedFunc(rows,
			func(a, b Holding) int { return compareOrder(a.Block, b.Block) }) {
			t.Fatalf("got %d rows: %+v", len(rows), rows)
		}
		for _, row := range rows {
			i := slices.IndexFunc(gs, func(g Grant) bool { return g.ID == row.ID })
			if i < 0 || gs[i].Block != row.Block || gs[i].Holder != row.Holder ||
				(i < 5) != (row.State == Waiting) || !row.Until.Equal(gs[i].ValidUntil()) ||
				!row.Since.Equal(gs[i].ValidFrom()) {
				t.Errorf("got %+v", row)
			}
			if want := map[HoldingState]time.Duration{Held: 30 * time.Second,
				Waiting: -10 * time.Second}[row.State]; row.FreeFrom.Sub(row.Until) != want {
				t.Errorf("free %v after the end, want %v", row.FreeFrom.Sub(row.Until), want)
			}
		}
		_, _, err = d.a.Holdings(d.Context(), "absent", "", 7)
		fails(t, "a missing realm", err, ErrNoRealm)
	})
}

func TestCountsWithSeveralSizes(t *testing.T) {
	at(t, SCRU64, 0, func(t *testing.T, d *desk) {
		for i, bits := range []int{8, 20, 4} {
			r := ask(fmt.Sprint("holder ", i))
			r.NodeBits = bits
			d.acquire(d.a, r)
		}
		info, err := d.b.Realm(d.Context(), "realm")
		must(t, err)
		if info.Held != 3 || info.Waiting != 0 || info.Free != 256-1-1-16 || info.Terms.Only != 0 {
			t.Errorf("got %+v", info)
		}
	})
}

func TestCreateRealm(t *testing.T) {
	l := NewLessor(NewMemory(), LessorOptions{MaxRealms: 4})
	for _, c := range []struct {
		config Config
		made   bool
		want   error
		only   int
	}{
		{Config{Realm: "a", Format: UID60}, true, nil, 9},
		{Config{Realm: "a", Format: UID60}, false, nil, 9},
		{Config{Realm: "a", NodeBits: 9}, false, nil, 9},
		{Config{Realm: "a", Format: SCRU160}, false, ErrRealm, 0},
		{Config{Realm: "a", NodeBits: 8}, false, ErrRealm, 0},
		{Config{Realm: "a", NodeBits: 9, Window: time.Minute}, false, nil, 9},
		{Config{Realm: "a", NodeBits: 9, Window: time.Hour}, false, ErrRealm, 0},
		{Config{Realm: "a", NodeBits: 9, MaxLead: time.Second}, false, ErrRealm, 0},
		{Config{Realm: "b", Format: SCRU64}, true, nil, 0},
		{Config{Realm: "c", Format: SCRU64, NodeBits: 8}, true, nil, 8},
		{Config{Realm: "d", NodeBits: 24, Window: time.Hour}, true, nil, 24},
		{Config{Realm: "e", NodeBits: 24}, false, ErrTooManyRealms, 0},
		{Config{Realm: "f"}, false, ErrConfig, 0},
		{Config{Realm: "f", NodeBits: 25}, false, ErrConfig, 0},
		{Config{Realm: "f", Format: UID60, NodeBits: 10}, false, ErrConfig, 0},
		{Config{Realm: "a@b", Format: UID60}, false, ErrConfig, 0},
		{Config{Realm: "f", Format: UID60, Window: 3 * time.Millisecond}, false, ErrConfig, 0},
	} {
		info, made, err := l.CreateRealm(t.Context(), c.config)
		if made != c.made || !errors.Is(err, c.want) || err == nil && (info.Terms.Only != c.only ||
			info.Name != c.config.Realm) {
			t.Errorf("%+v: got %+v, %v, %v, want %+v", c.config, info, made, err, c)
		}
	}
	infos, next, err := l.Realms(t.Context(), func(name string) bool { return name != "b" }, "", 2)
	must(t, err)
	if len(infos) != 2 || infos[1].Name != "c" || next != "c" {
		t.Errorf("got %+v, %q", infos, next)
	}
	infos, next, err = l.Realms(t.Context(), nil, next, 2)
	if must(t, err); len(infos) != 1 || infos[0].Name != "d" || next != "" {
		t.Errorf("got %+v, %q", infos, next)
	}
	info, err := l.SetRealm(t.Context(), "d", time.Minute, 0)
	if must(t, err); info.Terms.Window != 60_000 || info.Terms.MostWindow != 3_600_000 {
		t.Errorf("got %+v", info)
	}
	_, err = l.SetRealm(t.Context(), "d", 0, 25*time.Hour)
	fails(t, "a long lead", err, ErrConfig, "lead_ms")
	_, err = l.SetRealm(t.Context(), "absent", time.Minute, 0)
	fails(t, "a missing realm", err, ErrNoRealm)
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
		records, err := d.Store.List(d.Context(), d.record(keep).Realm)
		must(t, err)
		for _, r := range records {
			if es, err := entries(r); r.Block.Size == bucketSize && (err != nil ||
				len(es) > bucketEntries) {
				t.Errorf("a bucket has %d entries, %v", len(es), err)
			}
		}
		_, blocks, err := Records(d.Context(), d.Store, "realm")
		if must(t, err); len(blocks) != 2 {
			t.Errorf("Records returns %+v", blocks)
		}
	})
}

// piecemeal is a store that makes changes one by one.
type piecemeal struct{ *network }

func (piecemeal) Atomic() bool { return false }

func (p piecemeal) CompareAndSetMany(ctx context.Context, changes []Change) (bool, error) {
	for _, c := range changes {
		if ok, err := p.network.CompareAndSet(ctx, c.Prev, c.Next); !ok || err != nil {
			return false, err
		}
	}
	return true, nil
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
