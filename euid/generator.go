package euid

import (
	"context"
	"fmt"
	"iter"
	"math"
	"math/bits"
	"time"

	"github.com/sortid/sortid"
	"github.com/sortid/sortid/internal/clock"
	"github.com/sortid/sortid/internal/gencore"
)

const (
	name = "euid"

	maxHigh = 1<<32 - 1 // of Generator.high
)

var format = gencore.Format{Name: name, Policy: sortid.RollbackReset}

var errOverflow = fmt.Errorf("%s: %w", name, sortid.ErrOverflow)

// A Generator makes IDs that strictly increase. It is safe for concurrent use. On many cores, a
// generator for each goroutine is faster. But within a millisecond, IDs of different goroutines are
// in no order.
//
// In a new millisecond all random bits are new. Within a millisecond, the high 32 bits of the field
// random go up by one for each ID, from a random start. The low 32 bits are new in each ID. The
// random bits beside the extension do not change. If a generator makes n IDs in a millisecond, the
// high bits reach their maximum with a chance of n in 2^32. Then calls fail with
// [sortid.ErrOverflow] until the clock has passed the millisecond.
//
// A zero Generator fails with [sortid.ErrOption]. Do not copy a Generator.
type Generator struct {
	core gencore.Core

	timestamp int64  // of the last ID
	hi        uint64 // the high 64 bits of the last ID
	high      uint64 // the high half of the last ID's field random

	settledTick int64 // while the clock shows this tick, new IDs keep the timestamp

	extension  uint64 // the value and its length, at their positions in hi
	randomMask uint64 // the bits of hi that are random
}

// Options are the options of a [Generator]. The zero value means the defaults. The default policy
// is [sortid.RollbackReset].
type Options struct {
	sortid.GeneratorOptions

	// Extension is a number in each ID of the generator, such as the number of a shard. It has
	// ExtensionLength bits, 1 to 15. A length of zero means as many bits as the number needs: 5
	// needs three bits, and 0 needs none. All IDs of a generator have the same extension, because
	// it comes before the bits that order the IDs of a millisecond.
	Extension       uint16
	ExtensionLength int
}

// NewGenerator returns a generator, or a [*sortid.OptionError] if an option is wrong.
func NewGenerator(o Options) (*Generator, error) {
	g := &Generator{timestamp: gencore.NoTick, settledTick: gencore.NoTick}
	if err := g.core.Init(&format, o.GeneratorOptions, nil); err != nil {
		return nil, err
	}
	length := o.ExtensionLength
	if length == 0 {
		length = bits.Len16(o.Extension)
	}
	switch {
	case o.Extension > MaxRandomAndExtension:
		return nil, g.core.OptionError("Extension", "%d has more than 15 bits", o.Extension)
	case length < 0 || length > MaxExtensionLength:
		return nil, g.core.OptionError("ExtensionLength", "%d bits, want 1 to 15", length)
	case o.Extension>>length != 0:
		return nil, g.core.OptionsError([]string{"Extension", "ExtensionLength"},
			"the extension %d has more than %d bits", o.Extension, length)
	}
	g.extension = uint64(o.Extension)<<7 | uint64(length)<<3
	g.randomMask = (MaxRandomAndExtension &^ (1<<length - 1)) << 7
	return g, nil
}

var global = gencore.Must(NewGenerator(Options{}))

// New returns an ID of the process-wide generator, which has the default options. It panics only if
// the system clock is before 1970 or after 2109-05-15T07:35:11.103Z. If Generate would fail with
// [sortid.ErrOverflow], New waits for the next millisecond.
func New() (id ID) {
	if err := global.generate(context.Background(), &id, true); err != nil {
		panic(err)
	}
	return id
}

// NewString is like [New], but returns the text.
func NewString() string { return New().String() }

// NewAt is [Generator.GenerateAt] of the process-wide generator.
func NewAt(t time.Time) (ID, error) { return global.GenerateAt(t) }

// Generate returns the next ID. It can fail with [sortid.ErrOverflow], [sortid.ErrClockRollback],
// [sortid.ErrTimeRange] or [sortid.ErrEntropy]. With [sortid.RollbackWait] it can block.
func (g *Generator) Generate() (id ID, err error) {
	err = g.generate(context.Background(), &id, false)
	return id, err
}

