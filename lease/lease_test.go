package lease

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sortid/sortid/internal/clock"
	"github.com/sortid/sortid/internal/window"
)

// A network is a connection with faults to a store.
type network struct {
	Store
	mu      sync.Mutex
	down    bool
	hang    bool                                 // no answer until the context ends
	before  func(op string, next Record) error   // may refuse; next is zero unless op is "set"
	deaf    func(op string, args ...Record) bool // true: the call is made, but its answer is lost
	watch   func(op string, args ...Record)      // sees the calls that were made
	delay   func() time.Duration
	noClock bool
	count   map[string]int
}

var errDown = errors.New("the store is down")

func (n *network) set(change func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	change()
}

func (n *network) calls(ops ...string) (sum int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, op := range ops {
		sum += n.count[op]
	}
	return sum
}

func (n *network) pass(ctx context.Context, op string, next Record) error {
	n.mu.Lock()
	if n.count == nil {
		n.count = map[string]int{}
	}
	n.count[op]++
	down, hang, delay, before := n.down, n.hang, time.Duration(0), n.before
	if n.delay != nil {
		delay = n.delay()
	}
	n.mu.Unlock()
	if before != nil {
		if err := before(op, next); err != nil {
			return err
		}
	}
	if hang {
		<-ctx.Done()
	}
	if clock.Sleep(ctx, delay) != nil || ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if down {
		return errDown
	}
	return nil
}

func (n *network) answer(op string, args ...Record) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if op != "set" {
		n.count["records"] += len(args)
	}
	if n.watch != nil {
		n.watch(op, args...)
	}
	if n.deaf != nil && n.deaf(op, args...) {
		return errDown
	}
	return nil
}

func (n *network) Get(ctx context.Context, realm string, b Block) (Record, error) {
	if err := n.pass(ctx, "get", Record{}); err != nil {
		return Record{}, err
	}
	r, err := n.Store.Get(ctx, realm, b)
	return r, errors.Join(err, n.answer("get", r))
}

func (n *network) GetMany(ctx context.Context, realm string, blocks []Block) ([]Record, error) {
	if err := n.pass(ctx, "get", Record{}); err != nil {
		return nil, err
	}
	rs, err := n.Store.GetMany(ctx, realm, blocks)
	return rs, errors.Join(err, n.answer("get", rs...))
}

func (n *network) CompareAndSet(ctx context.Context, prev, next Record) (bool, error) {
	return n.CompareAndSetMany(ctx, []Change{{prev, next}})
}

func (n *network) CompareAndSetMany(ctx context.Context, changes []Change) (bool, error) {
	last := changes[len(changes)-1]
	if err := n.pass(ctx, "set", last.Next); err != nil {
		return false, err
	}
	ok, err := n.Store.CompareAndSetMany(ctx, changes)
	if err := errors.Join(err, n.answer("set", last.Prev, last.Next)); err != nil {
		return false, err
	}
	return ok, nil
}

func (n *network) List(ctx context.Context, realm string) ([]Record, error) {
	if err := n.pass(ctx, "list", Record{}); err != nil {
		return nil, err
	}
	rs, err := n.Store.List(ctx, realm)
	return rs, errors.Join(err, n.answer("list", rs...))
}

func (n *network) Time(ctx context.Context) (time.Time, error) {
	if n.noClock {
		return time.Time{}, ErrNoTime
	}
	if err := n.pass(ctx, "time", Record{}); err != nil {
		return time.Time{}, err
	}
	return n.Store.Time(ctx)
}

// A generator claims ticks. Generators that share a book check that no tick is used twice.
type generator struct {
	t    *testing.T
	l    *Lease
	last int64
	book *book
}

type book struct {
	mu   sync.Mutex
	used map[int64][]Block
}

func (b *book) generator(t *testing.T, l *Lease) *generator {
	return &generator{t: t, l: l, last: window.None, book: b}
}

func (g *generator) next() (Block, int64, error) {
	g.t.Helper()
	now := max(time.Now().UnixMilli()/256, g.last+1)
	node, at, err := g.l.ClaimTick(now)
	if err != nil {
		return Block{}, 0, err
	}
	b := Block{node, uint8(g.l.NodeBits())}
	if at < now {
		g.t.Errorf("tick %d after %d", at, g.last)
	}
	g.last = at
	g.book.mu.Lock()
	defer g.book.mu.Unlock()
	if g.book.used == nil {
		g.book.used = map[int64][]Block{}
	}
	for _, other := range g.book.used[at] {
		if other.Contains(b) || b.Contains(other) {
			g.t.Errorf("tick %d of %v was used twice, also as %v", at, b, other)
		}
	}
	g.book.used[at] = append(g.book.used[at], b)
	return b, at, nil
}

