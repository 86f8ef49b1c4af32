package textcodec

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"testing"
)

// AppendBase36Lines agrees with AppendBase36Long, also for integers close to each other.
func TestAppendBase36Lines(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		integers := make([][16]byte, r.IntN(50))
		var want []byte
		hi, lo := r.Uint64()>>r.IntN(64), r.Uint64()
		for i := range integers {
			switch r.IntN(4) {
			case 0:
				hi += uint64(r.IntN(3)) - 1
			case 1:
				hi, lo = r.Uint64(), r.Uint64()
			default:
				lo += r.Uint64() >> r.IntN(64)
			}
			binary.BigEndian.PutUint64(integers[i][:8], hi)
			binary.BigEndian.PutUint64(integers[i][8:], lo)
			want = append(appendLong(want, hi, lo), '\n')
		}
		if got := AppendBase36Lines([]byte("x"), integers, '\n'); string(got) != "x"+string(want) {
			t.Fatalf("%x:\n%swant\n%s", integers, got, want)
		}
	}
	last := [16]byte(bytes.Repeat([]byte{0xff}, 16))
	got := string(AppendBase36Lines(nil, [][16]byte{{}, last, {15: 1}, last}, ' '))
	if want := "0000000000000000000000000 f5lxx1zz5pnorynqglhzmsp33 " +
		"0000000000000000000000001 f5lxx1zz5pnorynqglhzmsp33 "; got != want {
		t.Fatalf("%q, want %q", got, want)
	}
}

func BenchmarkAppendBase36Lines(b *testing.B) {
	integers := make([][16]byte, 256)
	for i := range integers {
		binary.BigEndian.PutUint64(integers[i][:8], 0x019ab1c2d3e4f567)
		binary.BigEndian.PutUint64(integers[i][8:], uint64(i)<<32|uint64(i)*0x9e3779b9&0xffffffff)
	}
	buf := make([]byte, 0, 26*len(integers))
	for b.Loop() {
		buf = AppendBase36Lines(buf[:0], integers, '\n')
	}
	b.ReportMetric(float64(b.Elapsed())/float64(b.N)/float64(len(integers)), "ns/line")
}
