package spec

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/sortid/sortid"
	"github.com/sortid/sortid/internal/integer"
	"github.com/sortid/sortid/internal/maker"
	"github.com/sortid/sortid/internal/textcodec"
	"github.com/sortid/sortid/scru64"
)

func scru64Format() *Format {
	return &Format{
		Name: "scru64", Title: "SCRU64",
		Summary: "64 bits, unique through assigned node IDs",
		Source: "SCRU64: Sortable, Clock-based, Realm-specifically Unique identifier, " +
			"https://github.com/scru64/spec",
		Layout: []Field{
			{Name: "timestamp", Bits: 40, Kind: KindTime, Meaning: "Unix time in units of 256 ms"},
			{Name: "node_ctr", Bits: 24, Kind: KindNode, Meaning: "node ID, then counter"},
		},
		Text: TextRules{Alphabet: "12 Base36 digits",
			Symbols:   digits36,
			FoldsCase: true, Lengths: []int{scru64.TextLen}, Sorts: true},
		Example: "0u2pf62ji4b9",
		Tick:    scru64.Tick, Reserved: true,
		Search:      Search{Short: true, Prefix: "0", Rarity: 1},
		NodeCounter: 24,

		Alphabet: textcodec.Base36, Letters: textcodec.Lower,
		Codec: Codec{
			Parse: func(s string) (integer.Words, error) {
				id, err := scru64.Parse(s)
				return scru64Words(id), err
			},
			Append: func(b []byte, w integer.Words) []byte {
				b, _ = scru64.ID(w.Low).AppendText(b)
				return b
			},
			Check: func(w integer.Words) error {
				_, err := scru64.FromUint64(w.Low)
				return err
			},
			Read: func(b []byte) (integer.Words, bool, error) {
				var id scru64.ID
				err := id.UnmarshalText(b)
				return scru64Words(id), !textcodec.HasCapital(b), err
			},
			Max: scru64Words(scru64.Max()),
		},
		Maker: &maker.Maker{
			Options: append([]maker.Option{
				{Name: "node", Value: "ID/BITS", Needed: true, Env: scru64.NodeSpecVar,
					Usage: "the node ID and its size in bits, as in 42/8, " +
						"or an ID to continue after, as in 0u2r85hm2pt3/16",
					Fields: []string{"NodeSpec"}},
				{Name: "guard", Value: "BITS",
					Usage: "high bits of the counter that start at zero, " +
						"to make room for more IDs in a tick",
					Fields: []string{"OverflowGuard"}},
			}, maker.Common...),
			Node: "node", NeedsNode: true, NoAt: true,
			New: newSCRU64,
		},
		Node:   Node{Bits: 23, Mixed: true},
		Habits: Habits{Usages: scru64Usages},
		Plan: &Plan{
			Choose:  "keys must be 64 bits and you can assign node IDs",
			Unique:  "an assigned node ID",
			PerTick: "2^24 over all nodes; more IDs use the next tick",
			Model:   Model{Preference: 4, NodeBits: 23},
		},
		SQL: &SQL{Postgres: "bigint", Bytes: 8, New: "scru64_new(1, 8)",
			Parts: []string{"base36", "ordered"}},
	}
}

func scru64Words(id scru64.ID) integer.Words { return integer.Words{Low: id.Uint64()} }

func newSCRU64(s maker.Settings) (maker.Generator, error) {
	opts := scru64.Options{Lease: s.Lease}
	fixed, err := s.Apply(&opts.GeneratorOptions, scru64.Tick, func(name, value string) (err error) {
		if name == "guard" { // the node spec is set below
			opts.OverflowGuard, err = maker.Size(value, 24)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if s.Lease == nil {
		if opts.NodeSpec, err = scru64.ParseNodeSpec(s.Values["node"]); err != nil {
			return nil, &sortid.OptionError{Options: []string{"node"}, Err: err}
		}
	}
	_, chosen := s.Values["rollback"]
	alone := !chosen && s.Lease == nil
	if alone {
		opts.RollbackPolicy = sortid.RollbackWait
	}
	g, err := scru64.NewGenerator(opts)
	var source maker.Source[scru64.ID] = g
	if alone {
		source = waiting{g, 1 << (24 - opts.NodeSpec.NodeIDSize())}
	}
	return &maker.Of[scru64.ID]{Source: source, Words: scru64Words, Fixed: fixed}, err
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

func scru64Usages(f *Format, nodeBits int) []Usage {
	if nodeBits == 0 { // node ID and counter together
		return []Usage{{Layout: []Field{f.Layout[0], counter(f.NodeCounter, StartGuard)}}}
	}
	split, err := f.SplitNode(nodeBits)
	if err != nil {
		return nil
	}
	split[0].Name, split[1].Start = "node", StartGuard
	return []Usage{{Layout: append([]Field{f.Layout[0]}, split...)}}
}
