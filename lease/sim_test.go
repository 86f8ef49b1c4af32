package lease

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sortid/sortid/internal/window"
)

// A simulation of many processes and one store, in virtual time. The processes run the
// package's own client and windows; the world around them, all of it drawn from one seed,
// is as bad as can be: requests are lost, late and repeated, answers are lost, processes
// stop for longer than any deadline, die and start again, the network is cut, clocks step
// and drift, the store is restored from old copies (and fenced).

var (
	simSeed = flag.Uint64("seed", 0, "lease: simulate this world only, and tell what happens")
	simSoak = flag.Duration("soak", 0, "lease: simulate for so long, with new seeds")
)

// A world is a store and all that use it.
type world struct {
	rand  *rand.Rand
	now   int64 // milliseconds
	store map[simKey]Record
	old   []map[simKey]Record // copies
	late  []simChange
	tasks []*simTask

	format     Format
	config     Config
	sizes      []int
	hasTime    bool
	storeClock int64 // how far the store's clock is ahead
	wild       int64 // how far clocks can step
	restores   bool  // clocks are wrong by less than skew, and the store is restored at times
	skew       int64
	unfenced   bool // and then not fenced
	forgets    bool // the store loses a change at times
	blind      bool // the store does not compare
	trouble    float64

	owners int
	issued map[int64][]Block
	count  map[string]int
	log    *strings.Builder
	wrong  string
}

type simKey struct {
	realm string
	block Block
}

type simChange struct {
	at         int64
	prev, next Record
}

// A simTask is a thread of a process: it runs until it pauses, and goes on at wake.
type simTask struct {
	next func() (struct{}, bool)
	stop func()
	wake int64
}

var (
	errDead = errors.New("sim: the process has died")
	errLost = errors.New("sim: no answer")
)

func newWorld(seed uint64) *world {
	r := rand.New(rand.NewPCG(seed, 1))
	w := &world{
		rand: r, now: 1_700_000_000_000,
		store: map[simKey]Record{}, issued: map[int64][]Block{}, count: map[string]int{},
		hasTime: r.IntN(3) > 0, trouble: []float64{0, 0.02, 0.1, 0.3}[r.IntN(4)],
	}
	w.format = Format{Bits: 2 + r.IntN(4), Tick: []time.Duration{1, 16, 256}[r.IntN(3)] * time.Millisecond, Epoch: time.UnixMilli(0)}
	span := func(lo, hi int64) time.Duration { return time.Duration(lo+r.Int64N(hi-lo)) * time.Millisecond }
	w.config = Config{Realm: "sim", Format: w.format, Window: span(2000, 20_000), MaxLead: span(300, 5000)}
	for range 1 + r.IntN(3) {
		w.sizes = append(w.sizes, 1+r.IntN(w.format.Bits))
	}
	switch r.IntN(3) {
	case 0: // clocks that are almost right
		w.wild = 200
	case 1: // clocks that are not
		w.wild = []int64{5000, 60_000, 100_000_000}[r.IntN(3)]
	default:
		w.restores = true
		w.skew = 1 + r.Int64N(3000)
		w.wild = w.skew / 2
	}
	return w
}

func (w *world) chance(p float64) bool { return w.rand.Float64() < p }

// upTo returns a time of up to ms milliseconds, mostly much less.
func (w *world) upTo(ms int64) int64 {
	f := w.rand.Float64()
	return int64(f * f * f * float64(ms))
}

// wrongBy returns what a clock may be wrong by.
func (w *world) wrongBy() int64 { return w.rand.Int64N(2*w.wild+1) - w.wild }

func (w *world) tell(format string, args ...any) {
	if w.log != nil {
		fmt.Fprintf(w.log, "%8d  %s\n", w.now-1_700_000_000_000, fmt.Sprintf(format, args...))
	}
}

// start adds a task.
func (w *world) start(run func(t *simTask, yield func() bool)) {
	t := &simTask{wake: w.now}
	t.next, t.stop = iter.Pull(func(yield func(struct{}) bool) {
		run(t, func() bool { return yield(struct{}{}) })
	})
	w.tasks = append(w.tasks, t)
}

// run simulates so many steps of tasks.
func (w *world) run(steps int) {
	for i := range 2 + w.rand.IntN(7) {
		w.process(i)
	}
	if w.chance(0.5) {
		w.storeClock = w.wrongBy()
	}
	defer func() {
		for _, t := range w.tasks {
			t.stop()
		}
	}()
	for range steps {
		if w.wrong != "" {
			return
		}
		w.happen()
		var ready []*simTask
		first := int64(1) << 62
		for _, t := range w.tasks {
			if t.wake <= w.now {
				ready = append(ready, t)
			}
			first = min(first, t.wake)
		}
		if len(ready) == 0 {
			w.now = first
			continue
		}
		t := ready[w.rand.IntN(len(ready))]
		if t.wake = w.now; w.chance(0.5) {
			w.now += w.upTo(20)
		}
		t.next()
	}
}

