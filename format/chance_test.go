package format

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/sortid/sortid/internal/check"
	"github.com/sortid/sortid/internal/spec"
	"github.com/sortid/sortid/internal/textcodec"
)

// alphabetOf returns the usual alphabet of texts that look like a text.
func alphabetOf(text string) (symbols string) {
	kinds := textcodec.KindsOf(text)
	const letters = "abcdefghijklmnopqrstuvwxyz"
	switch {
	case !kinds.Has(textcodec.Lower | textcodec.Upper):
	case kinds.In(textcodec.HexDigits | textcodec.Dash):
		symbols = letters[:6]
		if kinds.Has(textcodec.Upper) {
			symbols = strings.ToUpper(symbols)
		}
	default:
		if kinds.Has(textcodec.Lower) {
			symbols = letters
		}
		if kinds.Has(textcodec.Upper) {
			symbols += strings.ToUpper(letters)
		}
	}
	if kinds.Has(textcodec.Digit) {
		symbols += "0123456789"
	}
	for _, c := range "-_" {
		if strings.ContainsRune(text, c) {
			symbols += string(c)
		}
	}
	return symbols
}

// TestChance reads random texts that look like an ID of each format.
func TestChance(t *testing.T) {
	n := 100_000
	if testing.Short() {
		n = 10_000
	}
	lastYear := time.Date(2029, time.January, 1, 0, 0, 0, 0, time.UTC)
	source := rand.New(rand.NewPCG(1, 2))
	for _, f := range spec.All() {
		for _, e := range f.Search.Guess {
			w := check.Must(f.Parse(f.Example))(t)
			prefix, text := "", f.In(w, e)
			if e == spec.Text {
				prefix, text = f.CutPrefix(text)
			}
			symbols := alphabetOf(text)
			read := 0.0
			for range n {
				random := prefix + randomText(source, symbols, len(text), e == spec.Int)
				if _, ok := (way{f, e}).read(random, textcodec.KindsOf(random), lastYear); ok {
					read++
				}
			}
			want := f.Chance(e, prefix+text, len(prefix)) * float64(n)
			if prefix != "" {
				want *= float64(len(alphabetOf(prefix + text)))
			}
			most := want + 6*math.Sqrt(want) + 3
			least := want - 6*math.Sqrt(want)
			if e == spec.Text && strings.Trim(f.Text.Characters, symbols) != "" {
				least = 0 // most IDs have more kinds of symbols
			}
			if read < least || read > most {
				t.Errorf("%s %s: %v of %d random texts like %s have this reading, want %.5g",
					f.Name, e, read, n, text, want)
			}
		}
	}
}

func randomText(source *rand.Rand, symbols string, length int, isInt bool) string {
	text := make([]byte, length)
	for i := range text {
		text[i] = symbols[source.IntN(len(symbols))]
	}
	if isInt && text[0] == '0' {
		text[0] = "123456789"[source.IntN(9)]
	}
	return string(text)
}
