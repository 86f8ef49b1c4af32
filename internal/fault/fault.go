// Package fault words the errors that the format packages have in common.
package fault

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// MaxInput is how much of a bad input an error keeps and shows.
const MaxInput = 64

// Clip returns what an error keeps of its input.
func Clip[T string | []byte](input T) string {
	return string(input[:min(len(input), MaxInput)])
}

// Message words a parse error: the format, the input (of length bytes in all), the
// reason, the character at offset (none where offset is negative, for a fault of the
// whole), and a detail, if there is more to say.
func Message(format, input string, length, offset int, reason error, detail string) string {
	var b strings.Builder
	b.WriteString(format)
	b.WriteString(": cannot parse ")
	switch {
	case length == 0:
		b.WriteString("an empty input")
	case input == "":
		fmt.Fprintf(&b, "%d bytes", length)
	default:
		fmt.Fprintf(&b, "%q", input)
		if length > len(input) {
			b.WriteString("...")
		}
	}
	fmt.Fprintf(&b, ": %v", reason)
	if 0 <= offset && offset < len(input) {
		r, size := utf8.DecodeRuneInString(input[offset:])
		if r == utf8.RuneError && size <= 1 {
			fmt.Fprintf(&b, ": byte 0x%02x", input[offset])
		} else {
			fmt.Fprintf(&b, ": %q", r)
		}
		fmt.Fprintf(&b, " at offset %d", offset)
	}
	if detail != "" {
		fmt.Fprintf(&b, ": %s", detail)
	}
	return b.String()
}
