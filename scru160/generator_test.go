package scru160

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/sortid/sortid"
	"github.com/sortid/sortid/internal/conformance"
	"github.com/sortid/sortid/internal/gen"
	"github.com/sortid/sortid/internal/window"
	"github.com/sortid/sortid/lease"
)

var must = conformance.Must[ID]

func newGenerator(t testing.TB, s conformance.Setup, own ...Options) *Generator {
	t.Helper()
	o := append(own, Options{})[0]
	o.GeneratorOptions = s
	return conformance.Must[*Generator](t)(NewGenerator(o))
}

// subject describes a generator. The parameters are the room for IDs in a tick, and the number of
// random bits in random16.
func subject(burst, random int, own ...Options) conformance.Generator[ID] {
	random16 := 1<<random - 1
	mask := append(make([]byte, 8), byte(random16>>8), byte(random16))
	mask = append(mask, bytes.Repeat([]byte{0xff}, 10)...)
	return conformance.Generator[ID]{
		New: func(t testing.TB, s conformance.Setup) conformance.Gen[ID] {
			return newGenerator(t, s, own...)
		},
		Tick: time.Millisecond, Default: sortid.RollbackReset, Burst: burst,
		Range:  [2]time.Time{time.UnixMilli(1), time.UnixMilli(MaxTimestamp - 1)},
		Random: mask,
		Core:   func(g conformance.Gen[ID]) *gen.Core { return &g.(*Generator).core },
	}
}

