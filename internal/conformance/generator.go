package conformance

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"iter"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sortid/sortid"
	"github.com/sortid/sortid/internal/check"
	"github.com/sortid/sortid/internal/gencore"
)

type Gen[T any] interface {
	Generate() (T, error)
	GenerateContext(context.Context) (T, error)
	Fill([]T) error
	FillContext(context.Context, []T) error
	All() iter.Seq2[T, error]
}

type Setup = sortid.GeneratorOptions

// A Generator describes one mode of a format's generator.
type Generator[T ID[T]] struct {
	New     func(t testing.TB, s Setup) Gen[T]
	Tick    time.Duration
	Default sortid.RollbackPolicy // the meaning of RollbackDefault

	// A generator can make at least Burst IDs in one tick.
	Burst int
	// Leads says that a generator with a full tick uses the next tick. If Leads is
	// false, the generator waits.
	Leads bool
	// Shared says that a new tick does not restart the count of IDs. After each Burst IDs, the next
	// ID needs a later tick, even if the IDs are in several ticks.
	Shared    bool
	NoEntropy bool // IDs have no random bits
	Unordered bool // IDs are in no order, and the policy does not matter
	// Leased says that the generator has a lease. The lease limits the time, and a reset is not
	// possible. If entropy fails, the generator can skip a tick.
	Leased bool
	// Random is a mask: the bits of the binary form that are random in each ID.
	Random []byte
	Core   func(Gen[T]) *gencore.Core

	// AtBits is how many bits of an ID of a given time are random. 0 means that the generator makes
	// no such IDs.
	AtBits int

	// Range has the first and the last time of an ID.
	Range [2]time.Time
}

// A Clock shows the time that tests set. It is safe for concurrent use.
type Clock struct {
	mu sync.Mutex
	t  time.Time
}

// Start is the first time on the tests' clocks. In all formats it is the start of a tick.
var Start = time.UnixMilli(1_700_000_000_000 &^ 255).UTC()

func NewClock(t time.Time) *Clock { return &Clock{t: t} }

func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.t
}

func (c *Clock) Add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t = c.t.Add(d)
}

// Entropy returns the same random bytes for the same seed.
func Entropy(seed uint64) io.Reader {
	var b [32]byte
	binary.BigEndian.PutUint64(b[:], seed)
	return rand.NewChaCha8(b)
}

// Constant is a reader that repeats one byte.
type Constant byte

func (c Constant) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = byte(c)
	}
	return len(b), nil
}

// A Limited source fails with Err after Left bytes.
type Limited struct {
	io.Reader
	Left int
	Err  error
}

func (l *Limited) Read(b []byte) (int, error) {
	if l.Left == 0 {
		return 0, l.Err
	}
	k := min(l.Left, len(b))
	l.Left -= k
	return l.Reader.Read(b[:k])
}

// New tests the functions New and NewString, which use a process-wide generator.
func New[T ID[T], G Gen[T]](t *testing.T, global *G, newGenerator func(Setup) G,
	newID func() T, newString func() string) {
	t.Helper()
	ids := make([]T, 10_000)
	for i := range ids {
		ids[i] = newID()
	}
	Increasing(t, ids)

	clock := NewClock(Start)
	setup := func() Setup { return Setup{Clock: clock.Now, Entropy: Entropy(1)} }
	defer func(g G) { *global = g }(*global)
	*global = newGenerator(setup())
	twin := newGenerator(setup())
	for i := range 100 {
		want, err := twin.Generate()
		if err != nil {
			t.Fatal(err)
		}
		if got := newString(); got != want.String() {
			t.Fatalf("ID %d: %s, want %v", i, got, want)
		}
		clock.Add(time.Duration(i%2) * time.Millisecond)
	}
}

