package scru160

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
	// RollbackReset starts afresh at the clock's time with a new random counter. The
	// order of IDs is broken; uniqueness rests on their random bits, as it does between
	// any two generators. This is the default, but not with a lease.
	RollbackReset RollbackPolicy = iota
	// RollbackAbort returns ErrClockRollback until the clock has caught up. With a lease
	// this is the default.
	RollbackAbort
	// RollbackWait blocks until the clock is back within the allowance or the context
	// ends.
	RollbackWait
)

const (
	unseen = -1 << 63 // no time that a clock shows
	chunk  = 4096     // IDs of one clock reading in Fill: some tens of microseconds
)

// A Generator makes IDs that strictly increase while the clock does not go back by
// more than the allowance.
//
//	Method                    Time from            Concurrent use   On a big rollback
//	Generate, Fill, All       the system's clock   safe             the policy
//	...Context                or WithClock's       safe             the policy
//
// A tick is a millisecond, or a microsecond [WithMicroseconds]. At each new tick the
// counter starts at a random number with its top bit clear; within a tick it goes up by
// one. So a tick has room for half as many IDs as the counter has values, and one more,
// at least: 32,769 in a millisecond by default. When the counter is full the call
// waits for the next tick, since the timestamp must be the Unix time: until the clock
// has passed the last timestamp, which takes longer if the clock went back. A context
// bounds the wait; its end is [ErrOverflow].
//
// With a lease the node ID and the milliseconds are those that the lease grants; see
// [WithLease].
//
// One generator that many goroutines share keeps the order over all of them, at the
// price of a lock; a generator each is faster on many cores, and then IDs are in order
// for each goroutine only, and each has a counter of its own to fill.
type Generator struct {
	mu    sync.Mutex
	clock clock.Clock
	rand  entropy.Source

	tick    int64  // of the last ID: Unix time in milliseconds or microseconds
	head    uint64 // that tick in its place in an ID's high 64 bits
	counter uint64 // of the last ID, with its extension
	seen    int64  // the clock's time for which tick is settled
	until   int64  // with errWait: what to wait for, Unix microseconds, or a tick of the lease
	why     error  // with errWait: what is wrong before that

	full   uint64 // the largest counter
	start  uint64 // the bits of the counter that start at random
	ext    int    // bits of the counter in random16
	node   uint64 // the node ID in its place in an ID's middle 64 bits
	random uint64 // the random bits of these

	allowance int64 // ticks
	policy    RollbackPolicy
	micros    bool

	lease  *window.Window // nil without a lease
	config config
}

// config holds the options that layout checks together.
type config struct {
	allowance        time.Duration
	width, ext       int // width is negative where no option sets it
	nodeID, nodeBits int
	reset            bool // is not the default but an option's
}

// errWait says that the clock, or the lease, must reach g.until first.
var errWait = errors.New("scru160: wait")

// An Option sets up a [Generator].
type Option func(*Generator) error

// WithClock makes now the clock, to be called for each ID, in Fill for each 4096, and
// while a call waits also from several goroutines at once. It must not panic, which would
// leave the generator locked. Without it a generator reads the system's clock, with a
// timestamp that is at most 0.1 ms old.
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
// with the last timestamp. It must not be negative; it counts in whole ticks.
func WithRollbackAllowance(d time.Duration) Option {
	return func(g *Generator) error {
		if d < 0 {
			return fmt.Errorf("%w: WithRollbackAllowance: %v is negative", ErrOption, d)
		}
		g.config.allowance = d
		return nil
	}
}

// WithRollbackPolicy sets what happens when the clock goes back further.
func WithRollbackPolicy(p RollbackPolicy) Option {
	return func(g *Generator) error {
		if p > RollbackWait {
			return fmt.Errorf("%w: WithRollbackPolicy: no policy %d", ErrOption, p)
		}
		g.policy, g.config.reset = p, p == RollbackReset
		return nil
	}
}

// WithMicroseconds puts the microsecond part of the time, 0 to 999, into the high 10
// bits of the counter field, and counts within the microsecond in the low 6 bits, from
// a random start of 5 bits. So the tick is a microsecond and has room for 33 IDs at
// least, and IDs of several generators sort by the microsecond. The clock is read for
// each ID, which costs more than all the rest, and should be good to the microsecond.
// Fill reads it for each run of IDs that fit in one microsecond.
func WithMicroseconds() Option {
	return func(g *Generator) error {
		g.micros = true
		return nil
	}
}

// WithCounterWidth sets how many low bits of the counter start at random at each new
// tick; the others start at zero. Fewer random bits leave room for more IDs in a tick
// and make the next ID easier to guess: with 0 bits a millisecond holds 65,536 IDs. The
// most, and the default, is all bits but the top one: 15, or 5 with [WithMicroseconds],
// and as many more as [WithCounterExtension] adds.
func WithCounterWidth(bits int) Option {
	return func(g *Generator) error {
		if bits < 0 {
			return fmt.Errorf("%w: WithCounterWidth: %d bits", ErrOption, bits)
		}
		g.config.width = bits
		return nil
	}
}

