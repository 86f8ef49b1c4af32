package verify

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// sourceOf returns a source of lines, which may be opened again or not.
func sourceOf(name string, lines []string, once bool) Source {
	return Source{Name: name, Once: once, Open: func() (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader(text(lines))), nil
	}}
}

// duplicates is what Unique should find.
func duplicates(sources map[string][]string) map[string][]Place {
	all := map[string][]Place{}
	for name, lines := range sources {
		for i, l := range lines {
			all[l] = append(all[l], Place{name, uint64(i + 1)})
		}
	}
	for l, places := range all {
		if len(places) < 2 {
			delete(all, l)
			continue
		}
		slices.SortFunc(places, func(a, b Place) int {
			if c := strings.Compare(a.Source, b.Source); c != 0 {
				return c
			}
			return int(a.Line) - int(b.Line)
		})
	}
	return all
}

// Any number of sources, sorted or not, small or large beside the pieces that are
// sorted at once: what is found is what a map finds.
func TestUnique(t *testing.T) {
	for _, scheme := range Schemes() {
		f := formatOf(scheme)
		for seed := range uint64(12) {
			r := rand.New(rand.NewPCG(seed, 1))
			lines := map[string][]string{}
			var sources []Source
			var all []string
			var total uint64
			for i := range 1 + r.IntN(8) {
				name := fmt.Sprint("source ", i)
				l := find(scheme, "").make(newModel(seed*100+uint64(i), "", 1+r.IntN(6000), 0.2))
				if len(all) > 0 {
					for range r.IntN(4) {
						l = append(l, all[r.IntN(len(all))])
					}
				}
				all = append(all, l...)
				if r.IntN(2) == 0 {
					slices.SortFunc(l, func(a, b string) int {
						x, _, _ := f.read([]byte(a))
						y, _, _ := f.read([]byte(b))
						return compare(x, y)
					})
				}
				lines[name] = l
				total += uint64(len(l))
				sources = append(sources, sourceOf(name, l, r.IntN(4) == 0))
			}
			want := duplicates(lines)
			var last id
			report, err := Unique(t.Context(), scheme, sources, UniqueOptions{Dir: t.TempDir(), Each: func(d Duplicate) {
				if !slices.Equal(want[d.Text], d.Places) || d.Count != uint64(len(d.Places)) {
					t.Errorf("%s, seed %d: %v, want %v", scheme, seed, d, want[d.Text])
				}
				delete(want, d.Text)
				v, _, _ := f.read([]byte(d.Text))
				if less(v, last) {
					t.Errorf("%s is given after %s", d.Text, f.text(last, 0))
				}
				last = v
			}})
			if err != nil {
				t.Fatal(err)
			}
			for l, places := range want {
				t.Errorf("%s, seed %d: %s on %v is not found", scheme, seed, l, places)
			}
			if report.IDs != total || (report.Status == Pass) != (report.Duplicates == 0) {
				t.Errorf("%s, seed %d: %d IDs, want %d; %s with %d duplicates", scheme, seed, report.IDs, total, report.Status, report.Duplicates)
			}
			for i, s := range report.Sources {
				if s.Name != sources[i].Name || s.IDs != uint64(len(lines[s.Name])) || s.Bad != 0 || s.Error != "" {
					t.Errorf("%s, seed %d: %+v", scheme, seed, s)
				}
			}
		}
	}
}

// More sources than are merged at once, and nothing is left on disk.
func TestUniqueManySources(t *testing.T) {
	dir := t.TempDir()
	var sources []Source
	for i := range 2*maxFan + 10 {
		sources = append(sources, sourceOf(fmt.Sprint(i), find("scru128", "").make(newModel(uint64(i%(2*maxFan+9)), "", 20, 0.2)), false))
	}
	r, err := Unique(t.Context(), "scru128", sources, UniqueOptions{Dir: dir})
	if err != nil || r.Duplicates != 20 || r.First[0].Places[0].Source != "0" || r.First[0].Places[1].Source != fmt.Sprint(len(sources)-1) {
		t.Errorf("%v, %+v", err, r.First)
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("left on disk: %v", left)
	}
}

