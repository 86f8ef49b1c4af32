package bench

import (
	"database/sql"
	"encoding"
	"encoding/binary"
	"encoding/json"
	"strings"
	"testing"

	google "github.com/google/uuid"
	"github.com/rs/xid"

	"github.com/sortid/sortid/euid"
	"github.com/sortid/sortid/scru128"
	"github.com/sortid/sortid/scru160"
	"github.com/sortid/sortid/typed"
)

// A stored is an ID that programs read from databases and JSON. Programs call its methods through
// interfaces, and so do the benchmarks.
type stored interface {
	sql.Scanner
	encoding.TextMarshaler
	encoding.TextUnmarshaler
}

var readers = []struct {
	lib string
	id  stored
}{
	{"scru64", pointer(generate64())},
	{"scru64-typed", pointer(typed.From[shortID](generate64()))},
	{"scru128", pointer(scru128.New())},
	{"scru128-typed", pointer(typed.From[userID](scru128.New()))},
	{"scru160", pointer(scru160.New())},
	{"scru160-typed", pointer(typed.From[longID](scru160.New()))},
	{"euid", pointer(euid.New())},
	{"euid-typed", pointer(typed.From[checkedID](euid.New()))},
	{"uid60", pointer(must(gen60.Generate()))},
	{"uid60-typed", pointer(typed.From[oldID](must(gen60.Generate())))},
	{"google-uuid-v7", pointer(must(google.NewV7()))},
}

func pointer[T any](v T) *T { return &v }

// BenchmarkSQL reads the shortest value that a column has: an integer, or the ID's bytes.
func BenchmarkSQL(b *testing.B) {
	scanRows(b, func(id stored) any {
		raw := must(id.(encoding.BinaryMarshaler).MarshalBinary())
		if len(raw) == 8 {
			return int64(binary.BigEndian.Uint64(raw))
		}
		return raw
	})
}

// BenchmarkSQLText reads the text, without a prefix.
func BenchmarkSQLText(b *testing.B) {
	scanRows(b, func(id stored) any { return strings.TrimPrefix(textOf(id), "user_") })
}

// BenchmarkSQLUUID reads UUIDs as texts, which some drivers return for a column of type uuid.
func BenchmarkSQLUUID(b *testing.B) {
	scanRows(b, func(id stored) any {
		raw := must(id.(encoding.BinaryMarshaler).MarshalBinary())
		if len(raw) != len(google.UUID{}) {
			return nil
		}
		return []byte(google.UUID(raw).String())
	})
}

func scanRows(b *testing.B, column func(stored) any) {
	for _, r := range readers {
		src := column(r.id)
		if src == nil {
			continue
		}
		b.Run("lib="+r.lib, func(b *testing.B) {
			for b.Loop() {
				sErr = r.id.Scan(src)
			}
			noError(b)
		})
	}
}

func BenchmarkUnmarshalJSON(b *testing.B) {
	for _, r := range readers {
		text := must(json.Marshal(r.id))
		b.Run("lib="+r.lib, func(b *testing.B) {
			for b.Loop() {
				sErr = json.Unmarshal(text, r.id)
			}
			noError(b)
		})
	}
}

func BenchmarkUnmarshalText(b *testing.B) {
	for _, r := range readers {
		text := []byte(textOf(r.id))
		b.Run("lib="+r.lib, func(b *testing.B) {
			for b.Loop() {
				sErr = r.id.UnmarshalText(text)
			}
			noError(b)
		})
	}
}

// BenchmarkString is BenchmarkNewString without a new ID.
func BenchmarkString(b *testing.B) {
	id64, id128, id160, idE := generate64(), scru128.New(), scru160.New(), euid.New()
	id60, idXid := must(gen60.Generate()), xid.New()
	b.Run("lib=scru64", func(b *testing.B) {
		for b.Loop() {
			sStr = id64.String()
		}
	})
	b.Run("lib=scru128", func(b *testing.B) {
		for b.Loop() {
			sStr = id128.String()
		}
	})
	b.Run("lib=scru160", func(b *testing.B) {
		for b.Loop() {
			sStr = id160.String()
		}
	})
	b.Run("lib=euid", func(b *testing.B) {
		for b.Loop() {
			sStr = idE.String()
		}
	})
	b.Run("lib=uid60", func(b *testing.B) {
		for b.Loop() {
			sStr = id60.String()
		}
	})
	b.Run("lib=xid", func(b *testing.B) {
		for b.Loop() {
			sStr = idXid.String()
		}
	})
}

func textOf(id stored) string { return string(must(id.MarshalText())) }

func noError(b *testing.B) {
	if sErr != nil {
		b.Fatal(sErr)
	}
}