func (g *Generator[T]) Run(t *testing.T) {
	t.Run("SystemClock", g.testSystemClock)
	t.Run("Time", g.testTime)
	t.Run("Frozen", g.testFrozen)
	t.Run("Fill", g.testFill)
	t.Run("FillClock", g.testFillClock)
	t.Run("Random", g.testRandom)
	t.Run("Reseed", g.testReseed)
	t.Run("Entropy", g.testEntropy)
	if !g.Leased {
		t.Run("EntropyLater", g.testEntropyLater)
		t.Run("TimeRange", g.testTimeRange)
	}
	t.Run("Concurrent", g.testConcurrent)
	t.Run("Allocations", g.testAllocations)
	t.Run("Zero", g.testZero)
	t.Run("At", g.testAt)
	if !g.Unordered {
		t.Run("SmallRollback", g.testSmallRollback)
		t.Run("RandomWalk", g.testRandomWalk)
		t.Run("Abort", g.testAbort)
		if !g.Leased {
			t.Run("Reset", g.testReset)
		}
		t.Run("Wait", g.testWait)
		t.Run("WaitTarget", g.testWaitTarget)
		t.Run("DefaultPolicy", g.testDefaultPolicy)
	}
}

func Increasing[T ID[T]](t testing.TB, ids []T) {
	t.Helper()
	for i := 1; i < len(ids); i++ {
		if ids[i-1].Compare(ids[i]) >= 0 {
			t.Fatalf("ID %d, %v, is not larger than %v before it", i, ids[i], ids[i-1])
		}
	}
}

// start returns a generator and its clock. The parameter at is the clock's first time.
func (g *Generator[T]) start(t testing.TB, at time.Time, s Setup) (Gen[T], *Clock) {
	clock := NewClock(at)
	s.Clock = clock.Now
	return g.New(t, s), clock
}

func (g *Generator[T]) tick(t time.Time) time.Time {
	us := t.UnixMicro() // an int64 of nanoseconds does not reach the year 10889
	return time.UnixMicro(us - us%g.Tick.Microseconds()).UTC()
}

// supply returns how many IDs the generator certainly makes without an error, but at most n. If
// g.Leads is true, the default allowance limits the number.
func (g *Generator[T]) supply(n int) int {
	if ticks := int(10 * time.Second / g.Tick); g.Leads && g.Burst < n/ticks+1 {
		return g.Burst * ticks
	}
	return n
}

// A generator that NewGenerator did not make returns an error at each call.
func (g *Generator[T]) testZero(t *testing.T) {
	gen, _ := g.start(t, Start, Setup{})
	zero := reflect.New(reflect.TypeOf(gen).Elem()).Interface().(Gen[T])
	for range 2 {
		_, err := zero.Generate()
		for _, err := range []error{err, zero.Fill(make([]T, 2))} {
			if !errors.Is(err, sortid.ErrOption) || !strings.Contains(err.Error(), "NewGenerator") {
				t.Error(err)
			}
		}
	}
}

func (g *Generator[T]) testSystemClock(t *testing.T) {
	gen := g.New(t, Setup{})
	before := g.tick(time.Now())
	var ids []T
	for id, err := range gen.All() {
		if err != nil {
			t.Fatal(err)
		}
		if ids = append(ids, id); len(ids) == g.supply(4000)/2 {
			break
		}
	}
	more := make([]T, len(ids))
	if err := gen.Fill(more); err != nil {
		t.Fatal(err)
	}
	ids = append(ids, more...)
	after := g.tick(time.Now())
	if g.Leads { // the timestamp may be ahead
		after = after.Add(time.Duration(len(ids)/g.Burst+1) * g.Tick)
	}
	for i, id := range ids {
		if id.Time().Before(before) || id.Time().After(after) {
			t.Fatalf("ID %d, %v, has the time %v, want a time from %v to %v", i, id, id.Time(),
				before, after)
		}
	}
	if !g.Unordered {
		Increasing(t, ids)
	}
}

func (g *Generator[T]) testTime(t *testing.T) {
	gen, clock := g.start(t, Start, Setup{Entropy: Entropy(1)})
	r := rand.New(rand.NewPCG(1, 1))
	var ids []T
	left := g.Burst
	for range 10_000 {
		id := check.Must(gen.Generate())(t)
		want := g.tick(clock.Now())
		if !id.Time().Equal(want) {
			t.Fatalf("%v has the time %v, want %v", id, id.Time(), want)
		}
		if n := len(ids); !g.Shared && n > 0 && !ids[n-1].Time().Equal(want) {
			left = g.Burst
		}
		ids = append(ids, id)
		if left--; left == 0 {
			clock.Add(g.Tick)
			left = g.Burst
		}
		switch r.IntN(4) {
		case 0:
			clock.Add(g.Tick)
		case 1:
			clock.Add(time.Duration(r.Int64N(int64(5 * g.Tick))))
		case 2:
			clock.Add(time.Duration(r.Int64N(int64(time.Hour))))
		}
	}
	if !g.Unordered {
		Increasing(t, ids)
	}
}

