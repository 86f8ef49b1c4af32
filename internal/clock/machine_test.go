package clock

import (
	"math/rand/v2"
	"testing"
	"time"
)

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
func TestMilliIsWithinTheCall(t *testing.T) {
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
func TestWaitingCallerUsesTheNewReading(t *testing.T) {
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
func TestStepOfTheWallClockShowsWithinStaleness(t *testing.T) {
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
func TestCounterThatJumps(t *testing.T) {
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
func TestCoresThatDiffer(t *testing.T) {
	for seed := range uint64(rounds(20)) {
		m := newMachine(t, seed)
		m.skew = []float64{0, (m.r.Float64()*80 - 40) * 1000 * m.rate} // up to 40 µs
		m.calls(100_000, Staleness)
	}
}

// If the counter often jumps far, as between processor sockets, the Clock only makes more readings.
func TestFarCoresOnlyCostReadings(t *testing.T) {
	m := newMachine(t, 5)
	m.skew = []float64{0, 3600e9 * m.rate}
	m.calls(200_000, Staleness)
}

func TestCounterThatChangesItsRate(t *testing.T) {
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
func TestMachineThatSleeps(t *testing.T) {
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
func TestMachineThatSleepsInEachSample(t *testing.T) {
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
func TestCounterThatStopsForATime(t *testing.T) {
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
func TestCounterThatHasStopped(t *testing.T) {
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
