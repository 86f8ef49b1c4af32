package scru160

import (
	"context"
	"iter"
	"time"

	"github.com/sortid/sortid"
	"github.com/sortid/sortid/internal/clock"
	"github.com/sortid/sortid/internal/gencore"
)

const name = "scru160"

var format = gencore.Format{Name: name, Policy: sortid.RollbackReset}

// A Generator makes IDs that strictly increase. It is safe for concurrent use. On many cores, a
// generator for each goroutine is faster. But within a tick, IDs of different goroutines are in no
// order.
//
// A tick is a millisecond, or a microsecond with [Options.Microseconds]. In each tick the counter
// starts at a random number whose top bit is zero, and goes up by one for each ID. So a millisecond
// has room for at least 32,769 IDs by default. When the counter is full, the call waits until the
// clock has passed the last timestamp, because the timestamp must be the Unix time. If a context
// ends before that, the error matches [sortid.ErrOverflow].
//
// A zero Generator fails with [sortid.ErrOption]. Do not copy a Generator.
type Generator struct {
	core gencore.Core

	tick int64  // of the last ID, in milli- or microseconds
	hi   uint64 // the high 64 bits of the last ID, with counter 0

	counter uint64 // of the last ID, with the counter's bits in the field random16

	settledTick int64 // while the clock shows this tick, new IDs keep the last tick

	maxCounter uint64
	startMask  uint64 // the counter bits that are random at the start of a tick
	ext        int    // the counter's bits in random16
	nodeBits   int
	node       uint64 // the node ID, shifted to its position in the middle 64 bits
	randomMask uint64 // the random bits of the middle 64 bits
	micros     bool
}

// Options are the options of a [Generator]. The zero value means the defaults. The default policy
// is [sortid.RollbackReset], or [sortid.RollbackAbort] with a lease.
type Options struct {
	sortid.GeneratorOptions

	// Microseconds puts the microseconds of the time, 0 to 999, into the high 10 bits of the
	// counter. The low 6 bits count the IDs of a microsecond, from a random number of 5 bits. So a
	// microsecond has room for at least 33 IDs, and IDs of several generators sort by the
	// microsecond. The generator reads the clock for each ID, which takes more time than the rest
	// of the work. Fill reads the clock once for all IDs that fit in a microsecond.
	Microseconds bool

	// CounterWidth is the number of low counter bits that are random at the start of each tick. The
	// other bits are zero at the start. Fewer random bits leave room for more IDs, but make the
	// next ID easier to guess. Zero means the maximum: 15 (5 with Microseconds) plus
	// CounterExtension. A negative value means no bits. Without other options, a millisecond then
	// has room for 65,536 IDs.
	CounterWidth int

	// CounterExtension adds bits to the counter, 0 to 16. They are the high bits of random16. Each
	// bit doubles the room for IDs in a tick.
	CounterExtension int

	// NodeID has NodeBits bits. In random16, it follows the bits of CounterExtension. If NodeBits
	// is zero, there is no node ID.
	NodeID   uint16
	NodeBits int

	// Lease grants node IDs and milliseconds; see [sortid.Lease]. A *lease.Lease must have the
	// format lease.SCRU160. Clock must be the clock that the lease uses. With a lease, NodeBits and
	// RollbackReset are not allowed.
	//
	// The lease sets the size of the node ID. This size plus CounterExtension must be at most 16
	// bits. All generators of a realm must have the same CounterExtension, which decides where the
	// node ID is.
	Lease sortid.Lease
}

// NewGenerator returns a generator, or a [*sortid.OptionError] if an option is wrong.
func NewGenerator(o Options) (*Generator, error) {
	g := &Generator{tick: gencore.NoTick, settledTick: gencore.NoTick, ext: o.CounterExtension,
		micros: o.Microseconds}
	if err := g.core.Init(&format, o.GeneratorOptions, o.Lease); err != nil {
		return nil, err
	}
	g.nodeBits = o.NodeBits
	node := "NodeBits"
	switch {
	case o.CounterExtension < 0 || o.CounterExtension > 16:
		return nil, g.core.OptionError("CounterExtension", "%d bits, want 0 to 16",
			o.CounterExtension)
	case o.NodeBits < 0 || o.NodeBits > 16:
		return nil, g.core.OptionError("NodeBits", "%d bits, want 0 to 16", o.NodeBits)
	case int(o.NodeID)>>o.NodeBits != 0:
		return nil, g.core.OptionsError([]string{"NodeID", "NodeBits"},
			"the node ID %d has more than %d bits", o.NodeID, o.NodeBits)
	case o.Lease != nil && o.NodeBits > 0:
		return nil, g.core.OptionsError([]string{"Lease", "NodeBits"},
			"they exclude each other: the lease has the node ID")
	case o.Lease != nil:
		g.nodeBits, node = o.Lease.NodeBits(), "Lease"
	}
	if g.ext+g.nodeBits > 16 {
		return nil, g.core.OptionsError([]string{"CounterExtension", node},
			"%d and %d bits are more than the 16 bits of random16",
			g.ext, g.nodeBits)
	}
	size := 16 + g.ext
	if g.micros {
		size = 6 + g.ext
		g.core.UseMicroseconds(o.RollbackAllowance)
	}
	width := o.CounterWidth
	switch {
	case width == 0:
		width = size - 1
	case width < 0:
		width = 0
	case width > size-1:
		return nil, g.core.OptionError("CounterWidth",
			"%d bits, want at most %d, one less than the counter's size", width, size-1)
	}
	g.maxCounter, g.startMask = 1<<size-1, 1<<width-1
	g.node = g.placeNode(uint32(o.NodeID))
	g.randomMask = 1<<(64-g.ext-g.nodeBits) - 1
	return g, nil
}

