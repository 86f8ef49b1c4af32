package lease

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"
)

// This file adds lessors and their clients to the simulation. A server has a lessor, which serves
// each request in a task of its own. The requests and answers between clients and servers are lost,
// late or repeated, and so are those between servers and the store. Servers stop, and lose all that
// they remember. Some clients lie, and some are cloned.

// brokenRules are rules that clients or servers do not keep.
type brokenRules struct {
	noRenewal     bool // clients send no renewal name, so clones are not parted
	useReleased   bool // clients make IDs after they have sent a release
	impreciseTime bool // servers take a wrong time for a precise one
	shortReclaim  bool // node IDs are reclaimed with ticks that were used
}

type simServer struct {
	*simProcess
	lessor *StoreLessor
}

// A simClient is a process that leases from servers.
type simClient struct {
	w     *world
	name  int
	clock int64
	size  int
	liar  bool
	life  int

	request  string
	grant    Grant // ID is "" if there is none
	used     int64
	renewal  string // the renewal that is not answered
	asked    Grant  // the grant when that renewal was first sent
	released bool
	inbox    []simAnswer

	// As in simProcess: 0: none; 1: cloned or a clone; 2: its renewal ends the overlap.
	overlap int
	// It is a clone or has one. Then it does not repeat a request that was answered: the answer
	// would have the times of the other clone.
	isClone bool

	// It alone uses the node ID in this time.
	momentFrom, momentTo int64
}

type simAnswer struct {
	life             int
	request, renewal string
	acquired         bool
	grant            Grant
	err              error
	sent             int64
}

// taskStore sends the requests of a lessor through the connection of the task that is in ctx.
type taskStore struct {
	w *world
	Store
}

type taskKey struct{}

func connection(ctx context.Context) *simStore { return ctx.Value(taskKey{}).(*simStore) }

func (taskStore) Get(ctx context.Context, realm string, b Block) (Record, error) {
	return connection(ctx).Get(ctx, realm, b)
}

func (taskStore) GetMany(ctx context.Context, realm string, bs []Block) ([]Record, error) {
	return connection(ctx).GetMany(ctx, realm, bs)
}

func (taskStore) List(ctx context.Context, realm string) ([]Record, error) {
	return connection(ctx).List(ctx, realm)
}

func (taskStore) CompareAndSet(ctx context.Context, prev, next Record) (bool, error) {
	return connection(ctx).CompareAndSet(ctx, prev, next)
}

func (taskStore) CompareAndSetMany(ctx context.Context, changes []Change) (bool, error) {
	return connection(ctx).CompareAndSetMany(ctx, changes)
}

func (taskStore) Time(ctx context.Context) (time.Time, error) { return connection(ctx).Time(ctx) }

func (s taskStore) Atomic() bool { return s.w.atomic }

func (s taskStore) TimePrecision() time.Duration {
	if s.w.rules.impreciseTime {
		return 0
	}
	return timePrecision
}

// timePrecision is by how much the store's time is wrong in a steady world.
const timePrecision = 2 * time.Second

// serve adds servers and clients to the world.
func (w *world) serve() {
	for i := range 2 {
		s := &simServer{simProcess: &simProcess{w: w, name: 100 + i}}
		s.boot()
		w.servers = append(w.servers, s)
	}
	for i := range 2 + w.rand.IntN(4) {
		c := &simClient{w: w, name: 200 + i}
		w.clients = append(w.clients, c)
		w.start(c.run)
	}
}

// boot starts a server, which remembers nothing.
func (s *simServer) boot() {
	w := s.w
	s.life++
	s.clock = w.wrongBy()
	s.lessor = NewLessor(taskStore{w: w}, LessorOptions{Now: s.now})
	s.lessor.alone = true
	s.lessor.prepare = func(ctx context.Context, session *session) {
		c := connection(ctx)
		session.rand = w.rand
		session.read = func(b []byte) {
			for i := range b {
				b[i] = byte(w.rand.IntN(256))
			}
		}
		session.sleep = func(_ context.Context, d time.Duration) error {
			c.t.wake = w.now + d.Milliseconds()
			if !c.yield() {
				return errDead
			}
			return nil
		}
	}
}

