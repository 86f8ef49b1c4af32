package textcodec

import (
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

func random16(r *rand.Rand) (u [16]byte) {
	for i := range u {
		u[i] = byte(r.Uint32())
	}
	return u
}

func TestUUID(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 10_000 {
		u := random16(r)
		want := fmt.Sprintf("%x-%x-%x-%x-%x", u[:4], u[4:6], u[6:8], u[8:10], u[10:])
		text := AppendUUID([]byte("a"), &u)
		if string(text) != "a"+want {
			t.Fatalf("%x: %s, want a%s", u, text, want)
		}
		for _, s := range []string{want, strings.ToUpper(want)} {
			var back [16]byte
			if at := DecodeUUID(&back, []byte(s)); at != -1 || back != u {
				t.Fatalf("%s: %x, %d", s, back, at)
			}
		}
	}
}

// For every byte at every offset, DecodeUUID agrees with encoding/hex.
func TestUUIDSymbols(t *testing.T) {
	u := random16(rand.New(rand.NewPCG(3, 4)))
	good := string(AppendUUID(nil, &u))
	for at := range UUIDLen {
		for c := range 256 {
			b := []byte(good)
			b[at] = byte(c)
			want, err := hex.DecodeString(strings.ReplaceAll(string(b), "-", ""))
			fits := err == nil && len(want) == 16 && (good[at] == '-') == (c == '-')
			got := u
			offset := DecodeUUID(&got, b)
			if fits && (offset != -1 || string(got[:]) != string(want)) {
				t.Fatalf("%q: %x, %d, want %x", b, got, offset, want)
			}
			if fits {
				continue
			}
			if offset != at || got != u {
				t.Fatalf("%q: %x, %d, want no change and %d", b, got, offset, at)
			}
			if at < UUIDLen-1 {
				b[UUIDLen-1] = '!'
				if offset := DecodeUUID(&got, b); offset != at {
					t.Fatalf("%q: %d, want the first bad byte, %d", b, offset, at)
				}
			}
		}
	}
}

// AppendHex agrees with encoding/hex for every byte at every offset.
func TestAppendHex(t *testing.T) {
	for n := range 25 {
		src := make([]byte, n)
		for c := range 256 {
			for i := range src {
				src[i] = byte(c + i*67)
			}
			if got := AppendHex([]byte("a"), src); string(got) != fmt.Sprintf("a%x", src) {
				t.Fatalf("%x: %s", src, got)
			}
		}
	}
}
