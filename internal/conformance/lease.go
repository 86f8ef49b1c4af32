package conformance

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sortid/sortid"
	"github.com/sortid/sortid/internal/check"
	"github.com/sortid/sortid/internal/window"
)

type Leased[T ID[T]] struct {
	New   func(t testing.TB, l sortid.Lease, s Setup) (Gen[T], error)
	Tick  time.Duration
	Epoch time.Time
	Size  int // of node IDs in bits, at least 3
	Node  func(T) uint32
	At    func(T) int64 // the timestamp
	Last  int64         // the largest timestamp; no generated ID has the timestamp Last or 0
	Leads bool          // if the counter is full, the generator uses later ticks and does not wait
}

// patience is how long a test waits until it fails. Even a slow machine needs far less time.
const patience = 2 * time.Minute

func (g *Leased[T]) now() int64 { return int64(Start.Sub(g.Epoch) / g.Tick) }

func (g *Leased[T]) lease(node uint32, ticks int64) *window.Window {
	w := window.New(g.Size, g.Tick, g.Epoch)
	w.Set(window.Grant{NodeID: node, Lo: g.now(), Hi: g.now() + ticks}, g.now()+ticks)
	return w
}

func (g *Leased[T]) generator(t testing.TB, l sortid.Lease, s Setup) Gen[T] {
	t.Helper()
	return check.Must(g.New(t, l, s))(t)
}

// start returns a generator, its lease of a node ID for some ticks, and its clock.
func (g *Leased[T]) start(t testing.TB, node uint32, ticks int64, at time.Time,
	s Setup) (Gen[T], *window.Window, *Clock) {
	t.Helper()
	l, clock := g.lease(node, ticks), NewClock(at)
	s.Clock = clock.Now
	return g.generator(t, l, s), l, clock
}

func (g *Leased[T]) check(t testing.TB, id T, node uint32, tick int64) {
	t.Helper()
	if n, at := g.Node(id), g.At(id)-g.now(); n != node || at != tick {
		t.Fatalf("%v has node ID %d and is in tick %d after Start, want %d and %d", id, n, at,
			node, tick)
	}
}

func (g *Leased[T]) Run(t *testing.T) {
	t.Run("Window", g.testWindow)
	t.Run("Later", g.testLater)
	t.Run("TooFarAhead", g.testTooFarAhead)
	t.Run("Back", g.testBack)
	if g.Leads {
		if g.Size > 3 || !testing.Short() { // with few node bits, a tick has millions of IDs
			t.Run("Overflow", g.testOverflow)
		}
	} else {
		t.Run("OverflowWait", g.testOverflowWait)
	}
	t.Run("Wait", g.testWait)
	t.Run("WaitFill", g.testWaitFill)
	t.Run("ClockJumps", g.testClockJumps)
	t.Run("Close", g.testClose)
	t.Run("Shared", g.testShared)
	t.Run("SharedAhead", g.testSharedAhead)
	t.Run("RandomWalk", g.testRandomWalk)
	t.Run("Range", g.testRange)
	t.Run("Options", g.testOptions)
	t.Run("Allocations", g.testAllocations)
}

