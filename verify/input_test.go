package verify

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/sortid/sortid/scru128"
	"github.com/sortid/sortid/scru160"
)

func sample(scheme string, n int) []string {
	return find(scheme, "").make(newModel(7, "", n, 0.1))
}

// names returns the checks of a status.
func names(cs []Outcome) (names []string) {
	for _, c := range cs {
		names = append(names, c.Name)
	}
	return names
}

// Input that is not what it should be is named for what it is.
func TestInput(t *testing.T) {
	lines := sample("scru128", 1000)
	sound := text(lines)
	seq := ""
	for i := range 1000 {
		seq += fmt.Sprintln(i)
	}
	replaced := func(line string) string { return strings.Replace(sound, lines[499], line, 1) }
	mixed := sample("scru160", 11)
	mixed[10] = scru160.MustParse(mixed[10]).Hex()
	for _, c := range []struct {
		name, scheme, input string
		fail, warn          []string
		word                string // in the detail or the examples
		line                uint64 // of the first example
	}{
		{name: "sound", input: sound},
		{name: "no newline at the end", input: strings.TrimSuffix(sound, "\n")},
		{name: "one line", input: lines[0] + "\n"},
		{name: "one line, no newline", input: lines[0]},
		{name: "empty", fail: []string{"input.ids"}, word: "the input is empty"},
		{name: "newline", input: "\n", fail: []string{"input.ids"}, warn: []string{"form.blank"}, word: "none of 1 line"},
		{name: "seq", input: seq, fail: []string{"input.ids", "form.length"}, word: "none of 1,000 lines is a scru128 ID"},
		{name: "windows", input: strings.ReplaceAll(sound, "\n", "\r\n"), warn: []string{"form.lineend"}, word: "CR LF", line: 1},
		{name: "mark", input: "\ufeff" + sound, warn: []string{"form.lineend"}, word: "byte order mark", line: 1},
		{name: "utf-16", input: utf16(sound), fail: []string{"input.ids", "form.length"}, word: "UTF-16"},
		{name: "gzip", input: "\x1f\x8b\x08" + sound[:40], fail: []string{"input.ids", "form.length"}, word: "gzip"},
		{name: "upper", input: strings.ToUpper(sound), warn: []string{"form.case"}, word: lines[0], line: 1},
		{name: "one upper", input: replaced(strings.ToUpper(lines[499])), warn: []string{"form.case"}, word: lines[499], line: 500},
		{name: "blank line", input: replaced(""), warn: []string{"form.blank"}, line: 500},
		{name: "bad symbol", input: replaced(lines[499][:3] + "!" + lines[499][4:]), fail: []string{"form.symbol"}, word: "offset 3", line: 500},
		{name: "too large", input: replaced("f5lxx1zz5pnorynqglhzmsp34"), fail: []string{"form.range"}, word: "largest", line: 500},
		{name: "short line", input: replaced(lines[499][1:]), fail: []string{"form.length"}, word: "24 bytes", line: 500},
		{name: "long line", input: replaced(strings.Repeat("x", 1000)), fail: []string{"form.length"}, word: "1000 bytes", line: 500},
		{name: "very long line", input: replaced(strings.Repeat("x", 1_000_000)), fail: []string{"form.length"}, word: "xxx", line: 500},
		{name: "very long, no end", input: strings.Repeat("0", 1_000_000), fail: []string{"input.ids", "form.length"}, word: "none of 1 line"},
		{name: "other format", input: replaced(sample("scru64", 1)[0]), fail: []string{"form.format"}, word: "is a scru64 ID", line: 500},
		{name: "other format of variable length", input: replaced(sample("uid60", 1)[0]), fail: []string{"form.format"}, word: "is a uid60 ID", line: 500},
		{name: "zeros", input: replaced("0000000000000000000000000"), fail: []string{"form.reserved", "order.behind"}, word: "timestamp 0", line: 500},
		{name: "mixed encodings", scheme: "scru160", input: text(mixed), fail: []string{"order.text"}, word: "another encoding", line: 11},
		{name: "check symbol", scheme: "euid", input: "C8EE934SR007G5Q94QKKXFRFV8C\n", fail: []string{"input.ids", "form.check"}, word: "mistyped", line: 1},
		{name: "aliases", scheme: "euid", input: strings.Replace("C8EE934SR007G5Q94QKKXFRFV8B\n", "0", "O", 1), warn: nil, fail: []string{"form.roundtrip"}, word: "C8EE934SR007", line: 1},
		{name: "padding", scheme: "uid60", input: "xiAnaS8QBh\n", fail: []string{"form.roundtrip"}, word: "xinaS8QBh", line: 1},
		{name: "binary", input: "\x00\x01\x02\n\xff\xfe\n", fail: []string{"input.ids", "form.length"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.scheme == "" {
				c.scheme = "scru128"
			}
			for _, r := range []io.Reader{
				strings.NewReader(c.input), iotest.OneByteReader(strings.NewReader(c.input)), iotest.DataErrReader(strings.NewReader(c.input)),
			} {
				r, err := Check(t.Context(), c.scheme, r, Options{Now: func() time.Time { return modelNow }})
				if err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(names(r.Failed()), c.fail) || !slices.Equal(names(r.Warned()), c.warn) {
					t.Fatalf("fails %v, want %v; warns %v, want %v", names(r.Failed()), c.fail, names(r.Warned()), c.warn)
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
					t.Errorf("nothing says %q of line %d: %+v %+v", c.word, c.line, r.Failed(), r.Warned())
				}
			}
		})
	}
}

