package spec

// A Node says which node IDs processes can lease. The zero Node is of a format whose layout has a
// field for the node ID alone, or none.
type Node struct {
	Bits  int  // The usual size in bits.
	Most  int  // The largest size; 0 means Bits.
	Mixed bool // Leases of several sizes may share a realm.
}

// A Plan is what a planner must know about a format.
type Plan struct {
	Choose  string // when to choose the format
	Unique  string // why no two IDs are the same
	PerTick string // how many IDs a generator makes in one tick
	Model   Model
}

// A Model has the numbers of the formulas in package plan of the command.
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

// SQL is what databases must know about a format.
type SQL struct {
	Postgres string `json:"postgres"`      // The column type in PostgreSQL for binary IDs.
	Bytes    int    `json:"bytes"`         // The size of a stored value.
	New      string `json:"new,omitempty"` // The SQL call that makes an ID; or empty.

	Parts []string `json:"-"` // Shared SQL parts that the format's PostgreSQL functions need.
}