// While the clock stands still, a tick has at least Burst IDs. Then the generator uses the next
// ticks, or waits until the clock moves.
func (g *Generator[T]) testFrozen(t *testing.T) {
	gen, clock := g.start(t, Start, Setup{Entropy: Entropy(2)})
	n := min(g.Burst, 100_000)
	var ids []T
	for range n {
		id := check.Must(gen.Generate())(t)
		if !id.Time().Equal(Start) {
			t.Fatalf("ID %d has the time %v, but the clock shows %v", len(ids), id.Time(), Start)
		}
		ids = append(ids, id)
	}
	if g.Unordered {
		return
	}
	Increasing(t, ids)
	if n < g.Burst {
		return
	}
	if g.Leads {
		for ids[len(ids)-1].Time().Sub(Start) < 3*g.Tick {
			ids = append(ids, check.Must(gen.Generate())(t))
		}
		Increasing(t, ids)
		return
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	for {
		id, err := gen.GenerateContext(ctx)
		if err != nil {
			if !errors.Is(err, context.DeadlineExceeded) || id != *new(T) {
				t.Fatalf("after all IDs of a tick: %v, %v, want the context's error", id, err)
			}
			break
		}
		if ids = append(ids, id); len(ids) > 1<<20 {
			t.Fatal("the tick never ends")
		}
	}
	go func() {
		time.Sleep(5 * time.Millisecond)
		clock.Add(g.Tick)
	}()
	ids = append(ids, check.Must(gen.Generate())(t))
	Increasing(t, ids)
	if got := ids[len(ids)-1].Time(); !got.Equal(Start.Add(g.Tick)) {
		t.Errorf("after the wait the time is %v, want %v", got, Start.Add(g.Tick))
	}
}

func (g *Generator[T]) testFill(t *testing.T) {
	one := NewClock(Start)
	s := Setup{Clock: one.Now, Entropy: Entropy(3), RollbackAllowance: time.Hour}
	a := g.New(t, s)
	s.Entropy = Entropy(3)
	b := g.New(t, s)
	r := rand.New(rand.NewPCG(2, 2))
	left, rounds := g.Burst, 200
	if g.Leads { // any batch fits in the allowance of an hour
		left = 5000
	}
	most := left
	if testing.Short() {
		rounds = 40
	}
	for range rounds {
		ids := make([]T, r.IntN(min(left, 5000))+1)
		if left -= len(ids); left == 0 || !g.Shared {
			left = most
		}
		if err := a.Fill(ids); err != nil {
			t.Fatal(err)
		}
		for i, id := range ids {
			if want := check.Must(b.Generate())(t); id != want {
				t.Fatalf("Fill makes %v as ID %d of %d, but Generate makes %v", id, i, len(ids),
					want)
			}
		}
		if !g.Unordered {
			Increasing(t, ids)
		}
		one.Add(g.Tick + time.Duration(r.Int64N(int64(time.Second))))
		if g.Leads {
			one.Add(time.Hour)
		}
	}
	if err := a.Fill(nil); err != nil {
		t.Errorf("Fill of nothing: %v", err)
	}
}

func (g *Generator[T]) testFillClock(t *testing.T) {
	n := min(g.Burst, 3*4096)
	if g.Leads {
		n = g.supply(3 * 4096)
	}
	reads := 0
	gen := g.New(t, Setup{Clock: func() time.Time { reads++; return Start }, Entropy: Entropy(3)})
	ids := make([]T, n)
	if err := gen.Fill(ids); err != nil {
		t.Fatal(err)
	}
	if !g.Unordered {
		Increasing(t, ids)
	}
	if want := (n + 4095) / 4096; reads != want {
		t.Errorf("Fill of %d IDs reads the clock %d times, want %d", n, reads, want)
	}
}

// With the system's entropy, all bits in Random are random, also after the first ID of a tick.
func (g *Generator[T]) testRandom(t *testing.T) {
	const ticks, each = 32, 32
	for _, name := range []string{"Generate", "Fill", "SystemClock"} {
		gen, clock := g.start(t, Start, Setup{RollbackAllowance: time.Hour})
		if name == "SystemClock" {
			gen = g.New(t, Setup{RollbackAllowance: time.Hour})
			warm(t, gen)
		}
		ones := make([]int, 8*len(g.Random))
		n, twins := 0, 0
		for range ticks {
			ids := make([]T, each)
			if name == "Fill" {
				check.OK(t, gen.Fill(ids))
			} else {
				for i := range ids {
					ids[i] = check.Must(gen.Generate())(t)
				}
			}
			want := g.tick(clock.Now())
			if got := ids[0].Time(); name != "SystemClock" && !got.Equal(want) {
				t.Fatalf("%s: the time is %v, want %v", name, got, want)
			}
			var last []byte
			for i, id := range ids {
				b := check.Must(id.MarshalBinary())(t)
				for j := range g.Random {
					b[j] &= g.Random[j]
				}
				if i > 0 {
					n++
					for j := range ones {
						ones[j] += int(b[j/8] >> (7 - j%8) & 1)
					}
					if bytes.Equal(b, last) {
						twins++
					}
				}
				last = b
			}
			clock.Add(time.Hour)
		}
		random := false
		for j, got := range ones {
			if g.Random[j/8]>>(7-j%8)&1 == 0 {
				continue
			}
			random = true
			// A fair bit fails once in 10^50 tests.
			if got < n/4 || got > 3*n/4 {
				t.Errorf("%s: bit %d is set in %d of %d IDs", name, j, got, n)
			}
		}
		if random && twins > n/4 {
			t.Errorf("%s: %d of %d IDs have the same random bits as the ID before", name, twins,
				n)
		}
	}
}

// Each second of the clock has a new seed, even if the timestamp stands still.
func (g *Generator[T]) testReseed(t *testing.T) {
	gen, clock := g.start(t, Start, Setup{})
	for _, step := range []time.Duration{0, time.Second, time.Hour, -5 * time.Second,
		2 * time.Second, g.Tick, -3 * time.Second} {
		clock.Add(step)
		check.Must(gen.Generate())(t)
		want := g.tick(clock.Now()).Unix()
		if second := g.Core(gen).Rand.Second(); second != want {
			t.Fatalf("after a step of %v, the seed is from second %d, want %d", step, second, want)
		}
	}
}

func (g *Generator[T]) testSmallRollback(t *testing.T) {
	gen, clock := g.start(t, Start, Setup{Entropy: Entropy(4),
		RollbackPolicy: sortid.RollbackAbort})
	ids := []T{check.Must(gen.Generate())(t)}
	for _, back := range []time.Duration{g.Tick, 20 * g.Tick, 10 * time.Second / g.Tick * g.Tick} {
		clock := clock
		clock.Add(Start.Add(-back).Sub(clock.Now()))
		for range min(g.Burst, 100) / 4 {
			id := check.Must(gen.Generate())(t)
			if !id.Time().Equal(Start) {
				t.Fatalf("back by %v: the time is %v, want %v", back, id.Time(), Start)
			}
			ids = append(ids, id)
		}
	}
	clock.Add(Start.Add(time.Minute).Sub(clock.Now()))
	ids = append(ids, check.Must(gen.Generate())(t))
	Increasing(t, ids)
	if got := ids[len(ids)-1].Time(); !got.Equal(g.tick(Start.Add(time.Minute))) {
		t.Errorf("when the clock has caught up, the time is %v", got)
	}
}

func (g *Generator[T]) testRandomWalk(t *testing.T) {
	for seed := range uint64(20) {
		gen, clock := g.start(t, Start, Setup{Entropy: Entropy(seed),
			RollbackPolicy: sortid.RollbackAbort})
		r := rand.New(rand.NewPCG(seed, 3))
		var ids []T
		at, top := time.Duration(0), time.Duration(0)
		for range 2000 {
			ids = append(ids, check.Must(gen.Generate())(t))
			next := at + time.Duration(r.Int64N(int64(4*time.Second))) - time.Second
			next = max(next, top-9*time.Second)
			if g.Shared && len(ids)%g.Burst == 0 {
				next = top + g.Tick
			}
			clock.Add(next - at)
			at, top = next, max(top, next)
		}
		Increasing(t, ids)
	}
}

const beyond = 11 * time.Second

func (g *Generator[T]) testAbort(t *testing.T) {
	gen, clock := g.start(t, Start, Setup{Entropy: Entropy(5),
		RollbackPolicy: sortid.RollbackAbort})
	first := check.Must(gen.Generate())(t)
	clock.Add(-beyond)
	for range 3 {
		if id, err := gen.Generate(); !errors.Is(err, sortid.ErrClockRollback) || id != *new(T) {
			t.Fatalf("back by %v: %v, %v, want ErrClockRollback", beyond, id, err)
		}
	}
	ids := make([]T, 10)
	ids[3] = first
	if err := gen.Fill(ids); !errors.Is(err, sortid.ErrClockRollback) ||
		slices.ContainsFunc(ids, func(id T) bool { return !id.IsZero() }) {
		t.Fatalf("back by %v: Fill %v, %v, want ErrClockRollback and no ID", beyond, ids, err)
	}
	clock.Add(beyond)
	Increasing(t, []T{first, check.Must(gen.Generate())(t)})

	for allowed, allowance := range []time.Duration{-1, g.Tick, 2 * g.Tick} { // in ticks
		gen, clock := g.start(t, Start, Setup{Entropy: Entropy(5),
			RollbackPolicy: sortid.RollbackAbort, RollbackAllowance: allowance})
		check.Must(gen.Generate())(t)
		clock.Add(-time.Duration(allowed) * g.Tick)
		check.Must(gen.Generate())(t)
		clock.Add(-g.Tick)
		if _, err := gen.Generate(); !errors.Is(err, sortid.ErrClockRollback) {
			t.Fatalf("back by a tick more than the %d allowed: %v", allowed, err)
		}
		clock.Add(time.Duration(allowed+2) * g.Tick)
		check.Must(gen.Generate())(t)
	}
}

func (g *Generator[T]) testReset(t *testing.T) {
	gen, clock := g.start(t, Start, Setup{Entropy: Entropy(6),
		RollbackPolicy: sortid.RollbackReset})
	check.Must(gen.Generate())(t)
	clock.Add(-beyond)
	ids := []T{check.Must(gen.Generate())(t), check.Must(gen.Generate())(t)}
	clock.Add(time.Second)
	ids = append(ids, check.Must(gen.Generate())(t))
	Increasing(t, ids)
	if got, want := ids[0].Time(), g.tick(Start.Add(-beyond)); !got.Equal(want) {
		t.Errorf("after a reset the time is %v, want %v", got, want)
	}
}

func (g *Generator[T]) testWait(t *testing.T) {
	gen, clock := g.start(t, Start, Setup{Entropy: Entropy(7), RollbackPolicy: sortid.RollbackWait})
	first := check.Must(gen.Generate())(t)
	clock.Add(-beyond)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	id, err := gen.GenerateContext(ctx)
	if !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, sortid.ErrClockRollback) ||
		id != *new(T) {
		t.Fatalf("the clock never caught up: %v, %v", id, err)
	}
	if err := gen.FillContext(ctx, make([]T, 3)); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("the clock never caught up: Fill %v", err)
	}
	go func() {
		for range int(beyond / time.Second) {
			time.Sleep(2 * time.Millisecond)
			clock.Add(time.Second)
		}
	}()
	Increasing(t, []T{first, check.Must(gen.Generate())(t)})
}

