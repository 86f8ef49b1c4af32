package scru64

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"sync"

	"github.com/sortid/sortid"
	"github.com/sortid/sortid/internal/clock"
	"github.com/sortid/sortid/internal/gen"
)

// NodeSpecVar is the environment variable that configures the process-wide generator.
const NodeSpecVar = "SCRU64_NODE_SPEC"

const (
	name     = "scru64"
	integers = "0 to 4738381338321616895, the largest ID"

	// From this node_id_size on, one guard bit is the default.
	guardedSize = 20
)

var format = gen.Format{Name: name, Shift: tickBits, Policy: sortid.RollbackAbort}

// ErrCounterStart: the function [Options.CounterStart] returned a number that is too large.
var ErrCounterStart = errors.New("scru64: the counter cannot start there")

// A Generator makes IDs of one node that strictly increase.
//
//	Method                    Time from            Concurrent use   On a big rollback
//	Generate, Fill, All       the system's clock   safe             the policy
//	...Context                or Options.Clock     safe             the policy
//
// Within a tick of 256 ms the counter goes up by one from a random start. When it is
// full the timestamp goes up by one, the counter starts at random again, and the
// timestamp's lead over the clock counts as a rollback of that size.
//
// All goroutines share the one generator of their node. Two generators that run at the
// same time must differ in their node IDs, within a process, too, or share a lease; see
// [Options].
type Generator struct {
	core gen.Core

	last        ID    // the last ID
	end         ID    // the last ID of the same timestamp
	timestamp   int64 // of the last ID
	settledTick int64 // the clock's tick for which timestamp is settled

	node        ID // the node ID where it belongs
	counterBits int
	guardBits   int
	start       func(timestamp uint64, counterSize int) uint32
}

// Options are the options of a [Generator]. Either NodeSpec or Lease is needed; for the
// rest the zero value means the defaults, among them [sortid.RollbackAbort]. Mind the danger
// of [sortid.RollbackReset].
type Options struct {
	sortid.GeneratorOptions

	// NodeSpec is the node ID of this generator alone, and its size. If it has a previous
	// ID, all IDs are larger than that, and a clock that is behind it counts as one that
	// went back.
	NodeSpec NodeSpec

	// Lease grants the node ID, and the ticks that IDs may carry; it excludes NodeSpec and
	// RollbackReset. It is a *lease.Lease of format lease.SCRU64, or any other
	// [sortid.Lease]. Clock must be the lease's.
	//
	// Node ID and timestamp are the lease's: the node ID may change from one tick to the
	// next, and the timestamp may be ahead of the clock, which counts as a rollback of that
	// size. When the lease has expired the generator fails with [sortid.ErrLeaseExpired],
	// or blocks with [sortid.RollbackWait], until it is renewed. After the lease is closed
	// it fails with [sortid.ErrLeaseClosed], once the tick that it is in has passed.
	//
	// Generators may share a lease. Each tick goes to one of them, so they take ticks ahead
	// of the clock: n generators up to n-1.
	Lease sortid.Lease

	// OverflowGuard is the number of the counter's high bits that start at zero in each
	// tick; the rest start at random. So at least
	//
	//	2^counter_size - 2^(counter_size - bits) + 1
	//
	// IDs fit a tick, counter_size being 24 - node_id_size; and with bits = counter_size,
	// where each tick starts at zero, all 2^counter_size. More bits than that are an error.
	// Zero means the default, which is one bit if node_id_size is 20 or more, else none;
	// negative means none.
	OverflowGuard int

	// CounterStart chooses where the counter starts in each new tick, in place of a random
	// number and of OverflowGuard. It is given the timestamp and the counter's size in bits
	// and must return a number below 2^counterSize, or the call fails with ErrCounterStart
	// and the next one asks again. It is called while the generator is locked, so it must
	// not call the generator, and never from two goroutines at once. An asked-for start may
	// remain without an ID: what follows may fail.
	CounterStart func(timestamp uint64, counterSize int) uint32
}

// NewGenerator returns a generator. It returns [ErrNodeSpec] if the options have neither a
// NodeSpec nor a Lease, or [sortid.ErrOption] and the option that is wrong.
func NewGenerator(o Options) (*Generator, error) {
	g := &Generator{timestamp: gen.NoTick, settledTick: gen.NoTick, start: o.CounterStart}
	if err := g.core.Init(&format, o.GeneratorOptions, o.Lease); err != nil {
		return nil, err
	}
	spec := o.NodeSpec
	size := spec.NodeIDSize()
	switch {
	case o.Lease != nil && !spec.IsZero():
		return nil, g.core.OptionError("Lease and NodeSpec exclude each other: the lease has the node ID, the NodeSpec is %v", spec)
	case o.Lease != nil:
		size = o.Lease.NodeBits()
		if err := checkSize(size); err != nil {
			return nil, g.core.OptionError("Lease: %w", err)
		}
	case spec.IsZero():
		return nil, fmt.Errorf("%w: none; make one with NewNodeSpec or ParseNodeSpec", ErrNodeSpec)
	}
	g.counterBits = counterBits(size)
	g.node = newNodeSpec(spec.NodeID(), size).id
	if id, ok := spec.Previous(); ok {
		if id.Timestamp() >= MaxTimestamp {
			return nil, fmt.Errorf("%w %q: no ID comes after the reserved timestamp", ErrNodeSpec, spec)
		}
		g.set(int64(id.Timestamp()), id.Counter(size))
	}
	switch {
	case o.OverflowGuard > g.counterBits:
		return nil, g.core.OptionError("OverflowGuard: %d bits, want at most %d, the counter's size", o.OverflowGuard, g.counterBits)
	case o.OverflowGuard != 0 && o.CounterStart != nil:
		return nil, g.core.OptionError("OverflowGuard and CounterStart exclude each other")
	case o.OverflowGuard == 0 && size >= guardedSize:
		g.guardBits = 1
	default:
		g.guardBits = max(o.OverflowGuard, 0)
	}
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
	return NewGenerator(Options{NodeSpec: spec})
}

