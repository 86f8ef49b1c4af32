package generate

import (
	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/toy"
)

var toyMaker = maker{
	options: append([]Option{{Name: "node", Value: "ID/BITS",
		Usage:  "the node ID and its size of 1 to 12 bits, as in 5/4",
		fields: []string{"NodeID", "NodeBits"}}}, commonOptions...),
	node: "node",
	new:  newToy,
}

func newToy(f *format.Format, o Options) (Generator, error) {
	opts := toy.Options{Lease: o.Lease}
	fixed, err := o.set(&opts.GeneratorOptions, f.Tick, func(name, value string) (err error) {
		opts.NodeID, opts.NodeBits, err = pair(value)
		return err
	})
	if err != nil {
		return nil, err
	}
	g, err := toy.NewGenerator(opts)
	return &generator[toy.ID]{format: f, source: g, fixed: fixed,
		toID: func(f *format.Format, id toy.ID) format.ID {
			made, _ := f.FromWords([3]uint64{2: uint64(id)})
			return made
		},
		texts: func(b []byte, ids []toy.ID, sep byte) []byte {
			for _, id := range ids {
				b = append(append(b, id.String()...), sep)
			}
			return b
		}}, err
}
