package bench

import (
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

// BenchmarkParts shows how fast a program makes an ID without this project's packages clock and
// entropy, which have the same benchmark. See docs/benchmarks.md.
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
