package textcodec

import (
	"strings"
	"testing"
)

// For each byte in each place, the table agrees with a search in the alphabet.
func TestDecodeTable(t *testing.T) {
	for _, c := range []struct {
		alphabet   string
		ignoreCase bool
	}{
		{"0123456789ABCDEFGHIJKLMNOPQRSTUV", true},
		{"0123456789abcdefghijklmnopqrstuvwxyz", true},
		{"0123456789abcdefghijklmnopqrstuvwxyz", false},
		{"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_", false},
	} {
		table := NewDecodeTable(c.alphabet, c.ignoreCase)
		power := len(c.alphabet) * len(c.alphabet) * len(c.alphabet)
		for place := range 4 {
			for b := range 256 {
				value := strings.IndexByte(c.alphabet, byte(b))
				if c.ignoreCase && value < 0 {
					if value = strings.IndexByte(c.alphabet, byte(b)|0x20); value < 0 && b >= 'a' &&
						b <= 'z' {
						value = strings.IndexByte(c.alphabet, byte(b)&^0x20)
					}
					if !(b >= 'A' && b <= 'Z' || b >= 'a' && b <= 'z') {
						value = -1
					}
				}
				text := [4]byte{c.alphabet[0], c.alphabet[0], c.alphabet[0], c.alphabet[0]}
				text[place] = byte(b)
				got := table.Four(&text)
				if value < 0 && (got < NoSymbol || table.BadSymbol(text[:]) != place) ||
					value >= 0 && (got != uint64(value*power) || table.BadSymbol(text[:]) != 4) {
					t.Fatalf("%.12s, ignoring case %v: byte %q in place %d is %d, value %d",
						c.alphabet, c.ignoreCase, b, place, got, value)
				}
			}
			power /= len(c.alphabet)
		}
		// The shift is for the first four of eight symbols.
		if got := table.Four(&[4]byte{}); got < NoSymbol || got<<20>>20 != got {
			t.Errorf("%.12s: four bytes that are not symbols are %d", c.alphabet, got)
		}
	}
}

func TestAlias(t *testing.T) {
	table := NewDecodeTable("0123456789ABCDEFGHJKMNPQRSTVWXYZ", true)
	if table.Four((*[4]byte)([]byte("000O"))) < NoSymbol {
		t.Fatal("O is a symbol before the test adds it")
	}
	table.Alias('O', '0')
	table.Alias('I', '1')
	for text, want := range map[string]uint64{"OoIi": 1<<5 | 1, "iOOo": 1 << 15} {
		if got := table.Four((*[4]byte)([]byte(text))); got != want {
			t.Errorf("%s is %d, want %d", text, got, want)
		}
	}
}
