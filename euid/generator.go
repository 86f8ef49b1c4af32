package euid

import (
	"context"
	"fmt"
	"iter"
	"math/bits"

	"github.com/sortid/sortid"
	"github.com/sortid/sortid/internal/clock"
	"github.com/sortid/sortid/internal/gen"
)

const (
	name = "euid"

	maxHigh = 1<<32 - 1 // of the high half of the random field
)

var format = gen.Format{Name: name, Policy: sortid.RollbackReset}

// errOverflow is made once, as it may be returned for each of many calls.
var errOverflow = fmt.Errorf("%s: %w", name, sortid.ErrOverflow)

// A Generator makes IDs that strictly increase while the clock does not go back by
// more than the allowance.
//
//	Method                    Time from            Concurrent use   On a big rollback
//	Generate, Fill, All       the system's clock   safe             the policy
//	...Context                or Options.Clock     safe             the policy
//
// In each new millisecond all random bits are new. Within a millisecond the high 32 of
// the 64 bits of random go up by one and the low 32 are new; the random bits of the
// header stay. If the high 32 started so high that they are used up, which has a chance
// of n in 2^32 for n IDs in one millisecond, the call fails with [sortid.ErrOverflow],
// and succeeds again in the next millisecond: once the clock has passed the last ID's,
// which takes longer if it went back.
//
// One generator that many goroutines share keeps the order over all of them, at the
// price of a lock; a generator each is faster on many cores, and then IDs are in order
// for each goroutine only.
type Generator struct {
	core gen.Core

	timestamp   int64  // of the last ID
	head        uint64 // the high 64 bits of the last ID
	high        uint64 // the high half of the last ID's random field
	settledTick int64  // the clock's time for which timestamp is settled

	extension uint64 // the value and its length, in their places in head
	random    uint64 // the bits of head that are random
}

// Options are the options of a [Generator]. The zero value means the defaults, among them
// [sortid.RollbackReset].
type Options struct {
	sortid.GeneratorOptions

	// Extension is attached to each ID of the generator, a value of at most 15 bits, in
	// ExtensionLength bits, which it must fit. A length of zero means as many bits as the
	// value has: 5 takes three, and 0 attaches nothing. To attach a zero, or to keep room
	// for larger values, state the length, from 1 to 15.
	//
	// The extension belongs to the generator, not to the ID: it stands above the bits that
	// order the IDs of a millisecond.
	Extension       uint16
	ExtensionLength int
}

// NewGenerator returns a generator, or [sortid.ErrOption] and the option that is wrong.
func NewGenerator(o Options) (*Generator, error) {
	g := &Generator{timestamp: gen.NoTick, settledTick: gen.NoTick}
	if err := g.core.Init(&format, o.GeneratorOptions, nil); err != nil {
		return nil, err
	}
	length := o.ExtensionLength
	if length == 0 {
		length = bits.Len16(o.Extension)
	}
	switch {
	case o.Extension > MaxRandomAndExtension:
		return nil, g.core.OptionError("Extension: %d has more than 15 bits", o.Extension)
	case length < 0 || length > MaxExtensionLength:
		return nil, g.core.OptionError("ExtensionLength: %d bits, want 1 to 15", length)
	case o.Extension>>length != 0:
		return nil, g.core.OptionError("Extension: %d has more than the %d bits of ExtensionLength", o.Extension, length)
	}
	g.extension = uint64(o.Extension)<<7 | uint64(length)<<3
	g.random = (MaxRandomAndExtension &^ (1<<length - 1)) << 7
	return g, nil
}

var global = gen.Must(NewGenerator(Options{}))

// New returns an ID of the process-wide generator, which all goroutines share and which
// follows the defaults. It panics only if the system's clock shows a time before 1970 or
// after the year 2109, which no ID can carry. Where Generate would fail with
// [sortid.ErrOverflow] it waits for the next millisecond.
func New() (id ID) {
	if err := global.generate(context.Background(), &id, true); err != nil {
		panic(err)
	}
	return id
}

// NewString returns the text of [New].
func NewString() string { return New().String() }

// Generate returns the next ID. It fails with [sortid.ErrOverflow],
// [sortid.ErrClockRollback], [sortid.ErrTimeRange] (for a time before 1970 or after
// 2109-05-15T07:35:11.103Z) or [sortid.ErrEntropy]; with [sortid.RollbackWait] it may
// block.
func (g *Generator) Generate() (id ID, err error) {
	err = g.generate(context.Background(), &id, false)
	return id, err
}

