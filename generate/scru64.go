package generate

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/sortid/sortid"
	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/scru64"
)

var scru64Maker = maker{
	options: append([]Option{
		{Name: "node", Value: "ID/BITS", Needed: true, Env: scru64.NodeSpecVar,
			Usage: "the node ID and its size in bits, as in 42/8, " +
				"or an ID to continue after, as in 0u2r85hm2pt3/16",
			fields: []string{"NodeSpec"}},
		{Name: "guard", Value: "BITS",
			Usage: "high bits of the counter that start at zero, " +
				"to make room for more IDs in a tick",
			fields: []string{"OverflowGuard"}},
	}, commonOptions...),
	node: "node", needsNode: true,
	refusesAt: func() error { _, err := scru64.NewAt(time.Time{}); return err },
	new:       newSCRU64,
}

func scru64ID(f *format.Format, id scru64.ID) format.ID {
	made, _ := f.FromWords([3]uint64{2: id.Uint64()})
	return made
}

func scru64Texts(b []byte, ids []scru64.ID, sep byte) []byte {
	for _, id := range ids {
		b, _ = id.AppendText(b)
		b = append(b, sep)
	}
	return b
}

func newSCRU64(f *format.Format, o Options) (Generator, error) {
	opts := scru64.Options{Lease: o.Lease}
	fixed, err := o.set(&opts.GeneratorOptions, f.Tick, func(name, value string) (err error) {
		if name == "guard" { // the node spec is set below
			opts.OverflowGuard, err = size(value, 24)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if o.Lease == nil {
		if opts.NodeSpec, err = scru64.ParseNodeSpec(o.Values["node"]); err != nil {
			return nil, &sortid.OptionError{Options: []string{"node"}, Err: err}
		}
	}
	_, chosen := o.Values["rollback"]
	alone := !chosen && o.Lease == nil
	if alone {
		opts.RollbackPolicy = sortid.RollbackWait
	}
	g, err := scru64.NewGenerator(opts)
	var source source[scru64.ID] = g
	if alone {
		source = waiting{g, 1 << (24 - opts.NodeSpec.NodeIDSize())}
	}
	return &generator[scru64.ID]{format: f, source: source, toID: scru64ID, texts: scru64Texts,
		fixed: fixed}, err
}

// A waiting generator waits for a tick when it is ahead of the clock by the whole allowance. After
// 2 seconds it fails, because the clock has probably gone back.
type waiting struct {
	*scru64.Generator
	perTick int
}

var errNoTick = errors.New("the clock did not catch up within 2 seconds")

func (p waiting) GenerateContext(ctx context.Context) (scru64.ID, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, 2*time.Second, errNoTick)
	defer cancel()
	return p.Generator.GenerateContext(ctx)
}

func (p waiting) FillContext(ctx context.Context, ids []scru64.ID) error {
	for part := range slices.Chunk(ids, p.perTick) {
		if err := p.fill(ctx, part); err != nil {
			clear(ids)
			return err
		}
	}
	return nil
}

// fill makes at most the IDs of one tick. It waits at most twice.
func (p waiting) fill(ctx context.Context, ids []scru64.ID) error {
	ctx, cancel := context.WithTimeoutCause(ctx, 2*time.Second, errNoTick)
	defer cancel()
	return p.Generator.FillContext(ctx, ids)
}
