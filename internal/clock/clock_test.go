package clock

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"
)

func stamp(unixNano, monotonic int64) (t time.Time) {
	const leapDays = (1884/4 - 1969/4) - (1884/100 - 1969/100) + (1884/400 - 1969/400)
	const unixTo1885 = ((1884-1969)*365 + leapDays) * 86400
	p := (*struct {
		wall uint64
		ext  int64
		loc  *time.Location
	})(unsafe.Pointer(&t))
	p.wall = 1<<63 | uint64(unixNano/1e9-unixTo1885)<<30 | uint64(unixNano%1e9)
	p.ext = monotonic
	return t
}

func TestStamp(t *testing.T) {
	now := time.Now().UnixNano()
	a, b := stamp(now, 1000), stamp(now+5e9+7, 1300)
	if a.UnixNano() != now || b.UnixNano() != now+5e9+7 || b.Sub(a) != 300 ||
		b.Round(0).Sub(a.Round(0)) != 5e9+7 {
		t.Fatalf("%v, %v: package time has another layout", a, b)
	}
}

// A machine has a wall clock, a monotonic clock and a counter. Their rates may differ.
type machine struct {
	t     *testing.T
	r     *rand.Rand
	clock Clock

	run  int64 // nanoseconds without sleep
	wall int64
	mono int64
	// The counter goes up by rate in a nanosecond. Each core adds its skew.
	count, rate float64
	skew        []float64
	core        int

	cost     int64 // nanoseconds of a reading
	reads    int
	segments []segment
}

// A segment begins when the wall clock steps. Its fields are the machine's times after the step.
type segment struct{ run, wall int64 }

const startWall = 1_700_000_000_000_000_000

func newMachine(t *testing.T, seed uint64) *machine {
	m := &machine{t: t, r: rand.New(rand.NewPCG(seed, 1)), wall: startWall, mono: 1e9,
		count: 1e12, rate: 2.4, skew: []float64{0}, cost: 40, segments: []segment{{0, startWall}}}
	m.clock = Clock{now: m.now, counter: m.counter}
	return m
}

func (m *machine) advance(ns int64) {
	m.run += ns
	m.wall += ns
	m.mono += ns
	m.count += float64(ns) * m.rate
}

func (m *machine) step(ns int64) {
	m.wall += ns
	m.segments = append(m.segments, segment{m.run, m.wall})
}

func (m *machine) now() time.Time {
	m.reads++
	m.advance(m.cost / 2)
	t := stamp(m.wall, m.mono)
	m.advance(m.cost - m.cost/2)
	return t
}

func (m *machine) counter() uint64 { return uint64(m.count + m.skew[m.core]) }

func (m *machine) shown(ms, from, to int64) bool {
	for i := len(m.segments) - 1; i >= 0 && to >= from; i-- {
		s := m.segments[i]
		if start := max(from, s.run); start <= to && (s.wall+start-s.run)/1e6 <= ms &&
			ms <= (s.wall+to-s.run)/1e6 {
			return true
		}
		to = min(to, s.run)
	}
	return false
}

// call sometimes waits for a lock. Milli must return a time that the wall clock shows during the
// call. The parameter slack also allows earlier times.
func (m *machine) call(slack time.Duration) {
	m.t.Helper()
	m.core = m.r.IntN(len(m.skew))
	began, counter := m.run, m.counter()
	if m.r.IntN(10) == 0 {
		m.advance(m.r.Int64N(200_000))
	}
	m.core = m.r.IntN(len(m.skew))
	ms := m.clock.Milli(counter)
	if !m.shown(ms, began-int64(slack), m.run) {
		m.t.Fatalf("after %d ns: Milli returns %d, the clock shows %d ns", m.run, ms, m.wall)
	}
}

func (m *machine) calls(n int, slack time.Duration) {
	m.t.Helper()
	for range n {
		switch r := m.r.IntN(1000); {
		case r < 900:
			m.advance(10 + m.r.Int64N(100))
		case r < 995:
			m.advance(m.r.Int64N(20_000))
		default:
			m.advance(m.r.Int64N(3_000_000))
		}
		m.call(slack)
	}
}

func rounds(n int) int {
	if testing.Short() {
		return n / 10
	}
	return n
}

