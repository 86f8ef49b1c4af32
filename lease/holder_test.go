package lease

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sortid/sortid/internal/check"
)

// A scripted lessor is one whose methods a test replaces.
type scripted struct {
	grant   Grant // the newest one
	acquire func(AcquireRequest) (Grant, error)
	renew   func(id string, r RenewRequest) (Grant, error)
	release func(id string, r ReleaseRequest) error
}

func (s *scripted) Acquire(_ context.Context, _ string, r AcquireRequest) (Grant, error) {
	g, err := s.acquire(r)
	if err == nil {
		s.grant = g
	}
	return g, err
}

func (s *scripted) Renew(_ context.Context, _, id string, r RenewRequest) (Grant, error) {
	if s.renew == nil { // one lease in a hundred renews at once, to spread renewals
		return s.grant, nil
	}
	return s.renew(id, r)
}

func (s *scripted) Release(_ context.Context, _, id string, r ReleaseRequest) error {
	return s.release(id, r)
}

var orders = Config{Realm: "orders", Format: SCRU64(), NodeBits: 8, Name: "me"}

// grantOf returns a grant of node ID 42/8 for the ticks from now to a minute from now.
func grantOf(id string, from time.Time) Grant {
	t := orders.terms()
	return Grant{ID: id, Secret: "secret of " + id, Realm: "orders", Format: "scru64",
		Block: Block{42, 8}, FirstTick: t.At(from), EndTick: t.At(time.Now()) + t.Window,
		Tick: SCRU64().Tick, Epoch: SCRU64().Epoch, ServerTime: time.Now(),
		ValidFor: time.Minute}
}

type laterError struct{ after time.Duration }

func (e laterError) Error() string             { return "later" }
func (e laterError) RetryAfter() time.Duration { return e.after }

// tick returns the tick of SCRU64 at this moment.
func tick() int64 { return orders.terms().At(time.Now()) }

func ready(t *testing.T, s Lessor) *Lease {
	t.Helper()
	l := check.Must(AcquireFrom(t.Context(), s, orders))(t)
	return l
}

// The same request is sent until it is answered, and the next lease has another one.
func TestHolderRepeatsRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked []AcquireRequest
		s := &scripted{
			acquire: func(r AcquireRequest) (Grant, error) {
				if asked = append(asked, r); len(asked)%3 != 0 {
					return Grant{}, errLost
				}
				return grantOf(fmt.Sprint("lease ", len(asked)), time.Now()), nil
			},
			renew: func(string, RenewRequest) (Grant, error) {
				return Grant{}, fmt.Errorf("x: %w", ErrLost)
			},
			release: func(string, ReleaseRequest) error { return nil },
		}
		l := ready(t, s)
		first := l.Until()
		for range 600 {
			if time.Sleep(time.Second); l.Until().After(first) && len(asked) >= 6 {
				break
			}
		}
		if !l.Until().After(first) || len(asked) < 6 {
			t.Errorf("%d requests, the lease ends at %v; want a second lease", len(asked), l.Until())
		}
		l.Close(t.Context())
		for i, r := range asked {
			same := asked[i-i%3]
			if len(r.Request) < 16 || r.Request != same.Request {
				t.Errorf("request %d: %q, want %q", i, r.Request, same.Request)
			}
			if i >= 3 && r.Request == asked[i-3].Request {
				t.Errorf("request %d: %q again, for another lease", i, r.Request)
			}
			if r.NodeBits != 8 || r.NodeID != -1 || r.Holder != "me" || r.Wait != 0 ||
				r.Window != 0 {
				t.Errorf("request %d: %+v", i, r)
			}
		}
	})
}

