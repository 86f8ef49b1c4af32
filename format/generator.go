package format

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sortid/sortid"
	"github.com/sortid/sortid/internal/parseerr"
	"github.com/sortid/sortid/internal/words"
)

// A Generator makes IDs of one format. A call can wait for a later tick. The wait ends if the
// context ends. A Generator is safe for concurrent use unless Options.At is set.
type Generator interface {
	// Next returns the next ID.
	Next(ctx context.Context) (ID, error)
	// NewBatch returns an empty batch.
	NewBatch() Batch
}

// A Batch contains IDs, for fast streams. It is not safe for concurrent use, but the batches of a
// generator are independent.
type Batch interface {
	// Fill replaces the batch with the generator's next n IDs. After an error the batch is empty,
	// and the IDs made before the error are lost.
	Fill(ctx context.Context, n int) error
	// Last returns the last ID. The batch must not be empty.
	Last() ID
	// Append appends the IDs to b, with sep after each ID. The format must have the encoding.
	Append(b []byte, e Encoding, sep byte) []byte
	// AppendJSON is like Append, but writes each ID with [ID.AppendJSON].
	AppendJSON(b []byte, sep byte) []byte
}

// Options configure a [Generator]. The zero value means the format's defaults.
type Options struct {
	// Clock is the source of the time; nil means the system's clock.
	Clock func() time.Time
	// If At is not zero, the generator uses a clock that stands still at this time. The clock moves
	// to the next tick only when its tick has no more IDs.
	At time.Time
	// Entropy is the source of random bits. It must be cryptographically strong.
	Entropy io.Reader
	// Lease is a *lease.Lease. The Format of its Config must be [Format.Lease]. The node ID of
	// the lease replaces the option [Format.Node].
	// Clock must be the clock of the lease, and At must be zero. If the lease has expired, the
	// generator waits for its renewal. With the option "rollback" set to "abort", it fails instead.
	Lease sortid.Lease
	// Values has the format's options, by name. The value of a switch is "true" or "false".
	Values map[string]string
}

// An Option is an option of a format's generators.
type Option struct {
	Name   string `json:"name"`             // Such as "counter-width".
	Value  string `json:"value,omitempty"`  // Such as "BITS"; empty for a switch.
	Usage  string `json:"usage"`            // What it does, in one line.
	Needed bool   `json:"needed,omitempty"` // Whether a generator requires it.
	Env    string `json:"env,omitempty"`    // The environment variable that callers should read.

	fields []string // The fields that it sets in the Options of the format's package.
}

// Option returns the named option.
func (f *Format) Option(name string) (Option, bool) {
	for _, o := range f.Options {
		if o.Name == name {
			return o, true
		}
	}
	return Option{}, false
}

// WithOption returns the formats with the named option.
func WithOption(name string) (formats []*Format) {
	for _, f := range ours {
		if _, ok := f.Option(name); ok {
			formats = append(formats, f)
		}
	}
	return formats
}

// NewGenerator returns a generator. It returns a [*sortid.OptionError] for an unknown, missing or
// wrong option, and [sortid.ErrTimeRange] if no generated ID can have the time At.
func (f *Format) NewGenerator(o Options) (Generator, error) {
	for _, name := range slices.Sorted(maps.Keys(o.Values)) {
		if _, ok := f.Option(name); !ok {
			return nil, f.unknownOption(name, o.Values[name])
		}
	}
	if o.Lease != nil {
		if err := f.checkLease(o); err != nil {
			return nil, err
		}
	}
	for _, option := range f.Options {
		if _, ok := o.Values[option.Name]; option.Needed && !ok &&
			(o.Lease == nil || option.Name != f.Node) {
			return nil, f.optionErrorf("%s needs the option %s: %s", f.Name, option.Name, option.Usage)
		}
	}
	if !o.At.IsZero() {
		if o.At.Before(f.First) || o.At.After(f.Last) {
			return nil, fmt.Errorf("%w; a generator makes IDs from %s to %s", f.timeError(o.At),
				words.Time(f.First), words.Time(f.Last))
		}
	}
	g, err := f.newGenerator(f, o)
	if err != nil {
		return nil, f.named(err, o)
	}
	return g, nil
}

func (f *Format) checkLease(o Options) error {
	_, node := o.Values[f.Node]
	switch {
	case f.Node == "":
		with := slices.DeleteFunc(Ours(), func(f *Format) bool { return f.Node == "" })
		return f.optionErrorf(
			"%s IDs have no node ID, so there is nothing to lease; %s IDs have one", f.Name,
			words.List(namesOf(with), "and"))
	case node:
		return &sortid.OptionError{Format: f.Name, Options: []string{f.Node, leaseOption},
			Value: o.Values[f.Node], Err: errors.New("the lease has the node ID")}
	case !o.At.IsZero():
		return f.optionErrorf("a lease grants only future ticks, not %s", words.Time(o.At))
	}
	return nil
}