// If the clocks are steady, Milli returns a millisecond in which the call began or ended.
func TestSteady(t *testing.T) {
	for _, rate := range []float64{0.024, 1, 2.4, 5} { // 0.024 GHz is usual on arm64
		m := newMachine(t, 1)
		m.rate = rate
		// Allow no slack, although a count of a slow counter takes many nanoseconds.
		m.calls(rounds(500_000), 0)

		// The Clock keeps the reading.
		for range 100 {
			m.advance(100)
			m.call(0)
		}
		before := m.reads
		calls := 0
		for end := m.run + 10e6; m.run < end; calls++ {
			m.advance(20)
			m.clock.Milli(m.counter())
		}
		if reads := m.reads - before; reads > 10*25 {
			t.Errorf("rate %v: %d readings for %d calls in 10 ms", rate, reads, calls)
		}
	}
}

// If the Clock makes a reading while a caller waits, this caller uses the new reading.
func TestOvertaken(t *testing.T) {
	m := newMachine(t, 2)
	m.calls(100_000, 0)
	m.advance(int64(time.Millisecond) - m.wall%1e6 + 1000)
	m.advance(int64(lifetime))
	early := m.counter()
	m.advance(1000)
	ms := m.clock.Milli(m.counter())
	before := m.reads
	if got := m.clock.Milli(early); got != ms || m.reads != before {
		t.Errorf("%d after %d with %d readings", got, ms, m.reads-before)
	}
}

// The Clock shows a step of the wall clock within Staleness.
func TestSteps(t *testing.T) {
	m := newMachine(t, 3)
	for range rounds(3000) {
		far := int64(time.Hour)
		if m.r.IntN(2) == 0 {
			far = int64(5 * time.Millisecond)
		}
		m.calls(m.r.IntN(300), Staleness)
		m.step(m.r.Int64N(2*far) - far)
		m.call(Staleness)
	}
	for _, step := range []time.Duration{time.Hour, -time.Hour, time.Millisecond,
		-time.Millisecond} {
		m.calls(10_000, Staleness)
		m.step(int64(step))
		for range Staleness / time.Microsecond {
			m.advance(1000)
			m.clock.Milli(m.counter())
		}
		if got := m.clock.Milli(m.counter()); got != m.wall/1e6 {
			t.Errorf("step of %v: %d, the clock shows %d", step, got, m.wall/1e6)
		}
	}
}

// Every few milliseconds the counter jumps: far, or by less than Staleness - lifetime.
func TestCounterJumps(t *testing.T) {
	m := newMachine(t, 4)
	reserve := float64(Staleness-lifetime) * m.rate * 0.9
	for range rounds(3000) {
		for end := m.run + 5e6; m.run < end; {
			m.calls(m.r.IntN(300), Staleness)
		}
		switch m.r.IntN(4) {
		case 0:
			m.count += m.r.Float64() * 1e13
		case 1:
			m.count = m.r.Float64() * 1e9
		case 2:
			m.count += m.r.Float64() * reserve
		case 3:
			m.count -= m.r.Float64() * reserve
		}
		m.call(Staleness)
		if m.count < 1e12 {
			m.count += 1e12 + m.r.Float64()*1e12
		}
	}
}

// The counters of two cores differ by less than Staleness - lifetime.
func TestSkew(t *testing.T) {
	for seed := range uint64(rounds(20)) {
		m := newMachine(t, seed)
		m.skew = []float64{0, (m.r.Float64()*80 - 40) * 1000 * m.rate} // up to 40 µs
		m.calls(100_000, Staleness)
	}
}

// If the counter often jumps far, as between processor sockets, the Clock only makes more readings.
func TestFarCores(t *testing.T) {
	m := newMachine(t, 5)
	m.skew = []float64{0, 3600e9 * m.rate}
	m.calls(200_000, Staleness)
}

func TestRateChanges(t *testing.T) {
	m := newMachine(t, 6)
	for range rounds(300) {
		m.calls(2000, Staleness)
		m.rate *= 0.55
		m.calls(2000, Staleness)
		m.rate *= 1 + 4*m.r.Float64()
		m.rate = min(max(m.rate, 0.1), 10)
		m.call(Staleness)
	}
}

// While the machine sleeps, its monotonic clock stops. The counter continues, stops or starts at
// zero.
func TestSleep(t *testing.T) {
	m := newMachine(t, 7)
	for range rounds(1000) {
		m.calls(m.r.IntN(3000), Staleness)
		for range 1 + m.r.IntN(4) {
			d := 1000 + m.r.Int64N(int64(time.Hour))
			if m.r.IntN(2) == 0 {
				d = 1000 + m.r.Int64N(int64(100*time.Millisecond))
			}
			m.step(d)
			switch m.r.IntN(3) {
			case 0:
				m.count += float64(d) * m.rate
			case 1:
				m.count = 1e12 * m.r.Float64()
			}
			for range m.r.IntN(3) {
				m.advance(m.r.Int64N(4_000_000))
				m.call(Staleness)
			}
		}
		m.call(Staleness)
	}
}