// The same renewal is sent until it is answered, and the next renewal is another one. No error
// ends the lease before its end.
func TestHolderRepeatsRenewal(t *testing.T) {
	errs := []error{errLost, ErrNoRealm, &RequestError{"secret", "malformed"}, ErrForgotten,
		errors.New("http: 401"), laterError{time.Second}, &ClockError{time.Minute, time.Second}}
	synctest.Test(t, func(t *testing.T) {
		var asked []RenewRequest
		var newest Grant
		s := &scripted{
			acquire: func(AcquireRequest) (Grant, error) {
				newest = grantOf("id", time.Now())
				return newest, nil
			},
			renew: func(id string, r RenewRequest) (Grant, error) {
				if id != "id" || r.Secret != newest.Secret || r.EndTick != newest.EndTick {
					t.Errorf("renewal of %s: %+v, want the newest grant: %+v", id, r, newest)
				}
				if asked = append(asked, r); len(asked)%(len(errs)+1) != 0 {
					return Grant{}, errs[len(asked)%(len(errs)+1)-1]
				}
				first := newest.FirstTick
				newest = grantOf("id", time.Now())
				newest.FirstTick = first
				return newest, nil
			},
			release: func(string, ReleaseRequest) error { return nil },
		}
		l := ready(t, s)
		for range 600 {
			time.Sleep(time.Second)
			if _, _, err := l.ClaimTick(tick()); err != nil {
				t.Error(err)
			}
		}
		l.Close(t.Context())
		if len(asked) < 50 {
			t.Errorf("%d renewals in ten minutes", len(asked))
		}
		for i, r := range asked {
			k := i - i%(len(errs)+1)
			if same := asked[k]; r.Renewal == "" || r.Renewal != same.Renewal {
				t.Errorf("renewal %d: %q, want %q", i, r.Renewal, same.Renewal)
			}
			if k > 0 && r.Renewal == asked[k-1].Renewal {
				t.Errorf("renewal %d: %q again, although it was answered", i, r.Renewal)
			}
		}
	})
}

// After ErrLost, no tick of the lease can be claimed. After all other errors, its ticks stay valid
// to the end, and not longer.
func TestHolderErrors(t *testing.T) {
	for _, c := range []struct {
		err   error
		stops bool
	}{
		{fmt.Errorf("x: %w", ErrLost), true}, {ErrForgotten, false}, {ErrNoRealm, false},
		{errLost, false}, {&RequestError{"secret", "malformed"}, false}, {laterError{1}, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			given := false
			s := &scripted{
				acquire: func(AcquireRequest) (Grant, error) {
					if given {
						return Grant{}, &FullError{Realm: "orders", Size: 8}
					}
					given = true
					return grantOf("id", time.Now()), nil
				},
				renew:   func(string, RenewRequest) (Grant, error) { return Grant{}, c.err },
				release: func(string, ReleaseRequest) error { return nil },
			}
			l := ready(t, s)
			until := l.Until()
			time.Sleep(time.Until(until) - time.Second)
			switch _, _, err := l.ClaimTick(tick()); {
			case c.stops && (!errors.Is(err, ErrExpired) || !errors.Is(err, ErrFull)):
				t.Errorf("%v: then ClaimTick: %v, want ErrExpired and ErrFull", c.err, err)
			case !c.stops && err != nil:
				t.Errorf("%v: then ClaimTick: %v", c.err, err)
			}
			time.Sleep(time.Second)
			_, _, err := l.ClaimTick(tick())
			if !errors.Is(err, ErrExpired) || !c.stops && !errors.Is(err, c.err) {
				t.Errorf("%v: ClaimTick after the end: %v", c.err, err)
			}
			l.Close(t.Context())
		})
	}
}

// A grant that begins in the future is used from its beginning on.
func TestHolderWaitsForStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := ready(t, &scripted{
			acquire: func(AcquireRequest) (Grant, error) {
				return grantOf("id", time.Now().Add(8*time.Second)), nil
			},
			release: func(string, ReleaseRequest) error { return nil },
		})
		defer l.Close(t.Context())
		node, claimed, err := l.ClaimTick(tick())
		want := orders.terms().At(time.Now().Add(8 * time.Second))
		if node != 42 || claimed != want || err != nil {
			t.Errorf("got node ID %d, tick %d, %v; want 42, %d", node, claimed, err, want)
		}
	})
}

