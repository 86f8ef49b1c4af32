package derive

import (
	"fmt"
	"strings"

	"github.com/sortid/sortid/internal/spec"
)

// firstName returns the name of the function that returns the first ID of a time, after the name of
// the format's function before it, if any.
func (c *column) firstName(before string) string {
	name := c.prefix + "_first"
	if before != "" {
		name += "_" + string(c.encoding)
	}
	return name
}

func (c *column) aboutTime() string {
	text := "The time of " + c.about()
	if c.inner[0] != c.Format {
		text += "; its inner ID must have one"
	}
	text += ". NULL if the value is not such an ID."
	if c.Text.Suffix != "" {
		text += " It does not test the check at the end of the text."
	}
	return text
}

func (c *column) aboutFirst(name string) string {
	text := "The smallest " + c.Title + c.stored() + " of a time's tick. "
	if c.Text.Prefix != nil && c.encoding == spec.Text {
		return text + "Put the prefix before it, as in id >= 'user_' || " + name + "(a)."
	}
	return text + "The IDs from time a to before time b: " +
		fmt.Sprintf("id >= %[1]s(a) AND id < %[1]s(b).", name)
}

func (c *column) about() string { return article(c.Title) + " " + c.Title + c.stored() }

// stored says how the column stores IDs.
func (c *column) stored() string {
	switch c.encoding {
	case spec.Text:
		return " in its text"
	case spec.Hex:
		return " in hexadecimal digits"
	case spec.Int:
		return " as an integer"
	}
	if c.Encodings[0] != spec.UUID {
		return " as a UUID"
	}
	return ""
}

func article(title string) string {
	if strings.ContainsRune("AEIO", rune(title[0])) {
		return "an"
	}
	return "a"
}