// IDs have the lease's node ID and its granted ticks. After a renewal, the IDs continue.
func (g *Leased[T]) testWindow(t *testing.T) {
	gen, l, clock := g.start(t, 5, 3, Start, Setup{Entropy: Entropy(1)})
	var ids []T
	for tick := range int64(3) {
		for range 3 {
			ids = append(ids, check.Must(gen.Generate())(t))
			g.check(t, ids[len(ids)-1], 5, tick)
		}
		if tick == 2 {
			clock.Add(g.Tick - time.Microsecond) // the last granted moment
			ids = append(ids, check.Must(gen.Generate())(t))
			g.check(t, ids[len(ids)-1], 5, tick)
			clock.Add(time.Microsecond - g.Tick)
		}
		clock.Add(g.Tick)
	}
	for range 2 {
		if id, err := gen.Generate(); !errors.Is(err, sortid.ErrLeaseExpired) || id != *new(T) {
			t.Fatalf("after the window: %v, %v", id, err)
		}
		batch := slices.Clone(ids[:2])
		if err := gen.Fill(batch); !errors.Is(err, sortid.ErrLeaseExpired) || batch[0] != *new(T) ||
			batch[1] != *new(T) {
			t.Fatalf("after the window: Fill %v, %v", batch, err)
		}
	}
	l.Set(window.Grant{NodeID: 6, Lo: g.now() + 3, Hi: g.now() + 9}, 0)
	ids = append(ids, check.Must(gen.Generate())(t))
	g.check(t, ids[len(ids)-1], 6, 3)
	l.Set(window.Grant{NodeID: 2, Lo: g.now() + 5, Hi: g.now() + 9}, 0)
	ids = append(ids, check.Must(gen.Generate())(t)) // the generator has already claimed this tick
	g.check(t, ids[len(ids)-1], 6, 3)
	clock.Add(g.Tick)
	ids = append(ids, check.Must(gen.Generate())(t))
	g.check(t, ids[len(ids)-1], 2, 5)
	Increasing(t, ids)
}

func (g *Leased[T]) testLater(t *testing.T) {
	gen, _, clock := g.start(t, 5, 3, Start.Add(-2*g.Tick), Setup{Entropy: Entropy(1)})
	ids := []T{check.Must(gen.Generate())(t), check.Must(gen.Generate())(t)}
	clock.Add(2 * g.Tick)
	ids = append(ids, check.Must(gen.Generate())(t))
	for _, id := range ids {
		g.check(t, id, 5, 0)
	}
	Increasing(t, ids)
}

// The first granted tick is ahead of the clock by more than RollbackAllowance. The policy decides
// between an error and a wait. Later, when the clock is near enough, the generator uses the tick.
func (g *Leased[T]) testTooFarAhead(t *testing.T) {
	for _, policy := range []sortid.RollbackPolicy{sortid.RollbackAbort, sortid.RollbackWait} {
		for _, random := range []Constant{0, 0x55, 0xff} {
			gen, _, clock := g.start(t, 5, 3, Start.Add(-3*g.Tick), Setup{Entropy: random,
				RollbackAllowance: 2 * g.Tick, RollbackPolicy: policy})
			for range 3 {
				ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
				id, err := gen.GenerateContext(ctx)
				cancel()
				if !errors.Is(err, sortid.ErrClockRollback) || id != *new(T) ||
					errors.Is(err, context.DeadlineExceeded) != (policy == sortid.RollbackWait) {
					t.Fatalf("policy %d, three ticks ahead with two allowed: %v, %v", policy, id,
						err)
				}
			}
			clock.Add(g.Tick)
			first := check.Must(gen.Generate())(t)
			g.check(t, first, 5, 0)
			clock.Add(g.Tick)
			Increasing(t, []T{first, check.Must(gen.Generate())(t)})
		}
	}
}

func (g *Leased[T]) testBack(t *testing.T) {
	gen, _, clock := g.start(t, 5, 100, Start.Add(50*g.Tick), Setup{Entropy: Entropy(1),
		RollbackPolicy: sortid.RollbackAbort, RollbackAllowance: 20 * g.Tick})
	ids := []T{check.Must(gen.Generate())(t)}
	for range 20 {
		clock.Add(-g.Tick)
		ids = append(ids, check.Must(gen.Generate())(t))
		g.check(t, ids[len(ids)-1], 5, 50)
	}
	clock.Add(-g.Tick)
	if _, err := gen.Generate(); !errors.Is(err, sortid.ErrClockRollback) {
		t.Fatalf("beyond the allowance: %v", err)
	}
	clock.Add(22 * g.Tick)
	ids = append(ids, check.Must(gen.Generate())(t))
	g.check(t, ids[len(ids)-1], 5, 51)
	Increasing(t, ids)
}

