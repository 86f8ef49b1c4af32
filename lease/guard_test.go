package lease

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sortid/sortid/internal/check"
)

// A flake is an ID of a generator that trusts its clock: if the clock goes back, it makes IDs
// again.
type flake struct {
	tick int64
	node uint32
	seq  int
}

// flakes returns a generator of flakes with ticks of the given length.
func flakes(now func() time.Time, tick time.Duration) Generator[flake] {
	length := tick.Milliseconds()
	return Generator[flake]{
		New: func(nodeID uint32) (func() (flake, error), error) {
			last := flake{tick: -1}
			return func() (flake, error) {
				next := flake{tick: now().UnixMilli() / length, node: nodeID}
				if next.tick == last.tick {
					next.seq = last.seq + 1
				}
				last = next
				return next, nil
			}, nil
		},
		Time: func(f flake) time.Time { return time.UnixMilli(f.tick * length) },
		Tick: tick,
	}
}

// A flakeBook reports IDs that were made twice.
type flakeBook struct {
	mu   sync.Mutex
	seen map[flake]string
}

func (b *flakeBook) add(t *testing.T, f flake, who string) {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	if first, twice := b.seen[f]; twice {
		t.Errorf("%+v was made by %s and by %s", f, first, who)
	}
	if b.seen == nil {
		b.seen = map[flake]string{}
	}
	b.seen[f] = who
}

// guarded calls a test with a Guard, and with the clock of its lease and its generator.
func guarded(t *testing.T, tick time.Duration, test func(t *testing.T, n *network, l *Lease,
	g *Guard[flake], ahead *atomic.Int64)) {
	for _, direct := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			n := &network{Store: NewMemory()}
			c := workers(1)
			ahead := skewed(&c)
			made, err := Create(t.Context(), n, c)
			if err != nil || !made {
				t.Fatal(made, err)
			}
			var l *Lease
			if direct {
				l, err = Acquire(t.Context(), n, c)
			} else {
				l, err = AcquireFrom(t.Context(), NewLessor(n, LessorOptions{}), c)
			}
			check.OK(t, err)
			test(t, n, l, NewGuard(l, flakes(c.Now, tick)), ahead)
			n.set(func() { n.hang, n.down = false, false })
			closed(t, l)
		})
	}
}

// Each ID comes at once, and has a tick of the grant.
func TestGuard(t *testing.T) {
	for _, tick := range []time.Duration{time.Millisecond, 10 * time.Millisecond, time.Second} {
		guarded(t, tick, func(t *testing.T, n *network, l *Lease, g *Guard[flake],
			_ *atomic.Int64) {
			var book flakeBook
			if _, err := g.Next(t.Context()); err != nil { // the first tick may have begun too early
				t.Fatal(err)
			}
			ids := 0
			for ; ; ids++ {
				if ids == 2000 { // now the window ends
					n.set(func() { n.down = true })
				}
				ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
				began := time.Now()
				id, err := g.Next(ctx)
				cancel()
				if errors.Is(err, ErrExpired) {
					break
				}
				check.OK(t, err)
				book.add(t, id, fmt.Sprint("call ", ids))
				if d := time.Since(began); d > 0 {
					t.Fatalf("ID %d took %v", ids, d)
				}
				if at := g.generator.Time(id); at.Before(l.From()) || at.Add(tick).After(l.Until()) ||
					id.node != l.NodeID() {
					t.Fatalf("%+v from %v, lease %d from %v to %v", id, at, l.NodeID(), l.From(), l.Until())
				}
				time.Sleep(time.Duration(ids%3) * 333 * time.Millisecond)
			}
			if ids < 2050 || time.Until(l.Until()) > tick {
				t.Errorf("%d IDs, and the lease ends in %v", ids, time.Until(l.Until()))
			}
		})
	}
}

// When the window has ended, Next waits for the store.
func TestGuardExpired(t *testing.T) {
	guarded(t, time.Millisecond, func(t *testing.T, n *network, l *Lease, g *Guard[flake],
		_ *atomic.Int64) {
		first, err := g.Next(t.Context())
		check.OK(t, err)
		n.set(func() { n.down = true })
		time.Sleep(2 * time.Minute)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err = g.Next(ctx)
		fails(t, "the store is down", err, ErrExpired, context.DeadlineExceeded, errDown)
		time.AfterFunc(time.Minute, func() { n.set(func() { n.down = false }) })
		began := time.Now()
		id, err := g.Next(t.Context())
		if err != nil || time.Since(began) < time.Minute || id.node != first.node {
			t.Fatalf("after %v: %+v, %v", time.Since(began), id, err)
		}
		check.OK(t, l.Close(t.Context()))
		time.Sleep(time.Second)
		_, err = g.Next(t.Context())
		fails(t, "closed", err, ErrClosed)
	})
}

