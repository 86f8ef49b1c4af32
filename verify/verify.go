// Package verify checks whether somebody's generator of IDs is right: it reads a stream
// of IDs, one a line, and checks all that the format promises.
//
//   - Form: each rule of the text.
//   - Order: IDs strictly increase.
//   - The format's own rules: counters, node IDs, headers, sequences.
//   - The clock: rollbacks, standstill, units and epochs, drift.
//   - Randomness of the fields that the format says are random: bias, patterns, values
//     that repeat.
//
// [Check] does that for one source, in constant memory, and returns what package report
// writes. Package duplicates looks for the same ID in any number of sources of any size.
//
// A check fails only for what a sound generator does not do; the probability that
// chance alone makes one of a report's checks of randomness fail is below one in a
// million.
package verify

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"time"

	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/verify/internal/ids"
	"github.com/sortid/sortid/verify/internal/reading"
	"github.com/sortid/sortid/verify/internal/rules"
	"github.com/sortid/sortid/verify/report"
)

// ErrOption is the error of an option that makes no sense, or of an unknown format.
var ErrOption = errors.New("verify: invalid option")

// ErrShrunk is the error of a file that had fewer bytes when it was read than when it was
// opened.
var ErrShrunk = reading.ErrShrunk

// Options say what is known of a source, and what to do besides. The zero value is for
// the IDs of one generator with the format's defaults, all in the order of generation.
type Options struct {
	Source string // the name for the report

	// Unordered is for IDs of several generators, or not in the order of generation.
	// Only what holds for each ID alone is checked; in place of faults of order the
	// report says how far out of order the IDs are.
	Unordered bool
	// Stateless is for scru128 generators that fill both counters at random for each
	// ID, and for euid generators that do not count within a millisecond. It implies
	// Unordered.
	Stateless bool

	// Live compares timestamps with the clock of this machine: the source is a
	// generator that runs now.
	Live bool
	// From and To bound the times that are taken for possible. The default is the year
	// 2000, or the first months of the format if that is later, to one day from now.
	From, To time.Time

	// Nodes are the node specs of scru64, such as "42/8": the generator's, or those of
	// all generators with Unordered. Without it the node ID is inferred.
	Nodes []string
	// CounterStart is how many bits the counter of scru64 or scru160 starts at random
	// with; Zero if it starts at zero; 0: inferred.
	CounterStart int
	// Usage is what scru160 uses its counter for: UsageDefault or UsageMicroseconds;
	// empty: inferred.
	Usage string
	// Extension is how many bits of random16 extend the counter of scru160; Zero for
	// none; 0: inferred.
	Extension int
	// NodeBits is the size of the node ID in scru160's random16 or of the worker ID in
	// uid60's random.
	NodeBits int

	// Raw names a random field whose tested bits are written to RawTo, one value after
	// the other, high bit first.
	Raw   string
	RawTo io.Writer

	// Progress is called now and then while a long input is read.
	Progress func(Progress)
	// Now is the clock of this machine; nil: time.Now.
	Now func() time.Time
}

// Zero is the value of an option that means none, where 0 means unknown.
const Zero = rules.Zero

// The usages of scru160's counter.
const (
	UsageDefault      = rules.UsageDefault
	UsageMicroseconds = rules.UsageMicroseconds
)

// Progress is how far a check has come.
type Progress struct {
	Bytes, Lines, IDs uint64
}

// rules returns the options that the format's rules need.
func (o *Options) rules() rules.Options {
	return rules.Options{
		Unordered: o.Unordered, Stateless: o.Stateless,
		Nodes: o.Nodes, CounterStart: o.CounterStart, Usage: o.Usage, Extension: o.Extension, NodeBits: o.NodeBits,
	}
}

// validate returns an error if the options do not fit the format.
func (o *Options) validate(f *ids.Format) error {
	r := o.rules()
	if err := r.Validate(f); err != nil {
		return err
	}
	if !o.From.IsZero() && !o.To.IsZero() && o.To.Before(o.From) {
		return errors.New("the latest possible time is before the earliest")
	}
	if o.Raw == "" {
		return nil
	}
	if o.RawTo == nil {
		return fmt.Errorf("nowhere to write the bits of %s", o.Raw)
	}
	return rules.CheckRaw(f, o.Raw)
}

// Check reads the IDs of a source, of the format of that name, one a line, until the input
// or ctx ends. What is wrong with the source is in the report, also if the input cannot
// be read to its end. The only error is [ErrOption].
func Check(ctx context.Context, formatName string, r io.Reader, o Options) (*report.Report, error) {
	f := ids.Lookup(formatName)
	if f == nil {
		return nil, fmt.Errorf("%w: no format %q", ErrOption, formatName)
	}
	c, err := newChecker(f, o)
	if err != nil {
		return nil, err
	}
	return c.check(ctx, r, reading.Options{
		Format: f, Now: c.o.Now, Eager: o.Live, Parsers: min(runtime.GOMAXPROCS(0), reading.MaxParsers),
	}), nil
}

// check reads the input to its end.
func (c *checker) check(ctx context.Context, r io.Reader, o reading.Options) *report.Report {
	start := time.Now()
	src := reading.New(ctx, r, o)
	defer src.Close()
	for b := src.Next(ctx); b != nil; b = src.Next(ctx) {
		c.block(b)
		if b.Err != nil && b.Err != io.EOF {
			c.readFailed(b.Err)
		}
		src.Release(b)
	}
	if ctx.Err() != nil {
		c.found.Fact("interrupted", "what came later was not read")
	}
	report := c.finish()
	report.Elapsed = time.Since(start)
	return report
}

// Open opens a file for reading. If the file turns out to be shorter than it was then,
// its reader's last error is [ErrShrunk] in place of io.EOF; what was added meanwhile is
// read, too.
func Open(name string) (io.ReadCloser, error) { return reading.Open(name) }

// Detect returns the name of the format that the lines at the start of an input have.
func Detect(head []byte) (name string, ok bool) {
	for line := range bytes.Lines(head) {
		text, _ := ids.CutPrefix(bytes.TrimSpace(line))
		if found := format.DetectOurs(string(text)); len(found) > 0 {
			return found[0].ID.Format().Name, true
		}
	}
	return "", false
}