// With RollbackWait, a wait ends at the first tick within the allowance.
func (g *Generator[T]) testWaitTarget(t *testing.T) {
	const ticks = 5
	gen, clock := g.start(t, Start, Setup{Entropy: Entropy(7),
		RollbackPolicy: sortid.RollbackWait, RollbackAllowance: ticks * g.Tick})
	first := check.Must(gen.Generate())(t)
	clock.Add(-(ticks + 1) * g.Tick)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
	defer cancel()
	if id, err := gen.GenerateContext(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("a tick too early: %v, %v, want the context's error", id, err)
	}
	if until, _ := g.Core(gen).Waits(); !until.Equal(Start.Add(-ticks * g.Tick)) {
		t.Errorf("it waits until %v, want %v", until, Start.Add(-ticks*g.Tick))
	}
	clock.Add(g.Tick)
	// The context has ended, so a wait is an error.
	Increasing(t, []T{first, check.Must(gen.GenerateContext(ctx))(t)})
}

func (g *Generator[T]) testDefaultPolicy(t *testing.T) {
	gen, clock := g.start(t, Start, Setup{Entropy: Entropy(8)})
	check.Must(gen.Generate())(t)
	clock.Add(-beyond)
	_, err := gen.Generate()
	if want := g.Default == sortid.RollbackAbort; errors.Is(err, sortid.ErrClockRollback) != want {
		t.Errorf("a big rollback with the defaults: %v, want an error: %v", err, want)
	}
}