// GenerateContext is Generate, with a context that bounds the waiting of
// [sortid.RollbackWait]. If it ends, the error matches the context's and
// [sortid.ErrClockRollback].
func (g *Generator) GenerateContext(ctx context.Context) (id ID, err error) {
	err = g.generate(ctx, &id, false)
	return id, err
}

// generate sets id, which must be zero, to the next ID; with an error it stays zero.
// waitOverflow says to wait where the millisecond's IDs are used up.
//
// The fast path writes the ID before the unlock, which waits for all writes anyway: copying
// the ID right after the writes would wait for them a second time.
func (g *Generator) generate(ctx context.Context, id *ID, waitOverflow bool) error {
	for {
		counter := clock.Counter() // before the lock, to keep that short
		g.core.Lock()
		now := g.core.Clock.Milli(counter)
		if now == g.settledTick && g.high < maxHigh {
			if low, ok := g.core.Next32(); ok {
				id.put(g.step(low))
				g.core.Unlock()
				return nil
			}
		}
		hi, lo, err := g.next(now)
		if err == errOverflow && waitOverflow {
			err = gen.ErrRetry
		}
		if err = g.core.Finish(ctx, err); err != gen.ErrRetry {
			id.put(hi, lo)
			return err
		}
	}
}

// Fill sets every element of ids to a new ID, in order. It reads the clock and takes
// the lock once for every 4096 IDs. It fails as Generate does; then it
// clears ids, and IDs already made are lost.
func (g *Generator) Fill(ids []ID) error { return g.FillContext(context.Background(), ids) }

// FillContext is Fill, with a context as in GenerateContext.
func (g *Generator) FillContext(ctx context.Context, ids []ID) error {
	b := g.core.Batch(ctx, len(ids))
	for b.Next() {
		b.Done(g.fill(b.Now, ids[b.From:b.To]))
	}
	if b.Err != nil {
		clear(ids)
	}
	return b.Err
}

// All returns an endless sequence of what Generate returns.
func (g *Generator) All() iter.Seq2[ID, error] { return gen.All(g.Generate) }

// step makes an ID where the timestamp stays and the high half is not used up.
func (g *Generator) step(low uint32) (hi, lo uint64) {
	g.high++
	return g.head, g.high<<32 | uint64(low)
}

// next makes the next ID, as its two halves, at the clock's time now.
func (g *Generator) next(now int64) (hi, lo uint64, err error) {
	if now != g.settledTick || g.high == maxHigh {
		return g.slowPath(now)
	}
	low, err := g.core.Rand.Uint32()
	if err != nil {
		return 0, 0, g.core.EntropyError(err)
	}
	hi, lo = g.step(low)
	return hi, lo, nil
}

// fill is next for many IDs, and returns how many it made.
func (g *Generator) fill(now int64, ids []ID) (int, error) {
	for i := 0; i < len(ids); i++ {
		if now == g.settledTick {
			high := g.high
			for ; i < len(ids) && high < maxHigh; i++ {
				low, ok := g.core.Next32()
				if !ok {
					break
				}
				high++
				ids[i].put(g.head, high<<32|uint64(low))
			}
			if g.high = high; i == len(ids) {
				break
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

// slowPath is next where the clock has moved or the high half is used up.
func (g *Generator) slowPath(now int64) (hi, lo uint64, err error) {
	g.core.Rand.Tick(now)
	if now > g.timestamp {
		return g.begin(now)
	}
	reset, err := g.core.CheckRollback(now, g.timestamp, g.timestamp)
	switch {
	case err != nil:
		return 0, 0, err
	case reset:
		return g.begin(now)
	case g.high == maxHigh:
		g.core.WaitFor(g.timestamp+1, sortid.ErrOverflow) // if the caller waits
		return 0, 0, errOverflow
	}
	g.settledTick = now
	return g.next(now)
}

// begin makes the first ID of a millisecond.
func (g *Generator) begin(now int64) (hi, lo uint64, err error) {
	if now < 0 || now > MaxTimestamp {
		return 0, 0, g.core.TimeRangeError(now)
	}
	w, err := g.core.Rand.Uint32()
	if err != nil {
		return 0, 0, g.core.EntropyError(err)
	}
	lo, err = g.core.Rand.Uint64()
	if err != nil {
		return 0, 0, g.core.EntropyError(err)
	}
	g.settledTick, g.timestamp = now, now
	g.head = uint64(now)<<22 | uint64(w)&g.random | g.extension
	g.high = lo >> 32
	return g.head, lo, nil
}
