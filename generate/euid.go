package generate

import (
	"strings"

	"github.com/sortid/sortid"
	"github.com/sortid/sortid/euid"
	"github.com/sortid/sortid/format"
)

var euidMaker = maker{
	options: append([]Option{
		{Name: "ext", Value: "N[/BITS]",
			Usage:  "the extension, a number of up to 15 bits, as in 5, or 5/8 to state its length",
			fields: []string{"Extension", "ExtensionLength"}},
	}, commonOptions...),
	new: newEUID,
}

func euidID(f *format.Format, id euid.ID) format.ID {
	hi, lo := id.Uint128()
	made, _ := f.FromWords([3]uint64{0, hi, lo})
	return made
}

func euidTexts(b []byte, ids []euid.ID, sep byte) []byte {
	for i := range ids {
		b, _ = ids[i].AppendText(b)
		b = append(b, sep)
	}
	return b
}

func newEUID(f *format.Format, o Options) (Generator, error) {
	var opts euid.Options
	fixed, err := o.set(&opts.GeneratorOptions, f.Tick, func(name, value string) (err error) {
		opts.Extension, opts.ExtensionLength, err = extension(value)
		return err
	})
	if err != nil {
		return nil, err
	}
	g, err := euid.NewGenerator(opts)
	// In a full tick, the EUID generator fails until the next millisecond.
	source := retrying[euid.ID]{g, sortid.ErrOverflow}
	return &generator[euid.ID]{format: f, source: source, toID: euidID, texts: euidTexts,
		fixed: fixed}, err
}

// extension reads a number of up to 15 bits, "5", or with its length, "5/8".
func extension(s string) (value uint16, length int, err error) {
	if strings.Contains(s, "/") {
		return pair(s)
	}
	v, err := number(s, euid.MaxRandomAndExtension)
	return uint16(v), 0, err
}
