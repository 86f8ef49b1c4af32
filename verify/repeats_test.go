package verify

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sortid/sortid/verify/internal/controls"
	"github.com/sortid/sortid/verify/report"
)

// repeats returns how many lines have an ID of an earlier line, and the first of them.
func repeats(lines []string) (n uint64, first int) {
	seen := map[string]bool{}
	for i, l := range lines {
		if seen[l] {
			if n++; n == 1 {
				first = i + 1
			}
		}
		seen[l] = true
	}
	return n, first
}

// A generator passes if it waits when a tick is full. If it does not wait, the report counts the
// IDs that occur twice.
func TestFullTicks(t *testing.T) {
	const n = 20_000
	for _, w := range controls.Narrows {
		ideals := []controls.Ideal{w.FromZero, w.On}
		if testing.Short() {
			ideals = ideals[:1]
		}
		for _, d := range ideals {
			o := Options{Now: func() time.Time { return d.Start().AddDate(0, 1, 0) }}
			all := o
			all.Unordered = true
			merged := slices.Concat(d.Make(1, w.Rate, n), d.Make(2, w.Rate, n))
			judge(t, d, w.Rate, 1, check(t, d.Format, merged[:n], o))
			judge(t, d, w.Rate, 1, check(t, d.Format, merged, all))
			lines := d.Hurry(1, w.Rate, n)
			for _, o := range []Options{o, all} {
				judgeRepeats(t, d, lines, check(t, d.Format, lines, o))
			}
		}
	}
}

func judgeRepeats(t *testing.T, d controls.Ideal, lines []string, r *report.Report) {
	t.Helper()
	n, first := repeats(lines)
	c := r.Check("order.duplicate")
	if c == nil || c.Status != report.Fail || c.Count != n || c.Examples[0].Line != uint64(first) {
		t.Errorf("%s, %s: %+v, want %d repeats, the first in line %d", d.Format, d.Name, c, n, first)
	}
	if c := r.Check("order.room"); c == nil || c.Status != report.Fail || c.Count != n {
		t.Errorf("%s, %s: %+v, want %d IDs without room", d.Format, d.Name, c, n)
	}
}

// The report counts IDs that it no longer remembers.
func TestRoomByCounting(t *testing.T) {
	var lines []string
	for i := range 1<<18 + 5 {
		lines = append(lines, fmt.Sprint(uint64(137_142_549_000)<<22|3<<18|uint64(i)&(1<<18-1)))
	}
	for _, unordered := range []bool{false, true} {
		r := check(t, "tsid", lines, Options{Unordered: unordered, NodeBits: 4})
		if c := r.Check("order.room"); c == nil || c.Status != report.Fail || c.Count != 5 {
			t.Errorf("unordered: %v: %+v, want 5", unordered, c)
		}
	}
}

// After ticks with one ID each, one tick has one ID more than it has room for.
func TestOneRepeat(t *testing.T) {
	var lines []string
	tick, sequence := uint64(420_000_000_000), uint64(3000)
	for i := range 40 + 4097 {
		if i <= 40 {
			tick += 7 + uint64(i)%5
		}
		sequence++
		lines = append(lines, fmt.Sprint(tick<<22|1<<12|sequence&4095))
	}
	for _, o := range []Options{{}, {Unordered: true}} {
		r := check(t, "snowflake-twitter", lines, o)
		judgeRepeats(t, controls.Ideal{Format: "snowflake-twitter"}, lines, r)
		if sound := check(t, "snowflake-twitter", lines[:len(lines)-1], o); sound.Status != report.Pass {
			t.Errorf("without the last line: %+v", sound.Failed())
		}
	}
}

// A UUIDv7's counter must not start again in a tick, and the report does not say that all IDs
// increase.
func TestUUIDv7RunsOn(t *testing.T) {
	lines := controls.RunningV7.Make(1, 2_000_000, 20_000)
	o := Options{Now: func() time.Time { return controls.Now }}
	r := check(t, "uuidv7", lines, o)
	back := uint64(0)
	for i := 1; i < len(lines); i++ {
		if lines[i] < lines[i-1] {
			back++
		}
	}
	if c := r.Check("order.back"); c.Status != report.Fail || c.Count != back {
		t.Errorf("%+v, want %d", c, back)
	}
	if facts := fmt.Sprint(r.Facts); strings.Contains(facts, "all IDs increase") {
		t.Errorf("%d steps go back: %s", back, facts)
	}
}

// In a format with few random bits, chance can explain that an ID occurs twice. Then the report
// warns, and says how many such IDs chance explains.
func TestRepeatsByChance(t *testing.T) {
	i := slices.IndexFunc(controls.Ideals, func(d controls.Ideal) bool { return d.Format == "nano64" })
	lines := controls.Ideals[i].Make(1, 50, 20_000)
	for _, unordered := range []bool{false, true} {
		o := Options{Unordered: unordered}
		if r := check(t, "nano64", lines, o); r.Status != report.Pass {
			t.Errorf("%+v %+v", r.Failed(), r.Warned())
		}
		twice := slices.Insert(slices.Clone(lines), 301, lines[300])
		twice = slices.Insert(twice, 5001, twice[5000])
		r := check(t, "nano64", twice, o)
		c := r.Check("order.duplicate")
		if r.Status != report.Warn || c.Status != report.Warn || c.Count != 2 ||
			c.Examples[0].Line != 302 || !strings.Contains(c.Detail, "expected by chance: 0.000") {
			t.Errorf("unordered: %v: %+v", unordered, c)
		}
	}
}
