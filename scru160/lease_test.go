package scru160

import (
	"errors"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/sortid/sortid"
	"github.com/sortid/sortid/internal/check"
	"github.com/sortid/sortid/internal/conformance"
	"github.com/sortid/sortid/internal/window"
)

// newWindow returns a window that grants node ID 5 for the ticks lo to hi-1, counted from
// conformance.Start.
func newWindow(size int, lo, hi int64) *window.Window {
	w := window.New(size, time.Millisecond, time.UnixMilli(0))
	start := conformance.Start.UnixMilli()
	w.Set(window.Grant{NodeID: 5, Lo: start + lo, Hi: start + hi}, start+hi)
	return w
}

func TestGeneratorOnLease(t *testing.T) {
	for name, c := range map[string]struct {
		burst, size, random int
		o                   Options
	}{
		"default":      {1<<15 + 1, 8, 8, Options{}},
		"16 bits":      {1<<15 + 1, 16, 0, Options{}},
		"extension":    {1<<20 - 1<<10, 8, 4, Options{CounterExtension: 4, CounterWidth: 10}},
		"microseconds": {1<<5 + 1, 8, 8, Options{Microseconds: true}},
		"microseconds, extension": {1<<8 + 1, 8, 5,
			Options{Microseconds: true, CounterExtension: 3}},
	} {
		g := subject(c.burst, c.random)
		g.New = func(t testing.TB, s conformance.Setup) conformance.Gen[ID] {
			o := c.o
			o.Lease = newWindow(c.size, -1<<40, 1<<40)
			return newGenerator(t, s, o)
		}
		g.Leased, g.Default = true, sortid.RollbackAbort
		t.Run(name, g.Run)
	}
}

func TestLease(t *testing.T) {
	for _, c := range []struct {
		size, ext int
		micros    bool
	}{
		{3, 0, false}, {8, 0, false}, {16, 0, false}, {12, 4, false},
		{8, 0, true}, {13, 3, true},
	} {
		g := conformance.Leased[ID]{
			New: func(t testing.TB, l sortid.Lease,
				s conformance.Setup) (conformance.Gen[ID], error) {
				return NewGenerator(Options{GeneratorOptions: s, CounterExtension: c.ext,
					Microseconds: c.micros, Lease: l})
			},
			Tick: time.Millisecond, Epoch: time.UnixMilli(0), Size: c.size, Last: MaxTimestamp,
			Node: func(id ID) uint32 {
				return uint32(id.Random16()>>(16-c.ext-c.size)) & (1<<c.size - 1)
			},
			At: func(id ID) int64 { return int64(id.Timestamp()) },
		}
		t.Run(fmt.Sprintf("%+v", c), g.Run)
	}
}

// If the claimed millisecond is ahead of the clock, its IDs start at microsecond 0. One claim lasts
// to the end of the millisecond.
func TestClaimLastsToTheEndOfTheMillisecond(t *testing.T) {
	for _, policy := range []sortid.RollbackPolicy{sortid.RollbackDefault, sortid.RollbackWait} {
		clock := conformance.NewClock(conformance.Start.Add(300 * time.Microsecond))
		l := newWindow(8, 2, 9)
		g := newGenerator(t, conformance.Setup{Clock: clock.Now, RollbackPolicy: policy},
			Options{Microseconds: true, Lease: l})
		var last ID
		next := func(ms int64, micros int) {
			t.Helper()
			id, err := g.Generate()
			at := int64(id.Timestamp()) - conformance.Start.UnixMilli()
			if err != nil || at != ms || int(id.Micros()) != micros || id.Compare(last) <= 0 {
				t.Fatalf("%v: %d ms %d µs after %v, %v; want %d ms %d µs", id.Hex(), at,
					id.Micros(), last.Hex(), err, ms, micros)
			}
			last = id
		}
		next(2, 0)
		clock.Add(1700 * time.Microsecond)
		next(2, 0)
		clock.Add(5 * time.Microsecond)
		next(2, 5)
		if used := l.Used() - conformance.Start.UnixMilli(); used != 2 {
			t.Errorf("the last millisecond claimed is %d, want 2", used)
		}

		h := newGenerator(t, conformance.Setup{Clock: clock.Now},
			Options{Microseconds: true, Lease: l})
		if id, err := h.Generate(); err != nil ||
			id.Time() != conformance.Start.Add(3*time.Millisecond) || id.Micros() != 0 {
			t.Fatalf("the other generator: %v %v, %v", id.Time(), id.Micros(), err)
		}
		clock.Add(994 * time.Microsecond)
		next(2, 999)
		clock.Add(time.Microsecond)
		next(4, 0)
		clock.Add(1500 * time.Microsecond)
		next(4, 500)

		l.Close()
		clock.Add(499 * time.Microsecond)
		next(4, 999)
		clock.Add(time.Microsecond)
		if id, err := g.Generate(); !errors.Is(err, sortid.ErrLeaseClosed) {
			t.Fatalf("%v: %v, %v after the end of the last millisecond", policy, id.Hex(), err)
		}
	}
}

