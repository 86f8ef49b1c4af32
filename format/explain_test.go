package format

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/sortid/sortid"
)

func TestExplain(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct{ text, want string }{
		{"", "unlike: it is empty"},
		{"d41d8cd98f00b204e9800998ecf8427e",
			"it looks like a hash: it has 32 hexadecimal digits, as MD5 has"},
		{"da39a3ee5e6b4b0d3255bfef95601890afd80709",
			"it looks like a hash: it has 40 hexadecimal digits, as SHA-1 has"},
		{"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
			"it looks like a hash: it has 64 hexadecimal digits, as SHA-256 has"},
		{"0372ijojuxuhjsfkeryi2mrt",
			"as scru128 it has 24 of 25 characters: was one lost?"},
		{"0372ijojuxuhjsfkeryi2mrtmo",
			"as scru128 it has 26 characters, one more than 25: was one added?"},
		{"0372ijojuxuhjsfkeryi2mrt!", `as scru128 it has "!" at offset 24`},
		{"01ARZ3NDEKTSV4RRFFQ69G5FA", "as ulid it has 25 of 26 characters: was one lost?"},
		{"01ARZ3NDEKTSV4RRFFQ69G5FAO", `as ulid it has "O" at offset 25`},
		{"017f22e2-79b0-7cc3-98c4-dc0c0c07398",
			"as uuidv7 it has 35 of 36 characters: was one lost?"},
		{"017f22e2-79b0-7cc3-98c4-dc0c0c07398g", `as uuidv7 it has "g" at offset 35`},
		{"507f1f77bcf86cd79943901",
			"as objectid it has 23 of 24 characters: was one lost?"},
		{"507f1f77bcf86cd7994390111",
			"as objectid it has 25 characters, one more than 24: was one added?"},
		{"507f1f77bcf86cd79943901o", `as objectid it has "o" at offset 23`},
		{"67d33e1c000000000b3b1b6a2c1f0e4",
			"as datadog-trace it has 31 of 32 characters"},
		{"0ujtsYcgvSTl8PAuAdqWYSMnLO",
			"as ksuid it has 26 of 27 characters: was one lost?"},
		{"9m4e2mr0ui3e8a215n4", "as xid it has 19 of 20 characters: was one lost?"},
		{"-JhLeOlGIEjaIOFHR0x", "as pushid it has 19 of 20 characters: was one lost?"},
		{"C8EE934SR007G5Q94QKKXFRFV8C", "as euid its check is wrong"},
		{"zzzzzzzzzzzz", "as scru64 text its time would be 4261-02-27T06:08:58.880Z"},
		{"f81d4fae-7dec-1100-a765-00a0c91e6bf6",
			"as uuidv1 its time would be 1811-07-27T05:51:16.635Z"},
		{"621ce48c-99c0-0079-16e9-25e73ebf0fda",
			"it would be euid uuid, but of a version that no generator makes"},
		{"order=01ARZ3NDEKTSV4RRFFQ69G5FAV;",
			"within: other text is around 01ARZ3NDEKTSV4RRFFQ69G5FAV"},
		{"user-01ARZ3NDEKTSV4RRFFQ69G5FAV", "within: other text is around 01ARZ3NDEKTSV4RRFFQ69G5FAV"},
		{"my-user-017f22e2-79b0-7cc3-98c4-dc0c0c07398f",
			"within: other text is around 017f22e2-79b0-7cc3-98c4-dc0c0c07398f"},
		{"order_0003q6pa000bmaageby9bea4zzf7keaj-7ze4",
			"as orderlyid its check is wrong"},
		{"a1_00jxfnbakg0fcz9bvfzgrcr264xy518!-kmjf",
			`as orderlyid it has "!" at offset 34`},
		{"user_01h455vb4pex5vsknk084sn02", "as typeid "},
		{"C8EE934SR007G5Q94QKKXFRFV!!", "unlike"}, // two wrong symbols
		{"hello", "unlike: no format known to sortid has such IDs"},
		{"hello world", "unlike: no format known to sortid has such IDs"},
		{"HelloWorld1", "unlike: no format known to sortid has such IDs"},
		{"n1.txt", "unlike: no format known to sortid has such IDs"},
		{"internationalization", "unlike: no format known to sortid has such IDs"},
		{"\x00\xff", "unlike"},
		{"%8? \\u12??", "unlike"}, // escapes that are cut short
		{"42", "unlike: no format known to sortid has a plausible time"},
		{"7", "unlike"},
		{strings.Repeat("9", 50), "unlike: it is larger than the largest ID"},
	} {
		if found := AppendDetect(nil, c.text, now); found != nil {
			t.Errorf("%q is read as %v", c.text, found)
		}
		e := Explain(c.text, now)
		got := e.Err.Error()
		for kind, err := range map[string]error{"unlike": sortid.ErrUnlike, "within": sortid.ErrWithin} {
			if errors.Is(e, err) {
				got = kind + ": " + got
			}
		}
		if !strings.HasPrefix(got, c.want) {
			t.Errorf("%q: %s, want %s", c.text, got, c.want)
		}
	}
}

func FuzzExplain(f *testing.F) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	for _, s := range all() {
		f.Add(s.Example())
		f.Add(s.Example()[1:])
		f.Add(s.Example() + "x")
	}
	f.Fuzz(func(t *testing.T, text string) {
		if e := Explain(text, now); e.Length != len(text) || !strings.HasPrefix(text, e.Input) ||
			len(e.Error()) > 500 {
			t.Fatalf("%q: %v", text, e)
		}
	})
}

func TestWrongSuffix(t *testing.T) {
	const text = "order_0003q6pa000bmaageby9bea4zzf7keaj-7ze4"
	f, err := Lookup("orderlyid")
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.Parse(text)
	want := `orderlyid: cannot parse "` + text + `": the check "7ze4" at the end is wrong`
	if err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
}
