package typed

import (
	"errors"
	"strings"
	"testing"

	"github.com/sortid/sortid"
	"github.com/sortid/sortid/scru64"
)

func TestErrorsNameInputAndReason(t *testing.T) {
	_, err := Parse[UserID]("order_" + inner128)
	const want = `typed: cannot parse "order_` + inner128 + `": wrong prefix "order", want "user"`
	if err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	_, err = Parse[UserID]("user_0372")
	const short = `typed: cannot parse "user_0372": wrong length after "user_": 4 bytes, want 25`
	if err == nil || err.Error() != short {
		t.Errorf("%v, want %s", err, short)
	}
	other, _ := NewAny("order", aUser.Inner())
	if _, err := As[UserID](other); !errors.Is(err, sortid.ErrPrefix) ||
		!strings.Contains(err.Error(), `"order", want "user"`) {
		t.Errorf("%v as a user: %v, want an error with both prefixes", other, err)
	}
	if _, err := NewAny("Order", aUser.Inner()); !errors.Is(err, sortid.ErrPrefix) {
		t.Errorf(`NewAny("Order"): %v, want ErrPrefix`, err)
	}
	defer func() {
		if recover() == nil {
			t.Error(`MustParse("user") did not panic`)
		}
	}()
	MustParse[UserID]("user")
}

func TestRefusesValuesOutOfRange(t *testing.T) {
	id := From[OrderID](scru64.Max() + 1)
	if s := id.String(); !strings.HasPrefix(s, "invalid") {
		t.Errorf("String: %q, want a text that begins with invalid", s)
	}
	for name, f := range map[string]func() error{
		"MarshalText":     func() error { _, err := id.MarshalText(); return err },
		"Value":           func() error { _, err := id.Value(); return err },
		"Text.Value":      func() error { _, err := id.Text().Value(); return err },
		"MarshalBinary":   func() error { _, err := id.MarshalBinary(); return err },
		"Any.MarshalText": func() error { _, err := id.Any().MarshalText(); return err },
	} {
		if err := f(); !errors.Is(err, sortid.ErrRange) {
			t.Errorf("%s of an ID above the maximum: %v, want ErrRange", name, err)
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

func TestBadPrefixPanics(t *testing.T) {
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
					t.Errorf("%s with the prefix %q: panic %v, want ErrPrefix", name, id{}.Prefix(),
						err)
				}
			}()
			f()
		}()
	}
}

func TestPointerMayHaveThePrefix(t *testing.T) {
	const want = "pointer_" + inner64
	if got := From[ID[*byPointer, scru64.ID]](anOrder.Inner()).String(); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
