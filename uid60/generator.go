package uid60

import (
	"context"
	"iter"

	"github.com/sortid/sortid"
	"github.com/sortid/sortid/internal/clock"
	"github.com/sortid/sortid/internal/gencore"
)

const (
	name     = "uid60"
	integers = "0 to 1152921504606846975, the largest ID"
)

var format = gencore.Format{Name: name, Epoch: epoch, Policy: sortid.RollbackAbort}

// A Generator makes IDs that strictly increase, at most 512 in a millisecond. It is safe for
// concurrent use. Several generators need different worker IDs or a lease; see [Options].
//
// The sequence goes up by one for each ID, also from one millisecond to the next. After 511 it
// starts at 0 again, but only in a new millisecond. So after 511 a generator waits until the clock
// has passed the last timestamp. If a context ends before that, the error matches
// [sortid.ErrOverflow].
//
// A zero Generator fails with [sortid.ErrOption]. Do not copy a Generator.
type Generator struct {
	core gencore.Core

	last      ID    // the last ID without its random bits
	end       ID    // the largest ID of this millisecond, without its random bits
	timestamp int64 // of the last ID

	settledTick int64 // while the clock shows this tick, new IDs keep the timestamp

	worker     ID  // the worker ID, shifted to its position
	randomBits int // size of the field random without the worker ID
}

// Options are the options of a [Generator]. The zero value means the defaults: no worker ID, and
// [sortid.RollbackAbort]. DANGER: [sortid.RollbackReset] can repeat IDs, because at most nine bits
// are random.
type Options struct {
	sortid.GeneratorOptions

	// WorkerID has WorkerIDSize bits, 1 to 9. It is in the high bits of the field random. If the
	// size is zero, there is no worker ID.
	WorkerID     uint16
	WorkerIDSize int

	// Lease grants worker IDs and milliseconds; see [sortid.Lease]. A *lease.Lease must have the
	// format lease.UID60. Clock must be the clock that the lease uses. With a lease, WorkerIDSize
	// and RollbackReset are not allowed.
	Lease sortid.Lease
}

// NewGenerator returns a generator, or a [*sortid.OptionError] if an option is wrong.
func NewGenerator(o Options) (*Generator, error) {
	g := &Generator{
		last:        MaxSequence << sequenceShift, // so the first ID has sequence 0
		timestamp:   gencore.NoTick,
		settledTick: gencore.NoTick,
	}
	if err := g.core.Init(&format, o.GeneratorOptions, o.Lease); err != nil {
		return nil, err
	}
	size := o.WorkerIDSize
	switch {
	case size < 0 || size > sequenceShift:
		return nil, g.core.OptionError("WorkerIDSize", "%d bits, want 1 to %d", size, sequenceShift)
	case o.WorkerID>>size != 0:
		return nil, g.core.OptionError("WorkerID", "%d, want at most %d for %d bits", o.WorkerID,
			1<<size-1, size)
	case o.Lease == nil:
	case size > 0:
		return nil, g.core.OptionsError([]string{"Lease", "WorkerIDSize"},
			"they exclude each other: the lease has the worker ID")
	default:
		if size = o.Lease.NodeBits(); size > sequenceShift {
			return nil, g.core.OptionError("Lease", "a worker ID of %d bits, want 1 to %d", size,
				sequenceShift)
		}
	}
	g.randomBits = sequenceShift - size
	g.worker = ID(o.WorkerID) << g.randomBits
	return g, nil
}

var global = gencore.Must(NewGenerator(Options{}))

// New returns an ID of the process-wide generator, which has the default options. It can fail as
// [Generator.Generate] does.
func New() (ID, error) { return global.generate(context.Background()) }

// NewString is like [New], but returns the text.
func NewString() (string, error) {
	id, err := New()
	if err != nil {
		return "", err
	}
	return id.String(), nil
}

// Generate returns the next ID. It can fail with [sortid.ErrClockRollback], [sortid.ErrTimeRange]
// or [sortid.ErrEntropy]. With a lease it can also fail with [sortid.ErrLeaseExpired] or
// [sortid.ErrLeaseClosed]. With a full sequence or [sortid.RollbackWait] it can block.
func (g *Generator) Generate() (ID, error) { return g.generate(context.Background()) }

