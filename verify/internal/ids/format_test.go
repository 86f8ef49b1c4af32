package ids_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/verify/internal/ids"
	"github.com/sortid/sortid/verify/internal/model"
)

// texts returns the IDs of a sample in an encoding.
func texts(t *testing.T, f *ids.Format, encoding format.Encoding, n int) []string {
	lines := model.Sample(f.Name, n)
	for i, l := range lines {
		v, _, _, err := f.Read([]byte(l))
		if err != nil {
			t.Fatal(err)
		}
		lines[i] = f.In(encoding, v)
	}
	return lines
}

// variants calls try with texts of a format and encoding that differ from IDs' texts in any
// byte, and in several letters' case.
func variants(t *testing.T, f *ids.Format, encoding format.Encoding, try func(text string)) {
	r := rand.New(rand.NewPCG(4, 4))
	for _, s := range texts(t, f, encoding, 4) {
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
	for _, f := range ids.Formats {
		for _, encoding := range f.Encodings {
			sound, other := 0, 0
			variants(t, f, encoding, func(text string) {
				v, as, canonical, err := f.Read([]byte(text))
				if err != nil {
					return
				}
				if written := f.In(as, v); canonical != (written == text) {
					t.Errorf("%s %s %q, written %s: canonical is %v", f.Name, encoding, text, written, canonical)
				}
				if canonical {
					sound++
				} else {
					other++
				}
			})
			if sound == 0 || other == 0 {
				t.Errorf("%s %s: %d texts were canonical, %d were not", f.Name, encoding, sound, other)
			}
		}
	}
}

// Lines read together are those read one by one.
func TestAppendLines(t *testing.T) {
	for _, f := range ids.Formats {
		for _, encoding := range f.Encodings {
			around := texts(t, f, encoding, 2)
			variants(t, f, encoding, func(text string) {
				length := len(text)
				for _, end := range []string{"\n", "\r\n", "", "x\n", "\x00"} {
					input := fmt.Sprint(around[0], "\n", text, end, around[1], "\n")
					var want []ids.ID
					for rest := input; encoding != format.Int && len(rest) > length && rest[length] == '\n'; rest = rest[length+1:] {
						v, as, canonical, err := f.Read([]byte(rest[:length]))
						if err != nil || !canonical || as != encoding {
							break
						}
						want = append(want, v)
					}
					if got := f.AppendLines(nil, []byte(input), encoding, length); !slices.Equal(got, want) {
						t.Errorf("%s %s: of %q %v are read, want %v", f.Name, encoding, input, got, want)
					}
				}
			})
		}
	}
}

// Hexadecimal numbers are read with the prefixes that databases and programs write.
func TestPrefixes(t *testing.T) {
	for _, f := range ids.Formats {
		hex := texts(t, f, format.Hex, 1)[0]
		want, _, _, _ := f.Read([]byte(hex))
		for _, prefix := range []string{"", `\x`, `\\x`, "0x", "0X"} {
			v, encoding, canonical, err := f.Read([]byte(prefix + hex))
			if err != nil || v != want || encoding != format.Hex || !canonical {
				t.Errorf("%s %s%s: %v %s %v %v", f.Name, prefix, hex, v, encoding, canonical, err)
			}
		}
		for _, bad := range []string{`\x`, `\x` + hex[1:], `\x` + hex + "0", `x` + hex, `\x` + hex[1:] + "g"} {
			if v, encoding, _, err := f.Read([]byte(bad)); err == nil {
				t.Errorf("%s %q is read as %v, %s", f.Name, bad, v, encoding)
			}
		}
	}
}

// What is known of a format is what package format says.
func TestFormats(t *testing.T) {
	for _, f := range ids.Formats {
		line := model.Sample(f.Name, 1)[0]
		v, _, _, err := f.Read([]byte(line))
		if err != nil {
			t.Fatal(err)
		}
		id, err := f.Parse(line)
		if err != nil {
			t.Fatal(err)
		}
		if got := f.Time(f.Timestamp(v)); !got.Equal(id.Time()) {
			t.Errorf("%s %s: %v, want %v", f.Name, line, got, id.Time())
		}
		if got := f.TimestampOf(id.Time()); got != f.Timestamp(v) {
			t.Errorf("%s: the timestamp of %v is %d, want %d", f.Name, id.Time(), got, f.Timestamp(v))
		}
		if got := f.Time(f.Last); !got.Equal(f.Max().Time()) {
			t.Errorf("%s: the last timestamp is of %v, want %v", f.Name, got, f.Max().Time())
		}
		if f.TimestampOf(f.Epoch.Add(-time.Hour)) != 0 {
			t.Errorf("%s: a time before the epoch has a timestamp", f.Name)
		}
	}
}
