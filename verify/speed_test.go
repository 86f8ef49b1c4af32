package verify

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"testing"
	"time"

	"github.com/sortid/sortid/scru128"
	"github.com/sortid/sortid/verify/internal/model"
	"github.com/sortid/sortid/verify/report"
)

// streamSCRU128 returns n IDs of a clock that moves on by a millisecond after each so
// many.
func streamSCRU128(t testing.TB, n, each int) []byte {
	start, i := model.Now, 0
	var o scru128.Options
	o.Clock = func() time.Time {
		i++
		return start.Add(time.Duration(i/each) * time.Millisecond)
	}
	g, err := scru128.NewGenerator(o)
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
		text := model.Stream(n, each)
		b.Run(fmt.Sprint(each), func(b *testing.B) {
			for b.Loop() {
				r, err := Check(b.Context(), "scru128", bytes.NewReader(text), Options{})
				if err != nil || r.Status != report.Pass {
					b.Fatal(err, r.Failed())
				}
			}
			perSecond(b, n)
		})
	}
}

// BenchmarkRead is the part of it that any program has that reads a pipe.
func BenchmarkRead(b *testing.B) {
	const n = 2_000_000
	text := model.Stream(n, 10)
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