// happen does what the processes do not.
func (w *world) happen() {
	for i := 0; i < len(w.late); i++ {
		if c := w.late[i]; c.at <= w.now {
			w.late = slices.Delete(w.late, i, i+1)
			ok := w.apply(c.prev, c.next)
			w.tell("late: %v %v -> %v: %v", c.prev.Block, c.prev.Epoch, c.next.Epoch, ok)
			if ok {
				w.count["late change"]++
			}
			i--
		}
	}
	if w.chance(0.0005) {
		w.storeClock = w.wrongBy()
		w.tell("the store's clock is %d ms ahead", w.storeClock)
	}
	if !w.restores {
		return
	}
	if w.chance(0.002) {
		w.old = append(w.old, maps.Clone(w.store))
	}
	if len(w.old) > 0 && w.chance(0.0004) {
		w.store = maps.Clone(w.old[w.rand.IntN(len(w.old))])
		w.count["restore"]++
		w.tell("the store is restored")
		if w.unfenced {
			return
		}
		config := w.config
		config.Now = func() time.Time { return time.UnixMilli(w.now + w.wrongBy()) }
		until, err := Fence(context.Background(), &simStore{w: w}, config, time.Duration(w.skew)*time.Millisecond)
		if err != nil {
			w.wrong = err.Error()
		}
		w.tell("fenced until %d", until.UnixMilli()-1_700_000_000_000)
	}
}

func (w *world) get(realm string, b Block) Record {
	if r, ok := w.store[simKey{realm, b}]; ok {
		return r
	}
	return Record{Realm: realm, Block: b}
}

// apply changes the store, and checks the change.
func (w *world) apply(prev, next Record) bool {
	is := w.get(prev.Realm, prev.Block)
	if !w.blind && (is.Epoch != prev.Epoch || is.HWM != prev.HWM) {
		return false
	}
	if w.forgets && w.chance(0.01) {
		return true
	}
	w.store[simKey{next.Realm, next.Block}] = next
	switch {
	case next.Block == Block{}:
		return true
	case is.State != next.State:
		w.count[fmt.Sprintf("%v to %v", is.State, next.State)]++
	case is.Owner == next.Owner:
		w.count["extension"]++
	case next.Owner == Owner{}:
		w.count["release"]++
	case is.Owner != Owner{}:
		w.count["takeover"]++
	}
	if w.unfenced || w.forgets || w.blind || next.Realm != "sim@"+w.get("sim", Block{}).Generation {
		return true
	}
	if b := next.Block; b.Size > 1 && next.State != Retired {
		if p := w.get(next.Realm, b.parent()).State; p != Split && p != Merging {
			w.wrong = fmt.Sprintf("%v is %v in a block that is %v", b, next.State, p)
		}
	}
	if next.State == Whole || next.State == Retired {
		for i := range uint32(2) {
			if half := w.get(next.Realm, next.Block.child(i)); half.State != Retired {
				w.wrong = fmt.Sprintf("%v is %v, and %v is %v", next.Block, next.State, half.Block, half.State)
			}
		}
	}
	return true
}

// A simProcess is a machine with its clock: one process after the other runs on it, each
// with two threads, one that renews the lease and one that uses ticks.
type simProcess struct {
	w       *world
	name    int
	clock   int64 // how far it is ahead
	size    int
	session *session
	window  *window.Window
	life    int // a process that has died has another number
	cut     int64
}

func (w *world) process(name int) {
	p := &simProcess{w: w, name: name}
	w.start(p.renewer)
	w.start(p.generator)
}

func (p *simProcess) now() time.Time { return time.UnixMilli(p.w.now + p.clock) }

// born begins a new process.
func (p *simProcess) born(t *simTask, yield func() bool) {
	w := p.w
	p.life++
	if w.chance(0.5) {
		p.clock = w.wrongBy()
	}
	p.size = w.sizes[w.rand.IntN(len(w.sizes))]
	config := w.config
	config.NodeIDSize, config.Now = p.size, p.now
	config, err := config.complete()
	if err != nil {
		panic(err)
	}
	s := newSession(&simStore{w, p, p.life, t, yield}, config)
	w.owners++
	s.owner = Owner{byte(w.owners >> 16), byte(w.owners >> 8), byte(w.owners)}
	s.rand = w.rand
	p.session = s
	p.window = window.New(p.size, w.format.Tick, w.format.Epoch)
	w.tell("%d: process %d begins, owner %v, %d bits, clock %d ms ahead", p.name, p.life, s.owner, p.size, p.clock)
}

