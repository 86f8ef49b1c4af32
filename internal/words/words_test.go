package words

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/sortid/sortid/internal/clock"
)

// AppendTime agrees with time.Time.Format, also for years with a sign or five digits.
func TestAppendTime(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	zone := time.FixedZone("", 3600)
	for range 100_000 {
		at := time.Unix(r.Int64N(400_000_000_000)-100_000_000_000, r.Int64N(1e9)).In(zone)
		want := at.UTC().Format(clock.Layout)
		if got := string(AppendTime([]byte("x"), at)); got != "x"+want {
			t.Fatalf("%v: %s, want x%s", at, got, want)
		}
	}
}

func BenchmarkAppendTime(b *testing.B) {
	at, buf := time.UnixMilli(1_795_000_000_123).UTC(), make([]byte, 0, 64)
	for b.Loop() {
		buf = AppendTime(buf[:0], at)
	}
}

func TestWords(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{Count(0), "0"}, {Count(999), "999"}, {Count(1000), "1,000"},
		{Count(12345678), "12,345,678"},
		{Times(1), "once"}, {Times(0), "0 times"}, {Times(2000), "2,000 times"},
		{Plural(1, "ID"), "1 ID"}, {Plural(0, "ID"), "0 IDs"},
		{Percent(1, 3), "33.33%"}, {Percent(0, 0), "0.00%"},
		{Duration(0), "0 ms"}, {Duration(0.0005), "0.5 ms"}, {Duration(0.256), "256 ms"},
		{Duration(12.345), "12.345 s"},
		{Duration(600), "10 min"}, {Duration(10800), "3 h"}, {Duration(86400 * 30), "30 days"},
		{Duration(86400 * 3652.425), "10 years"},
		{List(nil, "and"), ""}, {List([]string{"a"}, "and"), "a"},
		{List([]string{"a", "b", "c"}, "or"), "a, b or c"},
		{Time(time.UnixMilli(1).In(time.FixedZone("", 3600))), "1970-01-01T00:00:00.001Z"},
		{Probability(0), "< 1e-300"}, {Probability(0.0123), "= 0.012"},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
}