// The generator's clock is set.
func TestGuardClock(t *testing.T) {
	guarded(t, time.Millisecond, func(t *testing.T, n *network, l *Lease, g *Guard[flake],
		ahead *atomic.Int64) {
		var book flakeBook
		next := func() (flake, time.Duration, error) {
			began := time.Now()
			id, err := g.Next(t.Context())
			if err == nil {
				book.add(t, id, "the guard")
			}
			return id, time.Since(began), err
		}
		for range 10 {
			next()
		}
		last, _, err := next()
		check.OK(t, err)

		// Back by a moment, and again to the tick before: its IDs could be made twice.
		ahead.Store(int64(-time.Millisecond))
		go func() { time.Sleep(time.Nanosecond); ahead.Store(0) }()
		id, d, err := next()
		if err != nil || id.tick <= last.tick || d > 50*time.Millisecond {
			t.Errorf("back by 1 ms: %+v after %v, %v", id, d, err)
		}

		ahead.Store(int64(-5 * time.Second))
		if id, d, err = next(); err != nil || d < 4*time.Second || d > 6*time.Second {
			t.Errorf("back by 5 s: %+v after %v, %v", id, d, err)
		}
		ahead.Store(int64(-2 * time.Minute))
		_, _, err = next()
		fails(t, "back by 2 min", err, ErrIDTime)

		// Ahead, but within the window.
		ahead.Store(int64(5 * time.Second))
		if id, d, err = next(); err != nil || d != 0 {
			t.Errorf("ahead by 5 s: %+v after %v, %v", id, d, err)
		}
		ahead.Store(0)
	})
	// The generator's clock stands still while the machine is suspended, and others get the node ID.
	guarded(t, time.Millisecond, func(t *testing.T, n *network, l *Lease, g *Guard[flake],
		_ *atomic.Int64) {
		var suspended time.Duration
		made := g.generator.New
		g.generator.New = func(nodeID uint32) (func() (flake, error), error) {
			before := suspended
			next, err := made(nodeID)
			return func() (flake, error) {
				f, err := next()
				f.tick -= (suspended - before).Milliseconds()
				return f, err
			}, err
		}
		first := check.Must(g.Next(t.Context()))(t)
		n.set(func() { n.down = true })
		time.Sleep(10 * time.Minute)
		suspended += 10 * time.Minute
		n.set(func() { n.down = false })
		for _, b := range []Block{{0, 1}, {1, 1}} {
			_, err := Evict(t.Context(), n, "workers", b, Owner{})
			check.OK(t, err)
		}
		time.Sleep(20 * time.Second)
		began := time.Now()
		if id, err := g.Next(t.Context()); err != nil || time.Since(began) > time.Minute {
			t.Errorf("%+v after %+v and %v: %v", id, first, time.Since(began), err)
		}
	})
	// The realm's tick is longer than the generator's.
	synctest.Test(t, func(t *testing.T) {
		c := config(8) // ticks of 256 ms
		ahead := skewed(&c)
		l := acquire(t, NewMemory(), c)
		defer closed(t, l)
		g := NewGuard(l, flakes(c.Now, time.Millisecond))
		var book flakeBook
		time.Sleep(100 * time.Millisecond) // to the middle of a tick
		for _, back := range []time.Duration{0, 10 * time.Millisecond, 0} {
			ahead.Store(int64(-back))
			id := check.Must(g.Next(t.Context()))(t)
			book.add(t, id, fmt.Sprint(back, " back"))
		}
	})
	// A generator with another clock than the lease.
	synctest.Test(t, func(t *testing.T) {
		l := acquire(t, NewMemory(), workers(3))
		defer closed(t, l)
		for ahead, want := range map[time.Duration]time.Duration{0: 0, -3 * time.Second: 3 * time.Second,
			20 * time.Second: 0, 70 * time.Second: 10 * time.Second} {
			now := func() time.Time { return time.Now().Add(ahead) }
			own := acquire(t, NewMemory(), workers(3))
			began := time.Now()
			_, err := NewGuard(own, flakes(now, 0+time.Millisecond)).Next(t.Context())
			if d := time.Since(began); err != nil || d < want-time.Second || d > want+32*time.Second {
				t.Errorf("ahead by %v: after %v, %v", ahead, d, err)
			}
			closed(t, own)
		}
		for _, ahead := range []time.Duration{-50 * 365 * 24 * time.Hour, 3 * time.Minute} {
			now := func() time.Time { return time.Now().Add(ahead) }
			_, err := NewGuard(l, flakes(now, time.Millisecond)).Next(t.Context())
			fails(t, ahead.String(), err, ErrIDTime)
		}
	})
}

