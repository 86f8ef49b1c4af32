package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sortid/sortid/cmd/sortid/internal/console"
)

func start(in io.Reader, out io.Writer, args ...string) (code int, stderr string) {
	var errs bytes.Buffer
	code = run(&console.Console{In: in, Out: out, Err: &errs, Width: 80}, args)
	return code, errs.String()
}

func sortid(t testing.TB, in string, args ...string) string {
	t.Helper()
	var out strings.Builder
	if code, stderr := start(strings.NewReader(in), &out, args...); code != console.Success {
		t.Fatalf("%v: code %d, %s%s", args, code, stderr, out.String())
	}
	return out.String()
}

func expect(t testing.TB, code int, args []string, parts ...string) (out, stderr string) {
	t.Helper()
	var b strings.Builder
	got, stderr := start(nil, &b, args...)
	out = b.String()
	if got != code {
		t.Errorf("%v: code %d, want %d: %s%s", args, got, code, stderr, out)
	}
	for _, part := range parts {
		if !strings.Contains(out+stderr, part) {
			t.Errorf("%v: no %q in %s%s", args, part, stderr, out)
		}
	}
	return out, stderr
}

// An endless reader returns n bytes without a newline.
type endless struct{ n int64 }

var block = strings.Repeat("x", 4096)

func (e *endless) Read(b []byte) (int, error) {
	if e.n <= 0 {
		return 0, io.EOF
	}
	n := min(int64(len(b)), e.n)
	for filled := int64(0); filled < n; {
		filled += int64(copy(b[filled:n], block))
	}
	e.n -= n
	return int(n), nil
}

func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

func TestGigabyteLine(t *testing.T) {
	for _, args := range [][]string{{"inspect", "-o", "json"}, {"convert", "--to", "int"}} {
		in := io.MultiReader(strings.NewReader("0u2pf62ji4b9\n"), &endless{1 << 30},
			strings.NewReader("\n0372ijojuxuhjsfkeryi2mrtm\n"), &endless{1 << 20})
		var out bytes.Buffer
		var code int
		var stderr string
		used := allocated(func() { code, stderr = start(in, &out, args...) })
		if used > 2<<20 {
			t.Errorf("%v: %d bytes allocated", args, used)
		}
		const want = "sortid: line 2: longer than 64 KiB, so it is no ID; skipped\n" +
			"sortid: line 4: longer than 64 KiB, so it is no ID; skipped\n"
		if code != console.Failure || stderr != want {
			t.Errorf("%v: code %d, %s", args, code, stderr)
		}
		if got := out.String(); strings.Count(got, "\n") != 2 ||
			!strings.Contains(got, "109959589539758421") ||
			!strings.Contains(got, "1993501768880490086615869617690763354") {
			t.Errorf("%v: %s", args, got)
		}
	}
}

// On a terminal, results and messages are in the order of the texts.
func TestOrderOnTerminal(t *testing.T) {
	const id = "0u2pf62ji4b9"
	var shown bytes.Buffer
	c := &console.Console{In: strings.NewReader(id + "\nbad\n" + id), Out: &shown, Err: &shown,
		OutTerminal: true, ErrTerminal: true}
	code := run(c, []string{"convert", "--to", "int", id, "bad", "-"})
	const number = "109959589539758421\n"
	if want := number + "sortid: argument 2: E\n" + number + "sortid: line 2: E\n" + number; code !=
		console.Failure || regexp.MustCompile(`cannot .*`).ReplaceAllString(shown.String(), "E") != want {
		t.Errorf("code %d, %s", code, &shown)
	}
}

func TestConstantMemory(t *testing.T) {
	n := 2_000_000 // the outputs have 52 and 74 MB
	if testing.Short() {
		n /= 2
	}
	for _, output := range []string{"text", "uuid"} {
		var code int
		if used := allocated(func() {
			code, _ = start(nil, io.Discard, "new", "scru128", "-n", fmt.Sprint(n), "-o", output)
		}); used > 10<<20 || code != console.Success {
			t.Errorf("%d IDs as %s: %d bytes allocated", n, output, used)
		}
	}
}

