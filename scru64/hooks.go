package scru64

import (
	"encoding/binary"
	"fmt"

	"github.com/sortid/sortid/internal/idfmt"
)

// Format implements [fmt.Formatter]: the verbs x and X print the ID's 8 bytes, d prints the integer,
// and v, s and q print the text.
func (id ID) Format(s fmt.State, verb rune) {
	idfmt.Format(s, verb, func() string { return name + ".ID" }, id.String, id.GoString, id.bytes)
}

func (id ID) bytes() []byte { return binary.BigEndian.AppendUint64(nil, uint64(id)) }

// GoString returns a Go expression for the ID.
func (id ID) GoString() string {
	if id > maxID {
		return fmt.Sprintf(name+".ID(%d)", uint64(id))
	}
	return name + `.MustParse("` + id.String() + `")`
}

// UnmarshalParam is [ID.UnmarshalText]. The web frameworks gin and echo call it.
func (id *ID) UnmarshalParam(s string) error { return id.UnmarshalText([]byte(s)) }

// Format is [ID.Format].
func (t Text) Format(s fmt.State, verb rune) {
	idfmt.Format(s, verb, func() string { return name + ".Text" },
		t.String, t.GoString, ID(t).bytes)
}

// GoString returns a Go expression.
func (t Text) GoString() string { return name + ".Text(" + ID(t).GoString() + ")" }

// UnmarshalParam is [ID.UnmarshalParam].
func (t *Text) UnmarshalParam(s string) error { return (*ID)(t).UnmarshalParam(s) }
