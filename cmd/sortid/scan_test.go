package main

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/sortid/sortid/internal/testserver"
)

func TestScanGigabyteLine(t *testing.T) {
	testserver.Long(t, "reads a gigabyte")
	const id = "0u2pf62ji4b9"
	in := io.MultiReader(strings.NewReader(id+"\n"), &endless{1 << 29},
		strings.NewReader(" "+id+" "), &endless{1 << 29}, strings.NewReader("\n"+id+"\n"))
	var code int
	var stderr string
	var out bytes.Buffer
	used := allocated(func() { code, stderr = start(in, &out, "scan", "-o", "ids") })
	if used > 4<<20 || code != 0 {
		t.Errorf("%d bytes allocated, code %d, %s", used, code, stderr)
	}
	const time = "\tscru64\t2023-03-03T13:29:42.144Z\t" + id + "\n"
	if want := "standard input:1:1" + time + "standard input:2:536870914" + time +
		"standard input:3:1" + time; out.String() != want {
		t.Errorf("%s, want %s", out.String(), want)
	}
}

func TestScanPieces(t *testing.T) {
	var text strings.Builder
	for i := range 3000 {
		text.WriteString([]string{"id=0u2pf62ji4b9, ", "\n",
			"GET /017fef39-c264-1ba5-6a94-83188841e05a?x\n", "no ID here ", strings.Repeat("word ",
				i%50)}[i%5])
	}
	outputs := map[string]string{}
	for _, output := range []string{"annotate", "lines", "ids"} {
		large := io.Reader(strings.NewReader(text.String()))
		for range 5 { // pieces of 2 KiB at first, then of 8 KiB
			large = iotest.HalfReader(large)
		}
		for how, in := range map[string]io.Reader{
			"whole":           strings.NewReader(text.String()),
			"byte by byte":    iotest.OneByteReader(strings.NewReader(text.String())),
			"in large pieces": large,
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
	stripped := strings.NewReplacer(" [2023-03-03T13:29:42.144Z]", "",
		" [2022-04-03T11:40:14.308Z]", "").Replace(outputs["annotate"])
	if stripped != text.String() || strings.Count(outputs["annotate"], " [20") != 1200 {
		t.Errorf("annotate changes other text, or adds %d times, want 1200",
			strings.Count(outputs["annotate"], " [20"))
	}
	if n := strings.Count(outputs["ids"], "\n"); n != 1200 {
		t.Errorf("%d IDs", n)
	}
}

// A line is printed whole, but not if it is very long.
func TestScanLongLine(t *testing.T) {
	const id = "0u2pf62ji4b9"
	for _, size := range []int{100_000, 300_000, 5 << 20, 10 << 20} {
		line := strings.Repeat("x", size) + " " + id + " " + strings.Repeat("y", size/4)
		for _, args := range [][]string{{"-o", "lines"}, {"-A1"}} {
			var out bytes.Buffer
			_, stderr := start(strings.NewReader("one\n"+line+"\n"), &out,
				append([]string{"scan"}, args...)...)
			whole := out.String() == line+"\n"
			if long := size > 8<<20; whole == long || strings.Contains(stderr, "8 MiB") != long {
				t.Errorf("%d bytes, %v: printed %d bytes, and %q", size, args, out.Len(), stderr)
			}
		}
	}
}
