package uid60

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"sync"
	"time"

	"github.com/sortid/sortid/internal/clock"
	"github.com/sortid/sortid/internal/entropy"
	"github.com/sortid/sortid/internal/window"
)

// DefaultRollbackAllowance is how far the clock may go back without any effect on the
// order of IDs.
const DefaultRollbackAllowance = 10 * time.Second

// A RollbackPolicy says what a generator does when the clock has gone back by more than
// the allowance.
type RollbackPolicy uint8

const (
	// RollbackAbort returns ErrClockRollback until the clock has caught up. This is the
	// default.
	RollbackAbort RollbackPolicy = iota
	// RollbackWait blocks until the clock is back within the allowance or the context
	// ends.
	RollbackWait
	// RollbackReset goes on at the clock's time.
	//
	// DANGER: THIS CAN MAKE IDS THAT EXIST ALREADY. The order of IDs is broken, and the
	// generator goes through milliseconds that it has been in before: two of its IDs
	// with the same sequence differ only if their random bits do, of which there are
	// nine at most, and with a worker ID of nine bits none.
	RollbackReset
)

// unseen is no time that a clock shows.
const unseen = -1 << 63

// A Generator makes IDs that strictly increase, at most 512 in a millisecond.
//
//	Method                    Time from            Concurrent use   On a big rollback
//	Generate, Fill, All       the system's clock   safe             the policy
//	...Context                or WithClock's       safe             the policy
//
// The sequence starts at 0, goes up by one for each ID and from one millisecond to the
// next, and after 511 starts at 0 again. As it may do so only between milliseconds, a
// generator that has used 511 waits for the clock to reach the next millisecond: hardly
// more than a millisecond as a rule, but as long as the clock needs to catch up after it
// was set back within the allowance. A context bounds the wait; its end is [ErrOverflow].
//
// With a lease the worker ID and the milliseconds are those that the lease grants; see
// [WithLease].
//
// One generator that many goroutines share keeps the order over all of them and makes no
// ID twice. Several generators need a worker ID each for that, or a lease; see [WithWorker]
// and [WithLease].
type Generator struct {
	mu    sync.Mutex
	clock clock.Clock
	rand  entropy.Source

	last      ID    // the last ID, save for its random bits
	end       ID    // the same with sequence 511
	timestamp int64 // of the last ID
	seen      int64 // the clock's time, since the epoch, for which timestamp is settled
	until     int64 // with errWait: the time to wait for, or the tick of the lease
	why       error // with errWait: what is wrong before that

	lease     *window.Window // nil without a lease
	worker    ID             // where it belongs
	free      int            // bits of random beside the worker ID
	allowance int64          // milliseconds
	policy    RollbackPolicy
}

// errWait says that the clock, or the lease, must reach g.until first.
var errWait = errors.New("uid60: wait")

// An Option sets up a [Generator].
type Option func(*Generator) error

// WithClock makes now the clock, to be called for each ID, in Fill for each millisecond,
// and while a call waits also from several goroutines at once. It must not panic, which
// would leave the generator locked. Without it a generator reads the system's clock, with
// a timestamp that is at most 0.1 ms old. If a clock stands still, the 513th ID waits for
// it.
func WithClock(now func() time.Time) Option {
	return func(g *Generator) error {
		if now == nil {
			return fmt.Errorf("%w: WithClock: the function is nil", ErrOption)
		}
		g.clock = clock.Injected(now)
		return nil
	}
}

// WithEntropy makes r the source of random bits, read in full or the call fails; it
// must be cryptographically strong. Without it a generator uses ChaCha8, seeded from
// the operating system at least once in each second of use. A generator never reads r
// from two goroutines at once.
func WithEntropy(r io.Reader) Option {
	return func(g *Generator) error {
		if r == nil {
			return fmt.Errorf("%w: WithEntropy: the reader is nil", ErrOption)
		}
		g.rand = entropy.From(r)
		return nil
	}
}

// WithRollbackAllowance sets how far the clock may go back while the generator goes on
// with the last timestamp. It must not be negative; it counts in whole milliseconds.
func WithRollbackAllowance(d time.Duration) Option {
	return func(g *Generator) error {
		if d < 0 {
			return fmt.Errorf("%w: WithRollbackAllowance: %v is negative", ErrOption, d)
		}
		g.allowance = d.Milliseconds()
		return nil
	}
}

// WithRollbackPolicy sets what happens when the clock goes back further. Mind the danger
// of [RollbackReset].
func WithRollbackPolicy(p RollbackPolicy) Option {
	return func(g *Generator) error {
		if p > RollbackReset {
			return fmt.Errorf("%w: WithRollbackPolicy: no policy %d", ErrOption, p)
		}
		g.policy = p
		return nil
	}
}

