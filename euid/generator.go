package euid

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"math/bits"
	"sync"
	"time"

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
	// RollbackReset starts afresh at the clock's time with all bits random. The order
	// of IDs is broken; uniqueness rests on their random bits, as it does between any
	// two generators. This is the default.
	RollbackReset RollbackPolicy = iota
	// RollbackAbort returns ErrClockRollback until the clock has caught up.
	RollbackAbort
	// RollbackWait blocks until the clock is back within the allowance or the context
	// ends.
	RollbackWait
)

const (
	maxHigh = 1<<32 - 1 // of the high half of the random field
	unseen  = -1 << 63  // no time that a clock shows
	chunk   = 4096      // IDs of one clock reading in Fill: a few tens of microseconds
)

// A Generator makes IDs that strictly increase while the clock does not go back by
// more than the allowance.
//
//	Method                    Time from            Concurrent use   On a big rollback
//	Generate, Fill, All       the system's clock   safe             the policy
//	...Context                or WithClock's       safe             the policy
//
// In each new millisecond all random bits are new. Within a millisecond the high 32 of
// the 64 bits of random go up by one and the low 32 are new; the random bits of the
// header stay. If the high 32 started so high that they are used up, which has a chance
// of n in 2^32 for n IDs in one millisecond, the call fails with [ErrOverflow], and
// succeeds again in the next millisecond: once the clock has passed the last ID's,
// which takes longer if it went back.
//
// One generator that many goroutines share keeps the order over all of them, at the
// price of a lock; a generator each is faster on many cores, and then IDs are in order
// for each goroutine only.
type Generator struct {
	mu    sync.Mutex
	clock clock.Clock
	rand  entropy.Source

	timestamp int64  // of the last ID
	head      uint64 // the high 64 bits of the last ID
	high      uint64 // the high half of the last ID's random field
	seen      int64  // the clock's time for which timestamp is settled
	until     int64  // with errWait and ErrOverflow: the time to wait for

	allowance int64 // milliseconds
	policy    RollbackPolicy
	extension uint64 // the value and its length, in their places in head
	random    uint64 // the bits of head that are random
}

// errWait says that the clock must reach g.until first.
var errWait = errors.New("euid: wait")

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

// WithExtension attaches a value of at most 32767 to each ID of the generator, in as
// many bits as it has: 5 takes three. So 0 attaches nothing; to attach a zero, or to
// keep room for larger values, use [WithExtensionBits].
//
// The extension belongs to the generator, not to the ID: it stands above the bits that
// order the IDs of a millisecond.
func WithExtension(value uint16) Option {
	return func(g *Generator) error {
		if value > MaxRandomAndExtension {
			return fmt.Errorf("%w: WithExtension: %d has more than 15 bits", ErrOption, value)
		}
		g.extend(value, bits.Len16(value))
		return nil
	}
}

// WithExtensionBits attaches a value to each ID of the generator, in a stated number of
// bits, 1 to 15. The value must fit.
func WithExtensionBits(value uint16, length int) Option {
	return func(g *Generator) error {
		if length < 1 || length > MaxExtensionLength {
			return fmt.Errorf("%w: WithExtensionBits: %d bits, want 1 to 15", ErrOption, length)
		}
		if value>>length != 0 {
			return fmt.Errorf("%w: WithExtensionBits: %d has more than %d bits", ErrOption, value, length)
		}
		g.extend(value, length)
		return nil
	}
}

func (g *Generator) extend(value uint16, length int) {
	g.extension = uint64(value)<<7 | uint64(length)<<3
	g.random = (MaxRandomAndExtension &^ (1<<length - 1)) << 7
}

