package scru160

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/sortid/sortid"
	"github.com/sortid/sortid/internal/check"
	"github.com/sortid/sortid/internal/conformance"
)

func full(t *testing.T, s conformance.Setup, o Options) (*Generator, *conformance.Clock) {
	clock := conformance.NewClock(conformance.Start)
	s.Clock, s.Entropy = clock.Now, conformance.Entropy(1)
	g := newGenerator(t, s, o)
	check.Must(g.Generate())(t)
	g.counter = g.maxCounter
	return g, clock
}

// whenWaiting moves the clock by a step when the generator waits for the next tick.
func whenWaiting(g *Generator, clock *conformance.Clock, unit, step time.Duration) {
	next := clock.Now().Add(unit)
	for waits := false; !waits; time.Sleep(time.Millisecond) {
		g.core.Lock()
		until, _ := g.core.Waits()
		g.core.Unlock()
		waits = until.Equal(next)
	}
	clock.Add(step)
}

func TestOverflow(t *testing.T) {
	for _, c := range []struct {
		unit time.Duration
		o    Options
	}{{time.Millisecond, Options{}}, {time.Microsecond, Options{Microseconds: true}}} {
		g, clock := full(t, conformance.Setup{}, c.o)
		go whenWaiting(g, clock, c.unit, c.unit)
		id, err := g.Generate()
		if err != nil || !id.Time().Equal(clock.Now().Truncate(time.Millisecond)) {
			t.Errorf("%v, %v", id.Time(), err)
		}
		g.counter = g.maxCounter - 3
		go whenWaiting(g, clock, c.unit, c.unit)
		ids := make([]ID, 20)
		check.Must(ID{}, g.Fill(ids))(t)
		conformance.Increasing(t, ids)
		if low, next := ids[2].Counter(), ids[3].Counter(); !g.micros && low != 0xffff ||
			g.micros && low != 1<<6|63 || next>>15 != 0 {
			t.Errorf("counters around the tick's end: %#x, %#x", low, next)
		}

		g, _ = full(t, conformance.Setup{}, c.o)
		g.counter--
		cause := errors.New("cause")
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(cause)
		err = g.FillContext(ctx, ids)
		if !errors.Is(err, sortid.ErrOverflow) || !errors.Is(err, context.Canceled) ||
			!errors.Is(err, cause) {
			t.Errorf("%v, want sortid.ErrOverflow, Canceled and the cause", err)
		}
		for _, id := range ids {
			if !id.IsZero() {
				t.Fatalf("Fill fails and leaves %v", id)
			}
		}

		for policy, want := range map[sortid.RollbackPolicy]error{sortid.RollbackReset: nil,
			sortid.RollbackAbort: sortid.ErrClockRollback} {
			g, clock := full(t, conformance.Setup{RollbackPolicy: policy}, c.o)
			go whenWaiting(g, clock, c.unit, -time.Hour)
			id, err := g.Generate()
			if !errors.Is(err, want) || want == nil && !id.Time().Equal(clock.Now()) {
				t.Errorf("the clock goes back during the wait: %v, %v", id, err)
			}
		}

		// The counter is full and the clock is a little behind, so the last tick must pass first.
		g, clock = full(t, conformance.Setup{}, c.o)
		clock.Add(-5 * c.unit)
		if id, err := g.GenerateContext(conformance.Ended(t)); !errors.Is(err, sortid.ErrOverflow) {
			t.Errorf("%v, %v, want ErrOverflow", id, err)
		}
		clock.Add(6 * c.unit)
		check.Must(g.Generate())(t)
	}
}

