package conformance

import (
	"bytes"
	"database/sql"
	"database/sql/driver"
	"encoding"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"math/big"
	"reflect"
	"strings"
	"testing"

	"github.com/sortid/sortid"
)

var (
	NoPolicy = Setup{RollbackPolicy: sortid.RollbackWait + 1}
	Reset    = Setup{RollbackPolicy: sortid.RollbackReset}
)

// Refused tests that newGenerator refuses wrong options. The keys of the map are names of fields,
// and the error must contain the key.
func Refused[O any, G comparable](t *testing.T, newGenerator func(O) (G, error),
	wrong map[string][]O) {
	t.Helper()
	for names, all := range wrong {
		for _, o := range all {
			if g, err := newGenerator(o); g != *new(G) || !errors.Is(err, sortid.ErrOption) ||
				!strings.Contains(err.Error(), names) {
				t.Errorf("%s: %v, %v", names, g, err)
			}
		}
	}
}

// Column tests an ID's wrapper for database columns of another type. It tests the wrapper's value,
// and that both the wrapper and the ID scan each source.
func Column[T, W comparable](t *testing.T, id T, wrapped W, value driver.Value, sources ...any) {
	t.Helper()
	if v, err := any(wrapped).(driver.Valuer).Value(); !reflect.DeepEqual(v, value) || err != nil {
		t.Errorf("%T: Value = %v, %v, want %v", wrapped, v, err, value)
	}
	for _, src := range sources {
		var got T
		if err := any(&got).(sql.Scanner).Scan(src); err != nil || got != id {
			t.Errorf("Scan(%T %v) = %v, %v", src, src, got, err)
		}
		var w W
		if err := any(&w).(sql.Scanner).Scan(src); err != nil || w != wrapped {
			t.Errorf("%T: Scan(%T %v) = %v, %v", w, src, src, w, err)
		}
	}
	for _, to := range []sql.Scanner{any(new(T)).(sql.Scanner), any(new(W)).(sql.Scanner)} {
		for _, src := range []any{nil, 1.5, int32(1)} {
			if err := to.Scan(src); !errors.Is(err, sortid.ErrScan) {
				t.Errorf("%T: Scan(%T): %v, want ErrScan", to, src, err)
			}
		}
	}
	raw, err := any(id).(encoding.BinaryMarshaler).MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	text := any(wrapped).(fmt.Stringer).String()
	checkHooks(t, wrapped, text, raw)
	var back W
	b, err := json.Marshal(wrapped)
	if err == nil {
		err = json.Unmarshal(b, &back)
	}
	if json := strings.Trim(string(b), `"`); err != nil || back != wrapped ||
		json != text && json != fmt.Sprint(any(id)) { // a UUID is the ID's text
		t.Errorf("%T: JSON %s of %v, back %v: %v", wrapped, b, id, back, err)
	}
}

// KeepsOn tests that UnmarshalText of an invalid text does not change w.
func KeepsOn[W comparable](t *testing.T, w W, texts ...string) {
	t.Helper()
	for _, bad := range texts {
		got := w
		err := any(&got).(encoding.TextUnmarshaler).UnmarshalText([]byte(bad))
		if err == nil || got != w {
			t.Errorf("%T: UnmarshalText(%q): %v, %v", w, bad, got, err)
		}
	}
}

type text128 interface {
	~[16]byte
	fmt.Stringer
}

// UUID tests the wrappers of an ID of 128 bits: its UUID, and its bytes.
func UUID[T, U text128, B ~[16]byte](t *testing.T, id T, uuid U, raw B) {
	t.Helper()
	form := uuid.String()
	KeepsOn(t, uuid, "", form[1:], form+"0", strings.Replace(form, "-", "0", 1), "g"+form[1:],
		form[:35]+"é"[:1])
	testUUIDText(t, id, form)
	Texts(t, id, uuid)
	Texts(t, id, raw)
	sources := []any{form, []byte(form), id[:], [16]byte(id), id.String(), []byte(id.String())}
	Column(t, id, uuid, form, sources...)
	Column(t, id, raw, id[:], sources...)
}

