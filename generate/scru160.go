package generate

import (
	"encoding/binary"
	"time"

	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/scru160"
)

var scru160Maker = maker{
	options: append([]Option{
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
	node: "node",
	new:  newSCRU160,
}

func scru160ID(f *format.Format, id scru160.ID) format.ID {
	made, _ := f.FromWords([3]uint64{uint64(binary.BigEndian.Uint32(id[:])),
		binary.BigEndian.Uint64(id[4:]), binary.BigEndian.Uint64(id[12:])})
	return made
}

func scru160Texts(b []byte, ids []scru160.ID, sep byte) []byte {
	for i := range ids {
		b, _ = ids[i].AppendText(b)
		b = append(b, sep)
	}
	return b
}

func newSCRU160(f *format.Format, o Options) (Generator, error) {
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
	return &generator[scru160.ID]{format: f, source: g, toID: scru160ID, texts: scru160Texts,
		fixed: fixed}, err
}