// GenerateAt returns an ID of t's millisecond, for example for an old row. It makes the ID from 79 new
// random bits, so the ID is unique, but IDs of one millisecond are in no order. It does not change which
// IDs Generate returns. If IDs cannot have the time, the error matches [sortid.ErrTimeRange].
// With an extension, fewer bits are random: at least 64.
func (g *Generator) GenerateAt(t time.Time) (ID, error) {
	return gencore.At(&g.core, t, func(timestamp int64) (ID, error) {
		if timestamp < 0 || timestamp > MaxTimestamp {
			return ID{}, g.core.NoTimeError(timestamp)
		}
		high, err := g.core.Rand.Uint32()
		if err != nil {
			return ID{}, g.core.EntropyError(err)
		}
		low, err := g.core.Rand.Uint64()
		if err != nil {
			return ID{}, g.core.EntropyError(err)
		}
		return FromUint128(uint64(timestamp)<<22|uint64(high)&g.randomMask|g.extension, low), nil
	})
}

// GenerateContext is like Generate, but stops waiting when the context ends. Then the error matches
// the context's error and [sortid.ErrClockRollback].
func (g *Generator) GenerateContext(ctx context.Context) (id ID, err error) {
	err = g.generate(ctx, &id, false)
	return id, err
}

// generate sets id, which must be zero, to the next ID. An error leaves id zero. If the high half
// of the field random is full, generate returns [sortid.ErrOverflow], or waits if waitOverflow is
// true.
func (g *Generator) generate(ctx context.Context, id *ID, waitOverflow bool) error {
	for {
		counter := clock.Counter() // read first, to hold the lock for less time
		if v, ok := g.core.TakeOrLock(counter); ok {
			id.put(v.High, v.Number<<32|v.Random()&math.MaxUint32)
			return nil
		}
		g.high += g.core.Close()
		hi, lo, err := g.next(g.core.Clock.Milli(counter))
		g.open()
		if err == errOverflow && waitOverflow {
			err = g.core.WaitFor(g.timestamp+1, sortid.ErrOverflow)
		}
		if err = g.core.Finish(ctx, err); err != gencore.ErrRetry {
			id.put(hi, lo)
			return err
		}
	}
}

// open lets other callers make the next IDs of this timestamp without the lock.
func (g *Generator) open() {
	g.core.Open(g.settledTick, maxHigh-g.high, gencore.Values{Number: g.high, High: g.hi})
}

// Fill sets ids to new IDs, in order. It locks the generator once for every 4096 IDs. It can fail
// as Generate does; then it clears ids.
func (g *Generator) Fill(ids []ID) error { return g.FillContext(context.Background(), ids) }

// FillContext is like Fill, but with a context.
func (g *Generator) FillContext(ctx context.Context, ids []ID) error {
	return gencore.Fill(ctx, &g.core, ids, g.fill)
}

// All returns an endless sequence of the results of Generate.
func (g *Generator) All() iter.Seq2[ID, error] { return gencore.All(g.Generate) }

// step makes the next ID with the same timestamp. The high half of the field random must not be
// full.
func (g *Generator) step(low uint32) (hi, lo uint64) {
	g.high++
	return g.hi, g.high<<32 | uint64(low)
}

// next makes the next ID and returns its halves.
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

func (g *Generator) fill(now int64, ids []ID) (int, error) {
	g.high += g.core.Close()
	defer g.open()
	for i := 0; i < len(ids); i++ {
		if now == g.settledTick {
			high := g.high
			for ; i < len(ids) && high < maxHigh; i++ {
				low, ok := g.core.Rand.Next32()
				if !ok {
					break
				}
				high++
				ids[i].put(g.hi, high<<32|uint64(low))
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

// slowPath makes the next ID if the clock shows another tick, or if the high half of the field
// random is full.
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
		return 0, 0, errOverflow
	}
	g.settledTick = now
	return g.next(now)
}

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
	g.hi = uint64(now)<<22 | uint64(w)&g.randomMask | g.extension
	g.high = lo >> 32
	return g.hi, lo, nil
}