// leaseOption is the name of [Options.Lease] in an [sortid.OptionError].
const leaseOption = "lease"

func (f *Format) optionErrorf(format string, args ...any) error {
	return &sortid.OptionError{Format: f.Name, Err: fmt.Errorf(format, args...)}
}

// named completes an error of newGenerator. It replaces the names of fields in the Options of the
// format's package by names of options.
func (f *Format) named(err error, o Options) error {
	wrong, ok := err.(*sortid.OptionError)
	if !ok {
		return f.optionErrorf("%w", err)
	}
	var names []string
	for _, field := range wrong.Options {
		if name := f.optionOf(field); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return &sortid.OptionError{Format: f.Name, Options: names, Value: o.Values[names[0]],
		Err: wrong.Err}
}

func (f *Format) optionOf(field string) string {
	for _, o := range f.Options {
		if slices.Contains(o.fields, field) {
			return o.Name
		}
	}
	if field == "Lease" {
		return leaseOption
	}
	return field
}

func (f *Format) unknownOption(name, value string) error {
	e := &sortid.OptionError{Format: f.Name, Options: []string{name}, Value: value,
		Err: errors.New("no format has this option")}
	if have := WithOption(name); len(have) > 0 {
		if o, _ := have[0].Option(name); o.Value == "" {
			e.Value = "" // a switch
		}
		e.Err = fmt.Errorf("%s does not have this option; it is for %s", f.Name,
			words.List(namesOf(have), "and"))
		if name == have[0].Node {
			e.Instead = f.Node
		}
	}
	return e
}

// A fixedClock returns one time. A generator reads the clock twice for one ID only if the generator
// waits for the next tick. So the second reading moves the clock to that tick.
type fixedClock struct {
	t     time.Time
	step  time.Duration
	reads int
}

func (c *fixedClock) now() time.Time {
	c.reads++
	if c.reads%2 == 0 {
		c.t = c.t.Add(c.step)
	}
	return c.t
}

// follow prepares for the next ID. If the last ID's time t is ahead, the clock moves to t.
func (c *fixedClock) follow(t time.Time) {
	c.reads = 0
	if t.After(c.t) {
		c.t = t
	}
}

type source[T any] interface {
	GenerateContext(context.Context) (T, error)
	FillContext(context.Context, []T) error
}

type generator[T any] struct {
	format *Format
	source source[T]
	words  func(T) Words
	// texts appends the texts of all IDs in one call. A call for each ID would take as long as
	// making the ID.
	texts func(b []byte, ids []T, sep byte) []byte
	fixed *fixedClock
}

func (g *generator[T]) Next(ctx context.Context) (ID, error) {
	v, err := g.next(ctx)
	if err != nil {
		return ID{}, err
	}
	return ID{g.format, g.words(v)}, nil
}

func (g *generator[T]) next(ctx context.Context) (T, error) {
	v, err := g.source.GenerateContext(ctx)
	if err == nil && g.fixed != nil {
		g.fixed.follow(ID{g.format, g.words(v)}.Time())
	}
	return v, err
}

func (g *generator[T]) NewBatch() Batch { return &batch[T]{generator: g} }

type batch[T any] struct {
	*generator[T]
	ids []T
}

func (b *batch[T]) Fill(ctx context.Context, n int) error {
	ids := slices.Grow(b.ids[:0], n)[:n]
	b.ids = ids[:0]
	if b.fixed == nil {
		if err := b.source.FillContext(ctx, ids); err != nil {
			return err
		}
	} else {
		for i := range ids {
			var err error
			if ids[i], err = b.next(ctx); err != nil {
				return err
			}
		}
	}
	b.ids = ids
	return nil
}

func (b *batch[T]) Last() ID { return ID{b.format, b.words(b.ids[len(b.ids)-1])} }

func (b *batch[T]) Append(dst []byte, e Encoding, sep byte) []byte {
	if e == Text {
		return b.texts(dst, b.ids, sep)
	}
	for _, v := range b.ids {
		dst = append(ID{b.format, b.words(v)}.Append(dst, e), sep)
	}
	return dst
}

func (b *batch[T]) AppendJSON(dst []byte, sep byte) []byte {
	for _, v := range b.ids {
		dst = append(ID{b.format, b.words(v)}.AppendJSON(dst), sep)
	}
	return dst
}

// A retrying source waits a moment and retries if the error is temporary.
type retrying[T any] struct {
	source[T]
	temporary error
}

func (r retrying[T]) GenerateContext(ctx context.Context) (v T, err error) {
	err = r.retry(ctx, func() error {
		v, err = r.source.GenerateContext(ctx)
		return err
	})
	return v, err
}

func (r retrying[T]) FillContext(ctx context.Context, ids []T) error {
	return r.retry(ctx, func() error { return r.source.FillContext(ctx, ids) })
}

func (r retrying[T]) retry(ctx context.Context, try func() error) error {
	for {
		err := try()
		if !errors.Is(err, r.temporary) {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w; gave up waiting: %w", err, context.Cause(ctx))
		case <-time.After(100 * time.Microsecond):
		}
	}
}

var commonOptions = []Option{
	{Name: "rollback", Value: "POLICY",
		Usage: "what to do when the clock has gone back by more than the allowance: " +
			"reset, abort or wait",
		fields: []string{"RollbackPolicy"}},
	{Name: "allowance", Value: "DURATION",
		Usage:  "how far the clock may go back without any effect, as in 10s",
		fields: []string{"RollbackAllowance"}},
}

// set copies to g the options that all formats have. It calls setOther for each other option. If
// o.At is not zero, set returns the fixed clock.
func (o *Options) set(g *sortid.GeneratorOptions, tick time.Duration,
	setOther func(name, value string) error) (fixed *fixedClock, err error) {
	g.Clock, g.Entropy = o.Clock, o.Entropy
	if !o.At.IsZero() {
		fixed = &fixedClock{t: o.At, step: tick}
		g.Clock = fixed.now
	}
	if o.Lease != nil {
		g.RollbackPolicy = sortid.RollbackWait
	}
	for _, name := range slices.Sorted(maps.Keys(o.Values)) {
		switch value := o.Values[name]; name {
		case "allowance":
			g.RollbackAllowance, err = allowance(value)
		case "rollback":
			g.RollbackPolicy, err = policy(value)
		default:
			err = setOther(name, value)
		}
		if err != nil {
			return nil, &sortid.OptionError{Options: []string{name}, Err: err}
		}
	}
	return fixed, nil
}

func allowance(s string) (time.Duration, error) {
	d, err := time.ParseDuration(s)
	switch {
	case err != nil:
		return 0, errors.New("want a duration such as 10s or 1m30s")
	case d < 0:
		return 0, errors.New("it is negative; want a duration such as 10s, or 0s for none")
	case d == 0:
		return -1, nil
	}
	return d, nil
}

func policy(s string) (sortid.RollbackPolicy, error) {
	switch strings.ToLower(s) {
	case "reset":
		return sortid.RollbackReset, nil
	case "abort":
		return sortid.RollbackAbort, nil
	case "wait":
		return sortid.RollbackWait, nil
	}
	return 0, errors.New("want reset, abort or wait")
}

func number(s string, limit uint64) (uint64, error) {
	base, digits := 10, s
	if rest, ok := strings.CutPrefix(strings.ToLower(s), "0x"); ok {
		base, digits = 16, rest
	}
	v, err := strconv.ParseUint(digits, base, 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return 0, fmt.Errorf("%q is not a number", parseerr.Shorten(s))
	}
	if err != nil || v > limit {
		return 0, fmt.Errorf("%s is too large, want at most %d", parseerr.Shorten(s), limit)
	}
	return v, nil
}

// pair reads an integer of up to 16 bits and its size in bits, such as "42/8".
func pair(s string) (value uint16, bits int, err error) {
	first, second, ok := strings.Cut(s, "/")
	if !ok {
		return 0, 0, errors.New(`want the ID and its size in bits, as in "42/8"`)
	}
	v, err := number(first, 1<<16-1)
	if err != nil {
		return 0, 0, err
	}
	n, err := number(second, 64)
	if err == nil && n == 0 {
		err = errors.New("its size is 0 bits, want 1 or more")
	}
	return uint16(v), int(n), err
}

// size reads a number of bits. It returns -1 for 0, because in a generator's options 0 means the
// default and a negative number means none.
func size(s string, limit uint64) (int, error) {
	v, err := number(s, limit)
	if err == nil && v == 0 {
		return -1, nil
	}
	return int(v), err
}

func flag(s string) (bool, error) {
	on, err := strconv.ParseBool(s)
	if err != nil {
		return false, errors.New("want true or false")
	}
	return on, nil
}