// If the entropy source fails or returns too few bytes, Generate returns no ID. When the
// source works again, Generate does, too.
func (g *Generator[T]) testEntropy(t *testing.T) {
	broken := errors.New("broken")
	for n := range 64 {
		for _, tail := range []error{io.EOF, broken} {
			clock := NewClock(Start)
			source := &Limited{Entropy(9), n, tail}
			gen := g.New(t, Setup{Clock: clock.Now, Entropy: source})
			var ids []T
			for range g.supply(64) {
				id, err := gen.Generate()
				if err == nil {
					ids = append(ids, id)
					continue
				}
				if !errors.Is(err, sortid.ErrEntropy) || id != *new(T) {
					t.Fatalf("with %d bytes of entropy: %v, %v, want ErrEntropy", n, id, err)
				}
				if tail == broken && !errors.Is(err, broken) {
					t.Fatalf("the source's own error is lost in %v", err)
				}
				break
			}
			if n == 0 && len(ids) > 0 != g.NoEntropy {
				t.Fatalf("%d IDs without any entropy", len(ids))
			}
			source.Left = 1000
			ids = append(ids, check.Must(gen.Generate())(t))
			if !g.Unordered {
				Increasing(t, ids)
			}
		}
	}
}

// A failure changes nothing: later IDs are the same as without the failure.
func (g *Generator[T]) testEntropyLater(t *testing.T) {
	steps := []time.Duration{0, g.Tick, 0, 300 * time.Millisecond, 999 * time.Millisecond,
		time.Second, g.Tick, time.Minute, -3 * time.Second, time.Hour}
	for n := range 24 {
		clock := NewClock(Start)
		const all = 1 << 20
		round := 0
		// Each round has its own bytes, so the number of lost bytes does not matter.
		endless := reader(func(b []byte) (int, error) { return Constant(37 * round % 128).Read(b) })
		source := &Limited{endless, all, io.EOF}
		sound := g.New(t, Setup{Clock: clock.Now, Entropy: endless})
		gen := g.New(t, Setup{Clock: clock.Now, Entropy: source})
		var ids []T
		for i, step := range steps {
			clock.Add(step)
			round, source.Left = i+1, n
			id, err := gen.Generate()
			if err != nil {
				if !errors.Is(err, sortid.ErrEntropy) || id != *new(T) {
					t.Fatalf("with %d bytes of entropy: %v, %v, want ErrEntropy", n, id, err)
				}
				source.Left = all
				id = check.Must(gen.Generate())(t)
			}
			if want := check.Must(sound.Generate())(t); id != want {
				t.Fatalf("round %d: %v after a failure with %d bytes of entropy, want %v", i, id, n,
					want)
			}
			ids = append(ids, id)
		}
		if !g.Unordered {
			Increasing(t, ids)
		}

		clock.Add(time.Second)
		source.Left = n
		batch := []T{ids[0], ids[0], ids[0]}
		if err := gen.Fill(batch); err != nil && (!errors.Is(err, sortid.ErrEntropy) ||
			slices.ContainsFunc(batch, func(id T) bool { return !id.IsZero() })) {
			t.Fatalf("with %d bytes of entropy: Fill %v, %v, want ErrEntropy and no ID", n, batch,
				err)
		}
		source.Left = all
		clock.Add(g.Tick)
		if ids = append(ids, check.Must(gen.Generate())(t)); !g.Unordered {
			Increasing(t, ids[len(ids)-2:])
		}
	}
}

