package toy

import (
	"context"

	"github.com/sortid/sortid"
	"github.com/sortid/sortid/internal/clock"
	"github.com/sortid/sortid/internal/gencore"
)

var format = gencore.Format{Name: name, Policy: sortid.RollbackAbort}

type Generator struct {
	core     gencore.Core
	tick     int64
	counter  uint64
	node     ID
	nodeBits int
}

type Options struct {
	sortid.GeneratorOptions
	NodeID   uint16
	NodeBits int
	Lease    sortid.Lease
}

func NewGenerator(o Options) (*Generator, error) {
	g := &Generator{tick: gencore.NoTick, nodeBits: o.NodeBits}
	if err := g.core.Init(&format, o.GeneratorOptions, o.Lease); err != nil {
		return nil, err
	}
	if o.Lease != nil {
		g.nodeBits = o.Lease.NodeBits()
	}
	if g.nodeBits > randomBits || o.NodeID>>o.NodeBits != 0 {
		return nil, g.core.OptionError("NodeID", "%d of %d bits does not fit", o.NodeID, o.NodeBits)
	}
	g.node = ID(o.NodeID) << (randomBits - g.nodeBits)
	return g, nil
}

func (g *Generator) GenerateContext(ctx context.Context) (ID, error) {
	for {
		counter := clock.Counter()
		g.core.Lock()
		id, err := g.next(g.core.Clock.Milli(counter))
		if err == nil {
			g.core.Unlock()
			return id, nil
		}
		if err = g.core.Finish(ctx, err); err != gencore.ErrRetry {
			return 0, err
		}
	}
}

func (g *Generator) FillContext(ctx context.Context, ids []ID) error {
	return gencore.Fill(ctx, &g.core, ids, func(now int64, ids []ID) (int, error) {
		for i := range ids {
			var err error
			if ids[i], err = g.next(now); err != nil {
				return i, err
			}
		}
		return len(ids), nil
	})
}

func (g *Generator) next(now int64) (ID, error) {
	if now > g.tick {
		if err := g.begin(now); err != nil {
			return 0, err
		}
	} else {
		if _, err := g.core.CheckRollback(now, g.tick, g.tick); err != nil {
			return 0, err
		}
		if g.counter++; g.counter == 1<<counterBits {
			g.counter--
			return 0, g.core.WaitFor(g.tick+1, sortid.ErrOverflow)
		}
	}
	random, err := g.core.Rand.Uint32()
	if err != nil {
		return 0, g.core.EntropyError(err)
	}
	low := ID(random) & (1<<(randomBits-g.nodeBits) - 1)
	return ID(g.tick)<<(counterBits+randomBits) | ID(g.counter)<<randomBits | g.node | low, nil
}

func (g *Generator) begin(now int64) error {
	g.core.Rand.Tick(now)
	tick := now
	if g.core.Leased() {
		node, claimed, err := g.core.Claim(now)
		if err != nil {
			return err
		}
		g.node, tick = ID(node)<<(randomBits-g.nodeBits), claimed
	}
	if tick <= 0 || tick >= 1<<42 {
		return g.core.TimeRangeError(tick)
	}
	g.tick, g.counter = tick, 0
	return nil
}
