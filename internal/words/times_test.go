package words

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sortid/sortid/internal/check"
)

var now = time.Date(2026, 11, 17, 10, 30, 15, 500e6, time.FixedZone("", 3600))

func TestParseTime(t *testing.T) {
	b := check.Must(os.ReadFile(filepath.Join("..", "..", "testdata", "times.json")))(t)
	var shared struct {
		Now   time.Time
		Cases []struct {
			Text, Zone, Time string
			Error            *string
		}
	}
	if err := json.Unmarshal(b, &shared); err != nil || len(shared.Cases) < 80 {
		t.Fatalf("%d cases, %v", len(shared.Cases), err)
	}
	for _, c := range shared.Cases {
		zone := check.Must(time.LoadLocation(c.Zone))(t)
		got, err := ParseTime(c.Text, shared.Now, zone)
		switch {
		case c.Error != nil:
			if err == nil || !strings.Contains(err.Error(), *c.Error) ||
				!strings.Contains(err.Error(), "accepted are 2006-01-02") {
				t.Errorf("%.50q: %v, %.300v, want %q", c.Text, got, err, *c.Error)
			}
		case err != nil || got.Truncate(time.Millisecond).Format(
			"2006-01-02T15:04:05.000Z07:00") != c.Time || got.Location() != time.UTC:
			t.Errorf("%q in %q is %v, %v, want %s", c.Text, c.Zone, got, err, c.Time)
		}
	}
	got, err := ParseTime("@1136214245.1234567899", now, time.UTC)
	if err != nil || got.Nanosecond() != 123_456_789 {
		t.Errorf("%v, %v", got, err)
	}
}

func TestDay(t *testing.T) {
	zone := check.Must(time.LoadLocation("Europe/Berlin"))(t)
	for day, want := range map[string][2]string{
		"2026-11-17": {"2026-11-16T23:00:00Z", "2026-11-17T23:00:00Z"},
		"2026-03-29": {"2026-03-28T23:00:00Z", "2026-03-29T22:00:00Z"}, // 23 hours
		"2026-10-25": {"2026-10-24T22:00:00Z", "2026-10-25T23:00:00Z"}, // 25 hours
		"Yesterday":  {"2026-11-15T23:00:00Z", "2026-11-16T23:00:00Z"},
		"today":      {"2026-11-16T23:00:00Z", "2026-11-17T23:00:00Z"},
	} {
		from, to, err := Day(day, now, zone)
		if err != nil || from.Format(time.RFC3339) != want[0] ||
			to.Format(time.RFC3339) != want[1] {
			t.Errorf("%s: %v to %v, %v", day, from, to, err)
		}
	}
	for _, day := range []string{"", "2026-02-30", "2026-11-17 12:00", "tuesday"} {
		if _, _, err := Day(day, now, zone); err == nil {
			t.Errorf("%q is a day", day)
		}
	}
}

func FuzzParseTime(f *testing.F) {
	for _, text := range []string{"2006-01-02 15:04:05.25", "@-1.5", "-1w1d1h30m",
		"+99999999999h"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := ParseTime(text, now, time.UTC)
		if err == nil && (got.Year() < -40000 || got.Year() > 40000) {
			t.Fatalf("ParseTime(%q) = %v", text, got)
		}
	})
}
