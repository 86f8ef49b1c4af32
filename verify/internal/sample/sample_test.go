package sample_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/sortid/sortid/internal/gencore"
	"github.com/sortid/sortid/internal/spec"
	"github.com/sortid/sortid/verify"
	"github.com/sortid/sortid/verify/internal/controls"
	"github.com/sortid/sortid/verify/internal/sample"
)

type outcome struct {
	lines, ids uint64
	segments   []uint64 // the lines where a new encoding begins
	gaps       int
	faults     [sample.FaultCount]uint64
	err        error
}

func read(t *testing.T, f *spec.Format, r io.Reader, o sample.Options) (all outcome) {
	o.Format = sample.FormatOf(f)
	in := sample.New(t.Context(), r, o)
	defer in.Close()
	encoding, gap := spec.Encoding(""), false
	for b := in.Next(); b != nil; b = in.Next() {
		for i, s := range b.Segments {
			if s.Encoding != encoding {
				all.segments = append(all.segments, all.lines+s.Line+1)
				encoding = s.Encoding
			}
			if all.ids > 0 && (s.Gap || gap) {
				all.gaps++
			}
			gap = false
			list := b.Segment(i)
			if s.Rising != (sample.Ascending(list) == len(list)) {
				t.Errorf("segment %d: Rising is %v", i, s.Rising)
			}
			all.ids += uint64(len(list))
		}
		gap = b.EndsBad || gap && len(b.Segments) == 0
		for i := range b.Faults {
			all.faults[i] += b.Faults[i].Count
		}
		all.lines += b.Lines
		all.err = b.Err
		in.Release(b)
	}
	return all
}

func TestRead(t *testing.T) {
	f := gencore.Must(spec.Lookup("scru128"))
	lines := controls.Sample("scru128", 400)
	for i := 100; i < 200; i++ {
		v, _, _, err := sample.FormatOf(f).ReadLine([]byte(lines[i]))
		if err != nil {
			t.Fatal(err)
		}
		lines[i] = sample.FormatOf(f).InEncoding(v, spec.Hex)
	}
	lines[50] = "what?"
	lines[51] = ""
	lines[300] = strings.Repeat("x", 5000)
	lines[301] = strings.ToUpper(lines[301])
	text := controls.Text(lines)
	for _, size := range []int{600, 601, 4096, sample.BlockSize} {
		for name, r := range map[string]io.Reader{
			"whole": strings.NewReader(text), "bytes": iotest.OneByteReader(
				strings.NewReader(text)), "half": iotest.HalfReader(strings.NewReader(text)),
		} {
			for _, parsers := range []int{1, 3} {
				got := read(t, f, r, sample.Options{Size: size, Parsers: parsers})
				long := sample.BadLength
				if size < 5000 {
					long = sample.TooLong
				}
				want := outcome{lines: 400, ids: 397, segments: []uint64{1, 101, 201}, gaps: 2,
					err: io.EOF}
				for _, f := range []sample.Fault{sample.BadLength, sample.Blank,
					sample.BadCase, long} {
					want.faults[f]++
				}
				if !reflect.DeepEqual(got, want) {
					t.Errorf("size %d, %s, %d parsers: %+v, want %+v", size, name, parsers, got,
						want)
				}
				r = strings.NewReader(text)
			}
		}
	}
}

// Next returns everything that was read before an error. Reading ends when the context ends.
func TestEnds(t *testing.T) {
	f := gencore.Must(spec.Lookup("euid"))
	broken := errors.New("the cable is cut")
	text := controls.Text(controls.Sample("euid", 100))
	if got := read(t, f, io.MultiReader(strings.NewReader(text), iotest.ErrReader(broken)),
		sample.Options{}); got.ids != 100 || got.err != broken {
		t.Errorf("%+v", got)
	}
	ctx, cancel := context.WithCancel(t.Context())
	r, w := io.Pipe()
	defer w.Close()
	in := sample.New(ctx, r, sample.Options{Format: sample.FormatOf(f)})
	defer in.Close()
	cancel()
	if b := in.Next(); b != nil {
		t.Errorf("after the context has ended, Next returns %d lines", b.Lines)
	}
}

func TestOpen(t *testing.T) {
	name := filepath.Join(t.TempDir(), "ids")
	if err := os.WriteFile(name, make([]byte, 1000), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		size int64
		want error
	}{{100, verify.ErrShrunk}, {1000, nil}, {2000, nil}} {
		f, err := verify.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(name, c.size); err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(f)
		if !errors.Is(err, c.want) || int64(len(b)) != c.size ||
			f.(interface{ Position() int64 }).Position() != c.size {
			t.Errorf("cut to %d: %d bytes, %v", c.size, len(b), err)
		}
		f.Close()
		if err := os.Truncate(name, 1000); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := verify.Open(t.TempDir()); err == nil ||
		!strings.Contains(err.Error(), "directory") {
		t.Errorf("a directory: %v", err)
	}
}