func TestGenerator(t *testing.T) {
	for name, g := range map[string]conformance.Generator[ID]{
		"default":   subject(1<<15+1, 16),
		"width 0":   subject(1<<16, 16, Options{CounterWidth: -1}),
		"extension": subject(1<<30, 0, Options{CounterExtension: 16}),
		"node":      subject(1<<15+1, 0, Options{NodeID: 0xabcd, NodeBits: 16}),
		"mixed": subject(1<<20-1<<10, 4, Options{CounterExtension: 4, NodeID: 42,
			NodeBits: 8, CounterWidth: 10}),
		"microseconds": subject(1<<5+1, 16, Options{Microseconds: true}),
		"microseconds, mixed": subject(1<<8+1, 5, Options{Microseconds: true, CounterExtension: 3,
			NodeID: 42, NodeBits: 8}),
	} {
		t.Run(name, g.Run)
	}
}

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
			Format: lease.SCRU160, Size: c.size, Last: MaxTimestamp,
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
func TestLeaseMicroseconds(t *testing.T) {
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
func TestLeaseAhead(t *testing.T) {
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
func TestLeaseEntropy(t *testing.T) {
	clock := conformance.NewClock(conformance.Start)
	l := newWindow(8, 0, 1)
	source := &conformance.Limited{Reader: conformance.Constant(0), Left: 1000, Err: io.EOF}
	g := newGenerator(t, conformance.Setup{Clock: clock.Now, Entropy: source}, Options{Lease: l})
	node := func() (uint16, time.Time) {
		t.Helper()
		id := must(t)(g.Generate())
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

func TestNew(t *testing.T) {
	conformance.New(t, &global,
		func(s conformance.Setup) *Generator { return newGenerator(t, s) }, New, NewString)
}

func TestOptions(t *testing.T) {
	conformance.Refused(t, NewGenerator, map[string][]Options{
		"RollbackPolicy": {{GeneratorOptions: conformance.NoPolicy}},
		"CounterWidth": {{CounterWidth: 16}, {CounterWidth: 6, Microseconds: true},
			{CounterWidth: 20, CounterExtension: 4}},
		"CounterExtension": {{CounterExtension: -1}, {CounterExtension: 17}},
		"NodeBits":         {{NodeBits: -1}, {NodeBits: 17}},
		"NodeID": {{NodeID: 256, NodeBits: 8}, {NodeID: 1},
			{Lease: newWindow(8, 0, 1), NodeID: 1}},
		"CounterExtension and NodeBits": {{NodeID: 1, NodeBits: 9, CounterExtension: 8}},
		"CounterExtension and Lease":    {{Lease: newWindow(9, 0, 1), CounterExtension: 8}},
		"Lease": {
			{Lease: newWindow(17, 0, 1)}, {Lease: (*lease.Lease)(nil)}},
		"Lease and NodeBits": {{Lease: newWindow(8, 0, 1), NodeID: 1, NodeBits: 8}},
		"Lease and RollbackPolicy": {
			{Lease: newWindow(8, 0, 1), GeneratorOptions: conformance.Reset}},
	})
	for _, o := range []Options{
		{CounterWidth: 15},
		{CounterWidth: 5, Microseconds: true},
		{Microseconds: true, CounterWidth: 21, CounterExtension: 16},
		{CounterWidth: 31, CounterExtension: 16},
		{NodeID: 1, NodeBits: 8, CounterExtension: 8},
		{NodeID: 0xffff, NodeBits: 16},
		{Lease: newWindow(16, 0, 1)},
		{Lease: newWindow(1, 0, 1), CounterExtension: 15},
	} {
		if _, err := NewGenerator(o); err != nil {
			t.Error(err)
		}
	}
}

// counter returns the counter of an ID, and the bits of random16 after it.
func (m mode) counter(id ID) (counter, rest int) {
	counter = int(id.Counter())
	if m.micros {
		counter = id.CounterLow()
	}
	r := int(id.Random16())
	return counter<<m.ext | r>>(16-m.ext), r & (1<<(16-m.ext) - 1)
}

type mode struct {
	micros                bool
	ext, node, id, random int
}

func (m mode) options() Options {
	o := Options{CounterExtension: m.ext, NodeID: uint16(m.id), NodeBits: m.node,
		Microseconds: m.micros}
	limit := 15 + m.ext
	if m.micros {
		limit = 5 + m.ext
	}
	o.CounterWidth = min(m.random, limit)
	if o.CounterWidth == 0 {
		o.CounterWidth = -1
	}
	return o
}

func TestLayouts(t *testing.T) {
	var modes []mode
	for _, micros := range []bool{false, true} {
		for _, k := range []int{0, 1, 7, 8, 15, 16} {
			for _, n := range []int{0, 1, 8, 9, 15, 16} {
				for _, random := range []int{0, 1, 5, 14, 15, 31} {
					if k+n <= 16 {
						modes = append(modes, mode{micros, k, n, 1<<n - 1 - n&1, random})
					}
				}
			}
		}
	}
	for _, m := range modes {
		t.Run(fmt.Sprintf("%+v", m), func(t *testing.T) { testLayout(t, m) })
	}
}

func testLayout(t *testing.T, m mode) {
	size, unit := 16+m.ext, time.Millisecond
	if m.micros {
		size, unit = 6+m.ext, time.Microsecond
	}
	width := min(m.random, size-1)
	clock := conformance.NewClock(conformance.Start)
	g := newGenerator(t, conformance.Setup{Clock: clock.Now,
		Entropy: conformance.Entropy(uint64(size))}, m.options())
	const ticks, each = 100, 5
	var ones, zeros int64
	var set, clear [10]byte
	var restOnes, restZeros int
	for tick := range ticks {
		var last ID
		for i := range each {
			id := must(t)(g.Generate())
			counter, rest := m.counter(id)
			if i == 0 {
				if int64(counter)>>width != 0 {
					t.Fatalf("tick %d: the counter starts at %#x, want %d bits at most", tick,
						counter, width)
				}
				ones, zeros = ones|int64(counter), zeros|int64(^counter)
			} else if before, _ := m.counter(last); counter != before+1 {
				t.Fatalf("tick %d: counter %#x after %#x", tick, counter, before)
			}
			free := 16 - m.ext - m.node
			if rest>>free != m.id {
				t.Fatalf("%v: node ID %#x, want %#x", id.Hex(), rest>>free, m.id)
			}
			restOnes, restZeros = restOnes|rest, restZeros|^rest
			for i, b := range id.Random80() {
				set[i] |= b
				clear[i] |= ^b
			}
			if m.micros && int64(id.Micros()) != clock.Now().UnixMicro()%1000 ||
				!id.Time().Equal(clock.Now().Truncate(time.Millisecond)) {
				t.Fatalf("%v at %v", id.Hex(), clock.Now())
			}
			last = id
		}
		clock.Add(unit)
	}
	// The chance that a bit never changes is 1 in 2^99.
	if all := int64(1)<<width - 1; ones&all != all || zeros&all != all {
		t.Errorf("of %d random bits of the counter's start only %#x were ever 1 and %#x ever 0",
			width, ones, zeros&all)
	}
	if all := 1<<(16-m.ext-m.node) - 1; restOnes&all != all || restZeros&all != all {
		t.Errorf("random16: only %#x were ever 1 and %#x ever 0", restOnes, restZeros)
	}
	for i := range set {
		if set[i] != 0xff || clear[i] != 0xff {
			t.Errorf("random80, byte %d: only %#x were ever 1 and %#x ever 0", i, set[i], clear[i])
		}
	}
}

// A tick has room for exactly the promised number of IDs. Then the generator waits.
func TestCapacity(t *testing.T) {
	for _, c := range []struct {
		want int
		o    Options
	}{
		{1<<15 + 1, Options{}},
		{1 << 16, Options{CounterWidth: -1}},
		{1<<16 - 1<<8 + 1, Options{CounterWidth: 8}},
		{1<<17 + 1, Options{CounterExtension: 2}},
		{1<<5 + 1, Options{Microseconds: true}},
		{1 << 6, Options{Microseconds: true, CounterWidth: -1}},
		{1<<8 + 1, Options{Microseconds: true, CounterExtension: 3}},
	} {
		clock := conformance.NewClock(conformance.Start)
		g := newGenerator(t, conformance.Setup{Clock: clock.Now,
			Entropy: conformance.Constant(0xff)}, c.o)
		ids := make([]ID, c.want)
		must(t)(ID{}, g.Fill(ids))
		conformance.Increasing(t, ids)
		if last := ids[len(ids)-1]; !last.Time().Equal(conformance.Start) || last.Micros() != 0 &&
			g.micros {
			t.Errorf("the last of %d IDs has the time %v", c.want, last.Time())
		}
		id, err := g.GenerateContext(conformance.Ended(t))
		if !id.IsZero() || !errors.Is(err, sortid.ErrOverflow) ||
			!errors.Is(err, context.Canceled) || errors.Is(err, sortid.ErrClockRollback) {
			t.Errorf("after %d IDs: %v, %v, want sortid.ErrOverflow and the context's error",
				c.want, id, err)
		}
	}
}

func full(t *testing.T, s conformance.Setup, o Options) (*Generator, *conformance.Clock) {
	clock := conformance.NewClock(conformance.Start)
	s.Clock, s.Entropy = clock.Now, conformance.Entropy(1)
	g := newGenerator(t, s, o)
	must(t)(g.Generate())
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
		must(t)(ID{}, g.Fill(ids))
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
		must(t)(g.Generate())
	}
}

// TestCapacity on the fast path, with the system's entropy.
func TestOverflowFastPath(t *testing.T) {
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
		first := must(t)(g.Generate())
		ctx := conformance.Ended(t)
		ids := make([]ID, 4)
		for _, batch := range []bool{false, true} {
			g.counter = g.maxCounter - 3
			for i := range ids[:3] {
				if !batch {
					ids[i] = must(t)(g.GenerateContext(ctx))
				} else if i == 0 {
					must(t)(ID{}, g.FillContext(ctx, ids[:3]))
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
func TestOverflowSystemClock(t *testing.T) {
	for name, o := range map[string]Options{"milliseconds": {},
		"microseconds": {Microseconds: true}} {
		g := newGenerator(t, conformance.Setup{}, o)
		start := time.Now().Truncate(time.Millisecond)
		g.Generate()
		ids := make([]ID, 0, 5000)
		for len(ids) < cap(ids) {
			if len(ids)%500 == 0 {
				g.core.Lock()
				g.counter = g.maxCounter
				g.core.Unlock()
			}
			id := must(t)(g.Generate())
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
			id := must(t)(g.Generate())
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
	must(t)(g.Generate())
	clock.Add(-time.Microsecond)
	if _, err := g.Generate(); !errors.Is(err, sortid.ErrClockRollback) {
		t.Errorf("%v, want ErrClockRollback", err)
	}
}

func TestResetStartsAfresh(t *testing.T) {
	clock := conformance.NewClock(conformance.Start)
	g := newGenerator(t, conformance.Setup{Clock: clock.Now, Entropy: conformance.Entropy(4)})
	g.Generate()
	g.counter = g.maxCounter
	clock.Add(-time.Hour)
	id, err := g.Generate()
	if err != nil || !id.Time().Equal(clock.Now()) || id.Counter()>>15 != 0 {
		t.Errorf("%v, %v", id.Hex(), err)
	}
	if next, _ := g.Generate(); next.Counter() != id.Counter()+1 {
		t.Errorf("%v after %v", next.Hex(), id.Hex())
	}
}

func BenchmarkGenerate(b *testing.B) {
	for name, o := range map[string]Options{"default": {}, "microseconds": {Microseconds: true}} {
		b.Run(name, func(b *testing.B) {
			g := newGenerator(b, conformance.Setup{}, o)
			for b.Loop() {
				_, _ = g.Generate()
			}
		})
	}
}

func BenchmarkParse(b *testing.B) {
	id := New()
	for _, text := range []string{id.String(), id.Hex()} {
		b.Run(fmt.Sprint(len(text)), func(b *testing.B) {
			for b.Loop() {
				_, _ = Parse(text)
			}
		})
	}
}
