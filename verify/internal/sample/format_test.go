package sample

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sortid/sortid/internal/conformance"
	"github.com/sortid/sortid/internal/gencore"
	"github.com/sortid/sortid/internal/integer"
	"github.com/sortid/sortid/internal/spec"
)

func texts(t *testing.T, f *Format, encoding spec.Encoding, n int) (lines []string) {
	id, err := f.Parse(f.Example)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(7, 7))
	for range n {
		w := id
		w.Low ^= r.Uint64() >> 46
		lines = append(lines, f.InEncoding(w, encoding))
	}
	return lines
}

// variants calls try with texts of IDs, and with texts that differ from them in a byte or in letter
// case.
func variants(t *testing.T, f *Format, encoding spec.Encoding, try func(text string)) {
	r := rand.New(rand.NewPCG(4, 4))
	for _, s := range texts(t, f, encoding, 4) {
		try(s)
		try(strings.ToUpper(s))
		try(strings.ToLower(s))
		for i := range s {
			try(s[:i] + "0" + s[i+1:])
			step := 1
			if !f.Generates || testing.Short() { // one decoder reads the others' formats
				step = 13
			}
			for c := 0; c < 256; c += step {
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

func TestCanonical(t *testing.T) {
	for _, f := range timed() {
		for _, encoding := range f.Encodings {
			sound, other := 0, 0
			variants(t, f, encoding, func(text string) {
				v, as, canonical, err := f.ReadLine([]byte(text))
				if err != nil {
					return
				}
				if written := f.InEncoding(v, as); canonical != (written == text) {
					t.Errorf("%s %s %q, written %s: canonical is %v", f.Name, encoding, text,
						written, canonical)
				}
				if canonical {
					sound++
				} else {
					other++
				}
			})
			// If a format has one length and one case, all its texts are canonical.
			several := encoding != spec.Text || f.Text.FoldsCase || len(f.Text.Lengths) > 1
			if f.Generates && (sound == 0 || several && other == 0) {
				t.Errorf("%s %s: %d texts were canonical, %d were not", f.Name, encoding, sound,
					other)
			}
		}
	}
}

// AppendLines returns the same IDs as ReadLine does for each line.
func TestAppendLines(t *testing.T) {
	for _, f := range timed() {
		for _, encoding := range f.Encodings {
			around := texts(t, f, encoding, 2)
			others, n := []string{"\r\n", "", "x\n", "\x00"}, 0
			variants(t, f, encoding, func(text string) {
				length := len(text)
				n++
				for _, end := range []string{"\n", others[n%len(others)]} {
					input := fmt.Sprint(around[0], "\n", text, end, around[1], "\n")
					var want []integer.Words
					for rest := input; encoding != spec.Int && len(rest) > length &&
						rest[length] == '\n'; rest = rest[length+1:] {
						v, as, canonical, err := f.ReadLine([]byte(rest[:length]))
						if err != nil || !canonical || as != encoding {
							break
						}
						want = append(want, v)
					}
					if got := f.AppendLines(nil, []byte(input), encoding,
						length); !slices.Equal(got, want) {
						t.Errorf("%s %s: of %q %v are read, want %v", f.Name, encoding, input, got,
							want)
					}
				}
			})
		}
	}
}

func TestPrefixes(t *testing.T) {
	for _, ours := range spec.Ours() {
		f := FormatOf(ours)
		hex := texts(t, f, spec.Hex, 1)[0]
		want, _, _, _ := f.ReadLine([]byte(hex))
		for _, prefix := range []string{"", `\x`, `\\x`, "0x", "0X"} {
			v, encoding, canonical, err := f.ReadLine([]byte(prefix + hex))
			if err != nil || v != want || encoding != spec.Hex || !canonical {
				t.Errorf("%s %s%s: %v %s %v %v", f.Name, prefix, hex, v, encoding, canonical, err)
			}
		}
		for _, bad := range []string{`\x`, `\x` + hex[1:], `\x` + hex + "0", `x` + hex, `\x` +
			hex[1:] + "g"} {
			if v, encoding, _, err := f.ReadLine([]byte(bad)); err == nil {
				t.Errorf("%s %q is read as %v, %s", f.Name, bad, v, encoding)
			}
		}
	}
}

func TestTyped(t *testing.T) {
	for _, ours := range spec.Ours() {
		f := FormatOf(ours)
		for _, v := range conformance.VectorsOf(t, f.Name).Typed.Valid {
			inner, err := f.Parse(v.Inner)
			if err != nil {
				t.Fatal(err)
			}
			if w, e, canonical, err := f.ReadLine([]byte(v.Text)); err != nil ||
				e != spec.Text || !canonical || w != inner {
				t.Errorf("%s: %v, %s, canonical %t, %v", v.Text, w, e, canonical, err)
			}
		}
	}
}

// Lines of typed and of plain IDs can alternate.
func TestMixedLengths(t *testing.T) {
	for _, ours := range spec.Ours() {
		f := FormatOf(ours)
		plain := texts(t, f, spec.Text, 40)
		b := Block{}
		for i, id := range plain {
			if i%2 == 1 {
				b.text = append(b.text, "user_"...)
			}
			b.text = append(append(b.text, id...), '\n')
		}
		b.parse(f)
		if len(b.IDs) != len(plain) || b.Lines != uint64(len(plain)) {
			t.Fatalf("%s: %d IDs on %d lines, want %d", f.Name, len(b.IDs), b.Lines, len(plain))
		}
		for i, id := range b.IDs {
			if got := f.InEncoding(id, spec.Text); got != plain[i] {
				t.Errorf("%s: line %d is read as %s, want %s", f.Name, i+1, got, plain[i])
			}
		}
	}
}

func TestTimestamps(t *testing.T) {
	for _, f := range timed() {
		w, err := f.Parse(texts(t, f, f.Encodings[0], 1)[0])
		if err != nil {
			t.Fatal(err)
		}
		at := f.Time(&w)
		if got := f.TimeOf(f.Timestamp(&w)); !got.Equal(at) {
			t.Errorf("%s %x: %v, want %v", f.Name, w, got, at)
		}
		if got := f.TimeOf(f.TimestampOf(at)); !got.Equal(at) {
			t.Errorf("%s: the timestamp of %v is of %v", f.Name, at, got)
		}
		last := f.Last
		if f.Reserved {
			last = last.Add(f.Tick)
		}
		if got := f.TimeOf(f.LastTimestamp()); !got.Equal(last.Add(1 - f.Tick)) {
			t.Errorf("%s: the last timestamp is of %v, but its tick ends at %v", f.Name, got, last)
		}
		for _, late := range []time.Time{last, last.Add(1), last.AddDate(9000, 0, 0)} {
			if got := f.TimestampOf(late); got != f.LastTimestamp() {
				t.Errorf("%s: the timestamp of %v is %d, want %d", f.Name, late, got,
					f.LastTimestamp())
			}
		}
		if f.TimestampOf(f.Epoch.Add(-time.Hour)) != 0 {
			t.Errorf("%s: the timestamp of a time before the epoch is not 0", f.Name)
		}
	}
}

func timed() (formats []*Format) {
	for _, f := range spec.All() {
		if f.Tick != 0 && f.Text.Prefix == nil { // texts are made without a prefix
			formats = append(formats, FormatOf(f))
		}
	}
	return formats
}

// If each integer is an ID, random integers are IDs, too.
func TestAllIDs(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	all := 0
	for _, known := range spec.All() {
		f := FormatOf(known)
		bad := 0
		for range 1000 {
			w := integer.FromArray([3]uint64{r.Uint64(), r.Uint64(), r.Uint64()}).And(
				integer.Ones(8 * f.Size))
			if !f.Has(w) {
				bad++
			}
		}
		if f.HasAll() {
			all++
		}
		if f.HasAll() && bad > 0 {
			t.Errorf("%s: %d of 1000 integers are not IDs", f.Name, bad)
		}
	}
	if f := FormatOf(gencore.Must(spec.Lookup("scru64"))); f.HasAll() || all < 5 {
		t.Errorf("scru64: HasAll returns %v; %d formats in all", f.HasAll(), all)
	}
}

// The fault of a line that is much shorter or longer than an ID is its length.
func TestWrongLength(t *testing.T) {
	for _, known := range spec.All() {
		f, text := FormatOf(known), known.Example
		if !Verifiable(known) || f.Encodings[0] == spec.Int {
			continue
		}
		for _, wrong := range []string{"xx", text + strings.Repeat(text[len(text)-1:], 40)} {
			_, _, _, err := f.ReadLine([]byte(wrong))
			if err == nil || faultOf(err) != BadLength {
				t.Errorf("%s %q: %v, want a wrong length", f.Name, wrong, err)
			}
		}
	}
}