func (g *generator) must() Block {
	g.t.Helper()
	b, _, err := g.next()
	if err != nil {
		g.t.Fatalf("at %v: %v", time.Now().UTC(), err)
	}
	return b
}

func config(size int) Config {
	return Config{Realm: "realm", Format: SCRU64, NodeBits: size}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// fails checks that err matches each error and contains each text of want.
func fails(t *testing.T, what string, err error, want ...any) {
	t.Helper()
	for _, w := range want {
		if target, ok := w.(error); ok && !errors.Is(err, target) ||
			!ok && !strings.Contains(fmt.Sprint(err), w.(string)) {
			t.Errorf("%s: %v, want %v", what, err, w)
		}
	}
}

func acquireError(t *testing.T, s Store, c Config) error {
	_, err := Acquire(t.Context(), s, c)
	return err
}

// skewed gives the configuration a clock, and returns by how many nanoseconds the clock is ahead.
func skewed(c *Config) *atomic.Int64 {
	var ahead atomic.Int64
	c.Now = func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
	return &ahead
}

func held(t *testing.T, s Store) []Record {
	t.Helper()
	_, blocks, err := Records(t.Context(), s, "realm")
	must(t, err)
	return slices.DeleteFunc(blocks, func(r Record) bool { return r.Owner == (Owner{}) })
}

func claim(l *Lease, ahead time.Duration) error {
	_, _, err := l.ClaimTick(time.Now().Add(ahead).UnixMilli() / 256)
	return err
}

func acquire(t *testing.T, s Store, c Config) *Lease {
	t.Helper()
	l, err := Acquire(t.Context(), s, c)
	must(t, err)
	t.Cleanup(func() { abandon(l) })
	return l
}

func closed(t *testing.T, ls ...*Lease) {
	t.Helper()
	for _, l := range ls {
		if err := l.Close(context.Background()); err != nil {
			t.Error(err)
		}
	}
}

func leased(t *testing.T, c Config, test func(t *testing.T, n *network, l *Lease)) {
	synctest.Test(t, func(t *testing.T) {
		n := &network{Store: NewMemory()}
		l := acquire(t, n, c)
		test(t, n, l)
		closed(t, l)
	})
}

func acquireAll(t *testing.T, s Store, c Config, count int) []*Lease {
	t.Helper()
	leases := make([]*Lease, count)
	var wg sync.WaitGroup
	for i := range leases {
		wg.Go(func() {
			l, err := Acquire(t.Context(), s, c)
			if err != nil {
				t.Error(err)
				return
			}
			leases[i] = l
		})
	}
	wg.Wait()
	if t.Failed() {
		t.FailNow()
	}
	return leases
}

func abandon(l *Lease) {
	l.stop()
	<-l.done
}

// At least half of a window is always left, and the store makes few changes.
func TestKeepsAhead(t *testing.T) {
	leased(t, config(8), func(t *testing.T, n *network, l *Lease) {
		g := new(book).generator(t, l)
		first := g.must()
		if first != (Block{l.NodeID(), 8}) {
			t.Errorf("the lease has %d/%d, its grant has %v", l.NodeID(), l.NodeBits(), first)
		}
		before := n.calls("set")
		for range 3600 {
			time.Sleep(time.Second)
			synctest.Wait()
			if b := g.must(); b != first {
				t.Fatalf("the node ID went from %v to %v", first, b)
			}
			if left := time.Until(l.Until()); left < 29*time.Second ||
				left > time.Minute+256*time.Millisecond {
				t.Fatalf("%v of the window are left", left)
			}
			must(t, l.Err())
		}
		// A window has 235 ticks. It is renewed after 89 to 118 ticks, the first time sooner.
		if sets := n.calls("set") - before; sets < 120 || sets > 161 {
			t.Errorf("%d changes in an hour, want one in 22.5 to 30 s", sets)
		}
	})
}

// While the store is down, generators continue to the window's end. When the store returns, they
// resume with the same node ID.
func TestStoreDown(t *testing.T) {
	for _, c := range []struct {
		name        string
		fault       func(n *network, is bool)
		err         error
		least, most int           // how often the lease tries in an hour
		back        time.Duration // how long the lease may need to find that the store is back
	}{
		{"down", func(n *network, is bool) { n.down = is }, errDown, 400, 2000, 8 * time.Second},
		{"hangs", func(n *network, is bool) { n.hang = is }, context.DeadlineExceeded, 200, 2000,
			20 * time.Second},
	} {
		leased(t, config(8), func(t *testing.T, n *network, l *Lease) {
			g := new(book).generator(t, l)
			time.Sleep(10 * time.Minute)
			first := g.must()
			n.set(func() { c.fault(n, true) })
			since := time.Now()
			b, _, err := g.next()
			for ; err == nil; b, _, err = g.next() {
				if b != first {
					t.Fatalf("node ID %v, want %v", b, first)
				}
				time.Sleep(time.Second)
			}
			fails(t, c.name, err, ErrExpired, c.err)
			if d := time.Since(since); d < 29*time.Second || d > 61*time.Second {
				t.Errorf("%s: generators continued for %v", c.name, d)
			}
			if l.Err() == nil || time.Until(l.Until()) > 0 {
				t.Errorf("%s: %v, %v", c.name, l.Err(), l.Until())
			}
			tries := n.calls("get", "set", "time")
			time.Sleep(time.Hour)
			tries = n.calls("get", "set", "time") - tries
			if tries < c.least || tries > c.most {
				t.Errorf("%s: the lease called the store %d times in an hour", c.name, tries)
			}

			waited := make(chan error)
			go func() { waited <- l.WaitTick(t.Context(), time.Now().UnixMilli()/256) }()
			synctest.Wait()
			n.set(func() { c.fault(n, false) })
			since = time.Now()
			must(t, <-waited)
			if d := time.Since(since); d > c.back {
				t.Errorf("%s: with the store back, generators waited for %v more", c.name, d)
			}
			if b := g.must(); b != first || l.Err() != nil {
				t.Errorf("%s, and back: %v, %v, want node ID %v", c.name, b, l.Err(), first)
			}
		})
	}
}

// If another process gets the node ID, the lease gets a new node ID. Until then, generators have no
// ticks.
func TestLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := NewMemory()
		n := &network{Store: m}
		c := config(1) // two node IDs
		c.Format.Bits = 1
		c.Name = "A"
		book := new(book)
		l := acquire(t, n, c)
		g := book.generator(t, l)
		first := g.must()
		n.set(func() { n.down = true })
		time.Sleep(3 * time.Minute)

		c.Name = "B"
		b1, b2 := acquire(t, m, c), acquire(t, m, c)
		g1, g2 := book.generator(t, b1), book.generator(t, b2)
		g1.must()
		g2.must()
		n.set(func() { n.down = false })
		for range 100 {
			time.Sleep(time.Second)
			_, _, err := g.next()
			fails(t, "others hold both node IDs", err, ErrExpired)
			g1.must()
			g2.must()
		}
		fails(t, "the lease", l.Err(), ErrFull, "by B until")
		other := b1
		if b1.NodeID() == first.NodeID {
			other = b2
		}
		closed(t, other)
		time.Sleep(10 * time.Second)
		if b := g.must(); b == first || l.NodeID() != b.NodeID {
			t.Errorf("the lease has %d again, generators %v", l.NodeID(), b)
		}
		closed(t, l, b1, b2)
	})
}

func TestFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := NewMemory()
		c := config(3)
		var leases []*Lease
		for i := range 8 {
			c.Name = fmt.Sprint("host-", i)
			leases = append(leases, acquire(t, m, c))
		}
		for _, size := range []int{1, 3, 9} {
			err := acquireError(t, m, config(size))
			var full *FullError
			if errors.Is(err, ErrLead) || !errors.As(err, &full) || len(full.Held) != 8 {
				t.Fatalf("the full realm: %v", err)
			}
			fails(t, "the full realm", err, ErrFull, fmt.Sprintf("of %d bits", size), `"realm"`, "8 held",
				"by host-", "until 2000-01-01T00:01:", "and 3 more")
		}
		closed(t, leases[2])
		again := acquire(t, m, c)
		if again.NodeID() != leases[2].NodeID() {
			t.Errorf("got node ID %d, want %d, which was given back", again.NodeID(),
				leases[2].NodeID())
		}
		abandon(leases[5])
		start := time.Now()
		for {
			l, err := Acquire(t.Context(), m, c)
			if err == nil {
				if l.NodeID() != leases[5].NodeID() {
					t.Errorf("got node ID %d, want %d, which was abandoned", l.NodeID(),
						leases[5].NodeID())
				}
				closed(t, l)
				break
			}
			time.Sleep(time.Second)
		}
		if d := time.Since(start); d < time.Minute || d > 2*time.Minute {
			t.Errorf("the abandoned node ID was free after %v", d)
		}
		closed(t, again)
		closed(t, leases...)
	})
}

