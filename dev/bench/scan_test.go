package bench

import (
	"database/sql"
	"encoding/json"
	"testing"

	googleuuid "github.com/google/uuid"

	"github.com/sortid/sortid/euid"
	"github.com/sortid/sortid/scru128"
	"github.com/sortid/sortid/scru160"
	"github.com/sortid/sortid/scru64"
	"github.com/sortid/sortid/typed"
	"github.com/sortid/sortid/uid60"
)

// A column is an ID that is read from a database or from JSON.
type column interface {
	sql.Scanner
	UnmarshalText([]byte) error
}

// BenchmarkScan reads what drivers return: bytes, texts, texts as bytes and integers.
func BenchmarkScan(b *testing.B) {
	id128, id160, idEUID, id64 := scru128.New(), scru160.New(), euid.New(), must(gen64.Generate())
	google := googleuuid.New()
	for _, c := range []struct {
		lib   string
		to    column
		text  string
		bytes []byte
		value any // another value, or nil
	}{
		{"google-uuid", new(googleuuid.UUID), google.String(), google[:], nil},
		{"scru64", new(scru64.ID), id64.String(), must(id64.MarshalBinary()), int64(id64)},
		{"scru128", new(scru128.ID), id128.String(), id128[:], nil},
		{"scru160", new(scru160.ID), id160.String(), id160[:], nil},
		{"euid", new(euid.ID), idEUID.String(), idEUID[:], nil},
		{"uid60", new(uid60.ID), uid60.ID(123456789012345678).String(), nil, int64(123456789012345678)},
		{"scru64-typed", new(shortID), id64.String(), must(id64.MarshalBinary()), int64(id64)},
		{"scru128-typed", new(userID), id128.String(), id128[:], nil},
		{"scru128-typed-text", new(typed.Text[user, scru128.ID]), typed.From[userID](id128).String(), nil, nil},
	} {
		scan := func(name string, src any) {
			b.Run("lib="+c.lib+"/from="+name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if err := c.to.Scan(src); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
		scan("text", c.text)
		scan("text-bytes", []byte(c.text))
		if c.bytes != nil {
			scan("bytes", c.bytes)
		}
		if c.value != nil {
			scan("integer", c.value)
		}
		quoted := []byte(`"` + c.text + `"`)
		b.Run("lib="+c.lib+"/from=json", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := json.Unmarshal(quoted, c.to); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
