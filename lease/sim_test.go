package lease

import (
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
	"testing/synctest"
	"time"

	"github.com/sortid/sortid/internal/check"
	"github.com/sortid/sortid/internal/testserver"
	"github.com/sortid/sortid/internal/window"
)

// This file simulates many processes and one store in virtual time. A seed decides what happens.
// The processes run the real client. Requests are lost, late or repeated, answers are lost, and
// processes stop, die and start again. All clocks are set to random times. The store is restored
// from old copies and fenced, and machines are cloned.

var simSeed = flag.Uint64("seed", 0, "lease: simulate only this seed, and print what happens")

type world struct {
	rand      *rand.Rand
	now       int64
	store     map[simKey]Record
	old       []map[simKey]Record // copies of the store
	late      []simChange
	tasks     []*simTask
	processes []*simProcess

	format     Format
	config     Config
	sizes      []int
	hasTime    bool
	storeClock int64
	wild       int64 // how far clocks can step, in milliseconds
	restores   bool  // the store is restored at times
	skew       int64
	unfenced   bool
	fences     bool // the realm is fenced at times, although the store has lost nothing
	clones     bool
	forgetHWM  bool // a fence carries over no hwm
	forgets    bool // the store loses a change at times
	blind      bool
	atomic     bool            // the store makes all changes of a request or none
	steady     bool            // the store's clock is never set
	silent     map[Block]int64 // the last tick of clients that released a node ID and did not say it
	servers    []*simServer
	clients    []*simClient
	rules      brokenRules
	trouble    float64

	draws  int
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
	at      int64
	changes []Change
}

// A simTask is a thread of a process. It pauses until the time wake.
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
		silent:  map[Block]int64{},
		hasTime: r.IntN(3) > 0, trouble: []float64{0, 0.02, 0.1, 0.3}[r.IntN(4)],
	}
	w.atomic = r.IntN(2) == 0
	w.format = Format{Mixed: true, Bits: 2 + r.IntN(4),
		Tick: []time.Duration{1, 16, 256}[r.IntN(3)] * time.Millisecond, Epoch: time.UnixMilli(0)}
	span := func(lo, hi int64) time.Duration {
		return time.Duration(lo+r.Int64N(hi-lo)) * time.Millisecond
	}
	w.config = Config{Realm: "sim", Format: w.format, Window: span(2000, 20_000),
		MaxLead: span(300, 5000)}
	for range 1 + r.IntN(3) {
		w.sizes = append(w.sizes, 1+r.IntN(w.format.Bits))
	}
	switch r.IntN(4) {
	case 0:
		w.wild = 200
	case 1:
		w.wild = []int64{5000, 60_000, 100_000_000}[r.IntN(3)]
		w.fences = r.IntN(2) == 0
		w.skew = 1 + r.Int64N(3000)
	case 2:
		w.clones = true
		w.wild = 200
	default:
		w.restores = true
		w.skew = 1 + r.Int64N(3000)
		w.wild = w.skew / 2
	}
	return w
}

func (w *world) chance(p float64) bool { return w.rand.Float64() < p }

// upTo returns a random time of up to ms milliseconds, mostly much less.
func (w *world) upTo(ms int64) int64 {
	f := w.rand.Float64()
	return int64(f * f * f * float64(ms))
}

func (w *world) wrongBy() int64 { return w.rand.Int64N(2*w.wild+1) - w.wild }

func (w *world) tell(format string, args ...any) {
	if w.log != nil {
		fmt.Fprintf(w.log, "%8d  %s\n", w.now-1_700_000_000_000, fmt.Sprintf(format, args...))
	}
}

func (w *world) start(run func(t *simTask, yield func() bool)) {
	t := &simTask{wake: w.now}
	t.next, t.stop = iter.Pull(func(yield func(struct{}) bool) {
		run(t, func() bool { return yield(struct{}{}) })
	})
	w.tasks = append(w.tasks, t)
}

func (w *world) run(steps int) {
	for i := range 2 + w.rand.IntN(7) {
		w.process(i)
	}
	w.serve()
	if w.chance(0.5) && !w.steady {
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
		if _, ok := t.next(); !ok {
			w.tasks = slices.DeleteFunc(w.tasks, func(other *simTask) bool { return other == t })
		}
	}
}

