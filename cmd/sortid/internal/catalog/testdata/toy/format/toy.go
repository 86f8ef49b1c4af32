package format

import (
	"github.com/sortid/sortid/internal/integer"
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
		alphabet: classBase36, letters: classLower,
		parse: func(s string) (integer.Words, error) {
			id, err := toy.Parse(s)
			return toyWords(id), err
		},
		appendText: func(b []byte, w integer.Words) []byte {
			return append(b, toy.ID(w.Low).String()...)
		},
		max:       toyWords(toy.Max),
		Generates: true,
	}
}

func toyWords(id toy.ID) integer.Words { return integer.Words{Low: uint64(id)} }