// An answer with an older end is ignored, and the newest grant is taken whole.
func TestHolderTakesNewest(t *testing.T) {
	config := check.Must(orders.complete())(t)
	h := newHolder(nil, config)
	at := time.Now()
	old, newer := grantOf("id", at), grantOf("id", at)
	newer.FirstTick, newer.EndTick = old.FirstTick+900, old.EndTick+1000
	for _, g := range []Grant{old, newer, old} {
		h.take(g, at, at, false)
	}
	if h.grant != newer {
		t.Errorf("got %+v, want %+v", h.grant, newer)
	}
}

// The window is exact, also if the realm changes it, and an old answer does not shorten it.
func TestHolderWindow(t *testing.T) {
	at := time.UnixMilli(1_700_000_000_000)
	config := check.Must(orders.complete())(t)
	for _, c := range []struct {
		first, clock, end int64 // ticks after the server's time
		repeated          bool
		want              int64
	}{
		{0, 0, 235, false, 235}, {30, 0, 265, false, 235}, {0, 30, 265, false, 235},
		{0, -30, 235, false, 235}, {0, 0, 400, false, 400}, {0, 0, 100, true, 400},
		{0, 0, 100, false, 100}, {0, 0, -5, false, 4},
	} {
		h := newHolder(nil, config)
		h.window = 400
		now := h.terms.At(at)
		g := Grant{FirstTick: now + c.first, EndTick: now + c.end, ServerTime: at}
		h.take(g, h.terms.Time(now+c.clock), h.terms.Time(now+c.clock), c.repeated)
		if h.window != c.want {
			t.Errorf("%+v: a window of %d ticks", c, h.window)
		}
	}
}

// A release has the last millisecond of the last used tick, and the newest end.
func TestHolderRelease(t *testing.T) {
	for _, used := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			var g Grant
			var got []ReleaseRequest
			l := ready(t, &scripted{
				acquire: func(AcquireRequest) (Grant, error) {
					g = grantOf("id", time.Now())
					return g, nil
				},
				release: func(id string, r ReleaseRequest) error {
					if got = append(got, r); len(got) < 3 {
						return errLost
					}
					return nil
				},
			})
			want := ReleaseRequest{g.Secret, g.EndTick, g.ValidFrom().Add(-time.Millisecond)}
			if used {
				_, claimed, err := l.ClaimTick(tick() + 7)
				if err != nil {
					t.Error(err)
				}
				want.LastTime = g.time(claimed).Add(255 * time.Millisecond)
			}
			if err := l.Close(t.Context()); err != nil {
				t.Error(err)
			}
			if !slices.Equal(got, []ReleaseRequest{want, want, want}) {
				t.Errorf("used %v: got %+v, want %+v three times", used, got, want)
			}
			if _, _, err := l.ClaimTick(tick() + 20); !errors.Is(err, ErrClosed) {
				t.Errorf("ClaimTick after Close: %v", err)
			}
		})
	}
}

// If a renewal was never answered, Close finds out its end first. Otherwise the release would cut
// nothing.
func TestHolderSettlesRenewal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var newest Grant
		var released ReleaseRequest
		answered := false
		renewed := make(chan bool, 1)
		l := ready(t, &scripted{
			acquire: func(AcquireRequest) (Grant, error) {
				newest = grantOf("id", time.Now())
				return newest, nil
			},
			renew: func(string, RenewRequest) (Grant, error) {
				if !answered {
					newest.EndTick = grantOf("id", time.Now()).EndTick
					select {
					case renewed <- true:
					default:
					}
					return Grant{}, errLost
				}
				return newest, nil
			},
			release: func(_ string, r ReleaseRequest) error { released = r; return nil },
		})
		<-renewed
		synctest.Wait()
		answered = true
		if err := l.Close(t.Context()); err != nil || released.EndTick != newest.EndTick {
			t.Errorf("%v, released %+v, want the end tick %d", err, released, newest.EndTick)
		}
	})
}

