package supervise

import (
	"bytes"
	"context"
	"errors"
	"strings"
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
		OneSize: true, Window: nodeid.ProgramWindow}}
	check.Must(lease.Create(t.Context(), u, o.Realm))(t)
	c := &console.Console{Err: stderr, Width: 80}
	return &starter{options: o, reporter: check.Must(newReporter(c, "", "r"))(t),
		source: &store.Source{Store: u}}
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
