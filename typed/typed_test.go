package typed

import (
	"bytes"
	"cmp"
	"database/sql"
	"database/sql/driver"
	"encoding"
	"encoding/gob"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"path"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/sortid/sortid"
	"github.com/sortid/sortid/euid"
	"github.com/sortid/sortid/internal/conformance"
	"github.com/sortid/sortid/scru128"
	"github.com/sortid/sortid/scru160"
	"github.com/sortid/sortid/scru64"
	"github.com/sortid/sortid/uid60"
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

func (user) Prefix() string       { return "user" }
func (order) Prefix() string      { return "order" }
func (letter) Prefix() string     { return "a" }
func (seven) Prefix() string      { return "invoice" }
func (eight) Prefix() string      { return "customer" }
func (session) Prefix() string    { return "user_session__token" }
func (longest) Prefix() string    { return strings.Repeat("abcdefghi_", 6) + "jkl" }
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

func TestVectors(t *testing.T) {
	for name, f := range Tested {
		t.Run(name, f.testVectors)
	}
}

func (f *format[T]) testVectors(t *testing.T) {
	v := conformance.VectorsOf(t, f.name()).Typed
	for _, c := range v.Valid {
		var inner T
		if err := any(&inner).(encoding.TextUnmarshaler).UnmarshalText([]byte(c.Inner)); err != nil {
			t.Fatal(err)
		}
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
	if err := cmp.Or(err, back.UnmarshalBinary(b)); err != nil || back != id {
		t.Errorf("%s: binary %x, %v", c.Note, b, err)
	}
	value, err := id.Value()
	back = ID[P, T]{}
	if err := cmp.Or(err, back.Scan(value)); err != nil || back != id {
		t.Errorf("%s: stored as %v, scanned as %v, %v", c.Note, value, back, err)
	}
	text := id.Text()
	value, err = text.Value()
	var fromText Text[P, T]
	if err := cmp.Or(err, fromText.Scan(value),
		fromText.Scan([]byte(value.(string)))); err != nil || fromText.ID != id || value != c.Text {
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
		id.Time() != inner.Time() || id.IsZero() != inner.IsZero() {
		t.Errorf("%s: NewAny %s, %v, want %s", c.Note, id, err, c.Text)
	}
	if parsed, err := ParseAny[T](c.Text); err != nil || parsed != id {
		t.Errorf("%s: ParseAny(%s) = %v, %v", c.Note, c.Text, parsed, err)
	}
	value, err := id.Value()
	var back Any[T]
	if err := cmp.Or(err, back.Scan(value)); err != nil || back != id || value != c.Text {
		t.Errorf("%s: stored as %v, scanned as %v, %v", c.Note, value, back, err)
	}
	b, err := json.Marshal(id)
	back = Any[T]{}
	if err := cmp.Or(err, json.Unmarshal(b, &back)); err != nil || back != id {
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

func TestErrors(t *testing.T) {
	_, err := Parse[UserID]("order_" + inner128)
	const want = `typed: cannot parse "order_` + inner128 + `": wrong prefix "order", want "user"`
	if err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	_, err = Parse[UserID]("user_0372")
	const short = `typed: after "user_": scru128: cannot parse "0372": wrong length: 4 bytes, want 25`
	if err == nil || err.Error() != short {
		t.Errorf("%v, want %s", err, short)
	}
	other, _ := NewAny("order", aUser.Inner())
	if _, err := As[UserID](other); !errors.Is(err, sortid.ErrPrefix) ||
		!strings.Contains(err.Error(), `"order", want "user"`) {
		t.Error(err)
	}
	if _, err := NewAny("Order", aUser.Inner()); !errors.Is(err, sortid.ErrPrefix) {
		t.Error(err)
	}
	defer func() {
		if recover() == nil {
			t.Error("MustParse did not panic")
		}
	}()
	MustParse[UserID]("user")
}

func TestOutOfRange(t *testing.T) {
	id := From[OrderID](scru64.Max + 1)
	if s := id.String(); !strings.HasPrefix(s, "invalid") {
		t.Error(s)
	}
	for _, f := range []func() error{
		func() error { _, err := id.MarshalText(); return err },
		func() error { _, err := id.Value(); return err },
		func() error { _, err := id.Text().Value(); return err },
		func() error { _, err := id.MarshalBinary(); return err },
		func() error { _, err := id.Any().MarshalText(); return err },
	} {
		if err := f(); !errors.Is(err, sortid.ErrRange) {
			t.Error(err)
		}
	}
}

type (
	upper  struct{}
	digit  struct{}
	atEnd  struct{}
	atHead struct{}
	tooBig struct{}
)

func (upper) Prefix() string  { return "User" }
func (digit) Prefix() string  { return "user2" }
func (atEnd) Prefix() string  { return "user_" }
func (atHead) Prefix() string { return "_user" }
func (tooBig) Prefix() string { return strings.Repeat("a", 64) }

func TestBadPrefix(t *testing.T) {
	checkBadPrefix[upper](t)
	checkBadPrefix[digit](t)
	checkBadPrefix[atEnd](t)
	checkBadPrefix[atHead](t)
	checkBadPrefix[tooBig](t)
}

func checkBadPrefix[P Prefixer](t *testing.T) {
	type id = ID[P, scru64.ID]
	for name, f := range map[string]func(){
		"String": func() { _ = id{}.String() },
		"Parse":  func() { Parse[id](id{}.Prefix() + "_" + inner64) },
		"other":  func() { Parse[id]("x") },
	} {
		func() {
			defer func() {
				err, _ := recover().(error)
				if !errors.Is(err, sortid.ErrPrefix) ||
					!strings.Contains(err.Error(), "typed.") {
					t.Errorf("%s with the prefix %q: %v", name, id{}.Prefix(), err)
				}
			}()
			f()
		}()
	}
}

func TestPointer(t *testing.T) {
	if s := From[ID[*byPointer, scru64.ID]](anOrder.Inner()).String(); s != "pointer_"+
		inner64 {
		t.Error(s)
	}
}

func TestNew(t *testing.T) {
	before := time.Now().Add(-time.Second)
	a, b := New[UserID](), New[UserID]()
	if a.Compare(b) >= 0 || a.Time().Before(before) || a.IsZero() {
		t.Error(a, b)
	}
	if id := New[ID[user, scru160.ID]](); id.IsZero() {
		t.Error(id)
	}
	if id := New[ID[user, euid.ID]](); id.IsZero() {
		t.Error(id)
	}
	spec, _ := scru64.ParseNodeSpec("42/8")
	g, err := scru64.NewGenerator(scru64.Options{NodeSpec: spec})
	if err != nil {
		t.Fatal(err)
	}
	id, err := Generate[OrderID](g)
	if err != nil || id.Inner().NodeID(8) != 42 {
		t.Error(id, err)
	}
	g, err = scru64.NewGenerator(
		scru64.Options{NodeSpec: spec,
			GeneratorOptions: sortid.GeneratorOptions{Clock: func() time.Time { return time.Time{} }}})
	if err != nil {
		t.Fatal(err)
	}
	if id, err := Generate[OrderID](g); !errors.Is(err, sortid.ErrTimeRange) || !id.IsZero() {
		t.Error(id, err)
	}
}

func TestValue(t *testing.T) {
	e := euid.MustParse("C8EE934SR007G5Q94QKKXFRFV8B")
	h := scru160.MustParse("05TTUP1HNCPNH30VEK64KDQT9BSNU4C4")
	u := uid60.MustParse("xinaS8QBh")
	for _, c := range []struct {
		value driver.Valuer
		want  any
	}{
		{aUser, scru128.UUID(aUser.Inner()).String()},
		{anOrder, int64(anOrder.Inner())},
		{From[ID[user, euid.ID]](e), euid.UUID(e).String()},
		{From[ID[user, scru160.ID]](h), h.Bytes()},
		{From[ID[user, uid60.ID]](u), int64(u)},
		{aUser.Text(), "user_" + inner128},
		{aUser.Any(), "user_" + inner128},
	} {
		got, err := c.value.Value()
		if b, ok := got.([]byte); err != nil || ok && !bytes.Equal(b, c.want.([]byte)) ||
			!ok && got != c.want {
			t.Errorf("%T: %v, %v, want %v", c.value, got, err, c.want)
		}
	}
}

func TestScan(t *testing.T) {
	id := aUser
	raw := aUser.Inner()
	for _, src := range []any{raw[:], raw.String(), scru128.UUID(raw).String(),
		[]byte(raw.String()), [16]byte(raw)} {
		var id UserID
		if err := id.Scan(src); err != nil || id != aUser {
			t.Errorf("%T %v: %v, %v", src, src, id, err)
		}
	}
	for _, c := range []struct {
		err  error
		says string
	}{
		{id.Scan(nil), "sql.Null"},
		{id.Scan("user_" + inner128), "typed.Text"},
		{id.Scan([]byte("user_" + inner128)), "typed.Text"},
		{id.Scan(int64(7)), "int64"},
		{id.Scan("x"), "length"},
	} {
		if c.err == nil || !strings.Contains(c.err.Error(), c.says) || id != aUser {
			t.Errorf("%v, want %q", c.err, c.says)
		}
	}
	text, free := aUser.Text(), aUser.Any()
	for _, src := range []any{nil, 7, inner128, "order_" + inner128, "user_x"} {
		if err := text.Scan(src); err == nil || text.ID != aUser {
			t.Errorf("Text: %v: %v", src, err)
		}
	}
	for _, src := range []any{nil, 7, "user_x", "User_" + inner128} {
		if err := free.Scan(src); err == nil || free != aUser.Any() {
			t.Errorf("Any: %v: %v", src, err)
		}
	}
	var null sql.Null[UserID]
	if err := null.Scan(nil); err != nil || null.Valid {
		t.Error(null, err)
	}
	if err := null.Scan(raw[:]); err != nil || null.V != aUser {
		t.Error(null, err)
	}
}

func TestStandardLibrary(t *testing.T) {
	type row struct {
		ID    UserID             `json:"id"`
		Maybe OrderID            `json:"maybe,omitzero"`
		Names map[OrderID]string `json:"names"`
	}
	r := row{ID: aUser, Names: map[OrderID]string{anOrder: "first"}}
	const want = `{"id":"user_` + inner128 + `","names":{"order_` + inner64 + `":"first"}}`
	b, err := json.Marshal(r)
	var back row
	if err := cmp.Or(err, json.Unmarshal(b, &back)); err != nil || string(b) != want ||
		back.ID != aUser || back.Names[anOrder] != "first" {
		t.Errorf("JSON %s, %v", b, err)
	}
	err = json.Unmarshal([]byte(`{"id":"order_`+inner128+`"}`), &back)
	if !errors.Is(err, sortid.ErrPrefix) {
		t.Error("JSON with another prefix:", err)
	}

	var log bytes.Buffer
	slog.New(slog.NewTextHandler(&log, nil)).Info("made", "id", aUser)
	slog.New(slog.NewJSONHandler(&log, nil)).Info("made", "id", aUser)
	if !strings.Contains(log.String(), "id=user_"+inner128) ||
		!strings.Contains(log.String(), `"id":"user_`+inner128+`"`) {
		t.Error("slog:", log.String())
	}

	flags := flag.NewFlagSet("test", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	var id UserID
	flags.TextVar(&id, "user", UserID{}, "the user")
	if err := flags.Parse([]string{"-user", "user_" + inner128}); err != nil || id != aUser {
		t.Error("flag:", id, err)
	}
	if err := flags.Parse([]string{"-user", "order_" + inner128}); err == nil ||
		!strings.Contains(err.Error(), `wrong prefix "order"`) {
		t.Error("flag:", err)
	}

	var buf bytes.Buffer
	var fromGob UserID
	if err := cmp.Or(gob.NewEncoder(&buf).Encode(aUser),
		gob.NewDecoder(&buf).Decode(&fromGob)); err != nil || fromGob != aUser {
		t.Error("gob:", fromGob, err)
	}
	if s := fmt.Sprintf("%v %s", aUser, anOrder); s != "user_"+inner128+" order_"+inner64 {
		t.Error("fmt:", s)
	}
}

func TestOrder(t *testing.T) {
	ids := make([]UserID, 1000)
	for i := range ids {
		ids[i] = New[UserID]()
	}
	if !slices.IsSortedFunc(ids, UserID.Compare) ||
		!slices.IsSortedFunc(ids,
			func(a, b UserID) int { return cmp.Compare(a.String(), b.String()) }) {
		t.Error("not sorted")
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
	for name, c := range map[string]struct {
		f    func()
		want float64
	}{
		"Parse":         {func() { id, err = Parse[I](text) }, 0},
		"UnmarshalText": {func() { err = id.UnmarshalText(b) }, 0},
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

func FuzzParse(f *testing.F) {
	for _, format := range Tested {
		format.addSeeds(f)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, format := range Tested {
			format.fuzz(t, s)
		}
	})
}

func (f *format[T]) addSeeds(to *testing.F) {
	v := conformance.VectorsOf(to, f.name()).Typed
	for _, c := range v.Valid {
		to.Add(c.Text)
	}
	for _, c := range v.Invalid {
		to.Add(c.Text)
	}
}

// fuzz checks that Parse and ParseAny agree, and that texts parse again.
func (*format[T]) fuzz(t *testing.T, s string) {
	any, err := ParseAny[T](s)
	if err == nil {
		back, err := ParseAny[T](any.String())
		if err != nil || back.Inner() != any.Inner() {
			t.Fatalf("%q is %v, and that is %v, %v", s, any, back, err)
		}
		if err := CheckPrefix(any.Prefix()); err != nil {
			t.Fatal(err)
		}
		if plain := strings.ToLower(s); !strings.HasPrefix(plain, strings.ToLower(any.Prefix())) {
			t.Fatalf("%q has the prefix %q", s, any.Prefix())
		}
	}
	id, err2 := Parse[ID[user, T]](s)
	if err == nil && any.Prefix() == "user" && (err2 != nil || id.Inner() != any.Inner()) {
		t.Fatalf("%q is %v, and as a typed ID %v, %v", s, any, id, err2)
	}
	if err2 == nil {
		if back, err := Parse[ID[user, T]](id.String()); err != nil || back != id {
			t.Fatalf("%q is %v, and that is %v, %v", s, id, back, err)
		}
	}
}
