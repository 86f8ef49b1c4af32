package flags

import (
	"time"

	"github.com/sortid/sortid/cmd/sortid/internal/console"
	"github.com/sortid/sortid/format"
	"github.com/spf13/cobra"
)

// A Layout has flags for Snowflakes with an epoch, a unit or a layout of one's own.
type Layout struct {
	cmd   *cobra.Command
	epoch string
	unit  time.Duration
	bits  []int
}

func ChooseLayout(cmd *cobra.Command) *Layout {
	l := &Layout{cmd: cmd}
	flags := cmd.Flags()
	flags.StringVar(&l.epoch, "epoch", "", "the `TIME` from which Snowflakes of your own count")
	flags.DurationVar(&l.unit, "unit", 0, "the `DURATION` that they count, such as 10ms")
	flags.IntSliceVar(&l.bits, "layout", nil, "the sizes of their fields in `BITS`, such as 41,10,12")
	return l
}

// Given reports whether a flag is given.
func (l *Layout) Given() bool {
	flags := l.cmd.Flags()
	return flags.Changed("epoch") || flags.Changed("unit") || flags.Changed("layout")
}

// Apply returns the formats, or one that the flags change. Without formats, it changes the usual
// Snowflake.
func (l *Layout) Apply(formats []*format.Format) ([]*format.Format, error) {
	if !l.Given() {
		return formats, nil
	}
	name, bits := "snowflake", []int{41, 10, 12}
	base, err := format.Lookup("snowflake-flake") // counts from 1970
	switch len(formats) {
	case 0:
	case 1:
		base, bits = formats[0], nil
		name = base.Name()
	default:
		return nil, console.UsageErrorf("--epoch, --unit and --layout change one format, not %d",
			len(formats))
	}
	if err != nil {
		return nil, err
	}
	epoch, err := TimeOf("epoch", l.epoch, time.Now())
	if err != nil {
		return nil, err
	}
	if l.cmd.Flags().Changed("layout") {
		bits = l.bits
	}
	if l.cmd.Flags().Changed("unit") && l.unit <= 0 {
		return nil, console.UsageErrorf("--unit %v: want a duration above 0, such as 10ms", l.unit)
	}
	own, err := base.With(format.Variant{Name: name, Epoch: epoch, Tick: l.unit, Bits: bits})
	if err != nil {
		return nil, console.UsageErrorf("--epoch, --unit, --layout: %w", err)
	}
	return []*format.Format{own}, nil
}
