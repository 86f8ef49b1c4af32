package typed

import (
	"bytes"
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
	"strings"
	"testing"

	"github.com/sortid/sortid"
	"github.com/sortid/sortid/euid"
	"github.com/sortid/sortid/scru128"
	"github.com/sortid/sortid/scru160"
	"github.com/sortid/sortid/uid60"
)

func TestValueHasTheTypeOfTheColumn(t *testing.T) {
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

func TestFailedScanLeavesTheReceiver(t *testing.T) {
	id := aUser
	raw := aUser.Inner()
	for _, src := range []any{raw[:], raw.String(), scru128.UUID(raw).String(),
		[]byte(raw.String()), [16]byte(raw)} {
		var id UserID
		if err := id.Scan(src); err != nil || id != aUser {
			t.Errorf("from %T %v: %v, %v; want %v", src, src, id, err, aUser)
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
			t.Errorf("%v; want an error with %q, and the ID %v, which is %v", c.err, c.says, aUser, id)
		}
	}
	text, free := aUser.Text(), aUser.Any()
	for _, src := range []any{nil, 7, inner128, "order_" + inner128, "user_x"} {
		if err := text.Scan(src); err == nil || text.ID != aUser {
			t.Errorf("Text from %v: %v, %v; want an error, and %v as before", src, text, err, aUser)
		}
	}
	for _, src := range []any{nil, 7, "user_x", "User_" + inner128} {
		if err := free.Scan(src); err == nil || free != aUser.Any() {
			t.Errorf("Any from %v: %v, %v; want an error, and %v as before", src, free, err, aUser)
		}
	}
	var null sql.Null[UserID]
	if err := null.Scan(nil); err != nil || null.Valid {
		t.Errorf("sql.Null from NULL: %+v, %v; want it not valid", null, err)
	}
	if err := null.Scan(raw[:]); err != nil || null.V != aUser {
		t.Errorf("sql.Null from bytes: %+v, %v; want %v", null, err, aUser)
	}
}

func TestWorksInTheStandardLibrary(t *testing.T) {
	type row struct {
		ID    UserID             `json:"id"`
		Maybe OrderID            `json:"maybe,omitzero"`
		Names map[OrderID]string `json:"names"`
	}
	r := row{ID: aUser, Names: map[OrderID]string{anOrder: "first"}}
	const want = `{"id":"user_` + inner128 + `","names":{"order_` + inner64 + `":"first"}}`
	b, err := json.Marshal(r)
	var back row
	if err == nil {
		err = json.Unmarshal(b, &back)
	}
	if err != nil || string(b) != want || back.ID != aUser || back.Names[anOrder] != "first" {
		t.Errorf("JSON %s, %v; want %s, which reads as %+v, not %+v", b, err, want, r, back)
	}
	err = json.Unmarshal([]byte(`{"id":"order_`+inner128+`"}`), &back)
	if !errors.Is(err, sortid.ErrPrefix) {
		t.Errorf("JSON with another prefix: %v, want ErrPrefix", err)
	}

	var log bytes.Buffer
	slog.New(slog.NewTextHandler(&log, nil)).Info("made", "id", aUser)
	slog.New(slog.NewJSONHandler(&log, nil)).Info("made", "id", aUser)
	if !strings.Contains(log.String(), "id=user_"+inner128) ||
		!strings.Contains(log.String(), `"id":"user_`+inner128+`"`) {
		t.Errorf("slog: no %s in\n%s", aUser, &log)
	}

	flags := flag.NewFlagSet("test", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	var id UserID
	flags.TextVar(&id, "user", UserID{}, "the user")
	if err := flags.Parse([]string{"-user", "user_" + inner128}); err != nil || id != aUser {
		t.Errorf("flag: %v, %v; want %v", id, err, aUser)
	}
	if err := flags.Parse([]string{"-user", "order_" + inner128}); err == nil ||
		!strings.Contains(err.Error(), `wrong prefix "order"`) {
		t.Errorf("flag with another prefix: %v, want wrong prefix", err)
	}

	var buf bytes.Buffer
	var fromGob UserID
	if err = gob.NewEncoder(&buf).Encode(aUser); err == nil {
		err = gob.NewDecoder(&buf).Decode(&fromGob)
	}
	if err != nil || fromGob != aUser {
		t.Errorf("gob: %v, %v; want %v", fromGob, err, aUser)
	}
	if s := fmt.Sprintf("%v %s", aUser, anOrder); s != "user_"+inner128+" order_"+inner64 {
		t.Errorf("fmt: %q, want the texts of %v and %v", s, aUser, anOrder)
	}
}

// A typed ID has one text. UUID texts are only for the IDs inside.
func TestTextIsNoUUID(t *testing.T) {
	a, e := scru128.New(), euid.New()
	for _, uuid := range []string{scru128.UUID(a).String(), euid.UUID(e).String()} {
		var id ID[user, scru128.ID]
		var other ID[user, euid.ID]
		var dynamic Any[scru128.ID]
		for _, to := range []encoding.TextUnmarshaler{&id, &other, &dynamic} {
			err := to.UnmarshalText([]byte("user_" + uuid))
			if !errors.Is(err, sortid.ErrLength) || !id.IsZero() || !other.IsZero() {
				t.Errorf("%T: UnmarshalText(user_%s): %v, want ErrLength", to, uuid, err)
			}
		}
	}
}
