package format

import (
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// Every row is complete, and its example is read as one of its IDs.
func TestRows(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range All() {
		if f.Name == "" || f.Title == "" || f.Summary == "" || f.Source == "" || f.Alphabet == "" || f.Example == "" ||
			seen[f.Name] || len(f.Encodings) == 0 {
			t.Errorf("%+v", f)
		}
		seen[f.Name] = true
		sum, times := 0, 0
		for _, field := range f.Layout {
			sum += field.Bits
			if field.Kind == KindTime {
				times += field.Bits
			}
		}
		if sum != f.Bits || (times > 0) != f.HasTime() {
			t.Errorf("%s: layout of %d bits, %d of them a time", f.Name, sum, times)
		}
		found := false
		for _, c := range AppendDetect(nil, f.Example, time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)) {
			found = found || c.ID.Format() == f && c.String() == f.Example && c.Encoding == f.Encodings[0]
		}
		if !found && f != EUID { // whose example is of 2096
			t.Errorf("%s: %s is read as %v", f.Name, f.Example, Detect(f.Example))
		}
	}
	if len(seen) != len(Ours())+len(others) {
		t.Errorf("%d formats", len(seen))
	}
}

// An ID of others is what math/big makes of its text; every bit is in a field, and the text of
// random bits is read as them.
func TestOthers(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, f := range others {
		for range 1000 {
			b := make([]byte, f.Bits/8)
			for i := range b {
				b[i] = byte(r.Uint32())
			}
			id, err := f.FromBytes(b)
			if err != nil { // fixed bits
				for _, field := range f.Layout {
					if field.Kind == KindFixed || field.Kind == KindZero {
						for i := range field.Bits {
							place := field.Low + i
							at := len(b) - 1 - place/8
							b[at] = b[at]&^(1<<(place%8)) | byte(field.Value>>i&1)<<(place%8)
						}
					}
				}
				if id, err = f.FromBytes(b); err != nil {
					t.Fatalf("%s: %x: %v", f.Name, b, err)
				}
			}
			want := new(big.Int).SetBytes(b)
			if id.Big().Cmp(want) != 0 {
				t.Fatalf("%s: %x: %v", f.Name, b, id.Big())
			}
			text := id.String()
			if f.Prefixed {
				text = "prefix_" + text
			}
			if f.Symbols != "" {
				value := new(big.Int)
				for _, c := range id.String() {
					value.Mul(value, big.NewInt(int64(len(f.Symbols))))
					value.Add(value, big.NewInt(int64(strings.IndexRune(f.Symbols, c))))
				}
				if value.Rsh(value, uint(f.TextPad)).Cmp(want) != 0 {
					t.Fatalf("%s: %x is written as %s", f.Name, b, id)
				}
			}
			for _, e := range f.Encodings {
				if e == Text {
					continue
				}
				if again, err := f.ParseAs(e, id.In(e)); err != nil || again != id {
					t.Fatalf("%s: %s %s: %v, %v", f.Name, e, id.In(e), again, err)
				}
			}
			if again, err := f.ParseAs(f.Encodings[0], text); err != nil || again != id {
				t.Fatalf("%s: %s: %v, %v", f.Name, text, again, err)
			}
			sum := new(big.Int)
			for _, field := range f.Layout {
				v, _ := new(big.Int).SetString(field.Of(id).String(), 10)
				sum.Add(sum, v.Lsh(v, uint(field.Low)))
			}
			if sum.Cmp(want) != 0 {
				t.Fatalf("%s: the fields of %s are %v", f.Name, id, id.Fields())
			}
		}
	}
}

