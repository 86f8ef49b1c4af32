// Package catalog describes formats for users: their names and encodings, and a table of all, with
// what the command knows about ours.
package catalog

import (
	"encoding/json"
	"slices"

	"github.com/sortid/sortid/cmd/sortid/internal/plan"
	"github.com/sortid/sortid/cmd/sortid/internal/sqltext"
	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/generate"
	"github.com/sortid/sortid/lease/nodefield"
)

// Table returns a line of JSON for each format; see docs/schemas/formats.json.
func Table() []byte {
	var b []byte
	for _, f := range format.All() {
		line := object(f)
		if more := object(membersOf(f)); len(more) > len("{}") {
			line = append(append(line[:len(line)-1], ','), more[1:]...)
		}
		b = append(append(b, line...), '\n')
	}
	return b
}

func object(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // a bug: the values are part of the program
	}
	return b
}

// members follow the members that [format.Format.MarshalJSON] writes.
type members struct {
	NodeBits    int               `json:"node_bits,omitempty"`
	Unique      string            `json:"unique,omitempty"`
	PerTick     string            `json:"per_tick,omitempty"`
	Choose      string            `json:"choose,omitempty"`
	Options     []generate.Option `json:"options,omitempty"`
	Node        string            `json:"node,omitempty"`
	NeedsNode   bool              `json:"needs_node,omitempty"`
	NodeCounter int               `json:"node_counter,omitempty"`
	Plan        *plan.Model       `json:"plan,omitempty"`
	SQL         *sqltext.Facts    `json:"sql,omitempty"`
}

func membersOf(f *format.Format) members {
	m := members{NodeBits: nodefield.Bits(f), Options: generate.OptionsOf(f),
		NeedsNode: generate.NeedsNode(f), NodeCounter: f.NodeCounter, SQL: sqltext.FactsOf(f)}
	if node, ok := generate.NodeOption(f); ok {
		m.Node = node.Name
	}
	if facts := plan.FactsOf(f); facts != nil {
		m.Unique, m.PerTick, m.Choose, m.Plan = facts.Unique, facts.PerTick, facts.Choose,
			&facts.Model
	}
	return m
}

// Names returns the formats' names.
func Names(formats []*format.Format) []string {
	names := make([]string, len(formats))
	for i, f := range formats {
		names[i] = f.Name
	}
	return names
}

// CheckEncoding returns an error with the reason if IDs do not have the encoding.
func CheckEncoding(f *format.Format, e format.Encoding) error {
	if slices.Contains(f.Encodings, e) {
		return nil
	}
	_, err := f.ParseAs(e, "")
	return err
}
