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
		if n := testing.AllocsPerRun(20, func() {
			s.out = s.out[:0]
			s.scanPart(&part{text: line})
		}); n > 5 {
			t.Errorf("%s: %v allocations for 200 IDs", output, n)
		}
	}
}