func (g *Generator) placeNode(id uint32) uint64 { return uint64(id) << (64 - g.ext - g.nodeBits) }

var global = gencore.Must(NewGenerator(Options{}))

// New returns an ID of the process-wide generator, which has the default options. It panics only if
// the system clock is before 1970-01-01T00:00:00.001Z or after the year 10889. It waits if the
// counter is full.
func New() (id ID) {
	if err := global.generate(context.Background(), &id); err != nil {
		panic(err)
	}
	return id
}

// NewString is like [New], but returns the text.
func NewString() string { return New().String() }

// NewAt is [Generator.GenerateAt] of the process-wide generator.
func NewAt(t time.Time) (ID, error) { return global.GenerateAt(t) }

// Generate returns the next ID. It can fail with [sortid.ErrClockRollback], [sortid.ErrTimeRange]
// or [sortid.ErrEntropy]. With a lease it can also fail with [sortid.ErrLeaseExpired] or
// [sortid.ErrLeaseClosed]. With a full counter or [sortid.RollbackWait] it can block.
func (g *Generator) Generate() (id ID, err error) {
	err = g.generate(context.Background(), &id)
	return id, err
}

// GenerateAt returns an ID of t's tick, for example for an old row. It makes the ID from 112 new
// random bits, so the ID is unique, but IDs of one tick are in no order. It does not change which
// IDs Generate returns. If IDs cannot have the time, the error matches [sortid.ErrTimeRange].
// A node ID and microseconds take the place of random bits. A generator with a lease fails with
// [sortid.ErrOption], because the lease grants only future ticks.
func (g *Generator) GenerateAt(t time.Time) (ID, error) {
	return gencore.At(&g.core, t, func(tick int64) (id ID, err error) {
		timestamp, micro := tick, int64(0)
		if g.micros {
			timestamp, micro = tick/1000, tick%1000
		}
		if timestamp <= 0 || timestamp >= MaxTimestamp {
			return ID{}, g.core.NoTimeError(tick)
		}
		counter, err := g.core.Rand.Uint32()
		if err != nil {
			return ID{}, g.core.EntropyError(err)
		}
		mid, lo, err := g.entropy()
		if err != nil {
			return ID{}, err
		}
		c := uint64(counter) & g.maxCounter
		hi := uint64(timestamp)<<16 | uint64(micro)<<6 | c>>g.ext
		id.put(hi, c<<(64-g.ext)|g.node|mid&g.randomMask, lo)
		return id, nil
	})
}

// GenerateContext is like Generate, but stops waiting when the context ends. Then the error matches
// the context's error and the reason for the wait: [sortid.ErrOverflow], [sortid.ErrClockRollback]
// or [sortid.ErrLeaseExpired].
func (g *Generator) GenerateContext(ctx context.Context) (id ID, err error) {
	err = g.generate(ctx, &id)
	return id, err
}

// generate sets id, which must be zero, to the next ID. An error leaves id zero.
func (g *Generator) generate(ctx context.Context, id *ID) error {
	for {
		counter := clock.Counter() // read first, to hold the lock for less time
		if v, ok := g.core.TakeOrLock(counter); ok {
			hi, mid := g.place(v.High, v.Node, v.Number, v.Random())
			id.put(hi, mid, uint32(v.Random()))
			return nil
		}
		g.counter += g.core.Close()
		hi, mid, lo, err := g.next(g.core.Now(counter))
		g.open()
		if err = g.core.Finish(ctx, err); err != gencore.ErrRetry {
			id.put(hi, mid, lo)
			return err
		}
	}
}

// open lets other callers make the next IDs of this tick without the lock.
func (g *Generator) open() {
	g.core.Open(g.settledTick, g.maxCounter-g.counter,
		gencore.Values{Number: g.counter, High: g.hi, Node: g.node})
}

