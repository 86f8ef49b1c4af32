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

	"github.com/sortid/sortid/format"
)

// start runs a command in this process.
func start(in io.Reader, out io.Writer, args ...string) (code int, stderr string) {
	var errs bytes.Buffer
	a := &app{in: in, out: out, err: &errs, width: 80}
	code = a.run(args)
	return code, errs.String()
}

// endless gives n bytes without a line's end.
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

// allocated returns how many bytes a function allocates in all.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// A line of a gigabyte is reported and skipped in constant memory.
func TestGigabyteLine(t *testing.T) {
	for _, args := range [][]string{{"inspect", "-o", "json"}, {"convert", "--to", "int"}} {
		in := io.MultiReader(strings.NewReader("0u2pf62ji4b9\n"), &endless{1 << 30}, strings.NewReader("\n0372ijojuxuhjsfkeryi2mrtm\n"), &endless{1 << 20})
		var out bytes.Buffer
		var code int
		var stderr string
		used := allocated(func() { code, stderr = start(in, &out, args...) })
		if used > 2<<20 {
			t.Errorf("%v: %d bytes allocated", args, used)
		}
		const want = "sortid: line 2: longer than 64 KiB, which no ID is; skipped\n" +
			"sortid: line 4: longer than 64 KiB, which no ID is; skipped\n"
		if code != exitBad || stderr != want {
			t.Errorf("%v: code %d, %s", args, code, stderr)
		}
		if got := out.String(); strings.Count(got, "\n") != 2 || !strings.Contains(got, "109959589539758421") || !strings.Contains(got, "1993501768880490086615869617690763354") {
			t.Errorf("%v: %s", args, got)
		}
	}
}

// A stream does not grow with its length.
func TestConstantMemory(t *testing.T) {
	n := 2_000_000 // texts of 52 and 74 MB
	if testing.Short() {
		n /= 2
	}
	for _, output := range []string{"text", "uuid"} {
		if used := allocated(func() {
			if code, stderr := start(nil, io.Discard, "new", "scru128", "-n", fmt.Sprint(n), "-o", output); code != 0 {
				t.Error(code, stderr)
			}
		}); used > 10<<20 {
			t.Errorf("%d IDs as %s: %d bytes allocated", n, output, used)
		}
	}
}

// lineCounter counts lines, each of which must be greater than the one before.
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

// Exactly as many as asked for, in order, whoever of the workers writes them.
func TestNewCounts(t *testing.T) {
	for _, n := range []int{1, 2, 3, 100, maxBatch, maxBatch + 1, 100_001} {
		c := lineCounter{t: t}
		if code, stderr := start(nil, &c, "new", "scru128", "-n", fmt.Sprint(n)); code != 0 || c.lines != n {
			t.Errorf("%d IDs, want %d; code %d, %s", c.lines, n, code, stderr)
		}
	}
}

// A rate is kept on average, though each write takes its time.
func TestRate(t *testing.T) {
	// The one goroutine of package signal starts outside of the bubble.
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt)
	signal.Stop(signals)
	synctest.Test(t, func(t *testing.T) {
		c := lineCounter{t: t, delay: 20 * time.Millisecond}
		begin := time.Now()
		// With --at, for the generators' clock is not the bubble's.
		code, stderr := start(nil, &c, "new", "scru128", "-n", "41", "--rate", "40", "--at", "2026-11-17")
		if code != 0 || c.lines != 41 {
			t.Errorf("%d IDs, code %d, %s", c.lines, code, stderr)
		}
		if took := time.Since(begin); took != time.Second+c.delay {
			t.Errorf("41 IDs at 40 a second took %v", took)
		}
	})

	// A rate above what the machine can do is no rate at all.
	c := lineCounter{t: t}
	if code, _ := start(nil, &c, "new", "scru128", "-n", "5000", "--rate", "1e300"); code != 0 || c.lines != 5000 {
		t.Errorf("%d IDs, code %d", c.lines, code)
	}
}

// A writer that fails, as a full disk does.
type full struct{ after int }

func (f *full) Write(b []byte) (int, error) {
	if f.after -= len(b); f.after < 0 {
		return 0, fmt.Errorf("disk full")
	}
	return len(b), nil
}

func TestWriteErrors(t *testing.T) {
	for _, args := range []string{
		"new scru128 --forever", "new scru128 --forever -o json", "new scru128 --forever --rate 1e6", "new uid60 --forever --at 2026-11-17",
		"inspect", "inspect -o json", "convert --to hex",
	} {
		in := strings.NewReader(strings.Repeat("0u2pf62ji4b9\n", 20_000))
		code, stderr := start(in, &full{100_000}, strings.Fields(args)...)
		if code != exitBad || stderr != "sortid: disk full\n" {
			t.Errorf("%s: code %d, %q", args, code, stderr)
		}
		in.Seek(0, io.SeekStart)
		r, w := io.Pipe()
		r.Close()
		if code, stderr := start(in, w, strings.Fields(args)...); code != exitOK || stderr != "" {
			t.Errorf("%s to a closed pipe: code %d, %q", args, code, stderr)
		}
	}
}