// With another node ID, there is another generator. An ID of the former one is discarded.
func TestGuardMoves(t *testing.T) {
	guarded(t, time.Millisecond, func(t *testing.T, n *network, l *Lease, g *Guard[flake],
		_ *atomic.Int64) {
		// The generator is so far ahead that the new grant includes its IDs.
		g.generator = flakes(func() time.Time { return time.Now().Add(45 * time.Second) },
			time.Millisecond)
		first := check.Must(g.Next(t.Context()))(t)
		records := held(t, n)
		if len(records) != 1 {
			t.Fatal(records)
		}
		// Between the generator's call and the claim, the process stands still, and the lease is
		// lost.
		made, frozen := g.generator.Time, false
		g.generator.Time = func(f flake) time.Time {
			if !frozen {
				frozen = true
				_, err := Evict(t.Context(), n, "workers", records[0].Block, Owner{})
				check.OK(t, err)
				time.Sleep(40 * time.Second) // the next renewal finds out
			}
			return made(f)
		}
		time.Sleep(time.Second)
		id, err := g.Next(t.Context())
		if err != nil || id.node == first.node || id.node != l.NodeID() {
			t.Errorf("%+v after %+v, the lease has %d: %v", id, first, l.NodeID(), err)
		}
	})
}

// The errors of generators are passed on.
func TestGuardErrors(t *testing.T) {
	l := acquire(t, NewMemory(), workers(3))
	defer closed(t, l)
	broken := errors.New("broken")
	g := NewGuard(l, Generator[int]{
		New: func(uint32) (func() (int, error), error) { return nil, broken }})
	for range 2 {
		_, err := g.Next(t.Context())
		fails(t, "New", err, broken)
	}
	g.generator.New = func(uint32) (func() (int, error), error) {
		return func() (int, error) { return 0, broken }, nil
	}
	_, err := g.Next(t.Context())
	fails(t, "next", err, broken)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = g.Next(ctx)
	fails(t, "the context has ended", err, context.Canceled)
	g.busy <- struct{}{}
	_, err = g.Next(ctx)
	fails(t, "the context has ended while Next waits", err, context.Canceled)
}

// Guards of several processes share a small realm under faults. No ID is made twice, and every
// process makes IDs.
func TestGuards(t *testing.T) {
	seeds := uint64(12)
	if testing.Short() {
		seeds = 4
	}
	for seed := range seeds {
		synctest.Test(t, func(t *testing.T) {
			n := &network{Store: NewMemory()}
			r := rand.New(rand.NewPCG(seed, 1))
			c := workers(2) // four node IDs
			_, err := Create(t.Context(), n, c)
			check.OK(t, err)
			var book flakeBook
			var wg sync.WaitGroup
			end := time.Now().Add(time.Hour)
			for i := range 6 {
				own, name := &network{Store: n}, fmt.Sprint("process ", i)
				c := c
				c.Wait, c.Name = true, name
				ahead := skewed(&c)
				tick := []time.Duration{time.Second, 4 * time.Second}[seed%2] // IDs can collide easily
				choices := rand.New(rand.NewPCG(seed, uint64(i)))
				lessor := NewLessor(n, LessorOptions{})
				source := func(ctx context.Context) (*Lease, error) { return Acquire(ctx, own, c) }
				if seed%4 >= 2 {
					source = func(ctx context.Context) (*Lease, error) {
						return AcquireFrom(ctx, lessor, c)
					}
				}
				wg.Go(func() {
					for time.Now().Before(end) {
						ctx, cancel := context.WithDeadline(t.Context(), end)
						l, err := source(ctx)
						cancel()
						if err != nil {
							continue
						}
						g := flakes(c.Now, tick)
						made, stops := g.Time, 0
						g.Time = func(f flake) time.Time {
							if stops++; stops%97 == 0 { // the process stands still
								own.set(func() { own.hang = true })
								time.Sleep(time.Duration(choices.Int64N(int64(4 * time.Minute))))
								own.set(func() { own.hang = false })
							}
							return made(f)
						}
						guard := NewGuard(l, g)
						var callers sync.WaitGroup
						for range 2 {
							callers.Go(func() {
								for range 200 {
									ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
									id, err := guard.Next(ctx)
									cancel()
									if err == nil {
										book.add(t, id, name)
									}
									time.Sleep(time.Duration(rand.Int64N(int64(2 * time.Second))))
								}
							})
						}
						callers.Wait()
						if choices.IntN(2) == 0 {
							abandon(l)
						} else {
							l.Close(t.Context()) // fails while the store is down
						}
						ahead.Store(0)
					}
				})
				wg.Go(func() {
					for time.Now().Before(end) {
						time.Sleep(time.Duration(rand.Int64N(int64(3 * time.Minute))))
						ahead.Store(rand.Int64N(int64(16*time.Second)) - int64(8*time.Second))
					}
				})
			}
			for time.Now().Before(end) {
				time.Sleep(time.Duration(r.Int64N(int64(2 * time.Minute))))
				switch r.IntN(3) {
				case 0:
					n.set(func() { n.down = true })
					time.Sleep(time.Duration(r.Int64N(int64(3 * time.Minute))))
					n.set(func() { n.down = false })
				default:
					for _, h := range held(t, n.Store) {
						if r.IntN(2) == 0 {
							Evict(t.Context(), n.Store, "workers", h.Block, Owner{})
						}
					}
				}
			}
			wg.Wait()
			makers := map[string]int{}
			for _, who := range book.seen {
				makers[who]++
			}
			if len(makers) != 6 {
				t.Errorf("IDs by %v", makers)
			}
		})
	}
}
