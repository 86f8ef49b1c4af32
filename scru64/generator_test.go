package scru64

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sortid/sortid"
	"github.com/sortid/sortid/internal/check"
	"github.com/sortid/sortid/internal/conformance"
	"github.com/sortid/sortid/internal/gencore"
	"github.com/sortid/sortid/internal/window"
	"github.com/sortid/sortid/lease"
)

func TestMain(m *testing.M) {
	os.Setenv(NodeSpecVar, "42/8")
	os.Exit(m.Run())
}

func newGenerator(t testing.TB, spec string, s conformance.Setup, own ...Options) *Generator {
	t.Helper()
	o := append(own, Options{})[0]
	o.GeneratorOptions, o.NodeSpec = s, mustSpec(spec)
	return check.Must(NewGenerator(o))(t)
}

// burst returns how many IDs Options.OverflowGuard promises for a tick.
func burst(counterSize, guard int) int { return 1<<counterSize - 1<<(counterSize-guard) + 1 }

func longLease() *window.Window {
	w := window.New(8, Tick, time.UnixMilli(0))
	w.Set(window.Grant{NodeID: 42, Lo: 0, Hi: MaxTimestamp}, MaxTimestamp)
	return w
}

func TestGenerator(t *testing.T) {
	for _, c := range []struct {
		spec      string
		o         Options
		burst     int
		noEntropy bool
	}{
		{"42/8", Options{}, burst(16, 0), false},
		{"42/8", Options{OverflowGuard: 1}, burst(16, 1), false},
		{"42/8", Options{OverflowGuard: 16}, burst(16, 16), true},
		{"65535/16", Options{OverflowGuard: 4}, burst(8, 4), false},
		{"1/1", Options{OverflowGuard: 2}, burst(23, 2), false},
		{"0/19", Options{}, burst(5, 0), false},
		{"1000000/20", Options{}, burst(4, 1), false},
		{"5/23", Options{}, burst(1, 1), true},
		{"7/13", Options{CounterStart: func(timestamp uint64,
			size int) uint32 {
			return uint32(timestamp) % 1000
		}}, 1<<11 - 999, true},
		{"", Options{}, burst(16, 0), false}, // on a lease
	} {
		t.Run(fmt.Sprintf("%s/%d", strings.ReplaceAll(c.spec, "/", "-"), c.burst),
			func(t *testing.T) {
				g := conformance.Generator[ID]{
					New: func(t testing.TB, s conformance.Setup) conformance.Gen[ID] {
						if c.spec == "" {
							g, err := NewGenerator(Options{GeneratorOptions: s, Lease: longLease()})
							if err != nil {
								t.Fatal(err)
							}
							return g
						}
						return newGenerator(t, c.spec, s, c.o)
					},
					Leased: c.spec == "",
					Tick:   Tick, Default: sortid.RollbackAbort,
					Burst: c.burst, Leads: true, NoEntropy: c.noEntropy,
					Range: [2]time.Time{time.UnixMilli(256), time.UnixMilli(MaxTimestamp*256 - 1)},
					Core:  func(g conformance.Gen[ID]) *gencore.Core { return &g.(*Generator).core },
				}
				g.Run(t)
			})
	}
}

func TestLease(t *testing.T) {
	for _, size := range []int{3, 8, 13} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			g := conformance.Leased[ID]{
				New: func(t testing.TB, l sortid.Lease,
					s conformance.Setup) (conformance.Gen[ID], error) {
					return NewGenerator(Options{GeneratorOptions: s, Lease: l})
				},
				Tick: Tick, Epoch: time.UnixMilli(0), Size: size, Leads: true, Last: MaxTimestamp,
				Node: func(id ID) uint32 { return id.NodeID(size) },
				At:   func(id ID) int64 { return int64(id.Timestamp()) },
			}
			g.Run(t)
		})
	}
	if _, err := NewGenerator(
		Options{NodeSpec: mustSpec("42/8"), Lease: longLease()}); !errors.Is(err,
		sortid.ErrOption) {
		t.Errorf("a node spec and a lease: %v", err)
	}
}

