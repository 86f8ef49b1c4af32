// Package generate makes IDs of a format that a program learns at run time. If you know the format,
// import the format's package instead, for shorter and faster code.
//
// [New] returns a generator of one of [format.Ours]. [OptionsOf] describes the options of such
// generators, for example for a program's flags.
package generate

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
	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/internal/parseerr"
	"github.com/sortid/sortid/internal/words"
)

// A Generator makes IDs of one format. A call can wait for a later tick. The wait ends if the
// context ends. A Generator is safe for concurrent use unless Options.At is set.
type Generator interface {
	// Next returns the next ID.
	Next(ctx context.Context) (format.ID, error)
	// NextAt returns an ID of the time at. It is unique, but in no order within a tick, and does not
	// change what Next returns. If the format cannot make such IDs safely, the error matches
	// [errors.ErrUnsupported].
	NextAt(at time.Time) (format.ID, error)
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
	Last() format.ID
	// Append appends the IDs to b, with sep after each ID. The format must have the encoding.
	Append(b []byte, e format.Encoding, sep byte) []byte
	// AppendJSON is like Append, but writes each ID with [format.ID.AppendJSON].
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
	// Lease is a *lease.Lease of the same format. Its node ID replaces the option [NodeOption].
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

// A maker has what generators of one format need.
type maker struct {
	options   []Option
	node      string // the option for the node ID; empty if there is none
	needsNode bool
	refusesAt func() error // the error of NextAt; nil if it makes IDs
	new       func(*format.Format, Options) (Generator, error)
}

var makers = map[string]maker{
	"scru64":  scru64Maker,
	"scru128": scru128Maker,
	"scru160": scru160Maker,
	"euid":    euidMaker,
	"uid60":   uid60Maker,
}

// Lookup returns the format with this name if [New] makes its IDs, or a [*sortid.UnknownError].
// Letter case does not matter.
func Lookup(name string) (*format.Format, error) {
	f, err := format.Lookup(name)
	if err == nil && f.Generates {
		return f, nil
	}
	known := &sortid.UnknownError{What: "format", Name: name}
	for _, f := range format.Ours() {
		known.Known = append(known.Known, f.Name)
	}
	return nil, known
}

// OptionsOf returns the options of a format's generators, or nil if New makes no IDs of the format.
func OptionsOf(f *format.Format) []Option { return slices.Clone(makers[f.Name].options) }

// NodeOption returns the option for the node ID, and whether there is one.
func NodeOption(f *format.Format) (Option, bool) {
	m := makers[f.Name]
	return m.option(m.node)
}

// NeedsNode reports whether IDs are certain to be unique only with node IDs.
func NeedsNode(f *format.Format) bool { return makers[f.Name].needsNode }

// CheckAt returns the error of [Generator.NextAt] if it always fails for the format.
func CheckAt(f *format.Format) error {
	if refuses := makers[f.Name].refusesAt; refuses != nil {
		return refuses()
	}
	return nil
}

func (m *maker) option(name string) (Option, bool) {
	for _, o := range m.options {
		if o.Name == name {
			return o, true
		}
	}
	return Option{}, false
}

// New returns a generator. It returns a [*sortid.OptionError] for an unknown, missing or wrong
// option, and [sortid.ErrTimeRange] if no generated ID can have the time At.
func New(f *format.Format, o Options) (Generator, error) {
	m, ok := makers[f.Name]
	if !ok {
		return nil, optionErrorf(f, "there is no generator; there are generators of %s",
			words.List(namesOf(func(maker) bool { return true }), "and"))
	}
	for _, name := range slices.Sorted(maps.Keys(o.Values)) {
		if _, ok := m.option(name); !ok {
			return nil, m.unknownOption(f, name, o.Values[name])
		}
	}
	if o.Lease != nil {
		if err := m.checkLease(f, o); err != nil {
			return nil, err
		}
	}
	for _, option := range m.options {
		if _, ok := o.Values[option.Name]; option.Needed && !ok &&
			(o.Lease == nil || option.Name != m.node) {
			return nil, optionErrorf(f, "%s needs the option %s: %s", f.Name, option.Name, option.Usage)
		}
	}
	if !o.At.IsZero() && (o.At.Before(f.First) || o.At.After(f.Last)) {
		return nil, timeError(f, o.At)
	}
	g, err := m.new(f, o)
	if err != nil {
		return nil, m.named(f, err, o)
	}
	return g, nil
}

func timeError(f *format.Format, at time.Time) error {
	first, last := f.First, f.Last
	if f.Reserved {
		first, last = first.Add(-f.Tick), last.Add(f.Tick)
	}
	return parseerr.Kindf(sortid.ErrTimeRange, "%s: %s is outside the format's range, %s to %s; "+
		"a generator makes IDs from %s to %s", f.Name, words.Time(at),
		words.Time(first), words.Time(last), words.Time(f.First),
		words.Time(f.Last))
}

func (m *maker) checkLease(f *format.Format, o Options) error {
	_, node := o.Values[m.node]
	switch {
	case m.node == "":
		with := namesOf(func(m maker) bool { return m.node != "" })
		return optionErrorf(f,
			"%s IDs have no node ID, so there is nothing to lease; %s IDs have one", f.Name,
			words.List(with, "and"))
	case node:
		return &sortid.OptionError{Format: f.Name, Options: []string{m.node, leaseOption},
			Value: o.Values[m.node], Err: errors.New("the lease has the node ID")}
	case !o.At.IsZero():
		return optionErrorf(f, "a lease grants only future ticks, not %s", words.Time(o.At))
	}
	return nil
}

// namesOf returns the names of the formats for which ok returns true.
func namesOf(ok func(maker) bool) (names []string) {
	for _, f := range format.Ours() {
		if ok(makers[f.Name]) {
			names = append(names, f.Name)
		}
	}
	return names
}

// leaseOption is the name of [Options.Lease] in an [sortid.OptionError].
const leaseOption = "lease"

func optionErrorf(f *format.Format, reason string, args ...any) error {
	return &sortid.OptionError{Format: f.Name, Err: fmt.Errorf(reason, args...)}
}

// named completes an error of the function new. It replaces the names of fields in the Options of
// the format's package by names of options.
func (m *maker) named(f *format.Format, err error, o Options) error {
	wrong, ok := err.(*sortid.OptionError)
	if !ok {
		return optionErrorf(f, "%w", err)
	}
	var names []string
	for _, field := range wrong.Options {
		if name := m.optionOf(field); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return &sortid.OptionError{Format: f.Name, Options: names, Value: o.Values[names[0]],
		Err: wrong.Err}
}

func (m *maker) optionOf(field string) string {
	for _, o := range m.options {
		if slices.Contains(o.fields, field) {
			return o.Name
		}
	}
	if field == "Lease" {
		return leaseOption
	}
	return field
}

func (m *maker) unknownOption(f *format.Format, name, value string) error {
	e := &sortid.OptionError{Format: f.Name, Options: []string{name}, Value: value,
		Err: errors.New("no format has this option")}
	have := namesOf(func(m maker) bool {
		_, ok := m.option(name)
		return ok
	})
	if len(have) > 0 {
		other := makers[have[0]]
		if o, _ := other.option(name); o.Value == "" {
			e.Value = "" // a switch
		}
		e.Err = fmt.Errorf("%s does not have this option; it is for %s", f.Name,
			words.List(have, "and"))
		if name == other.node {
			e.Instead = m.node
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
	GenerateAt(time.Time) (T, error)
	FillContext(context.Context, []T) error
}

type generator[T any] struct {
	format *format.Format
	source source[T]
	toID   func(*format.Format, T) format.ID
	// texts appends the texts of all IDs in one call. A call for each ID would take as long as
	// making the ID.
	texts func(b []byte, ids []T, sep byte) []byte
	fixed *fixedClock
}

func (g *generator[T]) id(v T) format.ID { return g.toID(g.format, v) }

func (g *generator[T]) Next(ctx context.Context) (format.ID, error) {
	v, err := g.next(ctx)
	if err != nil {
		return format.ID{}, err
	}
	return g.id(v), nil
}

func (g *generator[T]) NextAt(at time.Time) (format.ID, error) {
	v, err := g.source.GenerateAt(at)
	if errors.Is(err, sortid.ErrTimeRange) {
		err = timeError(g.format, at)
	}
	if err != nil {
		return format.ID{}, err
	}
	return g.id(v), nil
}

func (g *generator[T]) next(ctx context.Context) (T, error) {
	v, err := g.source.GenerateContext(ctx)
	if err == nil && g.fixed != nil {
		g.fixed.follow(g.id(v).Time())
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

func (b *batch[T]) Last() format.ID { return b.id(b.ids[len(b.ids)-1]) }

func (b *batch[T]) Append(dst []byte, e format.Encoding, sep byte) []byte {
	if e == format.Text {
		return b.texts(dst, b.ids, sep)
	}
	for _, v := range b.ids {
		dst = append(b.id(v).Append(dst, e), sep)
	}
	return dst
}

func (b *batch[T]) AppendJSON(dst []byte, sep byte) []byte {
	for _, v := range b.ids {
		dst = append(b.id(v).AppendJSON(dst), sep)
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