func TestSizes(t *testing.T) {
	m := NewMemory()
	c := config(4)
	c.Format.Bits = 6
	sized := func(size, count int) (leases []*Lease) {
		t.Helper()
		c.NodeBits = size
		for range count {
			leases = append(leases, acquire(t, m, c))
		}
		return leases
	}
	disjoint := func(leases ...*Lease) {
		t.Helper()
		for i, a := range leases {
			for _, b := range leases[:i] {
				x, y := Block{a.NodeID(), uint8(a.NodeBits())}, Block{b.NodeID(),
					uint8(b.NodeBits())}
				if x.Contains(y) || y.Contains(x) {
					t.Errorf("%v and %v", x, y)
				}
			}
		}
	}
	full := func(size int) {
		t.Helper()
		c.NodeBits = size
		fails(t, fmt.Sprint("a node ID with bits: ", size), acquireError(t, m, c), ErrFull)
	}
	for range 3 {
		small := sized(6, 64)
		disjoint(small...)
		full(1)
		full(6)
		closed(t, small[1:]...)
		large := sized(1, 1)
		full(1)
		middle := append(sized(2, 1), sized(3, 1)...)
		full(3)
		disjoint(append(append(middle, large...), small[0])...)
		closed(t, small[0])
		closed(t, large...)
		closed(t, middle...)
		both := sized(1, 2)
		disjoint(both...)
		closed(t, both...)
	}
	leases := append(sized(6, 8), sized(2, 3)...)
	closed(t, leases...)
}

// An evicted lease gets another node ID, and its generators do not stop.
func TestEvict(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := NewMemory()
		book := new(book)
		a := acquire(t, m, config(4))
		g := book.generator(t, a)
		first := g.must()
		hi := a.window.Grant().Hi
		if ok, err := Evict(t.Context(), m, "realm", first, Owner{1}); ok || err != nil {
			t.Errorf("Evict of another owner: %v, %v", ok, err)
		}
		holders := held(t, m)
		if len(holders) != 1 || holders[0].Block != first {
			t.Fatalf("a block was evicted: %+v", holders)
		}
		if ok, err := Evict(t.Context(), m, "realm", first, holders[0].Owner); !ok || err != nil {
			t.Fatalf("Evict: %v, %v", ok, err)
		}
		if r, err := m.Get(t.Context(), holders[0].Realm, first); err != nil || r.HWM != hi {
			t.Errorf("granted up to tick %d, then evicted: %+v, %v", hi, r, err)
		}
		if ok, err := Evict(t.Context(), m, "realm", first, Owner{}); ok || err != nil {
			t.Errorf("Evict again: %v, %v", ok, err)
		}
		var others []*Lease
		for range 10 {
			l := acquire(t, m, config(4))
			others = append(others, l)
			book.generator(t, l).next()
		}
		if a.NodeID() != first.NodeID {
			t.Error("the node ID has changed too soon")
		}
		for range 60 {
			time.Sleep(time.Second)
			g.must()
		}
		if a.NodeID() == first.NodeID {
			t.Error("the lease still has the evicted node ID")
		}
		_, err := Evict(t.Context(), m, "other", first, Owner{})
		fails(t, "Evict from no realm", err, ErrNoRealm)
		closed(t, a)
		closed(t, others...)
	})
}

// A process gets no grant while its clock differs much from the store's.
func TestClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := NewMemory()
		c := config(8)
		wrong := skewed(&c)
		for d, say := range map[time.Duration]string{
			time.Hour: "1h0m0s ahead", -time.Hour: "1h0m0s behind", 11 * time.Second: "11s ahead",
			-11 * time.Second: "11s behind",
		} {
			wrong.Store(int64(d))
			fails(t, "a clock that is wrong", acquireError(t, m, c), ErrClock, say)
		}
		wrong.Store(int64(9 * time.Second))
		l := acquire(t, m, c)
		for range 100 {
			time.Sleep(time.Second)
			must(t, claim(l, 9*time.Second)) // within the lead
		}
		wrong.Store(int64(time.Hour))
		time.Sleep(10 * time.Second)
		fails(t, "the clock has stepped", claim(l, time.Hour), ErrExpired, ErrClock)
		fails(t, "the clock has stepped", l.Err(), ErrClock)
		wrong.Store(0)
		time.Sleep(10 * time.Second)
		must(t, claim(l, 0)) // the clock is right again
		closed(t, l)
		r, _, err := Records(t.Context(), m, "realm")
		if err != nil || r.HWM != 0 {
			t.Fatal(r, err)
		}
	})
}

// If Time is slow to answer, the process's clock does not count as wrong.
func TestSlowClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &network{Store: NewMemory(), delay: func() time.Duration { return 15 * time.Second }}
		closed(t, acquire(t, n, config(8)))
	})
}

