package scan

import (
	"bytes"
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

	"github.com/sortid/sortid/cmd/sortid/internal/console"
	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/internal/check"
	"github.com/sortid/sortid/internal/gencore"
)

func timedLines(r *rand.Rand, n int, reverse bool) (text string, sorted string) {
	type group struct {
		at    time.Time
		lines string
	}
	formats := []*format.Format{gencore.Must(format.Lookup("scru128")), gencore.Must(format.Lookup("euid")), gencore.Must(format.Lookup("uuidv7"))}
	start := time.Date(2024, time.May, 1, 0, 0, 0, 0, time.UTC)
	var groups []group
	heading := ""
	for i := range n {
		line := fmt.Sprintf("line %d", i)
		if r.IntN(40) == 0 {
			line += strings.Repeat(" long", r.IntN(60_000))
		}
		if r.IntN(4) == 0 { // without an ID
			line += "\n"
			if len(groups) == 0 {
				heading += line
			} else {
				groups[len(groups)-1].lines += line
			}
			text += line
			continue
		}
		f := formats[r.IntN(len(formats))]
		// Some lines have the same time.
		at := start.Add(time.Duration(r.IntN(n)) * time.Millisecond)
		id, _, err := f.Bounds(at, at.Add(time.Second))
		if err != nil {
			panic(err)
		}
		line = fmt.Sprintf("id=%s %s\n", id, line)
		if r.IntN(10) == 0 {
			line = fmt.Sprintf("id=%s before 0372ijojuxuhjsfkeryi2mrtm\n", id)
		}
		text += line
		groups = append(groups, group{at, line})
	}
	slices.SortStableFunc(groups, func(a, b group) int {
		if reverse {
			a, b = b, a
		}
		return a.at.Compare(b.at)
	})
	sorted = heading
	for _, g := range groups {
		sorted += g.lines
	}
	return text, sorted
}

// The result does not depend on the size of the memory.
func TestSort(t *testing.T) {
	for seed := range uint64(4) {
		r := rand.New(rand.NewPCG(seed, 2))
		reverse := seed%2 == 1
		text, want := timedLines(r, 300, reverse)
		for how, in := range map[string]io.Reader{
			"whole": strings.NewReader(text), "in halves": iotest.HalfReader(strings.NewReader(text)),
		} {
			for _, memory := range []int{1, 0} {
				dir := t.TempDir()
				var out, errs bytes.Buffer
				if s, ok := in.(io.Seeker); ok {
					s.Seek(0, io.SeekStart)
				} else {
					in = iotest.HalfReader(strings.NewReader(text))
				}
				err := Sort(&console.Console{In: in, Out: &out, Err: &errs},
					SortOptions{Reverse: reverse, Dir: dir, Memory: memory}, nil)
				if err != nil || errs.Len() > 0 {
					t.Fatal(err, errs.String())
				}
				if out.String() != want {
					t.Errorf("seed %d, %s, %d bytes of memory: %d bytes, want %d, or in another order",
						seed, how, memory, out.Len(), len(want))
				}
				if left, _ := os.ReadDir(dir); len(left) > 0 {
					t.Errorf("left on disk: %v", left)
				}
			}
		}
	}
}