func (g *Leased[T]) testOverflow(t *testing.T) {
	gen, l, _ := g.start(t, 5, 4, Start, Setup{Entropy: Entropy(1)})
	last := check.Must(gen.Generate())(t)
	for ticks := int64(0); ; {
		id, err := gen.Generate()
		if errors.Is(err, sortid.ErrLeaseExpired) && ticks == 3 {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if g.At(id) != g.At(last) {
			ticks++
		}
		g.check(t, id, 5, ticks)
		Increasing(t, []T{last, id})
		last = id
	}
	if used := l.Used() - g.now(); used != 3 {
		t.Errorf("the last tick claimed is %d, want 3", used)
	}
}

// With a full counter, a generator waits until the clock has passed the claimed tick. It claims
// another tick only then.
func (g *Leased[T]) testOverflowWait(t *testing.T) {
	gen, l, clock := g.start(t, 5, 4, Start.Add(-g.Tick), Setup{Entropy: Constant(0xff)})
	ctx := Ended(t)
	var last T
	var err error
	for step := range 3 {
		made := 0
		for ; ; made++ {
			var id T
			if id, err = gen.GenerateContext(ctx); err != nil {
				break
			}
			g.check(t, id, 5, int64(max(step-1, 0)))
			Increasing(t, []T{last, id})
			last = id
		}
		if !errors.Is(err, sortid.ErrOverflow) || !errors.Is(err, context.Canceled) {
			t.Fatalf("after all IDs of a tick: %v, want ErrOverflow and the context's error",
				err)
		}
		if used := l.Used() - g.now(); used != int64(max(step-1, 0)) {
			t.Errorf("the last tick claimed is %d when the clock shows %v", used, clock.Now())
		}
		if (made == 0) != (step == 1) {
			t.Errorf("%d IDs when the clock shows %v", made, clock.Now())
		}
		clock.Add(g.Tick)
	}
}

// Ended returns a context that has ended. A call that must wait returns the context's error.
func Ended(t testing.TB) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}

func (g *Leased[T]) testWait(t *testing.T) {
	gen, l, clock := g.start(t, 5, 1, Start, Setup{Entropy: Entropy(1),
		RollbackPolicy: sortid.RollbackWait})
	first := check.Must(gen.Generate())(t)
	clock.Add(g.Tick)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
	defer cancel()
	if id, err := gen.GenerateContext(ctx); !errors.Is(err, sortid.ErrLeaseExpired) ||
		!errors.Is(err, context.DeadlineExceeded) || id != *new(T) {
		t.Fatalf("without renewal: %v, %v", id, err)
	}
	select {
	case <-l.RenewalRequests():
	default:
		t.Error("the generator did not ask for a renewal")
	}
	go func() {
		time.Sleep(5 * time.Millisecond)
		l.Set(window.Grant{NodeID: 3, Lo: g.now() + 1, Hi: g.now() + 2}, 0)
	}()
	second := check.Must(gen.Generate())(t)
	g.check(t, second, 3, 1)
	Increasing(t, []T{first, second})
	clock.Add(g.Tick)
	go func() {
		time.Sleep(5 * time.Millisecond)
		l.Close()
	}()
	if _, err := gen.Generate(); !errors.Is(err, sortid.ErrLeaseClosed) {
		t.Fatalf("closed while it waits: %v", err)
	}
}

