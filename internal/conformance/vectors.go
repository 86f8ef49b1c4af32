package conformance

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"math/big"
	"os"
	"path/filepath"
	"testing"

	"github.com/sortid/sortid"
	"github.com/sortid/sortid/internal/check"
	"github.com/sortid/sortid/internal/clock"
)

// Vectors is the file testdata/vectors.json of a format's package. Integers are decimal strings.
type Vectors struct {
	Format  string    `json:"format"`
	Valid   []Valid   `json:"valid"`
	Invalid []Invalid `json:"invalid"`
	Typed   Typed     `json:"typed"`
}

type Valid struct {
	Note      string            `json:"note"`
	Text      string            `json:"text"`
	Canon     string            `json:"canonical,omitempty"` // empty if Text is canonical
	Int       string            `json:"int"`
	Hex       string            `json:"hex"` // big-endian, at full width
	Time      string            `json:"time"`
	Fields    map[string]string `json:"fields"`
	Encodings map[string]string `json:"encodings,omitempty"` // other text encodings
}

type Invalid struct {
	Note   string `json:"note"`
	Text   string `json:"text"`
	Reason string `json:"reason"`
	Offset int    `json:"offset"` // of the first bad byte, or -1
}

// VectorsOf searches the current folder and the folders above it, because a program built with
// -trimpath does not know where its source is.
func VectorsOf(t testing.TB, format string) (v Vectors) {
	t.Helper()
	file := filepath.Join(format, "testdata", "vectors.json")
	for range 9 {
		if _, err := os.Stat(file); err == nil {
			break
		}
		file = filepath.Join("..", file)
	}
	b := check.Must(os.ReadFile(file))(t)
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatal(err)
	}
	if v.Format != format || len(v.Valid) < 10 || len(v.Invalid) == 0 || len(v.Typed.Valid) == 0 ||
		len(v.Typed.Invalid) == 0 {
		t.Fatalf("the vectors of %s are incomplete", format)
	}
	return v
}

func (c *Codec[T]) testVectors(t *testing.T) {
	v := VectorsOf(t, c.Format)
	for _, v := range v.Valid {
		id, err := c.Parse(v.Text)
		if err != nil {
			t.Errorf("%s: Parse(%q): %v", v.Note, v.Text, err)
			continue
		}
		canon := v.Canon
		if canon == "" {
			canon = v.Text
		}
		if got := id.String(); got != canon {
			t.Errorf("%s: text %q, want %q", v.Note, got, canon)
		}
		n, ok := new(big.Int).SetString(v.Int, 10)
		if !ok || Big(id).Cmp(n) != 0 || c.Of(n) != id {
			t.Errorf("%s: integer %v, want %s", v.Note, Big(id), v.Int)
		}
		if b, _ := id.MarshalBinary(); hex.EncodeToString(b) != v.Hex {
			t.Errorf("%s: bytes %x, want %s", v.Note, b, v.Hex)
		}
		if got := id.Time().Format(clock.Layout); got != v.Time {
			t.Errorf("%s: time %s, want %s", v.Note, got, v.Time)
		}
		fields := c.Fields(id)
		for name, want := range v.Fields {
			got, ok := fields[name]
			if !ok || got != want {
				t.Errorf("%s: field %s = %s, want %s", v.Note, name, got, want)
			}
		}
		if len(fields) != len(v.Fields) {
			t.Errorf("%s: fields %v, want %v", v.Note, fields, v.Fields)
		}
		for name, want := range v.Encodings {
			encoding, ok := c.Others[name]
			if !ok {
				t.Errorf("%s: no encoding %q", v.Note, name)
				continue
			}
			if got := encoding.Append(id); got != want {
				t.Errorf("%s: %s %q, want %q", v.Note, name, got, want)
			}
			if got, err := encoding.Parse(want); err != nil || got != id {
				t.Errorf("%s: %s %q parsed as %v, %v", v.Note, name, want, got, err)
			}
		}
	}
	for _, v := range v.Invalid {
		id, err := c.Parse(v.Text)
		if err == nil {
			t.Errorf("%s: Parse(%q) = %v, want an error", v.Note, v.Text, id)
			continue
		}
		var p *sortid.ParseError
		if !errors.As(err, &p) || reason(err) != v.Reason || p.Offset != v.Offset {
			t.Errorf("%s: Parse(%q): %v, want %s at %d", v.Note, v.Text, err, v.Reason, v.Offset)
		}
	}
}

// Typed has IDs with a prefix.
type Typed struct {
	Valid   []TypedValid   `json:"valid"`
	Invalid []TypedInvalid `json:"invalid"`
}

type TypedValid struct {
	Note   string `json:"note"`
	Prefix string `json:"prefix"`
	Inner  string `json:"inner"`
	Text   string `json:"text"`
}

// TypedInvalid is a text that is not an ID with the prefix Want. If Want is empty, the text is not
// a typed ID, whatever the prefix.
type TypedInvalid struct {
	Note   string `json:"note"`
	Want   string `json:"want,omitempty"`
	Found  string `json:"found"`
	Text   string `json:"text"`
	Reason string `json:"reason"`
}