// GenerateContext is like Generate, but stops waiting when the context ends. Then the error matches
// the context's error and the reason for the wait: [sortid.ErrOverflow], [sortid.ErrClockRollback]
// or [sortid.ErrLeaseExpired].
func (g *Generator) GenerateContext(ctx context.Context) (ID, error) { return g.generate(ctx) }

func (g *Generator) generate(ctx context.Context) (ID, error) {
	for {
		counter := clock.Counter() // read first, to hold the lock for less time
		g.core.Lock()
		id, err := g.next(g.core.Clock.Milli(counter) - epoch)
		if err == nil {
			g.core.Unlock()
			return id, nil
		}
		if err = g.core.Finish(ctx, err); err != gencore.ErrRetry {
			return 0, err
		}
	}
}

// Fill sets ids to new IDs, in order. It locks the generator once for each millisecond that it
// needs. It can fail as Generate does; then it clears ids.
func (g *Generator) Fill(ids []ID) error { return g.FillContext(context.Background(), ids) }

// FillContext is like Fill, but with a context.
func (g *Generator) FillContext(ctx context.Context, ids []ID) error {
	return gencore.Fill(ctx, &g.core, ids, g.fill)
}

// All returns an endless sequence of the results of Generate.
func (g *Generator) All() iter.Seq2[ID, error] { return gencore.All(g.Generate) }

// next makes the next ID. Its argument is the clock's time in milliseconds since the epoch.
func (g *Generator) next(now int64) (ID, error) {
	if now != g.settledTick || g.last == g.end {
		return g.slowPath(now)
	}
	random, err := g.random()
	if err != nil {
		return 0, err
	}
	g.last += 1 << sequenceShift
	return g.last | random, nil
}

func (g *Generator) fill(now int64, ids []ID) (int, error) {
	for i := range ids {
		id, err := g.next(now)
		if err != nil {
			return i, err
		}
		ids[i] = id
	}
	return len(ids), nil
}

// slowPath makes the next ID if the clock shows another tick or the sequence is 511.
func (g *Generator) slowPath(now int64) (ID, error) {
	g.core.Rand.Tick(now + epoch)
	if now > g.timestamp {
		return g.begin(now)
	}
	reset, err := g.core.CheckRollback(now, g.timestamp, g.timestamp)
	switch {
	case err != nil:
		return 0, err
	case reset:
		return g.begin(now)
	case g.last == g.end:
		return 0, g.core.WaitFor(g.timestamp+1, sortid.ErrOverflow)
	}
	g.settledTick = now
	return g.next(now)
}

func (g *Generator) begin(now int64) (ID, error) {
	if !g.core.Leased() {
		return g.first(now, now)
	}
	worker, timestamp, err := g.core.Claim(now)
	if err != nil {
		return 0, err
	}
	g.worker = ID(worker) << g.randomBits
	id, err := g.first(now, timestamp)
	if err != nil {
		return 0, err
	}
	if _, err := g.core.CheckRollback(now, timestamp, timestamp); err != nil {
		// A later call makes this ID, when the clock is within the allowance.
		g.last -= 1 << sequenceShift
		g.settledTick = gencore.NoTick
		return 0, err
	}
	return id, nil
}

// first makes the first ID of a timestamp, and continues the sequence.
func (g *Generator) first(settled, timestamp int64) (ID, error) {
	if timestamp <= 0 || timestamp >= MaxTimestamp {
		return 0, g.core.TimeRangeError(timestamp)
	}
	random, err := g.random()
	if err != nil {
		return 0, err
	}
	sequence := (ID(g.last.Sequence()) + 1) & MaxSequence
	g.last = ID(timestamp)<<timestampShift | sequence<<sequenceShift | g.worker
	g.end = g.last | MaxSequence<<sequenceShift
	g.timestamp, g.settledTick = timestamp, settled
	return g.last | random, nil
}

func (g *Generator) random() (ID, error) {
	if g.randomBits == 0 {
		return 0, nil
	}
	w, err := g.core.Rand.Uint32()
	if err != nil {
		return 0, g.core.EntropyError(err)
	}
	return ID(w >> (32 - g.randomBits)), nil
}
