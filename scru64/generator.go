package scru64

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"sync"
	"time"

	"github.com/sortid/sortid"
	"github.com/sortid/sortid/internal/clock"
	"github.com/sortid/sortid/internal/gencore"
)

// NodeSpecVar is the environment variable that configures [New].
const NodeSpecVar = "SCRU64_NODE_SPEC"

const (
	name     = "scru64"
	integers = "0 to 4738381338321616895, the largest ID"

	guardedSize = 20
)

var format = gencore.Format{Name: name, Shift: tickBits, Policy: sortid.RollbackAbort}

// ErrCounterStart: the function [Options.CounterStart] returned a number that is too large.
var ErrCounterStart = errors.New("scru64: the counter's start is too large")

// A Generator makes IDs that strictly increase. It is safe for concurrent use. Two generators that
// run at the same time, even in one process, need different node IDs or a shared lease.
//
// The counter starts at a random number in each tick. When the counter is full, the timestamp goes
// up by one and the counter starts at a new random number. While the timestamp is ahead of the
// clock, the generator acts as if the clock had gone back. So the node ID's size limits how many IDs
// a generator can make in the long run: at most 2^(24-n) in 256 ms with n bits. Because of the
// random starts it is about half, or 128,000 IDs a second with 8 bits.
//
// A zero Generator fails with [sortid.ErrOption]. Do not copy a Generator.
type Generator struct {
	core gencore.Core

	last      ID
	end       ID    // the largest ID with this timestamp and node ID
	timestamp int64 // of the last ID

	settledTick int64 // while the clock shows this tick, new IDs keep the timestamp
	fullAt      int64 // the clock's tick when a full counter last moved the timestamp, or NoTick

	node        ID // the node ID, shifted to its position
	counterBits int
	guardBits   int // high counter bits that start at zero
	start       func(timestamp uint64, counterSize int) uint32
}

// Options are the options of a [Generator]. Set either NodeSpec or Lease. The default policy is
// [sortid.RollbackAbort]. DANGER: [sortid.RollbackReset] can repeat IDs.
type Options struct {
	sortid.GeneratorOptions

	// NodeSpec is a node ID that only this generator may have. If the spec has a previous ID, all
	// new IDs are larger. If the clock is behind the previous ID, the generator acts as if the
	// clock had gone back.
	NodeSpec NodeSpec

	// Lease grants node IDs and ticks; see [sortid.Lease]. A *lease.Lease must have the format
	// lease.SCRU64(). Clock must be the clock that the lease uses. With a lease, NodeSpec and
	// RollbackReset are not allowed.
	Lease sortid.Lease

	// OverflowGuard is the number of high counter bits that are zero at the start of each tick. The
	// other bits are random at the start. If n of the counter's c bits are zero at the start, a
	// tick has room for at least 2^c - 2^(c-n) + 1 IDs. Zero means the default: one bit if the node
	// ID has 20 bits or more, otherwise no bits. A negative value means no bits. A value above the
	// counter's size is an error.
	OverflowGuard int

	// CounterStart replaces the random start of the counter in each tick. Its arguments are the
	// timestamp and the counter's size in bits. If the result is not below 2^counterSize, the
	// generator fails with ErrCounterStart. CounterStart runs under the generator's lock, so it
	// must not call the generator. If the generator cannot make the ID, it may discard the result.
	// With CounterStart, OverflowGuard must be zero.
	CounterStart func(timestamp uint64, counterSize int) uint32
}

// NewGenerator returns a generator. The error is [ErrNodeSpec] if the options have neither a
// NodeSpec nor a Lease, or if no ID can follow the previous ID. If another option is wrong, the
// error is a [*sortid.OptionError].
func NewGenerator(o Options) (*Generator, error) {
	g := &Generator{timestamp: gencore.NoTick, settledTick: gencore.NoTick, fullAt: gencore.NoTick,
		start: o.CounterStart}
	if err := g.core.Init(&format, o.GeneratorOptions, o.Lease); err != nil {
		return nil, err
	}
	spec := o.NodeSpec
	size := spec.NodeIDSize()
	switch {
	case o.Lease != nil && !spec.IsZero():
		return nil, g.core.OptionsError([]string{"Lease", "NodeSpec"},
			"they exclude each other: the lease has the node ID, the NodeSpec is %v", spec)
	case o.Lease != nil:
		size = o.Lease.NodeBits()
		if err := checkSize(size); err != nil {
			return nil, g.core.OptionError("Lease", "%w", err)
		}
	case spec.IsZero():
		return nil, fmt.Errorf("%w: none; make one with NewNodeSpec or ParseNodeSpec", ErrNodeSpec)
	}
	g.counterBits = counterBits(size)
	g.node = newNodeSpec(spec.NodeID(), size).id
	if id, ok := spec.Previous(); ok {
		if id.Timestamp() >= MaxTimestamp {
			return nil, fmt.Errorf("%w %q: no ID comes after the reserved timestamp", ErrNodeSpec,
				spec)
		}
		g.set(int64(id.Timestamp()), id.Counter(size))
	}
	switch {
	case o.OverflowGuard > g.counterBits:
		return nil, g.core.OptionError("OverflowGuard",
			"%d bits, want at most %d, the counter's size", o.OverflowGuard, g.counterBits)
	case o.OverflowGuard != 0 && o.CounterStart != nil:
		return nil, g.core.OptionsError([]string{"OverflowGuard", "CounterStart"},
			"they exclude each other")
	case o.OverflowGuard == 0 && size >= guardedSize:
		g.guardBits = 1
	default:
		g.guardBits = max(o.OverflowGuard, 0)
	}
	return g, nil
}