// If full counters moved the timestamp too far, the error names the limit. If the clock went back,
// the error blames the clock.
func TestFullCounter(t *testing.T) {
	const limit = "a node ID of 20 bits has at most 16 IDs in a tick of 256ms"
	for _, leased := range []bool{false, true} {
		now := time.UnixMilli(256_000)
		o := Options{GeneratorOptions: sortid.GeneratorOptions{
			Clock: func() time.Time { return now }}}
		if leased {
			l := window.New(20, Tick, time.UnixMilli(0))
			l.Set(window.Grant{NodeID: 42, Lo: 0, Hi: MaxTimestamp}, MaxTimestamp)
			o.Lease = l
		} else {
			o.NodeSpec = mustSpec("42/20")
		}
		g := check.Must(NewGenerator(o))(t)
		fails := func(when string, full bool) {
			t.Helper()
			for range 2 {
				_, err := g.Generate()
				if full != errors.Is(err, sortid.ErrOverflow) || full !=
					strings.Contains(fmt.Sprint(err), limit) ||
					!errors.Is(err, sortid.ErrClockRollback) {
					t.Errorf("leased %v, %s: %v, full is %v", leased, when, err, full)
				}
			}
		}
		made := 0
		for ; made < 40*16; made++ {
			if _, err := g.Generate(); err != nil {
				break
			}
		}
		if made < 40*9 || made == 40*16 {
			t.Errorf("leased %v: %d IDs in 40 ticks of 9 to 16", leased, made)
		}
		fails("a loop", true)
		now = now.Add(-Tick)
		fails("the clock back", false)
		now = now.Add(2 * Tick)
		if _, err := g.Generate(); err != nil {
			t.Errorf("leased %v: in the next tick: %v", leased, err)
		}
		now = now.Add(time.Hour)
		check.Must(g.Generate())(t)
		now = now.Add(-time.Minute) // later than the loop, but behind the last ID
		fails("the clock back after an hour", false)
	}
}

func TestNew(t *testing.T) {
	if n := testing.AllocsPerRun(1000, func() { New() }); n != 0 {
		t.Errorf("New allocates %v times", n)
	}
	defer func(good func() (*Generator, error)) { global = good }(global)
	g := check.Must(global())(t)
	global = func() (*Generator, error) { return g, nil }
	newID := func() ID {
		id := check.Must(New())(t)
		if id.NodeID(8) != 42 {
			t.Fatalf("%v has the node ID %d", id, id.NodeID(8))
		}
		return id
	}
	made := func(s conformance.Setup) *Generator { return newGenerator(t, "42/8", s) }
	conformance.New(t, &g, made, newID,
		func() string { return check.Must(NewString())(t) })
}

// Without a valid node spec, the error of New says what to do.
func TestNewWithoutNodeSpec(t *testing.T) {
	good := global
	t.Cleanup(func() { global = good })
	fails := func(hints ...string) {
		t.Helper()
		global = sync.OnceValues(fromEnvironment)
		for range 2 {
			id, err := New()
			s, serr := NewString()
			if id != 0 || s != "" || !errors.Is(err, ErrNodeSpec) || !errors.Is(serr, ErrNodeSpec) {
				t.Fatalf("New = %v, %v; NewString = %q, %v", id, err, s, serr)
			}
			for _, hint := range append(hints, NodeSpecVar, NodeSpecVar+"=42/8") {
				if !strings.Contains(err.Error(), hint) {
					t.Errorf("%v does not mention %s", err, hint)
				}
			}
			t.Setenv(NodeSpecVar, "42/8") // too late: New has read the variable
		}
	}
	t.Setenv(NodeSpecVar, "")
	os.Unsetenv(NodeSpecVar)
	fails("not set")
	t.Setenv(NodeSpecVar, "")
	fails(`""`)
	t.Setenv(NodeSpecVar, "300/8")
	fails(`"300/8"`, "255")

	t.Setenv(NodeSpecVar, "0x2b/8")
	global = sync.OnceValues(fromEnvironment)
	if id := check.Must(New())(t); id.NodeID(8) != 43 {
		t.Errorf("node ID %d, want 43", id.NodeID(8))
	}
}

func TestOptions(t *testing.T) {
	start := func(uint64, int) uint32 { return 0 }
	spec := mustSpec("42/8")
	conformance.Refused(t, NewGenerator, map[string][]Options{
		"RollbackPolicy": {{NodeSpec: spec, GeneratorOptions: conformance.NoPolicy}},
		"OverflowGuard":  {{NodeSpec: spec, OverflowGuard: 17}},
		"OverflowGuard and CounterStart": {
			{NodeSpec: spec, CounterStart: start, OverflowGuard: -1}},
		"Lease":                    {{Lease: (*lease.Lease)(nil)}},
		"Lease and NodeSpec":       {{Lease: longLease(), NodeSpec: spec}},
		"Lease and RollbackPolicy": {{Lease: longLease(), GeneratorOptions: conformance.Reset}},
	})
	if g, err := NewGenerator(Options{}); g != nil || !errors.Is(err, ErrNodeSpec) {
		t.Errorf("neither a NodeSpec nor a Lease: %v, %v", g, err)
	}
}