// The machine sleeps in each sample, and the counter continues.
func TestSleepInEachSample(t *testing.T) {
	for _, sleep := range []time.Duration{50 * time.Microsecond, time.Millisecond,
		200 * time.Millisecond, time.Hour} {
		m := newMachine(t, 8)
		m.calls(10_000, 0)
		for range 10 {
			m.advance(1_500_000)
			m.step(int64(sleep))
			m.count += float64(sleep) * m.rate
			m.call(Staleness)
		}
		// While the machine is awake, the Clock keeps no reading past the millisecond's end.
		for range 2000 {
			m.advance(500)
			m.call(time.Microsecond)
		}
	}
}

// If the counter stops for a time, the Clock is late by at most that time plus Staleness.
func TestCounterStops(t *testing.T) {
	m := newMachine(t, 9)
	for range rounds(200) {
		m.calls(5000, Staleness)
		rate, began := m.rate, m.run
		m.rate = 0
		for end := m.run + m.r.Int64N(int64(5*time.Millisecond)); m.run < end; {
			m.advance(m.r.Int64N(50_000))
			m.call(time.Duration(m.run-began) + Staleness)
		}
		m.rate = rate
		for range 400 {
			m.advance(1000)
			m.clock.Milli(m.counter())
		}
		m.calls(100, Staleness)
	}
}

// The counter has stopped. After maxUses calls, the Clock treats the counter as slow. After maxUses
// more calls, it treats the counter as stopped. Then each answer is right.
func TestFrozenCounter(t *testing.T) {
	for _, warm := range []int{0, 10_000} {
		for _, pace := range []time.Duration{20, time.Microsecond, 300 * time.Microsecond,
			50 * time.Millisecond, 3 * time.Second} {
			m := newMachine(t, 10)
			m.calls(warm, 0)
			m.rate = 0
			wrong, last := 0, -1
			const n = 4 * maxUses
			for i := range n {
				m.advance(int64(pace))
				if m.clock.Milli(m.counter()) != (m.wall-m.cost/2)/1e6 {
					wrong++
					last = i
				}
			}
			if last > 2*maxUses || warm == 0 && wrong > 0 {
				t.Errorf("pace %v, after %d calls: %d of %d answers are wrong, up to number %d",
					pace, warm, wrong, n, last)
			}
		}
	}
}

func TestFirstCalls(t *testing.T) {
	m := newMachine(t, 11)
	for range 10_000 {
		m.advance(1000)
		m.call(0)
	}
	for range 100 {
		m.advance(int64(time.Hour))
		m.rate = 0.5 + 3*m.r.Float64()
		for range 3000 {
			m.advance(1000)
			m.call(0)
		}
	}
}

func TestEdges(t *testing.T) {
	for _, at := range []int64{-1, 0, 1, 999_999, 1_000_000, -1_000_000, -999_999} {
		c := Injected(func() time.Time { return time.Unix(0, at) })
		ms, us := at/1e6, at/1e3
		if at%1e6 < 0 {
			ms--
		}
		if at%1e3 < 0 {
			us--
		}
		if c.Milli(Counter()) != ms || c.Micro() != us {
			t.Errorf("at %d ns: %d, %d, want %d, %d", at, c.Milli(Counter()), c.Micro(), ms, us)
		}
	}
}

func TestInjected(t *testing.T) {
	at := time.UnixMilli(1000)
	c := Injected(func() time.Time { return at })
	for range 100 {
		if c.Milli(7) != at.UnixMilli() || c.Micro() != at.UnixMicro() {
			t.Fatalf("%d, %d at %v", c.Milli(7), c.Micro(), at)
		}
		at = at.Add(time.Millisecond + time.Microsecond)
	}
}

// On the real machine, Milli returns a time within the call.
func TestSystem(t *testing.T) {
	c := System()
	end := time.Now().Add(300 * time.Millisecond)
	for now := time.Now(); now.Before(end); {
		// The machine's clock may step meanwhile, so allow for Staleness.
		before := now.Add(-Staleness).UnixMilli()
		ms := c.Milli(Counter())
		now = time.Now()
		if ms < min(before, now.Add(-Staleness).UnixMilli()) || ms > now.UnixMilli() {
			t.Fatalf("%d between %d and %d", ms, before, now.UnixMilli())
		}
	}
}