// send sends a request to some server, mostly once.
func (c *simClient) send(a simAnswer, do func(ctx context.Context, l *StoreLessor) (Grant, error)) {
	w := c.w
	a.life, a.request, a.sent = c.life, c.request, w.now
	for copies := 1; copies > 0; copies-- {
		if w.chance(w.trouble / 2) {
			copies++
		}
		w.start(func(t *simTask, yield func() bool) {
			s := w.servers[w.rand.IntN(len(w.servers))]
			conn := &simStore{nil, w, s.simProcess, s.life, t, yield}
			if conn.travel() != nil {
				return
			}
			a := a
			a.grant, a.err = do(context.WithValue(context.Background(), taskKey{}, conn), s.lessor)
			if errors.Is(a.err, errDead) {
				return
			}
			for {
				if conn.travel() != nil {
					return
				}
				c.inbox = append(c.inbox, a)
				if !w.chance(w.trouble / 2) {
					return
				}
			}
		})
	}
}

func (c *simClient) now() time.Time { return time.UnixMilli(c.w.now + c.clock) }

func (c *simClient) born() {
	w := c.w
	w.draws++
	*c = simClient{w: w, name: c.name, life: c.life + 1, used: -1 << 62, inbox: c.inbox,
		request: fmt.Sprintf("request %16d", w.draws), liar: w.chance(0.1),
		size: w.sizes[w.rand.IntN(len(w.sizes))]}
	if w.chance(0.5) {
		c.clock = w.wrongBy()
	}
	w.tell("%d: client %d begins, %d bits, liar: %v", c.name, c.life, c.size, c.liar)
}

func (c *simClient) run(t *simTask, yield func() bool) {
	w := c.w
	span := w.config.Window.Milliseconds()
	if c.request == "" {
		c.born()
	}
	for {
		t.wake = w.now + 1 + w.upTo(span/4)
		if !yield() {
			return
		}
		for _, a := range c.inbox {
			c.receive(a)
		}
		c.inbox = nil
		c.checkMoment()
		switch {
		case w.chance(0.005):
			w.tell("%d: dies", c.name)
			c.born()
		case c.released:
			c.release()
			if w.chance(0.3) {
				c.born()
			}
		case c.grant.ID == "":
			c.acquire()
		case w.chance(0.3):
			c.renew()
		case w.chance(0.02):
			c.released = true
			c.momentTo = 0
			c.release()
		case w.chance(0.05) && !c.isClone: // a late copy
			c.acquire()
		}
		c.useTicks()
		if w.chance(w.trouble / 100) {
			s := w.servers[w.rand.IntN(len(w.servers))]
			w.tell("%d: is killed", s.name)
			s.boot()
		}
		w.disturb(c)
	}
}

// disturb evicts or clones a client at times.
func (w *world) disturb(c *simClient) {
	if c.grant.ID == "" || c.released {
		return
	}
	if w.chance(0.005) && !w.steady {
		id := c.grant.ID
		w.count["eviction"]++
		c.send(simAnswer{}, func(ctx context.Context, l *StoreLessor) (Grant, error) {
			return Grant{}, l.Evict(ctx, "sim", id)
		})
	}
	if w.chance(0.05) && !w.steady && len(w.silent) > 0 {
		blocks := slices.SortedFunc(maps.Keys(w.silent), compareOrder)
		c.reclaim(blocks[w.rand.IntN(len(blocks))])
	}
	if w.clones && w.chance(0.05) && len(w.clients) < 10 && c.overlap == 0 {
		w.count["cloned client"]++
		c.overlap, c.isClone, c.momentTo = 1, true, 0
		twin := *c
		twin.name, twin.inbox = 200+len(w.clients), nil
		w.tell("%d: becomes a clone of %d", twin.name, c.name)
		w.clients = append(w.clients, &twin)
		w.start(twin.run)
	}
}