func TestNodeBits(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for size := 1; size <= 23; size++ {
		for _, spec := range []NodeSpec{
			gencore.Must(NewNodeSpec(0, size)), gencore.Must(NewNodeSpec(1<<size-1, size)),
			gencore.Must(NewNodeSpec(r.Uint32()>>(32-size), size)),
			gencore.Must(NodeSpecAfter(First(conformance.Start)+ID(r.Uint32()&MaxNodeCtr), size)),
		} {
			clock := conformance.NewClock(conformance.Start)
			g := newGenerator(t, spec.String(), conformance.Setup{Clock: clock.Now,
				Entropy: conformance.Entropy(1), RollbackAllowance: time.Hour})
			last, _ := spec.Previous()
			for range 2000 {
				id := check.Must(g.Generate())(t)
				if id.NodeID(size) != spec.NodeID() {
					t.Fatalf("%v: %v has the node ID %d", spec, id, id.NodeID(size))
				}
				switch {
				case id <= last:
					t.Fatalf("%v: %v after %v", spec, id, last)
				case id.Timestamp() == last.Timestamp() && id.Counter(size) != last.Counter(size)+1:
					t.Fatalf("%v: counter %d after %d", spec, id.Counter(size), last.Counter(size))
				}
				last = id
				clock.Add(time.Duration(r.IntN(300)-100) * time.Millisecond)
			}
		}
	}
}

func TestOverflowGuard(t *testing.T) {
	for size := 1; size <= 23; size++ {
		counter := 24 - size
		spec := gencore.Must(NewNodeSpec(1, size)).String()
		for guard := -1; guard <= counter; guard++ {
			zeros := max(guard, 0)
			if guard == 0 && size >= 20 {
				zeros = 1
			}
			clock := conformance.NewClock(conformance.Start)
			g := newGenerator(t, spec, conformance.Setup{Clock: clock.Now,
				Entropy: conformance.Entropy(uint64(size))}, Options{OverflowGuard: guard})
			var ones, nils uint32
			for range 200 {
				c := check.Must(g.Generate())(t).Counter(size)
				ones, nils = ones|c, nils|^c
				clock.Add(Tick)
			}
			random := uint32(1)<<(counter-zeros) - 1
			if ones != random || nils&random != random {
				t.Errorf("%s with %d guard bits: the random bits are %b and %b, want %b", spec,
					guard, ones, nils&random, random)
			}
		}
	}
}

func TestGuaranteedBurst(t *testing.T) {
	for guard := range 9 {
		clock := conformance.NewClock(conformance.Start)
		g := newGenerator(t, "1/16", conformance.Setup{Clock: clock.Now,
			Entropy: conformance.Constant(0xff)}, Options{OverflowGuard: guard})
		n := 0
		for check.Must(g.Generate())(t).Time().Equal(conformance.Start) {
			n++
		}
		if n != burst(8, guard) {
			t.Errorf("%d guard bits: %d IDs, want %d", guard, n, burst(8, guard))
		}
	}
}

func TestCounterStart(t *testing.T) {
	clock := conformance.NewClock(conformance.Start)
	tick := First(conformance.Start).Timestamp()
	var asked []uint64
	value := uint32(0xffff)
	g := newGenerator(t, "42/8", conformance.Setup{Clock: clock.Now},
		Options{CounterStart: func(timestamp uint64, size int) uint32 {
			if size != 16 {
				t.Errorf("counter size %d, want 16", size)
			}
			asked = append(asked, timestamp)
			return value
		}})
	if id := check.Must(g.Generate())(t); id.Counter(8) != 0xffff || id.Timestamp() != tick {
		t.Errorf("counter %x at %d", id.Counter(8), id.Timestamp())
	}
	value = 7
	first := check.Must(g.Generate())(t)
	if first.Counter(8) != 7 || first.Timestamp() != tick+1 {
		t.Errorf("counter %x at %d", first.Counter(8), first.Timestamp())
	}
	if id := check.Must(g.Generate())(t); id != first+1 {
		t.Errorf("%v after %v", id, first)
	}
	// If the start is too large, the generator returns no ID and does not change.
	for _, value = range []uint32{1 << 16, 1<<32 - 1} {
		clock.Add(time.Second)
		for range 2 {
			if id, err := g.Generate(); id != 0 || !errors.Is(err, ErrCounterStart) ||
				!strings.Contains(err.Error(), fmt.Sprint(value)) {
				t.Errorf("start at %d: %v, %v, want ErrCounterStart", value, id, err)
			}
		}
		clock.Add(-time.Second)
	}
	if id := check.Must(g.Generate())(t); id != first+2 {
		t.Errorf("after a bad start: %v, want %v", id, first+2)
	}
	if len(asked) != 6 || asked[0] != tick || asked[1] != tick+1 {
		t.Errorf("asked at %d", asked)
	}
}

