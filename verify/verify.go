// Package verify checks whether a generator of IDs is correct. It reads IDs, one on each line, and
// checks what the format promises.
//
//   - Form: each rule of the text.
//   - Order: IDs strictly increase.
//   - The format's own rules: counters, node IDs, headers, sequences.
//   - The clock: rollbacks, standstill, units and epochs, drift.
//   - Randomness of random fields: bias, patterns, repeated values.
//
// [Check] reads a source in constant memory. Package report writes its report. Package duplicates
// finds IDs that occur twice in any number of sources.
//
// A sound generator passes. Chance alone fails a check of randomness in fewer than one in a million
// reports.
package verify

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"time"

	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/verify/internal/reading"
	"github.com/sortid/sortid/verify/internal/rules"
	"github.com/sortid/sortid/verify/report"
)

// ErrOption is the error of a senseless option or an unknown format.
var ErrOption = errors.New("verify: invalid option")

// ErrShrunk is the error of a file that became shorter while read.
var ErrShrunk = reading.ErrShrunk

// Options describe a source. The zero value: all IDs of one generator with the format's defaults,
// in order of generation.
type Options struct {
	Source string // the name for the report

	// Unordered: IDs are of several generators, or not in order of generation. Each is checked by
	// itself. The report says how far out of order they are.
	Unordered bool
	// Stateless: scru128 generators set both counters at random in each ID, and euid generators do
	// not count within a millisecond. It implies Unordered.
	Stateless bool

	// Live: the generator runs during the check. Timestamps are compared with this machine's clock.
	Live bool
	// From and To bound the times. The default is from the start of format.PlausibleRange to one
	// day from now.
	From, To time.Time

	// Nodes has the generator's scru64 node spec, such as "42/8"; with Unordered, all generators'.
	// If empty, the node ID is inferred.
	Nodes []string
	// CounterStart is the number of random bits in a new scru64 or scru160 counter. None: it starts
	// at zero. 0: inferred.
	CounterStart int
	// Usage of scru160's counter is UsageDefault or UsageMicroseconds. If empty, it is inferred.
	Usage string
	// Extension is how many bits of random16 extend scru160's counter. None: it has
	// no extension. 0: inferred.
	Extension int
	// NodeBits is the node ID's size, in scru160's random16, in uid60's random (worker ID), or
	// above the counter of another project's format.
	NodeBits int

	// Raw names a random field. RawTo gets its tested bits, value after value, high bit first.
	Raw   string
	RawTo io.Writer

	// Progress is called now and then.
	Progress func(Progress)
	// Now is this machine's clock; nil: time.Now.
	Now func() time.Time
}

// None means no bits in options where 0 means unknown.
const None = rules.None

// The usages of scru160's counter.
const (
	UsageDefault      = format.UsageDefault
	UsageMicroseconds = format.UsageMicroseconds
)

// Progress is how far a check has come.
type Progress struct {
	Bytes, Lines, IDs uint64
}

func (o *Options) rules() rules.Options {
	return rules.Options{
		Unordered: o.Unordered, Stateless: o.Stateless,
		Nodes: o.Nodes, CounterStart: o.CounterStart, Usage: o.Usage, Extension: o.Extension,
		NodeBits: o.NodeBits,
	}
}

func (o *Options) validate(f *format.Format) error {
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
	return r.CheckRaw(f, o.Raw)
}

// Check reads IDs of the named format, one on each line, until the input or ctx ends. The report
// has all faults, also a read error. The only error is [ErrOption].
func Check(ctx context.Context, formatName string, r io.Reader, o Options) (*report.Report, error) {
	f, err := format.LookupAny(formatName)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrOption, err)
	}
	c, err := newChecker(f, o)
	if err != nil {
		return nil, err
	}
	return c.check(ctx, r, reading.Options{
		Format: f, Now: c.o.Now, Eager: o.Live, Parsers: min(runtime.GOMAXPROCS(0),
			reading.MaxParsers),
	}), nil
}

func (c *checker) check(ctx context.Context, r io.Reader, o reading.Options) *report.Report {
	start := time.Now()
	src := reading.New(ctx, r, o)
	defer src.Close()
	for b := src.Next(); b != nil; b = src.Next() {
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

// Open opens a file. If it becomes shorter, its reader ends with [ErrShrunk] instead of io.EOF. The
// reader also reads what is added.
func Open(name string) (io.ReadCloser, error) { return reading.Open(name) }

// Detect returns the most probable format of the first lines that have an ID. Integers tell no
// format of other projects.
func Detect(head []byte) (name string, ok bool) {
	var common []*format.Format
	lines := 0
	for line := range bytes.Lines(head) {
		text, _ := format.CutHexPrefix(bytes.TrimSpace(line))
		var formats []*format.Format
		for _, c := range format.Detect(string(text)) {
			f := c.ID.Format()
			if f.Timed() != nil && (f.Generates() || c.Encoding != format.Int) &&
				(lines == 0 || slices.Contains(common, f)) {
				formats = append(formats, f)
			}
		}
		if len(formats) == 0 {
			continue
		}
		if common, lines = formats, lines+1; lines == detectLines {
			break
		}
	}
	if len(common) == 0 {
		return "", false
	}
	return common[0].Name, true
}

// detectLines is how many such lines Detect reads.
const detectLines = 16
