package scheme

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/sortid/sortid/scru64"
)

func scru64Scheme() *Scheme {
	return &Scheme{
		Name:    "scru64",
		Title:   "SCRU64",
		Summary: "64 bits, unique through assigned node IDs",
		Choose:  "keys must be 64 bits and you can assign node IDs",
		Bits:    64,
		Layout: []Field{
			{Name: "timestamp", Bits: 40, Kind: KindTime, Meaning: "Unix time in units of 256 ms"},
			{Name: "node_ctr", Bits: 24, Kind: KindNode, Meaning: "node ID above, counter below"},
		},
		Alphabet:    "12 Base36 digits",
		TextLengths: []int{scru64.TextLen},
		Example:     "0u2pf62ji4b9",
		TextSorts:   true,
		Epoch:       time.UnixMilli(0).UTC(),
		Tick:        scru64.Tick,
		Reserved:    true,
		Unique:      "an assigned node ID",
		PerTick:     "2^24 over all nodes; more borrow the next tick",
		Options: append([]Option{
			{Name: "node", Value: "ID/BITS", Needed: true, Env: scru64.NodeSpecVar,
				Usage: "the node ID and its size in bits, as in 42/8, or an ID to continue after, as in 0u2r85hm2pt3/16"},
			{Name: "guard", Value: "BITS", Usage: "high bits of the counter that start at zero, to make room for more IDs in a tick"},
		}, commonOptions...),
		Node: "node",

		alphabet: classBase36,
		letters:  classLower,
		parse: func(s string) (words, error) {
			id, err := scru64.Parse(s)
			return scru64Words(id), err
		},
		appendText: func(b []byte, w words) []byte {
			b, _ = scru64.ID(w[2]).AppendText(b)
			return b
		},
		check: func(w words) error {
			_, err := scru64.FromUint64(w[2])
			return err
		},
		first: func(t time.Time) words { return scru64Words(scru64.First(t)) },
		max:   scru64Words(scru64.Max),

		newGenerator: newSCRU64,
	}
}

func scru64Words(id scru64.ID) words { return words{0, 0, id.Uint64()} }

func scru64Texts(b []byte, ids []scru64.ID, sep byte) []byte {
	for _, id := range ids {
		b, _ = id.AppendText(b)
		b = append(b, sep)
	}
	return b
}

func newSCRU64(s *Scheme, o Options) (Generator, error) {
	clock, standing := o.clock(s.Tick)
	opts, err := setup[scru64.Option, scru64.RollbackPolicy]{
		scru64.WithClock, scru64.WithEntropy, scru64.WithRollbackAllowance, scru64.WithRollbackPolicy,
		scru64.RollbackReset, scru64.RollbackAbort, scru64.RollbackWait, scru64.WithLease,
	}.options(o, clock, func(name, value string) (scru64.Option, error) {
		if name == "node" { // no option there, but the spec below
			return nil, errNone
		}
		bits, err := number(value, 24)
		return scru64.WithOverflowGuard(int(bits)), err
	})
	if err != nil {
		return nil, err
	}
	var spec scru64.NodeSpec
	if o.Lease == nil {
		if spec, err = scru64.ParseNodeSpec(o.Values["node"]); err != nil {
			return nil, optionError(err)
		}
	}
	_, chosen := o.Values["rollback"]
	alone := !chosen && o.Lease == nil
	if alone {
		opts = append(opts, scru64.WithRollbackPolicy(scru64.RollbackWait))
	}
	g, err := scru64.NewGenerator(spec, opts...)
	if err != nil {
		return nil, optionError(err)
	}
	var source source[scru64.ID] = g
	if alone {
		source = patient{g, 1 << (24 - spec.NodeIDSize())}
	}
	return &generator[scru64.ID]{scheme: s, source: source, words: scru64Words, texts: scru64Texts, standing: standing}, nil
}

// A patient generator waits when it is asked for more IDs than its node has, so that its
// timestamp runs ahead of the clock by the whole allowance; but it does not wait for a
// clock that went back by more, as RollbackWait alone would. A tick is a quarter of a
// second, so a wait for the next one ends soon.
type patient struct {
	*scru64.Generator
	perTick int
}

var errPatience = errors.New("the clock stayed there for 2 seconds")

func (p patient) GenerateContext(ctx context.Context) (scru64.ID, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, 2*time.Second, errPatience)
	defer cancel()
	return p.Generator.GenerateContext(ctx)
}

func (p patient) FillContext(ctx context.Context, ids []scru64.ID) error {
	for part := range slices.Chunk(ids, p.perTick) {
		if err := p.fill(ctx, part); err != nil {
			clear(ids)
			return err
		}
	}
	return nil
}

// fill makes at most as many IDs as a tick has, for which it waits twice at most.
func (p patient) fill(ctx context.Context, ids []scru64.ID) error {
	ctx, cancel := context.WithTimeoutCause(ctx, 2*time.Second, errPatience)
	defer cancel()
	return p.Generator.FillContext(ctx, ids)
}
