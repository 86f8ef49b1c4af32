package scru128

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/sortid/sortid"
	"github.com/sortid/sortid/internal/check"
	"github.com/sortid/sortid/internal/conformance"
	"github.com/sortid/sortid/internal/gencore"
)

func newGenerator(t testing.TB, s conformance.Setup, own ...Options) *Generator {
	t.Helper()
	o := append(own, Options{})[0]
	o.GeneratorOptions = s
	return check.Must(NewGenerator(o))(t)
}

func subject(own ...Options) conformance.Generator[ID] {
	return conformance.Generator[ID]{
		New: func(t testing.TB, s conformance.Setup) conformance.Gen[ID] {
			return newGenerator(t, s, own...)
		},
		Tick: time.Millisecond, Default: sortid.RollbackReset,
		Burst: 1 << 24, Leads: true, AtBits: 80,
		Range:  [2]time.Time{time.UnixMilli(1), time.UnixMilli(MaxTimestamp - 1)},
		Random: []byte{12: 0xff, 0xff, 0xff, 0xff},
		Core:   func(g conformance.Gen[ID]) *gencore.Core { return &g.(*Generator).core },
	}
}

func TestGenerator(t *testing.T) {
	g := subject()
	g.Run(t)
}

func TestStateless(t *testing.T) {
	g := subject(Options{Stateless: true})
	g.Unordered = true
	g.Random = []byte{6: 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}
	g.Run(t)

	clock := conformance.NewClock(conformance.Start)
	gen := newGenerator(t, conformance.Setup{Clock: clock.Now, Entropy: conformance.Entropy(1)},
		Options{Stateless: true})
	hi, lo := map[uint32]bool{}, map[uint32]bool{}
	for range 100 {
		id := check.Must(gen.Generate())(t)
		hi[id.CounterHi()], lo[id.CounterLo()] = true, true
	}
	if len(hi) < 99 || len(lo) < 99 {
		t.Errorf("of 100 counters only %d and %d differ", len(hi), len(lo))
	}
	clock.Add(-time.Hour)
	if id, err := gen.Generate(); err != nil || !id.Time().Equal(clock.Now()) {
		t.Errorf("after a rollback: %v, %v", id.Time(), err)
	}
}

func TestNew(t *testing.T) {
	conformance.New(t, &global,
		func(s conformance.Setup) *Generator { return newGenerator(t, s) }, New, NewString)
}

// With the system's entropy, NewString returns the texts of the IDs that New would make.
func TestNewStringSystem(t *testing.T) {
	clock := conformance.NewClock(conformance.Start)
	defer func(g *Generator) { global = g }(global)
	global = newGenerator(t, conformance.Setup{Clock: clock.Now})
	last := New()
	twin := newGenerator(t, conformance.Setup{Clock: clock.Now})
	twin.core.Rand = global.core.Rand // has the same random words in its buffer
	twin.timestamp, twin.settledTick = global.timestamp, global.settledTick
	twin.counter = global.counter
	for range 100 {
		want, err := twin.Generate()
		if got := NewString(); err != nil || got != want.String() || want.Compare(last) <= 0 {
			t.Fatalf("%s, want %v", got, want)
		}
		last = want
	}
}

func TestOptions(t *testing.T) {
	conformance.Refused(t, NewGenerator, map[string][]Options{
		"RollbackPolicy": {{GeneratorOptions: conformance.NoPolicy}},
	})
}

func TestThreeLayers(t *testing.T) {
	clock := conformance.NewClock(conformance.Start)
	g := newGenerator(t, conformance.Setup{Clock: clock.Now, Entropy: conformance.Entropy(1)})
	next := func() ID {
		id := check.Must(g.Generate())(t)
		return id
	}
	a := next()
	for ms := 0; ms < 5000; ms++ {
		b := next()
		if b.CounterLo() != a.CounterLo()+1 || b.CounterHi() != a.CounterHi() ||
			b.Entropy() == a.Entropy() {
			t.Fatalf("within a millisecond: %v after %v", UUID(b), UUID(a))
		}
		clock.Add(time.Millisecond)
		a = next()
		if a.CounterLo() == b.CounterLo()+1 {
			t.Fatalf("in a new millisecond counter_lo continued: %v after %v", UUID(a), UUID(b))
		}
		if renewed := a.CounterHi() != b.CounterHi(); renewed != (ms%1000 == 999) {
			t.Fatalf("after %d ms: counter_hi renewed %v", ms+1, renewed)
		}
	}
}