// If the claimed tick is too far ahead of the clock, the generator uses it later, when the clock is
// within the allowance.
func TestClaimedTickAheadOfTheClockIsUsedLater(t *testing.T) {
	for _, c := range []struct {
		unit  time.Duration
		start int
		o     Options
	}{
		{time.Millisecond, 1<<15 - 1, Options{}},
		{time.Millisecond, 0, Options{CounterWidth: -1}},
		{time.Microsecond, 1<<5 - 1, Options{Microseconds: true}},
		{time.Microsecond, 0, Options{Microseconds: true, CounterWidth: -1}},
	} {
		clock := conformance.NewClock(conformance.Start)
		c.o.Lease = newWindow(8, 5, 9)
		g := newGenerator(t, conformance.Setup{Clock: clock.Now,
			Entropy: conformance.Constant(0xff), RollbackAllowance: 3 * time.Millisecond}, c.o)
		if id, err := g.Generate(); !errors.Is(err, sortid.ErrClockRollback) {
			t.Fatalf("%v, %v, want ErrClockRollback", id, err)
		}
		clock.Add(2 * time.Millisecond)
		id, err := g.Generate()
		if err != nil || int(id.Counter()) != c.start ||
			!id.Time().Equal(conformance.Start.Add(5*time.Millisecond)) {
			t.Errorf("counter %d at %v, %v, want %d", id.Counter(), id.Time(), err, c.start)
		}
		g.counter = g.maxCounter
		want := conformance.Start.Add(5*time.Millisecond + c.unit)
		id, err = g.GenerateContext(conformance.Ended(t))
		if until, _ := g.core.Waits(); !errors.Is(err, sortid.ErrOverflow) || !until.Equal(want) {
			t.Errorf("%v, %v, until %v, want ErrOverflow until %v", id, err, until, want)
		}
	}
}

// The entropy fails after a claim, and then the clock goes back. The generator continues in the
// earlier tick, with the node ID of that tick.
func TestFailedEntropyKeepsTheClaim(t *testing.T) {
	clock := conformance.NewClock(conformance.Start)
	l := newWindow(8, 0, 1)
	source := &conformance.Limited{Reader: conformance.Constant(0), Left: 1000, Err: io.EOF}
	g := newGenerator(t, conformance.Setup{Clock: clock.Now, Entropy: source}, Options{Lease: l})
	node := func() (uint16, time.Time) {
		t.Helper()
		id := check.Must(g.Generate())(t)
		return id.Random16() >> 8, id.Time()
	}
	node()

	start := conformance.Start.UnixMilli()
	l.Set(window.Grant{NodeID: 6, Lo: start + 1, Hi: start + 9}, start+9)
	clock.Add(time.Millisecond)
	source.Left = 0
	if id, err := g.Generate(); !errors.Is(err, sortid.ErrEntropy) {
		t.Fatalf("%v, %v, want ErrEntropy", id, err)
	}
	clock.Add(-time.Millisecond)
	source.Left = 1000
	if n, at := node(); n != 5 || !at.Equal(conformance.Start) {
		t.Errorf("node ID %d at %v, want 5", n, at)
	}
	clock.Add(time.Millisecond)
	if n, at := node(); n != 6 || !at.After(conformance.Start) {
		t.Errorf("node ID %d at %v, want 6", n, at)
	}
}
