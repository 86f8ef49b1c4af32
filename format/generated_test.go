package format_test

import (
	"slices"
	"testing"
	"time"

	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/generate"
	"github.com/sortid/sortid/internal/gencore"
)

// newGenerator returns a generator of IDs of the time.
func newGenerator(f *format.Format, at time.Time) generate.Generator {
	o := generate.Options{At: at}
	if node, ok := generate.NodeOption(f); ok && node.Needed {
		o.Values = map[string]string{node.Name: "42/8"}
	}
	return gencore.Must(generate.New(f, o))
}

func TestDetectGenerated(t *testing.T) {
	for _, s := range format.Ours() {
		for years := range 8 {
			at := time.Now().AddDate(-years, 0, -1)
			if from, _ := s.PlausibleRange(at); at.Before(from) {
				continue
			}
			g := newGenerator(s, at)
			for range 100 {
				id := gencore.Must(g.Next(t.Context()))
				for _, f := range s.Encodings() {
					text := id.In(f)
					found := slices.DeleteFunc(format.AppendDetect(nil, text, time.Now()),
						func(c format.Candidate) bool { return !c.ID.Format().Generates() })
					at := slices.IndexFunc(found,
						func(c format.Candidate) bool { return c.ID == id && c.Encoding == f })
					// A number may be an ID of several 64-bit formats.
					if at < 0 || at > 0 && (s.Size() != 8 || f == format.Text) {
						t.Fatalf("%s of %d years ago as %s: %s is taken for %v", s.Name(), years, f,
							text, found)
					}
					for i, c := range found {
						if slices.Contains(found[:i], c) {
							t.Errorf("%s is taken twice for %v", text, c)
						}
					}
				}
			}
		}
	}
}

// Generated IDs are in the bounds of their time.
func TestBoundsGenerated(t *testing.T) {
	from := time.Date(2026, 11, 17, 10, 30, 0, 123_456_789, time.UTC)
	to := from.Add(36 * time.Hour)
	for _, s := range format.Ours() {
		first, end, err := s.Bounds(from, to)
		if err != nil {
			t.Fatalf("%s: %v", s.Name(), err)
		}
		for at, want := range map[time.Time]bool{from: true, to.Add(-s.Tick()): true, to: false} {
			id := gencore.Must(newGenerator(s, at).Next(t.Context()))
			if in := id.Compare(first) >= 0 && id.Compare(end) < 0; in != want {
				t.Errorf("%s: %v of %v is in [%v, %v): %v", s.Name(), id, at, first, end, in)
			}
		}
	}
}