func (w *world) happen() {
	for i := 0; i < len(w.late); i++ {
		if c := w.late[i]; c.at <= w.now {
			w.late = slices.Delete(w.late, i, i+1)
			if w.applyAll(c.changes) {
				w.count["late change"]++
			}
			i--
		}
	}
	if w.chance(0.0005) && !w.steady {
		w.storeClock = w.wrongBy()
		w.tell("the store's clock is %d ms ahead", w.storeClock)
	}
	if w.fences && w.chance(0.0004) {
		w.fence()
	}
	if w.clones && w.chance(0.002) {
		w.cloneMachine()
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
		w.fence()
	}
}

// fence uses a clock that is wrong by less than the skew.
func (w *world) fence() {
	config := Config{Realm: w.config.Realm, Format: w.config.Format}
	if w.chance(0.3) {
		config.Window, config.MaxLead = w.config.Window, w.config.MaxLead
	}
	config.Now = func() time.Time {
		return time.UnixMilli(w.now + w.rand.Int64N(w.skew+1) - w.skew/2)
	}
	before := w.get("sim", Block{})
	if before.Revision == 0 && config.Window == 0 {
		return
	}
	until, err := Fence(context.Background(), &simStore{w: w}, config,
		time.Duration(w.skew)*time.Millisecond)
	if err != nil {
		w.wrong = err.Error()
	}
	after := "sim@" + w.get("sim", Block{}).Generation
	for k, r := range w.store {
		if k.realm == after && r.State == Retired {
			w.count["hwm carried over"]++
		}
		if k.realm == after && w.forgetHWM {
			delete(w.store, k)
		}
	}
	w.count["fence"]++
	w.tell("fenced until %d", until.UnixMilli()-1_700_000_000_000)
}

func (w *world) get(realm string, b Block) Record {
	if r, ok := w.store[simKey{realm, b}]; ok {
		return r
	}
	return Record{Realm: realm, Block: b}
}

func (w *world) applyAll(changes []Change) bool {
	if w.atomic {
		for _, c := range changes {
			is := w.get(c.Prev.Realm, c.Prev.Block)
			if !w.blind && !is.Matches(c.Prev) {
				w.tell("   %v: refused", c.Prev.Block)
				return false
			}
		}
	}
	for _, c := range changes {
		is := w.get(c.Prev.Realm, c.Prev.Block)
		ok := w.apply(c.Prev, c.Next)
		w.tell("   %v: %v at revision %d %v hwm %d owner %v -> %v hwm %d owner %v: %v",
			c.Next.Block, is.State, is.Revision, c.Prev.Revision, is.HWM, is.Owner, c.Next.State,
			c.Next.HWM, c.Next.Owner, ok)
		if !ok {
			return false
		}
	}
	return true
}

func (w *world) apply(prev, next Record) bool {
	is := w.get(prev.Realm, prev.Block)
	if !w.blind && !is.Matches(prev) {
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
			w.wrong = fmt.Sprintf("%v is %v inside a block that is %v", b, next.State, p)
		}
	}
	if next.State == Whole || next.State == Retired {
		for i := range uint32(2) {
			if half := w.get(next.Realm, next.Block.child(i)); half.State != Retired {
				w.wrong = fmt.Sprintf("%v is %v, and %v is %v", next.Block, next.State, half.Block,
					half.State)
			}
		}
	}
	return true
}

// A simProcess is a machine with a clock. It runs one process after another. A process has a thread
// that renews the lease and a thread that uses ticks.
type simProcess struct {
	w        *world
	name     int
	clock    int64
	size     int
	session  *session
	window   *window.Window
	life     int // a new number for each process
	cut      int64
	original *simProcess // the process that it is a clone of
	copy     *session
	before   int64 // the last tick used before it became a clone

	// 0: none; 1: cloned or a clone; 2: has since prepared a request, whose answer ends the
	// overlap.
	overlap int
}

func (w *world) process(name int) {
	p := &simProcess{w: w, name: name}
	w.processes = append(w.processes, p)
	w.start(p.renewer)
	w.start(p.generator)
}

