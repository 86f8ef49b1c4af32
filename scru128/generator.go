package scru128

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"sync"
	"time"

	"github.com/sortid/sortid/internal/base36"
	"github.com/sortid/sortid/internal/clock"
	"github.com/sortid/sortid/internal/entropy"
)

// DefaultRollbackAllowance is how far the clock may go back without any effect on the
// order of IDs.
const DefaultRollbackAllowance = 10 * time.Second

// A RollbackPolicy says what a generator does when the clock has gone back by more than
// the allowance.
type RollbackPolicy uint8

const (
	// RollbackReset starts afresh at the clock's time with new random counters. The
	// order of IDs is broken; uniqueness rests on 80 random bits, as it does between
	// any two generators. This is the default.
	RollbackReset RollbackPolicy = iota
	// RollbackAbort returns ErrClockRollback until the clock has caught up.
	RollbackAbort
	// RollbackWait blocks until the clock is back within the allowance or the context
	// ends.
	RollbackWait
)

const (
	maxCounter = 1<<48 - 1 // counter_hi and counter_lo as one integer
	renewal    = 1000      // milliseconds after which counter_hi is renewed
	never      = -renewal  // a renewal long before any timestamp
	unseen     = -1 << 63  // no time that a clock shows
	chunk      = 4096      // IDs of one clock reading in Fill: a few tens of microseconds
)

// A Generator makes IDs that strictly increase while the clock does not go back by
// more than the allowance.
//
//	Method                    Time from            Concurrent use   On a big rollback
//	Generate, Fill, All       the system's clock   safe             the policy
//	...Context                or WithClock's       safe             the policy
//	with Stateless()          the same             safe             nothing: no order
//
// Within a millisecond counter_lo goes up by one from a random start; every second
// of movement counter_hi starts at random again; entropy is new in each ID. When
// counter_lo is full counter_hi goes up by one and counter_lo to zero; when both are
// full the timestamp goes up by one, counter_hi to zero and counter_lo to random, and
// the timestamp's lead over the clock counts as a rollback of that size.
//
// One generator that many goroutines share keeps the order over all of them, at the
// price of a lock; a generator each is faster on many cores, and then IDs are in order
// for each goroutine only.
type Generator struct {
	mu    sync.Mutex
	clock clock.Clock
	rand  entropy.Source

	timestamp int64  // of the last ID
	counter   uint64 // of the last ID
	seen      int64  // the clock's time for which timestamp is settled
	renewed   int64  // the timestamp when counter_hi was last renewed
	until     int64  // with errWait: the time to wait for

	allowance int64 // milliseconds
	policy    RollbackPolicy
	stateless bool
}

// errWait says that the clock must reach g.until first.
var errWait = errors.New("scru128: wait")

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

// WithRollbackPolicy sets what happens when the clock goes back further.
func WithRollbackPolicy(p RollbackPolicy) Option {
	return func(g *Generator) error {
		if p > RollbackWait {
			return fmt.Errorf("%w: WithRollbackPolicy: no policy %d", ErrOption, p)
		}
		g.policy = p
		return nil
	}
}

// Stateless makes each ID from the clock and 80 random bits alone. Such IDs are in no
// order within a millisecond and follow the clock wherever it goes. It suits programs
// that make IDs rarely; a common generator serves them as well.
func Stateless() Option {
	return func(g *Generator) error {
		g.stateless = true
		return nil
	}
}