// Full counters move the timestamp ahead of the clock. If the timestamp would be ahead by more than
// the allowance, the policy decides.
func TestOverflowLead(t *testing.T) {
	const allowance = 5
	setup := func(p sortid.RollbackPolicy) (*conformance.Clock, *Generator) {
		clock := conformance.NewClock(conformance.Start.Add(100 * time.Millisecond))
		return clock, newGenerator(t, "3/20", conformance.Setup{Clock: clock.Now, RollbackPolicy: p,
			RollbackAllowance: allowance*Tick + Tick - 1}, Options{OverflowGuard: 4})
	}
	lead := func(clock *conformance.Clock, id ID) int {
		return int(id.Timestamp()) - int(First(clock.Now()).Timestamp())
	}
	spend := func(clock *conformance.Clock, g *Generator) (last ID) {
		for i := range 16 * (allowance + 1) {
			id := check.Must(g.Generate())(t)
			if lead(clock, id) != i/16 || id.Counter(20) != uint32(i%16) || id <= last {
				t.Fatalf("ID %d: lead %d, counter %d, %v after %v", i, lead(clock, id),
					id.Counter(20), id, last)
			}
			last = id
		}
		return last
	}

	clock, g := setup(sortid.RollbackAbort)
	last := spend(clock, g)
	for range 3 {
		if id, err := g.Generate(); id != 0 || !errors.Is(err, sortid.ErrClockRollback) {
			t.Fatalf("with a lead of %d ticks: %v, %v", allowance, id, err)
		}
	}
	clock.Add(Tick) // room for one more tick
	for i := range 17 {
		id, err := g.Generate()
		if i < 16 && (err != nil || id <= last || lead(clock, id) != allowance) ||
			i == 16 && !errors.Is(err, sortid.ErrClockRollback) {
			t.Fatalf("ID %d one tick later: %v, %v", i, id, err)
		}
		last = max(last, id)
	}
	clock.Add(time.Minute)
	if id := check.Must(g.Generate())(t); lead(clock, id) != 0 || id <= last {
		t.Errorf("a minute later: %v, lead %d", id, lead(clock, id))
	}
	_, g = setup(sortid.RollbackAbort)
	ids := make([]ID, 16*(allowance+1)+1)
	if err := g.Fill(ids); !errors.Is(err, sortid.ErrClockRollback) || ids[0] != 0 ||
		ids[16*allowance] != 0 {
		t.Errorf("Fill beyond the allowance: %v, %v", ids[0], err)
	}
	clock, g = setup(sortid.RollbackAbort)
	if err := g.Fill(ids[1:]); err != nil || lead(clock, ids[len(ids)-1]) != allowance {
		t.Errorf("Fill up to the allowance: %v", err)
	}

	clock, g = setup(sortid.RollbackWait)
	last = spend(clock, g)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if id, err := g.GenerateContext(ctx); id != 0 || !errors.Is(err, context.DeadlineExceeded) ||
		!errors.Is(err, sortid.ErrClockRollback) {
		t.Errorf("waiting in vain: %v, %v", id, err)
	}
	if until, _ := g.core.Waits(); !until.Equal(conformance.Start.Add(Tick)) {
		t.Errorf("it waits for %v, want the next tick", until)
	}
	time.AfterFunc(5*time.Millisecond, func() { clock.Add(Tick - 100*time.Millisecond) })
	if id := check.Must(g.Generate())(t); id <= last || lead(clock, id) != allowance ||
		!clock.Now().Equal(conformance.Start.Add(Tick)) {
		t.Errorf("waiting: %v, lead %d at %v", id, lead(clock, id), clock.Now())
	}

	clock, g = setup(sortid.RollbackReset)
	spend(clock, g)
	if id := check.Must(g.Generate())(t); lead(clock, id) != 0 {
		t.Errorf("reset: lead %d", lead(clock, id))
	}
}

