package generate

import (
	"context"
	"testing"

	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/internal/check"
)

func BenchmarkAppend(b *testing.B) {
	for _, s := range format.Ours() {
		for _, f := range s.Encodings() {
			b.Run(s.Name()+"/"+string(f), func(b *testing.B) {
				batch := newGenerator(s, Options{}).NewBatch()
				const n = 512
				buf := make([]byte, 0, n*64)
				for b.Loop() {
					check.OK(b, batch.Fill(context.Background(), n))
					batch.Append(buf, f, '\n')
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/ID")
			})
		}
	}
}
