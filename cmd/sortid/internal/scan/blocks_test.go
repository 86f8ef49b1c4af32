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
	"github.com/sortid/sortid/internal/check"
	"github.com/sortid/sortid/internal/spec"
)

// doubtful returns lines with IDs and about as many texts that look like them, so that what the
// finder finds depends on all lines before. Some lines are long, and the last has no end.
func doubtful(r *rand.Rand, lines int) string {
	var b strings.Builder
	id := func(e spec.Encoding) string {
		s := spec.Ours()[1+r.IntN(2)] // scru128, scru160
		first, _, err := s.Bounds(time.UnixMilli(1_780_000_000_000+r.Int64N(1e9)), time.UnixMilli(1_790_000_000_000))
		if err != nil {
			panic(err)
		}
		return s.In(first, e)
	}
	for range lines {
		switch r.IntN(7) {
		case 0:
			fmt.Fprintf(&b, "hash=%016x%016x", r.Uint64(), r.Uint64())
		case 1:
			fmt.Fprintf(&b, "hash=%s", id(spec.Hex))
		case 2:
			fmt.Fprintf(&b, "uuid %08x-%04x-4%03x-a%03x-%012x", r.Uint32(), r.IntN(1<<16), r.IntN(1<<12),
				r.IntN(1<<12), r.Uint64N(1<<48))
		case 3:
			raw := id(spec.Hex) + id(spec.Hex)
			fmt.Fprintf(&b, "uuid %s-%s-%s-%s-%s", raw[:8], raw[8:12], raw[12:16], raw[16:20], raw[20:32])
		case 4:
			fmt.Fprintf(&b, "id=%s ", id(spec.Text))
			continue
		case 5:
			b.WriteString(strings.Repeat("word ", r.IntN(20)))
		case 6:
			if r.IntN(50) == 0 {
				b.WriteString(strings.Repeat("long "+id(spec.Text)+" ", r.IntN(400)))
			}
		}
		b.WriteByte('\n')
	}
	return b.String() + "end " + id(spec.Text)
}

// The result depends neither on the size of blocks, nor on the number of workers.
func TestBlocks(t *testing.T) {
	seeds := uint64(3)
	if testing.Short() {
		seeds = 1
	}
	for seed := range seeds {
		r := rand.New(rand.NewPCG(seed, 7))
		dir := t.TempDir()
		var names []string
		for i := range 8 {
			names = append(names, filepath.Join(dir, fmt.Sprint("file", i)))
			text := doubtful(r, []int{0, 3, 300, 1000}[i%4])
			check.Write(t, names[i], text)
		}
		piped := doubtful(r, 1000)
		names = append(names, stdin)
		for _, o := range []Options{{Output: Annotate}, {Output: Annotate, Numbers: true}, {Output: Lines},
			{Output: IDs}, {Output: JSON}, {Output: Count}, {Output: Files}, {Output: Only},
			{Output: Lines, Before: 2, After: 1, Numbers: true}, {Output: Lines, Invert: true},
			{Output: IDs, From: time.UnixMilli(1_780_500_000_000)}} {
			run := func(size, processors int) string {
				defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(processors))
				var out bytes.Buffer
				c := &console.Console{In: iotest.HalfReader(strings.NewReader(piped)), Out: &out, Err: &out}
				s := newScan(c, o, time.UnixMilli(1_800_000_000_000))
				s.files.size = size
				if err := s.run(names); err != nil {
					t.Error(err)
				}
				return out.String()
			}
			want := run(longLine, 1)
			for _, size := range []int{1, 100, 3000, blockSize} {
				if o.Output == Files { // it does not read all, and so learns less
					want = run(size, 1)
				}
				for _, processors := range []int{1, 4} {
					got := run(size, processors)
					if got != want {
						t.Fatalf("seed %d, %+v, blocks of %d bytes, %d processors: %d bytes, want %d: %s",
							seed, o, size, processors, len(got), len(want), firstDifference(got, want))
					}
				}
			}
		}
	}
}

func firstDifference(a, b string) string {
	i := 0
	for i < min(len(a), len(b)) && a[i] == b[i] {
		i++
	}
	return fmt.Sprintf("%.200q, want %.200q", a[i:], b[i:])
}

// BenchmarkSteps measures the steps of a worker for one block. Only one worker at a time takes, and
// one gives. So with enough processors, the longer of these two steps limits the speed.
func BenchmarkSteps(b *testing.B) {
	var text strings.Builder
	for i := range 400_000 {
		fmt.Fprintf(&text, "10.0.%d.%d - - \"GET /v1/orders/0372ijojuxuhjsfkeryi2mrtm?page=%d HTTP/1.1\" "+
			"200 %d \"-\" \"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36\"\n", i%250, i%199, i%90, i)
	}
	name := filepath.Join(b.TempDir(), "log")
	check.Write(b, name, text.String())
	for _, output := range []Output{Annotate, Only, JSON} {
		b.Run(string(output), func(b *testing.B) {
			r, w, err := os.Pipe()
			if err != nil {
				b.Fatal(err)
			}
			defer w.Close()
			go io.Copy(io.Discard, r)
			var taken, worked, given []time.Duration
			for b.Loop() {
				s := newScan(&console.Console{Out: w}, Options{Output: output}, time.Now())
				one := s.newWorker()
				if one.source, err = s.files.open(name, nil); err != nil {
					b.Fatal(err)
				}
				check.OK(b, one.source.begin())
				for {
					start := time.Now()
					if one.source.next(&one.block) != nil {
						break
					}
					read := time.Now()
					one.search()
					found := time.Now()
					check.OK(b, s.give(one))
					taken = append(taken, read.Sub(start))
					worked = append(worked, found.Sub(read))
					given = append(given, time.Since(found))
				}
				one.source.close()
			}
			micros := func(all []time.Duration) float64 { // the median
				slices.Sort(all)
				return float64(all[len(all)/2]) / 1e3
			}
			take, work, give := micros(taken), micros(worked), micros(given)
			b.ReportMetric(take, "take-µs")
			b.ReportMetric(work, "work-µs")
			b.ReportMetric(give, "give-µs")
			for _, n := range []float64{2, 8, 16} {
				b.ReportMetric(min(n, (take+work+give)/max(take, give)), fmt.Sprintf("times-faster-%v", n))
			}
		})
	}
}
