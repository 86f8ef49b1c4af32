package scan

import (
	"strings"
	"testing"
	"time"

	"github.com/sortid/sortid/cmd/sortid/internal/console"
	"github.com/sortid/sortid/cmd/sortid/internal/inspect"
)

func TestScanTime(t *testing.T) {
	s := &scan{day: -1}
	for _, ms := range []int64{1262304000000, 1262304000001, 1262390399999, 1262390400000,
		1677850182144, 951827696789, 1830211200999} {
		if got, want := string(s.appendTime(nil,
			ms)), inspect.FormatTime(time.UnixMilli(ms)); got != want {
			t.Errorf("%d: %s, want %s", ms, got, want)
		}
	}
}

func TestScanAllocates(t *testing.T) {
	line := []byte(strings.Repeat("id=0u2pf62ji4b9 and 0372ijojuxuhjsfkeryi2mrtm\n", 100))
	for _, output := range []Output{Annotate, Lines, Only, IDs, Count} {
		s := newScan(&console.Console{}, Options{Output: output}, time.Now())
		if n := testing.AllocsPerRun(20, func() {
			s.out = s.out[:0]
			s.scanPart(line, 0, 0)
		}); n > 5 {
			t.Errorf("%s: %v allocations for 200 IDs", output, n)
		}
	}
}
