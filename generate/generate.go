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
	"time"

	"github.com/sortid/sortid"
	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/internal/integer"
	"github.com/sortid/sortid/internal/maker"
	"github.com/sortid/sortid/internal/parseerr"
	"github.com/sortid/sortid/internal/spec"
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
	Name   string // Such as "counter-width".
	Value  string // Such as "BITS"; empty for a switch.
	Usage  string // What it does, in one line.
	Needed bool   // Whether a generator requires it.
	Env    string // The environment variable that callers should read.
}

// Lookup returns the format with this name if [New] makes its IDs, or a [*sortid.UnknownError].
// Letter case does not matter.
func Lookup(name string) (*format.Format, error) {
	f, err := format.Lookup(name)
	if err == nil && f.Generates() {
		return f, nil
	}
	known := &sortid.UnknownError{What: "format", Name: name}
	for _, f := range format.Ours() {
		known.Known = append(known.Known, f.Name())
	}
	return nil, known
}

// OptionsOf returns the options of a format's generators, or nil if New makes no IDs of the format.
func OptionsOf(f *format.Format) (options []Option) {
	for _, o := range makerOf(f).Options {
		options = append(options, optionOf(o))
	}
	return options
}

func optionOf(o maker.Option) Option { return Option{o.Name, o.Value, o.Usage, o.Needed, o.Env} }

// makerOf returns the maker of a format, or an empty one.
func makerOf(f *format.Format) *maker.Maker {
	if m := spec.Of(f).Maker; m != nil {
		return m
	}
	return &maker.Maker{}
}

// NodeOption returns the option for the node ID, and whether there is one.
func NodeOption(f *format.Format) (Option, bool) {
	m := makerOf(f)
	o, ok := m.Option(m.Node)
	return optionOf(o), ok
}

// NeedsNode reports whether IDs are certain to be unique only with node IDs.
func NeedsNode(f *format.Format) bool { return makerOf(f).NeedsNode }

// CheckAt returns the error of [Generator.NextAt] if it always fails for the format.
func CheckAt(f *format.Format) error { return makerOf(f).CheckAt(f.Name()) }

// New returns a generator. It returns a [*sortid.OptionError] for an unknown, missing or wrong
// option, and [sortid.ErrTimeRange] if no generated ID can have the time At.
func New(f *format.Format, o Options) (Generator, error) {
	m := made{makerOf(f), spec.Of(f)}
	if m.New == nil {
		return nil, m.errorf("there is no generator; there are generators of %s",
			words.List(namesOf(func(*maker.Maker) bool { return true }), "and"))
	}
	if err := m.check(o); err != nil {
		return nil, err
	}
	g, err := m.New(maker.Settings(o))
	if err != nil {
		return nil, m.named(err, o)
	}
	return &generator{format: f, spec: m.spec, made: g}, nil
}

// A made is a format with its maker.
type made struct {
	*maker.Maker
	spec *spec.Format
}

// check returns an error if the options do not fit together.
func (m made) check(o Options) error {
	for _, name := range slices.Sorted(maps.Keys(o.Values)) {
		if _, ok := m.Option(name); !ok {
			return m.unknownOption(name, o.Values[name])
		}
	}
	if o.Lease != nil {
		if err := m.checkLease(o); err != nil {
			return err
		}
	}
	for _, option := range m.Options {
		if _, ok := o.Values[option.Name]; option.Needed && !ok &&
			(o.Lease == nil || option.Name != m.Node) {
			return m.errorf("%s needs the option %s: %s", m.spec.Name, option.Name, option.Usage)
		}
	}
	if !o.At.IsZero() && (o.At.Before(m.spec.First) || o.At.After(m.spec.Last)) {
		return timeError(m.spec, o.At)
	}
	return nil
}

func timeError(f *spec.Format, at time.Time) error {
	first, last := f.Span()
	return parseerr.Kindf(sortid.ErrTimeRange, "%s: %s is outside the format's range, %s to %s; "+
		"a generator makes IDs from %s to %s", f.Name, words.Time(at),
		words.Time(first), words.Time(last), words.Time(f.First),
		words.Time(f.Last))
}