// NewGenerator returns a generator, or [ErrOption] and the option that is wrong.
func NewGenerator(opts ...Option) (*Generator, error) {
	g := &Generator{
		clock:     clock.System(),
		rand:      entropy.System(),
		timestamp: unseen,
		seen:      unseen,
		renewed:   never,
		allowance: DefaultRollbackAllowance.Milliseconds(),
	}
	for _, opt := range opts {
		if err := opt(g); err != nil {
			return nil, err
		}
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

// New returns an ID of the process-wide generator, which all goroutines share and
// which follows the defaults. It panics if the system's clock shows a time before
// 1970-01-01T00:00:00.001Z or after the year 10889, which no ID can carry, and never
// else.
func New() (id ID) {
	if _, _, err := global.generate(context.Background(), &id); err != nil {
		panic(err)
	}
	return id
}

// NewString returns the text of [New].
func NewString() string {
	var id ID
	hi, lo, err := global.generate(context.Background(), &id)
	if err != nil {
		panic(err)
	}
	var b [TextLen]byte
	return string(base36.Append128(b[:0], hi, lo))
}

// Generate returns the next ID. It fails with [ErrClockRollback], [ErrTimeRange] or
// [ErrEntropy]; with [RollbackWait] it may block.
func (g *Generator) Generate() (id ID, err error) {
	_, _, err = g.generate(context.Background(), &id)
	return id, err
}

// GenerateContext is Generate, with a context that bounds the waiting of
// [RollbackWait]. If it ends, the error matches the context's and ErrClockRollback.
func (g *Generator) GenerateContext(ctx context.Context) (id ID, err error) {
	_, _, err = g.generate(ctx, &id)
	return id, err
}

// generate sets id, which must be zero, to the next ID and returns its two halves; with
// an error all are zero.
//
// The halves are for who goes on with them in registers. The common case writes id before
// the unlock, which waits for all writes anyway: a copy of the 16 bytes right after the
// two writes would else wait for them once more.
func (g *Generator) generate(ctx context.Context, id *ID) (hi, lo uint64, err error) {
	for {
		counter := clock.Counter() // before the lock, to keep that short
		g.mu.Lock()
		now := g.clock.Milli(counter)
		if now == g.seen && g.counter < maxCounter {
			if e, ok := g.rand.Next32(); ok {
				hi, lo = g.step(e)
				id.put(hi, lo)
				g.mu.Unlock()
				return hi, lo, nil
			}
		}
		hi, lo, err = g.next(now)
		until := g.until
		g.mu.Unlock()
		if err != errWait {
			id.put(hi, lo)
			return hi, lo, err
		}
		if err := g.wait(ctx, until); err != nil {
			return 0, 0, err
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
		n, err := g.fill(g.clock.Milli(counter), rest[:min(len(rest), chunk)])
		until := g.until
		g.mu.Unlock()
		rest = rest[n:]
		if err == errWait {
			err = g.wait(ctx, until)
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

func (g *Generator) wait(ctx context.Context, until int64) error {
	if err := g.clock.Pause(ctx, until*1000); err != nil {
		return fmt.Errorf("%w; gave up waiting: %w", ErrClockRollback, err)
	}
	return nil
}

// step is the common case: the timestamp stays, and the counters are not full.
func (g *Generator) step(entropy uint32) (hi, lo uint64) {
	g.counter++
	return uint64(g.timestamp)<<16 | g.counter>>32, g.counter<<32 | uint64(entropy)
}

// next makes the next ID, as its two halves, at the clock's time now.
func (g *Generator) next(now int64) (hi, lo uint64, err error) {
	if now != g.seen || g.counter == maxCounter {
		return g.turn(now)
	}
	e, err := g.rand.Uint32()
	if err != nil {
		return 0, 0, entropyError(err)
	}
	hi, lo = g.step(e)
	return hi, lo, nil
}

// fill is next for many IDs, and returns how many it made.
func (g *Generator) fill(now int64, ids []ID) (int, error) {
	for i := range ids {
		if now == g.seen && g.counter < maxCounter {
			if e, ok := g.rand.Next32(); ok {
				ids[i].put(g.step(e))
				continue
			}
		}
		hi, lo, err := g.next(now)
		if err != nil {
			return i, err
		}
		ids[i].put(hi, lo)
	}
	return len(ids), nil
}

// turn is next where the clock has moved or the counters are full.
func (g *Generator) turn(now int64) (hi, lo uint64, err error) {
	g.rand.Tick(now)
	counterHi := g.counter >> 24
	timestamp := g.timestamp
	switch {
	case g.stateless:
		g.renewed = never
		return g.begin(unseen, now, 0)
	case now > timestamp:
		return g.begin(now, now, counterHi)
	case g.counter == maxCounter:
		timestamp, counterHi = timestamp+1, 0
	}
	if now+g.allowance < timestamp {
		switch g.policy {
		case RollbackAbort:
			return 0, 0, fmt.Errorf("%w: it shows %v, the last ID %v", ErrClockRollback,
				time.UnixMilli(now).UTC(), time.UnixMilli(g.timestamp).UTC())
		case RollbackWait:
			g.until = timestamp - g.allowance
			return 0, 0, errWait
		default:
			g.renewed = never
			return g.begin(now, now, 0)
		}
	}
	if timestamp != g.timestamp {
		return g.begin(now, timestamp, counterHi)
	}
	g.seen = now
	return g.next(now)
}

// begin makes the first ID of a timestamp, settled for the clock's time seen.
func (g *Generator) begin(seen, timestamp int64, counterHi uint64) (hi, lo uint64, err error) {
	if timestamp <= 0 || timestamp >= MaxTimestamp {
		return 0, 0, fmt.Errorf("%w: it shows %v", ErrTimeRange, time.UnixMilli(timestamp).UTC())
	}
	renewed := g.renewed
	if timestamp-renewed >= renewal {
		w, err := g.rand.Uint32()
		if err != nil {
			return 0, 0, entropyError(err)
		}
		counterHi, renewed = uint64(w&MaxCounterHi), timestamp
	}
	w, err := g.rand.Uint64()
	if err != nil {
		return 0, 0, entropyError(err)
	}
	counterLo := w >> 32 & MaxCounterLo
	g.seen, g.timestamp, g.renewed = seen, timestamp, renewed
	g.counter = counterHi<<24 | counterLo
	return uint64(timestamp)<<16 | g.counter>>32, g.counter<<32 | w&MaxEntropy, nil
}

func entropyError(err error) error { return fmt.Errorf("%w: %w", ErrEntropy, err) }
