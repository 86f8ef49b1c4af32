package verify

import (
	"bytes"
	"context"
	"testing"

	"github.com/sortid/sortid/scru128"
)

func streamSCRU128(t testing.TB, n int) []byte {
	g, err := scru128.NewGenerator()
	if err != nil {
		t.Fatal(err)
	}
	var out []byte
	for id, err := range g.All() {
		if err != nil {
			t.Fatal(err)
		}
		out, _ = id.AppendText(out)
		out = append(out, '\n')
		if n--; n == 0 {
			break
		}
	}
	return out
}

func BenchmarkCheck(b *testing.B) {
	const n = 2_000_000
	text := streamSCRU128(b, n)
	for b.Loop() {
		r, err := Check(context.Background(), "scru128", bytes.NewReader(text), Options{})
		if err != nil || r.Status != Pass {
			b.Fatal(err, r.Failed())
		}
	}
	b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds()/1e6, "MID/s")
}
