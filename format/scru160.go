package format

import (
	"encoding/binary"
	"strings"

	"github.com/sortid/sortid/internal/integer"
	"github.com/sortid/sortid/scru160"
)

func scru160Format() *Format {
	return &Format{
		Name: "scru160", Title: "SCRU160",
		Summary: "160 bits, about 111 of them random",
		Source: "SCRU160: Sortable, Clock and Random number-based Unique identifier, " +
			"v0.1.0 of 2021-09-24",
		Layout: []Field{
			{Name: "timestamp", Bits: 48, Kind: KindTime, Meaning: "Unix time in milliseconds"},
			{Name: "counter", Bits: 16, Kind: KindCounter,
				Meaning: "+1 per ID, random start in each millisecond"},
			{Name: "random16", Bits: 16, Kind: KindData,
				Meaning: "random, or part of the counter, or a node ID"},
			{Name: "random80", Bits: 80, Kind: KindRandom, Meaning: "random in each ID"},
		},
		Text: TextRules{Alphabet: "32 base32hex symbols",
			Symbols:   strings.ToUpper(digits32),
			FoldsCase: true, Lengths: []int{scru160.TextLen}, Hex: true, Sorts: true},
		Example:  "05TTUP1HNCPNH30VEK64KDQT9BSNU4C4",
		Reserved: true,

		alphabet: classBase32hex, letters: classUpper,
		parse: func(s string) (integer.Words, error) {
			id, err := scru160.Parse(s)
			return scru160Words(id), err
		},
		appendText: func(b []byte, w integer.Words) []byte {
			b, _ = scru160ID(w).AppendText(b)
			return b
		},
		max: scru160Words(scru160.Max),

		Generates: true,
	}
}

func scru160Words(id scru160.ID) integer.Words {
	return integer.Words{High: uint64(binary.BigEndian.Uint32(id[:])),
		Mid: binary.BigEndian.Uint64(id[4:]), Low: binary.BigEndian.Uint64(id[12:])}
}

func scru160ID(w integer.Words) (id scru160.ID) {
	binary.BigEndian.PutUint32(id[:], uint32(w.High))
	binary.BigEndian.PutUint64(id[4:], w.Mid)
	binary.BigEndian.PutUint64(id[12:], w.Low)
	return id
}
