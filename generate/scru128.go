package generate

import (
	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/internal/textcodec"
	"github.com/sortid/sortid/scru128"
)

var scru128Maker = maker{
	options: append([]Option{
		{Name: "stateless",
			Usage: "make each ID from the clock and 80 random bits alone, " +
				"in no order within a millisecond"},
	}, commonOptions...),
	new: newSCRU128,
}

func scru128ID(f *format.Format, id scru128.ID) format.ID {
	hi, lo := id.Uint128()
	made, _ := f.FromWords([3]uint64{0, hi, lo})
	return made
}

func newSCRU128(f *format.Format, o Options) (Generator, error) {
	var opts scru128.Options
	fixed, err := o.set(&opts.GeneratorOptions, f.Tick, func(name, value string) (err error) {
		opts.Stateless, err = flag(value)
		return err
	})
	if err != nil {
		return nil, err
	}
	g, err := scru128.NewGenerator(opts)
	return &generator[scru128.ID]{format: f, source: g, toID: scru128ID,
		texts: textcodec.AppendBase36Lines[scru128.ID], fixed: fixed}, err
}
