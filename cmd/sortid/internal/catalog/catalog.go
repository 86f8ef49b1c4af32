// Package catalog lists formats for users: their names, and a table of all.
package catalog

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"

	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/internal/maker"
	"github.com/sortid/sortid/internal/spec"
	"github.com/sortid/sortid/internal/words"
	"github.com/sortid/sortid/lease/nodefield"
)

// Table returns a line of JSON for each format; see docs/schemas/formats.json.
func Table() []byte {
	var b bytes.Buffer
	lines := json.NewEncoder(&b)
	for _, f := range format.All() {
		if err := lines.Encode(rowOf(f)); err != nil {
			panic(err) // a bug: the values are part of the program
		}
	}
	return b.Bytes()
}

// A row is a format as JSON. See docs/schemas/formats.json.
type row struct {
	Name      string          `json:"name"`
	Title     string          `json:"title"`
	Summary   string          `json:"summary"`
	Source    string          `json:"source"`
	Generates bool            `json:"generates"`
	Bits      int             `json:"bits"`
	Max       string          `json:"max"`
	Layout    []spec.Field    `json:"layout"`
	Ordered   bool            `json:"ordered"`
	Within    []string        `json:"within,omitempty"`
	Encodings []spec.Encoding `json:"encodings"`
	Guess     []spec.Encoding `json:"guess,omitzero"`
	Text      textRow         `json:"text"`
	Search    spec.Search     `json:"search,omitzero"`
	Example   string          `json:"example"`

	// The share of random texts like the example that can be read as an ID, too.
	Chance   float64                               `json:"chance"`
	Readable map[spec.Encoding]map[int]json.Number `json:"readable"`

	Time *timeRow `json:"time,omitempty"`

	NodeBits    int            `json:"node_bits,omitempty"`
	Unique      string         `json:"unique,omitempty"`
	PerTick     string         `json:"per_tick,omitempty"`
	Choose      string         `json:"choose,omitempty"`
	Options     []maker.Option `json:"options,omitempty"`
	Node        string         `json:"node,omitempty"`
	NeedsNode   bool           `json:"needs_node,omitempty"`
	NodeCounter int            `json:"node_counter,omitempty"`
	Plan        *spec.Model    `json:"plan,omitempty"`
	SQL         *spec.SQL      `json:"sql,omitempty"`
}

type textRow struct {
	Alphabet  string            `json:"alphabet"`
	Mark      string            `json:"mark,omitempty"`
	Symbols   string            `json:"symbols,omitempty"`
	FoldsCase bool              `json:"folds_case,omitempty"`
	Aliases   map[string]string `json:"aliases,omitempty"`
	Lengths   []int             `json:"lengths,omitempty"`
	Usual     []int             `json:"usual_lengths,omitempty"`
	Hex       bool              `json:"hex,omitempty"`
	Check     int               `json:"check_modulus,omitempty"`
	Suffix    string            `json:"check_suffix,omitempty"`
	Rotated   int               `json:"rotated,omitempty"`
	Groups    []spec.TextPart   `json:"groups,omitempty"`
	Prefix    *spec.PrefixRule  `json:"prefix,omitempty"`
	Grouped   bool              `json:"grouped,omitempty"`
	Sorts     bool              `json:"sorts"`
}

type timeRow struct {
	Epoch         string `json:"epoch"`
	TickNanos     int64  `json:"tick_ns"`
	First         string `json:"first"`
	Last          string `json:"last"`
	Reserved      bool   `json:"reserved,omitempty"`
	PlausibleFrom string `json:"plausible_from"`
}

func rowOf(public *format.Format) row {
	f := spec.Of(public)
	t := &f.Text
	r := row{
		Name: f.Name, Title: f.Title, Summary: f.Summary, Source: f.Source,
		Generates: f.Generates,
		Bits:      f.Bits, Max: f.In(f.Codec.Max, spec.Int), Ordered: f.Ordered, Within: spec.Names(f.Within),
		NodeBits: nodefield.Bits(public), NodeCounter: f.NodeCounter, SQL: f.SQL,
		Layout: f.Layout, Encodings: f.Encodings, Example: f.Example, Search: f.Search,
		Text: textRow{
			Alphabet: t.Alphabet, Mark: t.Mark, Symbols: t.Symbols, FoldsCase: t.FoldsCase,
			Aliases: t.AliasOf(),
			Lengths: t.Lengths, Hex: t.Hex, Groups: t.Groups, Check: t.Check, Suffix: t.Suffix,
			Rotated: t.Rotated, Prefix: t.Prefix, Grouped: t.Grouped, Sorts: t.Sorts,
		},
	}
	prefix, _ := f.CutPrefix(f.Example)
	r.Chance = spec.Round(f.Chance(f.Encodings[0], f.Example, len(prefix)))
	r.Readable = map[spec.Encoding]map[int]json.Number{}
	for _, e := range f.Search.Guess {
		r.Readable[e] = map[int]json.Number{}
		for length, n := range f.Readable()[e] {
			r.Readable[e][length] = json.Number(strconv.FormatFloat(n, 'g', -1, 64))
		}
	}
	r.Search.Guess = nil
	if !slices.Equal(f.Search.Guess, f.Encodings) {
		r.Guess = f.Search.Guess
	}
	if len(t.Usual) < len(t.Lengths) {
		r.Text.Usual = t.Usual
	}
	if f.Tick != 0 {
		plausible, _ := f.PlausibleRange(f.Epoch)
		r.Time = &timeRow{words.Time(f.Epoch), f.Tick.Nanoseconds(), words.Time(f.First),
			words.Time(f.Last), f.Reserved, words.Time(plausible)}
	}
	if f.Maker != nil {
		r.Options, r.Node, r.NeedsNode = f.Maker.Options, f.Maker.Node, f.Maker.NeedsNode
	}
	if f.Plan != nil {
		r.Unique, r.PerTick, r.Choose = f.Plan.Unique, f.Plan.PerTick, f.Plan.Choose
		r.Plan = &f.Plan.Model
	}
	return r
}

// Names returns the formats' names.
func Names(formats []*format.Format) []string {
	names := make([]string, len(formats))
	for i, f := range formats {
		names[i] = f.Name()
	}
	return names
}
