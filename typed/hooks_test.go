package typed

import (
	"bytes"
	"encoding"
	"encoding/gob"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/sortid/sortid"
	"github.com/sortid/sortid/euid"
	"github.com/sortid/sortid/internal/check"
	"github.com/sortid/sortid/scru128"
	"github.com/sortid/sortid/scru160"
	"github.com/sortid/sortid/uid60"
)

type ShortUserID = ID[user, uid60.ID]

func TestScanRefusesItsOwnPrefix(t *testing.T) {
	before := From[ShortUserID](uid60.MustParse("xinaS8QBh"))
	for _, text := range []string{"user_AAAA", "user_AAAAA", "user_xinaS8QBhA"} {
		id := before
		err := id.Scan(text)
		if !errors.Is(err, sortid.ErrScan) && !errors.Is(err, sortid.ErrLength) || id != before {
			t.Errorf("Scan(%q): %v, %v; want an error, and no change", text, id, err)
		}
		id = before
		if err := id.Scan([]byte(text)); err == nil || id != before {
			t.Errorf("Scan of the bytes of %q: %v, %v; want an error, and no change", text, id, err)
		}
	}
	var id ShortUserID
	for _, text := range []string{"xinaS8QBh", "use_AAAA", "AAAA"} {
		if err := id.Scan(text); err != nil || id.Inner() != uid60.MustParse(text) {
			t.Errorf("Scan(%q): %v, %v", text, id, err)
		}
	}
}

func TestAnyRefusesAnInvalidPrefix(t *testing.T) {
	defer func() {
		if err, _ := recover().(error); !errors.Is(err, sortid.ErrPrefix) {
			t.Errorf("Any of an ID with the prefix User_: %v, want a panic with ErrPrefix", err)
		}
	}()
	_ = ID[upper, scru128.ID]{}.Any()
}

// An ID type instead of the type with the prefix compiles, because it also has a method Prefix.
func TestIDIsNoPrefixer(t *testing.T) {
	defer func() {
		if s := fmt.Sprint(recover()); !strings.Contains(s, "is an ID") {
			t.Errorf("the ID of an ID type: panic %s, want one that says is an ID", s)
		}
	}()
	_ = ID[UserID, scru128.ID]{}.String()
}

func TestErrorsOfPrefixes(t *testing.T) {
	parse := func(s string) error { _, err := Parse[UserID](s); return err }
	bare := func(s string) error { _, err := Parse[ID[none, scru128.ID]](s); return err }
	for _, c := range []struct {
		err    error
		is     error
		says   string
		offset int
	}{
		{parse("user__" + inner128), sortid.ErrPrefix, `wrong prefix "user_", want "user"`, -1},
		{parse("user_admin_" + inner128), sortid.ErrPrefix, `wrong prefix "user_admin"`, -1},
		{parse("_" + inner128), sortid.ErrPrefix, "there is none before the _", -1},
		{bare("_" + inner128), sortid.ErrPrefix, "there is none before the _, want no prefix", -1},
		{bare("user_" + inner128), sortid.ErrPrefix, `wrong prefix "user", want no prefix`, -1},
		{parse("user_0372!" + inner128[5:]), sortid.ErrSymbol, "'!' at offset 9", 9},
		{parse("user_"), sortid.ErrLength, `length after "user_": 0 bytes, want 25`, -1},
		{bare("0372"), sortid.ErrLength, "want 25", -1},
	} {
		var e *sortid.ParseError
		if !errors.Is(c.err, c.is) || !errors.As(c.err, &e) || e.Offset != c.offset ||
			!strings.Contains(c.err.Error(), c.says) {
			t.Errorf("%v; want %v that says %s, with the offset %d", c.err, c.is, c.says, c.offset)
		}
	}
	_, err := ParseAny[scru128.ID]("user_0372!" + inner128[5:])
	var e *sortid.ParseError
	if !errors.As(err, &e) || e.Offset != 9 || e.Length != len("user_"+inner128) {
		t.Errorf("ParseAny: %+v, %v; want the offset 9 in the whole text", e, err)
	}
}