// If a request was never answered, Acquire and Close find out what it did, and give that back.
func TestHolderReleasesUnanswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		requests := map[string]bool{}
		released := []string{}
		var answers atomic.Bool
		s := &scripted{
			acquire: func(r AcquireRequest) (Grant, error) {
				requests[r.Request] = true
				if !answers.Load() {
					return Grant{}, errLost
				}
				return grantOf("id", time.Now()), nil
			},
			release: func(id string, r ReleaseRequest) error {
				released = append(released, id)
				return nil
			},
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		go func() {
			time.Sleep(300 * time.Millisecond)
			answers.Store(true)
			cancel(errors.New("stopped"))
		}()
		l, err := AcquireFrom(ctx, s, orders)
		if l != nil || !errors.Is(err, errLost) || len(requests) != 1 ||
			!slices.Equal(released, []string{"id"}) {
			t.Errorf("%v, %d different requests, released %q; want one of each", err, len(requests),
				released)
		}
	})
}

// RetryAfter is obeyed with jitter, and within the context.
func TestRetryAfter(t *testing.T) {
	for _, c := range []struct {
		after, limit time.Duration // limit 0: no deadline
		busy         int           // how often the server is busy
		ok           bool
		most         time.Duration // of the whole call
	}{
		{2 * time.Second, 0, 9, true, 28 * time.Second},
		{2 * time.Second, 0, 99, false, 33 * time.Second},
		{2 * time.Second, time.Minute, 15, true, 46 * time.Second},
		{2 * time.Second, 5 * time.Second, 9, false, 6 * time.Second},
		{time.Hour, 5 * time.Second, 9, false, 6 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			var sent []time.Time
			s := &scripted{
				acquire: func(AcquireRequest) (Grant, error) {
					if sent = append(sent, time.Now()); len(sent) <= c.busy {
						return Grant{}, laterError{c.after}
					}
					return grantOf("id", time.Now()), nil
				},
				release: func(string, ReleaseRequest) error { return nil },
			}
			ctx, cancel := t.Context(), func() {}
			if c.limit != 0 {
				ctx, cancel = context.WithTimeout(ctx, c.limit)
			}
			defer cancel()
			began := time.Now()
			l, err := AcquireFrom(ctx, s, orders)
			if took := time.Since(began); (err == nil) != c.ok || took > c.most {
				t.Errorf("%+v: %v after %v", c, err, took)
			}
			if l == nil {
				sent = sent[:len(sent)-1] // the last one asks for what to give back
			} else {
				l.Close(t.Context())
			}
			equal := len(sent) > 5
			for i := range sent[1:] {
				pause := sent[i+1].Sub(sent[i])
				if pause < c.after || pause > 2*c.after {
					t.Errorf("%+v: a pause of %v", c, pause)
				}
				equal = equal && pause == sent[1].Sub(sent[0])
			}
			if equal {
				t.Errorf("%+v: all pauses are equal", c)
			}
		})
	}
}

// With Wait, the lessor waits. Its waiting ends before the context does.
func TestHolderWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var waits []time.Duration
		s := &scripted{
			acquire: func(r AcquireRequest) (Grant, error) {
				waits = append(waits, r.Wait)
				time.Sleep(r.Wait)
				return Grant{}, &FullError{Realm: "orders", Size: 8}
			},
		}
		c := orders
		c.Wait = true
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Second)
		defer cancel()
		_, err := AcquireFrom(ctx, s, c)
		if !errors.Is(err, ErrFull) || !errors.Is(err, context.DeadlineExceeded) ||
			len(waits) != 2 || waits[0] != 30*time.Second || waits[1] > 18*time.Second ||
			waits[1] < 13*time.Second {
			t.Errorf("%v, the lessor waited for %v", err, waits)
		}
	})
}

