package textcodec

import (
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
)

// Base36Sequence agrees with UnmarshalBase36Long, also for texts with the same first digits.
func TestBase36Sequence(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var s Base36Sequence
	try := func(text string) {
		t.Helper()
		wantHi, wantLo, err := unmarshalLong(t, []byte(text))
		want := err == nil && text == strings.ToLower(text)
		hi, lo, ok := s.Decode((*[Base36LongLen]byte)([]byte(text)))
		if ok != want || ok && (hi != wantHi || lo != wantLo) {
			t.Fatalf("%q: %#x, %#x, %v; want %#x, %#x, %v", text, hi, lo, ok, wantHi, wantLo, want)
		}
	}
	// The first digits are as in a zero value.
	try(strings.Repeat("\x00", headLen) + strings.Repeat("0", Base36ShortLen))
	hi, lo := r.Uint64(), r.Uint64()
	for range 200_000 {
		switch r.IntN(8) {
		case 0:
			hi += uint64(r.IntN(3)) - 1
		case 1:
			hi, lo = r.Uint64()>>r.IntN(64), r.Uint64()
		default:
			lo += r.Uint64() >> r.IntN(64)
		}
		digits := string(appendLong(nil, hi, lo))
		try(digits)
		b := []byte(digits)
		switch i := r.IntN(len(b)); r.IntN(4) {
		case 0:
			b[i] = byte(r.UintN(256))
		case 1:
			b[i] = strings.ToUpper(digits)[i]
		case 2:
			b = []byte(mixed(r, digits))
		}
		try(string(b))
	}
	// Try the largest integer, and larger integers with the same first digits.
	edges(130, func(n *big.Int) {
		if digits := text36(n, Base36LongLen); len(digits) == Base36LongLen {
			try(digits)
		}
	})
	try("f5lxx1zz5pnorynqglhzmsp33")
	try("f5lxx1zz5pnorynqglhzmsp34")
	try("f5lxx1zz5pnorzzzzzzzzzzzz")
}

func BenchmarkBase36Sequence(b *testing.B) {
	for _, c := range []struct {
		name string
		step uint64
	}{{"alike", 1 << 32}, {"unlike", 1 << 63}} {
		b.Run(c.name, func(b *testing.B) {
			texts := make([][Base36LongLen]byte, 256)
			hi, lo := uint64(0x019ab1c2d3e4f567), uint64(0)
			for i := range texts {
				appendLong(texts[i][:0], hi, lo+uint64(i)*0x9e3779b9&0xffffffff)
				if lo += c.step; lo == 0 {
					hi += 1 << 16
				}
			}
			var s Base36Sequence
			for b.Loop() {
				for i := range texts {
					if _, _, ok := s.Decode(&texts[i]); !ok {
						b.Fatal(string(texts[i][:]))
					}
				}
			}
			b.ReportMetric(float64(b.Elapsed())/float64(b.N)/float64(len(texts)), "ns/line")
		})
	}
}
