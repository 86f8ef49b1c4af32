package base36

import (
	"encoding/binary"
	"testing"
)

var D [25]byte
var X uint64 = 0x019ab1c2d3e4f567

func BenchmarkE128(b *testing.B) {
	for i := 0; i < b.N; i++ {
		Encode128(&D, X, uint64(i)*0x123456789abcdef)
	}
}
func BenchmarkE62(b *testing.B) {
	var d [12]byte
	for i := 0; i < b.N; i++ {
		Encode62(&d, X+uint64(i))
	}
}
func BenchmarkPut6(b *testing.B) {
	var d [6]byte
	for i := 0; i < b.N; i++ {
		put6(&d, uint64(i))
	}
}
func BenchmarkD128(b *testing.B) {
	Encode128(&D, X, 77<<50)
	for i := 0; i < b.N; i++ {
		Decode128(&D)
	}
}
func BenchmarkD62(b *testing.B) {
	var d [12]byte
	Encode62(&d, 0x123456789abcdef)
	for i := 0; i < b.N; i++ {
		Decode62(&d)
	}
}
func BenchmarkGet8(b *testing.B) {
	var s uint64
	for i := 0; i < b.N; i++ {
		v, bad := get8(0x3031323334353637)
		s += v + bad
	}
	binary.LittleEndian.PutUint64(D[:], s)
}
