package format

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sortid/sortid"
	"github.com/sortid/sortid/euid"
	"github.com/sortid/sortid/internal/conformance"
	"github.com/sortid/sortid/internal/gencore"
	"github.com/sortid/sortid/internal/spec"
)

func largest(f *Format) ID { return ID{spec.Of(f), spec.Of(f).Codec.Max} }

func hasEncoding(f *Format, e Encoding) bool { return slices.Contains(f.Encodings(), e) }

// others returns the formats of other projects.
func others() []*Format { return All()[len(Ours()):] }

func bigOf(id ID) *big.Int { return new(big.Int).SetBytes(id.Bytes()) }

var SCRU64, SCRU128, SCRU160, EUID, UID60 = ours()[0], ours()[1], ours()[2], ours()[3], ours()[4]

func TestTable(t *testing.T) {
	now := time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
	names := map[string]bool{}
	for _, f := range All() {
		texts := []string{f.Name(), f.Title(), f.Summary(), f.Source(), spec.Of(f).Text.Alphabet, f.Example()}
		low, times, zeros, fields := 8*f.Size(), 0, 0, map[string]bool{"": true}
		for _, field := range f.Layout() {
			if low -= field.Bits; field.Low != low {
				t.Errorf("%s: %s begins at bit %d, want %d", f.Name(), field.Name, field.Low, low)
			}
			texts = append(texts, field.Meaning, string(field.Kind))
			if field.Name != "" && fields[field.Name] {
				t.Errorf("%s: two fields %s", f.Name(), field.Name)
			}
			fields[field.Name] = true
			switch {
			case field.Kind == KindTime:
				times += field.Bits
			case field.Kind == KindZero && f.Generates(): // the ID has fewer bits than its integer
				zeros += field.Bits
			}
		}
		if low != 0 || f.Bits() != 8*f.Size()-zeros || (times > 0) != (f.Tick() != 0) {
			t.Errorf("%s: layout of %d bits, %d of them a time", f.Name(), 8*f.Size()-low, times)
		}
		found := slices.ContainsFunc(AppendDetect(nil, f.Example(), now), func(c Candidate) bool {
			return c.ID.Format() == f && c.text() == f.Example() && c.Encoding == f.Encodings()[0]
		})
		if guessed := spec.Of(f).Search.Guess == nil || len(spec.Of(f).Search.Guess) > 0; found != guessed && f != EUID {
			t.Errorf("%s: %s is read as %v", f.Name(), f.Example(), AppendDetect(nil, f.Example(), time.Now()))
		}
		if f.Generates() {
			if id, err := f.Parse(f.Example()); err != nil || id.String() != f.Example() {
				t.Errorf("%s: the example %s parses as %v, %v", f.Name(), f.Example(), id, err)
			}
			if !hasEncoding(f, Text) || hasEncoding(f, UUID) != (f.Bits() == 128) {
				t.Errorf("%s: encodings %v", f.Name(), f.Encodings())
			}
		}
		if slices.Contains(texts, "") || names[f.Name()] || len(f.Encodings()) == 0 ||
			hasEncoding(f, "json") {
			t.Errorf("a text is missing, or two formats have one name: %+v", f)
		}
		names[f.Name()] = true
	}
}

func TestLookup(t *testing.T) {
	for _, s := range All() {
		if got, err := Lookup(strings.ToUpper(s.Name())); got != s || err != nil {
			t.Errorf("Lookup(%s): %v, %v", s.Name(), got, err)
		}
	}
	for _, name := range []string{"scru12", "", "x"} {
		_, err := Lookup(name)
		var unknown *sortid.UnknownError
		if !errors.As(err, &unknown) ||
			!strings.Contains(err.Error(), "; there are "+strings.Join(spec.Names(spec.Ours()), ", ")+", ") {
			t.Fatalf("Lookup(%q): %v", name, err)
		}
	}
}

func TestVectors(t *testing.T) {
	for _, s := range Ours() {
		v := conformance.VectorsOf(t, s.Name())
		for _, v := range v.Valid {
			c := validCase{v.Note, v.Text, v.Canon, v.Time, v.Hex, v.Int, "", v.Fields}
			if s.Bits() == 128 {
				c.UUID = v.Hex[:8] + "-" + v.Hex[8:12] + "-" + v.Hex[12:16] + "-" + v.Hex[16:20] +
					"-" + v.Hex[20:]
			}
			c.test(t, s)
		}
		for _, v := range v.Invalid {
			if id, err := s.Parse(v.Text); err == nil || id != (ID{}) {
				t.Errorf("%s: %s: Parse(%q) = %v, %v", s.Name(), v.Note, v.Text, id, err)
			}
		}
	}
}