func TestCounter(t *testing.T) {
	if System().counter == nil {
		t.Skip("the processor has no counter that never stops, or -tags purego is set; " +
			"to run this test: use amd64 or arm64 hardware, without -tags purego")
	}
	a := Counter()
	time.Sleep(2 * time.Millisecond)
	if b := Counter(); b <= a {
		t.Errorf("%d after %d", b, a)
	}
}

func TestAllocations(t *testing.T) {
	for name, c := range map[string]Clock{"system": System(), "injected": Injected(time.Now)} {
		if n := testing.AllocsPerRun(1000, func() { c.Milli(Counter()); c.Micro() }); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

func wait(ctx context.Context, c *Clock, ms int64) error {
	for c.now().UnixMilli() < ms {
		if err := c.Pause(ctx, ms*1000); err != nil {
			return err
		}
	}
	return nil
}

func TestWait(t *testing.T) {
	c := System()
	for _, far := range []int64{-1000, 0, 1, 2, 7, 60, 130} {
		until := time.Now().UnixMilli() + far
		if err := wait(t.Context(), &c, until); err != nil {
			t.Fatal(err)
		}
		if now := time.Now().UnixMilli(); now < until {
			t.Errorf("%d ms: back at %d, want %d", far, now, until)
		}
	}
	for range 20 {
		until := time.Now().UnixMicro() + 1500
		if err := c.Pause(t.Context(), until); err != nil {
			t.Fatal(err)
		}
		if now := time.Now().UnixMicro(); now < until {
			t.Errorf("back at %d, want %d", now, until)
		}
	}
}

// A long pause ends early, so that the caller can check the clock.
func TestPause(t *testing.T) {
	c := System()
	began := time.Now()
	if err := c.Pause(t.Context(), began.Add(time.Hour).UnixMicro()); err != nil {
		t.Fatal(err)
	}
	if d := time.Since(began); d < 10*time.Millisecond {
		t.Errorf("one pause of %v", d)
	}
	var calls atomic.Int32
	still := Injected(func() time.Time { calls.Add(1); return time.UnixMilli(5) })
	if err := still.Pause(t.Context(), 6000); err != nil || calls.Load() != 1 {
		t.Errorf("%v, %d readings", err, calls.Load())
	}
}

func TestWaitContext(t *testing.T) {
	far := time.Now().Add(time.Hour)
	frozen := time.Now()
	for name, c := range map[string]Clock{"system": System(),
		"injected": Injected(func() time.Time { return frozen })} {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		if err := wait(ctx, &c, far.UnixMilli()); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: %v, want the deadline", name, err)
		}
		// Pause returns the error even if its time has also ended.
		for range 20 {
			if err := Sleep(ctx, time.Nanosecond); !errors.Is(err, context.DeadlineExceeded) {
				t.Fatalf("%s: %v at once, want the deadline", name, err)
			}
		}
		if err := wait(ctx, &c, frozen.UnixMilli()); err != nil {
			t.Errorf("%s: %v for a time that has passed", name, err)
		}
		cancel()

		cause := errors.New("cause")
		ctx, end := context.WithCancelCause(t.Context())
		go func() {
			time.Sleep(5 * time.Millisecond)
			end(cause)
		}()
		if err := wait(ctx, &c, far.UnixMilli()); !errors.Is(err, context.Canceled) ||
			!errors.Is(err, cause) {
			t.Errorf("%s: %v, want Canceled and the cause", name, err)
		}
	}
}

// A wait ends at the right time, even if the clock moves meanwhile.
func TestWaitInjected(t *testing.T) {
	var mu sync.Mutex
	at := time.UnixMilli(1000)
	move := func(d time.Duration) {
		mu.Lock()
		defer mu.Unlock()
		at = at.Add(d)
	}
	c := Injected(func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		return at
	})
	go func() {
		for range 20 {
			time.Sleep(time.Millisecond)
			move(time.Second)
			move(-500 * time.Millisecond)
		}
	}()
	if err := wait(t.Context(), &c, 9000); err != nil || c.Milli(0) < 9000 {
		t.Errorf("%v at %d", err, c.Milli(0))
	}
}

// The command bench runs this, too.
func BenchmarkParts(b *testing.B) {
	b.Run("lib=counter", func(b *testing.B) {
		for b.Loop() {
			sinkCount = Counter()
		}
	})
	b.Run("lib=clock", func(b *testing.B) {
		c := System()
		for b.Loop() {
			sinkMilli = c.Milli(Counter())
		}
	})
}

var (
	sinkCount uint64
	sinkMilli int64
)
