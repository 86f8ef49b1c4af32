package scru64

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"sync"
	"time"

	"github.com/sortid/sortid/internal/clock"
	"github.com/sortid/sortid/internal/entropy"
	"github.com/sortid/sortid/internal/window"
)

// DefaultRollbackAllowance is how far the clock may go back, or counter overflows may
// run ahead of it, without any effect: 39 whole ticks.
const DefaultRollbackAllowance = 10 * time.Second

// NodeSpecVar is the environment variable that configures the process-wide generator.
const NodeSpecVar = "SCRU64_NODE_SPEC"

// A RollbackPolicy says what a generator does when the clock has gone back by more than
// the allowance, or overflows have run ahead by more.
type RollbackPolicy uint8

const (
	// RollbackAbort returns ErrClockRollback until the clock has caught up. This is the
	// default.
	RollbackAbort RollbackPolicy = iota
	// RollbackWait blocks until the clock is back within the allowance or the context
	// ends.
	RollbackWait
	// RollbackReset starts afresh at the clock's time.
	//
	// DANGER: THIS CAN MAKE IDS THAT EXIST ALREADY. The generator goes through ticks
	// that it has been in before, with the same node ID, and nothing but the random
	// start of the counter keeps it from the same values. Use it only if other means
	// make sure that no ID of those ticks is left anywhere.
	RollbackReset
)

const (
	unseen = -1 << 63 // no tick that a clock shows
	chunk  = 4096     // IDs of one clock reading in Fill: some microseconds

	// From this node_id_size on, one guard bit is the default.
	guardedSize = 20
)

// A Generator makes IDs of one node that strictly increase.
//
//	Method                    Time from            Concurrent use   On a big rollback
//	Generate, Fill, All       the system's clock   safe             the policy
//	...Context                or WithClock's       safe             the policy
//
// Within a tick of 256 ms the counter goes up by one from a random start. When it is
// full the timestamp goes up by one, the counter starts at random again, and the
// timestamp's lead over the clock counts as a rollback of that size.
//
// With a lease the node ID and the ticks are those that the lease grants; see [WithLease].
//
// All goroutines share the one generator of their node. Two generators that run at the
// same time must differ in their node IDs, within a process, too.
type Generator struct {
	mu    sync.Mutex
	clock clock.Clock
	rand  entropy.Source

	last      ID    // the last ID
	end       ID    // the last ID of the same timestamp
	timestamp int64 // of the last ID
	seen      int64 // the clock's tick for which timestamp is settled
	until     int64 // with errWait: what to wait for, Unix milliseconds, or a tick of the lease
	why       error // with errWait: what is wrong before that

	lease     *window.Window // nil without a lease
	node      ID             // the node ID where it belongs
	counter   int
	guard     int // overflow guard bits; negative: the default
	start     func(timestamp uint64, counterSize int) uint32
	allowance int64 // ticks
	policy    RollbackPolicy
}

// errWait says that the clock, or the lease, must reach g.until first.
var errWait = errors.New("scru64: wait")

// An Option sets up a [Generator].
type Option func(*Generator) error

// WithClock makes now the clock, to be called for each ID, in Fill for each 4096, and
// while a call waits also from several goroutines at once. It must not panic, which would
// leave the generator locked. Without it a generator reads the system's clock, with a
// time that is at most 0.1 ms old.
func WithClock(now func() time.Time) Option {
	return func(g *Generator) error {
		if now == nil {
			return fmt.Errorf("%w: WithClock: the function is nil", ErrOption)
		}
		g.clock = clock.Injected(now)
		return nil
	}
}

// WithEntropy makes r the source of the counter's random starts, read in full or the
// call fails. No ID's uniqueness rests on it, so it need not be cryptographically strong.
// Without it a generator uses ChaCha8, seeded from the operating system. A generator
// never reads r from two goroutines at once.
func WithEntropy(r io.Reader) Option {
	return func(g *Generator) error {
		if r == nil {
			return fmt.Errorf("%w: WithEntropy: the reader is nil", ErrOption)
		}
		g.rand = entropy.From(r)
		return nil
	}
}

