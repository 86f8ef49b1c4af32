package bench

import (
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/sortid/sortid/internal/clock"
	"github.com/sortid/sortid/internal/entropy"
)

var (
	sTime  time.Time
	sSpan  time.Duration
	sWord  uint64
	sMilli int64
	sHalf  uint32
)

// What an ID is made of, and what a program would use without the means of this
// project: see docs/performance.md.
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
	b.Run("lib=counter", func(b *testing.B) {
		for b.Loop() {
			sWord = clock.Counter()
		}
	})
	b.Run("lib=clock", func(b *testing.B) {
		c := clock.System()
		for b.Loop() {
			sMilli = c.Milli(clock.Counter())
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
	b.Run("lib=entropy-32-bits", func(b *testing.B) {
		r := entropy.System()
		for b.Loop() {
			sHalf, sErr = r.Uint32()
		}
	})
}
