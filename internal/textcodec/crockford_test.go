package textcodec

import (
	"bytes"
	"errors"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/sortid/sortid"
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

// crockfordText returns the text of n, of 128 bits, with the check value.
func crockfordText(n *big.Int) string {
	check := new(big.Int).Mod(n, big.NewInt(127))
	return crockfordDigits(check.Or(check, new(big.Int).Lsh(n, 7)))
}

func crockfordDigits(n *big.Int) string {
	s := n.Text(32)
	s = strings.Repeat("0", CrockfordLen-len(s)) + s
	return strings.Map(func(r rune) rune {
		return rune(crockfordAlphabet[strings.IndexRune(base32Digits, r)])
	}, s)
}

const base32Digits = "0123456789abcdefghijklmnopqrstuv"

func TestCrockford(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	try := func(hi, lo uint64) {
		t.Helper()
		n := join(hi, lo)
		src := [16]byte(n.FillBytes(make([]byte, 16)))
		b := AppendCrockford(nil, &src)
		if want := crockfordText(n); string(b) != want {
			t.Fatalf("%x: %s, want %s", src, b, want)
		}
		if r.IntN(2) == 0 {
			b = bytes.ToLower(b)
		}
		var back [16]byte
		if err := UnmarshalCrockford("f", &back, b); err != nil || back != src {
			t.Fatalf("%s: %x, %v, want %x", b, back, err, src)
		}
	}
	for i := range 64 {
		try(1<<i, 0)
		try(0, 1<<i)
		try(1<<i-1, ^uint64(0))
	}
	for range 100_000 {
		try(r.Uint64()>>r.IntN(64), r.Uint64())
	}
}

// At every offset, every byte is a form of a symbol, or causes an error with this offset.
func TestCrockfordSymbols(t *testing.T) {
	const good = "C8EE934SR007G5Q94QKKXFRFV8B"
	for at := range CrockfordLen {
		for c := range 256 {
			b := []byte(good)
			b[at] = byte(c)
			canon, known := crockfordForms[byte(c)]
			if strings.IndexByte(crockfordAlphabet, byte(c)) >= 0 {
				canon, known = byte(c), true
			}
			dst := [16]byte([]byte("some sixteen !!!"))
			keep := dst
			err := UnmarshalCrockford("f", &dst, b)
			if !known {
				if offset(err) != at || dst != keep {
					t.Fatalf("%q: %v, %x, want an error at %d", b, err, dst, at)
				}
				for second := at + 1; second < CrockfordLen; second++ {
					b[second] = '-'
					if err := UnmarshalCrockford("f", &dst, b); offset(err) != at {
						t.Fatalf("%q: %v, want the first bad byte, %d", b, err, at)
					}
				}
				continue
			}
			b[at] = canon
			n, _ := new(big.Int).SetString(strings.Map(func(r rune) rune {
				return rune(base32Digits[strings.IndexRune(crockfordAlphabet, r)])
			}, string(b)), 32)
			n.Rsh(n, 7)
			right := []byte(crockfordText(n))
			if fits := string(right) == string(b); fits != (err == nil) || !fits &&
				(!errors.Is(err, sortid.ErrCheck) || dst != keep) {
				t.Fatalf("with %q: %v, %x, want %v", c, err, dst, fits)
			}
			if right[at] != canon {
				continue // the symbol has bits of the check value
			}
			right[at] = byte(c)
			if err := UnmarshalCrockford("f", &dst, right); err != nil ||
				new(big.Int).SetBytes(dst[:]).Cmp(n) != 0 {
				t.Fatalf("%q: %v, %x, want %x", right, err, dst, n)
			}
		}
	}
}

func BenchmarkAppendCrockford(b *testing.B) {
	text := make([]byte, 0, CrockfordLen)
	src := [16]byte([]byte("some sixteen !!!"))
	for b.Loop() {
		text = AppendCrockford(text[:0], &src)
		src[15] += text[26]
	}
}

func BenchmarkUnmarshalCrockford(b *testing.B) {
	src := []byte("C8EE934SR007G5Q94QKKXFRFV8B")
	var dst [16]byte
	for b.Loop() {
		if err := UnmarshalCrockford("f", &dst, src); err != nil {
			b.Fatal(err)
		}
	}
}