// cloneMachine copies a process to another machine. Their clocks differ by up to a window.
func (w *world) cloneMachine() {
	p := w.processes[w.rand.IntN(len(w.processes))]
	if s := p.session; s == nil || len(w.processes) > 20 || s.held.Revision == 0 &&
		s.pending == nil {
		return
	}
	w.count["clone"]++
	c := &simProcess{w: w, name: len(w.processes), clock: p.clock, size: p.size, overlap: 1,
		original: p}
	if w.chance(0.7) {
		c.clock += w.rand.Int64N(2*w.config.Window.Milliseconds()) - w.config.Window.Milliseconds()
	}
	p.overlap = 1
	w.processes = append(w.processes, c)
	w.tell("%d: becomes a clone of %d, clock %d ms ahead", c.name, p.name, c.clock)
	c.copy = clone(p.session, 0)
	c.before = max(p.window.Used(), p.before)
	c.window = window.New(p.size, w.format.Tick, w.format.Epoch)
	if g := p.window.Grant(); g.Hi != window.None {
		g.Lo = max(g.Lo, c.before+1)
		c.window.Set(window.Grant{NodeID: g.NodeID, Lo: min(g.Lo, g.Hi), Hi: g.Hi}, window.None)
	}
	w.start(c.renewer)
	w.start(c.generator)
}

func (p *simProcess) now() time.Time { return time.UnixMilli(p.w.now + p.clock) }

func (p *simProcess) born(t *simTask, yield func() bool) {
	w := p.w
	p.life++
	if o := p.original; o != nil {
		p.original = nil
		p.own(p.copy, t, yield)
		return
	}
	p.overlap, p.before = 0, window.None
	if w.chance(0.5) {
		p.clock = w.wrongBy()
	}
	p.size = w.sizes[w.rand.IntN(len(w.sizes))]
	config := w.config
	config.NodeBits, config.Now = p.size, p.now
	config, err := config.complete()
	if err != nil {
		panic(err)
	}
	p.own(newSession(nil, config), t, yield)
	p.window = window.New(p.size, w.format.Tick, w.format.Epoch)
	w.tell("%d: process %d begins, %d bits, clock %d ms ahead", p.name, p.life, p.size, p.clock)
}

func (p *simProcess) own(s *session, t *simTask, yield func() bool) {
	w := p.w
	s.store, s.config.Now, s.rand = &simStore{nil, w, p, p.life, t, yield}, p.now, w.rand
	s.read = func(b []byte) {
		w.draws++
		if len(b) == 8 && p.overlap == 1 { // a request, not an owner
			p.overlap = 2
		}
		b[0], b[1], b[2] = byte(w.draws>>16), byte(w.draws>>8), byte(w.draws)
	}
	s.sleep = func(_ context.Context, d time.Duration) error {
		t.wake = w.now + d.Milliseconds()
		if !yield() {
			return errDead
		}
		return nil
	}
	p.session = s
}

func (p *simProcess) used() int64 { return max(p.window.Used(), p.before) }