var (
	escapes = regexp.MustCompile("\x1b\\[[0-9;]*m")
	row     = regexp.MustCompile(`^  [01]{8}( [01]{8})*$`)
)

// In colours or without, on terminals wide and narrow, a card says the same.
func TestCard(t *testing.T) {
	now := time.Date(2026, 11, 17, 10, 30, 0, 0, time.UTC)
	for _, s := range format.Ours() {
		r, err := (&reader{format: s}).read(s.Example)
		if err != nil {
			t.Fatal(err)
		}
		for _, width := range []int{1, 40, 79, 80, 200} {
			plain := string((&app{width: width}).card(nil, &r, now))
			coloured := string((&app{width: width, colours: true}).card(nil, &r, now))
			if escapes.MatchString(plain) {
				t.Errorf("%s: escapes without colours: %q", s.Name, plain)
			}
			for _, text := range []string{plain, escapes.ReplaceAllString(coloured, "")} {
				bits := ""
				for line := range strings.Lines(text) {
					if line = strings.TrimSuffix(line, "\n"); width == 80 && len([]rune(line)) > width {
						t.Errorf("%s: wider than %d: %s", s.Name, width, line)
					}
					if row.MatchString(line) {
						bits += strings.ReplaceAll(line, " ", "")
					}
				}
				if want := fmt.Sprintf("%0*b", s.Bits, r.ID.Big()); bits != want {
					t.Errorf("%s: bits %s, want %s", s.Name, bits, want)
				}
				for _, f := range r.ID.Fields() {
					if !regexp.MustCompile(f.Name + ` +` + fmt.Sprint(f.Bits) + ` bits +` + f.String() + `  `).MatchString(text) {
						t.Errorf("%s: no %s in %s", s.Name, f.Name, text)
					}
				}
			}
			// Each field has its colour, in the map and in the table; its letters are as many as its bits.
			seen := map[string]bool{}
			for _, b := range bands(&r) {
				if b.Name == "" {
					continue
				}
				mark := (&app{colours: true}).paint(b.style, "■")
				if seen[mark] || !strings.Contains(coloured, mark) {
					t.Errorf("%s: %s has not a colour of its own", s.Name, b.Name)
				}
				seen[mark] = true
				letters := 0
				for line := range strings.Lines(plain) {
					if regexp.MustCompile(`^  ([a-z.]{8} ?)+$`).MatchString(strings.TrimSuffix(line, "\n")) {
						letters += strings.Count(line, string(b.letter))
					}
				}
				if letters != b.Bits {
					t.Errorf("%s: %d letters %c on the map, want %d", s.Name, letters, b.letter, b.Bits)
				}
			}
		}
	}
}

func TestDistance(t *testing.T) {
	now := time.Date(2026, 11, 17, 10, 30, 0, 0, time.UTC)
	for d, want := range map[time.Duration]string{
		0:                            "just now",
		-999 * time.Millisecond:      "just now",
		time.Second:                  "1 second ago",
		-90 * time.Second:            "in 1 minute 30 seconds",
		2 * time.Hour:                "2 hours ago",
		26 * time.Hour:               "1 day 2 hours ago",
		400 * 24 * time.Hour:         "1 year 1 month ago",
		-3 * 365 * 24 * time.Hour:    "in 2 years 11 months",
		7*24*time.Hour + time.Minute: "7 days ago",
	} {
		if got := distance(now.Add(-d), now); got != want {
			t.Errorf("%v: %q, want %q", d, got, want)
		}
	}
	if got := distance(time.UnixMilli(1<<48-1), now); !strings.HasPrefix(got, "in 886") {
		t.Errorf("the year 10889 is %q", got)
	}
}

func TestProgress(t *testing.T) { synctest.Test(t, testProgress) }

func testProgress(t *testing.T) {
	var out bytes.Buffer
	a := &app{err: &out, errTerminal: true, errWidth: 80}
	for total, want := range map[int64]string{-1: "1234567", 2469134: " 50% "} {
		out.Reset()
		p := a.newProgress("IDs", total)
		p.show(5)
		time.Sleep(time.Second - 1)
		p.show(5)
		if out.Len() > 0 {
			t.Errorf("shown in the first second: %q", out.String())
		}
		time.Sleep(1)
		p.show(1234567)
		if got := out.String(); !strings.Contains(got, want) || !strings.Contains(got, "IDs") {
			t.Errorf("of %d: %q", total, got)
		}
		p.end()
		if !strings.HasSuffix(out.String(), "\r") && !strings.HasSuffix(out.String(), "\x1b[2K") {
			t.Errorf("%q", out.String())
		}
	}
	for _, a := range []*app{{err: &out}, {err: &out, errTerminal: true, outTerminal: true}, {err: &out, errTerminal: true, quiet: true}} {
		if p := a.progress("IDs"); p != nil {
			t.Error("progress where nobody sees it, or where it is in the way")
		}
	}
}
