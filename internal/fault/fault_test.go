package fault

import (
	"errors"
	"strings"
	"testing"
)

func TestClip(t *testing.T) {
	long := strings.Repeat("x", MaxInput+1)
	for _, s := range []string{"", "a", long[:MaxInput], long} {
		want := s[:min(len(s), MaxInput)]
		if Clip(s) != want || Clip([]byte(s)) != want {
			t.Errorf("%d bytes: %q, %q", len(s), Clip(s), Clip([]byte(s)))
		}
	}
	b := []byte("abc")
	kept := Clip(b)
	b[0] = 'x'
	if kept != "abc" {
		t.Error("Clip keeps the caller's memory")
	}
}

func TestMessage(t *testing.T) {
	reason := errors.New("not a digit")
	long := strings.Repeat("7", MaxInput)
	for _, c := range []struct {
		input          string
		length, offset int
		detail         string
		want           string
	}{
		{"", 0, -1, "want 25", "f: cannot parse an empty input: not a digit: want 25"},
		{"", 7, -1, "want 16", "f: cannot parse 7 bytes: not a digit: want 16"},
		{"12u4", 4, 2, "", `f: cannot parse "12u4": not a digit: 'u' at offset 2`},
		{"12é4", 5, 2, "", `f: cannot parse "12é4": not a digit: 'é' at offset 2`},
		{"12\xff4", 4, 2, "", `f: cannot parse "12\xff4": not a digit: byte 0xff at offset 2`},
		{"12\n4", 4, 2, "", `f: cannot parse "12\n4": not a digit: '\n' at offset 2`},
		{"12\xc3", 3, 2, "", `f: cannot parse "12\xc3": not a digit: byte 0xc3 at offset 2`},
		{"\ufffd", 3, 0, "", `f: cannot parse "` + "\ufffd" + `": not a digit: '` + "\ufffd" + `' at offset 0`},
		{long, 1000, -1, "", `f: cannot parse "` + long + `"...: not a digit`},
		{long, 1000, 999, "", `f: cannot parse "` + long + `"...: not a digit`}, // out of what is kept
		{"1", 1, 1, "", `f: cannot parse "1": not a digit`},
	} {
		if got := Message("f", c.input, c.length, c.offset, reason, c.detail); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}
