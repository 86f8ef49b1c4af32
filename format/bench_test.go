package format

import (
	"context"
	"encoding/json"
	"maps"
	"testing"
	"time"

	"github.com/sortid/sortid/internal/gencore"
	"github.com/sortid/sortid/internal/words"
)

func BenchmarkAppend(b *testing.B) {
	for _, s := range ours {
		for _, f := range s.Encodings {
			b.Run(s.Name+"/"+string(f), func(b *testing.B) {
				batch := newGenerator(s, Options{}).NewBatch()
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

func BenchmarkJSON(b *testing.B) {
	for _, s := range ours {
		id := next(newGenerator(s, Options{At: time.Now()}))
		buf := make([]byte, 0, 4096)
		b.Run(s.Name+"/AppendJSON", func(b *testing.B) {
			for b.Loop() {
				buf = id.AppendJSON(buf[:0])
			}
		})
		b.Run(s.Name+"/encoding", func(b *testing.B) {
			for b.Loop() {
				if _, err := json.Marshal(described(id)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func described(id ID) any {
	fields := map[string]string{}
	for _, f := range id.Fields() {
		fields[f.Name] = f.String()
	}
	v := struct {
		Format string            `json:"format"`
		Text   string            `json:"text"`
		Hex    string            `json:"hex"`
		Int    string            `json:"int"`
		UUID   string            `json:"uuid,omitempty"`
		Time   string            `json:"time"`
		Fields map[string]string `json:"fields"`
		Notes  []string          `json:"notes,omitempty"`
	}{id.format.Name, id.In(Text), id.In(Hex), id.In(Int), "", words.Time(id.Time()), fields,
		id.Notes()}
	if id.format.HasEncoding(UUID) {
		v.UUID = id.In(UUID)
	}
	return v
}

func newGenerator(s *Format, o Options) Generator {
	if s == SCRU64 && o.Values["node"] == "" && o.Lease == nil {
		o.Values = maps.Clone(o.Values)
		if o.Values == nil {
			o.Values = map[string]string{}
		}
		o.Values["node"] = "42/8"
	}
	return gencore.Must(s.NewGenerator(o))
}

func next(g Generator) ID { return gencore.Must(g.Next(context.Background())) }
