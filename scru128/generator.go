package scru128

import (
	"context"
	"iter"
	"time"

	"github.com/sortid/sortid"
	"github.com/sortid/sortid/internal/clock"
	"github.com/sortid/sortid/internal/gencore"
	"github.com/sortid/sortid/internal/textcodec"
)

const (
	name = "scru128"

	maxCounter    = 1<<48 - 1
	renewalPeriod = 1000               // milliseconds
	notRenewed    = -1 * renewalPeriod // so counter_hi is renewed at the next timestamp
)

var format = gencore.Format{Name: name, Policy: sortid.RollbackReset}

// A Generator makes IDs that strictly increase. It is safe for concurrent use. On many cores, a
// generator for each goroutine is faster. But within a millisecond, IDs of different goroutines are
// in no order.
//
// The field counter_lo starts at a random number in each millisecond, and goes up by one for each
// ID. The field counter_hi gets a new random number in each second. The field entropy is new in
// each ID. When counter_lo is full, counter_hi goes up by one. When both are full, the timestamp
// goes up by one. While the timestamp is ahead of the clock, the generator acts as if the clock had
// gone back.
//
// A zero Generator fails with [sortid.ErrOption]. Do not copy a Generator.
type Generator struct {
	core gencore.Core

	timestamp int64 // of the last ID
	counter   uint64

	settledTick int64 // while the clock shows this tick, new IDs keep the timestamp
	renewed     int64 // the timestamp of the last new counter_hi
	stateless   bool
}

// Options are the options of a [Generator]. The zero value means the defaults. The default policy
// is [sortid.RollbackReset].
type Options struct {
	sortid.GeneratorOptions

	// Stateless makes each ID only from the clock and 80 random bits. Such IDs are in no order
	// within a millisecond, and follow the clock when it goes back.
	Stateless bool
}

// NewGenerator returns a generator, or a [*sortid.OptionError] if an option is wrong.
func NewGenerator(o Options) (*Generator, error) {
	g := &Generator{
		timestamp:   gencore.NoTick,
		settledTick: gencore.NoTick,
		renewed:     notRenewed,
		stateless:   o.Stateless,
	}
	if err := g.core.Init(&format, o.GeneratorOptions, nil); err != nil {
		return nil, err
	}
	return g, nil
}

var global = gencore.Must(NewGenerator(Options{}))

// New returns an ID of the process-wide generator, which has the default options. It panics only if
// the system clock is before 1970-01-01T00:00:00.001Z or after the year 10889.
func New() (id ID) {
	if err := global.generate(context.Background(), &id); err != nil {
		panic(err)
	}
	return id
}

// NewString is like [New], but returns the text.
func NewString() string {
	var id ID
	if err := global.generate(context.Background(), &id); err != nil {
		panic(err)
	}
	var b [TextLen]byte
	// The method String would copy the ID.
	return string(textcodec.AppendBase36Long(b[:0], (*[Size]byte)(&id)))
}

// NewAt is [Generator.GenerateAt] of the process-wide generator.
func NewAt(t time.Time) (ID, error) { return global.GenerateAt(t) }

// Generate returns the next ID. It can fail with [sortid.ErrClockRollback], [sortid.ErrTimeRange]
// or [sortid.ErrEntropy]. With [sortid.RollbackWait] it can block.
func (g *Generator) Generate() (id ID, err error) {
	err = g.generate(context.Background(), &id)
	return id, err
}