func TestBadEncodings(t *testing.T) {
	for _, s := range Ours() {
		full := strings.Repeat("f", 2*s.Size())
		over := new(big.Int).Add(bigOf(largest(s)), big.NewInt(1)).String()
		for _, c := range []struct {
			encoding Encoding
			text     string
		}{
			{Text, ""}, {Text, "!"}, {Text, strings.Repeat("0", 1000)}, {Text, "\x00\xff"},
			{Hex, ""}, {Hex, full[1:]}, {Hex, full + "f"}, {Hex, "g" + full[1:]},
			{Hex, full[1:] + "é"[:1]}, {Hex, "0x" + full[2:]},
			{Int, ""}, {Int, "-1"}, {Int, "+1"}, {Int, " 1"}, {Int, "1 "}, {Int, "1_000"},
			{Int, "0x1"}, {Int, "1e3"},
			{Int, over}, {Int, strings.Repeat("9", 10000)}, {Int, "1" + strings.Repeat("0", 76)},
			{UUID, ""}, {UUID, "017fef39-c264-1ba5-6a94_83188841e05a"},
			{UUID, "g17fef39-c264-1ba5-6a94-83188841e05a"},
			{UUID, "017fef39c2641ba56a9483188841e05a"}, {"json", "{}"},
		} {
			id, err := s.ParseAs(c.encoding, c.text)
			if err == nil || id != (ID{}) || len(err.Error()) > 400 {
				t.Errorf("%s: ParseAs(%s, %.100q) = %v, %.500v", s.Name(), c.encoding, c.text, id,
					err)
			}
		}
		for _, text := range []string{"", "!", full + "f", over, "-1", "0x1",
			strings.Repeat("z", 100)} {
			if c, err := s.Read(text); err == nil || c.ID != (ID{}) {
				t.Errorf("%s: Read(%.100q) = %v, %v", s.Name(), text, c, err)
			}
		}
		max := largest(s).In(Int)
		if id, err := s.ParseAs(Int, "000"+max); err != nil || id != largest(s) {
			t.Errorf("%s: the largest integer with leading zeros: %v, %v", s.Name(), id, err)
		}
		if _, err := s.FromBytes(make([]byte, s.Size()+1)); !errors.Is(err,
			sortid.ErrBinaryLength) {
			t.Errorf("%s: FromBytes of one byte too many: %v", s.Name(), err)
		}
		if s.Size() == 8 {
			if id, err := s.FromBytes(bytes.Repeat([]byte{0xff}, 8)); err == nil {
				t.Errorf("%s: FromBytes of an integer above the largest: %v", s.Name(), id)
			}
			if _, err := s.ParseAs(UUID, "017fef39-c264-1ba5-6a94-83188841e05a"); !errors.Is(err,
				sortid.ErrOption) || !strings.Contains(err.Error(), fmt.Sprint(s.Bits(), " bits")) {
				t.Errorf("%s: ParseAs UUID: %v", s.Name(), err)
			}
		}
	}
}

// Append panics for an encoding that the format lacks.
func TestMissingEncoding(t *testing.T) {
	for _, f := range All() {
		for _, e := range []Encoding{Text, UUID, "json"} {
			if hasEncoding(f, e) || e == UUID && f.Bits() == 128 {
				continue
			}
			func() {
				want := fmt.Sprintf("format: %s IDs have no encoding %q", f.Name(), e)
				defer func() {
					if got := recover(); got != want {
						t.Errorf("%v, want %s", got, want)
					}
				}()
				_ = largest(f).In(e)
			}()
		}
	}
}

