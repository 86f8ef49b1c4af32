package bsonvalue_test

import (
	"encoding/hex"
	"testing"

	"github.com/sortid/sortid/internal/bsonvalue"
	"github.com/sortid/sortid/scru128"
	"github.com/sortid/sortid/scru64"
	"github.com/sortid/sortid/typed"
)

type user struct{}

func (user) Prefix() string { return "user" }

type userID = typed.ID[user, scru128.ID]

// The tests in examples use MongoDB's driver. The bytes here follow from the specification of BSON.
func TestValues(t *testing.T) {
	id := scru128.MustParse("0372ijojuxuhjsfkeryi2mrtm")
	for _, c := range []struct {
		value interface {
			MarshalBSONValue() (byte, []byte, error)
		}
		typ  byte
		data string
	}{
		{id, 5, "1000000000" + "017fef39c2641ba56a9483188841e05a"},
		{typed.From[userID](id), 5, "1000000000" + "017fef39c2641ba56a9483188841e05a"},
		{scru64.ID(0x0102030405060708), 18, "0807060504030201"},
		{typed.From[userID](id).Text(), 2,
			"1f000000" + hex.EncodeToString([]byte("user_0372ijojuxuhjsfkeryi2mrtm")) + "00"},
	} {
		typ, data, err := c.value.MarshalBSONValue()
		if err != nil || typ != c.typ || hex.EncodeToString(data) != c.data {
			t.Errorf("%v: type %d, %x, %v", c.value, typ, data, err)
		}
	}
	if typ, _, err := scru64.ID(1 << 63).MarshalBSONValue(); err == nil {
		t.Errorf("an integer above the largest ID has the type %d", typ)
	}
}

func FuzzScan(f *testing.F) {
	f.Add(byte(5), []byte{1, 0, 0, 0, 0, 7})
	f.Add(byte(2), []byte{2, 0, 0, 0, 'a', 0})
	f.Fuzz(func(t *testing.T, typ byte, data []byte) {
		calls := 0
		err := bsonvalue.Scan(typ, data, func(any) error { calls++; return nil })
		if (err == nil) != (calls == 1) {
			t.Errorf("%#x %x: %d calls, %v", typ, data, calls, err)
		}
	})
}
