package verify

import (
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/internal/gencore"
	"github.com/sortid/sortid/internal/integer"
	"github.com/sortid/sortid/internal/spec"
	"github.com/sortid/sortid/verify/internal/controls"
	"github.com/sortid/sortid/verify/internal/sample"
	"github.com/sortid/sortid/verify/report"
)

func liveRun(t *testing.T, length, every time.Duration,
	clock func(now time.Duration) time.Duration) *report.Report {
	t.Helper()
	now := controls.Now
	at := time.Duration(0)
	m := controls.New(1, "", 0, 0)
	reader := readerFunc(func(b []byte) (int, error) {
		if at >= length {
			return 0, io.EOF
		}
		at += every
		now = controls.Now.Add(at)
		ts := uint64(controls.Now.UnixMilli() + clock(at).Milliseconds())
		v := integer.Words{Mid: ts << 16, Low: m.Uint64()}
		return copy(b, sample.FormatOf(spec.Of(gencore.Must(format.Lookup("scru128")))).InEncoding(v, spec.Text)+"\n"), nil
	})
	r, err := Check(t.Context(), "scru128", reader, Options{Live: true, Unordered: true,
		Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestLive(t *testing.T) {
	for _, c := range []struct {
		name  string
		clock func(time.Duration) time.Duration
		want  []string
	}{
		{"in time", func(d time.Duration) time.Duration { return d }, nil},
		{"a little behind", func(d time.Duration) time.Duration { return d - 3*time.Second }, nil},
		{"jitter", func(d time.Duration) time.Duration { return d - d%(700*time.Millisecond)/10 },
			nil},
		{"ahead", func(d time.Duration) time.Duration { return d + 3*time.Second },
			[]string{"clock.ahead"}},
		{"behind", func(d time.Duration) time.Duration { return d - time.Minute },
			[]string{"clock.lagging"}},
		{"fast", func(d time.Duration) time.Duration { return d + d/100 }, []string{"clock.drift"}},
		{"slow", func(d time.Duration) time.Duration { return d - d/100 }, []string{"clock.drift"}},
		{"stopped", func(d time.Duration) time.Duration { return min(d, 10*time.Second) },
			[]string{"clock.stopped", "clock.drift"}},
	} {
		r := liveRun(t, time.Minute, 20*time.Millisecond, c.clock)
		if got := names(r.Failed()); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v: %+v", c.name, got, c.want, r.Failed())
		}
		if len(r.Lead) < 50 || len(r.Lead) > 240 {
			t.Errorf("%s: %d times compared with the clock, want 50 to 240", c.name, len(r.Lead))
		}
	}
	for zone, offset := range map[string]time.Duration{"UTC+05:30": 330 * time.Minute,
		"UTC-03:00": -3 * time.Hour} {
		r := liveRun(t, time.Minute, 20*time.Millisecond,
			func(d time.Duration) time.Duration { return d + offset })
		if f := r.Failed(); len(f) != 1 || !strings.Contains(f[0].Detail, "local time of "+zone) {
			t.Errorf("%s: %+v", zone, f)
		}
	}
	r := liveRun(t, time.Second, 20*time.Millisecond,
		func(d time.Duration) time.Duration { return d * 2 })
	if r.Check("clock.drift").Status != report.Skip {
		t.Errorf("an input too short to show a drift: %+v", r.Check("clock.drift"))
	}
}
