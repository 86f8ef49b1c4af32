package verify

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/sortid/sortid"
	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/internal/integer"
	"github.com/sortid/sortid/internal/spec"
	"github.com/sortid/sortid/scru128"
	"github.com/sortid/sortid/scru160"
	"github.com/sortid/sortid/verify/internal/controls"
	"github.com/sortid/sortid/verify/internal/sample"
	"github.com/sortid/sortid/verify/report"
)

func names(cs []report.Outcome) (names []string) {
	for _, c := range cs {
		names = append(names, c.Name)
	}
	return names
}

func TestInput(t *testing.T) {
	lines := controls.Sample("scru128", 1000)
	sound := controls.Text(lines)
	seq := ""
	for i := range 1000 {
		seq += fmt.Sprintln(i)
	}
	replaced := func(line string) string { return strings.Replace(sound, lines[499], line, 1) }
	mixed := controls.Sample("scru160", 11)
	mixed[10] = scru160.MustParse(mixed[10]).Hex()
	for _, c := range []struct {
		name, format, input string
		fail, warn          []string
		word                string
		line                uint64 // line of the first example
	}{
		{name: "sound", input: sound},
		{name: "no newline at the end", input: strings.TrimSuffix(sound, "\n")},
		{name: "one line", input: lines[0] + "\n"},
		{name: "one line, no newline", input: lines[0]},
		{name: "empty", fail: []string{"input.ids"}, word: "the input is empty"},
		{name: "newline", input: "\n", fail: []string{"input.ids", "form.blank"},
			word: "none of 1 line"},
		{name: "numbers", input: seq, fail: []string{"input.ids", "form.range"},
			word: "none of 1,000 lines is a scru128 ID"},
		{name: "windows", input: strings.ReplaceAll(sound, "\n", "\r\n"),
			warn: []string{"form.lineend"}, word: "CR LF", line: 1},
		{name: "byte order mark", input: "\ufeff" + sound, warn: []string{"form.lineend"},
			word: "byte order mark", line: 1},
		{name: "utf-16", input: utf16(sound), fail: []string{"input.ids", "form.length"},
			word: "UTF-16"},
		{name: "gzip", input: "\x1f\x8b\x08" + sound[:40],
			fail: []string{"input.ids", "form.length"}, word: "gzip"},
		{name: "upper", input: strings.ToUpper(sound), warn: []string{"form.case"}, word: lines[0],
			line: 1},
		{name: "one upper", input: replaced(strings.ToUpper(lines[499])),
			warn: []string{"form.case"}, word: lines[499], line: 500},
		{name: "blank line", input: replaced(""), fail: []string{"form.blank"}, line: 500},
		{name: "bad symbol", input: replaced(lines[499][:3] + "!" + lines[499][4:]),
			fail: []string{"form.symbol"}, word: "offset 3", line: 500},
		{name: "too large", input: replaced("f5lxx1zz5pnorynqglhzmsp34"),
			fail: []string{"form.range"}, word: "largest", line: 500},
		{name: "short line", input: replaced(lines[499][1:]), fail: []string{"form.length"},
			word: "24 bytes", line: 500},
		{name: "long line", input: replaced(strings.Repeat("x", 1000)),
			fail: []string{"form.length"}, word: "1000 bytes", line: 500},
		{name: "very long line", input: replaced(strings.Repeat("x", 1_000_000)),
			fail: []string{"form.line"}, word: "longer than 64 KiB", line: 500},
		{name: "very long, no end", input: strings.Repeat("0", 1_000_000),
			fail: []string{"input.ids", "form.line"}, word: "longer than 64 KiB"},
		{name: "64 KiB", input: replaced(strings.Repeat("x", 64<<10)),
			fail: []string{"form.length"}, word: "65536 bytes", line: 500},
		{name: "64 KiB and one byte", input: replaced(strings.Repeat("x", 64<<10+1)),
			fail: []string{"form.line"}, word: "longer than 64 KiB", line: 500},
		{name: "other format", input: replaced(controls.Sample("scru64", 1)[0]),
			fail: []string{"form.format"}, word: "is a scru64 ID", line: 500},
		{name: "other format of variable length", input: replaced(controls.Sample("uid60", 1)[0]),
			fail: []string{"form.format"}, word: "is a uid60 ID", line: 500},
		{name: "zeros", input: replaced("0000000000000000000000000"),
			fail: []string{"form.reserved", "order.behind"}, word: "timestamp 0", line: 500},
		{name: "header", input: "uuid_v7\n" + sound, fail: []string{"form.length"},
			word: "a header: leave it out", line: 1},
		{name: "footer", input: sound + "(1000 rows)\n", fail: []string{"form.length"},
			word: "the footer of a table", line: 1001},
		{name: "table", input: " id\n----\n" + sound, fail: []string{"form.length"},
			word: "the line of a table", line: 1},
		{name: "mixed encodings", format: "scru160", input: controls.Text(mixed),
			fail: []string{"order.text"}, word: "has the encoding hex", line: 11},
		{name: "check symbol", format: "euid", input: "C8EE934SR007G5Q94QKKXFRFV8C\n",
			fail: []string{"input.ids", "form.check"}, word: "mistyped", line: 1},
		{name: "aliases", format: "euid", input: strings.Replace("C8EE934SR007G5Q94QKKXFRFV8B\n",
			"0", "O", 1), warn: nil, fail: []string{"form.roundtrip"}, word: "C8EE934SR007",
			line: 1},
		{name: "padding", format: "uid60", input: "xiAnaS8QBh\n", fail: []string{"form.roundtrip"},
			word: "xinaS8QBh", line: 1},
		{name: "binary", input: "\x00\x01\x02\n\xff\xfe\n",
			fail: []string{"input.ids", "form.length"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.format == "" {
				c.format = "scru128"
			}
			slow := iotest.OneByteReader
			if len(c.input) > 1<<16 {
				slow = iotest.HalfReader
			}
			for _, r := range []io.Reader{strings.NewReader(c.input),
				slow(strings.NewReader(c.input)), iotest.DataErrReader(strings.NewReader(c.input)),
			} {
				r, err := Check(t.Context(), c.format, r,
					Options{Now: func() time.Time { return controls.Now }})
				if err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(names(r.Failed()), c.fail) ||
					!slices.Equal(names(r.Warned()), c.warn) {
					t.Fatalf("fails %v, want %v; warns %v, want %v", names(r.Failed()), c.fail,
						names(r.Warned()), c.warn)
				}
				found, line := c.word == "", c.line == 0
				for _, o := range append(r.Failed(), r.Warned()...) {
					all := o.Detail
					for _, e := range o.Examples {
						all += e.Text + e.Note
					}
					found = found || strings.Contains(all, c.word)
					line = line || len(o.Examples) > 0 && o.Examples[0].Line == c.line
				}
				if !found || !line {
					t.Errorf("no finding has %q and line %d: %+v %+v", c.word, c.line, r.Failed(),
						r.Warned())
				}
			}
		})
	}
}