// NewGenerator returns a generator, or [ErrOption] and the option that is wrong.
func NewGenerator(opts ...Option) (*Generator, error) {
	g := &Generator{
		clock:     clock.System(),
		rand:      entropy.System(),
		timestamp: unseen,
		seen:      unseen,
		allowance: DefaultRollbackAllowance.Milliseconds(),
	}
	g.extend(0, 0)
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
// which follows the defaults. It panics if the system's clock shows a time before 1970
// or after the year 2109, which no ID can carry, and never else. Where Generate would
// fail with [ErrOverflow] it waits for the next millisecond.
func New() (id ID) {
	if err := global.generate(context.Background(), &id, true); err != nil {
		panic(err)
	}
	return id
}

// NewString returns the text of [New].
func NewString() string { return New().String() }

// Generate returns the next ID. It fails with [ErrOverflow], [ErrClockRollback],
// [ErrTimeRange] or [ErrEntropy]; with [RollbackWait] it may block.
func (g *Generator) Generate() (id ID, err error) {
	err = g.generate(context.Background(), &id, false)
	return id, err
}

// GenerateContext is Generate, with a context that bounds the waiting of
// [RollbackWait]. If it ends, the error matches the context's and ErrClockRollback.
func (g *Generator) GenerateContext(ctx context.Context) (id ID, err error) {
	err = g.generate(ctx, &id, false)
	return id, err
}

// generate sets id, which must be zero, to the next ID; with an error it stays zero. A
// patient caller waits where the millisecond's IDs are used up.
//
// The common case writes the ID before the unlock, which waits for all writes anyway: a
// copy of the ID right after the writes would else wait for them once more.
func (g *Generator) generate(ctx context.Context, id *ID, patient bool) error {
	for {
		counter := clock.Counter() // before the lock, to keep that short
		g.mu.Lock()
		now := g.clock.Milli(counter)
		if now == g.seen && g.high < maxHigh {
			if low, ok := g.rand.Next32(); ok {
				id.put(g.step(low))
				g.mu.Unlock()
				return nil
			}
		}
		hi, lo, err := g.next(now)
		until := g.until
		g.mu.Unlock()
		if err != errWait && !(err == ErrOverflow && patient) {
			id.put(hi, lo)
			return err
		}
		if err := g.wait(ctx, until); err != nil {
			return err
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

// step is the common case: the timestamp stays, and the high half is not used up.
func (g *Generator) step(low uint32) (hi, lo uint64) {
	g.high++
	return g.head, g.high<<32 | uint64(low)
}

// next makes the next ID, as its two halves, at the clock's time now.
func (g *Generator) next(now int64) (hi, lo uint64, err error) {
	if now != g.seen || g.high == maxHigh {
		return g.turn(now)
	}
	low, err := g.rand.Uint32()
	if err != nil {
		return 0, 0, entropyError(err)
	}
	hi, lo = g.step(low)
	return hi, lo, nil
}

// fill is next for many IDs, and returns how many it made.
func (g *Generator) fill(now int64, ids []ID) (int, error) {
	for i := range ids {
		if now == g.seen && g.high < maxHigh {
			if low, ok := g.rand.Next32(); ok {
				ids[i].put(g.step(low))
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

// turn is next where the clock has moved or the high half is used up.
func (g *Generator) turn(now int64) (hi, lo uint64, err error) {
	g.rand.Tick(now)
	switch {
	case now > g.timestamp:
		return g.begin(now)
	case now+g.allowance < g.timestamp:
		switch g.policy {
		case RollbackAbort:
			return 0, 0, fmt.Errorf("%w: it shows %v, the last ID %v", ErrClockRollback,
				time.UnixMilli(now).UTC(), time.UnixMilli(g.timestamp).UTC())
		case RollbackWait:
			g.until = g.timestamp - g.allowance
			return 0, 0, errWait
		default:
			return g.begin(now)
		}
	case g.high == maxHigh:
		g.until = g.timestamp + 1
		return 0, 0, ErrOverflow
	}
	g.seen = now
	return g.next(now)
}

// begin makes the first ID of a millisecond.
func (g *Generator) begin(now int64) (hi, lo uint64, err error) {
	if now < 0 || now > MaxTimestamp {
		return 0, 0, fmt.Errorf("%w: it shows %v", ErrTimeRange, time.UnixMilli(now).UTC())
	}
	w, err := g.rand.Uint32()
	if err != nil {
		return 0, 0, entropyError(err)
	}
	lo, err = g.rand.Uint64()
	if err != nil {
		return 0, 0, entropyError(err)
	}
	g.seen, g.timestamp = now, now
	g.head = uint64(now)<<22 | uint64(w)&g.random | g.extension
	g.high = lo >> 32
	return g.head, lo, nil
}

func entropyError(err error) error { return fmt.Errorf("%w: %w", ErrEntropy, err) }