func (p *simProcess) renewer(t *simTask, yield func() bool) {
	w, ctx := p.w, context.Background()
	span := w.config.Window.Milliseconds()
	for {
		p.born(t, yield)
		for {
			s := p.session
			var err error
			if s.root.Epoch == 0 {
				err = s.enter(ctx, true)
			}
			if err == nil {
				err = s.renew(ctx, p.window.Used())
			}
			w.tell("%d: renewed %v: %v %d to %d, %v", p.name, s.owner, s.held.Block, s.lo, s.held.HWM, err)
			if errors.Is(err, errDead) {
				break
			}
			if err == nil {
				w.count["renewal"]++
				p.window.Set(window.Grant{NodeID: s.held.Block.NodeID, Lo: s.lo, Hi: s.held.HWM}, window.None)
			}
			t.wake = w.now + w.upTo(span)
			if w.chance(0.01) {
				t.wake += 10 * span // stopped
			}
			if !yield() {
				return
			}
			if w.chance(0.03) {
				used := p.window.Close()
				for range 3 {
					if err = s.release(ctx, used); err == nil {
						break
					}
				}
				w.tell("%d: closed %v after %d: %v", p.name, s.owner, used, err)
				break
			}
			if w.chance(0.01) {
				w.tell("%d: dies", p.name)
				break
			}
			if w.chance(0.01) {
				p.clock = w.wrongBy()
				w.tell("%d: the clock is %d ms ahead", p.name, p.clock)
			}
			if w.chance(w.trouble / 10) {
				p.cut = w.now + w.upTo(3*span)
			}
		}
		t.wake = w.now + w.upTo(span)
		if !yield() {
			return
		}
	}
}

// generator uses ticks of whatever window its process has.
func (p *simProcess) generator(t *simTask, yield func() bool) {
	w := p.w
	span := w.config.Window.Milliseconds()
	tick := w.format.Tick.Milliseconds()
	for {
		t.wake = w.now + 1 + w.upTo(span/4)
		if !yield() {
			return
		}
		win, size := p.window, p.size
		if win == nil {
			continue
		}
		for range 1 + w.rand.IntN(4) { // sometimes a counter is full
			g, at, err := win.Claim(p.now().UnixMilli() / tick)
			if err != nil {
				break
			}
			b := Block{g.NodeID, uint8(size)}
			if w.chance(0.05) { // between the claim and its use
				if t.wake = w.now + w.upTo(5*span); !yield() {
					return
				}
			}
			w.use(p, b, at)
		}
	}
}

// use notes that a tick was used, and checks that it is not the second time.
func (w *world) use(p *simProcess, b Block, tick int64) {
	w.count["use"]++
	w.tell("%d: uses tick %d of %v", p.name, tick, b)
	for _, other := range w.issued[tick] {
		if other.Contains(b) || b.Contains(other) {
			w.wrong = fmt.Sprintf("tick %d of %v was used twice, also as %v", tick, b, other)
		}
	}
	w.issued[tick] = append(w.issued[tick], b)
}

// A simStore is the way of one process to the store. The nil process has a perfect one.
type simStore struct {
	w     *world
	p     *simProcess
	life  int
	t     *simTask
	yield func() bool
}

// travel takes the time of one way. It returns an error if nothing arrives.
func (s *simStore) travel() error {
	w, p := s.w, s.p
	if p == nil {
		return nil
	}
	s.t.wake = w.now + w.upTo(50)
	if w.chance(w.trouble / 20) {
		s.t.wake += w.upTo(5 * w.config.Window.Milliseconds()) // stopped, or a slow network
	}
	if !s.yield() || p.life != s.life || w.chance(0.001) {
		return errDead
	}
	if w.now < p.cut || w.chance(w.trouble) {
		return errLost
	}
	return nil
}

func (s *simStore) Get(_ context.Context, realm string, b Block) (Record, error) {
	if err := s.travel(); err != nil {
		return Record{}, err
	}
	r := s.w.get(realm, b)
	return r, s.travel()
}

