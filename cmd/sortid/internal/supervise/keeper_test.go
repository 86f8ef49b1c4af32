package supervise

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sortid/sortid/cmd/sortid/internal/console"
	"github.com/sortid/sortid/cmd/sortid/internal/nodeid"
	"github.com/sortid/sortid/internal/check"
	"github.com/sortid/sortid/internal/words"
	"github.com/sortid/sortid/lease"
	"github.com/sortid/sortid/store"
)

var errAway = errors.New("connection refused")

// An unsteady store can go away. Then requests fail, or they get no answer.
type unsteady struct {
	*lease.Memory
	// 0: there, 1: refuses, 2: does not answer, 3: makes changes, but does not answer them
	mode atomic.Int32
	next atomic.Int32 // if not 0, the mode from the beginning of the next renewal on
	left chan struct{}
}

func newUnsteady() *unsteady {
	return &unsteady{Memory: lease.NewMemory(), left: make(chan struct{})}
}

func (u *unsteady) wait(ctx context.Context) error {
	switch u.mode.Load() {
	case 1:
		return errAway
	case 2:
		<-ctx.Done()
		return context.Cause(ctx)
	}
	return nil
}

func (u *unsteady) Get(ctx context.Context, realm string, b lease.Block) (lease.Record, error) {
	if err := u.wait(ctx); err != nil {
		return lease.Record{}, err
	}
	return u.Memory.Get(ctx, realm, b)
}

func (u *unsteady) GetMany(ctx context.Context, realm string, b []lease.Block) ([]lease.Record,
	error) {
	if err := u.wait(ctx); err != nil {
		return nil, err
	}
	return u.Memory.GetMany(ctx, realm, b)
}

func (u *unsteady) CompareAndSet(ctx context.Context, prev, next lease.Record) (bool, error) {
	if err := u.wait(ctx); err != nil {
		return false, err
	}
	ok, err := u.Memory.CompareAndSet(ctx, prev, next)
	if err == nil && u.mode.Load() == 3 {
		<-ctx.Done()
		err = context.Cause(ctx)
	}
	return ok, err
}

func (u *unsteady) CompareAndSetMany(ctx context.Context, changes []lease.Change) (bool, error) {
	if err := u.wait(ctx); err != nil {
		return false, err
	}
	ok, err := u.Memory.CompareAndSetMany(ctx, changes)
	if err == nil && u.mode.Load() == 3 {
		<-ctx.Done()
		err = context.Cause(ctx)
	}
	return ok, err
}

func (u *unsteady) Time(ctx context.Context) (time.Time, error) {
	if mode := u.next.Swap(0); mode != 0 {
		u.mode.Store(mode)
		close(u.left)
	}
	if err := u.wait(ctx); err != nil {
		return time.Time{}, err
	}
	return u.Memory.Time(ctx)
}

func (u *unsteady) String() string       { return "unsteady" }
func (u *unsteady) Conditions() []string { return nil }

// A puppet is a program that only takes note of its signals.
type puppet struct {
	terminated, killed time.Time
	gone               chan struct{}
	alone              atomic.Bool // without a watchdog
	known              deadlines
}

func newPuppet() *puppet { return &puppet{gone: make(chan struct{})} }

func (p *puppet) tell(d deadlines) error { p.known = d; return nil }
func (p *puppet) unguarded() bool        { return p.alone.Load() }
func (p *puppet) end(time.Duration) {
	p.terminated = time.Now()
	close(p.gone)
}
func (p *puppet) kill() {
	if p.killed = time.Now(); p.terminated.IsZero() {
		p.end(0)
	}
}

// A stage has what a test needs for a keeper in a bubble of synctest.
type stage struct {
	*testing.T
	*starter
	store  *unsteady
	stderr bytes.Buffer // complete after end
	held   *holding
	puppet *puppet
	keeper *keeper
	kept   chan struct{}
	set    atomic.Int64 // by how much the wall clock was set
	latest time.Time    // the keeper's latest time at its last call of changed
	now    func() moment
}

// newStage leases the node IDs, and begins to watch a puppet.
func newStage(t *testing.T, o Options, window time.Duration) *stage {
	s := &stage{T: t, store: newUnsteady(), puppet: newPuppet(),
		kept: make(chan struct{})}
	o.Realm = lease.Config{Realm: "r", NodeBits: 4, OneSize: true, Window: window}
	check.Must(lease.Create(t.Context(), s.store, o.Realm))(t)
	o.Lease = &nodeid.Options{}
	if o.Times == (Times{}) {
		o.Times = Usual
	}
	c := &console.Console{Err: &s.stderr, Width: 80}
	s.starter = &starter{options: &o, reporter: check.Must(newReporter(c, o.Status, "r"))(t),
		source: store.Direct{Store: s.store}}
	s.held = check.Must(s.acquire(t.Context(), false))(t)
	began := time.Now()
	s.now = func() moment {
		wall := time.Now().Round(0).Add(time.Duration(s.set.Load()))
		return moment{wall, time.Since(began)}
	}
	now := s.now()
	s.keeper = &keeper{reporter: s.reporter, times: o.Times, path: "program", held: s.held,
		program: s.puppet, now: s.now, until: s.held.until(), since: now, seen: now,
		latest: now.wall, changed: func() { s.latest = s.keeper.latest }}
	s.reporter.begins(s.held, 1)
	go func() {
		s.keeper.run(s.puppet.gone)
		close(s.kept)
	}()
	return s
}

