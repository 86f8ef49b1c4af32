package spec

import (
	"math/big"
	"math/rand"
	"strings"
	"testing"

	"github.com/sortid/sortid/internal/integer"
)

// Texts have the digits that package big writes.
func TestNumerals(t *testing.T) {
	const symbols = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_"
	r := rand.New(rand.NewSource(1))
	for base := 2; base <= 62; base++ {
		for digits := 1; digits <= 64; digits++ {
			most := new(big.Int).Exp(big.NewInt(int64(base)), big.NewInt(int64(digits)), nil)
			if most.Sub(most, big.NewInt(1)); most.BitLen() > 160 {
				break
			}
			n := newNumerals(&Format{Bits: most.BitLen(), Text: TextRules{Symbols: symbols[:base],
				Groups: []TextPart{{Digits: digits, Bits: most.BitLen()}}}})
			for i := range 20 {
				v := new(big.Int).Rand(r, new(big.Int).Add(most, big.NewInt(1)))
				switch i {
				case 0:
					v.SetInt64(0)
				case 1:
					v.Set(most)
				case 2, 3, 4, 5: // digits at the end of a word
					v.Exp(big.NewInt(int64(base)), big.NewInt(int64(r.Intn(digits))), nil)
					v.Sub(v, big.NewInt(int64(i%2)))
				}
				var raw [24]byte
				v.FillBytes(raw[:])
				want := v.Text(base)
				want = strings.Repeat("0", digits-len(want)) + want
				if got := string(n.append(nil, integer.FromBytes(&raw))); got != want {
					t.Fatalf("base %d, %d digits, %v: %s, want %s", base, digits, v, got, want)
				}
			}
		}
	}
}
