package duplicates

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"github.com/sortid/sortid"
	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/generate"
	"github.com/sortid/sortid/internal/check"
	"github.com/sortid/sortid/internal/extsort"
	"github.com/sortid/sortid/internal/gencore"
	"github.com/sortid/sortid/internal/integer"
	"github.com/sortid/sortid/internal/spec"
	"github.com/sortid/sortid/verify/internal/controls"
	"github.com/sortid/sortid/verify/internal/sample"
	"github.com/sortid/sortid/verify/report"
)

func source(name string, once bool, open func() io.Reader) Source {
	return Source{Name: name, Once: once,
		Open: func() (io.ReadCloser, error) { return io.NopCloser(open()), nil }}
}

func sourceOf(name string, lines []string, once bool) Source {
	return source(name, once, func() io.Reader { return strings.NewReader(controls.Text(lines)) })
}

// duplicates returns what Find must find.
func duplicates(sources map[string][]string) map[string][]report.Place {
	all := map[string][]report.Place{}
	for name, lines := range sources {
		for i, l := range lines {
			all[l] = append(all[l], report.Place{Source: name, Line: uint64(i + 1)})
		}
	}
	for l, places := range all {
		if len(places) < 2 {
			delete(all, l)
			continue
		}
		slices.SortFunc(places, func(a, b report.Place) int {
			return cmp.Or(strings.Compare(a.Source, b.Source), cmp.Compare(a.Line, b.Line))
		})
	}
	return all
}

func TestFind(t *testing.T) {
	for _, f := range format.Ours() {
		formatName := f.Name()
		for seed := range uint64(12) {
			r := rand.New(rand.NewPCG(seed, 1))
			lines := map[string][]string{}
			var sources []Source
			var all []string
			var total uint64
			for i := range 1 + r.IntN(8) {
				name := fmt.Sprint("source ", i)
				l := controls.Find(formatName, "").Make(
					controls.New(seed*100+uint64(i), "", 1+r.IntN(6000), 0.2))
				if len(all) > 0 {
					for range r.IntN(4) {
						l = append(l, all[r.IntN(len(all))])
					}
				}
				all = append(all, l...)
				if r.IntN(2) == 0 {
					slices.SortFunc(l, func(a, b string) int {
						x, _, _, _ := sample.FormatOf(spec.Of(f)).ReadLine([]byte(a))
						y, _, _, _ := sample.FormatOf(spec.Of(f)).ReadLine([]byte(b))
						return x.Compare(y)
					})
				}
				lines[name] = l
				total += uint64(len(l))
				sources = append(sources, sourceOf(name, l, r.IntN(4) == 0))
			}
			want := duplicates(lines)
			var last integer.Words
			got, err := Find(t.Context(), formatName, sources,
				Options{Dir: t.TempDir(), Each: func(d report.Duplicate) {
					if !slices.Equal(want[d.Text], d.Places) || d.Count != uint64(len(d.Places)) {
						t.Errorf("%s, seed %d: %v, want %v", formatName, seed, d, want[d.Text])
					}
					delete(want, d.Text)
					v, _, _, _ := sample.FormatOf(spec.Of(f)).ReadLine([]byte(d.Text))
					if v.Less(&last) {
						t.Errorf("%s comes after %s", d.Text, sample.FormatOf(spec.Of(f)).InEncoding(last, spec.Text))
					}
					last = v
				}})
			if err != nil {
				t.Fatal(err)
			}
			for l, places := range want {
				t.Errorf("%s, seed %d: %s on %v is not found", formatName, seed, l, places)
			}
			if got.IDs != total || (got.Status == report.Pass) != (got.Duplicates == 0) {
				t.Errorf("%s, seed %d: %d IDs, want %d; %s with %d duplicates", formatName, seed,
					got.IDs, total, got.Status, got.Duplicates)
			}
			for i, s := range got.Sources {
				if s.Name != sources[i].Name || s.IDs != uint64(len(lines[s.Name])) || s.Bad != 0 ||
					s.Error != "" {
					t.Errorf("%s, seed %d: %+v", formatName, seed, s)
				}
			}
		}
	}
}

func TestFindEveryFormat(t *testing.T) {
	for _, f := range format.All() {
		lines := []string{f.Example(), f.Example()}
		got, err := Find(t.Context(), f.Name(), []Source{sourceOf("a", lines, false)},
			Options{Dir: t.TempDir()})
		if err != nil {
			t.Errorf("%s: %v", f.Name(), err)
		} else if got.IDs == 2 && (got.Duplicates != 1 || got.First[0].Text == "") {
			t.Errorf("%s: %+v", f.Name(), got)
		} else if got.IDs != 2 && f.Generates() {
			t.Errorf("%s: %d IDs in %q", f.Name(), got.IDs, lines)
		}
	}
}

