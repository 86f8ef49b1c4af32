package bench

import (
	"testing"

	"go.jetify.com/typeid"

	"github.com/sortid/sortid/euid"
	"github.com/sortid/sortid/scru128"
	"github.com/sortid/sortid/scru160"
	"github.com/sortid/sortid/scru64"
	"github.com/sortid/sortid/typed"
	"github.com/sortid/sortid/uid60"
)

// user has the prefix of typed IDs, in this project and in TypeID.
type user struct{}

func (user) Prefix() string { return "user" }

type (
	userID    = typed.ID[user, scru128.ID]
	shortID   = typed.ID[user, scru64.ID]
	longID    = typed.ID[user, scru160.ID]
	checkedID = typed.ID[user, euid.ID]
	oldID     = typed.ID[user, uid60.ID]
	typeID    = typeid.TypeID[user]
)

var (
	sUser    userID
	sShort   shortID
	sLong    longID
	sChecked checkedID
	sOld     oldID
	sAny     typed.Any[scru128.ID]
	sType    typeID
)

func BenchmarkTypedNew(b *testing.B) {
	b.Run("lib=scru128", func(b *testing.B) {
		for b.Loop() {
			s128 = scru128.New()
		}
	})
	b.Run("lib=scru128-typed", func(b *testing.B) {
		for b.Loop() {
			sUser = typed.New[userID]()
		}
	})
	b.Run("lib=typeid", func(b *testing.B) {
		for b.Loop() {
			sType, sErr = typeid.New[typeID]()
		}
	})
}

func BenchmarkTypedString(b *testing.B) {
	id, short := scru128.New(), generate64()
	typedID, typedShort := typed.From[userID](id), typed.From[shortID](short)
	other := must(typeid.New[typeID]())
	b.Run("lib=scru128", func(b *testing.B) {
		for b.Loop() {
			sStr = id.String()
		}
	})
	b.Run("lib=scru128-typed", func(b *testing.B) {
		for b.Loop() {
			sStr = typedID.String()
		}
	})
	b.Run("lib=scru64", func(b *testing.B) {
		for b.Loop() {
			sStr = short.String()
		}
	})
	b.Run("lib=scru64-typed", func(b *testing.B) {
		for b.Loop() {
			sStr = typedShort.String()
		}
	})
	b.Run("lib=typeid", func(b *testing.B) {
		for b.Loop() {
			sStr = other.String()
		}
	})
}

func BenchmarkTypedAppend(b *testing.B) {
	id, short := scru128.New(), generate64()
	typedID, typedShort := typed.From[userID](id), typed.From[shortID](short)
	buf := make([]byte, 0, 64)
	b.Run("lib=scru128", func(b *testing.B) {
		for b.Loop() {
			buf, _ = id.AppendText(buf[:0])
		}
	})
	b.Run("lib=scru128-typed", func(b *testing.B) {
		for b.Loop() {
			buf, _ = typedID.AppendText(buf[:0])
		}
	})
	b.Run("lib=scru128-any", func(b *testing.B) {
		id := typedID.Any()
		for b.Loop() {
			buf, _ = id.AppendText(buf[:0])
		}
	})
	b.Run("lib=scru64", func(b *testing.B) {
		for b.Loop() {
			buf, _ = short.AppendText(buf[:0])
		}
	})
	b.Run("lib=scru64-typed", func(b *testing.B) {
		for b.Loop() {
			buf, _ = typedShort.AppendText(buf[:0])
		}
	})
}

func BenchmarkTypedParse(b *testing.B) {
	id, short := scru128.New(), generate64()
	s, t := id.String(), short.String()
	other := must(typeid.New[typeID]()).String()
	b.Run("lib=scru128", func(b *testing.B) {
		for b.Loop() {
			s128, sErr = scru128.Parse(s)
		}
	})
	b.Run("lib=scru128-typed", func(b *testing.B) {
		s := "user_" + s
		for b.Loop() {
			sUser, sErr = typed.Parse[userID](s)
		}
	})
	b.Run("lib=scru128-any", func(b *testing.B) {
		s := "user_" + s
		for b.Loop() {
			sAny, sErr = typed.ParseAny[scru128.ID](s)
		}
	})
	b.Run("lib=scru64", func(b *testing.B) {
		for b.Loop() {
			s64, sErr = scru64.Parse(t)
		}
	})
	b.Run("lib=scru64-typed", func(b *testing.B) {
		t := "user_" + t
		for b.Loop() {
			sShort, sErr = typed.Parse[shortID](t)
		}
	})
	b.Run("lib=scru160", func(b *testing.B) {
		s := scru160.New().String()
		for b.Loop() {
			s160, sErr = scru160.Parse(s)
		}
	})
	b.Run("lib=scru160-typed", func(b *testing.B) {
		s := "user_" + scru160.New().String()
		for b.Loop() {
			sLong, sErr = typed.Parse[longID](s)
		}
	})
	b.Run("lib=euid", func(b *testing.B) {
		s := euid.New().String()
		for b.Loop() {
			sE, sErr = euid.Parse(s)
		}
	})
	b.Run("lib=euid-typed", func(b *testing.B) {
		s := "user_" + euid.New().String()
		for b.Loop() {
			sChecked, sErr = typed.Parse[checkedID](s)
		}
	})
	b.Run("lib=uid60", func(b *testing.B) {
		s := must(gen60.Generate()).String()
		for b.Loop() {
			s60, sErr = uid60.Parse(s)
		}
	})
	b.Run("lib=uid60-typed", func(b *testing.B) {
		s := "user_" + must(gen60.Generate()).String()
		for b.Loop() {
			sOld, sErr = typed.Parse[oldID](s)
		}
	})
	b.Run("lib=typeid", func(b *testing.B) {
		for b.Loop() {
			sType, sErr = typeid.Parse[typeID](other)
		}
	})
}