// Empty input passes no check. Lines without an ID pass only checks of the form and the input.
func TestNothingPassedWithoutIDs(t *testing.T) {
	for _, f := range format.Ours() {
		for _, input := range []string{"", "what?\n"} {
			r, err := Check(t.Context(), f.Name(), strings.NewReader(input), Options{Live: true})
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range r.Checks {
				if c.Status == report.Pass && (input == "" || c.Group() != "form" &&
					c.Group() != "input") {
					t.Errorf("%s, input %q: %s passed", f.Name(), input, c.Name)
				}
			}
		}
	}
}

func utf16(s string) string {
	b := []byte("\xff\xfe")
	for _, c := range []byte(s) {
		b = append(b, c, 0)
	}
	return string(b)
}

// Reserved timestamps are found at both ends of increasing IDs.
func TestReserved(t *testing.T) {
	for _, f := range format.Ours() {
		if !spec.Of(f).Reserved {
			continue
		}
		lines := controls.Sample(f.Name(), 100)
		least := sample.FormatOf(spec.Of(f)).InEncoding(integer.Words{}, spec.Text)
		greatest := sample.FormatOf(spec.Of(f)).InEncoding(spec.Of(f).Codec.Max, spec.Text)
		for _, c := range []struct {
			lines []string
			found []uint64
		}{
			{lines, nil},
			{slices.Concat([]string{least}, lines), []uint64{1}},
			{slices.Concat(lines, []string{greatest}), []uint64{101}},
			{slices.Concat([]string{least}, lines, []string{greatest}), []uint64{1, 102}},
		} {
			var found []uint64
			for _, e := range check(t, f.Name(), c.lines, Options{}).Check("form.reserved").Examples {
				found = append(found, e.Line)
			}
			if !slices.Equal(found, c.found) {
				t.Errorf("%s: found in lines %d, want %d", f.Name(), found, c.found)
			}
		}
	}
}