// When counter_lo is full, counter_hi goes up by one. When both are full, the timestamp goes up.
func TestOverflow(t *testing.T) {
	for _, c := range []struct {
		policy sortid.RollbackPolicy
		err    error
	}{{sortid.RollbackAbort, sortid.ErrClockRollback}, {sortid.RollbackReset, nil}} {
		clock := conformance.NewClock(conformance.Start)
		g := newGenerator(t, conformance.Setup{
			Clock: clock.Now, Entropy: conformance.Constant(0xff), RollbackPolicy: c.policy,
			RollbackAllowance: 5 * time.Millisecond})
		start := uint64(conformance.Start.UnixMilli())
		want, _ := FromFields(start, MaxCounterHi, MaxCounterLo, MaxEntropy)
		for i := range uint64(6) {
			id, err := g.Generate()
			if err != nil || id != want {
				t.Fatalf("ID %d: %v, %v, want %v", i, UUID(id), err, UUID(want))
			}
			g.counter = maxCounter
			want, _ = FromFields(start+1+i, 0, MaxCounterLo, MaxEntropy)
		}
		id, err := g.Generate()
		if !errors.Is(err, c.err) {
			t.Fatalf("with a lead of 5 ms: %v, want %v", err, c.err)
		}
		if c.err == nil && id.Timestamp() != start {
			t.Errorf("after the reset: %v", UUID(id))
		}
	}

	clock := conformance.NewClock(conformance.Start)
	g := newGenerator(t, conformance.Setup{Clock: clock.Now, Entropy: conformance.Constant(0)})
	g.Generate()
	g.counter = 7<<24 | MaxCounterLo
	if id, err := g.Generate(); err != nil || id.CounterHi() != 8 || id.CounterLo() != 0 {
		t.Errorf("counter_lo full: %v, %v", UUID(id), err)
	}
}

// TestOverflow on the fast path, with the system's entropy.
func TestOverflowFastPath(t *testing.T) {
	for _, size := range []int{1, 9} {
		// The timestamp is odd, so the test notices a carry that only sets the last bit.
		clock := conformance.NewClock(conformance.Start.Add(time.Millisecond))
		g := newGenerator(t, conformance.Setup{Clock: clock.Now})
		last := check.Must(g.Generate())(t)
		g.counter = maxCounter - 4
		for i := 0; i < 9; i += size {
			ids := make([]ID, size)
			if size > 1 {
				check.Must(ID{}, g.Fill(ids))(t)
			} else {
				ids[0] = check.Must(g.Generate())(t)
			}
			for j, id := range ids {
				n := i + j
				lead := id.Timestamp() - uint64(clock.Now().UnixMilli())
				counter := uint64(id.CounterHi())<<24 | uint64(id.CounterLo())
				full := counter == uint64(maxCounter-3)+uint64(n)
				if id.Compare(last) <= 0 || n < 4 && (lead != 0 || !full) ||
					n >= 4 && (lead != 1 || id.CounterHi() != 0) {
					t.Fatalf("batches of %d: ID %d is %v after %v", size, n, UUID(id), UUID(last))
				}
				last = id
			}
		}
	}
}

// With RollbackWait, a generator waits for the next tick if its timestamp is ahead of the clock by
// the allowance.
func TestOverflowWait(t *testing.T) {
	clock := conformance.NewClock(conformance.Start)
	g := newGenerator(t, conformance.Setup{Clock: clock.Now, RollbackPolicy: sortid.RollbackWait,
		RollbackAllowance: 2 * time.Millisecond})
	next := func() (id ID, err error) {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
		defer cancel()
		id, err = g.GenerateContext(ctx)
		g.counter = maxCounter
		return id, err
	}
	for range 3 {
		if _, err := next(); err != nil {
			t.Fatal(err)
		}
	}
	id, err := next()
	if until, _ := g.core.Waits(); !errors.Is(err, context.DeadlineExceeded) ||
		!until.Equal(conformance.Start.Add(time.Millisecond)) {
		t.Errorf("%v, %v until %v, want to wait for the next millisecond", UUID(id), err, until)
	}
	clock.Add(time.Millisecond)
	if id, err := next(); err != nil ||
		!id.Time().Equal(conformance.Start.Add(3*time.Millisecond)) {
		t.Errorf("after the wait: %v, %v", UUID(id), err)
	}
}

func TestResetStartsAfresh(t *testing.T) {
	clock := conformance.NewClock(conformance.Start)
	g := newGenerator(t, conformance.Setup{Clock: clock.Now})
	hi, lo := map[uint32]bool{}, map[uint32]bool{}
	for range 100 {
		id, err := g.Generate()
		if err != nil || !id.Time().Equal(clock.Now()) {
			t.Fatalf("%v, %v", UUID(id), err)
		}
		hi[id.CounterHi()], lo[id.CounterLo()] = true, true
		clock.Add(-time.Minute)
	}
	if len(hi) < 99 || len(lo) < 99 {
		t.Errorf("%d and %d different counters after 100 resets", len(hi), len(lo))
	}
}

func TestOverflowAtTheEnd(t *testing.T) {
	clock := conformance.NewClock(time.UnixMilli(MaxTimestamp - 1))
	g := newGenerator(t, conformance.Setup{Clock: clock.Now, Entropy: conformance.Constant(0xff)})
	check.Must(g.Generate())(t)
	if id, err := g.Generate(); !errors.Is(err, sortid.ErrTimeRange) {
		t.Errorf("%v, %v, want ErrTimeRange", UUID(id), err)
	}
}