// If Fill waits, it keeps the IDs that it has made.
func (g *Leased[T]) testWaitFill(t *testing.T) {
	const ticks = 60
	gen, l, clock := g.start(t, 0, 2, Start, Setup{RollbackPolicy: sortid.RollbackWait})
	ids := make([]T, 20)
	if err := gen.Fill(ids); err != nil {
		t.Fatal(err)
	}
	Increasing(t, ids)
	last := ids[len(ids)-1]
	var wg sync.WaitGroup
	wg.Go(func() { // each renewal is a tick late
		for lo := g.now() + 2; lo < g.now()+ticks; lo += 2 {
			time.Sleep(time.Millisecond)
			clock.Add(3 * g.Tick)
			time.Sleep(time.Millisecond)
			l.Set(window.Grant{NodeID: uint32(lo) & 3, Lo: lo, Hi: lo + 2}, 0)
			clock.Add(-g.Tick)
		}
		l.Close()
		clock.Add(3 * g.Tick) // past the last granted tick
	})
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for {
		err := gen.FillContext(ctx, ids)
		if err == nil {
			err = ctx.Err() // FillContext ignores ctx if it never waits
		}
		if errors.Is(err, sortid.ErrLeaseClosed) {
			break
		}
		if err != nil {
			t.Error(err)
			break
		}
		Increasing(t, append([]T{last}, ids...))
		last = ids[len(ids)-1]
	}
	wg.Wait()
}

func (g *Leased[T]) testClose(t *testing.T) {
	gen, l, clock := g.start(t, 5, 9, Start, Setup{Entropy: Entropy(1)})
	check.Must(gen.Generate())(t)
	if used := l.Close() - g.now(); used != 0 {
		t.Fatalf("used up to tick %d, want 0", used)
	}
	g.check(t, check.Must(gen.Generate())(t), 5, 0)
	clock.Add(g.Tick)
	if _, err := gen.Generate(); !errors.Is(err, sortid.ErrLeaseClosed) ||
		errors.Is(err, sortid.ErrLeaseExpired) {
		t.Fatalf("after Close: %v", err)
	}
}

func (g *Leased[T]) testShared(t *testing.T) {
	const generators, each = 4, 40
	l, clock := g.lease(5, generators*each), NewClock(Start)
	var mu sync.Mutex
	owner := map[int64]int{}
	var wg sync.WaitGroup
	for i := range generators {
		gen := g.generator(t, l,
			Setup{Clock: clock.Now, RollbackAllowance: 2 * generators * each * g.Tick})
		wg.Go(func() {
			for range each {
				id, err := gen.Generate()
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				if other, ok := owner[g.At(id)]; ok && other != i {
					t.Errorf("generators %d and %d both have tick %d", other, i, g.At(id))
				}
				owner[g.At(id)] = i
				mu.Unlock()
				clock.Add(g.Tick)
			}
		})
	}
	wg.Wait()
}

// The clock, renewals and counters are random. IDs increase and have granted ticks. No two
// generators use the same tick.
func (g *Leased[T]) testRandomWalk(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 7))
		w, clock := window.New(g.Size, g.Tick, g.Epoch), NewClock(Start)
		owner, granted := map[int64]int{}, map[int64]uint32{}
		var gens [2]Gen[T]
		var last [2]T
		for i := range gens {
			gens[i] = g.generator(t, w, Setup{Clock: clock.Now, Entropy: Entropy(seed),
				RollbackAllowance: 30 * g.Tick, RollbackPolicy: sortid.RollbackAbort})
		}
		end, made, ctx := g.now(), 0, Ended(t)
		for range 3000 {
			switch r.IntN(4) {
			case 0:
				clock.Add(time.Duration(r.Int64N(9)-3) * g.Tick / 2)
			case 1:
				now := int64(clock.Now().Sub(g.Epoch) / g.Tick)
				if end > now+25 { // do not grant ticks that are too far ahead of the clock
					continue
				}
				lo := max(end, now) + r.Int64N(3)
				end = lo + 1 + r.Int64N(5)
				node := r.Uint32N(1 << g.Size)
				for at := lo; at < end; at++ {
					granted[at] = node
				}
				w.Set(window.Grant{NodeID: node, Lo: lo, Hi: end}, end)
			default:
				i := r.IntN(len(gens))
				id, err := gens[i].GenerateContext(ctx)
				if errors.Is(err, sortid.ErrLeaseExpired) ||
					errors.Is(err, sortid.ErrClockRollback) ||
					!g.Leads && errors.Is(err, sortid.ErrOverflow) {
					continue
				}
				if err != nil {
					t.Fatal(err)
				}
				made++
				Increasing(t, []T{last[i], id})
				last[i] = id
				if node, ok := granted[g.At(id)]; !ok || node != g.Node(id) {
					t.Fatalf("seed %d: %v has node ID %d; its tick was granted: %v, to node ID %d",
						seed, id, g.Node(id), ok, node)
				}
				if other, ok := owner[g.At(id)]; ok && other != i {
					t.Fatalf("seed %d: both generators have the tick of %v", seed, id)
				}
				owner[g.At(id)] = i
			}
		}
		if made < 500 {
			t.Errorf("seed %d: only %d IDs", seed, made)
		}
	}
}