func (s *simStore) List(_ context.Context, realm string) ([]Record, error) {
	if err := s.travel(); err != nil {
		return nil, err
	}
	var records []Record
	for k, r := range s.w.store {
		if k.realm == realm {
			records = append(records, r)
		}
	}
	slices.SortFunc(records, func(a, b Record) int {
		return cmp.Or(cmp.Compare(a.Block.Size, b.Block.Size), cmp.Compare(a.Block.NodeID, b.Block.NodeID))
	})
	if s.w.chance(0.3) { // not of one moment
		if err := s.travel(); err != nil {
			return nil, err
		}
		for i, r := range records {
			if s.w.chance(0.5) {
				records[i] = s.w.get(r.Realm, r.Block)
			}
		}
	}
	return records, s.travel()
}

func (s *simStore) CompareAndSet(_ context.Context, prev, next Record) (bool, error) {
	w := s.w
	err := s.travel()
	if err == errLost && w.chance(0.5) || s.p != nil && w.chance(w.trouble/10) {
		// Late, or carried out now and again later.
		w.late = append(w.late, simChange{w.now + w.upTo(5*w.config.Window.Milliseconds()), prev, next})
		w.count["under way"]++
	}
	if err != nil {
		return false, err
	}
	is := w.get(prev.Realm, prev.Block)
	ok := w.apply(prev, next)
	w.tell("   %v: %v at epoch %d %v hwm %d owner %v -> %v hwm %d owner %v: %v", next.Block, is.State, is.Epoch, prev.Epoch, is.HWM, is.Owner, next.State, next.HWM, next.Owner, ok)
	if !ok && is == next {
		w.count["own grant found"]++
	}
	return ok, s.travel()
}

func (s *simStore) Time(context.Context) (time.Time, error) {
	if !s.w.hasTime {
		return time.Time{}, ErrNoTime
	}
	if err := s.travel(); err != nil {
		return time.Time{}, err
	}
	t := time.UnixMilli(s.w.now + s.w.storeClock)
	return t, s.travel()
}

func (s *simStore) Close() error { return nil }

// simulate runs a world, and if something is wrong there, runs it again to tell how.
func simulate(seed uint64, steps int, change func(w *world)) (w *world, story string) {
	w = newWorld(seed)
	if change != nil {
		change(w)
	}
	tell := seed == *simSeed && seed != 0
	if w.run(steps); w.wrong == "" && !tell {
		return w, ""
	}
	again := newWorld(seed)
	if change != nil {
		change(again)
	}
	again.log = &strings.Builder{}
	again.run(steps)
	return again, again.log.String()
}

const simSteps = 20_000

func TestSimulation(t *testing.T) {
	total := map[string]int{}
	try := func(seed uint64) {
		w, story := simulate(seed, simSteps, nil)
		if w.wrong != "" {
			lines := strings.Split(story, "\n")
			t.Fatalf("%s\nagain: go test ./lease -run 'TestSimulation$' -seed %d\n%s",
				w.wrong, seed, strings.Join(lines[max(0, len(lines)-60):], "\n"))
		}
		if story != "" {
			t.Log(story)
		}
		for what, n := range w.count {
			total[what] += n
		}
	}
	if *simSeed != 0 {
		try(*simSeed)
		return
	}
	worlds := 100 // two million steps
	if testing.Short() {
		worlds = 5
	}
	base, n := uint64(1), 0
	if *simSoak > 0 {
		base = rand.Uint64N(1 << 40)
	}
	for start := time.Now(); n < worlds || time.Since(start) < *simSoak; n++ {
		try(base + uint64(n))
	}
	t.Logf("%d worlds, %d steps: %v", n, n*simSteps, total)
	if testing.Short() {
		return
	}
	// A simulation in which nothing happens shows nothing.
	for _, what := range []string{
		"use", "renewal", "extension", "takeover", "release", "restore", "late change", "own grant found",
		"retired to whole", "retired to split", "whole to split", "split to merging", "merging to whole",
		"merging to retired", "merging to split", "whole to retired",
	} {
		if total[what] < 10 {
			t.Errorf("%s: %d times, want more", what, total[what])
		}
	}
}

// The simulation finds what is broken.
func TestSimulationFinds(t *testing.T) {
	for name, change := range map[string]func(w *world){
		"a store restored without a fence":     func(w *world) { w.restores, w.unfenced = true, true },
		"a store that forgets":                 func(w *world) { w.forgets = true },
		"a store that does not compare":        func(w *world) { w.blind = true },
		"a fence that ends sooner than grants": func(w *world) { w.restores, w.wild, w.skew = true, 20_000, 0 },
	} {
		t.Run(name, func(t *testing.T) {
			for seed := uint64(1); seed <= 100; seed++ {
				if w, _ := simulate(seed, simSteps, change); w.wrong != "" {
					t.Logf("seed %d: %s", seed, w.wrong)
					return
				}
			}
			t.Error("nothing was found")
		})
	}
}
