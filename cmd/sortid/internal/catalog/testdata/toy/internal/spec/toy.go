package spec

import (
	"time"

	"github.com/sortid/sortid/internal/integer"
	"github.com/sortid/sortid/internal/maker"
	"github.com/sortid/sortid/internal/textcodec"
	"github.com/sortid/sortid/toy"
)

func toyFormat() *Format {
	return &Format{
		Name: "toy", Title: "Toy", Summary: "64 bits, for a test", Source: "this folder",
		Layout: []Field{
			{Name: "timestamp", Bits: 42, Kind: KindTime, Meaning: "Unix time in milliseconds"},
			{Name: "counter", Bits: 10, Kind: KindCounter, Meaning: "+1 per ID, from 0"},
			{Name: "random", Bits: 12, Kind: KindRandom, Meaning: "random in each ID"},
		},
		Text: TextRules{Alphabet: "13 Base36 digits", Symbols: digits36,
			FoldsCase: true, Lengths: []int{toy.TextLen}, Sorts: true},
		Example:  "1ha42pg0b4nlh",
		Alphabet: textcodec.Base36, Letters: textcodec.Lower,
		Codec: Codec{
			Parse: func(s string) (integer.Words, error) {
				id, err := toy.Parse(s)
				return toyWords(id), err
			},
			Append: func(b []byte, w integer.Words) []byte {
				b, _ = toy.ID(w.Low).AppendText(b)
				return b
			},
			Read: func(b []byte) (integer.Words, bool, error) {
				var id toy.ID
				err := id.UnmarshalText(b)
				return toyWords(id), !textcodec.HasCapital(b), err
			},
			Max: toyWords(toy.Max),
		},
		Maker: &maker.Maker{
			Options: append([]maker.Option{{Name: "node", Value: "ID/BITS",
				Usage:  "the node ID and its size of 1 to 12 bits, as in 5/4",
				Fields: []string{"NodeID", "NodeBits"}}}, maker.Common...),
			Node: "node", NoAt: true,
			New: newToy,
		},
		Node:   Node{Bits: 12},
		Habits: Habits{Usages: toyUsages},
		Plan: &Plan{
			Choose: "you test", Unique: "12 random bits", PerTick: "1024, then the generator waits",
			Model: Model{Preference: 6, Unique: "12 random bits", RandomBits: 12, PerTick: 1024,
				Least: 1024, NodeBits: 12},
		},
		SQL: &SQL{Postgres: "bigint", Bytes: 8},
	}
}

func toyWords(id toy.ID) integer.Words { return integer.Words{Low: uint64(id)} }

func newToy(s maker.Settings) (maker.Generator, error) {
	opts := toy.Options{Lease: s.Lease}
	fixed, err := s.Apply(&opts.GeneratorOptions, time.Millisecond,
		func(name, value string) (err error) {
			opts.NodeID, opts.NodeBits, err = maker.Pair(value)
			return err
		})
	if err != nil {
		return nil, err
	}
	g, err := toy.NewGenerator(opts)
	return &maker.Of[toy.ID]{Source: g, Words: toyWords, Fixed: fixed}, err
}

func toyUsages(f *Format, nodeBits int) []Usage {
	if nodeBits > 11 {
		return nil
	}
	layout := append([]Field(nil), f.Layout[:2]...)
	layout[1].Start = StartHalf
	if nodeBits > 0 {
		layout = append(layout, bitsOf("node", nodeBits, KindNode))
	}
	return []Usage{{Layout: append(layout, bitsOf("random", 12-nodeBits, KindRandom))}}
}
