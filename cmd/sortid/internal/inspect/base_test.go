package inspect

import (
	"encoding/base64"
	"encoding/binary"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/internal/gencore"
)

// The texts are from Python.
func TestBases(t *testing.T) {
	for _, c := range []struct{ base, text, want, as string }{
		{"base58", "4aaW4SzAyQK", "1541815603606036480", "snowflake-twitter"},
		{"base62", "1ptWyK4WgZU", "1541815603606036480", "snowflake-twitter"},
		{"base64", "FWWhH2IXoAA", "1541815603606036480", "snowflake-twitter"},
		{"base64", "FWWhH2IXoAA=", "1541815603606036480", "snowflake-twitter"},
		{"base58", "1BihbxwwQ4NZZpKRH9JDCz", "017f22e2-79b0-7cc3-98c4-dc0c0c07398f", "uuidv7"},
		{"base62", "2p5oQZoHTv0zeY5yG21K3", "017f22e2-79b0-7cc3-98c4-dc0c0c07398f", "uuidv7"},
		{"base64", "AX8i4nmwfMOYxNwMDAc5jw==", "017f22e2-79b0-7cc3-98c4-dc0c0c07398f", "uuidv7"},
		{"base64", "+/+/+/+/+/8", "18158443311629597695", ""},
		{"base64", "-_-_-_-_-_8", "18158443311629597695", ""},
	} {
		n, err := fromBase(c.base, c.text, 128)
		if err != nil {
			t.Error(err)
			continue
		}
		var r Reading
		err = (&Reader{From: format.Encoding(c.base)}).Read(&r, c.text, time.Now())
		if c.as == "" {
			if n.String() != c.want {
				t.Errorf("%s %s is %v, want %s", c.base, c.text, n, c.want)
			}
			continue
		}
		if err != nil || r.Name() != c.as || r.ID.String() != c.want || r.Input != c.text {
			t.Errorf("%s %s is %s %v, want %s %s; %v", c.base, c.text, r.Name(), r.ID, c.as, c.want,
				err)
		}
	}
	for _, c := range [][2]string{{"base58", "0"}, {"base58", "I"}, {"base62", "-"}, {"base62", ""},
		{"base64", "="}, {"base64", "A"}, {"base64", "FWWgHmhWoAB"}, {"base58", "é"},
		{"base62", "zzzzzzzzzzzzzzzzzzzzzz"}, {"base62", "00000000000000000000000"}} {
		if n, err := fromBase(c[0], c[1], 128); err == nil {
			t.Errorf("%s %q is %v", c[0], c[1], n)
		}
	}
}

func TestBasesRoundTrip(t *testing.T) {
	f := gencore.Must(format.Lookup("snowflake-discord"))
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 2000 {
		v := r.Uint64() >> (i % 64)
		id := gencore.Must(f.FromWords([3]uint64{0, 0, v}))
		g := Guess{format.Candidate{ID: id}}
		for _, base := range Bases {
			var again Reading
			err := (&Reader{Format: f, From: format.Encoding(base)}).Read(&again, g.InBase(base),
				time.Now())
			if err != nil || again.ID != id {
				t.Fatalf("%s %s: %v, want %v; %v", base, g.InBase(base), again.ID, id, err)
			}
		}
		raw := binary.BigEndian.AppendUint64(nil, v)
		if want := base64.RawURLEncoding.EncodeToString(raw); g.InBase("base64") != want {
			t.Fatalf("%d is %s, want %s", v, g.InBase("base64"), want)
		}
	}
}