func (p *simProcess) renewer(t *simTask, yield func() bool) {
	w, ctx := p.w, context.Background()
	span := w.config.Window.Milliseconds()
	for {
		p.born(t, yield)
		for {
			s := p.session
			var err error
			if s.root.Revision == 0 {
				err = s.enter(ctx, true)
			}
			if err == nil {
				err = s.renew(ctx, p.used())
			}
			w.tell("%d: renewed: %v %d to %d, %v", p.name, s.held.Block, s.held.From, s.held.HWM,
				err)
			if errors.Is(err, errDead) {
				break
			}
			switch {
			case s.held.Revision != 0:
				p.window.Set(window.Grant{NodeID: s.held.Block.NodeID, Lo: s.held.From,
					Hi: s.held.HWM}, window.None)
			case s.withdrawn:
				p.window.Set(window.Grant{Lo: window.None, Hi: window.None}, window.None)
			}
			if err == nil {
				w.count["renewal"]++
			}
			if p.overlap == 2 && s.pending == nil {
				w.count["overlap ended"]++
				p.overlap = 0
			}
			if errors.Is(err, ErrForgotten) {
				w.count["forgotten"]++
			}
			t.wake = w.now + w.upTo(span)
			if w.clones && w.chance(0.5) {
				t.wake = (w.now/span + 1) * span
			}
			if w.chance(0.01) {
				t.wake += 10 * span
			}
			if !yield() {
				return
			}
			if w.chance(0.03) {
				used := max(p.window.Close(), p.before)
				for range 3 {
					if err = s.release(ctx, used); err == nil {
						break
					}
				}
				w.tell("%d: closed after %d: %v", p.name, used, err)
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
		for range 1 + w.rand.IntN(4) {
			overlap := p.overlap != 0
			node, at, err := win.ClaimTick(max(p.now().UnixMilli()/tick, p.before+1))
			if err != nil {
				break
			}
			b := Block{node, uint8(size)}
			if w.chance(0.05) {
				if t.wake = w.now + w.upTo(5*span); !yield() {
					return
				}
			}
			w.use(p.name, b, at, overlap)
		}
	}
}

// use checks that a tick is used once, unless it was claimed in an overlap.
func (w *world) use(name int, b Block, tick int64, overlap bool) {
	w.count["use"]++
	w.tell("%d: uses tick %d of %v", name, tick, b)
	if overlap {
		w.count["use in an overlap"]++
		return
	}
	for _, other := range w.issued[tick] {
		if other.Contains(b) || b.Contains(other) {
			w.wrong = fmt.Sprintf("tick %d of %v was used twice, also as %v", tick, b, other)
		}
	}
	w.issued[tick] = append(w.issued[tick], b)
}

// A simStore connects a process to the store. If p is nil, the connection has no faults.
type simStore struct {
	Store // for the other methods, which nobody calls
	w     *world
	p     *simProcess
	life  int
	t     *simTask
	yield func() bool
}

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
	slices.SortFunc(records, compareBlocks)
	if s.w.chance(0.3) { // read at different moments
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

func (s *simStore) GetMany(_ context.Context, realm string, blocks []Block) ([]Record, error) {
	if err := s.travel(); err != nil {
		return nil, err
	}
	var records []Record
	for _, b := range blocks {
		if !s.w.atomic && s.w.chance(0.1) {
			if err := s.travel(); err != nil {
				return nil, err
			}
		}
		records = append(records, s.w.get(realm, b))
	}
	return records, s.travel()
}

func (s *simStore) CompareAndSet(ctx context.Context, prev, next Record) (bool, error) {
	return s.CompareAndSetMany(ctx, []Change{{prev, next}})
}

func (s *simStore) CompareAndSetMany(_ context.Context, changes []Change) (bool, error) {
	w := s.w
	err := s.travel()
	if err == errLost && w.chance(0.5) || s.p != nil && w.chance(w.trouble/10) {
		// The change is made late, or both now and later.
		w.late = append(w.late, simChange{w.now + w.upTo(5*w.config.Window.Milliseconds()),
			changes})
		w.count["under way"]++
	}
	if err != nil {
		return false, err
	}
	last := changes[len(changes)-1]
	is := w.get(last.Prev.Realm, last.Prev.Block)
	ok := w.applyAll(changes)
	if !ok && is == last.Next {
		w.count["own grant found"]++
	}
	return ok, s.travel()
}

func (s *simStore) Time(context.Context) (time.Time, error) {
	w := s.w
	if !w.hasTime {
		return time.Time{}, ErrNoTime
	}
	if err := s.travel(); err != nil {
		return time.Time{}, err
	}
	t := time.UnixMilli(w.now + w.storeClock)
	if w.steady {
		t = t.Add(time.Duration(w.rand.Int64N(int64(2*timePrecision)) - int64(timePrecision)))
	}
	return t, s.travel()
}

// If something is wrong, simulate runs the world again and returns the last events.
func simulate(seed uint64, change func(w *world)) (w *world, story string) {
	run := func(log *strings.Builder) *world {
		w := newWorld(seed)
		change(w)
		w.log = log
		w.run(simSteps)
		return w
	}
	if w = run(nil); w.wrong == "" && *simSeed == 0 {
		return w, ""
	}
	var log strings.Builder
	w = run(&log)
	lines := strings.Split(log.String(), "\n")
	return w, strings.Join(lines[max(0, len(lines)-60):], "\n")
}

const simSteps = 40_000

// explore fails if something is wrong, or if one of the listed events is rare.
func explore(t *testing.T, worlds int, change func(w *world), must ...string) {
	first, total, long := uint64(1), map[string]int{}, testserver.Soak(t)
	switch {
	case *simSeed != 0:
		first, worlds = *simSeed, 1
	case long > 0:
		first = rand.Uint64N(1 << 40)
	case testing.Short():
		worlds = 5
	}
	n := 0
	for start := time.Now(); n < worlds || time.Since(start) < long; n++ {
		seed := first + uint64(n)
		w, story := simulate(seed, change)
		if w.wrong != "" {
			t.Fatalf("%s\nagain: go test ./lease -run '%s$' -seed %d\n%s", w.wrong, t.Name(), seed,
				story)
		}
		if story != "" {
			t.Log(story)
		}
		for what, n := range w.count {
			total[what] += n
		}
	}
	t.Logf("%d worlds, %d steps: %v", n, n*simSteps, total)
	if worlds < 10 {
		return
	}
	for _, what := range must {
		if total[what] < 10 {
			t.Errorf("the event %q came %d times, want more", what, total[what])
		}
	}
}

func TestSimulation(t *testing.T) {
	explore(t, 100, func(*world) {},
		// If one of these never happens, the simulation proves nothing.
		"use", "renewal", "extension", "takeover", "release", "restore", "late change",
		"own grant found", "fence", "hwm carried over", "clone", "overlap ended",
		"use in an overlap", "forgotten", "retired to whole", "retired to split",
		"whole to split", "split to merging", "merging to whole", "merging to retired",
		"merging to split", "whole to retired", "granted over a server", "lost over a server",
		"lease found again", "eviction", "reclaim", "cloned client", "overlap of clients ended")
}

func TestSimulationFinds(t *testing.T) {
	for name, change := range map[string]func(w *world){
		"a store restored without a fence": func(w *world) { w.restores, w.unfenced = true, true },
		"a store that forgets changes":     func(w *world) { w.forgets = true },
		"a store that does not compare":    func(w *world) { w.blind = true },
		"a fence that ends sooner than grants": func(w *world) {
			w.restores, w.fences, w.wild, w.skew = true, false, 20_000, 0
		},
		"a fence that carries over no hwm": func(w *world) {
			w.fences, w.restores, w.hasTime, w.forgetHWM = true, false, false, true
			w.wild, w.skew = 60_000, 100
		},
	} {
		t.Run(name, func(t *testing.T) {
			for seed := uint64(1); seed <= 100; seed++ {
				if w, _ := simulate(seed, change); w.wrong != "" {
					t.Logf("seed %d: %s", seed, w.wrong)
					return
				}
			}
			t.Error("no fault was found")
		})
	}
}

func TestManyNodes(t *testing.T) {
	nodes, size := 1000, 2
	if testserver.Soak(t) > 0 {
		nodes = 100_000
	}
	for 1<<size < 3*nodes {
		size++
	}
	startNodes(t, nodes, size, nodes/100+1, "first", "second")
	startNodes(t, 100, 7, 20, "first") // more than 3/4 of the node IDs
}

// Many nodes start, renew their leases, are killed, and start again before the old leases end. Each
// node gets its own node ID, with a limited number of requests.
func startNodes(t *testing.T, nodes, size, maxLists int, lives ...string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		n := &network{Store: NewMemory()}
		i := 0
		n.set(func() {
			n.delay = func() time.Duration {
				i++
				return time.Duration(i*7919%5000) * time.Microsecond
			}
		})
		cfg := Config{Realm: "sim", Format: Format{Bits: MaxBits, Tick: 256 * time.Millisecond,
			Epoch: time.UnixMilli(0)}, NodeBits: size}
		used, book := map[Block]int64{}, new(book)
		for _, life := range lives {
			n.set(func() { clear(n.count) })
			start := time.Now()
			leases := acquireAll(t, n, cfg, nodes)
			took, lists := time.Since(start), n.calls("list")
			gets := float64(n.calls("get")) / float64(nodes)
			sets := float64(n.calls("set")) / float64(nodes)
			t.Logf("%s life: %d nodes have node IDs of %d bits after %v: %.1f reads and %.1f "+
				"changes each, %d lists", life, nodes, size, took, gets, sets, lists)
			if took > 30*time.Second || nodes <= 1000 && took > 3*time.Second || gets > 25 ||
				sets > 8 || lists > maxLists {
				t.Errorf("%s life: too many requests", life)
			}
			most := n.mostInASecond(2 * time.Minute)
			t.Logf("%s life: at most %d renewals in a second", life, most)
			if most > nodes/8+20 {
				t.Errorf("%s life: %d of %d nodes were renewed in one second", life, most, nodes)
			}
			for _, l := range leases {
				b, g := Block{l.NodeID(), uint8(size)}, l.window.Grant()
				check.OK(t, l.Err())
				book.generator(t, l).must()
				if g.Lo < used[b] {
					t.Errorf("%v is granted from tick %d on, but was granted up to %d before", b,
						g.Lo, used[b])
				}
				used[b] = g.Hi
				abandon(l)
			}
			if want := map[string]int{"first": nodes,
				"second": 2 * nodes}[life]; len(used) != want {
				t.Errorf("%s life: %d node IDs were granted, want %d", life, len(used), want)
			}
		}
	})
}