// WithCounterExtension lengthens the counter by k bits, 0 to 16, the high bits of the
// random16 field, so that a tick has room for 2^k times as many IDs. The counter counts
// and starts as one integer of all its bits.
func WithCounterExtension(k int) Option {
	return func(g *Generator) error {
		if k < 0 || k > 16 {
			return fmt.Errorf("%w: WithCounterExtension: %d bits, want 0 to 16", ErrOption, k)
		}
		g.config.ext = k
		return nil
	}
}

// WithNode puts id into the highest bits of the random16 field that
// [WithCounterExtension] leaves free, so that generators with different node IDs never
// make the same ID, if all of them have node IDs of one size and one counter extension.
// The size must be 0 to 16 bits, and id must fit.
func WithNode(id uint16, bits int) Option {
	return func(g *Generator) error {
		if bits < 0 || bits > 16 {
			return fmt.Errorf("%w: WithNode: %d bits, want 0 to 16", ErrOption, bits)
		}
		if int(id)>>bits != 0 {
			return fmt.Errorf("%w: WithNode: %d has more than %d bits", ErrOption, id, bits)
		}
		g.config.nodeID, g.config.nodeBits = int(id), bits
		return nil
	}
}

// WithLease takes the node ID, and the milliseconds that IDs may carry, from a lease, which
// is a *lease.Lease of format lease.SCRU160; it stands in the place of [WithNode]. The
// generator claims each millisecond before its first ID, so no pause and no clock lets an
// ID out of the lease's window; within the millisecond an ID costs nothing more than
// without a lease. Node ID and timestamp are the lease's: the node ID may change from one
// millisecond to the next, the timestamp may be ahead of the clock, which counts as a
// rollback of that size. The clock must be the lease's.
//
// At the end of the window the generator fails with [ErrLeaseExpired], or with
// [RollbackWait] it blocks, until the lease is renewed. After the lease is closed it fails
// with lease.ErrClosed for ever, once the millisecond that it is in has passed.
// [RollbackReset] cannot be had, and [RollbackAbort] is the default. Generators may share
// a lease; each millisecond goes to one of them, [WithMicroseconds], too.
//
// All generators of a realm must have one counter extension, for it decides where the
// node ID stands. The size of the node ID is the lease's, and together with the extension
// 16 bits at most.
func WithLease(l window.Lease) Option {
	return func(g *Generator) error {
		if l == nil || l.Window() == nil {
			return fmt.Errorf("%w: WithLease: the lease is nil", ErrOption)
		}
		w := l.Window()
		if err := w.Fits(time.Millisecond, time.UnixMilli(0)); err != nil {
			return fmt.Errorf("%w: WithLease: %w", ErrOption, err)
		}
		g.lease = w
		return nil
	}
}

// NewGenerator returns a generator, or [ErrOption] and the option that is wrong.
func NewGenerator(opts ...Option) (*Generator, error) {
	g := &Generator{
		clock:  clock.System(),
		rand:   entropy.System(),
		tick:   unseen,
		seen:   unseen,
		config: config{allowance: DefaultRollbackAllowance, width: -1},
	}
	for _, opt := range opts {
		if err := opt(g); err != nil {
			return nil, err
		}
	}
	if err := g.settle(); err != nil {
		return nil, err
	}
	if err := g.layout(); err != nil {
		return nil, err
	}
	return g, nil
}

// settle makes the lease, if there is one, the owner of the node ID and of each tick.
func (g *Generator) settle() error {
	c := &g.config
	switch {
	case g.lease == nil:
		return nil
	case c.nodeBits > 0:
		return fmt.Errorf("%w: WithLease and WithNode exclude each other: the lease has the node ID", ErrOption)
	case c.reset:
		return fmt.Errorf("%w: WithLease and RollbackReset exclude each other", ErrOption)
	case g.policy == RollbackReset:
		g.policy = RollbackAbort
	}
	c.nodeBits = g.lease.NodeIDSize()
	return nil
}

// layout divides the ID among the counter, the node ID and random bits.
func (g *Generator) layout() error {
	c := &g.config
	if c.ext+c.nodeBits > 16 {
		node := "WithNode"
		if g.lease != nil {
			node = "WithLease"
		}
		return fmt.Errorf("%w: WithCounterExtension and %s: %d and %d bits are more than the 16 of random16",
			ErrOption, node, c.ext, c.nodeBits)
	}
	unit, size := time.Millisecond, 16+c.ext
	if g.micros {
		unit, size = time.Microsecond, 6+c.ext
	}
	if c.width < 0 {
		c.width = size - 1
	}
	if c.width > size-1 {
		return fmt.Errorf("%w: WithCounterWidth: %d bits, want at most %d, one less than the counter has",
			ErrOption, c.width, size-1)
	}
	g.allowance = int64(c.allowance / unit)
	g.full, g.start, g.ext = 1<<size-1, 1<<c.width-1, c.ext
	g.node = g.placeNode(uint32(c.nodeID))
	g.random = 1<<(64-c.ext-c.nodeBits) - 1
	return nil
}