func TestSortInstants(t *testing.T) {
	second := time.Date(2024, time.May, 1, 0, 0, 0, 0, time.UTC)
	var lines []string
	var formats []*format.Format
	for _, c := range []struct {
		format string
		after  time.Duration // after the start of the second
	}{
		{"ksuid", 0}, {"uuidv7", time.Millisecond}, {"unix-us", 1_001_000}, {"uuidv6", 1_001_100},
		{"unix-ns", 1_001_150}, {"tid", 1_002_000}, {"scru128", 2 * time.Millisecond},
		{"ksuid", time.Second},
	} {
		f := check.Must(format.Lookup(c.format))(t)
		id, _, err := f.Bounds(second.Add(c.after), second.Add(time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		formats = append(formats, f)
		lines = append(lines, fmt.Sprintf("%d %s\n", len(lines), id))
	}
	want := strings.Join(lines, "")
	for range 20 {
		rand.Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
		in := strings.Join(lines, "")
		var out bytes.Buffer
		err := Sort(&console.Console{In: strings.NewReader(in), Out: &out, Err: io.Discard},
			SortOptions{Formats: formats, Dir: t.TempDir()}, nil)
		if got := out.String(); err != nil || got != want {
			t.Fatalf("%v\n%swant\n%s", err, got, want)
		}
	}
}

// Headings come first, and a last line without a newline gets one.
func TestSortFiles(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		name = filepath.Join(dir, name)
		check.OK(t, os.WriteFile(name, []byte(text), 0o600))
		return name
	}
	a := write("a", "time,id\n3,0u2pf62ji4b9\n1,01ARZ3NDEKTSV4RRFFQ69G5FAV")
	b := write("b", "kind,id\n2,0372ijojuxuhjsfkeryi2mrtm\nmore")
	for reverse, want := range map[bool]string{
		false: "time,id\nkind,id\n1,01ARZ3NDEKTSV4RRFFQ69G5FAV\n2,0372ijojuxuhjsfkeryi2mrtm\nmore\n" +
			"3,0u2pf62ji4b9\n",
		true: "time,id\nkind,id\n3,0u2pf62ji4b9\n2,0372ijojuxuhjsfkeryi2mrtm\nmore\n" +
			"1,01ARZ3NDEKTSV4RRFFQ69G5FAV\n",
	} {
		var out bytes.Buffer
		err := Sort(&console.Console{Out: &out, Err: io.Discard},
			SortOptions{Reverse: reverse, Dir: dir}, []string{a, b})
		if got := out.String(); err != nil || got != want {
			t.Errorf("%v\n%swant\n%s", err, got, want)
		}
	}
}

// Memory does not grow with the input, which has 100 times the size of the memory.
func TestSortMemory(t *testing.T) {
	const memory = 1 << 19
	line := "0372ijojuxuhjsfkeryi2mrtm " + strings.Repeat("x", 973) + "\n"
	long := strings.Repeat("y", 1<<16)
	var readers []io.Reader
	for range 100 {
		readers = append(readers, strings.NewReader(strings.Repeat(line, memory/1000)))
	}
	for range 30 {
		readers = append(readers, strings.NewReader(long))
	}
	var n counter
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	err := Sort(&console.Console{In: io.MultiReader(readers...), Out: &n, Err: io.Discard},
		SortOptions{Dir: t.TempDir(), Memory: memory}, nil)
	runtime.ReadMemStats(&after)
	if want := counter(100*1000*(memory/1000) + 30*len(long) + 1); err != nil || n != want {
		t.Errorf("%d bytes, want %d; %v", n, want, err)
	}
	// Each of 230 files on disk gets a buffer twice: for writing and for reading.
	if used := after.TotalAlloc - before.TotalAlloc; used > 48<<20 {
		t.Errorf("%d bytes allocated for %d", used, n)
	}
}

type counter int

func (n *counter) Write(b []byte) (int, error) {
	*n += counter(len(b))
	return len(b), nil
}

func TestSortInterrupted(t *testing.T) {
	self, err := os.FindProcess(os.Getpid())
	if err != nil || runtime.GOOS == "windows" {
		t.Skip("a process cannot interrupt itself on Windows; to run this test: use another system")
	}
	dir := t.TempDir()
	r, w := io.Pipe()
	defer w.Close()
	done := make(chan error)
	go func() {
		done <- Sort(&console.Console{In: r, Out: io.Discard, Err: io.Discard},
			SortOptions{Dir: dir, Memory: 1000}, nil)
	}()
	for range 1000 {
		check.Must(io.WriteString(w, "0372ijojuxuhjsfkeryi2mrtm is an ID\n"))(t)
	}
	// Other systems give each file a name for a moment.
	if named, _ := os.ReadDir(dir); runtime.GOOS == "linux" && len(named) > 0 {
		t.Errorf("a signal that cannot be caught would leave %v", named)
	}
	check.OK(t, self.Signal(os.Interrupt))
	if code, _ := console.ExitCodeOf(<-done); code != console.Interrupted {
		t.Errorf("exit code %d", code)
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("left on disk: %v", left)
	}
}

// A byte-order mark stays at the start of the output. Those of other files are dropped.
func TestSortMark(t *testing.T) {
	const mark, early, late = "\ufeff", "0372ijojuxuhjsfkeryi2mrtm\n", "03ha0fadamez822zrqzfunrpx\n"
	var names []string
	for _, text := range []string{mark + late + early, mark + early + mark + late} {
		names = append(names, filepath.Join(t.TempDir(), "marked"))
		check.OK(t, os.WriteFile(names[len(names)-1], []byte(text), 0o600))
	}
	for _, reverse := range []bool{false, true} {
		var out strings.Builder
		c := &console.Console{Out: &out, Err: io.Discard}
		check.OK(t, Sort(c, SortOptions{Reverse: reverse}, names))
		want := mark + early + early + late + mark + late
		if reverse {
			want = mark + late + mark + late + early + early
		}
		if out.String() != want {
			t.Errorf("reverse %v: %q, want %q", reverse, out.String(), want)
		}
	}
}