func (m made) checkLease(o Options) error {
	_, node := o.Values[m.Node]
	switch {
	case m.Node == "":
		with := namesOf(func(m *maker.Maker) bool { return m.Node != "" })
		return m.errorf("%s IDs have no node ID, so there is nothing to lease; %s IDs have one",
			m.spec.Name, words.List(with, "and"))
	case node:
		return &sortid.OptionError{Format: m.spec.Name, Options: []string{m.Node, leaseOption},
			Value: o.Values[m.Node], Err: errors.New("the lease has the node ID")}
	case !o.At.IsZero():
		return m.errorf("a lease grants only future ticks, not %s", words.Time(o.At))
	}
	return nil
}

// namesOf returns the names of the formats for whose makers ok returns true.
func namesOf(ok func(*maker.Maker) bool) (names []string) {
	for _, f := range spec.Ours() {
		if ok(f.Maker) {
			names = append(names, f.Name)
		}
	}
	return names
}

// leaseOption is the name of [Options.Lease] in an [sortid.OptionError].
const leaseOption = "lease"

func (m made) errorf(reason string, args ...any) error {
	return &sortid.OptionError{Format: m.spec.Name, Err: fmt.Errorf(reason, args...)}
}

// named completes an error of the function New of a maker. It replaces the names of fields in the
// Options of the format's package by names of options.
func (m made) named(err error, o Options) error {
	wrong, ok := err.(*sortid.OptionError)
	if !ok {
		return m.errorf("%w", err)
	}
	var names []string
	for _, field := range wrong.Options {
		name := m.OptionOf(field)
		if field == "Lease" {
			name = leaseOption
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return &sortid.OptionError{Format: m.spec.Name, Options: names, Value: o.Values[names[0]],
		Err: wrong.Err}
}

func (m made) unknownOption(name, value string) error {
	e := &sortid.OptionError{Format: m.spec.Name, Options: []string{name}, Value: value,
		Err: errors.New("no format has this option")}
	have := func(m *maker.Maker) bool {
		_, ok := m.Option(name)
		return ok
	}
	i := slices.IndexFunc(spec.Ours(), func(f *spec.Format) bool { return have(f.Maker) })
	if i < 0 {
		return e
	}
	other := spec.Ours()[i].Maker
	if o, _ := other.Option(name); o.Value == "" {
		e.Value = "" // a switch
	}
	e.Err = fmt.Errorf("%s does not have this option; it is for %s", m.spec.Name,
		words.List(namesOf(have), "and"))
	if name == other.Node {
		e.Instead = m.Node
	}
	return e
}

// A generator makes IDs of the integers that another generator makes.
type generator struct {
	format *format.Format
	spec   *spec.Format
	made   maker.Generator
}

func (g *generator) id(w integer.Words) format.ID {
	id, _ := g.format.FromWords(w.Array()) // a generator makes only IDs of its format
	return id
}

func (g *generator) Next(ctx context.Context) (id format.ID, err error) {
	w, err := g.made.Next(ctx)
	if err != nil {
		return id, err
	}
	return g.id(w), nil
}

func (g *generator) NextAt(at time.Time) (id format.ID, err error) {
	if err := g.spec.Maker.CheckAt(g.spec.Name); err != nil {
		return id, err
	}
	w, err := g.made.NextAt(at)
	if errors.Is(err, sortid.ErrTimeRange) {
		err = timeError(g.spec, at)
	}
	if err != nil {
		return id, err
	}
	return g.id(w), nil
}

func (g *generator) NewBatch() Batch { return &batch{g, g.made.NewBatch()} }

type batch struct {
	*generator
	maker.Batch
}

func (b *batch) Last() format.ID { return b.id(b.At(b.Len() - 1)) }

func (b *batch) Append(dst []byte, e format.Encoding, sep byte) []byte {
	if e == format.Text {
		return b.AppendText(dst, sep)
	}
	for i := range b.Len() {
		dst = append(b.spec.Append(dst, b.At(i), spec.Encoding(e)), sep)
	}
	return dst
}

func (b *batch) AppendJSON(dst []byte, sep byte) []byte {
	for i := range b.Len() {
		dst = append(b.id(b.At(i)).AppendJSON(dst), sep)
	}
	return dst
}
