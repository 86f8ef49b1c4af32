package plan

import (
	"slices"

	"github.com/sortid/sortid/format"
)

// Facts is what a planner must know about one of our formats.
type Facts struct {
	Choose  string // when to choose the format
	Unique  string // why no two IDs are the same
	PerTick string // how many IDs a generator makes in one tick
	Model   Model
}

// A Model has the numbers of the formulas in docs/command.md.
type Model struct {
	Preference int    `json:"preference"`       // Its rank among recommended formats, from 1.
	Unique     string `json:"unique,omitempty"` // What makes IDs unique, without node IDs.

	// RandomBits is how many random bits distinguish the IDs of two processes in one millisecond.
	RandomBits float64 `json:"random_bits,omitempty"`
	// PerTick is how many IDs a process can make in a tick, on average.
	PerTick float64 `json:"per_tick,omitempty"`
	// Least is how many IDs always fit in a tick, or 0 if planners can ignore this limit.
	Least float64 `json:"least,omitempty"`

	NodeBits int `json:"node_bits,omitempty"` // The size of the largest node ID in bits.
}

var facts = map[string]*Facts{
	"scru64": {
		Choose:  "keys must be 64 bits and you can assign node IDs",
		Unique:  "an assigned node ID",
		PerTick: "2^24 over all nodes; more IDs use the next tick",
		Model:   Model{Preference: 4, NodeBits: 23},
	},
	"scru128": {
		Choose:  "you want unique, sortable IDs and no trouble: the default choice",
		Unique:  "80 random bits",
		PerTick: "no limit: full counters use the next millisecond",
		Model: Model{
			Preference: 1, Unique: "80 random bits",
			RandomBits: 24 + 24 + 32, // counters start at random; each ID has new entropy
			PerTick:    1 << 47,      // half of the 2^48 values, on average
		},
	},
	"scru160": {
		Choose:  "you want more randomness, or microseconds",
		Unique:  "about 111 random bits",
		PerTick: "at least 32769, then the generator waits for the next millisecond",
		Model: Model{
			Preference: 2, Unique: "about 111 random bits",
			RandomBits: 15 + 16 + 80,      // 2^15 starts of the counter; the rest is new in each ID
			PerTick:    65536 - 32767.0/2, // 65536 minus the mean start
			Least:      32769,
		},
	},
	"euid": {
		Choose:  "people type IDs, or IDs contain 15 bits of your own",
		Unique:  "79 random bits",
		PerTick: "2^31 on average, then the generator waits for the next millisecond",
		Model: Model{
			Preference: 3, Unique: "79 random bits, while no extension is used",
			RandomBits: 15 + 32 + 32, // the last 32 are new in each ID, the rest in each millisecond
			PerTick:    1 << 31,
		},
	},
	"uid60": {
		Choose:  "IDs must be short and look random",
		Unique:  "a sequence and 9 random bits, or an assigned worker ID",
		PerTick: "512, then the generator waits for the next millisecond",
		Model: Model{
			Preference: 5, Unique: "18 bits that differ by chance",
			RandomBits: 9 + 9, // sequences start anywhere
			PerTick:    512, Least: 512, NodeBits: 9,
		},
	},
}

// FactsOf returns the facts about one of our formats, or nil for another format.
func FactsOf(f *format.Format) *Facts { return facts[f.Name] }

// Preferred returns the format to recommend first.
func Preferred() *format.Format {
	return slices.MinFunc(format.Ours(), func(a, b *format.Format) int {
		return FactsOf(a).Model.Preference - FactsOf(b).Model.Preference
	})
}
