package scru160

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/sortid/sortid/internal/conformance"
	"github.com/sortid/sortid/internal/window"
	"github.com/sortid/sortid/lease"
)

func options(s conformance.Setup) (opts []Option) {
	if s.Clock != nil {
		opts = append(opts, WithClock(s.Clock))
	}
	if s.Entropy != nil {
		opts = append(opts, WithEntropy(s.Entropy))
	}
	if s.Allowance != 0 {
		opts = append(opts, WithRollbackAllowance(max(s.Allowance, 0)))
	}
	switch s.Policy {
	case conformance.Abort:
		opts = append(opts, WithRollbackPolicy(RollbackAbort))
	case conformance.Wait:
		opts = append(opts, WithRollbackPolicy(RollbackWait))
	case conformance.Reset:
		opts = append(opts, WithRollbackPolicy(RollbackReset))
	}
	return opts
}

func newGenerator(t testing.TB, s conformance.Setup, opts ...Option) *Generator {
	t.Helper()
	g, err := NewGenerator(append(options(s), opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// subject returns the generator with the given options, in which random16 has so many
// random bits.
func subject(burst, random int, opts ...Option) conformance.Generator[ID] {
	random16 := 1<<random - 1
	mask := append(make([]byte, 8), byte(random16>>8), byte(random16))
	mask = append(mask, bytes.Repeat([]byte{0xff}, 10)...)
	return conformance.Generator[ID]{
		New: func(t testing.TB, s conformance.Setup) conformance.Gen[ID] {
			return newGenerator(t, s, opts...)
		},
		Tick: time.Millisecond, Default: conformance.Reset, Burst: burst,
		ErrClockRollback: ErrClockRollback, ErrTimeRange: ErrTimeRange, ErrEntropy: ErrEntropy,
		Range:  [2]time.Time{time.UnixMilli(1), time.UnixMilli(MaxTimestamp - 1)},
		Random: mask,
		Inside: func(g conformance.Gen[ID]) (int64, time.Time) {
			gen := g.(*Generator)
			return gen.rand.Second(), time.UnixMicro(gen.until)
		},
	}
}

func TestGenerator(t *testing.T) {
	for name, g := range map[string]conformance.Generator[ID]{
		"default":      subject(1<<15+1, 16),
		"width 0":      subject(1<<16, 16, WithCounterWidth(0)),
		"extension":    subject(1<<30, 0, WithCounterExtension(16)),
		"node":         subject(1<<15+1, 0, WithNode(0xabcd, 16)),
		"mixed":        subject(1<<20-1<<10, 4, WithCounterExtension(4), WithNode(42, 8), WithCounterWidth(10)),
		"microseconds": subject(1<<5+1, 16, WithMicroseconds()),
		"microseconds, mixed": subject(1<<8+1, 5, WithMicroseconds(), WithCounterExtension(3),
			WithNode(42, 8)),
	} {
		t.Run(name, g.Run)
	}
}

// newWindow returns a window of node IDs of a size, and a lease of node ID 5 from tick lo,
// counted from the start, up to hi.
func newWindow(size int, lo, hi int64) conformance.Lease {
	w := window.New(size, time.Millisecond, time.UnixMilli(0))
	start := conformance.Start.UnixMilli()
	w.Set(window.Grant{NodeID: 5, Lo: start + lo, Hi: start + hi}, start+hi)
	return conformance.Lease{W: w}
}

// A long lease changes nothing but the default policy.
func TestGeneratorOnLease(t *testing.T) {
	for name, c := range map[string]struct {
		burst, size, random int
		opts                []Option
	}{
		"default":      {1<<15 + 1, 8, 8, nil},
		"16 bits":      {1<<15 + 1, 16, 0, nil},
		"extension":    {1<<20 - 1<<10, 8, 4, []Option{WithCounterExtension(4), WithCounterWidth(10)}},
		"microseconds": {1<<5 + 1, 8, 8, []Option{WithMicroseconds()}},
		"microseconds, extension": {1<<8 + 1, 8, 5,
			[]Option{WithMicroseconds(), WithCounterExtension(3)}},
	} {
		g := subject(c.burst, c.random)
		g.New = func(t testing.TB, s conformance.Setup) conformance.Gen[ID] {
			l := newWindow(c.size, -1<<40, 1<<40)
			return newGenerator(t, s, append(c.opts, WithLease(l))...)
		}
		g.Leased, g.Default = true, conformance.Abort
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
		opts := []Option{WithCounterExtension(c.ext)}
		if c.micros {
			opts = append(opts, WithMicroseconds())
		}
		g := conformance.Leased[ID]{
			New: func(t testing.TB, l window.Lease, s conformance.Setup) (conformance.Gen[ID], error) {
				return NewGenerator(append(append(options(s), opts...), WithLease(l))...)
			},
			Format: lease.SCRU160, Size: c.size,
			Node: func(id ID) uint32 {
				return uint32(id.Random16()>>(16-c.ext-c.size)) & (1<<c.size - 1)
			},
			At:               func(id ID) int64 { return int64(id.Timestamp()) },
			ErrClockRollback: ErrClockRollback, ErrOverflow: ErrOverflow,
			ErrLeaseExpired: ErrLeaseExpired, ErrOption: ErrOption,
		}
		t.Run(fmt.Sprintf("%+v", c), g.Run)
	}
}

// With microseconds: a millisecond that comes later starts at its microsecond 0 and goes
// on with the clock, all of it for one claim, and ends with the claim.
func TestLeaseMicroseconds(t *testing.T) {
	for _, policy := range []conformance.Policy{conformance.Default, conformance.Wait} {
		clock := conformance.NewClock(conformance.Start.Add(300 * time.Microsecond))
		l := newWindow(8, 2, 9)
		g := newGenerator(t, conformance.Setup{Clock: clock.Now, Policy: policy}, WithMicroseconds(), WithLease(l))
		var last ID
		next := func(ms int64, micros int) {
			t.Helper()
			id, err := g.Generate()
			at := int64(id.Timestamp()) - conformance.Start.UnixMilli()
			if err != nil || at != ms || int(id.Micros()) != micros || id.Compare(last) <= 0 {
				t.Fatalf("%v: %d ms %d µs after %v, %v; want %d ms %d µs", id.Hex(), at, id.Micros(), last.Hex(), err, ms, micros)
			}
			last = id
		}
		next(2, 0)
		clock.Add(1700 * time.Microsecond) // the claimed millisecond begins
		next(2, 0)
		clock.Add(5 * time.Microsecond)
		next(2, 5)
		if used := l.W.Used() - conformance.Start.UnixMilli(); used != 2 {
			t.Errorf("the last millisecond claimed is %d, want 2", used)
		}

		// Another generator has the next one.
		h := newGenerator(t, conformance.Setup{Clock: clock.Now}, WithMicroseconds(), WithLease(l))
		if id, err := h.Generate(); err != nil || id.Time() != conformance.Start.Add(3*time.Millisecond) || id.Micros() != 0 {
			t.Fatalf("the other one: %v %v, %v", id.Time(), id.Micros(), err)
		}
		clock.Add(994 * time.Microsecond)
		next(2, 999)
		clock.Add(time.Microsecond)
		next(4, 0)
		clock.Add(1500 * time.Microsecond)
		next(4, 500)

		l.W.Close()
		clock.Add(499 * time.Microsecond)
		next(4, 999)
		clock.Add(time.Microsecond)
		if id, err := g.Generate(); !errors.Is(err, window.ErrClosed) {
			t.Fatalf("%v: %v, %v after the end of the last millisecond", policy, id.Hex(), err)
		}
	}
}

// A claim too far ahead of the clock: its tick serves once the clock is near, from the
// counter's start on; and when it is full, the wait is for the tick after it.
func TestLeaseAhead(t *testing.T) {
	for _, c := range []struct {
		unit  time.Duration
		start int
		opts  []Option
	}{
		{time.Millisecond, 1<<15 - 1, nil},
		{time.Millisecond, 0, []Option{WithCounterWidth(0)}},
		{time.Microsecond, 1<<5 - 1, []Option{WithMicroseconds()}},
		{time.Microsecond, 0, []Option{WithMicroseconds(), WithCounterWidth(0)}},
	} {
		clock := conformance.NewClock(conformance.Start)
		g := newGenerator(t, conformance.Setup{Clock: clock.Now, Entropy: conformance.Constant(0xff), Allowance: 3 * time.Millisecond},
			append(c.opts, WithLease(newWindow(8, 5, 9)))...)
		if id, err := g.Generate(); !errors.Is(err, ErrClockRollback) {
			t.Fatalf("%v, %v, want ErrClockRollback", id, err)
		}
		clock.Add(2 * time.Millisecond)
		id, err := g.Generate()
		if err != nil || int(id.Counter()) != c.start || !id.Time().Equal(conformance.Start.Add(5*time.Millisecond)) {
			t.Errorf("counter %d at %v, %v, want %d", id.Counter(), id.Time(), err, c.start)
		}
		g.counter = g.full
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		want := conformance.Start.Add(5*time.Millisecond + c.unit).UnixMicro()
		if id, err := g.GenerateContext(ctx); !errors.Is(err, ErrOverflow) || g.until != want {
			t.Errorf("%v, %v, until %d, want ErrOverflow until %d", id, err, g.until, want)
		}
	}
}

// The reserved timestamps are no more to be had than without a lease.
func TestLeaseRange(t *testing.T) {
	for _, at := range []int64{0, MaxTimestamp} {
		for _, opts := range [][]Option{nil, {WithMicroseconds()}} {
			clock := conformance.NewClock(time.UnixMilli(at))
			w := window.New(8, time.Millisecond, time.UnixMilli(0))
			w.Set(window.Grant{NodeID: 5, Lo: at, Hi: at + 1}, at)
			g := newGenerator(t, conformance.Setup{Clock: clock.Now}, append(opts, WithLease(conformance.Lease{W: w}))...)
			if id, err := g.Generate(); !id.IsZero() || !errors.Is(err, ErrTimeRange) {
				t.Errorf("at %d: %v, %v, want ErrTimeRange", at, id, err)
			}
		}
	}
}

// A claim, and then entropy that fails: the node ID of the claim is not that of the tick
// before, in which the generator goes on if the clock goes back.
func TestLeaseEntropy(t *testing.T) {
	clock := conformance.NewClock(conformance.Start)
	l := newWindow(8, 0, 1)
	fails := false
	g := newGenerator(t, conformance.Setup{Clock: clock.Now, Entropy: reader(func(b []byte) (int, error) {
		if fails {
			return 0, io.EOF
		}
		return len(b), nil
	})}, WithLease(l))
	node := func() (uint16, time.Time) {
		t.Helper()
		id, err := g.Generate()
		if err != nil {
			t.Fatal(err)
		}
		return id.Random16() >> 8, id.Time()
	}
	node()

	start := conformance.Start.UnixMilli()
	l.W.Set(window.Grant{NodeID: 6, Lo: start + 1, Hi: start + 9}, start+9)
	clock.Add(time.Millisecond)
	fails = true
	if id, err := g.Generate(); !errors.Is(err, ErrEntropy) {
		t.Fatalf("%v, %v, want ErrEntropy", id, err)
	}
	clock.Add(-time.Millisecond)
	fails = false
	if n, at := node(); n != 5 || !at.Equal(conformance.Start) {
		t.Errorf("node ID %d at %v, want 5", n, at)
	}
	clock.Add(time.Millisecond)
	if n, at := node(); n != 6 || !at.After(conformance.Start) {
		t.Errorf("node ID %d at %v, want 6", n, at)
	}
}

type reader func([]byte) (int, error)

func (r reader) Read(b []byte) (int, error) { return r(b) }

func TestNew(t *testing.T) {
	last := New()
	for range 10_000 {
		id := New()
		if id.Compare(last) <= 0 {
			t.Fatalf("%v after %v", id, last)
		}
		last = id
	}
}

// NewString returns the text of what New would return.
func TestNewString(t *testing.T) {
	clock := conformance.NewClock(conformance.Start)
	setup := func() conformance.Setup {
		return conformance.Setup{Clock: clock.Now, Entropy: conformance.Entropy(1)}
	}
	defer func(g *Generator) { global = g }(global)
	global = newGenerator(t, setup())
	twin := newGenerator(t, setup())
	for i := range 100 {
		want, err := twin.Generate()
		if err != nil {
			t.Fatal(err)
		}
		if got := NewString(); got != want.String() {
			t.Fatalf("ID %d: %s, want %v", i, got, want)
		}
		clock.Add(time.Duration(i%2) * time.Millisecond)
	}
}

func TestOptions(t *testing.T) {
	for _, c := range []struct {
		names string // what the error must name
		opts  []Option
	}{
		{"WithClock", []Option{WithClock(nil)}},
		{"WithEntropy", []Option{WithEntropy(nil)}},
		{"WithRollbackAllowance", []Option{WithRollbackAllowance(-1)}},
		{"WithRollbackPolicy", []Option{WithRollbackPolicy(RollbackWait + 1)}},
		{"WithCounterWidth", []Option{WithCounterWidth(-1)}},
		{"WithCounterWidth", []Option{WithCounterWidth(16)}},
		{"WithCounterWidth", []Option{WithCounterWidth(6), WithMicroseconds()}},
		{"WithCounterWidth", []Option{WithCounterWidth(20), WithCounterExtension(4)}},
		{"WithCounterExtension", []Option{WithCounterExtension(-1)}},
		{"WithCounterExtension", []Option{WithCounterExtension(17)}},
		{"WithNode", []Option{WithNode(0, -1)}},
		{"WithNode", []Option{WithNode(0, 17)}},
		{"WithNode", []Option{WithNode(256, 8)}},
		{"WithNode", []Option{WithNode(1, 0)}},
		{"WithCounterExtension and WithNode", []Option{WithNode(1, 9), WithCounterExtension(8)}},
		{"WithCounterExtension and WithLease", []Option{WithLease(newWindow(9, 0, 1)), WithCounterExtension(8)}},
		{"WithNode", []Option{WithLease(newWindow(8, 0, 1)), WithNode(1, 8)}},
		{"RollbackReset", []Option{WithRollbackPolicy(RollbackReset), WithLease(newWindow(8, 0, 1))}},
		{"WithLease", []Option{WithLease(nil)}},
	} {
		g, err := NewGenerator(c.opts...)
		if g != nil || !errors.Is(err, ErrOption) || !strings.Contains(err.Error(), c.names) {
			t.Errorf("%s: %v, %v", c.names, g, err)
		}
	}
	for _, opts := range [][]Option{
		{WithCounterWidth(15)},
		{WithCounterWidth(5), WithMicroseconds()},
		{WithMicroseconds(), WithCounterWidth(21), WithCounterExtension(16)},
		{WithCounterWidth(31), WithCounterExtension(16)},
		{WithNode(1, 8), WithCounterExtension(8)},
		{WithNode(0, 0)},
		{WithNode(0xffff, 16)},
		{WithLease(newWindow(16, 0, 1))},
		{WithLease(newWindow(1, 0, 1)), WithCounterExtension(15), WithNode(0, 0)},
		{WithRollbackPolicy(RollbackReset), WithLease(newWindow(8, 0, 1)), WithRollbackPolicy(RollbackWait)},
	} {
		if _, err := NewGenerator(opts...); err != nil {
			t.Error(err)
		}
	}
}

// counter returns the counter of an ID, and the bits of random16 behind it, of a
// generator in a mode.
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
	ext, node, id, random int // bits, and the node ID
}

func (m mode) options() []Option {
	opts := []Option{WithCounterExtension(m.ext), WithNode(uint16(m.id), m.node)}
	if m.micros {
		opts = append(opts, WithMicroseconds(), WithCounterWidth(min(m.random, 5+m.ext)))
	} else {
		opts = append(opts, WithCounterWidth(min(m.random, 15+m.ext)))
	}
	return opts
}

// In every layout: the counter starts with the random bits that it should have and
// goes up by one within a tick, the node ID stands behind it, and what is left, and
// random80, is random in each bit.
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
	g := newGenerator(t, conformance.Setup{Clock: clock.Now, Entropy: conformance.Entropy(uint64(size))}, m.options()...)
	const ticks, each = 100, 5
	var ones, zeros int64 // over the starts
	var set, clear [10]byte
	var restOnes, restZeros int
	for tick := range ticks {
		var last ID
		for i := range each {
			id, err := g.Generate()
			if err != nil {
				t.Fatal(err)
			}
			counter, rest := m.counter(id)
			if i == 0 {
				if int64(counter)>>width != 0 {
					t.Fatalf("tick %d: the counter starts at %#x, want %d bits at most", tick, counter, width)
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
			if m.micros && int64(id.Micros()) != clock.Now().UnixMicro()%1000 || !id.Time().Equal(clock.Now().Truncate(time.Millisecond)) {
				t.Fatalf("%v at %v", id.Hex(), clock.Now())
			}
			last = id
		}
		clock.Add(unit)
	}
	// 100 starts: that a bit never changes has a chance of 1 in 2^99.
	if all := int64(1)<<width - 1; ones&all != all || zeros&all != all {
		t.Errorf("of %d random bits of the counter's start only %#x were ever 1 and %#x ever 0", width, ones, zeros&all)
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

// The number of IDs that a tick holds at least, to the ID; then the generator waits.
func TestCapacity(t *testing.T) {
	for _, c := range []struct {
		want int
		opts []Option
	}{
		{1<<15 + 1, nil},
		{1 << 16, []Option{WithCounterWidth(0)}},
		{1<<16 - 1<<8 + 1, []Option{WithCounterWidth(8)}},
		{1<<17 + 1, []Option{WithCounterExtension(2)}},
		{1<<5 + 1, []Option{WithMicroseconds()}},
		{1 << 6, []Option{WithMicroseconds(), WithCounterWidth(0)}},
		{1<<8 + 1, []Option{WithMicroseconds(), WithCounterExtension(3)}},
	} {
		clock := conformance.NewClock(conformance.Start)
		// All ones: the counter starts as high as it can.
		g := newGenerator(t, conformance.Setup{Clock: clock.Now, Entropy: conformance.Constant(0xff)}, c.opts...)
		ids := make([]ID, c.want)
		if err := g.Fill(ids); err != nil {
			t.Fatal(err)
		}
		for i := 1; i < len(ids); i++ {
			if ids[i].Compare(ids[i-1]) <= 0 {
				t.Fatalf("ID %d: %v after %v", i, ids[i], ids[i-1])
			}
		}
		if last := ids[len(ids)-1]; !last.Time().Equal(conformance.Start) || last.Micros() != 0 && g.micros {
			t.Errorf("the last of %d IDs has the time %v", c.want, last.Time())
		}
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
		id, err := g.GenerateContext(ctx)
		if !id.IsZero() || !errors.Is(err, ErrOverflow) || !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, ErrClockRollback) {
			t.Errorf("after %d IDs: %v, %v, want ErrOverflow and the context's error", c.want, id, err)
		}
		cancel()
	}
}

// full returns a generator whose counter is full, and its clock.
func full(t *testing.T, opts ...Option) (*Generator, *conformance.Clock) {
	clock := conformance.NewClock(conformance.Start)
	g := newGenerator(t, conformance.Setup{Clock: clock.Now, Entropy: conformance.Entropy(1)}, opts...)
	if _, err := g.Generate(); err != nil {
		t.Fatal(err)
	}
	g.counter = g.full
	return g, clock
}

func TestOverflow(t *testing.T) {
	for _, c := range []struct {
		unit time.Duration
		opts []Option
	}{{time.Millisecond, nil}, {time.Microsecond, []Option{WithMicroseconds()}}} {
		// A wait ends with the tick, and Fill goes on where it had to stop.
		g, clock := full(t, c.opts...)
		go func() {
			time.Sleep(2 * time.Millisecond)
			clock.Add(c.unit)
		}()
		id, err := g.Generate()
		if err != nil || !id.Time().Equal(clock.Now().Truncate(time.Millisecond)) {
			t.Errorf("%v, %v", id.Time(), err)
		}
		g.counter = g.full - 3
		go func() {
			time.Sleep(2 * time.Millisecond)
			clock.Add(c.unit)
		}()
		ids := make([]ID, 20)
		if err := g.Fill(ids); err != nil {
			t.Fatal(err)
		}
		for i, id := range ids {
			if i > 0 && id.Compare(ids[i-1]) <= 0 {
				t.Errorf("ID %d: %v after %v", i, id, ids[i-1])
			}
		}
		if low, next := ids[2].Counter(), ids[3].Counter(); !g.micros && low != 0xffff || g.micros && low != 1<<6|63 || next>>15 != 0 {
			t.Errorf("counters around the tick's end: %#x, %#x", low, next)
		}

		// The context's own cause is matched, too, and a failed Fill leaves no IDs.
		g, _ = full(t, c.opts...)
		g.counter--
		cause := errors.New("cause")
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(cause)
		err = g.FillContext(ctx, ids)
		if !errors.Is(err, ErrOverflow) || !errors.Is(err, context.Canceled) || !errors.Is(err, cause) {
			t.Errorf("%v, want ErrOverflow, Canceled and the cause", err)
		}
		for _, id := range ids {
			if !id.IsZero() {
				t.Fatalf("Fill fails and leaves %v", id)
			}
		}

		// A clock that goes back during the wait: the policy decides.
		for policy, want := range map[RollbackPolicy]error{RollbackReset: nil, RollbackAbort: ErrClockRollback} {
			g, clock := full(t, append(c.opts, WithRollbackPolicy(policy))...)
			go func() {
				time.Sleep(2 * time.Millisecond)
				clock.Add(-time.Hour)
			}()
			id, err := g.Generate()
			if !errors.Is(err, want) || want == nil && !id.Time().Equal(clock.Now()) {
				t.Errorf("the clock goes back during the wait: %v, %v", id, err)
			}
		}

		// A full counter and a clock a little behind: the last tick must pass first.
		g, clock = full(t, c.opts...)
		clock.Add(-5 * c.unit)
		ctx, stop := context.WithTimeout(t.Context(), 5*time.Millisecond)
		if id, err := g.GenerateContext(ctx); !errors.Is(err, ErrOverflow) {
			t.Errorf("%v, %v, want ErrOverflow", id, err)
		}
		stop()
		clock.Add(6 * c.unit)
		if _, err := g.Generate(); err != nil {
			t.Error(err)
		}
	}
}

// The same with the system's entropy, in the short way that most IDs take.
func TestOverflowShortWay(t *testing.T) {
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
		g := newGenerator(t, conformance.Setup{Clock: clock.Now}, c.m.options()...)
		first, err := g.Generate()
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel() // waiting is an error
		ids := make([]ID, 4)
		for _, batch := range []bool{false, true} {
			g.counter = g.full - 3
			for i := range ids[:3] {
				if !batch {
					ids[i], err = g.GenerateContext(ctx)
				} else if i == 0 {
					err = g.FillContext(ctx, ids[:3])
				}
				if err != nil {
					t.Fatal(err)
				}
				if counter, _ := c.m.counter(ids[i]); counter != int(g.full)-2+i || !ids[i].Time().Equal(first.Time()) {
					t.Errorf("%+v, batch %v: ID %d has the counter %#x and the time %v", c.m, batch, i, counter, ids[i].Time())
				}
			}
		}
		if id, err := g.GenerateContext(ctx); !errors.Is(err, ErrOverflow) || g.until != conformance.Start.Add(c.unit).UnixMicro() {
			t.Errorf("%+v: %v, %v, until %d, want ErrOverflow until the next tick", c.m, id, err, g.until)
		}
		g.counter = g.full - 3
		if err := g.FillContext(ctx, ids); !errors.Is(err, ErrOverflow) {
			t.Errorf("%+v: Fill %v, %v, want ErrOverflow", c.m, ids, err)
		}
	}
}

// On the system's clock: more IDs than a millisecond holds, in order, none of them
// ahead of the clock.
func TestOverflowSystemClock(t *testing.T) {
	for name, opts := range map[string][]Option{
		"milliseconds": nil, "microseconds": {WithMicroseconds()},
	} {
		g := newGenerator(t, conformance.Setup{}, opts...)
		start := time.Now().Truncate(time.Millisecond)
		g.Generate()
		ids := make([]ID, 0, 5000)
		for len(ids) < cap(ids) {
			if len(ids)%500 == 0 {
				g.mu.Lock()
				g.counter = g.full
				g.mu.Unlock()
			}
			id, err := g.Generate()
			if err != nil {
				t.Fatal(err)
			}
			if now := time.Now(); id.Time().After(now) || id.Time().Before(start) {
				t.Fatalf("%s: %v at %v", name, id.Time(), now)
			}
			ids = append(ids, id)
		}
		for i := 1; i < len(ids); i++ {
			if ids[i].Compare(ids[i-1]) <= 0 {
				t.Fatalf("%s: ID %d: %v after %v", name, i, ids[i], ids[i-1])
			}
		}
	}
}

// Every microsecond part occurs, and no other; within a microsecond the counter keeps
// the order, with its top bit clear at the start.
func TestMicroseconds(t *testing.T) {
	clock := conformance.NewClock(conformance.Start)
	g := newGenerator(t, conformance.Setup{Clock: clock.Now, Entropy: conformance.Entropy(2)}, WithMicroseconds())
	var last ID
	for us := range int64(2000) {
		for i := range 3 {
			id, err := g.Generate()
			if err != nil {
				t.Fatal(err)
			}
			if id.Micros() != int(us%1000) || !id.Time().Equal(conformance.Start.Add(time.Duration(us/1000)*time.Millisecond)) {
				t.Fatalf("after %d µs: %v %d", us, id.Time(), id.Micros())
			}
			if id.Compare(last) <= 0 || i == 0 && id.CounterLow() > 31 || i > 0 && id.CounterLow() != last.CounterLow()+1 {
				t.Fatalf("%v after %v", id.Hex(), last.Hex())
			}
			last = id
		}
		clock.Add(time.Microsecond)
	}
	// Parts of a microsecond do not count.
	clock.Add(999 * time.Nanosecond)
	a, _ := g.Generate()
	clock.Add(time.Nanosecond)
	b, _ := g.Generate()
	if b.Micros() != a.Micros()+1 {
		t.Errorf("%d, %d", a.Micros(), b.Micros())
	}
}

// The allowance counts in ticks: here in single microseconds.
func TestMicrosecondAllowance(t *testing.T) {
	clock := conformance.NewClock(conformance.Start)
	g := newGenerator(t, conformance.Setup{Clock: clock.Now, Entropy: conformance.Entropy(2), Policy: conformance.Abort,
		Allowance: 7*time.Microsecond + 999}, WithMicroseconds())
	g.Generate()
	clock.Add(-7 * time.Microsecond)
	if _, err := g.Generate(); err != nil {
		t.Error(err)
	}
	clock.Add(-time.Microsecond)
	if _, err := g.Generate(); !errors.Is(err, ErrClockRollback) {
		t.Errorf("%v, want ErrClockRollback", err)
	}
}

// A reset in the middle of a tick's life leaves no trace of the old counter.
func TestResetStartsAfresh(t *testing.T) {
	clock := conformance.NewClock(conformance.Start)
	g := newGenerator(t, conformance.Setup{Clock: clock.Now, Entropy: conformance.Entropy(4)})
	g.Generate()
	g.counter = g.full
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
	for name, opts := range map[string][]Option{"default": nil, "microseconds": {WithMicroseconds()}} {
		b.Run(name, func(b *testing.B) {
			g := newGenerator(b, conformance.Setup{}, opts...)
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

func BenchmarkString(b *testing.B) {
	id := New()
	for b.Loop() {
		_ = id.String()
	}
}