// end ends the puppet, and returns what was said and why it ended.
func (s *stage) end() (said string, err error) {
	if s.puppet.terminated.IsZero() {
		s.puppet.end(0)
	}
	<-s.kept
	err = s.keeper.result(0, time.Now(), false)
	s.gaveBack(s.held, s.held.release(time.Now().Add(s.options.Times.Ahead)))
	s.reporter.close()
	return s.stderr.String(), err
}

// leave lets the store go away just before a renewal, after n others or more.
func (s *stage) leave(mode int32, n int) {
	time.Sleep(time.Duration(n) * nodeid.UsualPace.RenewAfter(nodeid.UsualPace.Window))
	s.store.next.Store(mode)
	<-s.store.left
}

// With the usual times and the window of new realms, a program survives a store that is away for
// two minutes from just before a renewal, however the store is away.
func TestOutage(t *testing.T) {
	for _, mode := range []int32{1, 2} {
		t.Run(fmt.Sprint("mode ", mode), func(t *testing.T) {
			for range 100 {
				synctest.Test(t, func(t *testing.T) {
					s := newStage(t, Options{}, nodeid.UsualPace.Window)
					s.leave(mode, 2)
					time.Sleep(Outage)
					s.store.mode.Store(0)
					time.Sleep(20 * time.Second)
					if left := time.Until(s.held.until()); left < nodeid.UsualPace.Window/2 {
						t.Errorf("the lease ends in %v", left)
					}
					said, err := s.end()
					if err != nil || !strings.Contains(said, "; the program goes on until ") ||
						!strings.Contains(said, "sortid: the store answers again; node ID ") {
						t.Fatalf("%v; %s", err, said)
					}
					if s.reporter.failed.Load() == 0 {
						t.Error("no failed renewal was counted")
					}
				})
			}
		})
	}
}

// Without the store, the program gets SIGTERM in time, and the message at the first failed renewal
// has said when.
func TestStoreGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, Options{}, nodeid.UsualPace.Window)
		s.leave(2, 1)
		<-s.kept
		want := s.keeper.until.Add(-s.options.Times.Terminate())
		if late := s.puppet.terminated.Sub(want); late < 0 || late > 2*look ||
			!s.puppet.killed.IsZero() {
			t.Errorf("SIGTERM came %v late, SIGKILL at %v", late, s.puppet.killed)
		}
		said, err := s.end()
		var lost *lossError
		if !errors.As(err, &lost) ||
			!strings.Contains(said, "the program goes on until "+words.Time(want)+": ") {
			t.Errorf("%v; %s", err, said)
		}
	})
}

// After the end, others can have the node ID as soon as no ID of the program can be new to them.
func TestFreeAfterEnd(t *testing.T) {
	for ahead, want := range map[time.Duration]time.Duration{
		0: 0, 10 * time.Second: 10 * time.Second, time.Minute: time.Minute} {
		synctest.Test(t, func(t *testing.T) {
			s := newStage(t, Options{Times: Times{Ahead: ahead, Grace: time.Second}},
				nodeid.UsualPace.Window)
			time.Sleep(33 * time.Second)
			if said, err := s.end(); err != nil {
				t.Errorf("%v; %s", err, said)
			}
			r := check.Must(s.store.Get(t.Context(), "r@"+generation(t, s.store),
				lease.Block{NodeID: s.held.nodes.IDs[0], Size: 4}))(t)
			mark := time.UnixMilli(r.HWM)
			if free := time.Until(mark); free != want+time.Millisecond || r.Owner != (lease.Owner{}) {
				t.Errorf("after the end, others can use it after %v, want %v", free, want)
			}
		})
	}
}

func generation(t *testing.T, st lease.Store) string {
	return check.Must(lease.Realm(t.Context(), st, "r"))(t).Generation
}

// If one lease of several is evicted, the program ends at the next renewal.
func TestEvicted(t *testing.T) {
	for _, count := range []int{0, 4} {
		synctest.Test(t, func(t *testing.T) {
			s := newStage(t, Options{Count: count}, nodeid.UsualPace.Window)
			nodes := s.held.nodes
			last := lease.Block{NodeID: nodes.IDs[len(nodes.IDs)-1], Size: 4}
			if ok, err := lease.Evict(t.Context(), s.store, "r", last, lease.Owner{}); !ok {
				t.Fatal(err)
			}
			began := time.Now()
			<-s.kept
			if took := time.Since(began); took > nodeid.UsualPace.RenewAfter(nodeid.UsualPace.Window)+time.Second {
				t.Errorf("the program ended after %v", took)
			}
			var lost *lossError
			if said, err := s.end(); !errors.As(err, &lost) ||
				!strings.Contains(err.Error(), "was evicted") ||
				strings.Contains(said, "cannot be renewed") {
				t.Errorf("%v; %s", err, said)
			}
			// All node IDs are free again.
			for _, id := range nodes.IDs {
				r := check.Must(s.store.Get(t.Context(), "r@"+generation(t, s.store),
					lease.Block{NodeID: id, Size: 4}))(t)
				if r.Owner != (lease.Owner{}) {
					t.Errorf("node ID %v is held", r.Block)
				}
			}
		})
	}
}