// TestTickHasRoomForThePromisedIDs on the fast path, with the system's entropy.
func TestFastPathTickHasRoomForThePromisedIDs(t *testing.T) {
	for _, c := range []struct {
		m    mode
		unit time.Duration
	}{
		{mode{}, time.Millisecond},
		{mode{ext: 4}, time.Millisecond},
		{mode{micros: true}, time.Microsecond},
		{mode{micros: true, ext: 16}, time.Microsecond},
	} {
		clock := conformance.NewClock(conformance.Start)
		g := newGenerator(t, conformance.Setup{Clock: clock.Now}, c.m.options())
		first := check.Must(g.Generate())(t)
		ctx := conformance.Ended(t)
		ids := make([]ID, 4)
		for _, batch := range []bool{false, true} {
			g.counter = g.maxCounter - 3
			for i := range ids[:3] {
				if !batch {
					ids[i] = check.Must(g.GenerateContext(ctx))(t)
				} else if i == 0 {
					check.Must(ID{}, g.FillContext(ctx, ids[:3]))(t)
				}
				if counter, _ := c.m.counter(ids[i]); counter != int(g.maxCounter)-2+i ||
					!ids[i].Time().Equal(first.Time()) {
					t.Errorf("%+v, batch %v: ID %d has the counter %#x and the time %v", c.m, batch,
						i, counter, ids[i].Time())
				}
			}
		}
		id, err := g.GenerateContext(ctx)
		if until, _ := g.core.Waits(); !errors.Is(err, sortid.ErrOverflow) ||
			!until.Equal(conformance.Start.Add(c.unit)) {
			t.Errorf("%+v: %v, %v, until %v, want ErrOverflow until the next tick", c.m, id, err,
				until)
		}
		g.counter = g.maxCounter - 3
		if err := g.FillContext(ctx, ids); !errors.Is(err, sortid.ErrOverflow) {
			t.Errorf("%+v: Fill %v, %v, want ErrOverflow", c.m, ids, err)
		}
	}
}

// Even if the IDs do not fit in a millisecond, they are in order, and no ID is ahead of the clock.
func TestIDsAreInOrderWhenMoreThanFit(t *testing.T) {
	for name, o := range map[string]Options{"milliseconds": {},
		"microseconds": {Microseconds: true}} {
		g := newGenerator(t, conformance.Setup{}, o)
		start := time.Now().Truncate(time.Millisecond)
		g.Generate()
		ids := make([]ID, 0, 5000)
		for len(ids) < cap(ids) {
			if len(ids)%500 == 0 {
				g.core.Lock()
				g.core.Close()
				g.counter = g.maxCounter
				g.core.Unlock()
			}
			id := check.Must(g.Generate())(t)
			if now := time.Now(); id.Time().After(now) || id.Time().Before(start) {
				t.Fatalf("%s: %v at %v", name, id.Time(), now)
			}
			ids = append(ids, id)
		}
		conformance.Increasing(t, ids)
	}
}

func TestMicroseconds(t *testing.T) {
	clock := conformance.NewClock(conformance.Start)
	g := newGenerator(t, conformance.Setup{Clock: clock.Now, Entropy: conformance.Entropy(2)},
		Options{Microseconds: true})
	var last ID
	for us := range int64(2000) {
		for i := range 3 {
			id := check.Must(g.Generate())(t)
			if id.Micros() != int(us%1000) ||
				!id.Time().Equal(conformance.Start.Add(time.Duration(us/1000)*time.Millisecond)) {
				t.Fatalf("after %d µs: %v %d", us, id.Time(), id.Micros())
			}
			if id.Compare(last) <= 0 || i == 0 && id.CounterLow() > 31 ||
				i > 0 && id.CounterLow() != last.CounterLow()+1 {
				t.Fatalf("%v after %v", id.Hex(), last.Hex())
			}
			last = id
		}
		clock.Add(time.Microsecond)
	}
	clock.Add(999 * time.Nanosecond)
	a, _ := g.Generate()
	clock.Add(time.Nanosecond)
	b, _ := g.Generate()
	if b.Micros() != a.Micros()+1 {
		t.Errorf("%d, %d", a.Micros(), b.Micros())
	}
}

func TestMicrosecondAllowance(t *testing.T) {
	clock := conformance.NewClock(conformance.Start)
	g := newGenerator(t, conformance.Setup{Clock: clock.Now, Entropy: conformance.Entropy(2),
		RollbackPolicy: sortid.RollbackAbort, RollbackAllowance: 7*time.Microsecond + 999},
		Options{Microseconds: true})
	g.Generate()
	clock.Add(-7 * time.Microsecond)
	check.Must(g.Generate())(t)
	clock.Add(-time.Microsecond)
	if _, err := g.Generate(); !errors.Is(err, sortid.ErrClockRollback) {
		t.Errorf("%v, want ErrClockRollback", err)
	}
}