func (c *simClient) time() time.Time {
	if c.w.chance(0.5) {
		return time.Time{}
	}
	return c.now()
}

func (c *simClient) acquire() {
	r := AcquireRequest{Request: c.request, NodeBits: c.size, NodeID: -1, Holder: fmt.Sprint(c.name),
		Time: c.time()}
	c.send(simAnswer{acquired: true}, func(ctx context.Context, l *StoreLessor) (Grant, error) {
		return l.Acquire(ctx, "sim", r)
	})
}

func (c *simClient) renew() {
	w := c.w
	if c.renewal == "" {
		w.draws++
		c.renewal, c.asked = fmt.Sprint("renewal ", w.draws), c.grant
		if c.overlap == 1 {
			c.overlap = 2
		}
	}
	g := c.asked
	r := RenewRequest{Secret: g.Secret, EndTick: g.EndTick, Renewal: c.renewal, Time: c.time()}
	if w.rules.noRenewal {
		r.Renewal = ""
	}
	if c.liar && w.chance(0.5) {
		r.EndTick += w.rand.Int64N(2_000_000) - 1_000_000
		if other := w.clients[w.rand.IntN(len(w.clients))]; other.grant.ID != "" {
			g.ID = other.grant.ID
		}
	}
	c.send(simAnswer{renewal: c.renewal}, func(ctx context.Context, l *StoreLessor) (Grant, error) {
		return l.Renew(ctx, "sim", g.ID, r)
	})
}

func (c *simClient) release() {
	w, g := c.w, c.grant
	tick := w.format.Tick.Milliseconds()
	r := ReleaseRequest{Secret: g.Secret, EndTick: g.EndTick}
	if w.chance(0.8) {
		r.LastTime = time.UnixMilli(max(0, c.used*tick+tick-1))
	} else {
		w.silent[g.Block] = max(w.silent[g.Block], c.used)
	}
	if c.liar {
		r.LastTime = time.UnixMilli(w.now + w.rand.Int64N(200_000) - 100_000)
		if other := w.clients[w.rand.IntN(len(w.clients))]; other.grant.ID != "" {
			g.ID = other.grant.ID
		}
	}
	c.send(simAnswer{}, func(ctx context.Context, l *StoreLessor) (Grant, error) {
		return Grant{}, l.Release(ctx, "sim", g.ID, r)
	})
}

// reclaim frees a node ID that a client has released without saying its last tick. Whoever does it
// knows only how far ahead of the store's clock the client was.
func (c *simClient) reclaim(b Block) {
	w := c.w
	c.send(simAnswer{}, func(ctx context.Context, l *StoreLessor) (Grant, error) {
		root, err := Realm(ctx, l.store, "sim")
		if err != nil {
			return Grant{}, err
		}
		r, err := l.store.Get(ctx, spaceOf(root), b)
		if err != nil || r.Released == 0 {
			return Grant{}, err
		}
		if w.rules.shortReclaim {
			if next, err := reclaim(r, -1<<40); err == nil {
				next.Revision++
				l.store.CompareAndSet(ctx, r, next)
			}
			return Grant{}, nil
		}
		ahead := max(0, w.silent[b]-r.Released-root.Terms.Lead)
		if err := Reclaim(ctx, l.store, "sim", b, root.Terms.Duration(ahead)); err == nil {
			w.count["reclaim"]++
		}
		return Grant{}, nil
	})
}

func (c *simClient) receive(a simAnswer) {
	w := c.w
	if a.life != c.life || a.request != c.request || c.released || !a.acquired && a.renewal == "" {
		return
	}
	w.tell("%d: gets %v, ticks %d to %d, %v", c.name, a.grant.Block, a.grant.FirstTick,
		a.grant.EndTick, a.err)
	switch cut := textless(a.err); {
	case cut != "":
		w.wrong = fmt.Sprintf("the text has only %q of %q", cut, a.err)
	case a.err == nil:
		c.take(a)
		w.count["granted over a server"]++
	case errors.Is(a.err, ErrLost) && a.acquired == (c.grant.ID == "") &&
		(a.acquired || a.renewal == c.renewal):
		w.count["lost over a server"]++
		liar := c.liar
		c.born()
		c.liar = liar
	case errors.Is(a.err, ErrForgotten):
		w.count["forgotten over a server"]++
	case errors.Is(a.err, ErrRequestDiffers), errors.Is(a.err, ErrConfig) && !c.liar:
		w.wrong = a.err.Error()
	}
}