func TestGobKeepsThePrefix(t *testing.T) {
	type users struct{ ID UserID }
	type orders struct{ ID ID[order, scru128.ID] }
	var buf bytes.Buffer
	check.OK(t, gob.NewEncoder(&buf).Encode(users{aUser}))
	stream := buf.Bytes()
	var same users
	if err := gob.NewDecoder(bytes.NewReader(stream)).Decode(&same); err != nil || same.ID != aUser {
		t.Errorf("gob: %v, %v; want %v", same.ID, err, aUser)
	}
	var other orders
	err := gob.NewDecoder(bytes.NewReader(stream)).Decode(&other)
	if !errors.Is(err, sortid.ErrPrefix) {
		t.Errorf("gob of a user's ID as an order's: %v, %v; want ErrPrefix", other.ID, err)
	}
	type all struct {
		Any  Any[scru128.ID]
		Text Text[user, scru128.ID]
		Raw  Bytes[user, scru128.ID]
	}
	want, got := all{aUser.Any(), aUser.Text(), aUser.Bytes()}, all{}
	buf.Reset()
	check.OK(t, gob.NewEncoder(&buf).Encode(want))
	if err := gob.NewDecoder(&buf).Decode(&got); err != nil || got != want {
		t.Errorf("gob: %v, %v; want %v", got, err, want)
	}
}

func TestAny(t *testing.T) {
	a, b := aUser.Any(), From[ID[order, scru128.ID]](aUser.Inner()).Any()
	if a.Compare(b) != 1 || b.Compare(a) != -1 || a.Compare(a) != 0 || a.Equal(b) || !a.Equal(a) {
		t.Errorf("%v and %v: %d, %d, want users after orders", a, b, a.Compare(b), b.Compare(a))
	}
	zero := ID[user, scru128.ID]{}.Any()
	out, err := json.Marshal(struct {
		A Any[scru128.ID] `json:",omitzero"`
		B Any[scru128.ID] `json:",omitzero"`
	}{A: zero})
	if want := fmt.Sprintf(`{"A":%q}`, zero); err != nil || string(out) != want {
		t.Errorf("omitzero: %s, %v; want %s", out, err, want)
	}
	for _, id := range []Any[scru128.ID]{a, zero, {}} {
		raw, err := id.MarshalBinary()
		var back Any[scru128.ID]
		if err == nil {
			err = back.UnmarshalBinary(raw)
		}
		if err != nil || back != id {
			t.Errorf("binary form %x of %v: %v, %v", raw, id, back, err)
		}
	}
	for _, raw := range []string{"", "user", "User" + string(make([]byte, 16))} {
		id := a
		if err := id.UnmarshalBinary([]byte(raw)); err == nil || id != a {
			t.Errorf("UnmarshalBinary(%q): %v, %v; want an error, and no change", raw, id, err)
		}
	}
}

// A column of bytes has the binary form; JSON, map keys and XML have the text with the prefix.
func TestBytes(t *testing.T) {
	checkBytes(t, aUser)
	checkBytes(t, anOrder)
	checkBytes(t, From[ID[user, euid.ID]](euid.Max()))
	checkBytes(t, From[ID[user, scru160.ID]](scru160.Max()))
	checkBytes(t, From[ShortUserID](uid60.MustParse("xinaS8QBh")))
	text, err := json.Marshal(map[Bytes[user, scru128.ID]]int{aUser.Bytes(): 1})
	if want := fmt.Sprintf(`{"%v":1}`, aUser); err != nil || string(text) != want {
		t.Errorf("a map: %s, %v, want %s", text, err, want)
	}
	var v any = aUser.Text()
	_, isText := v.(Column)
	v = aUser.Bytes()
	if _, isBytes := v.(Column); isText || isBytes {
		t.Error("a Text or a Bytes is a Column, so pgxid stores it like the ID")
	}
}

func checkBytes[P Prefixer, T Inner[T]](t *testing.T, id ID[P, T]) {
	t.Helper()
	want, _ := id.MarshalBinary()
	value, err := id.Bytes().Value()
	if raw, ok := value.([]byte); err != nil || !ok || !bytes.Equal(raw, want) {
		t.Errorf("%v: Value %v, %v, want %x", id, value, err, want)
	}
	var back Bytes[P, T]
	if err := back.Scan(value); err != nil || back.ID != id {
		t.Errorf("%v: Scan %v, %v", id, back, err)
	}
	if err := back.Scan(nil); err == nil || back.ID != id {
		t.Errorf("%v: Scan of NULL: %v, %v", id, back, err)
	}
	type row struct {
		ID Bytes[P, T] `xml:"id,attr"`
	}
	for name, c := range map[string]struct {
		write func(any) ([]byte, error)
		read  func([]byte, any) error
		want  string
	}{
		"JSON": {json.Marshal, json.Unmarshal, fmt.Sprintf(`{"ID":"%v"}`, id)},
		"XML":  {xml.Marshal, xml.Unmarshal, fmt.Sprintf(`<row id="%v"></row>`, id)},
	} {
		var back row
		b, err := c.write(row{id.Bytes()})
		if err == nil {
			err = c.read(b, &back)
		}
		if err != nil || string(b) != c.want || back.ID.ID != id {
			t.Errorf("%s: %s, %v, want %s, which reads as %v", name, b, err, c.want, back.ID)
		}
	}
}

