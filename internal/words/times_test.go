package words

import (
	"archive/zip"
	"encoding/json"
	"os"
	"os/exec"
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

// Each day of 2018 to 2030 begins, in each zone, at the first moment when clocks show its date.
func TestDaysOfAllZones(t *testing.T) {
	names := zones(t)
	if len(names) < 400 {
		t.Fatalf("%d zones", len(names))
	}
	step := 1
	if testing.Short() {
		step = 40
	}
	for i := 0; i < len(names); i += step {
		name := names[i]
		zone := check.Must(time.LoadLocation(name))(t)
		shows := func(at time.Time, day string) bool {
			return at.In(zone).Format(time.DateOnly) == day
		}
		var end time.Time
		for day := date(2018, 1, 1); day.Year() < 2031; day = day.AddDate(0, 0, 1) {
			text := day.Format(time.DateOnly)
			from, to, err := Day(text, now, zone)
			if err != nil || !shows(from, text) || shows(to, text) || !end.IsZero() && from != end {
				t.Fatalf("%s in %s is from %v to %v, %v; the day before ends at %v", text, name, from,
					to, err, end)
			}
			for _, d := range []time.Duration{1, 15 * time.Minute, 30 * time.Minute, time.Hour} {
				if shows(from.Add(-d), text) {
					t.Fatalf("%s in %s begins before %v", text, name, from)
				}
			}
			end = to
		}
	}
}

func date(y, m, d int) time.Time { return time.Date(y, time.Month(m), d, 0, 0, 0, 0, time.UTC) }

// zones returns the names of the time zones that Go knows.
func zones(t *testing.T) (names []string) {
	t.Helper()
	root := check.Must(exec.Command("go", "env", "GOROOT").Output())(t)
	file := filepath.Join(strings.TrimSpace(string(root)), "lib", "time", "zoneinfo.zip")
	archive, err := zip.OpenReader(file)
	if err != nil {
		t.Skipf("no list of time zones: %v", err)
	}
	defer archive.Close()
	for _, f := range archive.File {
		if !strings.HasSuffix(f.Name, "/") {
			names = append(names, f.Name)
		}
	}
	return names
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
