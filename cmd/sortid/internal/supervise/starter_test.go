package supervise

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sortid/sortid/cmd/sortid/internal/console"
	"github.com/sortid/sortid/cmd/sortid/internal/nodeid"
	"github.com/sortid/sortid/internal/check"
	"github.com/sortid/sortid/lease"
	"github.com/sortid/sortid/store"
)

func newStarter(t *testing.T, u *unsteady, stderr *bytes.Buffer) *starter {
	o := &Options{Lease: &nodeid.Options{}, Times: Usual, Realm: lease.Config{Realm: "r", NodeBits: 1,
		OneSize: true, Window: nodeid.UsualPace.Window}}
	check.Must(lease.Create(t.Context(), u, o.Realm))(t)
	c := &console.Console{Err: stderr, Width: 80}
	return &starter{options: o, reporter: check.Must(newReporter(c, "", "r"))(t),
		source: store.Direct{Store: u}}
}

// A start fails if the store is away for 30 s, but not with --wait.
func TestStartWithoutStore(t *testing.T) {
	for _, mode := range []int32{1, 2} {
		for away, wait := range map[time.Duration]bool{20 * time.Second: false, time.Hour: false,
			2 * time.Hour: true} {
			synctest.Test(t, func(t *testing.T) {
				u, stderr := newUnsteady(), &bytes.Buffer{}
				s := newStarter(t, u, stderr)
				u.mode.Store(mode)
				time.AfterFunc(away, func() { u.mode.Store(0) })
				began := time.Now()
				h, err := s.acquire(t.Context(), wait)
				took := time.Since(began)
				if fails := away == time.Hour; fails {
					if err == nil || took < nodeid.Patience || took > nodeid.Patience*4/3 {
						t.Errorf("mode %d: after %v: %v", mode, took, err)
					}
				} else if err != nil || took < away {
					t.Errorf("mode %d: after %v: %v", mode, took, err)
				} else {
					if s.reporter.status.Error == nil {
						t.Error("the status does not show why the program waits")
					}
					if s.reporter.begins(h, 1); s.reporter.status.Error != nil {
						t.Errorf("the store answers, and the status shows %q", *s.reporter.status.Error)
					}
					check.OK(t, h.close())
				}
				s.reporter.close()
				if said := stderr.String(); !strings.Contains(said, "waiting for the store") {
					t.Errorf("said %s", said)
				}
			})
		}
	}
}

// A signal ends the wait, also if the answer of a grant is missing. Nothing stays leased.
func TestWaitInterrupted(t *testing.T) {
	for _, mode := range []int32{1, 2, 3} {
		synctest.Test(t, func(t *testing.T) {
			u := newUnsteady()
			s := newStarter(t, u, &bytes.Buffer{})
			ctx, cancel := context.WithCancelCause(t.Context())
			u.mode.Store(mode)
			time.AfterFunc(5*time.Second, func() { cancel(console.ExitCode(143)) })
			began := time.Now()
			_, err := s.acquire(ctx, true)
			if code, _ := console.ExitCodeOf(err); code != 143 || time.Since(began) > 8*time.Second {
				t.Errorf("mode %d: after %v: %v", mode, time.Since(began), err)
			}
			u.mode.Store(0)
			records := check.Must(u.List(t.Context(), "r@"+generation(t, u)))(t)
			for _, r := range records {
				if r.Owner != (lease.Owner{}) {
					t.Errorf("mode %d: %v stays leased", mode, r.Block)
				}
			}
			if mode == 3 && len(records) == 0 {
				t.Error("nothing was granted, so this tests nothing")
			}
			s.reporter.close()
		})
	}
}

// What waiting cannot cure fails at once, also with --wait.
func TestStartRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for want, change := range map[string]func(*starter){
			"grants node IDs of 1 bits, not 8": func(s *starter) { s.options.Lease.Bits = 8 },
			"so the largest is 1":              func(s *starter) { s.options.NodeID = new(uint32(2)) },
			"no such realm":                    func(s *starter) { s.options.Realm.Realm = "other" },
		} {
			s := newStarter(t, newUnsteady(), &bytes.Buffer{})
			change(s)
			began := time.Now()
			if _, err := s.acquire(t.Context(), true); err == nil ||
				!strings.Contains(err.Error(), want) || time.Since(began) > time.Second {
				t.Errorf("after %v: %v, want %s", time.Since(began), err, want)
			}
			s.reporter.close()
		}
	})
}

// With --node-id and --wait, a program waits for one node ID, even if others are free.
func TestWaitForNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStarter(t, newUnsteady(), &bytes.Buffer{})
		one := uint32(1)
		s.options.NodeID = &one
		first := check.Must(s.acquire(t.Context(), false))(t)
		_, err := s.acquire(t.Context(), false)
		var held *lease.HeldError
		if !errors.As(err, &held) || held.Holder != nodeid.MyName() {
			t.Errorf("%v", err)
		}
		time.AfterFunc(time.Hour, func() { check.OK(t, first.close()) })
		began := time.Now()
		h := check.Must(s.acquire(t.Context(), true))(t)
		if took := time.Since(began); took < time.Hour || h.nodes.IDs[0] != 1 {
			t.Errorf("node ID %s after %v", h.nodes.Spec(), took)
		}
		check.OK(t, h.close())
		s.reporter.close()
	})
}

