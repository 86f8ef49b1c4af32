package verify

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"testing"

	"github.com/sortid/sortid/verify/internal/model"
	"github.com/sortid/sortid/verify/report"
)

func perSecond(b *testing.B, n int) {
	b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds()/1e6, "MID/s")
}

// BenchmarkCheck is the speed of all scru128 checks, for few and for many milliseconds.
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
