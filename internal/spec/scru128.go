package spec

import (
	"time"

	"github.com/sortid/sortid"
	"github.com/sortid/sortid/internal/integer"
	"github.com/sortid/sortid/internal/maker"
	"github.com/sortid/sortid/internal/textcodec"
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
				Meaning: "random, renewed each second", Every: 1000},
			{Name: "counter_lo", Bits: 24, Kind: KindCounter,
				Meaning: "+1 per ID, random start in each millisecond"},
			{Name: "entropy", Bits: 32, Kind: KindRandom, Meaning: "random in each ID"},
		},
		Text: TextRules{Alphabet: "25 Base36 digits",
			Symbols:   digits36,
			FoldsCase: true, Lengths: []int{scru128.TextLen}, Sorts: true},
		Example:  "0372ijojuxuhjsfkeryi2mrtm",
		Reserved: true,

		Alphabet: textcodec.Base36, Letters: textcodec.Lower,
		Codec: Codec{
			Parse: func(s string) (integer.Words, error) {
				id, err := scru128.Parse(s)
				return scru128Words(id), err
			},
			Append: func(b []byte, w integer.Words) []byte {
				b, _ = scru128.FromUint128(w.Mid, w.Low).AppendText(b)
				return b
			},
			Read: func(b []byte) (integer.Words, bool, error) {
				if len(b) == scru128.UUIDLen {
					return integer.Words{}, false, sortid.ErrLength
				}
				var id scru128.ID
				err := id.UnmarshalText(b)
				return scru128Words(id), !textcodec.HasCapital(b), err
			},
			Lines: scru128Lines,
			Max:   scru128Words(scru128.Max()),
		},
		Maker: &maker.Maker{
			Options: append([]maker.Option{
				{Name: "stateless",
					Usage: "make each ID from the clock and 80 random bits alone, " +
						"in no order within a millisecond"},
			}, maker.Common...),
			New: newSCRU128,
		},
		Habits: Habits{Stateless: true},
		Plan: &Plan{
			Choose:  "you want unique, sortable IDs and no trouble: the default choice",
			Unique:  "80 random bits",
			PerTick: "no limit: full counters use the next millisecond",
			Model: Model{
				Preference: 1, Unique: "80 random bits",
				RandomBits: 24 + 24 + 32, // counters start at random; each ID has new entropy
				PerTick:    1 << 47,      // half of the 2^48 values, on average
			},
		},
		SQL: &SQL{Postgres: "uuid", Bytes: 16, New: "scru128_new()",
			Parts: []string{"base36", "ordered"}},
	}
}

func scru128Words(id scru128.ID) integer.Words {
	hi, lo := id.Uint128()
	return integer.Words{Mid: hi, Low: lo}
}

func newSCRU128(s maker.Settings) (maker.Generator, error) {
	var opts scru128.Options
	fixed, err := s.Apply(&opts.GeneratorOptions, time.Millisecond, func(name, value string) (err error) {
		opts.Stateless, err = maker.Flag(value)
		return err
	})
	if err != nil {
		return nil, err
	}
	g, err := scru128.NewGenerator(opts)
	return &maker.Of[scru128.ID]{Source: g, At: g.GenerateAt, Words: scru128Words, Fixed: fixed,
		Texts: textcodec.AppendBase36Lines[scru128.ID]}, err
}

func scru128Lines(list []integer.Words, text []byte) []integer.Words {
	const length = scru128.TextLen
	var s textcodec.Base36Sequence
	for len(text) > length && text[length] == '\n' {
		hi, lo, ok := s.Decode((*[length]byte)(text))
		if !ok {
			break
		}
		list = append(list, integer.Words{Mid: hi, Low: lo})
		text = text[length+1:]
	}
	return list
}
