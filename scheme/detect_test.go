package scheme

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"
)

// Each ID of the last years, in each form, is taken for what it is, in each scheme.
func TestDetect(t *testing.T) {
	for _, s := range All() {
		for years := range 8 {
			at := time.Now().AddDate(-years, 0, -1)
			if at.UnixMilli() < s.believeFrom {
				continue
			}
			g := newGenerator(t, s, Options{At: at})
			for range 100 {
				id := next(t, g)
				for _, f := range s.Forms {
					text := id.In(f)
					found := Detect(text)
					if len(found) == 0 || found[0].ID != id || found[0].Form != f || !found[0].Plausible {
						t.Fatalf("%s of %d years ago as %s: %s is taken for %v", s.Name, years, f, text, found)
					}
					for i, c := range found {
						if slices.Contains(found[:i], c) {
							t.Errorf("%s is taken twice for %v", text, c)
						}
					}
					if !strings.HasSuffix(found[0].Reason(), "its time is plausible") {
						t.Errorf("%s: the reason is %q", text, found[0].Reason())
					}
				}
			}
		}
	}
}

// The documents' own examples.
func TestDetectExamples(t *testing.T) {
	for text, want := range map[string]string{
		"0u2pf62ji4b9":                             "scru64 text",
		"0U2PF62JI4B9":                             "scru64 text",
		"109959589539758421":                       "scru64 int",
		"zzzzzzzzzzzz":                             "scru64 text",
		"0372ijojuxuhjsfkeryi2mrtm":                "scru128 text",
		"1993501768880490086615869617690763354":    "scru128 int",
		"017fef39-c264-1ba5-6a94-83188841e05a":     "scru128 uuid",
		"017FEF39-C264-1BA5-6A94-83188841E05A":     "scru128 uuid",
		"017fef39c2641ba56a9483188841e05a":         "scru128 hex",
		"f5lxx1zz5pnorynqglhzmsp33":                "scru128 text",
		"05TTUP1HNCPNH30VEK64KDQT9BSNU4C4":         "scru160 text",
		"05ttup1hncpnh30vek64kdqt9bsnu4c4":         "scru160 text",
		"017bdf6431bb33750751eb63beb3c3f8c5969d86": "scru160 hex",
		"C8EE934SR007G5Q94QKKXFRFV8B":              "euid text",
		"c8ee934sroo7g5q94qkkxfrfv8b":              "euid text",
		"621ce48c-99c0-0078-16e9-25e73ebf0fda":     "euid uuid",
		"xinaS8QBh":                                "uid60 text",
		"11093174944930914":                        "uid60 int",
		"0027692f10061c62":                         "uid60 hex",

		"": "", "oops": "", "1": "", "1234567890123": "", "hello world": "", "-": "", "0": "", "\x00": "",
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
		found := Detect(text)
		got := ""
		if len(found) > 0 {
			got = found[0].ID.Scheme().Name + " " + string(found[0].Form)
		}
		if got != want {
			t.Errorf("%s is taken for %q, want %q: %v", text, got, want, found)
		}
		r, err := Inspect(text)
		if (want == "") != (err != nil) {
			t.Errorf("Inspect(%q): %v, %v", text, r, err)
		}
	}
}

// A reading that is less probable is not lost.
func TestOthers(t *testing.T) {
	const text = "017FEF39C2641BA56A9483188841E05A" // base32hex, too, but not of our times
	r, err := Inspect(text)
	if err != nil || r.ID.Scheme() != SCRU128 || r.Form != Hex || len(r.Others) != 1 {
		t.Fatalf("%v, %v", r, err)
	}
	other := r.Others[0]
	if other.ID.Scheme() != SCRU160 || other.Form != Text || other.Plausible || !strings.HasSuffix(other.Reason(), "not plausible") {
		t.Errorf("the other reading is %v", other)
	}
	b := r.AppendJSON(nil)
	noNumbers(t, b)
	var got struct{ Others []map[string]string }
	if err := json.Unmarshal(b, &got); err != nil || len(got.Others) != 1 || got.Others[0]["scheme"] != "scru160" ||
		got.Others[0]["text"] != text || got.Others[0]["reason"] != other.Reason() {
		t.Errorf("%s: %v", b, err)
	}
}