func utf16(s string) string {
	b := []byte("\xff\xfe")
	for _, c := range []byte(s) {
		b = append(b, c, 0)
	}
	return string(b)
}

// Reserved timestamps are found among increasing IDs, where they can be only at the ends.
func TestReserved(t *testing.T) {
	for _, f := range formats {
		if !f.reserved {
			continue
		}
		lines := sample(f.name, 100)
		least, greatest := f.text(id{}, f.lengths[0]), f.text(id{hi: f.last << f.shift}, f.lengths[0])
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
			for _, e := range check(t, f.name, c.lines, Options{}).Check("form.reserved").Examples {
				found = append(found, e.Line)
			}
			if !slices.Equal(found, c.found) {
				t.Errorf("%s: found in lines %d, want %d", f.name, found, c.found)
			}
		}
	}
}

// IDs go on across a bad line: what is missing there is no fault of the counters.
func TestStepsAcrossBadLines(t *testing.T) {
	for _, scheme := range Schemes() {
		lines := sample(scheme, 5000)
		for i := 100; i < len(lines); i += 100 {
			lines[i] = "# a comment"
		}
		r := check(t, scheme, lines, find(scheme, "").options)
		if got := names(r.Failed()); !slices.Equal(got, []string{"form.length"}) || r.Check("form.length").Count != 49 {
			t.Errorf("%s: %+v", scheme, r.Failed())
		}
	}
}

// The report does not depend on how the input is cut into reads.
func TestBlocks(t *testing.T) {
	lines := sample("scru128", 30_000)
	lines[1000], lines[1001] = lines[1001], lines[1000]
	lines[20_000] = "bad"
	input := []byte(text(lines))
	var want *Report
	r := rand.New(rand.NewPCG(1, 1))
	for i := range 30 {
		rest := input
		reader := readerFunc(func(b []byte) (int, error) {
			if len(rest) == 0 {
				return 0, io.EOF
			}
			n := copy(b[:min(len(b), 1+r.IntN(1+i*i*300))], rest)
			rest = rest[n:]
			return n, nil
		})
		got, err := Check(t.Context(), "scru128", reader, Options{Now: func() time.Time { return modelNow }})
		if err != nil {
			t.Fatal(err)
		}
		got.Elapsed = 0
		if want == nil {
			want = got
		}
		if a, b := fmt.Sprintf("%+v", got), fmt.Sprintf("%+v", want); a != b {
			t.Fatalf("round %d: %s\nwant %s", i, a, b)
		}
	}
	if want.Lines != 30_000 || want.IDs != 29_999 || want.Bytes != uint64(len(input)) {
		t.Errorf("%d lines, %d IDs, %d bytes", want.Lines, want.IDs, want.Bytes)
	}
}