// Runs are joined when there are more than can be merged at once.
func TestJoin(t *testing.T) {
	u := &unique{ctx: t.Context(), f: &formatSCRU128, spool: spool{parent: t.TempDir()}}
	defer u.spool.close()
	r := rand.New(rand.NewPCG(1, 1))
	var runs []*run
	var want []record
	for i := range 20 {
		w := runWriter{spool: &u.spool}
		v := uint64(0)
		for line := range r.IntN(9000) {
			v += r.Uint64N(5)
			rec := record{id{hi: v, lo: v, tail: 7}, uint32(i), uint64(line)}
			want = append(want, rec)
			if err := w.add(rec); err != nil {
				t.Fatal(err)
			}
		}
		run, err := w.finish()
		if err != nil {
			t.Fatal(err)
		}
		runs = append(runs, run)
	}
	joined, err := u.join(runs)
	if err != nil {
		t.Fatal(err)
	}
	in, err := joined.open(1)
	if err != nil {
		t.Fatal(err)
	}
	defer in.close()
	order := func(a, b record) int {
		return slices.Compare([]uint64{a.id.hi, uint64(a.source), a.line}, []uint64{b.id.hi, uint64(b.source), b.line})
	}
	var got []record
	if err := merge([]*cursor{{lines: in}}, func(r record) error { got = append(got, r); return nil }); err != nil {
		t.Fatal(err)
	}
	if !slices.IsSortedFunc(got, func(a, b record) int { return compare(a.id, b.id) }) {
		t.Error("not in order")
	}
	slices.SortFunc(got, order)
	slices.SortFunc(want, order)
	if !slices.Equal(got, want) {
		t.Errorf("%d records, want %d, or other ones", len(got), len(want))
	}
}

// The clashing node IDs of scru64 are named.
func TestUniqueNodes(t *testing.T) {
	one := scru64Model(newModel(1, "", 3000, 0.2))
	two := append(scru64Model(newModel(2, "", 3000, 0.2)), one[100:110]...)
	other := scru64Model(newModel(3, "", 3000, 0.2))
	for i, l := range other { // another node ID
		v, _, _ := formatSCRU64.read([]byte(l))
		v.hi ^= 1 << 22
		other[i] = formatSCRU64.text(v, 0)
	}
	sources := []Source{sourceOf("one", one, false), sourceOf("two", two, false), sourceOf("other", other, false)}
	for size, want := range map[int]string{0: "00101010...", 8: "42/8", 4: "2/4"} {
		r, err := Unique(t.Context(), "scru64", sources, UniqueOptions{NodeIDSize: size, Dir: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		// By chance the models share other IDs, too.
		if len(r.Clashes) != 1 || r.Clashes[0].Sources != [2]string{"one", "two"} || r.Clashes[0].Node != want || r.Clashes[0].Duplicates < 10 {
			t.Errorf("size %d: %+v", size, r.Clashes)
		}
		if size == 8 && (r.Sources[0].Node != "42/8" || r.Sources[2].Node != "106/8") {
			t.Errorf("nodes %s and %s", r.Sources[0].Node, r.Sources[2].Node)
		}
	}
}

// Bad lines, sources that cannot be read, and none at all.
func TestUniqueTrouble(t *testing.T) {
	lines := sample("scru128", 100)
	lines[50] = "what?"
	broken := Source{Name: "broken", Open: func() (io.ReadCloser, error) {
		return io.NopCloser(io.MultiReader(strings.NewReader(text(sample("scru128", 10))), &failing{})), nil
	}}
	r, err := Unique(t.Context(), "scru128", []Source{sourceOf("a", lines, false), broken}, UniqueOptions{})
	if err != nil || r.Status != Fail || r.Sources[0].Bad != 1 || r.Sources[0].Examples[0].Line != 51 || !strings.Contains(r.Sources[1].Error, "cut") {
		t.Errorf("%v, %+v", err, r)
	}
	if r.Duplicates != 10 {
		t.Errorf("%d duplicates, want 10", r.Duplicates)
	}
	missing := FileSource(filepath.Join(t.TempDir(), "none"))
	if r, err := Unique(t.Context(), "scru128", []Source{missing}, UniqueOptions{}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v, %v", r, err)
	}
	if r, err := Unique(t.Context(), "scru128", nil, UniqueOptions{}); err != nil || r.Status != Fail {
		t.Errorf("no source: %v, %v", r, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if r, err := Unique(ctx, "scru128", []Source{sourceOf("a", lines, true)}, UniqueOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v, %v", r, err)
	}
	noDisk := filepath.Join(t.TempDir(), "none")
	if r, err := Unique(t.Context(), "scru128", []Source{sourceOf("a", lines, true)}, UniqueOptions{Dir: noDisk}); err == nil {
		t.Errorf("no place on disk: %v, %v", r, err)
	}
	for _, c := range []struct {
		scheme string
		o      UniqueOptions
	}{{"x", UniqueOptions{}}, {"scru128", UniqueOptions{NodeIDSize: 3}}, {"scru64", UniqueOptions{NodeIDSize: 24}}} {
		if _, err := Unique(t.Context(), c.scheme, nil, c.o); !errors.Is(err, ErrOption) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, errors.New("the cable is cut") }

func TestDetect(t *testing.T) {
	for _, scheme := range Schemes() {
		if got, ok := Detect([]byte("# IDs\r\n\n" + text(sample(scheme, 3)))); !ok || got != scheme {
			t.Errorf("%s: %s, %v", scheme, got, ok)
		}
	}
	if got, ok := Detect([]byte("what\nis\nthis\n")); ok {
		t.Errorf("words are %s", got)
	}
}