// If the store has no clock, a process whose clock is ahead gets future ticks. Nobody gets the same
// node ID for earlier ticks.
func TestLead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &network{Store: NewMemory(), noClock: true}
		c := config(1)
		ahead := c
		skewed(&ahead).Store(int64(time.Hour))
		for range 2 {
			l := acquire(t, n, ahead)
			must(t, claim(l, time.Hour))
			defer closed(t, l)
		}
		n.set(func() { n.down = true })
		time.Sleep(2 * time.Hour) // the deadlines and the windows pass
		n.set(func() { n.down = false })
		time.Sleep(time.Minute)
		for _, r := range held(t, n) {
			_, err := Evict(t.Context(), n, "realm", r.Block, r.Owner)
			must(t, err)
		}
		err := acquireError(t, n, c)
		var full *FullError
		if !errors.As(err, &full) || len(full.Ahead) != 2 {
			t.Fatalf("with all node IDs in the future: %v", err)
		}
		e := full.Ahead[0]
		if e.Ahead < 59*time.Minute || e.Ahead > 62*time.Minute || e.Max > 10*time.Second {
			t.Errorf("%+v", e)
		}
		fails(t, "a node ID in the future", e, ErrLead)
		fails(t, "all in the future", err, ErrLead, "node ID 0/1", e.Ahead.String())
	})
}

// The answer to a grant is lost. The process asks again, and finds the grant.
func TestRetried(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := NewMemory()
		for _, lost := range []string{"the grant", "the read after the grant",
			"every other answer"} {
			n := &network{Store: m}
			times, granted := 0, false
			n.deaf = func(op string, args ...Record) bool {
				grant := op == "set" && args[1].Owner != Owner{}
				defer func() { granted = granted || grant }()
				switch lost {
				case "the grant":
					times++
					return grant && !granted
				case "the read after the grant":
					times++
					return op == "get" && granted && times < 3
				}
				times++
				return times%2 == 0 && times < 8
			}
			l := acquire(t, n, config(8))
			if got := len(held(t, m)); got != 1 {
				t.Errorf("lost was %s: %d node IDs are held", lost, got)
			}
			g := new(book).generator(t, l)
			first := g.must()
			for i := range 600 {
				if i%60 == 0 {
					n.set(func() { times, granted = i%120/60, false })
				}
				time.Sleep(time.Second)
				if b := g.must(); b != first {
					t.Fatalf("lost was %s: from %v to %v", lost, first, b)
				}
			}
			if got := len(held(t, m)); got != 1 {
				t.Errorf("lost was %s: %d node IDs are held", lost, got)
			}
			closed(t, l)
			if got := len(held(t, m)); got != 0 {
				t.Errorf("lost was %s: after Close %d node IDs are held", lost, got)
			}
		}
	})
}

// If Acquire fails, it returns soon, and no node ID stays held.
func TestAcquireFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &network{Store: NewMemory(), down: true}
		start := time.Now()
		fails(t, "the store is down", acquireError(t, n, config(8)), errDown)
		if d := time.Since(start); d < 500*time.Millisecond || d > 5*time.Second {
			t.Errorf("Acquire tried for %v", d)
		}

		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		n.set(func() { n.down, n.hang = false, true })
		start = time.Now()
		_, err := Acquire(ctx, n, config(8))
		fails(t, "the store hangs", err, context.DeadlineExceeded)
		if d := time.Since(start); d > 3*time.Second {
			t.Errorf("the context ended after 1 s, Acquire after %v", d)
		}
		_, err = Acquire(ctx, NewMemory(), config(8))
		fails(t, "the context has ended before", err, context.DeadlineExceeded)

		// The grant is made, but no answer comes: Acquire gives the grant back.
		n.set(func() {
			n.hang = false
			n.deaf = func(op string, args ...Record) bool {
				return op == "set" && args[1].Owner != Owner{}
			}
		})
		fails(t, "no answer", acquireError(t, n, config(8)), errDown)
		if rs := held(t, n.Store); len(rs) > 0 {
			t.Errorf("records are held, but no process knows that: %+v", rs)
		}
	})
}