// Nor does it depend on the size of blocks, or on which of the goroutines is faster.
func TestSchedules(t *testing.T) {
	type schedule struct {
		name                string
		size, readers, cpus int
		cut                 func(io.Reader) io.Reader
	}
	whole := func(r io.Reader) io.Reader { return r }
	schedules := []schedule{
		{"one reader", blockSize, 1, 1, whole},
		{"a byte at a time", blockSize, 2, 4, iotest.OneByteReader},
		{"half of what is asked for", blockSize, 4, 4, iotest.HalfReader},
		{"small blocks", 997, 1, 1, whole},
		{"small blocks, more readers", 1009, 4, 4, whole},
		{"odd blocks", 26*512 + 1, 3, 4, iotest.DataErrReader},
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, s := range subjects {
		if underRace && s.mode != "" { // which adds no goroutines
			continue
		}
		for _, unordered := range []bool{false, true} {
			o := s.options
			o.Now = func() time.Time { return modelNow }
			o.Unordered = unordered
			lines := s.make(newModel(11, "", 12_000, 0.02))
			// A source of other habits takes over while those of the first are being learned.
			later := newModel(12, "", 8000, 0.02)
			later.ms += 1 << 32
			other := slices.Concat(lines[:learn/2+100], find(s.scheme, "").make(later))
			odd := blemish(slices.Clone(lines))
			for input, lines := range map[string][]string{"sound": lines, "odd": odd, "two sources": other} {
				want := ""
				for _, how := range schedules {
					runtime.GOMAXPROCS(how.cpus)
					f := formatOf(s.scheme)
					c, err := newChecker(f, o)
					if err != nil {
						t.Fatal(err)
					}
					r := c.check(t.Context(), how.cut(strings.NewReader(text(lines))),
						reading{f: f, now: o.Now, size: how.size, readers: how.readers})
					r.Elapsed = 0
					got := fmt.Sprintf("%+v", r)
					if want == "" {
						want = got
					}
					if got != want {
						t.Errorf("%s %s, %s, unordered %v: %s: %s\nwant %s", s.scheme, s.mode, input, unordered, how.name, got, want)
					}
				}
			}
		}
	}
}

// blemish makes some of the lines what they should not be, each in a way of its own.
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

// A source that cannot be read to its end fails, with what was read before.
func TestReadError(t *testing.T) {
	broken := errors.New("the cable is cut")
	r, err := Check(t.Context(), "scru128", io.MultiReader(strings.NewReader(text(sample("scru128", 100))), iotest.ErrReader(broken)), Options{})
	if err != nil || r.Status != Fail || r.IDs != 100 || !strings.Contains(r.Check("input.read").Detail, broken.Error()) {
		t.Errorf("%v, %+v", err, r)
	}
	r, err = Check(t.Context(), "scru128", readerFunc(func([]byte) (int, error) { return 0, nil }), Options{})
	if err != nil || r.Status != Fail {
		t.Errorf("a reader that gives nothing: %v, %+v", err, r)
	}
}

// A file that becomes shorter while it is read is named.
func TestShrinkingFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "ids")
	if err := os.WriteFile(name, streamSCRU128(t, 100_000, 10), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	calls := 0
	r, err := Check(t.Context(), "scru128", readerFunc(func(b []byte) (int, error) {
		if calls++; calls == 3 {
			if err := os.Truncate(name, 100*26+7); err != nil {
				t.Error(err)
			}
		}
		return f.Read(b)
	}), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if c := r.Check("input.read"); c.Status != Fail || !strings.Contains(c.Detail, ErrShrunk.Error()) {
		t.Errorf("%+v", c)
	}
	if _, err := Open(t.TempDir()); err == nil || !strings.Contains(err.Error(), "directory") {
		t.Errorf("a directory: %v", err)
	}
}

// When the context ends there is a report of what came until then.
func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	r, w := io.Pipe()
	defer w.Close()
	go func() {
		io.WriteString(w, text(sample("scru128", 100)))
		time.Sleep(10 * time.Millisecond)
		cancel()
	}()
	report, err := Check(ctx, "scru128", r, Options{Live: true, Now: func() time.Time { return modelNow.Add(-12 * time.Hour) }})
	if err != nil || report.IDs != 100 || report.Facts[0].Name != "interrupted" {
		t.Errorf("%v, %+v", err, report)
	}
}