func TestBounds(t *testing.T) {
	from := time.Date(2026, 11, 17, 10, 30, 0, 123_456_789, time.UTC)
	to := from.Add(36 * time.Hour)
	for _, s := range Ours() {
		a, b, err := s.Bounds(from, to)
		if err != nil {
			t.Fatalf("%s: %v", s.Name(), err)
		}
		for bound, at := range map[ID]time.Time{a: from, b: to} {
			if lag := at.Sub(bound.Time()); lag < 0 || lag >= s.Tick() {
				t.Errorf("%s: %v bounds %v, but is of %v", s.Name(), bound, at, bound.Time())
			}
			for _, field := range s.Layout() {
				if v := field.Of(bound).String(); field.Kind != KindTime && v != "0" {
					t.Errorf("%s: %v is not the first of its tick: %s is %s", s.Name(), bound,
						field.Name, v)
				}
			}
		}
		start, end := spec.Of(s).Span()
		if a, b, err := s.Bounds(start, end); err != nil || bigOf(a).Sign() != 0 ||
			b.Compare(largest(s)) > 0 {
			t.Errorf("%s: all time: %v, %v, %v", s.Name(), a, b, err)
		}
		for _, c := range [][2]time.Time{
			{start.Add(-1), to}, {from, end.Add(1)}, {{}, to}, {to, from}, {from, from},
			{time.Date(-5, 1, 1, 0, 0, 0, 0, time.UTC),
				time.Date(50000, 1, 1, 0, 0, 0, 0, time.UTC)},
			{from.Truncate(time.Second), from.Truncate(time.Second).Add(1)},
		} {
			if a, b, err := s.Bounds(c[0], c[1]); err == nil || !(a == ID{}) || !(b == ID{}) {
				t.Errorf("%s: the bounds of %v are %v, %v, want an error", s.Name(), c, a, b)
			}
		}
	}
}

func TestNotes(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"0372ijojuxuhjsfkeryi2mrtm", ""},
		{"0000000000000000000000000", "reserved"},
		{"f5lxx1zz5pnorynqglhzmsp33", "reserved"},
		{"C8EE934SR007G5Q94QKKXFRFV8B", "extension 0, in 15 bits"},
	} {
		s := SCRU128
		if len(c.text) == 27 {
			s = EUID
		}
		id, err := s.Parse(c.text)
		if notes := strings.Join(id.Notes(), "; "); err != nil || (c.want == "") != (notes == "") ||
			!strings.Contains(notes, c.want) {
			t.Errorf("%s: notes %q, %v, want %q", c.text, notes, err, c.want)
		}
	}
	id, _ := euid.FromFields(1, 0, 0, 5, 0)
	r, err := EUID.Parse(id.String())
	if notes := r.Notes(); err != nil || len(notes) != 1 ||
		!strings.Contains(notes[0], "the version is 5: generators write 0") {
		t.Errorf("version bits 5: %v, %v", notes, err)
	}
}

func TestZero(t *testing.T) {
	if zero := (ID{}); zero.String() != "no ID" || zero.Format() != nil ||
		largest(SCRU64) == (ID{}) {
		t.Error("the zero ID")
	}
}

func TestIDJSON(t *testing.T) {
	for _, s := range Ours() {
		for _, v := range conformance.VectorsOf(t, s.Name()).Valid {
			id := gencore.Must(s.Parse(v.Text))
			got := gencore.Must(json.Marshal(id))
			want := gencore.Must(json.Marshal(described(id)))
			if a, b := members(t, got), members(t, want); !reflect.DeepEqual(a, b) {
				t.Errorf("%s: %s, want %s", v.Note, got, want)
			}
		}
	}
	if b, err := json.Marshal(ID{}); string(b) != "null" || err != nil {
		t.Errorf("the zero ID: %s, %v", b, err)
	}
}

func members(t *testing.T, object []byte) (m map[string]any) {
	t.Helper()
	if err := json.Unmarshal(object, &m); err != nil {
		t.Fatalf("%s: %v", object, err)
	}
	return m
}

func TestSymbols(t *testing.T) {
	for _, s := range Ours() {
		for _, v := range conformance.VectorsOf(t, s.Name()).Valid {
			id, _ := s.Parse(v.Text)
			text := id.String()
			if i := strings.IndexFunc(
				text, func(r rune) bool { return !strings.ContainsRune(spec.Of(s).Text.Symbols, r) }); i >= 0 {
				t.Errorf("%s: %s has %q, which is not among the symbols", s.Name(), text, text[i:i+1])
			}
			if _, err := s.Parse(strings.ToLower(text)); spec.Of(s).Text.FoldsCase && err != nil {
				t.Errorf("%s: in lower case: %v", s.Name(), err)
			}
		}
		// Texts of equal length are numbers in base len(Symbols). Texts of uid60 are rotated, and
		// texts of EUID have a check.
		if s == UID60 || s == EUID {
			continue
		}
		value := new(big.Int)
		for _, c := range s.Example() {
			value.Mul(value, big.NewInt(int64(len(spec.Of(s).Text.Symbols))))
			value.Add(value, big.NewInt(int64(strings.IndexRune(spec.Of(s).Text.Symbols, c))))
		}
		if id, _ := s.Parse(s.Example()); bigOf(id).Cmp(value) != 0 {
			t.Errorf("%s: the symbols of %s make %v", s.Name(), s.Example(), value)
		}
	}
}
