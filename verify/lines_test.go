package verify

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/sortid/sortid/scru160"
)

// variants calls try with texts of a format that differ from those of IDs in any byte, and
// in several letters' case.
func variants(f *format, try func(text string)) {
	r := rand.New(rand.NewPCG(4, 4))
	texts := sample(f.name, 20)
	if f == &formatSCRU160 {
		for _, s := range texts {
			texts = append(texts, scru160.MustParse(s).Hex())
		}
	}
	for _, s := range texts {
		try(s)
		try(strings.ToUpper(s))
		try(strings.ToLower(s))
		for i := range s {
			for c := range 256 {
				try(s[:i] + string([]byte{byte(c)}) + s[i+1:])
			}
		}
		for range 300 {
			b := []byte(s)
			for range 1 + r.IntN(4) {
				i := r.IntN(len(b))
				b[i] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"[r.IntN(62)]
			}
			try(string(b))
		}
	}
}

// A text is canonical if it is what its ID is written as.
func TestCanonical(t *testing.T) {
	for _, f := range formats {
		sound, other := 0, 0
		variants(f, func(text string) {
			v, canonical, err := f.read([]byte(text))
			if err != nil {
				return
			}
			if written := f.text(v, len(text)); canonical != (written == text) {
				t.Errorf("%s %q, written %s: canonical is %v", f.name, text, written, canonical)
			}
			if canonical {
				sound++
			} else {
				other++
			}
		})
		if sound == 0 || other == 0 {
			t.Errorf("%s: %d texts were canonical, %d were not", f.name, sound, other)
		}
	}
}

// Lines read together are those read one by one.
func TestAppendLines(t *testing.T) {
	for _, f := range formats {
		around := sample(f.name, 2)
		variants(f, func(text string) {
			length := len(text)
			for _, end := range []string{"\n", "\r\n", "", "x\n", "\x00"} {
				input := fmt.Sprint(around[0], "\n", text, end, around[1], "\n")
				var want []id
				for rest := input; len(rest) > length && rest[length] == '\n'; rest = rest[length+1:] {
					v, canonical, err := f.read([]byte(rest[:length]))
					if err != nil || !canonical {
						break
					}
					want = append(want, v)
				}
				if f.readLines != nil && length != f.lengths[0] {
					t.Fatalf("%s reads lines of one length only, not %q", f.name, text)
				}
				if got := f.appendLines(nil, []byte(input), length); !slices.Equal(got, want) {
					t.Errorf("%s: of %q %v are read, want %v", f.name, input, got, want)
				}
			}
		})
	}
}
