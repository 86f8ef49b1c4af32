// Package maker makes IDs of one of our formats as integers, with options that are texts. The
// descriptions of formats in package spec have a [Maker] each; package generate is for users.
package maker

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/sortid/sortid"
)

// A Maker has what generators of one format need.
type Maker struct {
	Options   []Option
	Node      string // The option for the node ID; empty if there is none.
	NeedsNode bool   // Whether IDs are certain to be unique only with node IDs.
	NoAt      bool   // Whether IDs of a given time cannot be made safely.
	New       func(Settings) (Generator, error)
}

// An Option is an option of a format's generators.
type Option struct {
	Name   string `json:"name"`             // Such as "counter-width".
	Value  string `json:"value,omitempty"`  // Such as "BITS"; empty for a switch.
	Usage  string `json:"usage"`            // What it does, in one line.
	Needed bool   `json:"needed,omitempty"` // Whether a generator requires it.
	Env    string `json:"env,omitempty"`    // The environment variable that callers should read.

	Fields []string `json:"-"` // What it sets in the Options of the format's package.
}

// Settings configure a [Generator]; see generate.Options.
type Settings struct {
	Clock   func() time.Time
	At      time.Time
	Entropy io.Reader
	Lease   sortid.Lease
	Values  map[string]string // the format's options, by name
}

// Option returns the option with this name, and whether there is one.
func (m *Maker) Option(name string) (Option, bool) {
	for _, o := range m.Options {
		if o.Name == name {
			return o, true
		}
	}
	return Option{}, false
}

// OptionOf returns the name of the option that sets a field in the Options of the format's package.
func (m *Maker) OptionOf(field string) string {
	for _, o := range m.Options {
		if slices.Contains(o.Fields, field) {
			return o.Name
		}
	}
	return field
}

// CheckAt returns the error of [Generator.NextAt] if it always fails for the format, whose name the
// caller gives.
func (m *Maker) CheckAt(format string) error {
	if !m.NoAt {
		return nil
	}
	return fmt.Errorf("%s: %w: only counters distinguish the IDs of one node ID, "+
		"and nobody knows which counters of an earlier time are free; for old rows, "+
		"use a Generator with a node ID that no other generator ever has, "+
		"and a Clock that returns the rows' times in ascending order",
		format, errors.ErrUnsupported)
}

// Apply copies to g the options that all formats have. It calls setOther for each other option. If
// s.At is not zero, it sets and returns the fixed clock. The tick is the clock's step.
func (s *Settings) Apply(g *sortid.GeneratorOptions, tick time.Duration,
	setOther func(name, value string) error) (fixed *FixedClock, err error) {
	g.Clock, g.Entropy = s.Clock, s.Entropy
	if !s.At.IsZero() {
		fixed = &FixedClock{t: s.At, step: tick}
		g.Clock = fixed.now
	}
	if s.Lease != nil {
		g.RollbackPolicy = sortid.RollbackWait
	}
	for _, name := range slices.Sorted(maps.Keys(s.Values)) {
		switch value := s.Values[name]; name {
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