type lineCounter struct {
	t     *testing.T
	lines int
	last  string
	delay time.Duration
}

func (c *lineCounter) Write(b []byte) (int, error) {
	time.Sleep(c.delay)
	for line := range strings.Lines(string(b)) {
		if len(line) != 26 || line <= c.last {
			c.t.Errorf("%q after %q", line, c.last)
		}
		c.last = line
		c.lines++
	}
	return len(b), nil
}

func TestNewCounts(t *testing.T) {
	for _, n := range []int{1, 2, 3, 100, maxBatch, maxBatch + 1, 100_001} {
		c := lineCounter{t: t}
		if code, stderr := start(nil, &c, "new", "scru128", "-n", fmt.Sprint(n)); code != 0 ||
			c.lines != n {
			t.Errorf("%d IDs, want %d; code %d, %s", c.lines, n, code, stderr)
		}
	}
}

// --rate is right on average, even if writes take time.
func TestRate(t *testing.T) {
	// This starts the goroutine of package signal, which must not be in synctest's bubble.
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt)
	signal.Stop(signals)
	synctest.Test(t, func(t *testing.T) {
		c := lineCounter{t: t, delay: 20 * time.Millisecond}
		begin := time.Now()
		// The generators do not use the bubble's clock, so --at stops their clock.
		code, stderr := start(nil, &c, "new", "scru128", "-n", "41", "--rate", "40", "--at",
			"2026-11-17")
		if code != 0 || c.lines != 41 {
			t.Errorf("%d IDs, code %d, %s", c.lines, code, stderr)
		}
		if took := time.Since(begin); took != time.Second+c.delay {
			t.Errorf("41 IDs at 40 a second took %v", took)
		}
	})

	// A rate that no machine reaches is no limit.
	c := lineCounter{t: t}
	if code, _ := start(nil, &c, "new", "scru128", "-n", "5000", "--rate", "1e300"); code != 0 ||
		c.lines != 5000 {
		t.Errorf("%d IDs, code %d", c.lines, code)
	}
}

type full struct{ after int }

func (f *full) Write(b []byte) (int, error) {
	if f.after -= len(b); f.after < 0 {
		return 0, fmt.Errorf("disk full")
	}
	return len(b), nil
}

func TestWriteErrors(t *testing.T) {
	for _, args := range []string{
		"new scru128 --forever", "new scru128 --forever -o json",
		"new scru128 --forever --rate 1e6", "new uid60 --forever --at 2026-11-17",
		"inspect", "inspect -o json", "convert --to hex",
	} {
		in := strings.NewReader(strings.Repeat("0u2pf62ji4b9\n", 20_000))
		code, stderr := start(in, &full{100_000}, strings.Fields(args)...)
		if code != console.Failure || stderr != "sortid: disk full\n" {
			t.Errorf("%s: code %d, %q", args, code, stderr)
		}
		in.Seek(0, io.SeekStart)
		r, w := io.Pipe()
		r.Close()
		code, stderr = start(in, w, strings.Fields(args)...)
		if code != console.Success || stderr != "" {
			t.Errorf("%s to a closed pipe: code %d, %q", args, code, stderr)
		}
	}
}

func BenchmarkLines(b *testing.B) {
	var ids bytes.Buffer
	start(nil, &ids, "new", "scru128", "-n", "10000")
	for _, args := range []string{"convert --to hex", "inspect -o json"} {
		b.Run(args, func(b *testing.B) {
			for b.Loop() {
				if code, stderr := start(bytes.NewReader(ids.Bytes()), io.Discard,
					strings.Fields(args)...); code != 0 {
					b.Fatal(stderr)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/10_000, "ns/line")
		})
	}
}