// Close gives the unused ticks back.
func TestClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := NewMemory()
		n := &network{Store: m}
		c := config(1)
		c.Format.Bits = 1
		other := acquire(t, m, c)
		defer closed(t, other)
		book := new(book)
		l := acquire(t, n, c)
		g := book.generator(t, l)
		time.Sleep(time.Second)
		b := g.must()
		record := func() Record {
			root, _, _ := Records(t.Context(), m, "realm")
			r, _ := m.Get(t.Context(), "realm@"+root.Generation, b)
			return r
		}

		n.set(func() { n.hang = true })
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		fails(t, "the store hangs: Close", l.Close(ctx), context.DeadlineExceeded)
		fails(t, "closed", claim(l, 0), ErrClosed)
		// While one Close hangs, a second Close waits until the context of the second Close ends.
		patient, cancel := context.WithTimeout(t.Context(), time.Hour)
		hung := make(chan error, 1)
		go func() { hung <- l.Close(patient) }()
		synctest.Wait()
		start := time.Now()
		ctx, stop := context.WithTimeout(t.Context(), time.Second)
		defer stop()
		fails(t, "while another Close hangs", l.Close(ctx), context.DeadlineExceeded)
		if d := time.Since(start); d != time.Second {
			t.Errorf("while another Close hangs: %v", d)
		}
		cancel()
		fails(t, "the Close that hung", <-hung, context.Canceled)
		if record().Owner == (Owner{}) {
			t.Error("released without the store")
		}
		n.set(func() { n.hang = false })
		closed(t, l)
		closed(t, l)
		if r := record(); r.Owner != (Owner{}) || r.HWM != g.last+1 || r.Name != "" ||
			r.Deadline != 0 {
			t.Errorf("after tick %d the record is %+v", g.last, r)
		}
		time.Sleep(time.Second)
		l = acquire(t, n, c)
		if g := l.window.Grant(); g.Lo != time.Now().UnixMilli()/256 {
			t.Errorf("the next window begins at %d, the time is %d", g.Lo,
				time.Now().UnixMilli()/256)
		}
		lo := l.window.Grant().Lo
		closed(t, l)
		if r := record(); r.HWM != lo {
			t.Errorf("no tick was used from %d on, and the record is %+v", lo, r)
		}
	})
}

// Close returns when its context ends, even if the store ignores contexts and a renewal hangs.
func TestCloseWaitsForRenewal(t *testing.T) {
	leased(t, config(8), func(t *testing.T, n *network, l *Lease) {
		stuck := make(chan struct{})
		n.set(func() { n.before = func(string, Record) error { <-stuck; return nil } })
		time.Sleep(40 * time.Second)
		n.set(func() { n.before = nil })
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		before := n.calls("get", "set")
		fails(t, "Close", l.Close(ctx), context.DeadlineExceeded, "renewal")
		if after := n.calls("get", "set"); after != before {
			t.Errorf("Close has called the store %d times", after-before)
		}
		close(stuck)
	})
}

func TestRenewalFollowsTicks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := config(8)
		c.Window, c.MaxLead = 20*time.Second, 12*time.Second
		l := acquire(t, NewMemory(), c)
		until := l.Until()
		synctest.Wait() // a renewal that is due at once must not run together with the claims
		// More than half of the window is used, so a renewal is due.
		must(t, claim(l, 11*time.Second))
		synctest.Wait()
		if more := l.Until().Sub(until); more < 10*time.Second {
			t.Errorf("a tick 11 s ahead was used, but the window has grown by %v", more)
		}
		claim(l, 29*time.Second)
		time.Sleep(2 * time.Second)
		synctest.Wait()
		fails(t, "ticks used 29 s ahead", l.Err(), ErrLead)
		closed(t, l)
	})
}

// After a fence, no grant starts before the time that Fence returned.
func TestFence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := NewMemory()
		book := new(book)
		l := acquire(t, m, config(8))
		g := book.generator(t, l)
		g.must()
		until, err := Fence(t.Context(), m, Config{Realm: "realm"}, 5*time.Second)
		if d := time.Until(until); err != nil || d < 74*time.Second || d > 78*time.Second {
			t.Fatalf("Fence: %v, %v, want the window of 60 s, the lead of 10 s and 5 s from now", d,
				err)
		}
		var lead *LeadError
		if _, err := Acquire(t.Context(), m, config(8)); !errors.As(err, &lead) ||
			lead.Block != (Block{}) || !lead.Until.Equal(until) {
			t.Errorf("a fenced realm: %v", err)
		}
		spent := 0
		for range 120 {
			time.Sleep(time.Second)
			if _, _, err := g.next(); err != nil {
				spent++
			}
		}
		if spent < 5 || spent > 30 || g.last < until.UnixMilli()/256 {
			t.Errorf("for %d s there were no IDs", spent)
		}
		root, blocks, err := Records(t.Context(), m, "realm")
		if err != nil || root.HWM != until.UnixMilli()/256 || len(blocks) == 0 {
			t.Errorf("%+v, %v, %v", root, blocks, err)
		}
		closed(t, l)
	})
}

// A second fence never allows earlier ticks than the first fence.
func TestFenceAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := NewMemory()
		l := acquire(t, m, config(8))
		var last time.Time
		for i, skew := range []time.Duration{5 * time.Second, 0, time.Hour} {
			time.Sleep(2 * time.Minute)
			until, err := Fence(t.Context(), m, Config{Realm: "realm"}, skew)
			if err != nil || !until.After(last) {
				t.Errorf("fence %d: until %v, %v, the last until %v", i, until, err, last)
			}
			last = until
		}
		until, err := Fence(t.Context(), m, Config{Realm: "realm"}, 0)
		if err != nil || until != last {
			t.Errorf("fenced until %v, and then with less skew until %v, %v", last, until, err)
		}
		closed(t, l)
	})
}

