package format

import (
	"time"

	"github.com/sortid/sortid/internal/integer"
	"github.com/sortid/sortid/uid60"
)

func uid60Format() *Format {
	return &Format{
		Name: "uid60", Title: "uid60",
		Summary: "60 bits in ten characters that look random",
		Source:  "Unique ID Generator Design",
		Bits:    60,
		Layout: []Field{
			{Bits: 4, Kind: KindZero, Meaning: "always zero"},
			{Name: "timestamp", Bits: 42, Kind: KindTime, Meaning: "milliseconds since 2018-03-01"},
			{Name: "sequence", Bits: 9, Kind: KindCounter,
				Meaning: "+1 per ID, also in a new millisecond"},
			{Name: "random", Bits: 9, Kind: KindRandom,
				Meaning: "random in each ID; a worker ID can be in the high bits"},
		},
		Text: TextRules{Alphabet: "9 or 10 characters of A-Z a-z 0-9 - _",
			Symbols: digits64,
			Lengths: []int{4, 5, 6, 7, 8, 9, 10}, rotated: 2},
		Example: "xinaS8QBh",
		Epoch:   time.Date(2018, time.March, 1, 0, 0, 0, 0, time.UTC), Reserved: true,
		Search: Search{WordLike: true, Rarity: 1},

		alphabet: classBase64,
		parse: func(s string) (integer.Words, error) {
			id, err := uid60.Parse(s)
			return uid60Words(id), err
		},
		appendText: func(b []byte, w integer.Words) []byte {
			b, _ = uid60.ID(w.Low).AppendText(b)
			return b
		},
		check: func(w integer.Words) error {
			_, err := uid60.FromUint64(w.Low)
			return err
		},
		max: uid60Words(uid60.Max),

		Generates: true,
	}
}

func uid60Words(id uid60.ID) integer.Words { return integer.Words{Low: id.Uint64()} }
