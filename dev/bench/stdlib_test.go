//go:build go1.27

package bench

import (
	"testing"
	"uuid"
)

var sUUID uuid.UUID

func init() {
	later("New", "stdlib-uuid-v4", func(b *testing.B) {
		for b.Loop() {
			sUUID = uuid.NewV4()
		}
	})
	later("New", "stdlib-uuid-v7", func(b *testing.B) {
		for b.Loop() {
			sUUID = uuid.NewV7()
		}
	})
	later("NewString", "stdlib-uuid-v7", func(b *testing.B) {
		for b.Loop() {
			sStr = uuid.NewV7().String()
		}
	})
	later("Append", "stdlib-uuid-v7", func(b *testing.B) {
		id := uuid.NewV7()
		buf := make([]byte, 0, 64)
		for b.Loop() {
			buf, _ = id.AppendText(buf[:0])
		}
	})
	later("Parse", "stdlib-uuid-v7", func(b *testing.B) {
		s := uuid.NewV7().String()
		for b.Loop() {
			sUUID, sErr = uuid.Parse(s)
		}
	})
	sharing["stdlib-uuid-v7"] = func() { uuid.NewV7() }
}