func TestFenceErrors(t *testing.T) {
	m := NewMemory()
	closed(t, acquire(t, m, config(8)))
	for _, c := range []struct {
		what   string
		config Config
		skew   time.Duration
		err    error
	}{
		{"no realm", Config{Realm: "none"}, 0, ErrNoRealm},
		{"a skew of more than a day", Config{Realm: "realm"}, 24*time.Hour + 1, ErrConfig},
		{"a negative skew", Config{Realm: "realm"}, -1, ErrConfig},
		{"another format", Config{Realm: "realm", Format: UID60}, 0, ErrRealm},
	} {
		_, err := Fence(t.Context(), m, c.config, c.skew)
		fails(t, c.what, err, c.err)
	}
	if names, err := m.Realms(t.Context()); err != nil || !slices.Equal(names, []string{"realm"}) {
		t.Errorf("the realms are %q, %v", names, err)
	}
}

// A fence uses the longer of its own terms and the realm's terms. It makes a missing realm.
func TestFenceTerms(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := NewMemory()
		// Before the fence, a process creates the realm again, with a smaller window.
		closed(t, acquire(t, m, Config{Realm: "anew", Format: SCRU64, NodeBits: 8,
			Window: 10 * time.Second, MaxLead: time.Second}))
		for _, c := range []struct {
			what   string
			config Config
			least  time.Duration
		}{
			{"with longer terms than the realm's", Config{Realm: "anew", Format: SCRU64,
				Window: time.Hour, MaxLead: time.Minute}, 61*time.Minute - 2*SCRU64.Tick},
			{"that makes the realm", Config{Realm: "none", Format: UID60}, 70 * time.Second},
		} {
			until, err := Fence(t.Context(), m, c.config, 0)
			if err != nil || time.Until(until) < c.least {
				t.Errorf("a fence %s: %v, %v", c.what, until, err)
			}
		}
	})
}

// A lease that finds an older state in the store gets no grants until a fence.
func TestForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, gone := range []bool{false, true} {
			m := NewMemory()
			l := acquire(t, m, config(8))
			g := new(book).generator(t, l)
			m.mu.Lock()
			old := map[string]map[Block]Record{}
			for realm, records := range m.realms {
				old[realm] = maps.Clone(records)
			}
			m.mu.Unlock()
			time.Sleep(10 * time.Minute)
			g.must()
			m.mu.Lock()
			if m.realms = old; gone {
				m.realms = nil
			}
			m.mu.Unlock()
			time.Sleep(2 * time.Minute)
			fails(t, "the store has forgotten", claim(l, 0), ErrForgotten)
			fails(t, "the store has forgotten", l.Err(), ErrForgotten)
			if gone {
				// Another process creates the realm again. Without a fence, both processes could
				// use the same ticks.
				abandon(acquire(t, m, config(8)))
				time.Sleep(time.Minute)
				fails(t, "a new realm", l.Err(), ErrForgotten)
			}
			_, err := Fence(t.Context(), m, Config{Realm: "realm"}, 0)
			must(t, err)
			time.Sleep(2 * time.Minute)
			g.must()
			must(t, l.Err())
			closed(t, l)
		}
	})
}

