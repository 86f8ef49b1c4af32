package bench

import (
	"encoding/binary"
	"math/rand/v2"
	"sync"
	"testing"
	"time"
)

var (
	sTime time.Time
	sSpan time.Duration
	sWord uint64
)

// A sixteen is an array like an ID or a UUID. Its function set is what remains of a parser that
// parses nothing: Go returns arrays in memory.
type sixteen [16]byte

var sSixteen sixteen

//go:noinline
func (a *sixteen) set(s string) error {
	binary.BigEndian.PutUint64(a[:8], uint64(len(s)))
	binary.BigEndian.PutUint64(a[8:], uint64(len(s)))
	return nil
}

func parseNothing(s string) (a sixteen, err error) {
	err = a.set(s)
	return a, err
}

// BenchmarkParts measures the steps of making an ID with the standard library. The packages clock
// and gencore have a benchmark with the same name, and one table shows all steps.
func BenchmarkParts(b *testing.B) {
	b.Run("lib=time.Now", func(b *testing.B) {
		for b.Loop() {
			sTime = time.Now()
		}
	})
	b.Run("lib=time.Since", func(b *testing.B) {
		start := time.Now()
		for b.Loop() {
			sSpan = time.Since(start)
		}
	})
	b.Run("lib=mutex", func(b *testing.B) {
		var mu sync.Mutex
		for b.Loop() {
			mu.Lock()
			sWord++
			mu.Unlock()
		}
	})
	b.Run("lib=ChaCha8-64-bits", func(b *testing.B) {
		r := rand.NewChaCha8([32]byte{1})
		for b.Loop() {
			sWord = r.Uint64()
		}
	})
}
