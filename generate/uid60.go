package generate

import (
	"time"

	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/uid60"
)

var uid60Maker = maker{
	options: append([]Option{
		{Name: "worker", Value: "ID/BITS",
			Usage: "the worker ID and its size of 1 to 9 bits, as in 5/4; " +
				"uniqueness is certain with worker IDs",
			fields: []string{"WorkerID", "WorkerIDSize"}},
	}, commonOptions...),
	node: "worker", needsNode: true,
	refusesAt: func() error { _, err := uid60.NewAt(time.Time{}); return err },
	new:       newUID60,
}

func uid60ID(f *format.Format, id uid60.ID) format.ID {
	made, _ := f.FromWords([3]uint64{2: id.Uint64()})
	return made
}

func uid60Texts(b []byte, ids []uid60.ID, sep byte) []byte {
	for _, id := range ids {
		b, _ = id.AppendText(b)
		b = append(b, sep)
	}
	return b
}

func newUID60(f *format.Format, o Options) (Generator, error) {
	opts := uid60.Options{Lease: o.Lease}
	fixed, err := o.set(&opts.GeneratorOptions, f.Tick, func(name, value string) (err error) {
		opts.WorkerID, opts.WorkerIDSize, err = pair(value)
		return err
	})
	if err != nil {
		return nil, err
	}
	g, err := uid60.NewGenerator(opts)
	return &generator[uid60.ID]{format: f, source: g, toID: uid60ID, texts: uid60Texts,
		fixed: fixed}, err
}
