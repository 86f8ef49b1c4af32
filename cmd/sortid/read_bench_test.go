package main

import (
	"bytes"
	"io"
	"strings"
	"testing"
)

// BenchmarkLines reads lines as convert and inspect do.
func BenchmarkLines(b *testing.B) {
	var ids bytes.Buffer
	start(nil, &ids, "new", "scru128", "-n", "10000")
	for _, args := range []string{"convert --to hex", "inspect -o json"} {
		b.Run(args, func(b *testing.B) {
			for b.Loop() {
				if code, stderr := start(bytes.NewReader(ids.Bytes()), io.Discard,
					strings.Fields(args)...); code != 0 {
					b.Fatal(stderr)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/10_000, "ns/line")
		})
	}
}
