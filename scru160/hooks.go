package scru160

import (
	"fmt"

	"github.com/sortid/sortid/internal/idfmt"
)

// Format implements [fmt.Formatter]: the verbs x and X print the ID's bytes, and v, s and q its
// text.
func (id ID) Format(s fmt.State, verb rune) {
	idfmt.Format(s, verb, func() string { return name + ".ID" }, id.String, id.GoString, id.Bytes)
}

// GoString returns a Go expression for the ID.
func (id ID) GoString() string { return name + `.MustParse("` + id.String() + `")` }

// UnmarshalParam is [ID.UnmarshalText]. The web frameworks gin and echo call it.
func (id *ID) UnmarshalParam(s string) error { return id.UnmarshalText([]byte(s)) }

// Format is [ID.Format], with the text of String.
func (h Hex) Format(s fmt.State, verb rune) {
	idfmt.Format(s, verb, func() string { return name + ".Hex" }, h.String, h.GoString, ID(h).Bytes)
}

// GoString returns a Go expression.
func (h Hex) GoString() string { return name + ".Hex(" + ID(h).GoString() + ")" }

// UnmarshalParam is [ID.UnmarshalParam].
func (h *Hex) UnmarshalParam(s string) error { return (*ID)(h).UnmarshalParam(s) }

// Format is [ID.Format].
func (b Bytes) Format(s fmt.State, verb rune) {
	idfmt.Format(s, verb, func() string { return name + ".Bytes" },
		b.String, b.GoString, ID(b).Bytes)
}

// GoString returns a Go expression.
func (b Bytes) GoString() string { return name + ".Bytes(" + ID(b).GoString() + ")" }

// UnmarshalParam is [ID.UnmarshalParam].
func (b *Bytes) UnmarshalParam(s string) error { return (*ID)(b).UnmarshalParam(s) }