// Fill sets ids to new IDs, in order. It locks the generator for up to 4096 IDs of one tick at a
// time. It can fail as Generate does; then it clears ids.
func (g *Generator) Fill(ids []ID) error { return g.FillContext(context.Background(), ids) }

// FillContext is like Fill, but with a context.
func (g *Generator) FillContext(ctx context.Context, ids []ID) error {
	return gencore.Fill(ctx, &g.core, ids, g.fill)
}

// All returns an endless sequence of the results of Generate.
func (g *Generator) All() iter.Seq2[ID, error] { return gencore.All(g.Generate) }

// next makes the next ID and returns its bits, from high to low.
func (g *Generator) next(now int64) (hi, mid uint64, lo uint32, err error) {
	if now != g.settledTick || g.counter == g.maxCounter {
		return g.slowPath(now)
	}
	mid, lo, err = g.entropy()
	if err != nil {
		return 0, 0, 0, err
	}
	hi, mid = g.step(mid)
	return hi, mid, lo, nil
}

// step returns the high and middle bits of the next ID in the same tick. The counter must not be
// full.
func (g *Generator) step(random uint64) (hi, mid uint64) {
	g.counter++
	return g.place(g.hi, g.node, g.counter, random)
}

// place returns the high and the middle bits of an ID. It only reads options, so its caller needs
// no lock.
func (g *Generator) place(hi, node, counter, random uint64) (uint64, uint64) {
	return hi | counter>>g.ext, counter<<(64-g.ext) | node | random&g.randomMask
}

func (g *Generator) fill(now int64, ids []ID) (int, error) {
	g.counter += g.core.Close()
	defer g.open()
	for i := range ids {
		if now == g.settledTick && g.counter < g.maxCounter {
			if mid, lo, ok := g.core.Rand.Next96(); ok {
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

// slowPath makes the next ID if the clock shows another tick or the counter is full.
func (g *Generator) slowPath(now int64) (hi, mid uint64, lo uint32, err error) {
	g.core.Rand.Tick(g.core.Time(now).UnixMilli())
	if now > g.tick {
		return g.begin(now)
	}
	reset, err := g.core.CheckRollback(now, g.tick, g.tick)
	switch {
	case err != nil:
		return 0, 0, 0, err
	case reset:
		return g.begin(now)
	case g.counter == g.maxCounter:
		return 0, 0, 0, g.core.WaitFor(g.tick+1, sortid.ErrOverflow)
	}
	g.settledTick = now
	return g.next(now)
}

// begin makes the first ID of a tick, or of a later millisecond that a lease grants.
func (g *Generator) begin(now int64) (hi, mid uint64, lo uint32, err error) {
	if !g.core.Leased() || g.micros && now/1000 == g.tick/1000 {
		return g.first(now, now, g.node)
	}
	unit := int64(1) // ticks in a millisecond
	if g.micros {
		unit = 1000
	}
	node, millisecond, err := g.core.Claim(now / unit)
	if err != nil {
		return 0, 0, 0, err
	}
	tick := max(now, millisecond*unit)
	hi, mid, lo, err = g.first(now, tick, g.placeNode(node))
	if err != nil {
		return 0, 0, 0, err
	}
	if _, err := g.core.CheckRollback(now, tick, tick); err != nil {
		g.counter-- // a later call makes this ID, when the clock is within the allowance
		g.settledTick = gencore.NoTick
		return 0, 0, 0, err
	}
	return hi, mid, lo, nil
}

func (g *Generator) first(settled, tick int64, node uint64) (hi, mid uint64, lo uint32, err error) {
	timestamp, micro := tick, int64(0)
	if g.micros {
		timestamp, micro = tick/1000, tick%1000
	}
	if timestamp <= 0 || timestamp >= MaxTimestamp {
		return 0, 0, 0, g.core.TimeRangeError(tick)
	}
	w, err := g.core.Rand.Uint32()
	if err != nil {
		return 0, 0, 0, g.core.EntropyError(err)
	}
	mid, lo, err = g.entropy()
	if err != nil {
		return 0, 0, 0, err
	}
	g.settledTick, g.tick, g.node = settled, tick, node
	g.hi = uint64(timestamp)<<16 | uint64(micro)<<6
	g.counter = uint64(w) & g.startMask
	hi, mid = g.place(g.hi, node, g.counter, mid)
	return hi, mid, lo, nil
}

func (g *Generator) entropy() (mid uint64, lo uint32, err error) {
	if mid, err = g.core.Rand.Uint64(); err == nil {
		lo, err = g.core.Rand.Uint32()
	}
	if err != nil {
		return 0, 0, g.core.EntropyError(err)
	}
	return mid, lo, nil
}
