// Package idfmt prints IDs for package fmt.
package idfmt

import (
	"encoding/binary"
	"fmt"
	"io"
	"strings"
)

// Format prints an ID as a [fmt.Formatter] does. The parameter name returns the type's name. The
// verbs v, s and q print the text, and %#v prints Go syntax. The verbs x and X print the bytes, and
// d prints the integer of 8 bytes. Other verbs are wrong, as package fmt says it.
func Format(s fmt.State, verb rune, name, text, syntax func() string, bytes func() []byte) {
	switch {
	case verb == 'v' || verb == 's':
		if verb == 'v' && s.Flag('#') {
			text = syntax
		}
		_, wide := s.Width()
		_, precise := s.Precision()
		if !wide && !precise {
			io.WriteString(s, text()) // the usual case: no other allocation
			return
		}
		flags := strings.TrimSuffix(fmt.FormatString(s, verb), string(verb))
		fmt.Fprintf(s, strings.ReplaceAll(flags, "#", "")+"s", text())
	case verb == 'q':
		fmt.Fprintf(s, fmt.FormatString(s, verb), text())
	case verb == 'x' || verb == 'X':
		fmt.Fprintf(s, fmt.FormatString(s, verb), bytes())
	case verb == 'd' && len(bytes()) == 8:
		fmt.Fprintf(s, fmt.FormatString(s, verb), binary.BigEndian.Uint64(bytes()))
	default:
		fmt.Fprintf(s, "%%!%c(%s=%s)", verb, name(), text())
	}
}