func TestContinue(t *testing.T) {
	tick := First(conformance.Start)
	for _, c := range []struct {
		name     string
		previous ID
		at       time.Duration // the clock's time after the previous ID's tick
		want     ID            // 0 means a new tick and a random counter
		err      error
	}{
		{"in the same tick", tick + 5<<16 + 77, Tick - 1, tick + 5<<16 + 78, nil},
		{"long after", tick + 5<<16 + 77, time.Hour, 0, nil},
		{"at the counter's end", tick + 5<<16 + 0xffff, 0, 0, nil},
		{"clock back within the allowance", tick + 5<<16 + 77, -39 * Tick, tick + 5<<16 + 78, nil},
		{"clock back further", tick + 5<<16 + 77, -39*Tick - 1, 0, sortid.ErrClockRollback},
		{"at the counter's end, clock back", tick + 5<<16 + 0xffff, -38 * Tick, 0, nil},
		{"at the counter's end, clock back further", tick + 5<<16 + 0xffff, -39 * Tick, 0,
			sortid.ErrClockRollback},
		{"after the last timestamp but one", (MaxTimestamp-1)<<24 + 5<<16, 0, 0,
			sortid.ErrClockRollback},
		{"nothing to continue", 5 << 16, 0, 0, nil},
	} {
		clock := conformance.NewClock(conformance.Start.Add(c.at))
		o := Options{NodeSpec: gencore.Must(NodeSpecAfter(c.previous, 8))}
		o.Clock, o.Entropy = clock.Now, conformance.Entropy(1)
		g := check.Must(NewGenerator(o))(t)
		id, err := g.Generate()
		switch {
		case c.err != nil:
			if id != 0 || !errors.Is(err, c.err) {
				t.Errorf("%s: %v, %v, want %v", c.name, id, err, c.err)
			}
		case err != nil || id <= c.previous || id.NodeID(8) != 5:
			t.Errorf("%s: %v, %v, want an ID of node 5 after %v", c.name, id, err, c.previous)
		case c.want != 0 && id != c.want:
			t.Errorf("%s: %v, want %v", c.name, id, c.want)
		case c.want == 0 && id.Timestamp() != max(First(clock.Now()).Timestamp(),
			c.previous.Timestamp()+1):
			t.Errorf("%s: the time is %v", c.name, id.Time())
		}
	}

	if g, err := NewGenerator(Options{NodeSpec: gencore.Must(NodeSpecAfter(Max(), 8))}); g != nil ||
		!errors.Is(err, ErrNodeSpec) {
		t.Errorf("after an ID with the reserved timestamp: %v, %v", g, err)
	}

	// Each generator continues after the last ID of the previous generator.
	r := rand.New(rand.NewPCG(4, 4))
	clock := conformance.NewClock(conformance.Start)
	spec := mustSpec("9/18")
	var last ID
	for range 2000 {
		g := newGenerator(t, spec.String(), conformance.Setup{Clock: clock.Now})
		for range r.IntN(80) {
			id, err := g.Generate()
			if errors.Is(err, sortid.ErrClockRollback) {
				break
			}
			if err != nil || id <= last || id.NodeID(18) != 9 {
				t.Fatalf("%v: %v, %v after %v", spec, id, err, last)
			}
			last = id
		}
		if last != 0 {
			spec = gencore.Must(NodeSpecAfter(last, 18))
		}
		clock.Add(time.Duration(r.IntN(3000)-1000) * time.Millisecond)
	}
}

func TestOverflowAtTheEnd(t *testing.T) {
	clock := conformance.NewClock(time.UnixMilli((MaxTimestamp - 1) << 8))
	g := newGenerator(t, "42/8", conformance.Setup{Clock: clock.Now,
		Entropy: conformance.Constant(0xff)})
	if id := check.Must(g.Generate())(t); id.Timestamp() != MaxTimestamp-1 {
		t.Fatalf("%v", id)
	}
	for range 2 {
		if id, err := g.Generate(); id != 0 || !errors.Is(err, sortid.ErrTimeRange) {
			t.Errorf("%v, %v, want ErrTimeRange", id, err)
		}
	}
	if err := g.Fill(make([]ID, 3)); !errors.Is(err, sortid.ErrTimeRange) {
		t.Errorf("Fill: %v, want ErrTimeRange", err)
	}
}

func TestResetDuplicates(t *testing.T) {
	clock := conformance.NewClock(conformance.Start)
	g := newGenerator(t, "42/8", conformance.Setup{Clock: clock.Now,
		RollbackPolicy: sortid.RollbackReset}, Options{OverflowGuard: 16})
	first := check.Must(g.Generate())(t)
	clock.Add(time.Minute)
	check.Must(g.Generate())(t)
	clock.Add(-time.Minute)
	if again := check.Must(g.Generate())(t); again != first {
		t.Errorf("%v, and after the reset %v", first, again)
	}
}
