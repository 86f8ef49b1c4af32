// Package verify checks whether a generator of IDs is correct. It reads IDs, one on each line, and
// checks what the format promises:
//
//   - Form: each line is a correct text of an ID.
//   - Order: the IDs strictly increase.
//   - The format's own rules, for example for counters.
//   - The clock: times that go back, a clock that stops, wrong units and epochs, drift.
//   - Randomness of random fields: bias, patterns, repeated values.
//
// [Check] reads an input of any size in constant memory. Package report writes reports. Package
// duplicates finds IDs that occur twice.
//
// A correct generator passes, except by chance: fewer than one in a million of its reports fail.
package verify

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"time"

	"github.com/sortid/sortid"
	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/internal/spec"
	"github.com/sortid/sortid/verify/internal/exact"
	"github.com/sortid/sortid/verify/internal/sample"
	"github.com/sortid/sortid/verify/report"
)

// ErrShrunk means that a file became shorter while it was read.
var ErrShrunk = sample.ErrShrunk

// Options describe a source. The zero value is for all IDs of one generator, in the order of
// generation. This generator uses the format's defaults.
type Options struct {
	Source string // the name in the report

	// Unordered says that the IDs come from several generators, or are not in the order of
	// generation. Then Check checks each ID separately. It reports how far IDs are behind the
	// latest time so far.
	Unordered bool
	// Stateless says that the generators keep no state. A stateless scru128 generator sets
	// counter_hi and counter_lo at random in each ID. A stateless euid generator does not count
	// within a millisecond. Stateless implies Unordered.
	Stateless bool

	// Live says that the generator runs now. Then Check compares the timestamps with this machine's
	// clock.
	Live bool
	// From and To are the earliest and the latest possible time. By default, From is 2010. If the
	// epoch is later or the format is older, From is the start of [format.Format.PlausibleRange]. By
	// default, To is one day from now.
	From, To time.Time

	// Nodes has the node spec of a scru64 generator: "42/8" is the node ID 42 of 8 bits. With
	// Unordered, Nodes has the specs of all generators. If Nodes is empty, Check infers the node ID.
	Nodes []string
	// CounterStart is how many random bits a scru64 or scru160 counter has at the start of a tick.
	// With None, the counter starts at zero. With 0, Check infers the number.
	CounterStart int
	// Usage is how scru160's counter is used: UsageDefault or UsageMicroseconds. If Usage is empty,
	// Check infers the usage.
	Usage string
	// Extension is how many bits of the field random16 extend scru160's counter, or None. With 0,
	// Check infers the number.
	Extension int
	// NodeBits is the size in bits of the node ID in scru160's field random16, or of the worker ID
	// in uid60's field random. Some formats of other projects have one field for a node
	// ID and a counter. Then NodeBits is the size of the node ID, and the counter is the rest of
	// the field.
	NodeBits int

	// Variant is the format of the IDs, if it is not nil: a Snowflake with an epoch or a layout of its
	// own. Check then ignores the format's name.
	Variant *format.Format

	// Raw names a random field. Check writes the field's tested bits to RawTo, high bit first.
	Raw   string
	RawTo io.Writer

	// Sources compares the random values of several sources. It may be nil.
	Sources *Sources

	// Progress is called from time to time.
	Progress func(Progress)
	// Now reads this machine's clock. The default is time.Now.
	Now func() time.Time
}

// None means no bits, in [Options.CounterStart] and [Options.Extension]. There, 0 means unknown.
const None = exact.None

// The usages of scru160's counter.
const (
	UsageDefault      = spec.DefaultUsage
	UsageMicroseconds = spec.MicrosecondsUsage
)

// Progress is how much of a source has been read.
type Progress struct {
	Bytes, Lines, IDs uint64
}

func (o *Options) rules() exact.Options {
	return exact.Options{
		Unordered: o.Unordered, Stateless: o.Stateless,
		Nodes: o.Nodes, CounterStart: o.CounterStart, Usage: o.Usage, Extension: o.Extension,
		NodeBits: o.NodeBits,
	}
}

func (o *Options) validate(f *sample.Format) error {
	r := o.rules()
	if err := r.Validate(f); err != nil {
		return err
	}
	if !o.From.IsZero() && !o.To.IsZero() && o.To.Before(o.From) {
		return errors.New("the latest possible time is before the earliest possible time")
	}
	if o.Raw == "" {
		return nil
	}
	if o.RawTo == nil {
		return fmt.Errorf("options: Raw is %q, but RawTo is nil", o.Raw)
	}
	return r.CheckRaw(f, o.Raw)
}

// Check reads IDs of the named format, one on each line, until the input or ctx ends. Faults and
// read errors are in the report. Check returns an error only for a wrong option or an unknown format: a
// [*sortid.OptionError].
func Check(ctx context.Context, formatName string, r io.Reader, o Options) (*report.Report, error) {
	f, err := sample.Lookup(formatName, o.Variant)
	if err != nil {
		return nil, &sortid.OptionError{Format: "verify", Err: err}
	}
	c, err := newChecker(f, o)
	if err != nil {
		return nil, err
	}
	return c.check(ctx, r, sample.Options{
		Format: c.f, Now: c.o.Now, Eager: o.Live, Parsers: min(runtime.GOMAXPROCS(0),
			sample.MaxParsers),
	}), nil
}

func (c *checker) check(ctx context.Context, r io.Reader, o sample.Options) *report.Report {
	start := time.Now()
	src := sample.New(ctx, r, o)
	defer src.Close()
	for b := src.Next(); b != nil; b = src.Next() {
		c.block(b)
		if b.Err != nil && b.Err != io.EOF {
			c.readFailed(b.Err)
		}
		src.Release(b)
	}
	if ctx.Err() != nil {
		c.found.Fact("interrupted", "the rest of the input was not read")
	}
	report := c.finish()
	report.Elapsed = time.Since(start)
	return report
}

// Open opens a file. If the file becomes shorter, the reader ends with [ErrShrunk]. If the file
// grows, the reader also reads the added bytes.
func Open(name string) (io.ReadCloser, error) { return sample.Open(name) }

// Knows reports whether Check can verify IDs of the format. It cannot if all IDs are the same, as a
// UUID of zeros is.
func Knows(f *format.Format) bool { return sample.Verifiable(spec.Of(f)) }
