package verify

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/internal/testserver"
	"github.com/sortid/sortid/verify/internal/controls"
	"github.com/sortid/sortid/verify/internal/sample"
	"github.com/sortid/sortid/verify/report"
)

// Correct generators of other projects' formats pass at each rate, alone, and when the IDs of
// several generators are merged. With SORTID_SOAK, each has more seeds, rates and IDs.
func TestIdeals(t *testing.T) {
	seeds, n := uint64(1), 5000
	rates := []float64{0.1, 10, 1000, 100_000}
	if testserver.Soak(t) > 0 {
		seeds, n = 10, 100_000
		rates = append(rates, 0.5, 1, 2, 8000)
	}
	// The IDs of 100,000 seconds must not be later than now.
	for _, d := range controls.Ideals {
		t.Run(d.Format+"/"+d.Name, func(t *testing.T) {
			o := Options{Now: func() time.Time { return d.Start().AddDate(0, 1, 0) }}
			for _, rate := range rates {
				for seed := range seeds {
					judge(t, d, rate, seed, check(t, d.Format, d.Make(seed, rate, n), o))
					var merged []string
					for process := range uint64(3) {
						merged = append(merged, d.Make(100*seed+process, rate, n/3)...)
					}
					if f, _ := format.Lookup(d.Format); f.Text.Sorts {
						slices.Sort(merged)
					}
					all := o
					all.Unordered = true
					judge(t, d, rate, seed, check(t, d.Format, merged, all))
				}
			}
		})
	}
}

// Sources share random values only if their generators had the same random numbers.
func TestSources(t *testing.T) {
	for _, name := range []string{"uuidv4", "uuidv7", "ulid", "ksuid", "nanoid", "cuid"} {
		i := slices.IndexFunc(controls.Ideals, func(d controls.Ideal) bool { return d.Format == name })
		d := controls.Ideals[i]
		o := Options{Now: func() time.Time { return controls.Now.AddDate(0, 1, 0) }, Source: "first",
			Sources: new(Sources)}
		judge(t, d, 10, 1, check(t, name, d.Make(1, 10, 6000), o))
		o.Source = "second"
		judge(t, d, 10, 2, check(t, name, d.Make(2, 10, 50_000), o))
		o.Source = "a fork of the second"
		r := check(t, name, d.Make(2, 10, 9000), o)
		for _, c := range r.Failed() {
			if !strings.HasSuffix(c.Name, ".shared") || !strings.Contains(c.Detail, "in second") {
				t.Errorf("%s: %s: %s", name, c.Name, c.Detail)
			}
		}
		if r.Status != report.Fail {
			t.Errorf("%s: the fork passes", name)
		}
	}
}

func judge(t *testing.T, d controls.Ideal, rate float64, seed uint64, r *report.Report) {
	t.Helper()
	if r.Status == report.Fail || r.Status == report.Warn && !d.Warns {
		for _, c := range append(r.Failed(), r.Warned()...) {
			t.Errorf("%g/s, seed %d: %s: %s %.1v", rate, seed, c.Name, c.Detail, c.Examples)
		}
	}
}

func TestEveryIdeal(t *testing.T) {
	for _, f := range format.All() {
		if f.Generates || !sample.Verifiable(f) {
			continue
		}
		if !slices.ContainsFunc(controls.Ideals,
			func(d controls.Ideal) bool { return strings.EqualFold(d.Format, f.Name) }) {
			t.Errorf("Ideals of verify/internal/controls/ideals.go lacks %s", f.Name)
		}
	}
}
