package verify

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sortid/sortid/internal/spec"
	"github.com/sortid/sortid/internal/textcodec"
	"github.com/sortid/sortid/verify/internal/controls"
	"github.com/sortid/sortid/verify/report"
)

// No unit and no epoch explains times that are scattered because the texts have another alphabet.
func TestScatteredTimes(t *testing.T) {
	n := 0
	for _, d := range controls.Ideals {
		f, err := spec.Lookup(d.Format)
		if err != nil {
			t.Fatal(err)
		}
		if f.Tick == 0 || f.Text.Symbols == "" || f.Text.FoldsCase || f.Encodings[0] != spec.Text {
			continue
		}
		for _, rate := range []float64{1, 1000, 100_000} {
			r := check(t, d.Format, mistranslated(f, d.Make(1, rate, 5000)),
				Options{Now: func() time.Time { return d.Start().AddDate(0, 1, 0) }})
			for _, name := range []string{"clock.unit", "clock.epoch", "clock.bits"} {
				if c := r.Check(name); c.Status == report.Fail {
					t.Errorf("%s %s, %g/s: %s: %s", d.Format, d.Name, rate, name, c.Detail)
				}
			}
			if strings.Contains(r.Check("clock.possible").Detail, "fit no unit") {
				n++
			}
		}
	}
	if n < 10 {
		t.Errorf("%d reports say that the times fit no unit", n)
	}
}

// mistranslated returns the texts in a wrong order of symbols: letters of the other case, or, if
// there is one case, digits in place of letters.
func mistranslated(f *spec.Format, lines []string) []string {
	symbols := f.Text.Symbols
	var pairs []string
	for i := range symbols {
		other := symbols[(i+len(symbols)/2)%len(symbols)]
		if c := symbols[i] ^ 0x20; strings.IndexByte(symbols, c) >= 0 {
			other = c
		} else if textcodec.KindsOf(symbols).HasCases() {
			other = symbols[i]
		}
		pairs = append(pairs, symbols[i:i+1], string(other))
	}
	all := strings.NewReplacer(pairs...)
	for i := range lines {
		lines[i] = all.Replace(lines[i])
	}
	return lines
}

// Some libraries for Base62 begin with small letters. That is another format, and the report says so.
func TestSmallLettersFirst(t *testing.T) {
	i := slices.IndexFunc(controls.Ideals, func(d controls.Ideal) bool {
		return d.Format == "uuid-base62" && d.Name == "version 4"
	})
	f, err := spec.Lookup("uuid-base62")
	if err != nil {
		t.Fatal(err)
	}
	const hint = "small letters seem to come before capitals"
	right := controls.Ideals[i].Make(1, 1, 1000)
	if r := check(t, f.Name, right, Options{}); strings.Contains(fmt.Sprint(r.Facts), hint) ||
		r.Status != report.Pass {
		t.Errorf("the right alphabet: %v %v", r.Failed(), r.Facts)
	}
	other := mistranslated(f, slices.Clone(right))
	if r := check(t, f.Name, other, Options{}); !strings.Contains(fmt.Sprint(r.Facts), hint) ||
		r.Status != report.Fail {
		t.Errorf("the other alphabet: %v %v", r.Failed(), r.Facts)
	}
}
