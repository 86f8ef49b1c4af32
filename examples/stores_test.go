package examples

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/fxamacker/cbor/v2"
	"github.com/vmihailenco/msgpack/v5"
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/sortid/sortid/euid"
	"github.com/sortid/sortid/internal/check"
	"github.com/sortid/sortid/scru128"
	"github.com/sortid/sortid/scru160"
	"github.com/sortid/sortid/scru64"
	"github.com/sortid/sortid/typed"
	"github.com/sortid/sortid/uid60"
)

type person struct{}

func (person) Prefix() string { return "person" }

// An encoder is a library that stores Go values. It returns what it stores for the field ID of a
// document: a kind with the size, and bytes to sort by. The function back reads the document.
type encoder func(document any) (kind string, key []byte, back func(any) error, err error)

func mongo(document any) (string, []byte, func(any) error, error) {
	b, err := bson.Marshal(document)
	if err != nil {
		return "", nil, nil, err
	}
	back := func(document any) error { return bson.Unmarshal(b, document) }
	v := bson.Raw(b).Lookup("id")
	if subtype, data, ok := v.BinaryOK(); ok {
		return fmt.Sprintf("binary %d of %d", subtype, len(data)), data, back, nil
	}
	if n, ok := v.Int64OK(); ok {
		return "int64", fmt.Appendf(nil, "%019d", n), back, nil
	}
	return v.Type.String(), []byte(v.StringValue()), back, nil
}

// dynamo returns DynamoDB's encoder, with or without the option that makes it call MarshalText.
func dynamo(marshalers bool) encoder {
	return func(document any) (string, []byte, func(any) error, error) {
		m, err := attributevalue.MarshalMapWithOptions(document,
			func(e *attributevalue.EncoderOptions) { e.UseEncodingMarshalers = marshalers })
		if err != nil {
			return "", nil, nil, err
		}
		back := func(document any) error {
			return attributevalue.UnmarshalMapWithOptions(m, document,
				func(d *attributevalue.DecoderOptions) { d.UseEncodingUnmarshalers = marshalers })
		}
		kind := strings.TrimPrefix(fmt.Sprintf("%T", m["ID"]), "*types.AttributeValueMember")
		var text string
		var data []byte
		var n int64
		switch kind {
		case "B":
			err = attributevalue.Unmarshal(m["ID"], &data)
		case "N":
			err = attributevalue.Unmarshal(m["ID"], &n)
			data = fmt.Appendf(nil, "%019d", n)
		case "S":
			err = attributevalue.Unmarshal(m["ID"], &text)
			data = []byte(text)
		}
		return kind, data, back, err
	}
}

func msgPack(document any) (string, []byte, func(any) error, error) {
	b, err := msgpack.Marshal(document)
	if err != nil {
		return "", nil, nil, err
	}
	var m map[string]any
	err = msgpack.Unmarshal(b, &m)
	key, _ := m["ID"].([]byte)
	back := func(document any) error { return msgpack.Unmarshal(b, document) }
	return fmt.Sprintf("bytes of %d", len(key)), key, back, err
}

func cborBytes(document any) (string, []byte, func(any) error, error) {
	b, err := cbor.Marshal(document)
	if err != nil {
		return "", nil, nil, err
	}
	var m map[string]any
	err = cbor.Unmarshal(b, &m)
	key, _ := m["ID"].([]byte)
	back := func(document any) error { return cbor.Unmarshal(b, document) }
	return fmt.Sprintf("bytes of %d", len(key)), key, back, err
}

