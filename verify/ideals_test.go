package verify

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/internal/spec"
	"github.com/sortid/sortid/internal/testserver"
	"github.com/sortid/sortid/scru64"
	"github.com/sortid/sortid/verify/internal/controls"
	"github.com/sortid/sortid/verify/internal/sample"
	"github.com/sortid/sortid/verify/report"
)

// Correct generators of other projects' formats pass at each rate, alone, and when the IDs of
// several generators are merged. With SORTID_SOAK, each has more seeds, rates and IDs. With -short,
// each has one rate.
func TestIdeals(t *testing.T) {
	seeds, n := uint64(1), 5000
	rates := []float64{0.1, 10, 1000, 100_000}
	switch {
	case testserver.Soak(t) > 0:
		seeds, n = 10, 100_000
		rates = append(rates, 0.5, 1, 2, 8000)
	}
	// The IDs of 100,000 seconds must not be later than now.
	for i, d := range controls.Ideals {
		t.Run(d.Format+"/"+d.Name, func(t *testing.T) {
			o := Options{Now: func() time.Time { return d.Start().AddDate(0, 1, 0) }}
			for j, rate := range rates {
				if testing.Short() && j != i%len(rates) {
					continue
				}
				for seed := range seeds {
					judge(t, d, rate, seed, check(t, d.Format, d.Make(seed, rate, n), o))
					var merged []string
					for process := range uint64(3) {
						merged = append(merged, d.Make(100*seed+process, rate, n/3)...)
					}
					f, _ := format.Lookup(d.Format)
					if spec.Of(f).Text.Sorts || spec.Of(f).Tick == 0 {
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

// A node ID of two sources is a fault only if both use it at the same time.
func TestSharedNodes(t *testing.T) {
	formats := map[string]bool{}
	for _, d := range controls.Ideals {
		f, err := format.Lookup(d.Format)
		if err != nil {
			t.Fatal(err)
		}
		if formats[d.Format] || spec.Of(f).Habits.NodeInEnd && d.Name != "10 node bits" ||
			!slices.Contains(sharing, d.Format) {
			continue
		}
		formats[d.Format] = true
		t.Run(d.Format, func(t *testing.T) {
			o := Options{Now: func() time.Time { return d.Start().AddDate(0, 1, 0) },
				Sources: new(Sources)}
			source := func(name string, lines []string) *report.Report {
				o.Source = name
				return check(t, d.Format, lines, o)
			}
			one := d.Make(1, 10, 4000)
			judge(t, d, 10, 1, source("first half", one[:2000]))
			judge(t, d, 10, 1, source("second half", one[2000:]))
			judge(t, d, 10, 2, source("another node", d.Make(2, 10, 4000)))
			r := source("the same node", d.Make(101, 10, 2000))
			c := r.Check("rules.shared")
			if c == nil || c.Status != report.Fail || !strings.Contains(c.Detail, "first half") {
				t.Errorf("rules.shared: %+v", c)
			}
		})
	}
	if len(formats) != len(sharing) {
		t.Errorf("%d formats, want %d", len(formats), len(sharing))
	}
}

func TestSharedSCRU64Nodes(t *testing.T) {
	for _, s := range controls.Subjects {
		if s.Format != "scru64" {
			continue
		}
		another := s.Make(controls.New(3, "", 2000, 0.3))
		for i, line := range another {
			another[i] = (scru64.MustParse(line) ^ 1<<16).String()
		}
		o := options(s)
		o.Sources, o.Source = new(Sources), "first"
		check(t, s.Format, s.Make(controls.New(1, "", 2000, 0.3)), o)
		if s.Nodes != nil {
			o.Nodes = []string{"43/8"}
		}
		if r := check(t, s.Format, another, o); r.Status != report.Pass {
			t.Errorf("%s: another node: %+v", s.Mode, r.Failed())
		}
		o.Nodes = s.Nodes
		r := check(t, s.Format, s.Make(controls.New(2, "", 2000, 0.3)), o)
		if c := r.Check("rules.shared"); c.Status != report.Fail || len(r.Failed()) != 1 {
			t.Errorf("%s: %+v", s.Mode, r.Failed())
		}
	}
}

// A counter without constant bits shows no node ID that sources could share.
func TestNoNode(t *testing.T) {
	o := Options{Sources: new(Sources)}
	for seed := range uint64(2) {
		r := rand.New(rand.NewPCG(seed, 1))
		var lines []string
		for i := range uint64(2000) {
			now := uint64(controls.Now.UnixMilli())/256 - 9000 + i
			lines = append(lines, scru64.ID(now<<24|r.Uint64N(1<<24)).String())
		}
		o.Source = strconv.FormatUint(seed, 10)
		if c := check(t, "scru64", lines, o).Check("rules.shared"); c != nil {
			t.Errorf("%+v", c)
		}
	}
}

// sharing has the formats whose generators must not share a node ID.
var sharing = strings.Fields("snowflake-twitter snowflake-discord snowflake-instagram threads " +
	"snowflake-spaceflake snowflake-flake snowflake-frostflake snowid sonyflake sonyflake-v2 tsid " +
	"xid objectid flake")

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
		if f.Generates() || !sample.Verifiable(spec.Of(f)) {
			continue
		}
		if !slices.ContainsFunc(controls.Ideals,
			func(d controls.Ideal) bool { return strings.EqualFold(d.Format, f.Name()) }) {
			t.Errorf("Ideals of verify/internal/controls/ideals.go lacks %s", f.Name())
		}
	}
}

// UUIDv7s with a finer time pass, whatever the rate of the first IDs, from which Check infers it.
func TestFinerTime(t *testing.T) {
	testserver.Long(t, "makes many reports")
	bursts := map[string]func(i int) float64{ // IDs in a second
		"slow at first":    func(i int) float64 { return []float64{10, 1e6}[min(i/1000, 1)] },
		"very slow":        func(i int) float64 { return []float64{2, 3e4}[min(i/4500, 1)] },
		"fast at first":    func(i int) float64 { return []float64{1e6, 200}[min(i/3000, 1)] },
		"ten IDs at once":  func(i int) float64 { return []float64{1, 1e5}[min(i%10, 1)] },
		"always very fast": func(int) float64 { return 2e6 },
	}
	for name, rate := range bursts {
		for bits := range 13 {
			r := rand.New(rand.NewPCG(uint64(bits), 3))
			at := controls.Now.UnixNano()
			var lines []string
			for i := range 20_000 {
				at += int64(1e9 / rate(i) * (0.8 + 0.4*r.Float64()))
				fine := at%1e6<<bits/1e6<<(12-bits) | r.Int64()>>(51+bits)
				lines = append(lines, fmt.Sprintf("%08x-%04x-7%03x-%04x-%012x", at/1e6>>16,
					at/1e6&0xffff, fine, 0x8000|r.Uint64()>>50, r.Uint64()>>16))
			}
			o := Options{Now: func() time.Time { return time.Unix(0, at) }}
			if rep := check(t, "uuidv7", lines, o); rep.Status != report.Pass {
				t.Errorf("%s, %d bits: %+v %+v", name, bits, rep.Failed(), rep.Warned())
			}
		}
	}
}