// WithWorker puts a worker ID of 1 to 9 bits into the high bits of random, in each ID;
// the rest remains random. IDs of generators with different worker IDs of one size are
// never the same. Other sizes or an id with more bits are an error.
func WithWorker(id uint16, bits int) Option {
	return func(g *Generator) error {
		if bits < 1 || bits > sequenceShift {
			return fmt.Errorf("%w: WithWorker: %d bits, want 1 to %d", ErrOption, bits, sequenceShift)
		}
		if id>>bits != 0 {
			return fmt.Errorf("%w: WithWorker: %d, want at most %d for %d bits", ErrOption, id, 1<<bits-1, bits)
		}
		g.free = sequenceShift - bits
		g.worker = ID(id) << g.free
		return nil
	}
}

// WithLease takes the worker ID, and the milliseconds that IDs may carry, from a lease,
// which is a *lease.Lease of format lease.UID60; it stands in the place of [WithWorker].
// The generator claims each millisecond before its first ID, so no pause and no clock lets
// an ID out of the lease's window; within the millisecond an ID costs nothing more than
// without a lease. Worker ID and timestamp are the lease's: the worker ID may change from
// one millisecond to the next, the timestamp may be ahead of the clock, which counts as a
// rollback of that size. The clock must be the lease's.
//
// At the end of the window the generator fails with [ErrLeaseExpired], or with
// [RollbackWait] it blocks, until the lease is renewed. After the lease is closed it fails
// with lease.ErrClosed for ever, once the millisecond that it is in has passed.
// [RollbackReset] cannot be had. Generators may share a lease; each millisecond goes to
// one of them.
func WithLease(l window.Lease) Option {
	return func(g *Generator) error {
		if l == nil || l.Window() == nil {
			return fmt.Errorf("%w: WithLease: the lease is nil", ErrOption)
		}
		w := l.Window()
		if err := w.Fits(time.Millisecond, time.UnixMilli(epoch)); err != nil {
			return fmt.Errorf("%w: WithLease: %w", ErrOption, err)
		}
		if size := w.NodeIDSize(); size < 1 || size > sequenceShift {
			return fmt.Errorf("%w: WithLease: a worker ID of %d bits, want 1 to %d", ErrOption, size, sequenceShift)
		}
		g.lease = w
		return nil
	}
}

// NewGenerator returns a generator, or [ErrOption] and the option that is wrong.
func NewGenerator(opts ...Option) (*Generator, error) {
	g := &Generator{
		clock:     clock.System(),
		rand:      entropy.System(),
		last:      MaxSequence << sequenceShift, // so that 0 comes next
		timestamp: unseen,
		seen:      unseen,
		free:      sequenceShift,
		allowance: DefaultRollbackAllowance.Milliseconds(),
	}
	for _, opt := range opts {
		if err := opt(g); err != nil {
			return nil, err
		}
	}
	switch {
	case g.lease == nil:
	case g.free < sequenceShift:
		return nil, fmt.Errorf("%w: WithLease and WithWorker exclude each other: the lease has the worker ID", ErrOption)
	case g.policy == RollbackReset:
		return nil, fmt.Errorf("%w: WithLease and RollbackReset exclude each other", ErrOption)
	default:
		g.free = sequenceShift - g.lease.NodeIDSize()
	}
	return g, nil
}

var global = func() *Generator {
	g, err := NewGenerator()
	if err != nil {
		panic(err)
	}
	return g
}()

// New returns an ID of the process-wide generator, which all goroutines share and which
// follows the defaults: it has no worker ID. Its errors are those of
// [Generator.Generate].
func New() (ID, error) { return global.generate(context.Background()) }

// NewString returns the text of [New], or its error.
func NewString() (string, error) {
	id, err := New()
	if err != nil {
		return "", err
	}
	return id.String(), nil
}

// Generate returns the next ID. It fails with [ErrClockRollback], [ErrTimeRange],
// [ErrEntropy] or [ErrLeaseExpired]. It may block: for the next millisecond, and with
// [RollbackWait].
func (g *Generator) Generate() (ID, error) { return g.generate(context.Background()) }

// GenerateContext is Generate, with a context that bounds the waiting. If it ends, the
// error matches the context's, and [ErrOverflow] or, with [RollbackWait],
// [ErrClockRollback] or [ErrLeaseExpired].
func (g *Generator) GenerateContext(ctx context.Context) (ID, error) { return g.generate(ctx) }

func (g *Generator) generate(ctx context.Context) (ID, error) {
	for {
		counter := clock.Counter() // before the lock, to keep that short
		g.mu.Lock()
		id, err := g.next(g.clock.Milli(counter) - epoch)
		until, why := g.until, g.why
		g.mu.Unlock()
		if err != errWait {
			return id, err
		}
		if err := g.wait(ctx, until, why); err != nil {
			return 0, err
		}
	}
}

// Fill sets every element of ids to a new ID, in order. It reads the clock and takes the
// lock once for each millisecond that it needs. Its errors are those of Generate; then
// ids is cleared, and IDs already made are lost.
func (g *Generator) Fill(ids []ID) error { return g.FillContext(context.Background(), ids) }