// With Retry, all tries send one request, also when requests hang or no node ID is free. The first
// answer comes without a wait.
func TestHolderRetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var sent []AcquireRequest
		s := &scripted{
			release: func(string, ReleaseRequest) error { return nil },
			acquire: func(r AcquireRequest) (Grant, error) {
				switch sent = append(sent, r); {
				case len(sent) > 12:
					return grantOf("a", time.Now()), nil
				case len(sent) > 10:
					return Grant{}, &FullError{Realm: "orders", Size: 8}
				}
				return Grant{}, errors.New("the answer was lost")
			},
		}
		asked := 0
		c := orders
		c.Wait, c.Retry = true, func(error) bool { asked++; return true }
		l := check.Must(AcquireFrom(t.Context(), s, c))(t)
		defer l.Close(t.Context())
		for i, r := range sent {
			if r.Request != sent[0].Request || i < 11 && r.Wait != 0 ||
				i > 10 && r.Wait == 0 {
				t.Errorf("request %d: %+v", i, r)
			}
		}
		c.Retry = func(error) bool { return false }
		sent = sent[:0]
		if _, err := AcquireFrom(t.Context(), s, c); err == nil || asked == 0 {
			t.Errorf("asked %d times whether to try again, then %v", asked, err)
		}
	})
}

// What does not suit the configuration is given back and not used.
func TestHolderRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Grant)
		want   string
	}{
		"another format": {func(g *Grant) { g.Format = "uid60" }, "the format uid60"},
		"other ticks":    {func(g *Grant) { g.Tick = time.Millisecond }, "ticks of 1ms"},
		"another epoch":  {func(g *Grant) { g.Epoch = UID60().Epoch }, "the epoch 2018-03-01"},
		"another size":   {func(g *Grant) { g.Block.Size = 9 }, "node ID 42/9 instead of one of 8"},
		"no such node":   {func(g *Grant) { g.Block.NodeID = 256 }, "node ID 256/8"},
		"no ticks":       {func(g *Grant) { g.EndTick = g.FirstTick }, "makes no sense"},
		"no secret":      {func(g *Grant) { g.Secret = "" }, "no secret"},
	} {
		synctest.Test(t, func(t *testing.T) {
			released := 0
			s := &scripted{
				acquire: func(AcquireRequest) (Grant, error) {
					g := grantOf("id", time.Now())
					c.change(&g)
					return g, nil
				},
				release: func(string, ReleaseRequest) error { released++; return nil },
			}
			l, err := AcquireFrom(t.Context(), s, orders)
			unfit := errors.Is(err, ErrRealm)
			if l != nil || err == nil || !strings.Contains(err.Error(), c.want) ||
				unfit != (released == 1) {
				t.Errorf("%s: %v, %d releases; want %q", name, err, released, c.want)
			}
		})
	}
}

func TestHolderConfig(t *testing.T) {
	c := orders
	c.MaxLead = time.Second
	if _, err := AcquireFrom(t.Context(), nil, c); !errors.Is(err, ErrConfig) ||
		!strings.Contains(err.Error(), "leave it 0") {
		t.Errorf("%v", err)
	}
}

// If the generator is ahead of the clock, the lease is renewed for the generator's time, and the
// error names the generator, not the clock.
func TestHolderAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		renewed := make(chan time.Time, 100)
		s := &scripted{
			acquire: func(AcquireRequest) (Grant, error) { return grantOf("id", time.Now()), nil },
			renew: func(_ string, r RenewRequest) (Grant, error) {
				renewed <- r.Time
				return Grant{}, &ClockError{time.Until(r.Time), 10 * time.Second}
			},
			release: func(string, ReleaseRequest) error { return nil },
		}
		l := ready(t, s)
		defer l.Close(t.Context())
		_, claimed, err := l.ClaimTick(tick() + 200) // 51 s
		if err != nil {
			t.Error(err)
		}
		if at := <-renewed; !at.Equal(orders.terms().Time(claimed)) {
			t.Errorf("renewed at %v, want %v", at, orders.terms().Time(claimed))
		}
		synctest.Wait()
		if err := l.Err(); !errors.Is(err, ErrLead) || !strings.Contains(err.Error(),
			"the generator has reached") {
			t.Errorf("%v", err)
		}
	})
}