var global = sync.OnceValues(fromEnvironment)

func fromEnvironment() (*Generator, error) {
	const hint = "set it to a node ID that only this process has, and its size, for example " +
		NodeSpecVar + "=42/8"
	s, ok := os.LookupEnv(NodeSpecVar)
	if !ok {
		return nil, fmt.Errorf("%w: the environment variable %s is not set; %s", ErrNodeSpec,
			NodeSpecVar, hint)
	}
	spec, err := ParseNodeSpec(s)
	if err != nil {
		return nil, fmt.Errorf("%w, in the environment variable %s; %s", err, NodeSpecVar, hint)
	}
	return NewGenerator(Options{NodeSpec: spec})
}

// New returns an ID of the process-wide generator. The first call reads that generator's node spec
// from the environment variable SCRU64_NODE_SPEC. If the variable is unset or invalid, each call
// fails with [ErrNodeSpec]. New can also fail as [Generator.Generate] does.
func New() (ID, error) {
	g, err := global()
	if err != nil {
		return 0, err
	}
	return g.generate(context.Background())
}

// NewString is like [New], but returns the text.
func NewString() (string, error) {
	id, err := New()
	if err != nil {
		return "", err
	}
	return id.String(), nil
}

// Generate returns the next ID. It can fail with [sortid.ErrClockRollback], [sortid.ErrTimeRange],
// [sortid.ErrEntropy] or [ErrCounterStart]. If full counters moved the timestamp ahead of the clock
// by more than the allowance, the error matches both ErrClockRollback and [sortid.ErrOverflow].
// With a lease it can also fail with [sortid.ErrLeaseExpired] or [sortid.ErrLeaseClosed]. With
// [sortid.RollbackWait] it can block.
func (g *Generator) Generate() (ID, error) { return g.generate(context.Background()) }

// GenerateContext is like Generate, but stops waiting when the context ends. Then the error matches
// the context's error and the reason for the wait: [sortid.ErrClockRollback] or
// [sortid.ErrLeaseExpired].
func (g *Generator) GenerateContext(ctx context.Context) (ID, error) { return g.generate(ctx) }

func (g *Generator) generate(ctx context.Context) (ID, error) {
	for {
		counter := clock.Counter() // read first, to hold the lock for less time
		if v, ok := g.core.TakeOrLock(counter); ok {
			return ID(v.Number), nil
		}
		g.last += ID(g.core.Close())
		id, err := g.next(g.core.Clock.Milli(counter) >> tickBits)
		g.open()
		if err = g.core.Finish(ctx, err); err != gencore.ErrRetry {
			return id, err
		}
	}
}

// open lets other callers make the next IDs of this timestamp without the lock.
func (g *Generator) open() {
	g.core.Open(g.settledTick, uint64(g.end-g.last), gencore.Values{Number: uint64(g.last)})
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

// next makes the next ID. Its argument is the clock's tick.
func (g *Generator) next(now int64) (ID, error) {
	if now != g.settledTick || g.last == g.end {
		return g.slowPath(now)
	}
	g.last++
	return g.last, nil
}

func (g *Generator) fill(now int64, ids []ID) (int, error) {
	g.last += ID(g.core.Close())
	defer g.open()
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
		last := g.last
		for i := range run {
			last++
			run[i] = last
		}
		g.last = last
		made += len(run)
	}
	return len(ids), nil
}

// slowPath makes the next ID if the clock shows another tick or the counter is full.
func (g *Generator) slowPath(now int64) (ID, error) {
	g.core.Rand.Tick(now << tickBits)
	timestamp := g.timestamp
	switch {
	case now > timestamp:
		g.fullAt = gencore.NoTick
		return g.begin(now, now)
	case g.last == g.end:
		g.fullAt = max(g.fullAt, now)
		timestamp++
	}
	reset, err := g.core.CheckRollback(now, g.timestamp, timestamp)
	switch {
	case err != nil:
		return 0, g.behind(now, err)
	case reset:
		return g.begin(now, now)
	case timestamp != g.timestamp:
		return g.begin(now, timestamp)
	}
	g.settledTick = now
	g.last++
	return g.last, nil
}

// begin makes the first ID of a timestamp, or of a later timestamp that a lease grants.
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
		g.last-- // a later call makes this ID, when the clock is near enough
		g.settledTick = gencore.NoTick
		return 0, g.behind(settled, err)
	}
	return id, nil
}

// behind returns the error for a clock that is behind by more than the allowance. If the clock did
// not go back, the reason is that the counter was full too often.
func (g *Generator) behind(now int64, err error) error {
	if g.fullAt == gencore.NoTick || now < g.fullAt || !errors.Is(err, sortid.ErrClockRollback) {
		return err
	}
	return g.core.FullError("the last ID is %v ahead of the clock, and "+
		"a node ID of %d bits has at most %d IDs in a tick of %v; "+
		"use sortid.RollbackWait to wait, or also generators with other node IDs",
		time.Duration(g.timestamp-now)*Tick, nodeCtrBits-g.counterBits, 1<<g.counterBits, Tick)
}

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
			return 0, fmt.Errorf("%w: %d, want at most %d bits", ErrCounterStart, n,
				g.counterBits)
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

func (g *Generator) set(timestamp int64, counter uint32) {
	first := ID(timestamp)<<nodeCtrBits | g.node
	g.timestamp, g.last, g.end = timestamp, first|ID(counter), first|(1<<g.counterBits-1)
}