func (g *Leased[T]) testRange(t *testing.T) {
	for _, tick := range []int64{0, g.Last} {
		l := window.New(g.Size, g.Tick, g.Epoch)
		l.Set(window.Grant{NodeID: 5, Lo: tick, Hi: tick + 1}, tick)
		at := time.UnixMilli(g.Epoch.UnixMilli() + tick*g.Tick.Milliseconds())
		gen := g.generator(t, l, Setup{Clock: NewClock(at).Now})
		if id, err := gen.Generate(); id != *new(T) || !errors.Is(err, sortid.ErrTimeRange) {
			t.Errorf("at tick %d: %v, %v, want ErrTimeRange", tick, id, err)
		}
	}
}

func (g *Leased[T]) testOptions(t *testing.T) {
	good := g.lease(5, 9)
	refused := func(what string, l sortid.Lease, s Setup, says string) {
		t.Helper()
		gen, err := g.New(t, l, s)
		if err == nil || !errors.Is(err, sortid.ErrOption) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, %v", what, gen, err)
		}
	}
	refused("a reset", good, Setup{RollbackPolicy: sortid.RollbackReset}, "Lease")
	refused("other ticks", window.New(g.Size, 2*g.Tick, g.Epoch), Setup{},
		"another format")
	refused("another epoch", window.New(g.Size, g.Tick, g.Epoch.Add(g.Tick)),
		Setup{}, "another format")
	refused("a node ID too large", window.New(24, g.Tick, g.Epoch), Setup{}, "Lease")
}

func (g *Leased[T]) testAllocations(t *testing.T) {
	gen, _, clock := g.start(t, 5, 1<<30, Start, Setup{Entropy: Entropy(1)})
	if n := testing.AllocsPerRun(1000, func() {
		clock.Add(g.Tick)
		if _, err := gen.Generate(); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("Generate allocates %v times a tick", n)
	}
}

// If the clock is an hour ahead for a moment, no generator waits for an hour.
func (g *Leased[T]) testClockJumps(t *testing.T) {
	for _, policy := range []sortid.RollbackPolicy{sortid.RollbackDefault, sortid.RollbackAbort,
		sortid.RollbackWait} {
		gen, _, clock := g.start(t, 5, 20, Start, Setup{Entropy: Entropy(1),
			RollbackPolicy: policy})
		first := check.Must(gen.Generate())(t)

		clock.Add(time.Hour)
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		time.AfterFunc(20*time.Millisecond, func() { clock.Add(g.Tick - time.Hour) })
		for {
			id, err := gen.GenerateContext(ctx)
			if policy != sortid.RollbackWait && errors.Is(err, sortid.ErrLeaseExpired) &&
				ctx.Err() == nil {
				time.Sleep(time.Millisecond)
				continue
			}
			if err != nil {
				t.Fatalf("policy %d: %v", policy, err)
			}
			g.check(t, id, 5, 1)
			Increasing(t, []T{first, id})
			break
		}
		cancel()
	}
}

// Eight generators that share a lease use eight ticks while the clock shows one tick.
func (g *Leased[T]) testSharedAhead(t *testing.T) {
	l, clock := g.lease(5, 20), NewClock(Start)
	for i := range int64(8) {
		gen := g.generator(t, l, Setup{Clock: clock.Now, Entropy: Entropy(1)})
		g.check(t, check.Must(gen.Generate())(t), 5, i)
	}
}
