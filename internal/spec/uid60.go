package spec

import (
	"time"

	"github.com/sortid/sortid/internal/integer"
	"github.com/sortid/sortid/internal/maker"
	"github.com/sortid/sortid/internal/textcodec"
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
			Lengths: []int{4, 5, 6, 7, 8, 9, 10}, Rotated: 2},
		Example: "xinaS8QBh",
		Epoch:   time.Date(2018, time.March, 1, 0, 0, 0, 0, time.UTC), Reserved: true,
		Search: Search{WordLike: true, Rarity: 1},

		Alphabet: textcodec.Base64,
		Codec: Codec{
			Parse: func(s string) (integer.Words, error) {
				id, err := uid60.Parse(s)
				return uid60Words(id), err
			},
			Append: func(b []byte, w integer.Words) []byte {
				b, _ = uid60.ID(w.Low).AppendText(b)
				return b
			},
			Check: func(w integer.Words) error {
				_, err := uid60.FromUint64(w.Low)
				return err
			},
			Read: func(b []byte) (integer.Words, bool, error) {
				var id uid60.ID
				err := id.UnmarshalText(b)
				var buf [uid60.MaxTextLen]byte
				written, _ := id.AppendText(buf[:0])
				return uid60Words(id), string(written) == string(b), err
			},
			Max: uid60Words(uid60.Max()),
		},
		Maker: &maker.Maker{
			Options: append([]maker.Option{
				{Name: "worker", Value: "ID/BITS",
					Usage: "the worker ID and its size of 1 to 9 bits, as in 5/4; " +
						"uniqueness is certain with worker IDs",
					Fields: []string{"WorkerID", "WorkerIDSize"}},
			}, maker.Common...),
			Node: "worker", NeedsNode: true, NoAt: true,
			New: newUID60,
		},
		Node:   Node{Bits: 9},
		Habits: Habits{Usages: uid60Usages},
		Plan: &Plan{
			Choose:  "IDs must be short and look random",
			Unique:  "a sequence and 9 random bits, or an assigned worker ID",
			PerTick: "512, then the generator waits for the next millisecond",
			Model: Model{
				Preference: 5, Unique: "18 bits that differ by chance",
				RandomBits: 9 + 9, // sequences start anywhere
				PerTick:    512, Least: 512, NodeBits: 9,
			},
		},
		SQL: &SQL{Postgres: "bigint", Bytes: 8},
	}
}

func uid60Words(id uid60.ID) integer.Words { return integer.Words{Low: id.Uint64()} }

func newUID60(s maker.Settings) (maker.Generator, error) {
	opts := uid60.Options{Lease: s.Lease}
	fixed, err := s.Apply(&opts.GeneratorOptions, time.Millisecond, func(name, value string) (err error) {
		opts.WorkerID, opts.WorkerIDSize, err = maker.Pair(value)
		return err
	})
	if err != nil {
		return nil, err
	}
	g, err := uid60.NewGenerator(opts)
	return &maker.Of[uid60.ID]{Source: g, Words: uid60Words, Fixed: fixed}, err
}

func uid60Usages(f *Format, nodeBits int) []Usage {
	layout := append([]Field(nil), f.Layout[:3]...)
	layout[2].Start = StartNever
	if nodeBits > 0 {
		layout = append(layout, bitsOf("worker", nodeBits, KindNode))
	}
	switch rest := 9 - nodeBits; {
	case rest < 0:
		return nil
	case rest > 0:
		layout = append(layout, bitsOf("random", rest, KindRandom))
	}
	return []Usage{{Layout: layout}}
}
