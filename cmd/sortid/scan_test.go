package main

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/sortid/sortid/cmd/sortid/internal/finder"
)

// A line of a gigabyte passes in constant memory, with what is in it, and so does what
// comes after.
func TestScanGigabyteLine(t *testing.T) {
	const id = "0u2pf62ji4b9"
	in := io.MultiReader(strings.NewReader(id+"\n"), &endless{1 << 29}, strings.NewReader(" "+id+" "), &endless{1 << 29}, strings.NewReader("\n"+id+"\n"))
	var code int
	var stderr string
	var out bytes.Buffer
	used := allocated(func() { code, stderr = start(in, &out, "scan", "-o", "ids") })
	if used > 4<<20 || code != 0 {
		t.Errorf("%d bytes allocated, code %d, %s", used, code, stderr)
	}
	const time = "\tscru64\t2023-03-03T13:29:42.144Z\t" + id + "\n"
	if want := "standard input:1:1" + time + "standard input:2:536870914" + time + "standard input:3:1" + time; out.String() != want {
		t.Errorf("%s, want %s", out.String(), want)
	}
}

// However the input comes in pieces, the output is the same.
func TestScanPieces(t *testing.T) {
	var text strings.Builder
	for i := range 3000 {
		text.WriteString([]string{"id=0u2pf62ji4b9, ", "\n", "GET /017fef39-c264-1ba5-6a94-83188841e05a?x\n", "no ID here ", strings.Repeat("word ", i%50)}[i%5])
	}
	outputs := map[string]string{}
	for _, output := range []string{"annotate", "lines", "ids"} {
		for how, in := range map[string]io.Reader{
			"whole": strings.NewReader(text.String()), "in small pieces": &pieces{text: text.String(), n: 7}, "in large pieces": &pieces{text: text.String(), n: 5000},
		} {
			var out bytes.Buffer
			if code, stderr := start(in, &out, "scan", "-o", output); code != 0 {
				t.Fatal(code, stderr)
			}
			if outputs[output] == "" {
				outputs[output] = out.String()
			}
			if out.String() != outputs[output] {
				t.Errorf("%s %s: the output differs", output, how)
			}
		}
	}
	stripped := strings.NewReplacer(" [2023-03-03T13:29:42.144Z]", "", " [2022-04-03T11:40:14.308Z]", "").Replace(outputs["annotate"])
	if stripped != text.String() || strings.Count(outputs["annotate"], " [20") != 1200 {
		t.Errorf("annotate changes more than it adds, or adds %d times", strings.Count(outputs["annotate"], " [20"))
	}
	if n := strings.Count(outputs["ids"], "\n"); n != 1200 {
		t.Errorf("%d IDs", n)
	}
}

// pieces returns a text n bytes at a time.
type pieces struct {
	text string
	n    int
}

func (p *pieces) Read(b []byte) (int, error) {
	n := copy(b, p.text[:min(p.n, len(p.text))])
	p.text = p.text[n:]
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

func TestScanTime(t *testing.T) {
	s := &scan{day: -1}
	for _, ms := range []int64{1262304000000, 1262304000001, 1262390399999, 1262390400000, 1677850182144, 951827696789, 1830211200999} {
		if got, want := string(s.appendTime(nil, ms)), formatTime(time.UnixMilli(ms)); got != want {
			t.Errorf("%d: %s, want %s", ms, got, want)
		}
	}
}

// Nothing is allocated for an ID.
func TestScanAllocates(t *testing.T) {
	line := []byte(strings.Repeat("id=0u2pf62ji4b9 and 0372ijojuxuhjsfkeryi2mrtm\n", 100))
	for _, output := range []string{"annotate", "lines", "ids"} {
		s := &scan{finder: finder.New(time.Now()), output: output, to: 1<<63 - 1, day: -1, out: make([]byte, 0, 1<<20)}
		if n := testing.AllocsPerRun(20, func() {
			s.out = s.out[:0]
			s.part(line, 0, 0)
		}); n > 5 {
			t.Errorf("%s: %v allocations for 200 IDs", output, n)
		}
	}
}
