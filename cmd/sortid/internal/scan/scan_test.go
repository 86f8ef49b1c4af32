package scan

import (
	"strings"
	"testing"
	"time"

	"github.com/sortid/sortid/cmd/sortid/internal/console"
)

func TestScanAllocates(t *testing.T) {
	line := strings.Repeat("id=0u2pf62ji4b9 and 0372ijojuxuhjsfkeryi2mrtm\n", 100)
	for _, output := range []Output{Annotate, Lines, Only, IDs, Count} {
		s := newScan(&console.Console{}, Options{Output: output}, time.Now())
		w := s.newWorker()
		w.source, w.text = &source{}, line
		if n := testing.AllocsPerRun(20, w.search); n > 5 {
			t.Errorf("%s: %v allocations for 200 IDs", output, n)
		}
	}
}