// All node IDs are leased, or none.
func TestCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first := newStage(t, Options{Count: 10}, nodeid.UsualPace.Window)
		ids := first.held.nodes.IDs
		if !slices.IsSorted(ids) || len(slices.Compact(slices.Clone(ids))) != 10 {
			t.Errorf("node IDs %v, want ten, ascending", ids)
		}
		more := &starter{options: &Options{Lease: &nodeid.Options{}, Realm: first.options.Realm, Count: 7,
			Times: Usual}, reporter: first.reporter, source: first.source}
		if _, err := more.acquire(t.Context(), false); !errors.Is(err, lease.ErrFull) ||
			!strings.HasPrefix(err.Error(), "6 of 7 node IDs are free; ") ||
			strings.Contains(err.Error(), "held") {
			t.Errorf("%v", err)
		}
		more.options.Count = 6
		h := check.Must(more.acquire(t.Context(), false))(t)
		check.OK(t, h.close())
		// It waits until there are enough.
		more.options.Count = 7
		go func() {
			time.Sleep(time.Minute)
			first.end()
		}()
		began := time.Now()
		h = check.Must(more.acquire(t.Context(), true))(t)
		if took := time.Since(began); took < time.Minute {
			t.Errorf("it waited for %v", took)
		}
		check.OK(t, h.close())
		<-first.reporter.idle
	})
}

// After a freeze past the end of the lease, the program gets SIGKILL and nothing else.
func TestStoodStill(t *testing.T) {
	for _, c := range []struct {
		name string
		late bool          // the watchdog has ended the program
		last time.Duration // when, after the freeze's begin
		want []string
		not  string
	}{
		{"frozen", false, 193 * time.Second, []string{
			"sortid: this machine or container stood still for 193 s, past the lease's end\n"},
			"sortid was stopped"},
		{"frozen, and the watchdog is faster", true, 193 * time.Second, []string{
			"sortid: this machine or container stood still for 193 s, past the lease's end\n"},
			"sortid was stopped"},
		{"stopped", true, 140 * time.Second, []string{"sortid was stopped, and the lease ended at "},
			"stood still"},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newStage(t, Options{}, nodeid.UsualPace.Window)
			time.Sleep(time.Second)
			s.puppet.kill() // the loop ends, so that look can be called
			<-s.kept
			s.puppet = newPuppet()
			s.keeper.program = s.puppet
			s.keeper.seen = s.now()
			began := s.keeper.seen.wall
			time.Sleep(193 * time.Second)
			s.keeper.look(s.now())
			if s.puppet.killed.IsZero() {
				t.Error("no SIGKILL")
			}
			err := s.keeper.result(137, began.Add(c.last), c.late)
			s.gaveBack(s.held, s.held.close())
			s.reporter.close()
			said := s.stderr.String() + fmt.Sprint(err)
			for _, want := range c.want {
				if !strings.Contains(said, want) || strings.Contains(said, c.not) {
					t.Errorf("%s: %s", c.name, said)
				}
			}
		})
	}
}

// If somebody sets the clock, the program ends in time by the clock that nobody can set, and the
// reason names the clock.
func TestClockSet(t *testing.T) {
	terminate := Usual.Terminate()
	for set, want := range map[time.Duration]struct {
		after time.Duration // at most, when the store is away
		why   string
	}{
		-30 * time.Second: {nodeid.UsualPace.Window - terminate, "clock was set back by 30s"},
		5 * time.Minute:   {0, "clock was set forward by 5m0s"},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newStage(t, Options{}, nodeid.UsualPace.Window)
			s.leave(2, 1)
			began := time.Now()
			s.set.Store(int64(set))
			<-s.kept
			if took := s.puppet.terminated.Sub(began); took > want.after+2*look {
				t.Errorf("set by %v: SIGTERM came after %v, want %v", set, took, want.after)
			}
			said, err := s.end()
			if err == nil || !strings.HasSuffix(err.Error(), want.why) ||
				strings.Contains(said+err.Error(), "stopped") || strings.Contains(said, "stood") {
				t.Errorf("set by %v: %v; %s", set, err, said)
			}
		})
	}
}

// A file of leases must know of a clock that was ahead for a moment between two renewals: the
// program may have IDs of that time.
func TestClockAheadForAMoment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, Options{}, nodeid.UsualPace.Window)
		time.Sleep(time.Second)
		s.set.Store(int64(20 * time.Second))
		ahead := s.now().wall
		time.Sleep(2 * look)
		s.set.Store(0)
		if _, err := s.end(); err != nil {
			t.Error(err)
		}
		if s.latest.Before(ahead) {
			t.Errorf("the file knows %v, but the clock was at %v", s.latest, ahead)
		}
	})
}
