package verify

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/verify/internal/controls"
	"github.com/sortid/sortid/verify/report"
)

// For any input, the counts of the report are consistent. They do not depend on the sizes of reads.
func FuzzCheck(f *testing.F) {
	for i, known := range format.Ours() {
		formatName := known.Name()
		lines := controls.Sample(formatName, 40)
		f.Add(uint8(i), uint8(0), []byte(controls.Text(lines)))
		slices.Reverse(lines)
		f.Add(uint8(i), uint8(1), []byte(controls.Text(lines)))
		lines[7] = "?"
		lines[9] = strings.ToLower(lines[9])
		lines[10] = strings.ToUpper(lines[10])
		lines[12] = lines[11]
		f.Add(uint8(i), uint8(2), []byte(strings.Join(lines, "\r\n")))
	}
	f.Add(uint8(1), uint8(0), []byte(
		"\ufeff\n\n\r\n0\n0000000000000000000000000\nf5lxx1zz5pnorynqglhzmsp33"))
	f.Add(uint8(1), uint8(0), []byte("\ufeff"))
	f.Fuzz(func(t *testing.T, which, mode uint8, input []byte) {
		fm := format.Ours()[int(which)%len(format.Ours())]
		o := Options{Now: func() time.Time { return controls.Now }, Unordered: mode&1 != 0,
			Live: mode&2 != 0}
		if mode&4 != 0 && fm.Name() == "scru128" {
			o.Stateless = true
		}
		if mode&8 != 0 && fm.Name() == "scru160" {
			o.Usage = UsageMicroseconds
		}
		if mode&16 != 0 && fm.Name() == "scru64" {
			o.Nodes = []string{"42/8"}
		}
		r, err := Check(t.Context(), fm.Name(), bytes.NewReader(input), o)
		if err != nil {
			t.Fatal(err)
		}
		lines := uint64(len(slices.Collect(bytes.Lines(input))))
		if r.Lines != lines || r.IDs > r.Lines || r.Bytes != uint64(len(input)) {
			t.Errorf("%d lines, want %d; %d IDs, %d bytes of %d", r.Lines, lines, r.IDs,
				r.Bytes, len(input))
		}
		if (r.Status == report.Fail) != (len(r.Failed()) > 0) || r.IDs == 0 &&
			r.Status != report.Fail {
			t.Errorf("status %s with %d IDs and %d failed checks", r.Status, r.IDs, len(r.Failed()))
		}
		for _, c := range r.Checks {
			if c.Count < uint64(len(c.Examples)) || c.Status == report.Fail && c.Count == 0 ||
				c.Status == report.Pass && c.Count > 0 {
				t.Errorf("%+v", c)
			}
			for _, e := range c.Examples {
				if e.Line > r.Lines {
					t.Errorf("%s: line %d of %d", c.Name, e.Line, r.Lines)
				}
			}
		}
		if o.Live {
			return
		}
		again, err := Check(t.Context(), fm.Name(), iotest.OneByteReader(bytes.NewReader(input)), o)
		if err != nil || again.Lines != r.Lines || again.IDs != r.IDs ||
			!slices.Equal(names(again.Failed()), names(r.Failed())) {
			t.Errorf("byte by byte: %v, %d lines, %d IDs, %v; at once %d, %d, %v", err,
				again.Lines, again.IDs, names(again.Failed()), r.Lines, r.IDs, names(r.Failed()))
		}
	})
}
