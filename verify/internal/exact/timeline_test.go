package exact

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/sortid/sortid/internal/gencore"
	"github.com/sortid/sortid/internal/spec"
	"github.com/sortid/sortid/verify/internal/sample"
)

func TestTimeline(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	for range 200 {
		var l timeline
		at := map[uint64]uint64{}
		ts := r.Uint64N(1 << 40)
		for range r.IntN(3000) {
			ts += r.Uint64N(1 << r.IntN(20))
			if r.IntN(100) == 0 {
				ts -= min(ts, r.Uint64N(1<<20))
			}
			n := r.Uint64N(5)
			at[ts] += n
			l.add(ts, n)
		}
		want := make([]uint64, len(l.counts))
		for ts, n := range at {
			want[ts/l.width-l.first] += n
		}
		for i := range want {
			if l.counts[i] != want[i] {
				t.Fatalf("interval %d of %d: %d, want %d", i, len(want), l.counts[i], want[i])
			}
		}
		if len(l.counts) > maxIntervals || len(l.counts) < maxIntervals/4 && l.width > 1 {
			t.Fatalf("%d intervals of width %d", len(l.counts), l.width)
		}
	}
	var l timeline
	l.add(1, 1)
	l.add(1<<48-1, 1)
	if got := l.result(sample.FormatOf(gencore.Must(spec.Lookup("scru128")))); len(got.Count) == 0 || got.Step <= 0 ||
		got.Start.After(time.UnixMilli(1)) {
		t.Errorf("%+v", got)
	}
}