// placeNode returns a node ID in its place in an ID's middle 64 bits.
func (g *Generator) placeNode(id uint32) uint64 {
	return uint64(id) << (64 - g.config.ext - g.config.nodeBits)
}

var global = func() *Generator {
	g, err := NewGenerator()
	if err != nil {
		panic(err)
	}
	return g
}()

// New returns an ID of the process-wide generator, which all goroutines share and
// which follows the defaults. It panics if the system's clock shows a time before
// 1970-01-01T00:00:00.001Z or after the year 10889, which no ID can carry, and never
// else. With all IDs of a millisecond used up it waits for the next one.
func New() (id ID) {
	if err := global.generate(context.Background(), &id); err != nil {
		panic(err)
	}
	return id
}

// NewString returns the text of [New].
func NewString() string { return New().String() }

// Generate returns the next ID. It fails with [ErrClockRollback], [ErrTimeRange],
// [ErrEntropy] or [ErrLeaseExpired]; with a full counter or [RollbackWait] it may block.
func (g *Generator) Generate() (id ID, err error) {
	err = g.generate(context.Background(), &id)
	return id, err
}

// GenerateContext is Generate, with a context that bounds its waiting. If it ends, the
// error matches the context's, and [ErrOverflow] or, with [RollbackWait],
// [ErrClockRollback] or [ErrLeaseExpired].
func (g *Generator) GenerateContext(ctx context.Context) (id ID, err error) {
	err = g.generate(ctx, &id)
	return id, err
}

// generate sets id, which must be zero, to the next ID; with an error it stays zero. The
// common case writes it before the unlock, which waits for all writes anyway: a copy of
// the ID right after the writes would else wait for them once more.
func (g *Generator) generate(ctx context.Context, id *ID) error {
	for {
		counter := clock.Counter() // before the lock, to keep that short
		g.mu.Lock()
		var now int64
		if g.micros {
			now = g.clock.Micro()
		} else {
			now = g.clock.Milli(counter)
		}
		if now == g.seen && g.counter < g.full {
			if mid, lo, ok := g.rand.Next96(); ok {
				hi, mid := g.step(mid)
				id.put(hi, mid, lo)
				g.mu.Unlock()
				return nil
			}
		}
		hi, mid, lo, err := g.next(now)
		until, why := g.until, g.why
		g.mu.Unlock()
		if err != errWait {
			id.put(hi, mid, lo)
			return err
		}
		if err := g.wait(ctx, until, why); err != nil {
			return err
		}
	}
}

// Fill sets every element of ids to a new ID, in order. It reads the clock and takes
// the lock once for every 4096 IDs, or for as many as fit in the tick. Its errors are
// those of Generate; then ids is cleared, and IDs already made are lost.
func (g *Generator) Fill(ids []ID) error { return g.FillContext(context.Background(), ids) }