// Texts tests that JSON and XML write a wrapper like the ID, also as a key, and read it back.
func Texts[T fmt.Stringer, W comparable](t *testing.T, id T, wrapped W) {
	t.Helper()
	type document struct {
		ID   W         `json:"id" xml:"id"`
		Attr W         `json:"-" xml:"attr,attr"`
		Map  map[W]int `json:"map" xml:"-"`
	}
	doc := document{wrapped, wrapped, map[W]int{wrapped: 1}}
	j, err := json.Marshal(doc)
	want := fmt.Sprintf(`{"id":%q,"map":{%[1]q:1}}`, id.String())
	if err != nil || string(j) != want {
		t.Errorf("%T: JSON %s, %v, want %s", wrapped, j, err, want)
	}
	var back document
	if err := json.Unmarshal(j, &back); err != nil || back.ID != wrapped || back.Map[wrapped] != 1 {
		t.Errorf("%T: from JSON: %v, %v", wrapped, back, err)
	}
	x, err := xml.Marshal(doc)
	want = fmt.Sprintf(`<document attr=%q><id>%[1]s</id></document>`, id.String())
	if err != nil || string(x) != want {
		t.Errorf("%T: XML %s, %v, want %s", wrapped, x, err, want)
	}
	back = document{}
	if err := xml.Unmarshal(x, &back); err != nil || back.ID != wrapped || back.Attr != wrapped {
		t.Errorf("%T: from XML: %v, %v", wrapped, back, err)
	}
	b, err := any(wrapped).(encoding.TextAppender).AppendText([]byte("x"))
	if err != nil || string(b) != "x"+id.String() {
		t.Errorf("%T: AppendText: %q, %v", wrapped, b, err)
	}
}

// testUUIDText tests that the ID reads its UUID, alone and in JSON, but no almost equal text.
func testUUIDText[T ~[16]byte](t *testing.T, id T, form string) {
	t.Helper()
	for _, s := range []string{form, strings.ToUpper(form)} {
		var got T
		err := any(&got).(encoding.TextUnmarshaler).UnmarshalText([]byte(s))
		if err != nil || got != id {
			t.Errorf("%T: UnmarshalText(%q): %v, %v", id, s, got, err)
		}
		got = T{}
		if err := json.Unmarshal([]byte(`"`+s+`"`), &got); err != nil || got != id {
			t.Errorf("%T: %q from JSON: %v, %v", id, s, got, err)
		}
	}
	bad := []string{form[1:] + "g", strings.Replace(form, "-", "0", 1), form[:35] + "\n",
		"{" + form[1:35] + "}", strings.ReplaceAll(form, "-", ""), "{" + form + "}",
		"urn:uuid:" + form}
	KeepsOn(t, id, bad...)
	for _, s := range bad {
		got := id
		if err := any(&got).(sql.Scanner).Scan(s); err == nil || got != id {
			t.Errorf("%T: Scan(%q): %v, %v", id, s, got, err)
		}
	}
}

// FuzzUUID compares ParseUUID with math/big. Both must accept the same texts.
func FuzzUUID[U text128](f *testing.F, parse func(string) (U, error), seed string) {
	f.Add(seed)
	f.Add(strings.ToUpper(seed[:8]) + seed[8:23] + "_" + seed[24:])
	f.Fuzz(func(t *testing.T, s string) {
		u, err := parse(s)
		n, ok := new(big.Int), false
		if p := strings.Split(s, "-"); len(s) == 36 && len(p) == 5 && len(p[0]) == 8 &&
			len(p[1]) == 4 && len(p[2]) == 4 && len(p[3]) == 4 && !strings.ContainsAny(s, "+_") {
			n, ok = n.SetString(strings.Join(p, ""), 16)
		}
		if ok != (err == nil) || ok && (!bytes.Equal(u[:], n.FillBytes(make([]byte, 16))) ||
			u.String() != strings.ToLower(s)) {
			t.Fatalf("ParseUUID(%q) = %v, %v; by math/big %v, %v", s, u, err, n, ok)
		}
	})
}
