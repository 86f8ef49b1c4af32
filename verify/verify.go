// Package verify tells whether somebody's generator of IDs does it right: it reads a
// stream of IDs, one a line, and checks all that the format promises.
//
//   - Form: each rule of the text.
//   - Order: IDs strictly increase.
//   - The format's own rules: counters, node IDs, headers, sequences.
//   - The clock: rollbacks, stand-still, units and epochs, drift.
//   - Randomness of the fields that the format says are random: bias, patterns, values
//     that repeat. See [Field].
//
// [Check] does that for one source, in constant memory. [Unique] looks for the same ID
// in any number of sources of any size.
//
// A check fails only for what a sound generator does not do; the probability that
// chance alone makes one of a report's checks of randomness fail is below one in a
// million.
package verify

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"time"
)

// ErrOption: an option that makes no sense, or an unknown scheme.
var ErrOption = errors.New("verify: invalid option")

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

// Zero is the value of an option that means none, where 0 means not said.
const Zero = -1

// The usages of scru160's counter.
const (
	UsageDefault      = "default"
	UsageMicroseconds = "microseconds"
)

// Progress is how far a check has come.
type Progress struct {
	Bytes, Lines, IDs uint64
}

// Check reads the IDs of a source, of one of the [Schemes], one a line, until the input
// or ctx ends. What is wrong with the source is in the report, also if the input cannot
// be read to its end; an error is [ErrOption].
func Check(ctx context.Context, scheme string, r io.Reader, o Options) (*Report, error) {
	f := formatOf(scheme)
	if f == nil {
		return nil, fmt.Errorf("%w: no scheme %q", ErrOption, scheme)
	}
	c, err := newChecker(f, o)
	if err != nil {
		return nil, err
	}
	return c.check(ctx, r, reading{
		f: f, now: c.o.Now, eager: o.Live, size: blockSize, readers: min(runtime.GOMAXPROCS(0), maxReaders),
	}), nil
}

// check reads the input to its end.
func (c *checker) check(ctx context.Context, r io.Reader, how reading) *Report {
	start := time.Now()
	src := newSource(ctx, r, how)
	defer src.close()
	for b := src.next(ctx); b != nil; b = src.next(ctx) {
		c.block(b)
		if b.err != nil && b.err != io.EOF {
			c.readFailed(b.err)
		}
		src.done(b)
	}
	if ctx.Err() != nil {
		c.fact("interrupted", "what came later was not read")
	}
	report := c.finish()
	report.Elapsed = time.Since(start)
	return report
}
