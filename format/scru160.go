package format

import (
	"encoding/binary"
	"strings"
	"time"

	"github.com/sortid/sortid"
	"github.com/sortid/sortid/lease"
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
		Alphabet:  "32 base32hex symbols",
		Symbols:   strings.ToUpper(digits32),
		FoldsCase: true, TextLengths: []int{scru160.TextLen}, HexText: true, TextSorts: true,
		Example:  "05TTUP1HNCPNH30VEK64KDQT9BSNU4C4",
		Reserved: true,
		Options: append([]Option{
			{Name: "node", Value: "ID/BITS",
				Usage: "a node ID and its size in bits, as in 42/8, " +
					"for the bits of random16 that do not extend the counter",
				fields: []string{"NodeID", "NodeBits"}},
			{Name: "micros", Usage: "put the microsecond into the counter's 10 high bits",
				fields: []string{"Microseconds"}},
			{Name: "counter-width", Value: "BITS",
				Usage: "bits of the counter that start at random; " +
					"with fewer bits, more IDs fit in a tick",
				fields: []string{"CounterWidth"}},
			{Name: "counter-ext", Value: "BITS", Usage: "bits of random16 that extend the counter",
				fields: []string{"CounterExtension"}},
		}, commonOptions...),
		Node: "node", Lease: lease.SCRU160,

		alphabet: classBase32hex, letters: classUpper,
		parse: func(s string) (Words, error) {
			id, err := scru160.Parse(s)
			return scru160Words(id), err
		},
		unmarshal: func(b []byte) (Words, bool, error) {
			if len(b) == scru160.HexLen { // another encoding
				return Words{}, false, sortid.ErrLength
			}
			var id scru160.ID
			err := id.UnmarshalText(b)
			return scru160Words(id), !hasSmall(b), err
		},
		appendText: func(b []byte, w Words) []byte {
			b, _ = scru160ID(w).AppendText(b)
			return b
		},
		max: scru160Words(scru160.Max),

		newGenerator: newSCRU160,
	}
}

func scru160Words(id scru160.ID) Words {
	return Words{uint64(binary.BigEndian.Uint32(id[:])), binary.BigEndian.Uint64(id[4:]),
		binary.BigEndian.Uint64(id[12:])}
}

func scru160ID(w Words) (id scru160.ID) {
	binary.BigEndian.PutUint32(id[:], uint32(w[0]))
	binary.BigEndian.PutUint64(id[4:], w[1])
	binary.BigEndian.PutUint64(id[12:], w[2])
	return id
}

func scru160Texts(b []byte, ids []scru160.ID, sep byte) []byte {
	for i := range ids {
		b, _ = ids[i].AppendText(b)
		b = append(b, sep)
	}
	return b
}

func newSCRU160(f *Format, o Options) (Generator, error) {
	tick := f.Tick
	if on, err := flag(o.Values["micros"]); err == nil && on {
		tick = time.Microsecond
	}
	opts := scru160.Options{Lease: o.Lease}
	fixed, err := o.set(&opts.GeneratorOptions, tick, func(name, value string) (err error) {
		switch name {
		case "node":
			opts.NodeID, opts.NodeBits, err = pair(value)
		case "micros":
			opts.Microseconds, err = flag(value)
		case "counter-width":
			opts.CounterWidth, err = size(value, 16)
		case "counter-ext":
			var bits uint64
			bits, err = number(value, 16)
			opts.CounterExtension = int(bits)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	g, err := scru160.NewGenerator(opts)
	return &generator[scru160.ID]{format: f, source: g, words: scru160Words, texts: scru160Texts,
		fixed: fixed}, err
}