// Each call of this test is a cell of the table "In other stores" of docs/databases.md.
func TestStores(t *testing.T) {
	at := []time.Time{time.UnixMilli(1_700_000_000_000), time.UnixMilli(1_700_000_001_000),
		time.UnixMilli(1_900_000_000_000)}
	for _, c := range []struct {
		name                            string
		encode                          encoder
		of128, of160, of64, typed, text string
	}{
		{"MongoDB", mongo, "binary 0 of 16", "binary 0 of 20", "int64", "binary 0 of 16", "string"},
		{"DynamoDB", dynamo(false), "B", "B", "N", "", ""},
		{"DynamoDB with UseEncodingMarshalers", dynamo(true), "S", "S", "S", "S", "S"},
		{"msgpack", msgPack, "bytes of 16", "bytes of 20", "bytes of 8", "bytes of 16", "bytes of 16"},
		{"CBOR", cborBytes, "bytes of 16", "bytes of 20", "bytes of 8", "bytes of 16", "bytes of 16"},
	} {
		stores(t, c.name, c.encode, c.of128, true, scru128.First, at)
		stores(t, c.name, c.encode, c.of128, true, euid.First, at)
		stores(t, c.name, c.encode, c.of160, true, scru160.First, at)
		stores(t, c.name, c.encode, c.of64, true, scru64.First, at)
		stores(t, c.name, c.encode, c.of64, c.of64 != "S", uid60.First, at) // texts of uid60 do not sort
		if c.typed == "" {
			continue // without the option, DynamoDB's encoder stores an empty map
		}
		type personID = typed.ID[person, scru128.ID]
		stores(t, c.name, c.encode, c.typed, true, typed.First[personID], at)
		stores(t, c.name, c.encode, c.text, true, func(at time.Time) typed.Text[person, scru128.ID] {
			return typed.First[personID](at).Text()
		}, at)
	}
}

// stores tests that IDs are stored as the kind, are read back, and sort by time.
func stores[T comparable](t *testing.T, name string, encode encoder, kind string, sorts bool,
	first func(time.Time) T, times []time.Time) {
	t.Helper()
	type document struct {
		ID   T
		Next *T
		None *T
	}
	var last []byte
	for i, at := range times {
		id, next := first(at), first(at.Add(time.Hour))
		got, key, decode, err := encode(document{ID: id, Next: &next})
		if err != nil || got != kind {
			t.Errorf("%s: a %T is stored as %s, %v; want %s", name, id, got, err, kind)
			return
		}
		var back document
		if err := decode(&back); err != nil || back.ID != id || back.Next == nil ||
			*back.Next != next || back.None != nil {
			t.Errorf("%s: %v is read as %v, %v", name, id, back, err)
		}
		if i > 0 && sorts && bytes.Compare(last, key) >= 0 {
			t.Errorf("%s: %v does not sort by time", name, id)
		}
		last = key
	}
}

// MongoDB's driver must not lose an ID without an error.
func TestStoresInvalid(t *testing.T) {
	type document struct {
		ID typed.ID[person, scru128.ID]
	}
	for _, value := range []any{nil, "person_03hb35jw5keg6k92vz5lhzbg4", "x", []byte("x"), 5, 1.5,
		true, bson.D{}} {
		b := check.Must(bson.Marshal(bson.D{{Key: "id", Value: value}}))(t)
		var d document
		if err := bson.Unmarshal(b, &d); err == nil || !d.ID.IsZero() {
			t.Errorf("%v is read as %v", value, d.ID)
		}
	}
	for _, value := range []any{int32(5), int64(5)} { // other programs may store a small integer
		b := check.Must(bson.Marshal(bson.D{{Key: "id", Value: value}}))(t)
		var d struct{ ID scru64.ID }
		if err := bson.Unmarshal(b, &d); err != nil || d.ID != 5 {
			t.Errorf("%v is read as %v, %v", value, d.ID, err)
		}
	}
	var id scru128.ID
	for _, data := range [][]byte{nil, {0}, {1, 0, 0, 0}, {255, 255, 255, 255, 0},
		append([]byte{16, 0, 0, 0, 0}, make([]byte, 15)...)} {
		for typ := range 256 {
			if err := id.UnmarshalBSONValue(byte(typ), data); err == nil {
				t.Errorf("%#x %x is read as %v", typ, data, id)
			}
		}
	}
}
