package format

import (
	"encoding/json"
	"testing"

	"github.com/sortid/sortid/internal/gencore"
	"github.com/sortid/sortid/internal/spec"
	"github.com/sortid/sortid/internal/words"
)

func BenchmarkJSON(b *testing.B) {
	for _, s := range ours() {
		id := gencore.Must(s.Parse(s.Example()))
		buf := make([]byte, 0, 4096)
		b.Run(s.Name()+"/AppendJSON", func(b *testing.B) {
			for b.Loop() {
				buf = id.AppendJSON(buf[:0])
			}
		})
		b.Run(s.Name()+"/encoding", func(b *testing.B) {
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
	}{id.spec.Name, id.In(Text), id.In(Hex), id.In(Int), "", words.Time(id.Time()), fields,
		id.Notes()}
	if id.spec.HasEncoding(spec.UUID) {
		v.UUID = id.In(UUID)
	}
	return v
}
