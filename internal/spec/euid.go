package spec

import (
	"bytes"
	"strings"
	"time"

	"github.com/sortid/sortid"
	"github.com/sortid/sortid/euid"
	"github.com/sortid/sortid/internal/integer"
	"github.com/sortid/sortid/internal/maker"
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
			Aliases: "O0I1L1",
			Groups:  []TextPart{{Digits: euid.TextLen, Bits: 128 + 7, Low: -7}}},
		Example: "C8EE934SR007G5Q94QKKXFRFV8B",

		Alphabet: textcodec.Crockford, Letters: textcodec.Upper,
		Codec: Codec{
			Parse: func(s string) (integer.Words, error) {
				id, err := euid.Parse(s)
				return euidWords(id), err
			},
			Append: func(b []byte, w integer.Words) []byte {
				b, _ = euidID(w).AppendText(b)
				return b
			},
			Read: func(b []byte) (integer.Words, bool, error) {
				if len(b) == euid.UUIDLen {
					return integer.Words{}, false, sortid.ErrLength
				}
				var id euid.ID
				err := id.UnmarshalText(b)
				return euidWords(id), !textcodec.HasSmall(b) && !bytes.ContainsAny(b, "OIL"), err
			},
			Max: euidWords(euid.Max()),
		},
		Maker: &maker.Maker{
			Options: append([]maker.Option{
				{Name: "ext", Value: "N[/BITS]",
					Usage:  "the extension, a number of up to 15 bits, as in 5, or 5/8 to state its length",
					Fields: []string{"Extension", "ExtensionLength"}},
			}, maker.Common...),
			New: newEUID,
		},
		Habits: Habits{Usages: euidUsages, Stateless: true},
		Plan: &Plan{
			Choose:  "people type IDs, or IDs contain 15 bits of your own",
			Unique:  "79 random bits",
			PerTick: "2^31 on average, then the generator waits for the next millisecond",
			Model: Model{
				Preference: 3, Unique: "79 random bits, while no extension is used",
				RandomBits: 15 + 32 + 32, // the last 32 are new in each ID, the rest in each millisecond
				PerTick:    1 << 31,
			},
		},
		SQL: &SQL{Postgres: "uuid", Bytes: 16, New: "euid_new()", Parts: []string{"crockford"}},
	}
}

func euidWords(id euid.ID) integer.Words {
	hi, lo := id.Uint128()
	return integer.Words{Mid: hi, Low: lo}
}

func euidID(w integer.Words) euid.ID { return euid.FromUint128(w.Mid, w.Low) }

func newEUID(s maker.Settings) (maker.Generator, error) {
	var opts euid.Options
	fixed, err := s.Apply(&opts.GeneratorOptions, time.Millisecond, func(name, value string) (err error) {
		opts.Extension, opts.ExtensionLength, err = extension(value)
		return err
	})
	if err != nil {
		return nil, err
	}
	g, err := euid.NewGenerator(opts)
	// In a full tick, the EUID generator fails until the next millisecond.
	source := maker.Retrying[euid.ID]{Source: g, Temporary: sortid.ErrOverflow}
	return &maker.Of[euid.ID]{Source: source, At: g.GenerateAt, Words: euidWords, Fixed: fixed}, err
}

// extension reads a number of up to 15 bits, "5", or with its length, "5/8".
func extension(s string) (value uint16, length int, err error) {
	if strings.Contains(s, "/") {
		return maker.Pair(s)
	}
	v, err := maker.Number(s, euid.MaxRandomAndExtension)
	return uint16(v), 0, err
}

func euidUsages(f *Format, nodeBits int) []Usage {
	if nodeBits > 0 {
		return nil
	}
	header := bitsOf("header", 15, KindData)
	header.PartBits = f.Layout[2].Name
	return []Usage{{Layout: []Field{
		f.Layout[0], header, f.Layout[2],
		bitsOf("version", 3, KindFixed),
		bitsOf("random_high", 32, KindCounter),
		bitsOf("random_low", 32, KindRandom),
	}}}
}
