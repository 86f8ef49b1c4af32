package verify

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/sortid/sortid/scru128"
)

// streamSCRU128 returns n IDs of a clock that moves on by a millisecond after each so
// many.
func streamSCRU128(t testing.TB, n, each int) []byte {
	start, i := modelNow, 0
	g, err := scru128.NewGenerator(scru128.WithClock(func() time.Time {
		i++
		return start.Add(time.Duration(i/each) * time.Millisecond)
	}))
	if err != nil {
		t.Fatal(err)
	}
	out := make([]byte, 0, n*(scru128.TextLen+1))
	for range n {
		id, err := g.Generate()
		if err != nil {
			t.Fatal(err)
		}
		out, _ = id.AppendText(out)
		out = append(out, '\n')
	}
	return out
}

func perSecond(b *testing.B, n int) {
	b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds()/1e6, "MID/s")
}

// BenchmarkCheck is the speed of all checks of scru128, given IDs of few and of many
// milliseconds.
func BenchmarkCheck(b *testing.B) {
	const n = 2_000_000
	for _, each := range []int{10_000, 10, 1} {
		text := streamSCRU128(b, n, each)
		b.Run(fmt.Sprint(each), func(b *testing.B) {
			for b.Loop() {
				r, err := Check(b.Context(), "scru128", bytes.NewReader(text), Options{})
				if err != nil || r.Status != Pass {
					b.Fatal(err, r.Failed())
				}
			}
			perSecond(b, n)
		})
	}
}

// BenchmarkUnique is the speed over ten sorted files whose IDs are of the same time.
func BenchmarkUnique(b *testing.B) {
	const files, each = 10, 400_000
	dir := b.TempDir()
	var sources []Source
	for i := range files {
		name := filepath.Join(dir, fmt.Sprint(i))
		if err := os.WriteFile(name, streamSCRU128(b, each, 10), 0o600); err != nil {
			b.Fatal(err)
		}
		sources = append(sources, FileSource(name))
	}
	for b.Loop() {
		r, err := Unique(b.Context(), "scru128", sources, UniqueOptions{})
		if err != nil || r.Status != Pass {
			b.Fatal(err)
		}
	}
	perSecond(b, files*each)
}

// BenchmarkRead is the part of it that any program has that reads a pipe.
func BenchmarkRead(b *testing.B) {
	const n = 2_000_000
	text := streamSCRU128(b, n, 10)
	for b.Loop() {
		r, w, err := os.Pipe()
		if err != nil {
			b.Fatal(err)
		}
		go func() {
			w.Write(text)
			w.Close()
		}()
		if _, err := io.Copy(io.Discard, r); err != nil {
			b.Fatal(err)
		}
		r.Close()
	}
	perSecond(b, n)
}

// BenchmarkField is the price of a value in the tests of randomness.
func BenchmarkField(b *testing.B) {
	for _, width := range []int{9, 24, 32, 40} {
		b.Run(fmt.Sprint(width), func(b *testing.B) {
			r := rand.New(rand.NewPCG(1, 2))
			values := make([]uint64, 1<<12)
			for i := range values {
				values[i] = r.Uint64() >> (64 - width)
			}
			f := newField("x", width)
			n := 0
			for b.Loop() {
				for _, v := range values {
					f.add(v)
				}
				n += len(values)
				// Not the same values again, which repeats would tell.
				for i := range values {
					values[i] = (values[i]*5 + 1) & (1<<width - 1)
				}
			}
			b.ReportMetric(float64(b.Elapsed())/float64(n), "ns/value")
		})
	}
}
