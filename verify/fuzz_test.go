package verify

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

// lineCount counts lines as the tester does: the last one need not end.
func lineCount(b []byte) uint64 {
	n := bytes.Count(b, []byte("\n"))
	if len(b) > 0 && b[len(b)-1] != '\n' {
		n++
	}
	return uint64(n)
}

// Whatever the input, there is a report that adds up, and it does not depend on how the
// input is cut.
func FuzzCheck(f *testing.F) {
	for i, scheme := range Schemes() {
		lines := sample(scheme, 40)
		f.Add(uint8(i), uint8(0), []byte(text(lines)))
		slices.Reverse(lines)
		f.Add(uint8(i), uint8(1), []byte(text(lines)))
		lines[7] = "?"
		lines[9] = strings.ToLower(lines[9])
		lines[10] = strings.ToUpper(lines[10])
		lines[12] = lines[11]
		f.Add(uint8(i), uint8(2), []byte(strings.Join(lines, "\r\n")))
	}
	f.Add(uint8(1), uint8(0), []byte("\ufeff\n\n\r\n0\n0000000000000000000000000\nf5lxx1zz5pnorynqglhzmsp33"))
	f.Add(uint8(1), uint8(0), []byte("\ufeff"))
	f.Fuzz(func(t *testing.T, scheme, mode uint8, input []byte) {
		fm := formats[int(scheme)%len(formats)]
		o := Options{Now: func() time.Time { return modelNow }, Unordered: mode&1 != 0, Live: mode&2 != 0}
		if mode&4 != 0 && fm == &formatSCRU128 {
			o.Stateless = true
		}
		if mode&8 != 0 && fm == &formatSCRU160 {
			o.Usage = UsageMicroseconds
		}
		if mode&16 != 0 && fm == &formatSCRU64 {
			o.Nodes = []string{"42/8"}
		}
		r, err := Check(t.Context(), fm.name, bytes.NewReader(input), o)
		if err != nil {
			t.Fatal(err)
		}
		if r.Lines != lineCount(input) || r.IDs > r.Lines || r.Bytes != uint64(len(input)) {
			t.Errorf("%d lines, want %d; %d IDs, %d bytes of %d", r.Lines, lineCount(input), r.IDs, r.Bytes, len(input))
		}
		if (r.Status == Fail) != (len(r.Failed()) > 0) || r.IDs == 0 && r.Status != Fail {
			t.Errorf("status %s with %d IDs and %d failed checks", r.Status, r.IDs, len(r.Failed()))
		}
		for _, c := range r.Checks {
			if c.Count < uint64(len(c.Examples)) || c.Status == Fail && c.Count == 0 || c.Status == Pass && c.Count > 0 {
				t.Errorf("%+v", c)
			}
			for _, e := range c.Examples {
				if e.Line > r.Lines {
					t.Errorf("%s: line %d of %d", c.Name, e.Line, r.Lines)
				}
			}
		}
		if o.Live { // which looks at the blocks
			return
		}
		again, err := Check(t.Context(), fm.name, iotest.OneByteReader(bytes.NewReader(input)), o)
		if err != nil || again.Lines != r.Lines || again.IDs != r.IDs || !slices.Equal(names(again.Failed()), names(r.Failed())) {
			t.Errorf("byte by byte: %v, %d lines, %d IDs, %v; at once %d, %d, %v", err,
				again.Lines, again.IDs, names(again.Failed()), r.Lines, r.IDs, names(r.Failed()))
		}
	})
}

// The duplicates of any input, cut into three sources, are those of a map.
func FuzzUnique(f *testing.F) {
	for i, scheme := range Schemes() {
		lines := append(sample(scheme, 30), sample(scheme, 20)...)
		f.Add(uint8(i), uint8(0), uint16(200), uint16(500), []byte(text(lines)))
		slices.Sort(lines)
		lines[3] = "x"
		f.Add(uint8(i), uint8(5), uint16(0), uint16(1), []byte(text(lines)))
	}
	f.Fuzz(func(t *testing.T, scheme, once uint8, a, b uint16, input []byte) {
		fm := formats[int(scheme)%len(formats)]
		cuts := []int{0, min(int(min(a, b)), len(input)), min(int(max(a, b)), len(input)), len(input)}
		want := map[id]uint64{}
		ids := uint64(0)
		var sources []Source
		for i := range 3 {
			part := input[cuts[i]:cuts[i+1]]
			sources = append(sources, Source{
				Name: string(rune('a' + i)), Once: once>>i&1 != 0,
				Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(part)), nil },
			})
			// The lines as Check sees them.
			src := newSource(t.Context(), bytes.NewReader(part), reading{f: fm, now: time.Now, size: 1 << 16, readers: 1})
			for b := src.next(t.Context()); b != nil; b = src.next(t.Context()) {
				for _, v := range b.ids {
					want[v]++
					ids++
				}
				src.done(b)
			}
			src.close()
		}
		var duplicates, extra uint64
		for _, n := range want {
			if n > 1 {
				duplicates++
				extra += n - 1
			}
		}
		r, err := Unique(t.Context(), fm.name, sources, UniqueOptions{Dir: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		if r.IDs != ids || r.Duplicates != duplicates || r.Extra != extra {
			t.Errorf("%d IDs, %d duplicates, %d extra lines; want %d, %d, %d", r.IDs, r.Duplicates, r.Extra, ids, duplicates, extra)
		}
	})
}
