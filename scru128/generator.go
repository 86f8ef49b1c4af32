package scru128

import (
	"context"
	"iter"

	"github.com/sortid/sortid"
	"github.com/sortid/sortid/internal/base36"
	"github.com/sortid/sortid/internal/clock"
	"github.com/sortid/sortid/internal/gen"
)

const (
	name = "scru128"

	maxCounter    = 1<<48 - 1          // counter_hi and counter_lo as one integer
	renewalPeriod = 1000               // milliseconds after which counter_hi is renewed
	notRenewed    = -1 * renewalPeriod // so far before any timestamp that renewal is due
)

var format = gen.Format{Name: name, Policy: sortid.RollbackReset}

// A Generator makes IDs that strictly increase while the clock does not go back by
// more than the allowance.
//
//	Method                    Time from            Concurrent use   On a big rollback
//	Generate, Fill, All       the system's clock   safe             the policy
//	...Context                or Options.Clock     safe             the policy
//	with Stateless            the same             safe             nothing: no order
//
// Within a millisecond counter_lo goes up by one from a random start. Each second, counter_hi
// starts at a new random number. Entropy is new in each ID. When counter_lo is full, counter_hi
// goes up by one and counter_lo becomes zero. When both are full, the timestamp goes up by one,
// counter_hi becomes zero and counter_lo random. The timestamp is then ahead of the clock, which
// counts as a rollback of that size.
//
// If many goroutines share one generator, all their IDs are in order, at the price of a lock. A
// generator for each goroutine is faster on many cores, but keeps order only within each.
//
// NewGenerator makes generators. The zero value makes no IDs and returns [sortid.ErrOption].
// A generator must not be copied, or both make the same IDs: go vet finds that.
type Generator struct {
	core gen.Core

	timestamp   int64  // of the last ID
	counter     uint64 // of the last ID
	settledTick int64  // the clock's time for which timestamp is settled
	renewed     int64  // the timestamp when counter_hi was last renewed
	stateless   bool
}

// Options are the options of a [Generator]. The zero value means the defaults, among them
// [sortid.RollbackReset].
type Options struct {
	sortid.GeneratorOptions

	// Stateless makes each ID from the clock and 80 random bits alone. Such IDs are in no order
	// within a millisecond, and follow the clock when it goes back. Stateless suits programs that
	// rarely make IDs; so does a generator with state.
	Stateless bool
}

// NewGenerator returns a generator. If an option is wrong, it returns a [*sortid.OptionError].
func NewGenerator(o Options) (*Generator, error) {
	g := &Generator{
		timestamp:   gen.NoTick,
		settledTick: gen.NoTick,
		renewed:     notRenewed,
		stateless:   o.Stateless,
	}
	if err := g.core.Init(&format, o.GeneratorOptions, nil); err != nil {
		return nil, err
	}
	return g, nil
}

var global = gen.Must(NewGenerator(Options{}))

// New returns an ID of the process-wide generator, which all goroutines share and which has
// default options. It panics only if the system clock is before 1970-01-01T00:00:00.001Z or after
// the year 10889.
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

// Generate returns the next ID. It fails with [sortid.ErrClockRollback], [sortid.ErrTimeRange]
// (before 1970-01-01T00:00:00.001Z or after the year 10889) or [sortid.ErrEntropy]. With
// [sortid.RollbackWait] it may block.
func (g *Generator) Generate() (id ID, err error) {
	_, _, err = g.generate(context.Background(), &id)
	return id, err
}

// GenerateContext is Generate with a context that limits the wait of [sortid.RollbackWait]. If the
// context ends, the error matches the context's and [sortid.ErrClockRollback].
func (g *Generator) GenerateContext(ctx context.Context) (id ID, err error) {
	_, _, err = g.generate(ctx, &id)
	return id, err
}

// generate sets id, which must be zero, to the next ID and returns its two halves. After an error
// all are zero.
//
// With the halves, NewString can encode the ID without reloading it. The fast path writes the ID
// before the unlock, which waits for all writes anyway. Copying the 16 bytes right after the two
// writes would wait for them a second time.
func (g *Generator) generate(ctx context.Context, id *ID) (hi, lo uint64, err error) {
	for {
		counter := clock.Counter() // before the lock, to hold that briefly
		g.core.Lock()
		now := g.core.Clock.Milli(counter)
		if now == g.settledTick && g.counter < maxCounter {
			if e, ok := g.core.Next32(); ok {
				hi, lo = g.step(e)
				id.put(hi, lo)
				g.core.Unlock()
				return hi, lo, nil
			}
		}
		hi, lo, err = g.next(now)
		if err = g.core.Finish(ctx, err); err != gen.ErrRetry {
			id.put(hi, lo)
			return hi, lo, err
		}
	}
}

// Fill sets every element of ids to a new ID, in order. It reads the clock and takes the lock once
// for every 4096 IDs. It fails as Generate does. Then it clears ids, and the IDs made so far are
// lost.
func (g *Generator) Fill(ids []ID) error { return g.FillContext(context.Background(), ids) }

// FillContext is Fill, with a context as in GenerateContext.
func (g *Generator) FillContext(ctx context.Context, ids []ID) error {
	return gen.Fill(ctx, &g.core, ids, g.fill)
}

// All returns an endless sequence of results of Generate.
func (g *Generator) All() iter.Seq2[ID, error] { return gen.All(g.Generate) }

// step makes an ID if the timestamp stays and the counters are not full.
func (g *Generator) step(entropy uint32) (hi, lo uint64) {
	g.counter++
	return uint64(g.timestamp)<<16 | g.counter>>32, g.counter<<32 | uint64(entropy)
}

// next makes the next ID, as two halves, at the clock's time now.
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

// fill makes many IDs, and returns how many.
func (g *Generator) fill(now int64, ids []ID) (int, error) {
	for i := range ids {
		if now == g.settledTick && g.counter < maxCounter {
			if e, ok := g.core.Next32(); ok {
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

// slowPath is next if the clock has moved or the counters are full.
func (g *Generator) slowPath(now int64) (hi, lo uint64, err error) {
	g.core.Rand.Tick(now)
	counterHi := g.counter >> 24
	timestamp := g.timestamp
	switch {
	case g.stateless:
		g.renewed = notRenewed
		return g.begin(gen.NoTick, now, 0)
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

// begin makes the first ID of a timestamp. That stays settled while the clock shows settled.
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
