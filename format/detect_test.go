package format

import (
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sortid/sortid/internal/gencore"
	"github.com/sortid/sortid/internal/spec"
	"github.com/sortid/sortid/internal/words"
)

// detectOurs returns the candidates of our formats.
func detectOurs(text string) []Candidate {
	return slices.DeleteFunc(AppendDetect(nil, text, time.Now()),
		func(c Candidate) bool { return !c.ID.spec.Generates })
}

func TestDetectExamples(t *testing.T) {
	for text, want := range map[string]string{
		"0u2pf62ji4b9": "scru64 text",
		"0U2PF62JI4B9": "scru64 text",

		"0372ijojuxuhjsfkeryi2mrtm":                "scru128 text",
		"1993501768880490086615869617690763354":    "scru128 int",
		"017fef39-c264-1ba5-6a94-83188841e05a":     "scru128 uuid",
		"017FEF39-C264-1BA5-6A94-83188841E05A":     "scru128 uuid",
		"017fef39c2641ba56a9483188841e05a":         "scru128 hex",
		"05TTUP1HNCPNH30VEK64KDQT9BSNU4C4":         "scru160 text",
		"05ttup1hncpnh30vek64kdqt9bsnu4c4":         "scru160 text",
		"017bdf6431bb33750751eb63beb3c3f8c5969d86": "scru160 hex",
		"C8EE934SR007G5Q94QKKXFRFV8B":              "euid text",
		"c8ee934sroo7g5q94qkkxfrfv8b":              "euid text",
		"621ce48c-99c0-0078-16e9-25e73ebf0fda":     "euid uuid",
		"xinaS8QBh":                                "uid60 text",
		"11093174944930914":                        "uid60 int",
		"0027692f10061c62":                         "uid60 hex",

		"zzzzzzzzzzzz":                         "", // in the year 4261
		"f5lxx1zz5pnorynqglhzmsp33":            "", // in the year 10889
		"621ce48c-99c0-0079-16e9-25e73ebf0fda": "", // an EUID with a wrong version
		"":                                     "", "oops": "", "1": "", "1234567890123": "",
		"hello world": "", "-": "", "0": "", "\x00": "",
		"d41d8cd98f00b204e9800998ecf8427e":     "", // an MD5 sum
		"f81d4fae-7dec-11d0-a765-00a0c91e6bf6": "", // a UUID of version 1
		"2026-11-17":                           "", // a day
		"192.168.100.2":                        "", // an address
		"C8EE934SR007G5Q94QKKXFRFV8C":          "", // with a wrong check symbol
		"g5lxx1zz5pnorynqglhzmsp33":            "", // above the largest
		"0372ijojuxuhjsfkeryi2mrt!":            "", // a bad symbol
		"0372ijojuxuhjsfkeryi2mrtmo":           "", // too long
		"ZZZZZZZZZZZZ":                         "", // not plausible, and not as scru64 writes it
		"AAAA":                                 "", // uid60 at its epoch
	} {
		found := detectOurs(text)
		got := ""
		if len(found) > 0 {
			got = found[0].ID.Format().Name() + " " + string(found[0].Encoding)
		}
		if got != want {
			t.Errorf("%s is taken for %q, want %q: %v", text, got, want, found)
		}
	}
}

func TestDetectSeveral(t *testing.T) {
	const text = "01A1E6CDA80000000000000000000ABC" // hexadecimal digits are base32hex, too
	found := detectOurs(text)
	if len(found) != 1 || found[0].Encoding != Hex || found[0].ID.Format() != SCRU128 {
		t.Errorf("%v", found)
	}
	id := gencore.Must(SCRU64.ParseAs(Int, "119000000000000000"))
	found = AppendDetect(nil, id.In(Hex), time.Now()) // a scru64 ID of today reads as a uid60 of 2032
	for _, c := range found {
		if !c.ID.Plausible(time.Now()) {
			t.Errorf("%v is not plausible", c)
		}
	}
}

func TestPlausible(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	for _, s := range Ours() {
		from, to := s.PlausibleRange(now)
		want := "2010-01-01T00:00:00.000Z"
		if s.Epoch().Year() >= 2010 {
			want = words.Time(s.Epoch().AddDate(0, 1, 0))
		}
		if words.Time(from) != want || words.Time(to) != "2027-11-21T12:00:00.000Z" {
			t.Errorf("%s: from %v to %v", s.Name(), from, to)
		}
		for at, want := range map[time.Time]bool{
			from.Add(s.Tick()): true, from.Add(-s.Tick()): false, to: true, to.Add(s.Tick()): false,
		} {
			id, _, err := s.Bounds(at, at.AddDate(1, 0, 0))
			if err != nil || id.Plausible(now) != want {
				t.Errorf("%s: an ID of %v is plausible: %v", s.Name(), id.Time(), !want)
			}
		}
	}
}

// A ULID in small letters is read as a ULID, except if it is also a UUIDv7: then it is the text of a
// TypeID of the same time.
func TestDetectLowerULID(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	r := rand.New(rand.NewPCG(1, 2))
	ulid, typeid := gencore.Must(Lookup("ulid")), gencore.Must(Lookup("typeid"))
	both := 0
	for range 20_000 {
		text := strings.ToLower(recent(r, ulid, now).In(Text))
		want := ulid
		if id, err := typeid.Parse(text); err == nil && id.spec.Inner(&id.words) == spec.Of(rowOf("uuidv7")) {
			want = typeid
			both++
		}
		found := AppendDetect(nil, text, now)
		if found[0].ID.Format() != want || found[0].ID.Time().Before(now.AddDate(-10, 0, 0)) {
			t.Fatalf("%s is read as %v, want %s", text, found, want.Name())
		}
	}
	if both < 200 || both > 450 { // one in 64
		t.Errorf("%d ULIDs are also UUIDv7s", both)
	}
}

// One Git hash in 700 has a plausible time as SCRU160. The set of these hashes depends on the day.
func TestDetectHashes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)))
		n := 0
		for i := range 10_000 {
			sum := sha1.Sum(fmt.Appendf(nil, "blob %d", i))
			if found := detectOurs(hex.EncodeToString(sum[:])); len(found) > 0 {
				n++
				if i < 300 {
					t.Errorf("%x is taken for %v", sum, found)
				}
			}
		}
		if n == 0 || n > 40 {
			t.Errorf("%d of 10000 hashes are taken for IDs", n)
		}
	})
}

func FuzzDetect(f *testing.F) {
	for _, s := range Ours() {
		f.Add(s.Example())
		f.Add(largest(s).In(Int))
		f.Add(largest(s).In(Hex))
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, c := range detectOurs(text) {
			again, err := c.ID.Format().ParseAs(c.Encoding, text[len(c.Prefix):])
			if err != nil || again != c.ID || !again.Plausible(time.Now().Add(time.Second)) {
				t.Fatalf("%q as %s %s: %v, %v", text, c.ID.Format().Name(), c.Encoding, again, err)
			}
		}
	})
}
