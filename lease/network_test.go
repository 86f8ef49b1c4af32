package lease

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sortid/sortid/internal/check"
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
	return Config{Realm: "realm", Format: SCRU64(), NodeBits: size}
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
	if cut := textless(err); cut != "" {
		t.Errorf("%s: the text has only %q of %q", what, cut, err)
	}
}

// textless returns what the method Text of an error returns, if a part of the error is missing in
// it. The error may wrap only one other.
func textless(err error) string {
	of := interface{ Text() string }(nil)
	_, several := err.(interface{ Unwrap() []error })
	if several || !errors.As(err, &of) || err.Error() == "lease: "+of.Text() {
		return ""
	}
	return of.Text()
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

// held returns the records of held blocks in all realms.
func held(t *testing.T, s Store) (records []Record) {
	t.Helper()
	realms := check.Must(s.Realms(t.Context()))(t)
	for _, realm := range realms {
		_, blocks, err := Records(t.Context(), s, realm)
		check.OK(t, err)
		records = append(records, blocks...)
	}
	return slices.DeleteFunc(records, func(r Record) bool { return r.Owner == (Owner{}) })
}

func claim(l *Lease, ahead time.Duration) error {
	_, _, err := l.ClaimTick(time.Now().Add(ahead).UnixMilli() / 256)
	return err
}

func acquire(t *testing.T, s Store, c Config) *Lease {
	t.Helper()
	l := check.Must(Acquire(t.Context(), s, c))(t)
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
