package euid

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
func (u UUID) Format(s fmt.State, verb rune) {
	idfmt.Format(s, verb, func() string { return name + ".UUID" },
		u.String, u.GoString, ID(u).Bytes)
}

// GoString returns a Go expression.
func (u UUID) GoString() string { return name + ".UUID(" + ID(u).GoString() + ")" }

// UnmarshalParam is [ID.UnmarshalParam].
func (u *UUID) UnmarshalParam(s string) error { return (*ID)(u).UnmarshalParam(s) }

// Format is [ID.Format].
func (b Bytes) Format(s fmt.State, verb rune) {
	idfmt.Format(s, verb, func() string { return name + ".Bytes" },
		b.String, b.GoString, ID(b).Bytes)
}

// GoString returns a Go expression.
func (b Bytes) GoString() string { return name + ".Bytes(" + ID(b).GoString() + ")" }

// UnmarshalParam is [ID.UnmarshalParam].
func (b *Bytes) UnmarshalParam(s string) error { return (*ID)(b).UnmarshalParam(s) }
