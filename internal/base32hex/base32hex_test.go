package base32hex

import (
	"encoding/base32"
	"math/rand/v2"
	"strings"
	"testing"
)

func source(r *rand.Rand) (b [Size]byte) {
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

func TestRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 100_000 {
		src := source(r)
		switch i {
		case 0:
			clear(src[:])
		case 1:
			src = [Size]byte([]byte(strings.Repeat("\xff", Size)))
		default:
			if i < 2+8*Size { // one bit at a time
				clear(src[:])
				src[(i-2)/8] = 1 << (i % 8)
			}
		}
		var text [Len]byte
		Encode(&text, &src)
		if want := base32.HexEncoding.EncodeToString(src[:]); string(text[:]) != want {
			t.Fatalf("%x: %s, want %s", src, text, want)
		}
		if i%2 == 1 {
			text = [Len]byte([]byte(strings.ToLower(string(text[:]))))
		}
		var back [Size]byte
		if at := Decode(&back, &text); at != -1 || back != src {
			t.Fatalf("%s: %x, %d, want %x", text, back, at, src)
		}
	}
}

// At every offset, every byte is a symbol, or causes an error with this offset.
func TestSymbols(t *testing.T) {
	src := source(rand.New(rand.NewPCG(3, 4)))
	var good [Len]byte
	Encode(&good, &src)
	for at := range Len {
		for c := range 256 {
			text := good
			text[at] = byte(c)
			keep := src
			got := Decode(&keep, &text)
			value := strings.IndexByte(base32Alphabet, byte(c))
			if value < 0 {
				value = strings.IndexByte(strings.ToLower(base32Alphabet), byte(c))
			}
			if value < 0 && (got != at || keep != src) {
				t.Fatalf("%q: %d, %x, want %d and no change", text, got, keep, at)
			}
			if value >= 0 {
				want, err := base32.HexEncoding.DecodeString(strings.ToUpper(string(text[:])))
				if err != nil || got != -1 || string(keep[:]) != string(want) {
					t.Fatalf("%q: %d, %x, want %x, %v", text, got, keep, want, err)
				}
			}
			for second := at + 1; second < Len && value < 0; second++ {
				text[second] = '!'
				if got := Decode(&keep, &text); got != at {
					t.Fatalf("%q: %d, want the first bad byte, %d", text, got, at)
				}
			}
		}
	}
}

const base32Alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUV"

func BenchmarkEncode(b *testing.B) {
	src := source(rand.New(rand.NewPCG(5, 6)))
	var dst [Len]byte
	for b.Loop() {
		Encode(&dst, &src)
		src[0] = dst[31]
	}
}

func BenchmarkDecode(b *testing.B) {
	src := source(rand.New(rand.NewPCG(5, 6)))
	var text [Len]byte
	Encode(&text, &src)
	for b.Loop() {
		if Decode(&src, &text) >= 0 {
			b.Fatal()
		}
	}
}