// New returns an ID of the process-wide generator, which all goroutines share and which
// follows the defaults. The environment variable SCRU64_NODE_SPEC, as it is at the first
// call, gives its node spec. If it is unset or invalid each call fails with [ErrNodeSpec].
// Otherwise New fails as [Generator.Generate] does.
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

// Generate returns the next ID. It fails with [sortid.ErrClockRollback],
// [sortid.ErrTimeRange] (for a time before 1970-01-01T00:00:00.256Z or after the year 4261),
// [sortid.ErrEntropy] or [ErrCounterStart], and on a lease with [sortid.ErrLeaseExpired] or
// [sortid.ErrLeaseClosed]. With [sortid.RollbackWait] it may block.
func (g *Generator) Generate() (ID, error) { return g.generate(context.Background()) }

// GenerateContext is Generate, with a context that bounds the waiting of
// [sortid.RollbackWait]. If it ends, the error matches the context's and
// [sortid.ErrClockRollback] or [sortid.ErrLeaseExpired].
func (g *Generator) GenerateContext(ctx context.Context) (ID, error) { return g.generate(ctx) }

func (g *Generator) generate(ctx context.Context) (ID, error) {
	for {
		counter := clock.Counter() // before the lock, to keep that short
		g.core.Lock()
		now := g.core.Clock.Milli(counter) >> tickBits
		if now == g.settledTick && g.last < g.end {
			g.last++
			id := g.last
			g.core.Unlock()
			return id, nil
		}
		id, err := g.slowPath(now)
		if err = g.core.Finish(ctx, err); err != gen.ErrRetry {
			return id, err
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

// fill makes many IDs at the clock's tick now, and returns how many.
func (g *Generator) fill(now int64, ids []ID) (int, error) {
	for made := 0; made < len(ids); {
		if now != g.settledTick || g.last == g.end {
			id, err := g.slowPath(now)
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

// slowPath makes the next ID where the clock has moved to another tick or the counter is
// full.
func (g *Generator) slowPath(now int64) (ID, error) {
	g.core.Rand.Tick(now << tickBits)
	timestamp := g.timestamp
	switch {
	case now > timestamp:
		return g.begin(now, now)
	case g.last == g.end:
		timestamp++
	}
	reset, err := g.core.CheckRollback(now, g.timestamp, timestamp)
	switch {
	case err != nil:
		return 0, err
	case reset:
		return g.begin(now, now)
	case timestamp != g.timestamp:
		return g.begin(now, timestamp)
	}
	g.settledTick = now
	g.last++
	return g.last, nil
}

// begin makes the first ID of a timestamp, or on a lease of a later one, which is settled
// while the clock shows settled.
func (g *Generator) begin(settled, timestamp int64) (ID, error) {
	if !g.core.Leased() {
		return g.first(settled, timestamp)
	}
	node, timestamp, err := g.core.Claim(timestamp)
	if err != nil {
		return 0, err
	}
	g.node = ID(node) << g.counterBits
	id, err := g.first(settled, timestamp)
	if err != nil {
		return 0, err
	}
	if _, err := g.core.CheckRollback(settled, timestamp, timestamp); err != nil {
		g.last-- // to be the first ID once the clock is near
		g.settledTick = gen.NoTick
		return 0, err
	}
	return id, nil
}

// first makes the first ID of a timestamp.
func (g *Generator) first(settled, timestamp int64) (ID, error) {
	if timestamp <= 0 || timestamp >= MaxTimestamp {
		return 0, g.core.TimeRangeError(timestamp)
	}
	counter, err := g.counterStart(timestamp)
	if err != nil {
		return 0, err
	}
	g.set(timestamp, counter)
	g.settledTick = settled
	return g.last, nil
}

func (g *Generator) counterStart(timestamp int64) (uint32, error) {
	if g.start != nil {
		n := g.start(uint64(timestamp), g.counterBits)
		if n>>g.counterBits != 0 {
			return 0, fmt.Errorf("%w: at %d, want a number of %d bits", ErrCounterStart, n, g.counterBits)
		}
		return n, nil
	}
	if g.guardBits == g.counterBits {
		return 0, nil
	}
	w, err := g.core.Rand.Uint32()
	if err != nil {
		return 0, g.core.EntropyError(err)
	}
	return w >> (32 - g.counterBits + g.guardBits), nil
}

// set makes the ID of a timestamp and counter the last one.
func (g *Generator) set(timestamp int64, counter uint32) {
	first := ID(timestamp)<<nodeCtrBits | g.node
	g.timestamp, g.last, g.end = timestamp, first|ID(counter), first|(1<<g.counterBits-1)
}