func TestConfig(t *testing.T) {
	m := NewMemory()
	first := acquire(t, m, config(8))
	defer closed(t, first)
	for _, c := range []struct {
		change func(c *Config)
		err    error
		says   string
	}{
		{func(c *Config) { c.Realm = "" }, ErrConfig, "realm"},
		{func(c *Config) { c.Realm = "a@b" }, ErrConfig, "@"},
		{func(c *Config) { c.Realm = "a\nb" }, ErrConfig, "control"},
		{func(c *Config) { c.Realm = "\xff" }, ErrConfig, "UTF-8"},
		{func(c *Config) { c.Realm = strings.Repeat("x", 101) }, ErrConfig, "101 bytes"},
		{func(c *Config) { c.Name = "\x00" }, ErrConfig, "name"},
		{func(c *Config) { c.Format = Format{} }, ErrConfig, "tick"},
		{func(c *Config) { c.Format.Tick = 1500 * time.Microsecond }, ErrConfig, "1.5ms"},
		{func(c *Config) { c.Format.Bits = 25 }, ErrConfig, "25"},
		{func(c *Config) { c.NodeBits = 0 }, ErrConfig, "0 bits"},
		{func(c *Config) { c.NodeBits = 24 }, ErrConfig, "24 bits"},
		{func(c *Config) { c.Window = time.Second }, ErrConfig, "1s"},
		{func(c *Config) { c.Window = 25 * time.Hour }, ErrConfig, "25h"},
		{func(c *Config) { c.MaxLead = -1 }, ErrConfig, "lead"},
		{func(c *Config) { c.Format = SCRU160 }, ErrRealm, "256ms"},
		{func(c *Config) { c.Format.Epoch = time.UnixMilli(1000) }, ErrRealm, "epoch"},
		{func(c *Config) { c.Format.Bits = 16 }, ErrRealm, "23"},
		{func(c *Config) { c.Window = 2 * time.Minute }, ErrRealm, "2m"},
		{func(c *Config) { c.MaxLead = time.Minute }, ErrRealm, "1m"},
		{func(c *Config) { c.Window, c.MaxLead = 30*time.Second, 5*time.Second }, nil, ""},
		{func(c *Config) { c.Realm = strings.Repeat("ü", 50) }, nil, ""},
	} {
		cfg := config(8)
		c.change(&cfg)
		l, err := Acquire(t.Context(), m, cfg)
		if !errors.Is(err, c.err) || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%+v: %v, want %v that says %q", cfg, err, c.err, c.says)
		}
		if err == nil {
			closed(t, l)
		}
	}
	for _, f := range []Format{SCRU64, SCRU160, UID60} {
		c := Config{Realm: fmt.Sprint(f.Bits), Format: f, NodeBits: f.Bits}
		l := acquire(t, m, c)
		if l.TickLength() != f.Tick || !l.Epoch().Equal(f.Epoch) || l.NodeBits() != f.Bits {
			t.Errorf("%+v: %v from %v, %d bits", f, l.TickLength(), l.Epoch(), l.NodeBits())
		}
		now := time.Now()
		if _, tick, err := l.ClaimTick(int64(now.Sub(f.Epoch) / f.Tick)); err != nil ||
			now.Sub(l.window.Time(tick)).Abs() > time.Second {
			t.Errorf("%+v: tick %d, %v", f, tick, err)
		}
		closed(t, l)
	}
}

func TestForeignTerms(t *testing.T) {
	good := Config{Format: SCRU64}.terms()
	for name, spoil := range map[string]func(*Terms){
		"none":              func(t *Terms) { *t = Terms{} },
		"no tick":           func(t *Terms) { t.Tick = 0 },
		"a negative tick":   func(t *Terms) { t.Tick = -256 },
		"an enormous tick":  func(t *Terms) { t.Tick = math.MaxInt64 },
		"no bits":           func(t *Terms) { t.Bits = 0 },
		"too many bits":     func(t *Terms) { t.Bits = MaxBits + 1 },
		"no window":         func(t *Terms) { t.Window = 0 },
		"an endless window": func(t *Terms) { t.Window = math.MaxInt64 },
		"no lead":           func(t *Terms) { t.Lead = 0 },
		"an endless lead":   func(t *Terms) { t.Lead = math.MaxInt64 },
	} {
		t.Run(name, func(t *testing.T) {
			terms := good
			spoil(&terms)
			store := NewMemory()
			root := Record{Realm: "r", Revision: 1, State: Split, Generation: "0123456789abcdef",
				Terms: terms}
			if ok, err := store.CompareAndSet(t.Context(), Record{Realm: "r"}, root); !ok ||
				err != nil {
				t.Fatal(ok, err)
			}
			config := Config{Realm: "r", Format: SCRU64, NodeBits: 8}
			_, acquire := Acquire(t.Context(), store, config)
			_, _, records := Records(t.Context(), store, "r")
			_, evict := Evict(t.Context(), store, "r", Block{42, 8}, Owner{})
			_, fence := Fence(t.Context(), store, config, time.Minute)
			for _, err := range []error{acquire, records, evict, fence} {
				fails(t, name, err, ErrRealm)
			}
		})
	}
}

type resting struct {
	Store
	n atomic.Int64
}

func (s *resting) CloseIdleConnections() { s.n.Add(1) }

// After a renewal, the lease calls CloseIdleConnections, unless the next renewal is near.
func TestCloseIdleConnections(t *testing.T) {
	for _, tc := range []struct {
		window time.Duration
		rests  bool
	}{{10 * time.Second, true}, {2 * time.Second, false}} {
		synctest.Test(t, func(t *testing.T) {
			s := &resting{Store: NewMemory()}
			l, err := Acquire(t.Context(), s, Config{Realm: "r", Format: SCRU64, NodeBits: 8,
				Window: tc.window, Now: time.Now})
			must(t, err)
			defer l.Close(t.Context())
			// The first renewal may come at once.
			if n := s.n.Load(); (n >= 1) != tc.rests {
				t.Errorf("window %v: %d calls during Acquire", tc.window, n)
			}
			time.Sleep(6 * tc.window)
			if n := s.n.Load(); (n >= 6) != tc.rests {
				t.Errorf("window %v: %d calls in six windows", tc.window, n)
			}
		})
	}
}