// A recorder remembers what a lessor has granted.
type recorder struct {
	*StoreLessor
	mu       sync.Mutex
	requests map[string]string // by the ID of the lease
	grants   map[string][]Grant
}

func newRecorder(t *testing.T) *recorder {
	s := &recorder{StoreLessor: NewLessor(NewMemory(), LessorOptions{}),
		requests: map[string]string{}, grants: map[string][]Grant{}}
	c := Config{Realm: orders.Realm, Format: SCRU64(), MaxLead: 2500 * time.Millisecond,
		Window: 5*time.Second + time.Duration(rand.Int64N(int64(15*time.Second)))}
	if _, _, err := s.CreateRealm(t.Context(), c); err != nil {
		t.Error(err)
	}
	return s
}

func (s *recorder) Acquire(ctx context.Context, realm string, r AcquireRequest) (Grant, error) {
	g, err := s.StoreLessor.Acquire(ctx, realm, r)
	if err == nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.requests[g.ID] = r.Request
		s.grants[r.Request] = append(s.grants[r.Request], g)
	}
	return g, err
}

func (s *recorder) Renew(ctx context.Context, realm, id string, r RenewRequest) (Grant, error) {
	g, err := s.StoreLessor.Renew(ctx, realm, id, r)
	if err == nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.grants[s.requests[id]] = append(s.grants[s.requests[id]], g)
	}
	return g, err
}

func (s *recorder) evict(ctx context.Context) {
	s.mu.Lock()
	ids := slices.Collect(maps.Keys(s.requests))
	s.mu.Unlock()
	for range min(3, len(ids)) { // most have ended
		_ = s.Evict(ctx, orders.Realm, ids[rand.IntN(len(ids))])
	}
}

// A lossy lessor loses requests and answers, delays them, and sends copies of old requests.
type lossy struct {
	Lessor
	mu    sync.Mutex
	old   []func() // copies that may arrive at any later time
	grief float64
}

func call[T any](l *lossy, ctx context.Context, f func(context.Context) (T, error)) (T, error) {
	var none T
	l.mu.Lock()
	l.old = append(l.old, func() { f(context.Background()) })
	l.mu.Unlock()
	for rand.Float64() < l.grief {
		l.mu.Lock()
		late := l.old[rand.IntN(len(l.old))]
		l.mu.Unlock()
		late()
	}
	pause := time.Duration(rand.ExpFloat64() * l.grief * float64(time.Second))
	if rand.Float64() < l.grief || !sleeps(ctx, pause) {
		return none, errLost // the request is lost
	}
	result, err := f(ctx)
	if rand.Float64() < l.grief || !sleeps(ctx, pause) {
		return none, errLost // the answer is lost
	}
	return result, err
}

func sleeps(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}

func (l *lossy) Acquire(ctx context.Context, realm string, r AcquireRequest) (Grant, error) {
	return call(l, ctx, func(ctx context.Context) (Grant, error) {
		return l.Lessor.Acquire(ctx, realm, r)
	})
}

func (l *lossy) Renew(ctx context.Context, realm, id string, r RenewRequest) (Grant, error) {
	g, err := call(l, ctx, func(ctx context.Context) (Grant, error) {
		return l.Lessor.Renew(ctx, realm, id, r)
	})
	return g, err
}

func (l *lossy) Release(ctx context.Context, realm, id string, r ReleaseRequest) error {
	_, err := call(l, ctx, func(ctx context.Context) (struct{}, error) {
		return struct{}{}, l.Lessor.Release(ctx, realm, id, r)
	})
	return err
}