func TestFindManySources(t *testing.T) {
	dir := t.TempDir()
	var sources []Source
	for i := range 2*extsort.MaxFanIn + 10 {
		sources = append(sources,
			sourceOf(fmt.Sprint(i), controls.Find("scru128", "").Make(
				controls.New(uint64(i%(2*extsort.MaxFanIn+9)), "", 20, 0.2)), false))
	}
	r, err := Find(t.Context(), "scru128", sources, Options{Dir: dir})
	if err != nil || r.Duplicates != 20 || r.First[0].Places[0].Source != "0" ||
		r.First[0].Places[1].Source != fmt.Sprint(len(sources)-1) {
		t.Errorf("%d sources: %v, %+v", len(sources), err, r.First)
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("left on disk: %v", left)
	}
}

func TestFindNodes(t *testing.T) {
	one := controls.SCRU64(controls.New(1, "", 3000, 0.2))
	two := append(controls.SCRU64(controls.New(2, "", 3000, 0.2)), one[100:110]...)
	other := controls.SCRU64(controls.New(3, "", 3000, 0.2))
	for i, l := range other { // change the node ID
		v, _, _, _ := sample.FormatOf(spec.Of(gencore.Must(format.Lookup("scru64")))).ReadLine([]byte(l))
		v.Low ^= 1 << 22
		other[i] = sample.FormatOf(spec.Of(gencore.Must(format.Lookup("scru64")))).InEncoding(v, spec.Text)
	}
	sources := []Source{sourceOf("one", one, false), sourceOf("two", two, false),
		sourceOf("other", other, false)}
	for size, want := range map[int]string{0: "00101010...", 8: "42/8", 4: "2/4"} {
		r, err := Find(t.Context(), "scru64", sources, Options{NodeBits: size, Dir: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		// By chance, the sources can share more IDs.
		if len(r.Clashes) != 1 || r.Clashes[0].Sources != [2]string{"one", "two"} ||
			r.Clashes[0].Node != want || r.Clashes[0].Duplicates < 10 {
			t.Errorf("size %d: %+v", size, r.Clashes)
		}
		if size == 8 && (r.Sources[0].Node != "42/8" || r.Sources[2].Node != "106/8") {
			t.Errorf("node IDs %s and %s, want 42/8 and 106/8", r.Sources[0].Node, r.Sources[2].Node)
		}
	}
}

func TestFindTrouble(t *testing.T) {
	lines := controls.Sample("scru128", 100)
	lines[50] = "what?"
	broken := source("broken", false, func() io.Reader {
		return io.MultiReader(strings.NewReader(controls.Text(controls.Sample("scru128", 10))),
			iotest.ErrReader(errors.New("the cable is cut")))
	})
	r, err := Find(t.Context(), "scru128", []Source{sourceOf("a", lines, false), broken}, Options{})
	if err != nil || r.Status != report.Fail || r.Sources[0].Bad != 1 ||
		r.Sources[0].Examples[0].Line != 51 || !strings.Contains(r.Sources[1].Error, "cut") {
		t.Errorf("a bad line and a read error: %v, %+v", err, r)
	}
	if r.Duplicates != 10 {
		t.Errorf("%d duplicates, want 10", r.Duplicates)
	}
	missing := File(filepath.Join(t.TempDir(), "none"))
	if r, err := Find(t.Context(), "scru128", []Source{missing}, Options{}); !errors.Is(err,
		os.ErrNotExist) {
		t.Errorf("a missing file: %v, %v", r, err)
	}
	if r, err := Find(t.Context(), "scru128", nil, Options{}); err != nil ||
		r.Status != report.Fail {
		t.Errorf("no source: %v, %v", r, err)
	}
	noDisk := filepath.Join(t.TempDir(), "none")
	if r, err := Find(t.Context(), "scru128", []Source{sourceOf("a",
		slices.Concat(lines, lines), true)}, Options{Dir: noDisk}); err == nil {
		t.Errorf("without a folder for duplicates: %v, %v", r, err)
	}
	for _, c := range []struct {
		format string
		o      Options
	}{{"x", Options{}}, {"scru128", Options{NodeBits: 3}}, {"scru64", Options{NodeBits: 24}}} {
		if _, err := Find(t.Context(), c.format, nil, c.o); !errors.Is(err, sortid.ErrOption) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// Find counts the same duplicates as a map, in any input that is cut into three sources.
func FuzzFind(f *testing.F) {
	for i, known := range format.Ours() {
		formatName := known.Name()
		lines := append(controls.Sample(formatName, 30), controls.Sample(formatName, 20)...)
		f.Add(uint8(i), uint8(0), uint16(200), uint16(500), []byte(controls.Text(lines)))
		slices.Sort(lines)
		lines[3] = "x"
		f.Add(uint8(i), uint8(5), uint16(0), uint16(1), []byte(controls.Text(lines)))
	}
	f.Fuzz(func(t *testing.T, which, once uint8, a, b uint16, input []byte) {
		fm := format.Ours()[int(which)%len(format.Ours())]
		cuts := []int{0, min(int(min(a, b)), len(input)), min(int(max(a, b)), len(input)),
			len(input)}
		want := map[integer.Words]uint64{}
		total := uint64(0)
		var sources []Source
		for i := range 3 {
			part := input[cuts[i]:cuts[i+1]]
			sources = append(sources, source(string(rune('a'+i)), once>>i&1 != 0,
				func() io.Reader { return bytes.NewReader(part) }))
			src := sample.New(t.Context(), bytes.NewReader(part),
				sample.Options{Format: sample.FormatOf(spec.Of(fm)), Size: 1 << 16})
			for b := src.Next(); b != nil; b = src.Next() {
				for _, v := range b.IDs {
					want[v]++
					total++
				}
				src.Release(b)
			}
			src.Close()
		}
		var duplicates, extra uint64
		for _, n := range want {
			if n > 1 {
				duplicates++
				extra += n - 1
			}
		}
		r := check.Must(Find(t.Context(), fm.Name(), sources, Options{Dir: t.TempDir()}))(t)
		if r.IDs != total || r.Duplicates != duplicates || r.Extra != extra {
			t.Errorf("%d IDs, %d duplicates, %d extra lines; want %d, %d, %d", r.IDs, r.Duplicates,
				r.Extra, total, duplicates, extra)
		}
	})
}

func TestGeneratorsUnique(t *testing.T) {
	const generators, each = 6, 50_000
	for _, f := range format.Ours() {
		if generate.NeedsNode(f) {
			continue
		}
		var sources []Source
		var wg sync.WaitGroup
		for i := range generators {
			g := check.Must(generate.New(f, generate.Options{}))(t)
			var text []byte
			sources = append(sources, source(fmt.Sprint(i), false, func() io.Reader {
				return bytes.NewReader(text)
			}))
			wg.Go(func() {
				for range each {
					id, err := g.Next(t.Context())
					if err != nil {
						t.Error(err)
					}
					text = append(id.Append(text, format.Text), '\n')
				}
			})
		}
		wg.Wait()
		r, err := Find(t.Context(), f.Name(), sources, Options{})
		if err != nil || r.Status != report.Pass || r.IDs != generators*each {
			t.Errorf("%s: %v, %+v", f.Name(), err, r)
		}
	}
}

// endless reads some bytes. Then it cancels the context and waits until the context has ended.
type endless struct {
	io.Reader
	left   int
	cancel context.CancelFunc
	done   <-chan struct{}
}

func (e *endless) Read(b []byte) (int, error) {
	if e.left <= 0 {
		e.cancel()
		<-e.done
	}
	n, err := e.Reader.Read(b)
	e.left -= n
	return n, err
}

func TestInterrupted(t *testing.T) {
	lines := controls.Sample("scru128", 200_000)
	lines = slices.Insert(lines, 1000, lines[999])
	for _, c := range []struct {
		name       string
		once       bool
		left       int
		status     report.Status
		duplicates uint64
		compared   bool
	}{
		{"at once", false, 0, report.Warn, 0, false},
		{"comparing", false, 3_000_000, report.Fail, 1, true},
		{"sorting", true, 3_000_000, report.Warn, 0, false},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		dir := t.TempDir()
		endless := source("a", c.once, func() io.Reader {
			return &endless{strings.NewReader(controls.Text(lines)), c.left, cancel, ctx.Done()}
		})
		r, err := Find(ctx, "scru128", []Source{endless}, Options{Dir: dir})
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if !r.Interrupted || r.Status != c.status || r.Duplicates != c.duplicates ||
			(r.Compared > 0) != c.compared ||
			r.IDs >= uint64(len(lines)) || r.Compared > r.IDs || c.left > 0 && r.IDs == 0 {
			t.Errorf("%s: %+v", c.name, r)
		}
		if left, _ := os.ReadDir(dir); len(left) > 0 {
			t.Errorf("%s: left on disk: %v", c.name, left)
		}
	}
}

func TestProgress(t *testing.T) {
	dir := t.TempDir()
	lines := controls.Sample("scru128", 300_000)
	slices.Reverse(lines[len(lines)-1000:])
	name := filepath.Join(dir, "ids")
	check.OK(t, os.WriteFile(name, []byte(controls.Text(lines)), 0o600))
	last := map[Stage]Progress{}
	s := &search{ctx: t.Context(), f: sample.FormatOf(spec.Of(gencore.Must(format.Lookup("scru128")))), sources: []Source{File(name)},
		dir: extsort.Dir{Parent: dir}}
	defer s.dir.Close()
	s.o.Progress = func(p Progress) {
		if before := last[p.Stage]; p.Total == before.Total && p.Done < before.Done ||
			p.Done > p.Total {
			t.Errorf("%+v after %+v", p, before)
		}
		last[p.Stage] = p
		s.progress.shown = time.Time{} // so that each block is shown
	}
	s.progress.shown = time.Time{}
	check.OK(t, s.run())
	size := int64(len(lines) * 26)
	for stage, total := range map[Stage]int64{StageOrder: size, StageSort: size,
		StageCompare: int64(len(lines) * 32)} {
		if p := last[stage]; p.Total != total || p.Done == 0 {
			t.Errorf("%s: %+v, want a total of %d", stage, p, total)
		}
	}
}
