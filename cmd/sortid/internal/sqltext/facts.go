package sqltext

import "github.com/sortid/sortid/format"

// Facts is what databases must know about one of our formats.
type Facts struct {
	Postgres string `json:"postgres"`      // The column type in PostgreSQL for binary IDs.
	Bytes    int    `json:"bytes"`         // The size of a stored value.
	New      string `json:"new,omitempty"` // The SQL call that makes an ID; or empty.

	parts []string // Shared SQL parts that the format's PostgreSQL functions need.
}

var facts = map[string]*Facts{
	"scru64": {Postgres: "bigint", Bytes: 8, New: "scru64_new(1, 8)",
		parts: []string{"base36", "ordered"}},
	"scru128": {Postgres: "uuid", Bytes: 16, New: "scru128_new()",
		parts: []string{"base36", "ordered"}},
	"scru160": {Postgres: "bytea", Bytes: 20 + 1, // with a byte for the length
		New: "scru160_new()", parts: []string{"base32hex"}},
	"euid":  {Postgres: "uuid", Bytes: 16, New: "euid_new()", parts: []string{"crockford"}},
	"uid60": {Postgres: "bigint", Bytes: 8},
}

// FactsOf returns the facts about one of our formats, or nil for another format.
func FactsOf(f *format.Format) *Facts { return facts[f.Name] }