// Many clients with wrong clocks use few node IDs through a bad network. Each claimed tick was
// granted to its client, and no tick of a node ID is claimed twice.
func TestHolderProperty(t *testing.T) {
	sum, runs := 0, 40
	if testing.Short() {
		runs = 10
	}
	for range runs {
		synctest.Test(t, func(t *testing.T) {
			const bits = 2
			s := newRecorder(t)
			net := &lossy{Lessor: s, grief: []float64{0, 0.05, 0.2, 0.5}[rand.IntN(4)]}
			claims := &claimBook{by: map[claimKey]string{}}
			ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
			defer cancel()
			var all sync.WaitGroup
			for i := range 6 {
				all.Go(func() { claims.run(ctx, fmt.Sprint("client ", i), s, net, bits) })
			}
			all.Go(func() {
				for sleeps(ctx, time.Duration(rand.Int64N(int64(20*time.Second)))) {
					s.evict(ctx)
				}
			})
			all.Wait()
			for _, wrong := range claims.wrong {
				t.Error(wrong)
			}
			sum += len(claims.by)
		})
	}
	if sum < 500*runs {
		t.Errorf("only %d claims", sum)
	}
}

type claimKey struct {
	node uint32
	tick int64
}

type claimBook struct {
	mu    sync.Mutex
	by    map[claimKey]string
	wrong []string
}

// run leases and uses node IDs until ctx ends.
func (b *claimBook) run(ctx context.Context, name string, s *recorder, net *lossy, bits int) {
	skew := time.Duration(rand.Int64N(int64(4*time.Second))) - 2*time.Second
	c := orders
	c.NodeBits, c.Name = bits, name
	c.Now = func() time.Time { return time.Now().Add(skew) }
	own := &named{Lessor: net, recorder: s, lost: map[string]time.Time{}}
	for ctx.Err() == nil {
		l, err := AcquireFrom(ctx, own, c)
		if err != nil {
			sleeps(ctx, time.Second)
			continue
		}
		for range rand.IntN(200) {
			if !sleeps(ctx, time.Duration(rand.Int64N(int64(600*time.Millisecond)))) {
				break
			}
			if rand.IntN(60) == 0 { // the process stops for a while
				sleeps(ctx, time.Duration(rand.Int64N(int64(40*time.Second))))
			}
			at := orders.terms().At(c.Now()) + rand.Int64N(4)
			node, claimed, err := l.ClaimTick(at)
			if err == nil {
				b.claim(name, claimKey{node, claimed}, own)
			}
		}
		if rand.IntN(3) > 0 {
			for l.Close(context.Background()) != nil {
			}
		} else {
			l.stop() // the process dies
		}
	}
}

func (b *claimBook) claim(name string, k claimKey, own *named) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if other, ok := b.by[k]; ok {
		b.wrong = append(b.wrong, fmt.Sprintf("node ID %d, tick %d: claimed by %s and by %s",
			k.node, k.tick, other, name))
	}
	b.by[k] = name
	if !own.covers(k) {
		b.wrong = append(b.wrong, fmt.Sprintf("node ID %d, tick %d: claimed by %s without a grant",
			k.node, k.tick, name))
	}
}

// A named lessor remembers the requests of one client.
type named struct {
	Lessor
	recorder *recorder
	mu       sync.Mutex
	requests []string
	lost     map[string]time.Time // when the client learned that a lease had ended
}

func (n *named) Acquire(ctx context.Context, realm string, r AcquireRequest) (Grant, error) {
	n.mu.Lock()
	n.requests = append(n.requests, r.Request)
	n.mu.Unlock()
	return n.Lessor.Acquire(ctx, realm, r)
}

func (n *named) Renew(ctx context.Context, realm, id string, r RenewRequest) (Grant, error) {
	g, err := n.Lessor.Renew(ctx, realm, id, r)
	if errors.Is(err, ErrLost) {
		n.mu.Lock()
		defer n.mu.Unlock()
		n.lost[id] = time.Now()
	}
	return g, err
}

// covers reports whether a grant to this client covers the claim, and the client does not know that
// the lease has ended.
func (n *named) covers(k claimKey) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.recorder.mu.Lock()
	defer n.recorder.mu.Unlock()
	for _, request := range n.requests {
		for _, g := range n.recorder.grants[request] {
			at, lost := n.lost[g.ID]
			if (!lost || !time.Now().After(at)) && g.Block.NodeID == k.node &&
				g.FirstTick <= k.tick && k.tick < g.EndTick {
				return true
			}
		}
	}
	return false
}