// FillContext is Fill, with a context as in GenerateContext.
func (g *Generator) FillContext(ctx context.Context, ids []ID) error {
	for rest := ids; len(rest) > 0; {
		counter := clock.Counter()
		g.mu.Lock()
		n, err := g.fill(g.now(counter), rest[:min(len(rest), chunk)])
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

func (g *Generator) wait(ctx context.Context, until int64, why error) error {
	if why == ErrLeaseExpired {
		return g.lease.Wait(ctx, until)
	}
	if err := g.clock.Pause(ctx, until); err != nil {
		return fmt.Errorf("%w; gave up waiting: %w", why, err)
	}
	return nil
}

// now returns the clock's time in ticks.
func (g *Generator) now(counter uint64) int64 {
	if g.micros {
		return g.clock.Micro()
	}
	return g.clock.Milli(counter)
}

// next makes the next ID, as its bits from high to low, at the clock's time now.
func (g *Generator) next(now int64) (hi, mid uint64, lo uint32, err error) {
	if now != g.seen || g.counter == g.full {
		return g.turn(now)
	}
	mid, lo, err = g.entropy()
	if err != nil {
		return 0, 0, 0, err
	}
	hi, mid = g.step(mid)
	return hi, mid, lo, nil
}

// step is the common case: the tick stays, and the counter is not full. It returns the
// ID's high and middle bits.
func (g *Generator) step(random uint64) (hi, mid uint64) {
	g.counter++
	return g.place(random)
}

// place returns the high and the middle bits of the ID with the generator's tick and
// counter, given random bits for the rest of the middle.
func (g *Generator) place(random uint64) (hi, mid uint64) {
	return g.head | g.counter>>g.ext, g.counter<<(64-g.ext) | g.node | random&g.random
}

// fill is next for many IDs, and returns how many it made.
func (g *Generator) fill(now int64, ids []ID) (int, error) {
	for i := range ids {
		if now == g.seen && g.counter < g.full {
			if mid, lo, ok := g.rand.Next96(); ok {
				hi, mid := g.step(mid)
				ids[i].put(hi, mid, lo)
				continue
			}
		}
		hi, mid, lo, err := g.next(now)
		if err != nil {
			return i, err
		}
		ids[i].put(hi, mid, lo)
	}
	return len(ids), nil
}

// turn is next where the clock has moved or the counter is full.
func (g *Generator) turn(now int64) (hi, mid uint64, lo uint32, err error) {
	g.rand.Tick(g.time(now).UnixMilli())
	switch {
	case now > g.tick:
		return g.begin(now)
	case now+g.allowance < g.tick:
		return g.behind(now)
	case g.counter == g.full:
		return g.waitFor(g.time(g.tick+1).UnixMicro(), ErrOverflow)
	}
	g.seen = now
	return g.next(now)
}

// behind does what the policy says where the clock's time now is too far behind the
// generator's tick.
func (g *Generator) behind(now int64) (hi, mid uint64, lo uint32, err error) {
	switch g.policy {
	case RollbackAbort:
		return 0, 0, 0, fmt.Errorf("%w: it shows %v, the last ID %v", ErrClockRollback,
			g.time(now), g.time(g.tick))
	case RollbackWait:
		return g.waitFor(g.time(g.tick-g.allowance).UnixMicro(), ErrClockRollback)
	default:
		return g.begin(now)
	}
}

func (g *Generator) waitFor(until int64, why error) (hi, mid uint64, lo uint32, err error) {
	g.until, g.why = until, why
	return 0, 0, 0, errWait
}

// time returns the time of a tick.
func (g *Generator) time(tick int64) time.Time {
	if g.micros {
		return time.UnixMicro(tick).UTC()
	}
	return time.UnixMilli(tick).UTC()
}

// begin makes the first ID of the clock's time now.
func (g *Generator) begin(now int64) (hi, mid uint64, lo uint32, err error) {
	if g.lease == nil || g.micros && now/1000 == g.tick/1000 {
		return g.first(now, now, g.node)
	}
	return g.claim(now)
}

// claim is begin on a lease where a new millisecond begins, for which it may allow a later
// one only.
func (g *Generator) claim(now int64) (hi, mid uint64, lo uint32, err error) {
	unit := int64(1) // ticks in a millisecond
	if g.micros {
		unit = 1000
	}
	grant, timestamp, err := g.lease.Claim(now / unit)
	switch {
	case err == nil:
	case g.policy == RollbackWait:
		return g.waitFor(now/unit, ErrLeaseExpired)
	default:
		return 0, 0, 0, err
	}
	tick := max(now, timestamp*unit)
	hi, mid, lo, err = g.first(now, tick, g.placeNode(grant.NodeID))
	if err == nil && now+g.allowance < tick {
		g.counter-- // to be the first ID once the clock is near
		g.seen = unseen
		return g.behind(now)
	}
	return hi, mid, lo, err
}

// first makes the first ID of a tick, settled for the clock's time seen.
func (g *Generator) first(seen, tick int64, node uint64) (hi, mid uint64, lo uint32, err error) {
	timestamp, micro := tick, int64(0)
	if g.micros {
		timestamp, micro = tick/1000, tick%1000
	}
	if timestamp <= 0 || timestamp >= MaxTimestamp {
		return 0, 0, 0, fmt.Errorf("%w: it shows %v", ErrTimeRange, g.time(tick))
	}
	w, err := g.rand.Uint32()
	if err != nil {
		return 0, 0, 0, entropyError(err)
	}
	mid, lo, err = g.entropy()
	if err != nil {
		return 0, 0, 0, err
	}
	g.seen, g.tick, g.node = seen, tick, node
	g.head = uint64(timestamp)<<16 | uint64(micro)<<6
	g.counter = uint64(w) & g.start
	hi, mid = g.place(mid)
	return hi, mid, lo, nil
}

// entropy returns 96 random bits.
func (g *Generator) entropy() (mid uint64, lo uint32, err error) {
	if mid, err = g.rand.Uint64(); err == nil {
		lo, err = g.rand.Uint32()
	}
	if err != nil {
		return 0, 0, entropyError(err)
	}
	return mid, lo, nil
}

func entropyError(err error) error { return fmt.Errorf("%w: %w", ErrEntropy, err) }
