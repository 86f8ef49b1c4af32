package textcodec

import (
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
)

// Each value's symbols for writing and reading, from the format's document.
var (
	crockfordAlphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
	crockfordForms    = map[byte]byte{'O': '0', 'o': '0', 'I': '1', 'i': '1', 'L': '1', 'l': '1'}
)

func init() {
	for _, c := range crockfordAlphabet[10:] {
		crockfordForms[byte(c)+'a'-'A'] = byte(c)
	}
}

func crockfordText(hi, lo, check uint64) string {
	n := new(big.Int).SetUint64(hi)
	n.Lsh(n, 64).Or(n, new(big.Int).SetUint64(lo))
	n.Lsh(n, 7).Or(n, new(big.Int).SetUint64(check))
	const digits = "0123456789abcdefghijklmnopqrstuv"
	s := n.Text(32)
	s = strings.Repeat("0", CrockfordLen-len(s)) + s
	return strings.Map(func(r rune) rune {
		return rune(crockfordAlphabet[strings.IndexRune(digits, r)])
	}, s)
}

func TestCrockford(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	try := func(hi, lo, check uint64) {
		t.Helper()
		b := [CrockfordLen]byte(AppendCrockford(nil, hi, lo, check))
		if want := crockfordText(hi, lo, check); string(b[:]) != want {
			t.Fatalf("%x %x %x: %s, want %s", hi, lo, check, b, want)
		}
		if r.IntN(2) == 0 {
			b = [CrockfordLen]byte([]byte(strings.ToLower(string(b[:]))))
		}
		if h, l, c, ok := DecodeCrockford(&b); h != hi || l != lo || c != check || !ok {
			t.Fatalf("%s: %x %x %x, %v, want %x %x %x", b, h, l, c, ok, hi, lo, check)
		}
	}
	for i := range 64 {
		try(1<<i, 0, 0)
		try(0, 1<<i, 0)
		try(1<<i-1, ^uint64(0), 127)
	}
	for check := range uint64(128) {
		try(0, 0, check)
		try(^uint64(0), ^uint64(0), check)
	}
	for range 100_000 {
		try(r.Uint64()>>r.IntN(64), r.Uint64(), r.Uint64N(128))
	}
}

// At every offset, every byte is a form of a symbol, or causes an error with this offset.
func TestCrockfordSymbols(t *testing.T) {
	good := [CrockfordLen]byte([]byte("C8EE934SR007G5Q94QKKXFRFV8B"))
	for at := range CrockfordLen {
		for c := range 256 {
			b := good
			b[at] = byte(c)
			canon, known := crockfordForms[byte(c)]
			if strings.IndexByte(crockfordAlphabet, byte(c)) >= 0 {
				canon, known = byte(c), true
			}
			hi, lo, check, ok := DecodeCrockford(&b)
			if !known {
				if got := BadCrockford(&b); hi != 0 || lo != 0 || check != 0 || ok || got != at {
					t.Fatalf("%q: %x %x %x, %v, %d, want an error at %d", b, hi, lo, check, ok, got,
						at)
				}
				for second := at + 1; second < CrockfordLen; second++ {
					b[second] = '-'
					if got := BadCrockford(&b); got != at {
						t.Fatalf("%q: %d, want the first bad byte, %d", b, got, at)
					}
				}
				continue
			}
			b[at] = canon
			if want := crockfordText(hi, lo, check); string(b[:]) != want || !ok {
				t.Fatalf("with %q: %x %x %x, which is %s, %v, want %s", c, hi, lo, check, want, ok,
					b)
			}
		}
	}
}

func BenchmarkAppendCrockford(b *testing.B) {
	text := make([]byte, 0, CrockfordLen)
	lo := uint64(1)
	for b.Loop() {
		text = AppendCrockford(text[:0], 0x0123456789abcdef, lo, 55)
		lo += uint64(text[26])
	}
}

func BenchmarkDecodeCrockford(b *testing.B) {
	src := [CrockfordLen]byte([]byte("C8EE934SR007G5Q94QKKXFRFV8B"))
	for b.Loop() {
		if _, _, _, ok := DecodeCrockford(&src); !ok {
			b.Fatal()
		}
	}
}
