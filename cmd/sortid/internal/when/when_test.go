package when

import (
	"strings"
	"testing"
	"time"
)

var now = time.Date(2026, 11, 17, 10, 30, 15, 500e6, time.FixedZone("", 3600))

func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		"2006-01-02":                          "2006-01-02T00:00:00Z",
		" 2006-01-02 ":                        "2006-01-02T00:00:00Z",
		"2006-01-02 15:04":                    "2006-01-02T15:04:00Z",
		"2006-01-02 15:04:05":                 "2006-01-02T15:04:05Z",
		"2006-01-02 15:04:05.25":              "2006-01-02T15:04:05.25Z",
		"2006-01-02T15:04:05Z":                "2006-01-02T15:04:05Z",
		"2006-01-02T15:04:05.123456789+01:00": "2006-01-02T14:04:05.123456789Z",
		"2006-01-02 15:04:05-07:00":           "2006-01-02T22:04:05Z",
		"2006-01-02 15:04 -07:00":             "2006-01-02T22:04:00Z",
		"2006-01-02T15:04Z":                   "2006-01-02T15:04:00Z",
		"2024-02-29":                          "2024-02-29T00:00:00Z",
		"@0":                                  "1970-01-01T00:00:00Z",
		"@1136214245":                         "2006-01-02T15:04:05Z",
		"@1136214245.5":                       "2006-01-02T15:04:05.5Z",
		"@1136214245.1234567899":              "2006-01-02T15:04:05.123456789Z",
		"@1136214245500":                      "2006-01-02T15:04:05.5Z",
		"@1000000000000":                      "2001-09-09T01:46:40Z",
		"@999999999999":                       "33658-09-27T01:46:39Z",
		"@-1.5":                               "1969-12-31T23:59:58.5Z",
		"@-0.5":                               "1969-12-31T23:59:59.5Z",
		"@281474976710.654":                   "10889-08-02T05:31:50.654Z",
		"now":                                 "2026-11-17T09:30:15.5Z",
		"NOW":                                 "2026-11-17T09:30:15.5Z",
		"-2h":                                 "2026-11-17T07:30:15.5Z",
		"+30m":                                "2026-11-17T10:00:15.5Z",
		"-7d":                                 "2026-11-10T09:30:15.5Z",
		"-1w":                                 "2026-11-10T09:30:15.5Z",
		"+1w1d1h30m":                          "2026-11-25T11:00:15.5Z",
		"-0d":                                 "2026-11-17T09:30:15.5Z",
		"-0s":                                 "2026-11-17T09:30:15.5Z",
		"-1.5h":                               "2026-11-17T08:00:15.5Z",
		"-500ms":                              "2026-11-17T09:30:15Z",
	} {
		got, err := Parse(text, now)
		if err != nil || got.Format(time.RFC3339Nano) != want || got.Location() != time.UTC {
			t.Errorf("Parse(%q) = %v, %v, want %s", text, got, err, want)
		}
	}
}

func TestParseIn(t *testing.T) {
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"2026-07-01 12:00":       "2026-07-01T10:00:00Z",
		"2026-12-01":             "2026-11-30T23:00:00Z",
		"2026-12-01T00:00Z":      "2026-12-01T00:00:00Z",
		"2026-12-01T00:00-01:00": "2026-12-01T01:00:00Z",
		"@0":                     "1970-01-01T00:00:00Z",
	} {
		if got, err := ParseIn(text, now, zone); err != nil || got.Format(time.RFC3339) != want {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	for day, want := range map[string][2]string{
		"2026-11-17": {"2026-11-16T23:00:00Z", "2026-11-17T23:00:00Z"},
		"2026-03-29": {"2026-03-28T23:00:00Z", "2026-03-29T22:00:00Z"}, // 23 hours
		"2026-10-25": {"2026-10-24T22:00:00Z", "2026-10-25T23:00:00Z"}, // 25 hours
		"Yesterday":  {"2026-11-15T23:00:00Z", "2026-11-16T23:00:00Z"},
		"today":      {"2026-11-16T23:00:00Z", "2026-11-17T23:00:00Z"},
	} {
		from, to, err := Day(day, now, zone)
		if err != nil || from.Format(time.RFC3339) != want[0] || to.Format(time.RFC3339) != want[1] {
			t.Errorf("%s: %v to %v, %v", day, from, to, err)
		}
	}
	for _, day := range []string{"", "2026-02-30", "2026-11-17 12:00", "tuesday"} {
		if _, _, err := Day(day, now, zone); err == nil {
			t.Errorf("%q is a day", day)
		}
	}
}

func TestParseBad(t *testing.T) {
	for text, reason := range map[string]string{
		"": "empty", "  ": "empty", "yesterday": "no known form", "2006": "no known form", "2006-1-2": "no known form",
		"02.01.2006": "no known form", "2006-02-30": "day out of range", "2006-13-01": "month out of range",
		"2006-01-02T25:00:00Z": "hour out of range", "2006-01-02 15:04:05 CET": "no known form",
		"@": "no known form", "@x": "no known form", "@1.x": "no known form", "@1.5.5": "no known form", "@+1": "no known form", "@1e9": "no known form",
		"-": "no known form", "+": "no known form", "-7": "no known form", "-d": "no known form", "--2h": "no known form", "-+2h": "no known form",
		"-1d-2h": "no known form", "-1.5d": "no known form", "2h": "no known form", "-1y": "no known form", "-2h3d": "no known form",
		"-2000000000d": "too far", "-99999999999999d": "no known form", "-106751d23h59m": "too far",
		"\x00": "no known form", strings.Repeat("9", 10000): "no known form",
	} {
		got, err := Parse(text, now)
		if err == nil || !strings.Contains(err.Error(), reason) || !strings.Contains(err.Error(), "accepted are 2006-01-02") {
			t.Errorf("Parse(%.50q) = %v, %.300v, want %q", text, got, err, reason)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{"2006-01-02 15:04:05.25", "@-1.5", "-1w1d1h30m", "+99999999999h"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := Parse(text, now)
		if err == nil && (got.Year() < -40000 || got.Year() > 40000) {
			t.Fatalf("Parse(%q) = %v", text, got)
		}
	})
}
