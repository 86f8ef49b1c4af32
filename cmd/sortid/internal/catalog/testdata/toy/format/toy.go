package format

import (
	"github.com/sortid/sortid/lease"
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
		Alphabet: "13 Base36 digits", Symbols: digits36,
		FoldsCase: true, TextLengths: []int{toy.TextLen}, TextSorts: true,
		Example: "1ha42pg0b4nlh",
		Options: append([]Option{{Name: "node", Value: "ID/BITS",
			Usage:  "the node ID and its size of 1 to 12 bits, as in 5/4",
			fields: []string{"NodeID", "NodeBits"}}}, commonOptions...),
		Node: "node", Lease: lease.Toy,
		alphabet: classBase36, letters: classLower,
		parse: func(s string) (Words, error) {
			id, err := toy.Parse(s)
			return toyWords(id), err
		},
		unmarshal: func(b []byte) (Words, bool, error) {
			var id toy.ID
			err := id.UnmarshalText(b)
			return toyWords(id), !hasCapital(b), err
		},
		appendText: func(b []byte, w Words) []byte { return append(b, toy.ID(w[2]).String()...) },
		max:        toyWords(toy.Max),

		newGenerator: newToy,
	}
}

func toyWords(id toy.ID) Words { return Words{0, 0, uint64(id)} }

func newToy(f *Format, o Options) (Generator, error) {
	opts := toy.Options{Lease: o.Lease}
	fixed, err := o.set(&opts.GeneratorOptions, f.Tick, func(name, value string) (err error) {
		opts.NodeID, opts.NodeBits, err = pair(value)
		return err
	})
	if err != nil {
		return nil, err
	}
	g, err := toy.NewGenerator(opts)
	return &generator[toy.ID]{format: f, source: g, words: toyWords, fixed: fixed,
		texts: func(b []byte, ids []toy.ID, sep byte) []byte {
			for _, id := range ids {
				b = append(append(b, id.String()...), sep)
			}
			return b
		}}, err
}