func TestOptions(t *testing.T) {
	for name, c := range map[string]struct {
		scheme string
		o      Options
	}{
		"scheme":       {"scru65", Options{}},
		"stateless":    {"scru64", Options{Stateless: true}},
		"nodes":        {"scru128", Options{Nodes: []string{"1/2"}}},
		"node spec":    {"scru64", Options{Nodes: []string{"1/25"}}},
		"two nodes":    {"scru64", Options{Nodes: []string{"1/2", "2/2"}}},
		"start":        {"scru128", Options{CounterStart: 3}},
		"start width":  {"scru160", Options{CounterStart: 99}},
		"usage":        {"scru160", Options{Usage: "x"}},
		"usage scheme": {"euid", Options{Usage: UsageDefault}},
		"extension":    {"scru160", Options{Extension: 17}},
		"both":         {"scru160", Options{Extension: 1, Usage: UsageMicroseconds}},
		"room":         {"scru160", Options{Extension: 10, NodeBits: 10}},
		"worker":       {"uid60", Options{NodeBits: 10}},
		"times":        {"uid60", Options{From: modelNow, To: modelNow.Add(-1)}},
		"raw":          {"scru128", Options{Raw: "random", RawTo: io.Discard}},
		"raw to":       {"scru128", Options{Raw: "entropy"}},
	} {
		if r, err := Check(t.Context(), c.scheme, strings.NewReader(""), c.o); !errors.Is(err, ErrOption) || r != nil {
			t.Errorf("%s: %v, %v", name, r, err)
		}
	}
}

// The bits written are those of the field, in order.
func TestRaw(t *testing.T) {
	lines := sample("scru128", 3000)
	var want, got bytes.Buffer
	for _, l := range lines {
		e := scru128.MustParse(l).Entropy()
		want.Write([]byte{byte(e >> 24), byte(e >> 16), byte(e >> 8), byte(e)})
	}
	check(t, "scru128", lines, Options{Raw: "entropy", RawTo: &got})
	if !bytes.Equal(got.Bytes(), want.Bytes()) {
		t.Errorf("entropy: %d bytes of %d, or wrong ones", got.Len(), want.Len())
	}
	lines = sample("scru160", 3000)
	got.Reset()
	want.Reset()
	for _, l := range lines {
		b := scru160.MustParse(l).Random80()
		want.Write(b[:])
	}
	check(t, "scru160", lines, Options{Raw: "random80", RawTo: &got})
	if !bytes.Equal(got.Bytes(), want.Bytes()) {
		t.Errorf("random80: %d bytes of %d, or wrong ones", got.Len(), want.Len())
	}
	for _, f := range formats {
		for _, name := range f.fields {
			got.Reset()
			check(t, f.name, find(f.name, "").make(newModel(7, "", 3000, 1)), Options{Raw: name, RawTo: &got})
			if got.Len() == 0 {
				t.Errorf("%s %s: no bits", f.name, name)
			}
		}
	}
	r := check(t, "scru128", lines[:0], Options{Raw: "entropy", RawTo: failingWriter{}})
	if r.Status != Fail || !strings.Contains(r.Check("input.read").Detail, "cannot write") {
		t.Errorf("a writer that fails: %+v", r.Failed())
	}
}

type failingWriter struct{}

func (failingWriter) Write([]byte) (int, error) { return 0, errors.New("no") }

func TestBitWriter(t *testing.T) {
	var out bytes.Buffer
	b := bitWriter{w: &out}
	b.add(0b101, 3)
	b.add(0xffff_0000_ffff_0001, 64)
	b.add(1, 1)
	b.add(0x12345, 20)
	b.flush()
	bits := ""
	for _, c := range out.Bytes() {
		bits += fmt.Sprintf("%08b", c)
	}
	want := "101" + fmt.Sprintf("%064b", uint64(0xffff_0000_ffff_0001)) + "1" + fmt.Sprintf("%020b", 0x12345)
	if want = want[:len(want)/8*8]; bits != want {
		t.Errorf("%s, want %s", bits, want)
	}
}