type reader func([]byte) (int, error)

func (r reader) Read(b []byte) (int, error) { return r(b) }

func (g *Generator[T]) testTimeRange(t *testing.T) {
	for _, c := range []struct {
		at time.Time
		ok bool
	}{
		{g.Range[0], true},
		{g.Range[0].Add(-time.Millisecond), false},
		{g.Range[0].AddDate(-100, 0, 0), false},
		{g.Range[1], true},
		{g.Range[1].Add(g.Tick), false},
		{g.Range[1].AddDate(1000, 0, 0), false},
	} {
		clock := NewClock(c.at)
		id, err := g.New(t, Setup{Clock: clock.Now, Entropy: Entropy(10)}).Generate()
		if c.ok && (err != nil || !id.Time().Equal(g.tick(c.at))) {
			t.Errorf("at %v: %v, %v", c.at, id, err)
		}
		if !c.ok && (!errors.Is(err, sortid.ErrTimeRange) || id != *new(T)) {
			t.Errorf("at %v: %v, %v, want ErrTimeRange", c.at, id, err)
		}
	}
}

func (g *Generator[T]) testConcurrent(t *testing.T) {
	clock := NewClock(Start)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	go func() { // a clock with small steps back
		for i := 0; ctx.Err() == nil; i++ {
			clock.Add(g.Tick * time.Duration(3*(i%2)-1))
			time.Sleep(20 * time.Microsecond)
		}
	}()
	g.share(t, g.New(t, Setup{Clock: clock.Now, Entropy: Entropy(11)}))
	gen := g.New(t, Setup{})
	warm(t, gen)
	g.share(t, gen)
}

