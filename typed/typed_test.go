package typed

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/sortid/sortid"
	"github.com/sortid/sortid/euid"
	"github.com/sortid/sortid/internal/conformance"
	"github.com/sortid/sortid/scru128"
	"github.com/sortid/sortid/scru160"
	"github.com/sortid/sortid/scru64"
)

// A struct can define the prefix and contain an ID with this prefix.
type user struct {
	ID   UserID
	Name string
}

type (
	order     struct{}
	letter    struct{}
	seven     struct{}
	eight     struct{}
	session   struct{}
	longest   struct{}
	byPointer struct{}
)

func (user) Prefix() string    { return "user" }
func (order) Prefix() string   { return "order" }
func (letter) Prefix() string  { return "a" }
func (seven) Prefix() string   { return "invoice" }
func (eight) Prefix() string   { return "customer" }
func (session) Prefix() string { return "user_session__token" }
func (longest) Prefix() string {
	return "abcdefghi_abcdefghi_abcdefghi_abcdefghi_abcdefghi_abcdefghi_jkl"
}
func (*byPointer) Prefix() string { return "pointer" }

type (
	UserID  = ID[user, scru128.ID]
	OrderID = ID[order, scru64.ID]
)

const inner128, inner64 = "0372ijojuxuhjsfkeryi2mrtm", "0u2pf62ji4b9"

var (
	aUser   = From[UserID](scru128.MustParse(inner128))
	anOrder = From[OrderID](scru64.MustParse(inner64))
)

// A tested is a *format[T]. The tests add these methods.
type tested interface {
	name() string
	testVectors(*testing.T)
	testAllocations(*testing.T)
	addSeeds(*testing.F)
	fuzz(*testing.T, string)
}

var Tested = map[string]tested{}

func init() {
	for _, f := range formats {
		f := f.(tested)
		Tested[f.name()] = f
	}
}

func (*format[T]) name() string { return path.Base(reflect.TypeFor[T]().PkgPath()) }

func TestNewMakesIDsOfEachFormat(t *testing.T) {
	before := time.Now().Add(-time.Second)
	a, b := New[UserID](), New[UserID]()
	if a.Compare(b) >= 0 || a.Time().Before(before) || a.IsZero() {
		t.Errorf("%v, then %v; want increasing IDs of now", a, b)
	}
	if id := New[ID[user, scru160.ID]](); id.IsZero() {
		t.Errorf("scru160: %v is zero", id)
	}
	if id := New[ID[user, euid.ID]](); id.IsZero() {
		t.Errorf("euid: %v is zero", id)
	}
	spec, _ := scru64.ParseNodeSpec("42/8")
	g, err := scru64.NewGenerator(scru64.Options{NodeSpec: spec})
	if err != nil {
		t.Fatal(err)
	}
	id, err := Generate[OrderID](g)
	if err != nil || id.Inner().NodeID(8) != 42 {
		t.Errorf("scru64: %v, %v; want an ID of node 42", id, err)
	}
	g, err = scru64.NewGenerator(
		scru64.Options{NodeSpec: spec,
			GeneratorOptions: sortid.GeneratorOptions{Clock: func() time.Time { return time.Time{} }}})
	if err != nil {
		t.Fatal(err)
	}
	if id, err := Generate[OrderID](g); !errors.Is(err, sortid.ErrTimeRange) || !id.IsZero() {
		t.Errorf("with a clock before the epoch: %v, %v; want ErrTimeRange", id, err)
	}
}

func TestNewAtMakesIDsOfATime(t *testing.T) {
	at := time.Date(2026, 11, 17, 12, 0, 0, 0, time.UTC)
	check := func(a, b interface{ Time() time.Time }, err error) {
		t.Helper()
		if err != nil || !a.Time().Equal(at) || a == b {
			t.Errorf("%v, %v, %v; want two IDs of %v", a, b, err, at)
		}
	}
	a, err := NewAt[UserID](at)
	b, _ := NewAt[UserID](at)
	check(a, b, err)
	c, err := NewAt[ID[user, scru160.ID]](at)
	d, _ := NewAt[ID[user, scru160.ID]](at)
	check(c, d, err)
	e, err := NewAt[ID[user, euid.ID]](at)
	f, _ := NewAt[ID[user, euid.ID]](at)
	check(e, f, err)
	if _, err := NewAt[UserID](time.Unix(-1, 0)); !errors.Is(err, sortid.ErrTimeRange) {
		t.Errorf("before 1970: %v, want ErrTimeRange", err)
	}
}

func TestTextsSortLikeIDs(t *testing.T) {
	ids := make([]UserID, 1000)
	for i := range ids {
		ids[i] = New[UserID]()
	}
	if !slices.IsSortedFunc(ids, UserID.Compare) ||
		!slices.IsSortedFunc(ids,
			func(a, b UserID) int { return cmp.Compare(a.String(), b.String()) }) {
		t.Errorf("IDs or their texts are not in order: %v", ids)
	}
}

func TestAllocations(t *testing.T) {
	for name, f := range Tested {
		t.Run(name, f.testAllocations)
	}
}

var sink any

func (f *format[T]) testAllocations(t *testing.T) {
	for _, c := range conformance.VectorsOf(t, f.name()).Typed.Valid {
		if c.Prefix == "" {
			allocations[ID[none, T]](t, c.Text)
			continue
		}
		id, err := ParseAny[T](c.Text)
		if err != nil {
			t.Fatal(err)
		}
		switch c.Prefix {
		case "user":
			allocations[ID[user, T]](t, c.Text)
		case "customer":
			allocations[ID[eight, T]](t, c.Text)
		case longest{}.Prefix():
			allocations[ID[longest, T]](t, c.Text)
		}
		buf := make([]byte, 0, len(c.Text))
		if n := testing.AllocsPerRun(20, func() { buf, _ = id.AppendText(buf[:0]) }); n > 0 {
			t.Errorf("Any.AppendText: %v allocations", n)
		}
	}
}

func allocations[I ID[P, T], P Prefixer, T Inner[T]](t *testing.T, text string) {
	id, err := Parse[I](text)
	if err != nil {
		t.Fatal(err)
	}
	var s string
	buf, b := make([]byte, 0, len(text)), []byte(text)
	stored, err := id.Value()
	if err != nil {
		t.Fatal(err)
	}
	column, asText, asBytes := id.Text(), any(text), any(b)
	inner := any(fmt.Sprint(id.Inner()))
	for name, c := range map[string]struct {
		f    func()
		want float64
	}{
		"Parse":         {func() { id, err = Parse[I](text) }, 0},
		"UnmarshalText": {func() { err = id.UnmarshalText(b) }, 0},
		"Scan":          {func() { err = id.Scan(stored) }, 0},
		"Scan of text":  {func() { err = id.Scan(inner) }, 0},
		"Text.Scan":     {func() { err = errors.Join(column.Scan(asText), column.Scan(asBytes)) }, 0},
		"AppendText":    {func() { buf, err = id.AppendText(buf[:0]) }, 0},
		"String":        {func() { s = id.String() }, 1},
		"MarshalText":   {func() { _, err = id.MarshalText() }, 1},
	} {
		if n := testing.AllocsPerRun(20, c.f); n > c.want {
			t.Errorf("%s of %s: %v allocations, want %v", name, text, n, c.want)
		}
	}
	sink = s
}