// GenerateAt returns an ID of t's millisecond, for example for an old row. It makes the ID from 80 new
// random bits, so the ID is unique, but IDs of one millisecond are in no order. It does not change which
// IDs Generate returns. If IDs cannot have the time, the error matches [sortid.ErrTimeRange].
func (g *Generator) GenerateAt(t time.Time) (ID, error) {
	return gencore.At(&g.core, t, func(timestamp int64) (ID, error) {
		if timestamp <= 0 || timestamp >= MaxTimestamp {
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
		return FromUint128(uint64(timestamp)<<16|uint64(high&0xffff), low), nil
	})
}

// GenerateContext is like Generate, but stops waiting when the context ends. Then the error matches
// the context's error and [sortid.ErrClockRollback].
func (g *Generator) GenerateContext(ctx context.Context) (id ID, err error) {
	err = g.generate(ctx, &id)
	return id, err
}

// generate sets id, which must be zero, to the next ID. After an error, id is zero.
func (g *Generator) generate(ctx context.Context, id *ID) error {
	for {
		counter := clock.Counter() // read first, to hold the lock for less time
		if v, ok := g.core.TakeOrLock(counter); ok {
			id.put(v.High|v.Number>>32, v.Number<<32|v.Random()&MaxEntropy)
			return nil
		}
		g.counter += g.core.Close()
		hi, lo, err := g.next(g.core.Clock.Milli(counter))
		g.open()
		if err = g.core.Finish(ctx, err); err != gencore.ErrRetry {
			id.put(hi, lo)
			return err
		}
	}
}

// open lets other callers make the next IDs of this timestamp without the lock.
func (g *Generator) open() {
	if !g.stateless {
		g.core.Open(g.settledTick, maxCounter-g.counter,
			gencore.Values{Number: g.counter, High: uint64(g.timestamp) << 16})
	}
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

// step makes the next ID with the same timestamp. The counters must not be full.
func (g *Generator) step(entropy uint32) (hi, lo uint64) {
	g.counter++
	return uint64(g.timestamp)<<16 | g.counter>>32, g.counter<<32 | uint64(entropy)
}

// next makes the next ID and returns its halves.
func (g *Generator) next(now int64) (hi, lo uint64, err error) {
	if now != g.settledTick || g.counter == maxCounter {
		return g.slowPath(now)
	}
	e, err := g.core.Rand.Uint32()
	if err != nil {
		return 0, 0, g.core.EntropyError(err)
	}
	hi, lo = g.step(e)
	return hi, lo, nil
}

func (g *Generator) fill(now int64, ids []ID) (int, error) {
	g.counter += g.core.Close()
	defer g.open()
	for i := range ids {
		if now == g.settledTick && g.counter < maxCounter {
			if e, ok := g.core.Rand.Next32(); ok {
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

// slowPath makes the next ID if the clock shows another tick or the counters are full.
func (g *Generator) slowPath(now int64) (hi, lo uint64, err error) {
	g.core.Rand.Tick(now)
	counterHi := g.counter >> 24
	timestamp := g.timestamp
	switch {
	case g.stateless:
		g.renewed = notRenewed
		return g.begin(gencore.NoTick, now, 0)
	case now > timestamp:
		return g.begin(now, now, counterHi)
	case g.counter == maxCounter:
		timestamp, counterHi = timestamp+1, 0
	}
	reset, err := g.core.CheckRollback(now, g.timestamp, timestamp)
	switch {
	case err != nil:
		return 0, 0, err
	case reset:
		g.renewed = notRenewed
		return g.begin(now, now, 0)
	case timestamp != g.timestamp:
		return g.begin(now, timestamp, counterHi)
	}
	g.settledTick = now
	return g.next(now)
}

func (g *Generator) begin(settled, timestamp int64, counterHi uint64) (hi, lo uint64, err error) {
	if timestamp <= 0 || timestamp >= MaxTimestamp {
		return 0, 0, g.core.TimeRangeError(timestamp)
	}
	renewed := g.renewed
	if timestamp-renewed >= renewalPeriod {
		w, err := g.core.Rand.Uint32()
		if err != nil {
			return 0, 0, g.core.EntropyError(err)
		}
		counterHi, renewed = uint64(w&MaxCounterHi), timestamp
	}
	w, err := g.core.Rand.Uint64()
	if err != nil {
		return 0, 0, g.core.EntropyError(err)
	}
	counterLo := w >> 32 & MaxCounterLo
	g.settledTick, g.timestamp, g.renewed = settled, timestamp, renewed
	g.counter = counterHi<<24 | counterLo
	return uint64(timestamp)<<16 | g.counter>>32, g.counter<<32 | w&MaxEntropy, nil
}