// warm makes a few IDs, until the generator's clock knows the rate of its counter.
func warm[T any](t *testing.T, gen Gen[T]) {
	for range 5 {
		check.Must(gen.Generate())(t)
		time.Sleep(time.Millisecond)
	}
}

// share shares a generator between eight goroutines. The IDs of each goroutine are in order, and no
// two IDs are the same.
func (g *Generator[T]) share(t *testing.T, gen Gen[T]) {
	const goroutines = 8
	each := g.supply(goroutines*4050) / goroutines
	size := min(50, each/3) // of a batch
	each -= size
	results := make([][]T, goroutines)
	var wg sync.WaitGroup
	for i := range results {
		wg.Go(func() {
			for len(results[i]) < each {
				if len(results[i])%3 == 0 {
					batch := make([]T, size)
					if err := gen.Fill(batch); err != nil {
						t.Error(err)
						return
					}
					results[i] = append(results[i], batch...)
					continue
				}
				id, err := gen.Generate()
				if err != nil {
					t.Error(err)
					return
				}
				results[i] = append(results[i], id)
			}
		})
	}
	wg.Wait()
	var all []T
	for _, ids := range results {
		if !g.Unordered {
			Increasing(t, ids)
		}
		all = append(all, ids...)
	}
	slices.SortFunc(all, T.Compare)
	Increasing(t, all)
}

func (g *Generator[T]) testAllocations(t *testing.T) {
	supply := g.supply
	if g.Shared { // waiting may allocate
		supply = func(n int) int { return min(n, g.Burst) }
	}
	for name, s := range map[string]Setup{
		"system":   {},
		"injected": {Clock: time.Now, Entropy: Entropy(12)},
	} {
		gen := g.New(t, s)
		if g.Burst > 100 { // otherwise no ID can be spared
			warm(t, gen)
		}
		if n := testing.AllocsPerRun(supply(4000)/2-1, func() { _, _ = gen.Generate() }); n != 0 {
			t.Errorf("%s: Generate allocates %v times", name, n)
		}
		ids := make([]T, min(100, g.Burst))
		if n := testing.AllocsPerRun(supply(40_000)/2/len(ids)-1,
			func() { _ = gen.Fill(ids) }); n != 0 {
			t.Errorf("%s: Fill allocates %v times", name, n)
		}
	}
}
