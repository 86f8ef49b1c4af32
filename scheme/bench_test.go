package scheme

import (
	"context"
	"testing"
	"time"
)

func BenchmarkAppend(b *testing.B) {
	for _, s := range all {
		for _, f := range s.Forms {
			b.Run(s.Name+"/"+string(f), func(b *testing.B) {
				batch := newGenerator(b, s, Options{}).NewBatch()
				const n = 512
				buf := make([]byte, 0, n*64)
				for b.Loop() {
					if err := batch.Fill(context.Background(), n); err != nil {
						b.Fatal(err)
					}
					batch.Append(buf, f, '\n')
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/ID")
			})
		}
	}
}

func BenchmarkInspectJSON(b *testing.B) {
	for _, s := range all {
		b.Run(s.Name, func(b *testing.B) {
			text := next(b, newGenerator(b, s, Options{At: time.Now()})).String()
			var r Reading
			buf := make([]byte, 0, 4096)
			for b.Loop() {
				if err := r.Inspect(nil, text); err != nil {
					b.Fatal(err)
				}
				buf = r.AppendJSON(buf[:0])
			}
		})
	}
}

func newGenerator(t testing.TB, s *Scheme, o Options) Generator {
	t.Helper()
	if s == SCRU64 && o.Values["node"] == "" && o.Lease == nil {
		values := map[string]string{"node": "42/8"}
		for k, v := range o.Values {
			values[k] = v
		}
		o.Values = values
	}
	g, err := s.NewGenerator(o)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func next(t testing.TB, g Generator) ID {
	t.Helper()
	id, err := g.Next(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return id
}
