package bench

import (
	"bytes"
	"slices"
	"testing"

	"github.com/sortid/sortid/internal/check"
)

func TestResults(t *testing.T) {
	var lines bytes.Buffer
	lines.WriteString("=== RUN   Test\ngoos: linux\n")
	Write(&lines, "Requests", "net/http, empty", 20, "ids/s", 1.5, "ms/p50")
	lines.WriteString(
		"    x_test.go:1: something\nBenchmarkNew/lib=google-uuid-v7-2 \t 100\t 12.5 ns/op\t 16 B/op\n")
	Write(&lines, "Requests", "Redis", 10, "ids/s")
	Write(&lines, "Requests", "net/http, empty", 30, "ids/s", 2.5, "ms/p50")
	Write(&lines, "Requests", "net/http, empty", 25, "ids/s", 0.5, "ms/p50")
	for range 3 {
		lines.WriteString("BenchmarkNew/lib=google-uuid-v7-2 \t 100\t 11.5 ns/op\t 17 B/op\n" +
			"BenchmarkNew/lib=google-uuid-v7-2 \t 100\t 13.5 ns/op\t 15 B/op\n")
	}
	s := check.Must(Read(&lines))(t)
	if s.Config["goos"] != "linux" {
		t.Errorf("configuration %v", s.Config)
	}
	if got, want := s.Rows("Requests"), []string{"net/http, empty", "Redis"}; !slices.Equal(got,
		want) {
		t.Errorf("rows %q, want %q", got, want)
	}
	for _, test := range []struct {
		benchmark, row, unit string
		want                 float64
		spread               string
	}{
		{"Requests", "net/http, empty", "ids/s", 25, "∞"},
		{"Requests", "net/http, empty", "ms/p50", 1.5, "∞"},
		{"Requests", "Redis", "ids/s", 10, ""},
		{"New", "google-uuid-v7", "ns/op", 12.5, "8%"},
		{"New", "google-uuid-v7", "B/op", 16, "6%"},
	} {
		got, spread, ok := s.Get(test.benchmark, test.row, test.unit)
		if !ok || got != test.want || spread != test.spread {
			t.Errorf("%+v: got %v ± %s, %v", test, got, spread, ok)
		}
	}
	if _, _, ok := s.Get("Requests", "Redis", "ms/p50"); ok {
		t.Error("a value that no line has")
	}
}
