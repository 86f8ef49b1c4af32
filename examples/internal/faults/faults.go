// Package faults tests generators on leased node IDs under faults, in virtual time.
package faults

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

	"github.com/sortid/sortid/lease"
)

const (
	realm     = "orders"
	processes = 5
	span      = 2 * time.Hour // how long the processes run
)

var errAway = errors.New("the store is away")

// A connection of a process to the store. While it is away, no request comes through.
type connection struct {
	lease.Store
	away *atomic.Bool // of the store
	cut  atomic.Bool  // of this connection
}

func (c *connection) CompareAndSet(ctx context.Context, prev, next lease.Record) (bool, error) {
	if c.away.Load() || c.cut.Load() {
		return false, errAway
	}
	return c.Store.CompareAndSet(ctx, prev, next)
}

func (c *connection) Time(ctx context.Context) (time.Time, error) {
	if c.away.Load() || c.cut.Load() {
		return time.Time{}, errAway
	}
	return c.Store.Time(ctx)
}

// A book has all IDs and their makers.
type book struct {
	mu   sync.Mutex
	seen map[int64]string
}

func (b *book) add(t *testing.T, id int64, who string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if first, twice := b.seen[id]; twice {
		t.Errorf("ID %d was made by %s and by %s", id, first, who)
	}
	b.seen[id] = who
}

// Test checks that no ID is made twice. Several processes share a realm of four node IDs. The store
// is away at times, processes stand still, leases are evicted, clocks of leases are set, and
// processes end with and without a release. Each process calls the function newNext with its lease
// for a function that makes IDs.
func Test(t *testing.T, newNext func(*lease.Lease) (func(context.Context) (int64, error), error)) {
	for seed := range uint64(5) {
		synctest.Test(t, func(t *testing.T) {
			time.Sleep(time.Until(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)))
			config := lease.Config{Realm: realm, NodeBits: 2, Wait: true, MustExist: true}
			store, away := lease.NewMemory(), new(atomic.Bool)
			if _, err := lease.Create(t.Context(), store, config); err != nil {
				t.Fatal(err)
			}
			b := &book{seen: map[int64]string{}}
			end := time.Now().Add(span)
			var wg sync.WaitGroup
			for i := range processes {
				p := &process{T: t, name: fmt.Sprint("process ", i), end: end, book: b,
					connection: &connection{Store: store, away: away},
					rand:       rand.New(rand.NewPCG(seed, uint64(i)))}
				wg.Go(func() { p.run(config, newNext) })
			}
			trouble(t, store, away, end, rand.New(rand.NewPCG(seed, 99)))
			wg.Wait()
			makers := map[string]int{}
			for _, who := range b.seen {
				makers[who]++
			}
			for i := range processes {
				if name := fmt.Sprint("process ", i); makers[name] < 100 {
					t.Errorf("%s made %d IDs", name, makers[name])
				}
			}
		})
	}
}

// trouble lets the store be away, and evicts leases.
func trouble(t *testing.T, store lease.Store, away *atomic.Bool, end time.Time, r *rand.Rand) {
	for time.Now().Before(end) {
		time.Sleep(time.Duration(r.Int64N(int64(4 * time.Minute))))
		if r.IntN(3) == 0 {
			away.Store(true)
			time.Sleep(time.Duration(r.Int64N(int64(4 * time.Minute))))
			away.Store(false)
			continue
		}
		_, records, err := lease.Records(t.Context(), store, realm)
		if err != nil {
			t.Error(err)
		}
		for _, rec := range records {
			if r.IntN(2) == 0 {
				if _, err := lease.Evict(t.Context(), store, realm, rec.Block, lease.Owner{}); err != nil {
					t.Error(err)
				}
			}
		}
	}
	away.Store(false)
}

type process struct {
	*testing.T
	name       string
	end        time.Time
	book       *book
	connection *connection
	rand       *rand.Rand
	skew       atomic.Int64 // of the lease's clock
}

func (p *process) run(config lease.Config,
	newNext func(*lease.Lease) (func(context.Context) (int64, error), error)) {
	config.Name = p.name
	config.Now = func() time.Time { return time.Now().Add(time.Duration(p.skew.Load())) }
	for time.Now().Before(p.end) {
		ctx, cancel := context.WithTimeout(p.Context(), 10*time.Minute)
		l, err := lease.Acquire(ctx, p.connection, config)
		cancel()
		if err != nil {
			continue // the store is away, or others have the node IDs
		}
		next, err := newNext(l)
		if err != nil {
			p.Error(err)
			return
		}
		for range 50 + p.rand.IntN(400) {
			p.step(next)
		}
		if p.rand.IntN(3) == 0 {
			// It ends without a release.
			p.connection.cut.Store(true)
			l.Close(p.Context())
			p.connection.cut.Store(false)
		} else {
			l.Close(p.Context()) // fails while the store is away
		}
	}
}

// step makes some IDs at once, and then waits or stands still.
func (p *process) step(next func(context.Context) (int64, error)) {
	ctx, cancel := context.WithTimeout(p.Context(), 20*time.Second)
	defer cancel()
	for range 1 + p.rand.IntN(5) {
		if id, err := next(ctx); err == nil {
			p.book.add(p.T, id, p.name)
		}
	}
	switch p.rand.IntN(100) {
	case 0: // it stands still: its lease is not renewed
		p.connection.cut.Store(true)
		time.Sleep(time.Duration(p.rand.Int64N(int64(5 * time.Minute))))
		p.connection.cut.Store(false)
	case 1:
		p.skew.Store(p.rand.Int64N(int64(16*time.Second)) - int64(8*time.Second))
	default:
		// To a full second, so that processes make IDs at the same moments.
		time.Sleep(time.Until(time.Now().Truncate(time.Second).Add(time.Second)))
	}
}