// After a line without an ID, a gap in a counter is no fault.
func TestStepsAcrossBadLines(t *testing.T) {
	for _, f := range format.Ours() {
		formatName := f.Name()
		lines := controls.Sample(formatName, 5000)
		for i := 100; i < len(lines); i += 100 {
			lines[i] = "# a comment"
		}
		r := check(t, formatName, lines, options(controls.Find(formatName, "")))
		if got := names(r.Failed()); !slices.Equal(got, []string{"form.length"}) ||
			r.Check("form.length").Count != 49 {
			t.Errorf("%s: %+v", formatName, r.Failed())
		}
	}
}

// The report is the same with reads and blocks of any size, and goroutines of any speed.
func TestSchedules(t *testing.T) {
	whole := func(r io.Reader) io.Reader { return r }
	schedules := []struct {
		name                string
		size, readers, cpus int
		cut                 func(io.Reader) io.Reader
	}{
		{"one reader", sample.BlockSize, 1, 1, whole},
		{"a byte at a time", sample.BlockSize, 2, 4, iotest.OneByteReader},
		{"half of what is asked for", sample.BlockSize, 4, 4, iotest.HalfReader},
		{"small blocks", 997, 1, 1, whole},
		{"small blocks, more readers", 1009, 4, 4, whole},
		{"odd blocks", 26*512 + 1, 3, 4, iotest.DataErrReader},
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, s := range controls.Subjects {
		if testing.Short() && s.Format+s.Mode != "scru128" { // others have the same goroutines
			continue
		}
		for _, unordered := range []bool{false, true} {
			o := options(s)
			o.Now = func() time.Time { return controls.Now }
			o.Unordered = unordered
			lines := s.Make(controls.New(11, "", 12_000, 0.02))
			later := controls.New(12, "", 8000, 0.02)
			later.MS += 1 << 32
			other := slices.Concat(lines[:2148], controls.Find(s.Format, "").Make(later))
			odd := blemish(slices.Clone(lines))
			for input, lines := range map[string][]string{"sound": lines, "odd": odd,
				"two sources": other} {
				want := ""
				for _, how := range schedules {
					runtime.GOMAXPROCS(how.cpus)
					f, _ := format.Lookup(s.Format)
					c, err := newChecker(spec.Of(f), o)
					if err != nil {
						t.Fatal(err)
					}
					r := c.check(t.Context(), how.cut(strings.NewReader(controls.Text(lines))),
						sample.Options{Format: sample.FormatOf(spec.Of(f)), Now: o.Now, Size: how.size,
							Parsers: how.readers})
					r.Elapsed = 0
					got := fmt.Sprintf("%+v", r)
					if want == "" {
						want = got
					}
					if got != want {
						t.Errorf("%s %s, %s, unordered %v: %s: %s\nwant %s", s.Format, s.Mode,
							input, unordered, how.name, got, want)
					}
				}
			}
		}
	}
}

func blemish(lines []string) []string {
	r := rand.New(rand.NewPCG(3, 3))
	for range 200 {
		i := 1 + r.IntN(len(lines)-1)
		l := lines[i]
		if l == "" {
			continue
		}
		switch r.IntN(9) {
		case 0:
			l = lines[i-1]
		case 1:
			l, lines[i-1] = lines[i-1], l
		case 2:
			l = strings.ToUpper(l)
		case 3:
			l = strings.ToLower(l)
		case 4:
			l += "\r"
		case 5:
			l = ""
		case 6:
			l = l[:len(l)/2] + "!" + l[len(l)/2+1:]
		case 7:
			l = lines[r.IntN(len(lines))]
		case 8:
			l = strings.Repeat("long", 100)
		}
		lines[i] = l
	}
	return lines
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(b []byte) (int, error) { return f(b) }

func TestReadError(t *testing.T) {
	broken := errors.New("the cable is cut")
	r, err := Check(t.Context(), "scru128",
		io.MultiReader(strings.NewReader(controls.Text(controls.Sample("scru128", 100))),
			iotest.ErrReader(broken)), Options{})
	if err != nil || r.Status != report.Fail || r.IDs != 100 ||
		!strings.Contains(r.Check("input.read").Detail, broken.Error()) {
		t.Errorf("a reader that fails: %v, %+v", err, r)
	}
	r, err = Check(t.Context(), "scru128", readerFunc(func([]byte) (int, error) { return 0, nil }),
		Options{})
	if err != nil || r.Status != report.Fail {
		t.Errorf("a reader that returns no bytes: %v, %+v", err, r)
	}
}

// When the context ends, the report has all whole lines that were read.
func TestCancel(t *testing.T) {
	for _, live := range []bool{true, false} {
		ctx, cancel := context.WithCancel(t.Context())
		r, w := io.Pipe()
		o := Options{Now: func() time.Time { return controls.Now }, Live: live}
		if live {
			o.Progress = func(Progress) { cancel() }
		}
		go func() {
			io.WriteString(w, controls.Text(controls.Sample("scru128", 100))+"0372ijoj")
			w.Write(nil) // returns when the previous lines are read
			if !live {
				cancel()
			}
		}()
		report, err := Check(ctx, "scru128", r, o)
		if err != nil || report.IDs != 100 || report.Lines != 100 ||
			report.Facts[0].Name != "interrupted" {
			t.Errorf("live %v: %v, %+v", live, err, report)
		}
		cancel()
		w.Close()
	}
}

func TestOptions(t *testing.T) {
	for name, c := range map[string]struct {
		format string
		o      Options
	}{
		"format":       {"scru65", Options{}},
		"stateless":    {"scru64", Options{Stateless: true}},
		"nodes":        {"scru128", Options{Nodes: []string{"1/2"}}},
		"node spec":    {"scru64", Options{Nodes: []string{"1/25"}}},
		"two nodes":    {"scru64", Options{Nodes: []string{"1/2", "2/2"}}},
		"start":        {"scru128", Options{CounterStart: 3}},
		"start width":  {"scru160", Options{CounterStart: 99}},
		"usage":        {"scru160", Options{Usage: "x"}},
		"usage format": {"euid", Options{Usage: UsageDefault}},
		"extension":    {"scru160", Options{Extension: 17}},
		"both":         {"scru160", Options{Extension: 1, Usage: UsageMicroseconds}},
		"room":         {"scru160", Options{Extension: 10, NodeBits: 10}},
		"worker":       {"uid60", Options{NodeBits: 10}},
		"times":        {"uid60", Options{From: controls.Now, To: controls.Now.Add(-1)}},
		"raw":          {"scru128", Options{Raw: "random", RawTo: io.Discard}},
		"raw to":       {"scru128", Options{Raw: "entropy"}},
	} {
		if r, err := Check(t.Context(), c.format, strings.NewReader(""), c.o); !errors.Is(err,
			sortid.ErrOption) || r != nil {
			t.Errorf("%s: %v, %v", name, r, err)
		}
	}
}

func TestRaw(t *testing.T) {
	lines := controls.Sample("scru128", 3000)
	var want, got bytes.Buffer
	for _, l := range lines {
		e := scru128.MustParse(l).Entropy()
		want.Write([]byte{byte(e >> 24), byte(e >> 16), byte(e >> 8), byte(e)})
	}
	check(t, "scru128", lines, Options{Raw: "entropy", RawTo: &got})
	if !bytes.Equal(got.Bytes(), want.Bytes()) {
		t.Errorf("entropy: %d bytes, want %d, or their values differ", got.Len(), want.Len())
	}
	lines = controls.Sample("scru160", 3000)
	got.Reset()
	want.Reset()
	for _, l := range lines {
		b := scru160.MustParse(l).Random80()
		want.Write(b[:])
	}
	check(t, "scru160", lines, Options{Raw: "random80", RawTo: &got})
	if !bytes.Equal(got.Bytes(), want.Bytes()) {
		t.Errorf("random80: %d bytes, want %d, or their values differ", got.Len(), want.Len())
	}
	for _, f := range format.Ours() {
		s := controls.Find(f.Name(), "")
		if len(s.Random) == 0 {
			t.Errorf("the model of %s has no random fields", f.Name())
		}
		for _, name := range s.Random {
			got.Reset()
			check(t, f.Name(), s.Make(controls.New(7, "", 3000, 1)), Options{Raw: name, RawTo: &got})
			if got.Len() == 0 {
				t.Errorf("%s %s: no bits", f.Name(), name)
			}
		}
	}
	r := check(t, "scru128", lines[:0], Options{Raw: "entropy", RawTo: failingWriter{}})
	if r.Status != report.Fail || !strings.Contains(r.Check("input.read").Detail, "cannot write") {
		t.Errorf("a writer that fails: %+v", r.Failed())
	}
}

type failingWriter struct{}

func (failingWriter) Write([]byte) (int, error) { return 0, errors.New("no") }
