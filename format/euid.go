package format

import (
	"github.com/sortid/sortid/euid"
	"github.com/sortid/sortid/internal/integer"
	"github.com/sortid/sortid/internal/textcodec"
)

func euidFormat() *Format {
	return &Format{
		Name: "euid", Title: "EUID, draft 3",
		Summary: "128 bits with a check value and 15 bits of your own",
		Source:  "Extendable Universally Unique Identifier, DRAFT#3",
		Layout: []Field{
			{Name: "timestamp", Bits: 42, Kind: KindTime, Meaning: "Unix time in milliseconds"},
			{Name: "random_and_extension", Bits: 15, Kind: KindData,
				Meaning: "random bits, then the extension",
				Part:    "extension", PartBits: "extension_length"},
			{Name: "extension_length", Bits: 4, Kind: KindData,
				Meaning: "bits of the extension; 0 means none"},
			{Name: "version", Bits: 3, Kind: KindData, Meaning: "0 means version 1",
				Constant: true},
			{Name: "random", Bits: 64, Kind: KindRandom,
				Meaning: "high half +1 per ID in a millisecond, low half random"},
		},
		Text: TextRules{Alphabet: "27 Crockford Base32 symbols, which end with a check",
			Symbols:   textcodec.CrockfordSymbols,
			FoldsCase: true, Lengths: []int{euid.TextLen}, Sorts: true, Grouped: true,
			Check:   127,
			aliases: "O0I1L1",
			groups:  []textPart{{Digits: euid.TextLen, Bits: 128 + 7, Low: -7}}},
		Example: "C8EE934SR007G5Q94QKKXFRFV8B",

		alphabet: classCrockford, letters: classUpper,
		parse: func(s string) (integer.Words, error) {
			id, err := euid.Parse(s)
			return euidWords(id), err
		},
		appendText: func(b []byte, w integer.Words) []byte {
			b, _ = euidID(w).AppendText(b)
			return b
		},
		max: euidWords(euid.Max),

		Generates: true,
	}
}

func euidWords(id euid.ID) integer.Words {
	hi, lo := id.Uint128()
	return integer.Words{Mid: hi, Low: lo}
}

func euidID(w integer.Words) euid.ID { return euid.FromUint128(w.Mid, w.Low) }
