package verify

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/sortid/sortid/verify/internal/controls"
	"github.com/sortid/sortid/verify/report"
)

// BenchmarkCheck measures all checks of scru128, with many or few IDs in a millisecond.
func BenchmarkCheck(b *testing.B) {
	const n = 2_000_000
	for _, each := range []int{10_000, 10, 1} {
		text := controls.Stream(n, each)
		b.Run(fmt.Sprint(each), func(b *testing.B) {
			for b.Loop() {
				r, err := Check(b.Context(), "scru128", bytes.NewReader(text), Options{})
				if err != nil || r.Status != report.Pass {
					b.Fatal(err, r.Failed())
				}
			}
			b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds()/1e6, "MID/s")
		})
	}
}
