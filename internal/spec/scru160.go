package spec

import (
	"encoding/binary"
	"fmt"
	"strings"
	"time"

	"github.com/sortid/sortid"
	"github.com/sortid/sortid/internal/integer"
	"github.com/sortid/sortid/internal/maker"
	"github.com/sortid/sortid/internal/textcodec"
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

		Alphabet: textcodec.Base32hex, Letters: textcodec.Upper,
		Codec: Codec{
			Parse: func(s string) (integer.Words, error) {
				id, err := scru160.Parse(s)
				return scru160Words(id), err
			},
			Append: func(b []byte, w integer.Words) []byte {
				b, _ = scru160ID(w).AppendText(b)
				return b
			},
			Read: func(b []byte) (integer.Words, bool, error) {
				if len(b) == scru160.HexLen { // another encoding
					return integer.Words{}, false, sortid.ErrLength
				}
				var id scru160.ID
				err := id.UnmarshalText(b)
				return scru160Words(id), !textcodec.HasSmall(b), err
			},
			Max: scru160Words(scru160.Max()),
		},
		Maker: &maker.Maker{
			Options: append([]maker.Option{
				{Name: "node", Value: "ID/BITS",
					Usage: "a node ID and its size in bits, as in 42/8, " +
						"for the bits of random16 that do not extend the counter",
					Fields: []string{"NodeID", "NodeBits"}},
				{Name: "micros", Usage: "put the microsecond into the counter's 10 high bits",
					Fields: []string{"Microseconds"}},
				{Name: "counter-width", Value: "BITS",
					Usage: "bits of the counter that start at random; " +
						"with fewer bits, more IDs fit in a tick",
					Fields: []string{"CounterWidth"}},
				{Name: "counter-ext", Value: "BITS", Usage: "bits of random16 that extend the counter",
					Fields: []string{"CounterExtension"}},
			}, maker.Common...),
			Node: "node",
			New:  newSCRU160,
		},
		Node:   Node{Bits: 16},
		Habits: Habits{Usages: scru160Usages},
		Plan: &Plan{
			Choose:  "you want more randomness, or microseconds",
			Unique:  "about 111 random bits",
			PerTick: "at least 32769, then the generator waits for the next millisecond",
			Model: Model{
				Preference: 2, Unique: "about 111 random bits",
				RandomBits: 15 + 16 + 80,      // 2^15 starts of the counter; the rest is new in each ID
				PerTick:    65536 - 32767.0/2, // 65536 minus the mean start
				Least:      32769,
			},
		},
		SQL: &SQL{Postgres: "bytea", Bytes: 20 + 1, // with a byte for the length
			New: "scru160_new()", Parts: []string{"base32hex"}},
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

func newSCRU160(s maker.Settings) (maker.Generator, error) {
	tick := time.Millisecond
	if on, err := maker.Flag(s.Values["micros"]); err == nil && on {
		tick = time.Microsecond
	}
	opts := scru160.Options{Lease: s.Lease}
	fixed, err := s.Apply(&opts.GeneratorOptions, tick, func(name, value string) (err error) {
		switch name {
		case "node":
			opts.NodeID, opts.NodeBits, err = maker.Pair(value)
		case "micros":
			opts.Microseconds, err = maker.Flag(value)
		case "counter-width":
			opts.CounterWidth, err = maker.Size(value, 16)
		case "counter-ext":
			var bits uint64
			bits, err = maker.Number(value, 16)
			opts.CounterExtension = int(bits)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	g, err := scru160.NewGenerator(opts)
	return &maker.Of[scru160.ID]{Source: g, At: g.GenerateAt, Words: scru160Words, Fixed: fixed}, err
}

func scru160Usages(f *Format, nodeBits int) (usages []Usage) {
	add := func(u Usage, counter ...Field) {
		layout := append([]Field{f.Layout[0]}, counter...)
		if nodeBits > 0 {
			layout = append(layout, bitsOf("node", nodeBits, KindNode))
		}
		if rest := 16 - u.Extension - nodeBits; rest > 0 {
			layout = append(layout, bitsOf("random16", rest, KindRandom))
		}
		u.Layout = append(layout, f.Layout[3])
		usages = append(usages, u)
	}
	for extension := range max(17-nodeBits, 0) {
		u := Usage{Name: DefaultUsage, Title: "counter of 16 bits", Extension: extension}
		if extension > 0 {
			u.Title = fmt.Sprintf("counter of %d bits, the low %d in random16", 16+extension,
				extension)
		}
		add(u, counter(16+extension, StartHalf))
	}
	if nodeBits <= 16 {
		add(Usage{Name: MicrosecondsUsage, Title: "microseconds and 6 bits of counter"},
			most(999, bitsOf("micros", 10, KindTime)), counter(6, StartHalf))
	}
	return usages
}