// The node ID stays in use as long as the program's generator was ahead of the clock, also if the
// clock was set back. If processes go on, nobody knows the last time.
func TestLastTime(t *testing.T) {
	s := newStarter(t, newUnsteady(), &bytes.Buffer{})
	defer s.reporter.close()
	end := time.Now()
	for name, c := range map[string]struct {
		program *program
		keeper  *keeper
		want    time.Time
	}{
		"usual": {&program{last: end}, &keeper{latest: end.Add(-time.Second)},
			end.Add(10 * time.Second)},
		"set back": {&program{last: end}, &keeper{latest: end.Add(time.Hour)},
			end.Add(time.Hour + 10*time.Second)},
		"goes on": {&program{last: end, left: []int{1}}, &keeper{latest: end}, time.Time{}},
	} {
		if got := s.lastTime(c.program, c.keeper); !got.Equal(c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// A lossy lessor grants, but for a while its answers get lost.
type lossy struct {
	*lease.StoreLessor
	until time.Time
}

func (l lossy) Acquire(ctx context.Context, realm string, r lease.AcquireRequest) (lease.Grant,
	error) {
	g, err := l.StoreLessor.Acquire(ctx, realm, r)
	if time.Now().Before(l.until) {
		<-ctx.Done()
		return lease.Grant{}, context.Cause(ctx)
	}
	return g, err
}

type lossySource struct {
	store.Source
	lossy
}

func (s lossySource) Acquire(ctx context.Context, c lease.Config) (*lease.Lease, error) {
	return lease.AcquireFrom(ctx, s.lossy, c)
}

// While answers get lost, all tries of a start ask for the same node ID. So n programs hold n.
func TestStartWithLostAnswers(t *testing.T) {
	for _, count := range []int{0, 3} {
		synctest.Test(t, func(t *testing.T) {
			const programs = 4
			u := newUnsteady()
			realm := lease.Config{Realm: "many", NodeBits: 5, OneSize: true,
				Window: nodeid.UsualPace.Window}
			check.Must(lease.Create(t.Context(), u, realm))(t)
			lossy := lossy{lease.NewLessor(u, lease.LessorOptions{}), time.Now().Add(time.Minute)}
			var wg sync.WaitGroup
			held := make([]*holding, programs)
			for i := range held {
				s := newStarter(t, u, &bytes.Buffer{})
				s.options.Count, s.options.Realm = count, realm
				s.source = lossySource{store.Direct{Store: u}, lossy}
				wg.Go(func() {
					held[i] = check.Must(s.acquire(t.Context(), true))(t)
					s.reporter.close()
				})
				time.Sleep(100 * time.Millisecond)
			}
			wg.Wait()
			_, blocks, err := lease.Records(t.Context(), u, realm.Realm)
			check.OK(t, err)
			blocks = slices.DeleteFunc(blocks, func(r lease.Record) bool {
				return r.Owner == (lease.Owner{})
			})
			if want := programs * max(1, count); len(blocks) != want {
				t.Errorf("%d programs with --count %d hold %d node IDs, want %d", programs, count,
					len(blocks), want)
			}
			for _, h := range held {
				check.OK(t, h.close())
			}
		})
	}
}

// differing is a lessor whose clock differs from this machine's clock.
type differing struct{ *lease.StoreLessor }

func (l differing) Acquire(ctx context.Context, realm string, r lease.AcquireRequest) (lease.Grant,
	error) {
	g, err := l.StoreLessor.Acquire(ctx, realm, r)
	g.StartsIn, g.ValidFor = 5*time.Second, time.Minute
	return g, err
}

// A program begins and ends by the clock of the store, even if its own clock differs. So it is the
// only user of its node ID.
func TestSoleUse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := newUnsteady()
		s := newStarter(t, u, &bytes.Buffer{})
		defer s.reporter.close()
		realm := s.options.Realm
		h := check.Must(acquire(t.Context(), 1, func(ctx context.Context) (*lease.Lease, error) {
			return lease.AcquireFrom(ctx, differing{lease.NewLessor(u, lease.LessorOptions{})}, realm)
		}))(t)
		now := time.Now()
		from := check.Must(h.start())(t)
		if d := from.Sub(now); d < 5*time.Second || d > 6*time.Second {
			t.Errorf("the program starts after %v", d)
		}
		if d := h.until().Sub(now); d > time.Minute || d < 59*time.Second {
			t.Errorf("the program ends after %v", d)
		}
		check.OK(t, h.close())
	})
}