func TestUndetected(t *testing.T) {
	for text, want := range map[string]string{
		"":                                     "it is empty",
		"oops":                                 "plausible time; name the scheme",
		"C8EE934SR007G5Q94QKKXFRFV8C":          "check",
		"0372ijojuxuhjsfkeryi2mrt!":            `'!' at offset 24`,
		"0372ijojuxuhjsfkeryi2mrtmo":           "26 characters fits no format (scru64 12, scru128 25, scru160 32 or 40, euid 27, uid60 9 or 10)",
		"12":                                   "plausible time",
		strings.Repeat("9", 49):                "larger than the largest ID of any format",
		"d41d8cd98f00b204e9800998ecf8427e":     "plausible time",
		"f81d4fae-7dec-11d0-a765-00a0c91e6bfz": `at offset 35`,
		strings.Repeat("x", 5000):              "5000 characters",
	} {
		err := Undetected(text)
		if !strings.Contains(err.Error(), want) || len(err.Error()) > 400 {
			t.Errorf("%.40q: %v, want %q", text, err, want)
		}
	}
}

func TestReadingJSON(t *testing.T) {
	for _, s := range All() {
		for _, v := range vectors(t, s).Valid {
			var r Reading
			if err := r.Inspect(s, v.Text); err != nil {
				t.Fatalf("%s: %v", v.Note, err)
			}
			b := r.AppendJSON(nil)
			noNumbers(t, b)
			var got struct {
				Scheme, Input, Form, Text, Int, Hex, UUID, Time, Reason string
				Fields                                                  map[string]string
				Others                                                  []map[string]string
				Notes                                                   []string
			}
			if err := json.Unmarshal(b, &got); err != nil {
				t.Fatalf("%s: %v", b, err)
			}
			if got.Scheme != s.Name || got.Input != v.Text || got.Text != r.ID.String() || got.Int != v.Int || got.Hex != v.Hex ||
				got.Time != v.Time || (got.UUID != "") != (s.Bits == 128) || got.Reason == "" || got.Others == nil ||
				len(got.Notes) != len(r.ID.Notes()) {
				t.Errorf("%s: %s", v.Note, b)
			}
			for name, value := range v.Fields {
				if got.Fields[name] != value {
					t.Errorf("%s: %s is %q, want %s: %s", v.Note, name, got.Fields[name], value, b)
				}
			}
			var alone map[string]any
			if err := json.Unmarshal(r.ID.AppendJSON(nil), &alone); err != nil || alone["text"] != got.Text || alone["input"] != nil {
				t.Errorf("%s: %v, %v", v.Note, alone, err)
			}
		}
	}
}

func TestInspectAllocates(t *testing.T) {
	for _, s := range All() {
		text := next(t, newGenerator(t, s, Options{At: time.Now()})).String()
		var r Reading
		b := make([]byte, 0, 4096)
		if n := testing.AllocsPerRun(100, func() {
			if err := r.Inspect(nil, text); err != nil {
				t.Fatal(err)
			}
			b = r.AppendJSON(b[:0])
		}); n != 0 {
			t.Errorf("%s: %v allocations", s.Name, n)
		}
	}
}

func FuzzDetect(f *testing.F) {
	for _, s := range All() {
		f.Add(s.Example)
		f.Add(s.Max().In(Int))
		f.Add(s.Max().In(Hex))
	}
	f.Fuzz(func(t *testing.T, text string) {
		r, err := Inspect(text)
		if err != nil {
			if !r.ID.IsZero() && len(Detect(text)) == 0 {
				t.Fatalf("an error and a reading: %v", r)
			}
			return
		}
		for _, c := range append([]Candidate{r.Candidate}, r.Others...) {
			again, err := c.ID.Scheme().ParseAs(c.Form, text)
			if err != nil || again != c.ID {
				t.Fatalf("%q as %s %s: %v, %v", text, c.ID.Scheme(), c.Form, again, err)
			}
		}
		if b := r.AppendJSON(nil); !json.Valid(b) {
			t.Fatalf("%q: no JSON: %s", text, b)
		}
	})
}