// FillContext is Fill, with a context as in GenerateContext.
func (g *Generator) FillContext(ctx context.Context, ids []ID) error {
	for rest := ids; len(rest) > 0; {
		counter := clock.Counter()
		g.mu.Lock()
		n, err := g.fill(g.clock.Milli(counter)-epoch, rest)
		until, why := g.until, g.why
		g.mu.Unlock()
		rest = rest[n:]
		if err == errWait {
			err = g.wait(ctx, until, why)
		}
		if err != nil {
			clear(ids)
			return err
		}
	}
	return nil
}

// All returns an endless sequence of what Generate returns.
func (g *Generator) All() iter.Seq2[ID, error] {
	return func(yield func(ID, error) bool) {
		for yield(g.Generate()) {
		}
	}
}

// wait may return early, so that a clock that is set back meanwhile meets the policy.
func (g *Generator) wait(ctx context.Context, until int64, why error) error {
	if why == ErrLeaseExpired {
		return g.lease.Wait(ctx, until)
	}
	if err := g.clock.Pause(ctx, (until+epoch)*1000); err != nil {
		return fmt.Errorf("%w; gave up waiting: %w", why, err)
	}
	return nil
}

// next makes the next ID at the clock's time now, in milliseconds since the epoch.
func (g *Generator) next(now int64) (ID, error) {
	if now != g.seen || g.last == g.end {
		return g.turn(now)
	}
	random, err := g.random()
	if err != nil {
		return 0, err
	}
	g.last += 1 << sequenceShift
	return g.last | random, nil
}

// fill is next for many IDs, and returns how many it made.
func (g *Generator) fill(now int64, ids []ID) (int, error) {
	for i := range ids {
		id, err := g.next(now)
		if err != nil {
			return i, err
		}
		ids[i] = id
	}
	return len(ids), nil
}

// turn is next where the clock has moved or the sequence is used up.
func (g *Generator) turn(now int64) (ID, error) {
	g.rand.Tick(now + epoch)
	switch {
	case now > g.timestamp:
		return g.begin(now)
	case now+g.allowance < g.timestamp:
		return g.behind(now)
	case g.last == g.end:
		return g.waitFor(g.timestamp+1, ErrOverflow)
	}
	g.seen = now
	return g.next(now)
}

// behind does what the policy says where the clock's time now is too far behind the
// generator's timestamp.
func (g *Generator) behind(now int64) (ID, error) {
	switch g.policy {
	case RollbackAbort:
		return 0, fmt.Errorf("%w: it shows %v, the last ID %v", ErrClockRollback,
			timeOf(now), timeOf(g.timestamp))
	case RollbackWait:
		return g.waitFor(g.timestamp-g.allowance, ErrClockRollback)
	default:
		return g.begin(now)
	}
}

func (g *Generator) waitFor(until int64, why error) (ID, error) {
	g.until, g.why = until, why
	return 0, errWait
}

// begin makes the first ID of the clock's time now.
func (g *Generator) begin(now int64) (ID, error) {
	if g.lease != nil {
		return g.claim(now)
	}
	return g.first(now, now)
}

// claim is begin on a lease, which may allow a later timestamp only.
func (g *Generator) claim(now int64) (ID, error) {
	grant, timestamp, err := g.lease.Claim(now)
	switch {
	case err == nil:
	case g.policy == RollbackWait:
		return g.waitFor(now, ErrLeaseExpired)
	default:
		return 0, err
	}
	g.worker = ID(grant.NodeID) << g.free
	id, err := g.first(now, timestamp)
	if err == nil && now+g.allowance < timestamp {
		g.last -= 1 << sequenceShift // to be the first ID once the clock is near
		g.seen = unseen
		return g.behind(now)
	}
	return id, err
}

// first makes the first ID of a timestamp, settled for the clock's time seen. With it the
// sequence goes on.
func (g *Generator) first(seen, timestamp int64) (ID, error) {
	if timestamp <= 0 || timestamp >= MaxTimestamp {
		return 0, fmt.Errorf("%w: it shows %v", ErrTimeRange, timeOf(timestamp))
	}
	random, err := g.random()
	if err != nil {
		return 0, err
	}
	sequence := (ID(g.last.Sequence()) + 1) & MaxSequence
	g.last = ID(timestamp)<<timestampShift | sequence<<sequenceShift | g.worker
	g.end = g.last | MaxSequence<<sequenceShift
	g.timestamp, g.seen = timestamp, seen
	return g.last | random, nil
}

// random returns the random bits of one ID.
func (g *Generator) random() (ID, error) {
	if g.free == 0 {
		return 0, nil
	}
	w, err := g.rand.Uint32()
	if err != nil {
		return 0, fmt.Errorf("%w: %w", ErrEntropy, err)
	}
	return ID(w >> (32 - g.free)), nil
}

func timeOf(timestamp int64) time.Time { return time.UnixMilli(timestamp + epoch).UTC() }