func (c *simClient) take(a simAnswer) {
	g := a.grant
	if !a.acquired && a.renewal == c.renewal {
		c.renewal = ""
		switch {
		case c.overlap == 2 && g.EndTick > c.asked.EndTick:
			c.overlap = 0
			c.w.count["overlap of clients ended"]++
		case c.overlap == 2: // a renewal that does not move the end does not part clones
			c.overlap = 1
		}
	}
	if c.grant.ID != "" && g.EndTick <= c.grant.EndTick {
		return
	}
	if g.Repeated {
		c.w.count["lease found again"]++
	}
	if from := c.w.now + g.StartsIn.Milliseconds(); g.ID != c.grant.ID ||
		g.FirstTick != c.grant.FirstTick {
		c.momentFrom = from
	}
	c.momentTo = a.sent + g.ValidFor.Milliseconds()
	c.grant = g
}

func (c *simClient) useTicks() {
	w, g := c.w, c.grant
	if g.ID == "" || c.liar || c.released && !w.rules.useReleased {
		return
	}
	tick := w.format.Tick.Milliseconds()
	for range w.rand.IntN(4) {
		at := max(c.used+1, g.FirstTick, c.now().UnixMilli()/tick)
		if at >= g.EndTick {
			return
		}
		c.used = at
		w.use(c.name, g.Block, at, c.overlap != 0)
	}
}

// checkMoment checks that no other client has the node ID at this moment.
func (c *simClient) checkMoment() {
	w := c.w
	if !w.steady || w.restores || w.fences || w.clones || !c.alone() {
		return
	}
	w.count["moment"]++
	for _, other := range w.clients {
		if other != c && other.alone() && (other.grant.Block.Contains(c.grant.Block) ||
			c.grant.Block.Contains(other.grant.Block)) {
			w.wrong = fmt.Sprintf("%d and %d have %v and %v at one moment", c.name, other.name,
				c.grant.Block, other.grant.Block)
		}
	}
}

func (c *simClient) alone() bool {
	return c.grant.ID != "" && !c.liar && !c.released && c.overlap == 0 &&
		c.momentFrom <= c.w.now && c.w.now < c.momentTo
}

// In a steady world, the store's clock is right up to its precision.
func TestSimulationOfOneMoment(t *testing.T) {
	explore(t, 40, func(w *world) {
		w.steady, w.hasTime, w.restores, w.fences, w.clones = true, true, false, false, false
	}, "moment")
}

func TestSimulationFindsInLessors(t *testing.T) {
	if testing.Short() {
		t.Skip("it simulates up to 200 worlds for each fault; run it without -short")
	}
	for name, change := range map[string]func(w *world){
		"renewals that do not part clones": func(w *world) {
			w.clones, w.restores, w.fences, w.rules.noRenewal = true, false, false, true
		},
		"clients that make IDs after a release": func(w *world) {
			w.rules.useReleased = true
		},
		"servers that take a wrong time for a precise one": func(w *world) {
			w.steady, w.hasTime, w.restores, w.fences, w.clones = true, true, false, false, false
			w.rules.impreciseTime = true
		},
		"node IDs that are reclaimed with ticks that were used": func(w *world) {
			w.hasTime, w.restores, w.fences, w.clones, w.rules.shortReclaim = true, false, false,
				false, true
		},
	} {
		t.Run(name, func(t *testing.T) {
			for seed := uint64(1); seed <= 200; seed++ {
				if w, _ := simulate(seed, change); w.wrong != "" {
					t.Logf("seed %d: %s", seed, w.wrong)
					return
				}
			}
			t.Error("no fault was found")
		})
	}
}