func TestFmt(t *testing.T) {
	raw := aUser.Inner()
	text := "user_" + inner128
	for _, c := range []struct {
		id           any
		format, want string
	}{
		{aUser, "%v", text},
		{aUser, "%s|%40s|%-40v|", text + "|" + fmt.Sprintf("%40s|%-40s|", text, text)},
		{aUser, "%q", `"` + text + `"`},
		{aUser, "%x", fmt.Sprintf("%x", raw[:])},
		{aUser, "% X", fmt.Sprintf("% X", raw[:])},
		{aUser, "%d", "%!d(typed.ID[typed.user,scru128.ID]=" + text + ")"},
		{aUser, "%t", "%!t(typed.ID[typed.user,scru128.ID]=" + text + ")"},
		{aUser, "%#v", `typed.MustParse[typed.ID[typed.user,scru128.ID]]("` + text + `")`},
		{anOrder, "%d", fmt.Sprint(uint64(anOrder.Inner()))},
		{anOrder, "%x", fmt.Sprintf("%016x", uint64(anOrder.Inner()))},
		{aUser.Any(), "%v", text},
		{aUser.Any(), "%#v", `typed.ParseAny[scru128.ID]("` + text + `")`},
		{aUser.Text(), "%v", text},
		{[]UserID{aUser}, "%v", "[" + text + "]"},
	} {
		n := strings.Count(c.format, "%") - strings.Count(c.format, "%%")
		args := make([]any, n)
		for i := range args {
			args[i] = c.id
		}
		if got := fmt.Sprintf(c.format, args...); got != c.want {
			t.Errorf("%s: %q, want %q", c.format, got, c.want)
		}
	}
	var boxed any = aUser
	if n := testing.AllocsPerRun(100, func() { sink = fmt.Sprint(boxed) }); n > 3 {
		t.Errorf("fmt.Sprint: %v allocations, want 3: the text, the result and its interface", n)
	}
}

func TestUnmarshalParam(t *testing.T) {
	var id UserID
	var any Any[scru128.ID]
	var text Text[user, scru128.ID]
	for _, to := range []interface{ UnmarshalParam(string) error }{&id, &any, &text} {
		if err := to.UnmarshalParam("user_" + inner128); err != nil {
			t.Errorf("%T: %v", to, err)
		}
		if err := to.UnmarshalParam("12345"); err == nil {
			t.Errorf("%T: reads 12345", to)
		}
	}
	if id != aUser || any != aUser.Any() || text != aUser.Text() || !id.Equal(text.ID) {
		t.Errorf("read %v, %v and %v", id, any, text)
	}
}

// A client is one whose old texts are UUIDs.
type client struct{}

func (client) Prefix() string { return "client" }

func (client) ParseOld(text string) (scru128.ID, error) {
	u, err := scru128.ParseUUID(text)
	return scru128.ID(u), err
}

var _ OldParser[scru128.ID] = client{}

func TestOldTexts(t *testing.T) {
	type clientID = ID[client, scru128.ID]
	id := From[clientID](scru128.MustParse(inner128))
	uuid := scru128.UUID(id.Inner()).String()
	for _, text := range []string{uuid, id.String()} {
		var back, scanned clientID
		var column Text[client, scru128.ID]
		err := errors.Join(encoding.TextUnmarshaler(&back).UnmarshalText([]byte(text)),
			column.Scan(text), scanned.Scan(strings.TrimPrefix(text, "client_")))
		if err != nil || back != id || scanned != id || column.ID != id {
			t.Errorf("%s: %v, %v, %v, %v; want %v", text, back, column, scanned, err, id)
		}
		if b, err := json.Marshal(back); err != nil || string(b) != `"`+id.String()+`"` {
			t.Errorf("written: %s, %v; want %v", b, err, id)
		}
	}
	back := id
	err := back.UnmarshalText([]byte("order_" + inner128))
	if !errors.Is(err, sortid.ErrPrefix) || !errors.Is(err, sortid.ErrUUIDLength) || back != id {
		t.Errorf("neither form: %v, %v; want both errors", back, err)
	}
}

func TestTypeName(t *testing.T) {
	for got, want := range map[string]string{
		typeName[Any[scru160.ID]]():            "typed.Any[scru160.ID]",
		typeName[Text[*byPointer, uid60.ID]](): "typed.Text[*typed.byPointer,uid60.ID]",
		typeName[struct{}]():                   reflect.TypeFor[struct{}]().String(),
	} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