// WithRollbackAllowance sets how far the clock may go back, or the timestamp run ahead
// of it, while the generator goes on. It must not be negative; it counts in whole ticks
// of 256 ms.
func WithRollbackAllowance(d time.Duration) Option {
	return func(g *Generator) error {
		if d < 0 {
			return fmt.Errorf("%w: WithRollbackAllowance: %v is negative", ErrOption, d)
		}
		g.allowance = int64(d / Tick)
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

// WithOverflowGuard makes the given number of the counter's high bits start at zero in
// each tick, the rest at random. So at least
//
//	2^counter_size - 2^(counter_size - bits) + 1
//
// IDs fit a tick, counter_size being 24 - node_id_size; and with bits = counter_size,
// where each tick starts at zero, all 2^counter_size. More bits than that are an error.
// The default is one bit if node_id_size is 20 or more, else none.
func WithOverflowGuard(bits int) Option {
	return func(g *Generator) error {
		if bits < 0 {
			return fmt.Errorf("%w: WithOverflowGuard: %d bits", ErrOption, bits)
		}
		g.guard = bits
		return nil
	}
}

// WithCounterStart makes start choose where the counter starts in each new tick, in
// place of a random number and of [WithOverflowGuard]. It is given the timestamp and
// the counter's size in bits and must return a number below 2^counterSize, or the call
// fails with [ErrCounterStart] and the next one asks again. It is called while the
// generator is locked, so it must not call the generator, and never from two goroutines
// at once. An asked-for start may remain without an ID: what follows may fail.
func WithCounterStart(start func(timestamp uint64, counterSize int) uint32) Option {
	return func(g *Generator) error {
		if start == nil {
			return fmt.Errorf("%w: WithCounterStart: the function is nil", ErrOption)
		}
		g.start = start
		return nil
	}
}

// WithLease takes the node ID, and the ticks that IDs may carry, from a lease, which is a
// *lease.Lease of format lease.SCRU64; the NodeSpec must be the zero one. The generator
// claims each tick before its first ID, so no pause and no clock lets an ID out of the
// lease's window; within the tick an ID costs nothing more than without a lease. Node ID
// and timestamp are the lease's: the node ID may change from one tick to the next, the
// timestamp may be ahead of the clock, which counts as a rollback of that size. The clock
// must be the lease's.
//
// At the end of the window the generator fails with [ErrLeaseExpired], or with
// [RollbackWait] it blocks, until the lease is renewed. After the lease is closed it fails
// with lease.ErrClosed for ever, once the tick that it is in has passed. [RollbackReset]
// cannot be had. Generators may share a lease; each tick goes to one of them.
func WithLease(l window.Lease) Option {
	return func(g *Generator) error {
		if l == nil || l.Window() == nil {
			return fmt.Errorf("%w: WithLease: the lease is nil", ErrOption)
		}
		w := l.Window()
		if err := w.Fits(Tick, time.UnixMilli(0)); err != nil {
			return fmt.Errorf("%w: WithLease: %w", ErrOption, err)
		}
		if err := checkSize(w.NodeIDSize()); err != nil {
			return fmt.Errorf("%w: WithLease: %w", ErrOption, err)
		}
		g.lease = w
		return nil
	}
}

// NewGenerator returns the generator of a node. If the spec has a previous ID, all IDs
// are larger than that, and a clock that is behind it counts as one that went back. It
// returns [ErrNodeSpec] for the zero NodeSpec, unless there is a lease, or [ErrOption]
// and the option that is wrong.
func NewGenerator(spec NodeSpec, opts ...Option) (*Generator, error) {
	g := &Generator{
		clock:     clock.System(),
		rand:      entropy.System(),
		timestamp: unseen,
		seen:      unseen,
		guard:     -1,
		allowance: int64(DefaultRollbackAllowance / Tick),
	}
	for _, opt := range opts {
		if err := opt(g); err != nil {
			return nil, err
		}
	}
	size := spec.NodeIDSize()
	switch {
	case g.lease != nil && !spec.IsZero():
		return nil, fmt.Errorf("%w: WithLease: the lease has the node ID, so the NodeSpec must be zero, not %v", ErrOption, spec)
	case g.lease != nil && g.policy == RollbackReset:
		return nil, fmt.Errorf("%w: WithLease and RollbackReset exclude each other", ErrOption)
	case g.lease != nil:
		size = g.lease.NodeIDSize()
	case spec.IsZero():
		return nil, fmt.Errorf("%w: none; make one with NewNodeSpec or ParseNodeSpec", ErrNodeSpec)
	}
	g.counter = counterBits(size)
	g.node = newNodeSpec(spec.NodeID(), size).id
	if id, ok := spec.Previous(); ok {
		if id.Timestamp() >= MaxTimestamp {
			return nil, fmt.Errorf("%w %q: no ID comes after the reserved timestamp", ErrNodeSpec, spec)
		}
		g.set(int64(id.Timestamp()), id.Counter(size))
	}
	switch {
	case g.guard > g.counter:
		return nil, fmt.Errorf("%w: WithOverflowGuard: %d bits, want 0 to %d, the counter's size", ErrOption, g.guard, g.counter)
	case g.guard >= 0 && g.start != nil:
		return nil, fmt.Errorf("%w: WithOverflowGuard and WithCounterStart exclude each other", ErrOption)
	case g.guard < 0 && size >= guardedSize:
		g.guard = 1
	}
	g.guard = max(g.guard, 0)
	return g, nil
}

// global makes the process-wide generator at its first use.
var global = sync.OnceValues(fromEnvironment)

func fromEnvironment() (*Generator, error) {
	const hint = "set it to the node ID and its size of this process alone, for example " + NodeSpecVar + "=42/8"
	s, ok := os.LookupEnv(NodeSpecVar)
	if !ok {
		return nil, fmt.Errorf("%w: the environment variable %s is not set; %s", ErrNodeSpec, NodeSpecVar, hint)
	}
	spec, err := ParseNodeSpec(s)
	if err != nil {
		return nil, fmt.Errorf("%w, in the environment variable %s; %s", err, NodeSpecVar, hint)
	}
	return NewGenerator(spec)
}

// New returns an ID of the process-wide generator, which all goroutines share and which
// follows the defaults. The environment variable SCRU64_NODE_SPEC, as it is at the first
// call, gives its node spec; without a good one each call fails with [ErrNodeSpec].
// Other errors are those of [Generator.Generate].
func New() (ID, error) {
	g, err := global()
	if err != nil {
		return 0, err
	}
	return g.generate(context.Background())
}

// NewString returns the text of [New], or its error.
func NewString() (string, error) {
	id, err := New()
	if err != nil {
		return "", err
	}
	return id.String(), nil
}

// Generate returns the next ID. It fails with [ErrClockRollback], [ErrTimeRange],
// [ErrEntropy], [ErrCounterStart] or [ErrLeaseExpired]; with [RollbackWait] it may block.
func (g *Generator) Generate() (ID, error) { return g.generate(context.Background()) }

// GenerateContext is Generate, with a context that bounds the waiting of [RollbackWait].
// If it ends, the error matches the context's and ErrClockRollback or ErrLeaseExpired.
func (g *Generator) GenerateContext(ctx context.Context) (ID, error) { return g.generate(ctx) }

func (g *Generator) generate(ctx context.Context) (ID, error) {
	for {
		counter := clock.Counter() // before the lock, to keep that short
		g.mu.Lock()
		now := g.clock.Milli(counter) >> tickBits
		if now == g.seen && g.last < g.end {
			g.last++
			id := g.last
			g.mu.Unlock()
			return id, nil
		}
		id, err := g.turn(now)
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

// Fill sets every element of ids to a new ID, in order. It reads the clock and takes
// the lock once for every 4096 IDs. Its errors are those of Generate; then ids is
// cleared, and IDs already made are lost.
func (g *Generator) Fill(ids []ID) error { return g.FillContext(context.Background(), ids) }

// FillContext is Fill, with a context as in GenerateContext.
func (g *Generator) FillContext(ctx context.Context, ids []ID) error {
	for rest := ids; len(rest) > 0; {
		counter := clock.Counter()
		g.mu.Lock()
		n, err := g.fill(g.clock.Milli(counter)>>tickBits, rest[:min(len(rest), chunk)])
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
	if err := g.clock.Pause(ctx, until*1000); err != nil {
		return fmt.Errorf("%w; gave up waiting: %w", why, err)
	}
	return nil
}

// fill makes many IDs at the clock's tick now, and returns how many.
func (g *Generator) fill(now int64, ids []ID) (int, error) {
	for made := 0; made < len(ids); {
		if now != g.seen || g.last == g.end {
			id, err := g.turn(now)
			if err != nil {
				return made, err
			}
			ids[made] = id
			made++
			continue
		}
		run := ids[made:]
		run = run[:min(len(run), int(g.end-g.last))]
		for i := range run {
			run[i] = g.last + 1 + ID(i)
		}
		g.last += ID(len(run))
		made += len(run)
	}
	return len(ids), nil
}

// turn makes the next ID where the clock has moved to another tick or the counter is
// full.
func (g *Generator) turn(now int64) (ID, error) {
	g.rand.Tick(now << tickBits)
	timestamp := g.timestamp
	switch {
	case now > timestamp:
		return g.begin(now, now)
	case g.last == g.end:
		timestamp++
	}
	if now+g.allowance < timestamp {
		return g.behind(now, timestamp)
	}
	if timestamp != g.timestamp {
		return g.begin(now, timestamp)
	}
	g.seen = now
	g.last++
	return g.last, nil
}

// behind does what the policy says where the clock, at tick now, is too far behind the
// timestamp of the next ID.
func (g *Generator) behind(now, timestamp int64) (ID, error) {
	switch g.policy {
	case RollbackAbort:
		return 0, fmt.Errorf("%w: it shows %v, the last ID %v", ErrClockRollback,
			tickTime(now), tickTime(g.timestamp))
	case RollbackWait:
		return g.waitFor((timestamp-g.allowance)<<tickBits, ErrClockRollback)
	default:
		return g.begin(now, now)
	}
}

func (g *Generator) waitFor(until int64, why error) (ID, error) {
	g.until, g.why = until, why
	return 0, errWait
}

// begin makes the first ID of a timestamp, settled for the clock's tick seen.
func (g *Generator) begin(seen, timestamp int64) (ID, error) {
	if g.lease != nil {
		return g.claim(seen, timestamp)
	}
	return g.first(seen, timestamp)
}

// claim is begin on a lease, which may allow a later timestamp only.
func (g *Generator) claim(seen, wanted int64) (ID, error) {
	grant, timestamp, err := g.lease.Claim(wanted)
	switch {
	case err == nil:
	case g.policy == RollbackWait: // it ends at once if the lease is closed
		return g.waitFor(wanted, ErrLeaseExpired)
	default:
		return 0, err
	}
	g.node = ID(grant.NodeID) << g.counter
	id, err := g.first(seen, timestamp)
	if err == nil && seen+g.allowance < timestamp {
		g.last-- // to be the first ID once the clock is near
		g.seen = unseen
		return g.behind(seen, timestamp)
	}
	return id, err
}

// first makes the first ID of a timestamp.
func (g *Generator) first(seen, timestamp int64) (ID, error) {
	if timestamp <= 0 || timestamp >= MaxTimestamp {
		return 0, fmt.Errorf("%w: it shows %v", ErrTimeRange, tickTime(timestamp))
	}
	counter, err := g.counterStart(timestamp)
	if err != nil {
		return 0, err
	}
	g.set(timestamp, counter)
	g.seen = seen
	return g.last, nil
}

func (g *Generator) counterStart(timestamp int64) (uint32, error) {
	if g.start != nil {
		n := g.start(uint64(timestamp), g.counter)
		if n>>g.counter != 0 {
			return 0, fmt.Errorf("%w: at %d, want a number of %d bits", ErrCounterStart, n, g.counter)
		}
		return n, nil
	}
	if g.guard == g.counter {
		return 0, nil
	}
	w, err := g.rand.Uint32()
	if err != nil {
		return 0, fmt.Errorf("%w: %w", ErrEntropy, err)
	}
	return w >> (32 - g.counter + g.guard), nil
}

// set makes the ID of a timestamp and counter the last one.
func (g *Generator) set(timestamp int64, counter uint32) {
	first := ID(timestamp)<<nodeCtrBits | g.node
	g.timestamp, g.last, g.end = timestamp, first|ID(counter), first|(1<<g.counter-1)
}

func tickTime(tick int64) time.Time { return time.UnixMilli(tick << tickBits).UTC() }