// What is no ID of others is refused.
func TestOthersInvalid(t *testing.T) {
	for text, name := range map[string]string{
		"8ZZZZZZZZZZZZZZZZZZZZZZZZZ":           "ulid", // 129 bits
		"01ARZ3NDEKTSV4RRFFQ69G5FAU":           "ulid", // no U
		"01ARZ3NDEKTSV4RRFFQ69G5FAO":           "ulid", // no O, in any reading
		"01ARZ3NDEKTSV4RRFFQ69G5FA":            "ulid",
		"aWgEPTl1tmebfsQzFP4bxwgy80W":          "ksuid", // 2^160
		"0ujtsYcgvSTl8PAuAdqWYSMnLO_":          "ksuid",
		"9m4e2mr0ui3e8a215n4h":                 "xid", // a bit after the last
		"9M4E2MR0UI3E8A215N4G":                 "xid",
		"01h455vb4pex5vsknk084sn02q":           "typeid", // no prefix
		"_01h455vb4pex5vsknk084sn02q":          "typeid",
		"User_01h455vb4pex5vsknk084sn02q":      "typeid",
		"user__01h455vb4pex5vsknk084sn02q":     "typeid",
		"user_81h455vb4pex5vsknk084sn02q":      "typeid", // 129 bits
		"user_01H455VB4PEX5VSKNK084SN02Q":      "typeid",
		"9223372036854775808":                  "sonyflake", // 2^63
		"017f22e2-79b0-4cc3-98c4-dc0c0c07398f": "uuidv7",
		"017f22e2-79b0-7cc3-c8c4-dc0c0c07398f": "uuidv7",
		"507f1f77bcf86cd79943901":              "objectid",
	} {
		for _, f := range others {
			if f.Name != name {
				continue
			}
			if id, err := f.ParseAs(f.Encodings[0], text); err == nil {
				t.Errorf("%s: %s is %v", name, text, id)
			}
		}
	}
}

// The prefix is part of the text, and the UUID within tells the time.
func TestTypeID(t *testing.T) {
	now := time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
	v7 := AppendDetect(nil, "user_01h455vb4pex5vsknk084sn02q", now)
	if len(v7) != 1 || v7[0].Prefix != "user_" || FormatTime(v7[0].ID.Time()) != "2023-06-30T03:34:18.518Z" {
		t.Error(v7)
	}
	v4, err := uuids[3].Parse(uuids[3].Example)
	if err != nil {
		t.Fatal(err)
	}
	var typed *Format
	for _, f := range others {
		if f.Prefixed {
			typed = f
		}
	}
	timeless, err := typed.FromBytes(v4.Bytes())
	if err != nil || timeless.HasTime() || !timeless.Time().IsZero() || !timeless.Plausible(now) || timeless.Milli() != 0 {
		t.Error(timeless, err)
	}
}

// The bounds of a range of time are the smallest IDs of its ticks, in the formats whose IDs are in
// order of time.
func TestOthersBounds(t *testing.T) {
	from := time.Date(2026, 11, 17, 10, 30, 0, 0, time.UTC)
	var unordered []string
	for _, f := range others {
		first, end, err := f.Bounds(from, from.Add(time.Hour))
		if err != nil {
			unordered = append(unordered, f.Name)
			continue
		}
		if at := first.Time(); at.After(from) || from.Sub(at) >= f.Tick {
			t.Errorf("%s: %v of %v", f.Name, first, at)
		}
		if got := end.Time().Sub(first.Time()); got.Round(time.Second) != time.Hour || first.Compare(end) >= 0 {
			t.Errorf("%s: %v to %v", f.Name, first, end)
		}
		before := new(big.Int).Sub(first.Big(), big.NewInt(1)) // an ID of it may have other fixed bits
		b := before.FillBytes(make([]byte, f.Bits/8))
		if id, err := f.FromBytes(b); err == nil && !id.Time().Before(from) {
			t.Errorf("%s: %v stands before %v, and is of %v", f.Name, id, first, id.Time())
		}
	}
	if got := strings.Join(unordered, " "); got != "uuidv1 uuidv2 uuidv3 uuidv4 uuidv5 uuidv8 typeid" {
		t.Error(got)
	}
}

func BenchmarkDetect(b *testing.B) {
	now := time.Now()
	for _, f := range []*Format{SCRU128, SCRU64, UUIDv7, others[8]} {
		b.Run(f.Name, func(b *testing.B) {
			var found []Candidate
			for b.Loop() {
				found = AppendDetect(found[:0], f.Example, now)
			}
		})
	}
}
