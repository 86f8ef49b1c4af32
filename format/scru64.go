package format

import (
	"github.com/sortid/sortid/internal/integer"
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
		Search:      Search{Short: true, Prefix: "0"},
		NodeCounter: 24,

		alphabet: classBase36, letters: classLower,
		parse: func(s string) (integer.Words, error) {
			id, err := scru64.Parse(s)
			return scru64Words(id), err
		},
		appendText: func(b []byte, w integer.Words) []byte {
			b, _ = scru64.ID(w.Low).AppendText(b)
			return b
		},
		check: func(w integer.Words) error {
			_, err := scru64.FromUint64(w.Low)
			return err
		},
		max: scru64Words(scru64.Max),

		Generates: true,
	}
}

func scru64Words(id scru64.ID) integer.Words { return integer.Words{Low: id.Uint64()} }
