package sortid

import (
	"errors"
	"strings"
	"testing"
)

func TestParseErrorText(t *testing.T) {
	long := strings.Repeat("7", 64)
	reason := errors.New("not a digit")
	for _, c := range []struct {
		input          string
		length, offset int
		want           string
		err            error
		text           string
	}{
		{"", 0, -1, "25", ErrLength,
			"f: cannot parse an empty input: wrong length: 0 bytes, want 25"},
		{"", 7, -1, "16", ErrBinaryLength,
			"f: cannot parse 7 bytes: wrong length of the binary form: 7 bytes, want 16"},
		{"12345", 5, -1, "36", ErrUUIDLength,
			`f: cannot parse "12345": wrong length of a UUID: 5 bytes, want 36`},
		{"12u4", 4, 2, "0-9", reason,
			`f: cannot parse "12u4": not a digit: 'u' at offset 2, want 0-9`},
		{"12u4", 4, 2, "", reason, `f: cannot parse "12u4": not a digit: 'u' at offset 2`},
		{"12é4", 5, 2, "", reason, `f: cannot parse "12é4": not a digit: 'é' at offset 2`},
		{"12\xff4", 4, 2, "", reason,
			`f: cannot parse "12\xff4": not a digit: byte 0xff at offset 2`},
		{"12\n4", 4, 2, "", reason, `f: cannot parse "12\n4": not a digit: '\n' at offset 2`},
		{"12\xc3", 3, 2, "", reason,
			`f: cannot parse "12\xc3": not a digit: byte 0xc3 at offset 2`},
		{"\ufffd", 3, 0, "", reason, `f: cannot parse "` + "\ufffd" + `": not a digit: '` +
			"\ufffd" + `' at offset 0`},
		{long, 1000, -1, "", reason, `f: cannot parse "` + long + `"...: not a digit`},
		// This offset is beyond the part that the error keeps.
		{long, 1000, 999, "", reason, `f: cannot parse "` + long + `"...: not a digit`},
		{"1", 1, 1, "", reason, `f: cannot parse "1": not a digit`},
	} {
		err := &ParseError{Format: "f", Input: c.input, Length: c.length, Offset: c.offset,
			Want: c.want, Err: c.err}
		if got := err.Error(); got != c.text || !errors.Is(err, c.err) {
			t.Errorf("got  %s\nwant %s", got, c.text)
		}
	}
	err := &ParseError{Format: "f", Input: "12u4", Length: 4, Offset: 2, Want: "0-9", Err: reason}
	if got, want := err.Reason(), "not a digit: 'u' at offset 2, want 0-9"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestOptionErrorText(t *testing.T) {
	reason := errors.New("no")
	for want, e := range map[string]*OptionError{
		"f: invalid option: no":          {Format: "f", Err: reason},
		"f: invalid option: A: no":       {Format: "f", Options: []string{"A"}, Err: reason},
		"f: invalid option: a \"1\": no": {Format: "f", Options: []string{"a"}, Value: "1", Err: reason},
		"f: invalid option: a \"1\" and b: no; use c": {Format: "f", Options: []string{"a", "b"},
			Value: "1", Instead: "c", Err: reason},
	} {
		if got := e.Error(); got != want || !errors.Is(e, ErrOption) || !errors.Is(e, reason) {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	e := &OptionError{Options: []string{"a", "b"}, Value: "1", Instead: "c", Err: reason}
	if got := e.Text("--"); got != `--a "1" and --b: no; use --c` {
		t.Error(got)
	}
}

func TestUnknownErrorText(t *testing.T) {
	many := strings.Split("abcdefghijklmnopq", "")
	for _, c := range []struct {
		name  string
		known []string
		want  string
	}{
		{"x", []string{"a"}, `unknown f "x"; there are a`},
		{"x", []string{"a", "b"}, `unknown f "x"; there are a and b`},
		{"", many[:16], `unknown f ""; there are a, b, c, d, e, f, g, h, i, j, k, l, m, n, o and p`},
		{"x", many,
			`unknown f "x"; there are a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p and 1 more`},
		{strings.Repeat("x", 65), []string{"a"},
			`unknown f "` + strings.Repeat("x", 64) + `..."; there are a`},
	} {
		if got := (&UnknownError{"f", c.name, c.known}).Error(); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
	if many[16] != "q" {
		t.Error("Error writes to Known")
	}
}
