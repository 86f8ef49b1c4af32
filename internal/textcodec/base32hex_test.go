package textcodec

import (
	"encoding/base32"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/sortid/sortid/internal/check"
)

func random20(r *rand.Rand) (b [Base32HexSize]byte) {
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

func TestBase32Hex(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 100_000 {
		src := random20(r)
		switch i {
		case 0:
			clear(src[:])
		case 1:
			src = [Base32HexSize]byte([]byte(strings.Repeat("\xff", Base32HexSize)))
		default:
			if i < 2+8*Base32HexSize { // one bit at a time
				clear(src[:])
				src[(i-2)/8] = 1 << (i % 8)
			}
		}
		text := [Base32HexLen]byte(AppendBase32Hex(nil, &src))
		if want := base32.HexEncoding.EncodeToString(src[:]); string(text[:]) != want {
			t.Fatalf("%x: %s, want %s", src, text, want)
		}
		if i%2 == 1 {
			text = [Base32HexLen]byte([]byte(strings.ToLower(string(text[:]))))
		}
		var back [Base32HexSize]byte
		if err := UnmarshalBase32Hex("f", &back, text[:]); err != nil || back != src {
			t.Fatalf("%s: %x, %v, want %x", text, back, err, src)
		}
	}
}

// At every offset, every byte is a symbol, or causes an error with this offset.
func TestBase32HexSymbols(t *testing.T) {
	src := random20(rand.New(rand.NewPCG(3, 4)))
	good := [Base32HexLen]byte(AppendBase32Hex(nil, &src))
	for at := range Base32HexLen {
		for c := range 256 {
			text := good
			text[at] = byte(c)
			keep := src
			err := UnmarshalBase32Hex("f", &keep, text[:])
			value := strings.IndexByte(base32HexAlphabet, byte(c))
			if value < 0 {
				value = strings.IndexByte(strings.ToLower(base32HexAlphabet), byte(c))
			}
			if value < 0 && (offset(err) != at || keep != src) {
				t.Fatalf("%q: %v, %x, want offset %d and no change", text, err, keep, at)
			}
			if value >= 0 {
				want, e := base32.HexEncoding.DecodeString(strings.ToUpper(string(text[:])))
				if e != nil || err != nil || string(keep[:]) != string(want) {
					t.Fatalf("%q: %v, %x, want %x, %v", text, err, keep, want, e)
				}
			}
			for second := at + 1; second < Base32HexLen && value < 0; second++ {
				text[second] = '!'
				if err := UnmarshalBase32Hex("f", &keep, text[:]); offset(err) != at {
					t.Fatalf("%q: %v, want the first bad byte, %d", text, err, at)
				}
			}
		}
	}
}

const base32HexAlphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUV"

func BenchmarkAppendBase32Hex(b *testing.B) {
	src := random20(rand.New(rand.NewPCG(5, 6)))
	text := make([]byte, 0, Base32HexLen)
	for b.Loop() {
		text = AppendBase32Hex(text[:0], &src)
		src[0] = text[31]
	}
}

func BenchmarkUnmarshalBase32Hex(b *testing.B) {
	src := random20(rand.New(rand.NewPCG(5, 6)))
	text := [Base32HexLen]byte(AppendBase32Hex(nil, &src))
	for b.Loop() {
		check.OK(b, UnmarshalBase32Hex("f", &src, text[:]))
	}
}
