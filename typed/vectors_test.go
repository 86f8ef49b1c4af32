package typed

import (
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"testing"
	"unsafe"

	"github.com/sortid/sortid"
	"github.com/sortid/sortid/internal/check"
	"github.com/sortid/sortid/internal/conformance"
)

type none struct{}

func (none) Prefix() string { return "" }

func TestReadsTheVectors(t *testing.T) {
	for name, f := range Tested {
		t.Run(name, f.testVectors)
	}
}

func (f *format[T]) testVectors(t *testing.T) {
	v := conformance.VectorsOf(t, f.name()).Typed
	for _, c := range v.Valid {
		var inner T
		check.OK(t, any(&inner).(encoding.TextUnmarshaler).UnmarshalText([]byte(c.Inner)))
		checkAny(t, c, inner)
		checkTyped[ID[user, T]](t, c, inner)
		checkTyped[ID[letter, T]](t, c, inner)
		checkTyped[ID[seven, T]](t, c, inner)
		checkTyped[ID[eight, T]](t, c, inner)
		checkTyped[ID[session, T]](t, c, inner)
		checkTyped[ID[longest, T]](t, c, inner)
		checkTyped[ID[none, T]](t, c, inner)
	}
	for _, c := range v.Invalid {
		checkInvalid[T](t, c)
	}
}

func checkTyped[I ID[P, T], P Prefixer, T Inner[T]](t *testing.T,
	c conformance.TypedValid, inner T) {
	id := From[I](inner)
	if id.Prefix() != c.Prefix {
		return
	}
	if s := id.String(); s != c.Text {
		t.Errorf("%s: String %s, want %s", c.Note, s, c.Text)
	}
	for _, room := range []int{0, 3, 8, 200} {
		buf := append(make([]byte, 0, 1+room), '>')
		if b, err := id.AppendText(buf); err != nil || string(b) != ">"+c.Text {
			t.Errorf("%s: AppendText with room for %d: %s, %v", c.Note, room, b, err)
		}
	}
	parsed, err := Parse[I](c.Text)
	if err != nil || parsed != id || parsed.Inner() != inner {
		t.Errorf("%s: Parse(%s) = %v, %v", c.Note, c.Text, parsed, err)
	}
	if id.Time() != inner.Time() || id.IsZero() != inner.IsZero() || id.Compare(parsed) != 0 {
		t.Errorf("%s: %v, %v", id, id.Time(), id.IsZero())
	}
	b, err := id.MarshalBinary()
	var back ID[P, T]
	if err == nil {
		err = back.UnmarshalBinary(b)
	}
	if err != nil || back != id {
		t.Errorf("%s: binary %x, %v", c.Note, b, err)
	}
	value, err := id.Value()
	back = ID[P, T]{}
	if err == nil {
		err = back.Scan(value)
	}
	if err != nil || back != id {
		t.Errorf("%s: stored as %v, scanned as %v, %v", c.Note, value, back, err)
	}
	text := id.Text()
	value, err = text.Value()
	var fromText Text[P, T]
	if err == nil {
		err = fromText.Scan(value)
	}
	if err == nil {
		err = fromText.Scan([]byte(c.Text))
	}
	if err != nil || fromText.ID != id || value != c.Text {
		t.Errorf("%s: stored in text as %v, scanned as %v, %v", c.Note, value, fromText, err)
	}
	if as, err := As[I](id.Any()); err != nil || as != id {
		t.Errorf("%s: As %v, %v", c.Note, as, err)
	}
	first := First[I](id.Time())
	n := conformance.Big(first)
	err = back.UnmarshalBinary(n.Sub(n, big.NewInt(1)).FillBytes(b))
	if err != nil || first.Time() != id.Time() || !back.Time().Before(id.Time()) {
		t.Errorf("%s: First %v after %v, %v", c.Note, first, back, err)
	}
	if unsafe.Sizeof(id) != unsafe.Sizeof(inner) ||
		unsafe.Sizeof([3]Text[P, T]{}) != 3*unsafe.Sizeof(inner) {
		t.Errorf("%T has %d bytes, want %d", id, unsafe.Sizeof(id), unsafe.Sizeof(inner))
	}
}

func checkAny[T Inner[T]](t *testing.T, c conformance.TypedValid, inner T) {
	id, err := NewAny(c.Prefix, inner)
	if err != nil || id.String() != c.Text || id.Prefix() != c.Prefix || id.Inner() != inner ||
		id.Time() != inner.Time() || id.IsZero() != (inner.IsZero() && c.Prefix == "") {
		t.Errorf("%s: NewAny %s, %v, want %s", c.Note, id, err, c.Text)
	}
	if parsed, err := ParseAny[T](c.Text); err != nil || parsed != id {
		t.Errorf("%s: ParseAny(%s) = %v, %v", c.Note, c.Text, parsed, err)
	}
	value, err := id.Value()
	var back Any[T]
	if err == nil {
		err = back.Scan(value)
	}
	if err != nil || back != id || value != c.Text {
		t.Errorf("%s: stored as %v, scanned as %v, %v", c.Note, value, back, err)
	}
	b, err := json.Marshal(id)
	back = Any[T]{}
	if err == nil {
		err = json.Unmarshal(b, &back)
	}
	if err != nil || back != id {
		t.Errorf("%s: JSON %s, %v", c.Note, b, err)
	}
}

func checkInvalid[T Inner[T]](t *testing.T, c conformance.TypedInvalid) {
	want := map[string]error{"prefix": sortid.ErrPrefix, "length": sortid.ErrLength,
		"symbol": sortid.ErrSymbol}[c.Reason]
	fill := MustParse[ID[none, T]](zeroText[T]())
	var err error
	if c.Want == "" {
		id := fill.Any()
		before := id
		err = id.UnmarshalText([]byte(c.Text))
		if id != before {
			t.Errorf("%s: an error changed the ID", c.Note)
		}
	} else {
		id := From[ID[user, T]](fill.Inner())
		before := id
		err = id.UnmarshalText([]byte(c.Text))
		if id != before {
			t.Errorf("%s: an error changed the ID", c.Note)
		}
	}
	if !errors.Is(err, want) {
		t.Errorf("%s: %s: %v, want %v", c.Note, c.Text, err, want)
		return
	}
	if c.Reason == "prefix" && c.Want != "" {
		found := fmt.Sprintf("%q", c.Found)
		if c.Found == "" {
			found = "there is none"
		}
		var parse *sortid.ParseError
		if !strings.Contains(err.Error(), found) ||
			!strings.Contains(err.Error(), fmt.Sprintf("%q", c.Want)) || !errors.As(err, &parse) {
			t.Errorf("%s: %v, want the prefix %s that was found and %q", c.Note, err, found, c.Want)
		}
	}
}

func zeroText[T Inner[T]]() string { return ID[none, T]{}.String() }
