package format

import (
	"github.com/sortid/sortid/internal/integer"
	"github.com/sortid/sortid/scru128"
)

func scru128Format() *Format {
	return &Format{
		Name: "scru128", Title: "SCRU128",
		Summary: "128 bits, unique without any coordination",
		Source: "SCRU128: Sortable, Clock and Random number-based Unique identifier, " +
			"https://github.com/scru128/spec",
		Layout: []Field{
			{Name: "timestamp", Bits: 48, Kind: KindTime, Meaning: "Unix time in milliseconds"},
			{Name: "counter_hi", Bits: 24, Kind: KindCounter,
				Meaning: "random, renewed each second"},
			{Name: "counter_lo", Bits: 24, Kind: KindCounter,
				Meaning: "+1 per ID, random start in each millisecond"},
			{Name: "entropy", Bits: 32, Kind: KindRandom, Meaning: "random in each ID"},
		},
		Text: TextRules{Alphabet: "25 Base36 digits",
			Symbols:   digits36,
			FoldsCase: true, Lengths: []int{scru128.TextLen}, Sorts: true},
		Example:  "0372ijojuxuhjsfkeryi2mrtm",
		Reserved: true,

		alphabet: classBase36, letters: classLower,
		parse: func(s string) (integer.Words, error) {
			id, err := scru128.Parse(s)
			return scru128Words(id), err
		},
		appendText: func(b []byte, w integer.Words) []byte {
			b, _ = scru128.FromUint128(w.Mid, w.Low).AppendText(b)
			return b
		},
		max: scru128Words(scru128.Max),

		Generates: true,
	}
}

func scru128Words(id scru128.ID) integer.Words {
	hi, lo := id.Uint128()
	return integer.Words{Mid: hi, Low: lo}
}
