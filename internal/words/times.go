package words

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// AcceptedTimes lists what [ParseTime] accepts.
const AcceptedTimes = `2006-01-02, "2006-01-02 15:04", "2006-01-02 15:04:05", ` +
	`2006-01-02T15:04:05Z or with an offset such as +01:00 (UTC without one), ` +
	`1136214245.5 or @0 (Unix seconds), 1136214245500 (Unix milliseconds, from 13 digits on), ` +
	`15:04 (today), now, or relative to now: -2h or 2h (before), +30m (after), -7d, "2 days ago"`

var layouts = func() (all []string) {
	for _, sep := range []string{"T", " "} {
		for _, clock := range []string{"15:04:05", "15:04"} {
			for _, zone := range []string{"", "Z07:00", " Z07:00", "Z07"} { // Z07 is PostgreSQL's
				all = append(all, "2006-01-02"+sep+clock+zone)
			}
		}
	}
	return append(all, "2006-01-02")
}()

// ParseTime reads a time as people write it, and returns it in UTC. A time without an offset is in
// the zone. An error lists the accepted forms.
func ParseTime(text string, now time.Time, zone *time.Location) (time.Time, error) {
	t, err := readTime(strings.TrimSpace(text), now, zone)
	if err != nil {
		return time.Time{}, fmt.Errorf("cannot read the time %q: %w; accepted are %s", text, err,
			AcceptedTimes)
	}
	return t.UTC(), nil
}

var errForm = errors.New("it is of no known form")

func readTime(text string, now time.Time, zone *time.Location) (time.Time, error) {
	switch {
	case text == "":
		return time.Time{}, errors.New("it is empty")
	case strings.EqualFold(text, "now"):
		return now, nil
	case text[0] == '@':
		return unixTime(text[1:])
	case isUnix(text):
		return unixTime(text)
	case text[0] == '-' || text[0] == '+':
		d, err := parseDuration(text)
		return now.Add(d), err
	}
	if clock, err := time.Parse("15:04", text); err == nil {
		y, m, d := now.In(zone).Date()
		return inZone(time.Date(y, m, d, clock.Hour(), clock.Minute(), 0, 0, time.UTC), zone), nil
	}
	if n, unit, ok := cutAgo(text); ok {
		d, err := parseDuration("-" + n + unit)
		return now.Add(d), err
	}
	for _, layout := range layouts {
		t, err := time.Parse(layout, text)
		switch {
		case err == nil && strings.Contains(layout, "Z07"):
			return t, nil
		case err == nil:
			return inZone(t, zone), nil
		}
		// The form is right, but no such day or hour exists.
		if p := (*time.ParseError)(nil); errors.As(err, &p) && strings.HasSuffix(p.Message,
			"out of range") {
			return time.Time{}, errors.New(strings.TrimPrefix(p.Message, ": "))
		}
	}
	if strings.HasSuffix(text, "0") { // not a duration, which ends with a unit
		return time.Time{}, errForm
	}
	d, err := parseDuration("-" + text)
	return now.Add(d), err
}

// inZone returns the first moment when clocks in the zone show the date and the time of t. If they
// skip it, because summer time begins, inZone adds what they skip.
func inZone(t time.Time, zone *time.Location) time.Time {
	offset := func(at time.Time) time.Duration {
		_, seconds := at.In(zone).Zone()
		return time.Duration(seconds) * time.Second
	}
	// No zone changes its offset twice in two days.
	before, after := t.Add(-offset(t.Add(-24*time.Hour))), t.Add(-offset(t.Add(24*time.Hour)))
	if after.Before(before) && after.Add(offset(after)).Equal(t) ||
		!before.Add(offset(before)).Equal(t) && after.Add(offset(after)).Equal(t) {
		return after
	}
	return before
}

var agoUnits = map[string]string{"second": "s", "minute": "m", "hour": "h", "day": "d", "week": "w"}

// cutAgo splits a text such as "2 days ago" into the number and the unit of a duration.
func cutAgo(text string) (n, unit string, ok bool) {
	words := strings.Fields(strings.ToLower(text))
	if len(words) != 3 || words[2] != "ago" {
		return "", "", false
	}
	unit, ok = agoUnits[strings.TrimSuffix(words[1], "s")]
	return words[0], unit, ok
}

var days = map[string]int{"today": 0, "yesterday": -1}

func IsDay(text string) bool {
	_, ok := days[strings.ToLower(strings.TrimSpace(text))]
	return ok
}

// Day returns when a day and the next day begin in a zone. The day is a date, or a name that
// [IsDay] knows.
func Day(text string, now time.Time, zone *time.Location) (from, to time.Time, err error) {
	day, err := time.Parse(time.DateOnly, strings.TrimSpace(text))
	if back, ok := days[strings.ToLower(strings.TrimSpace(text))]; ok {
		y, m, d := now.In(zone).Date()
		day, err = time.Date(y, m, d+back, 0, 0, 0, 0, time.UTC), nil
	}
	if err != nil {
		return from, to, fmt.Errorf("cannot read the date %q; want 2006-01-02, today or yesterday",
			text)
	}
	return inZone(day, zone).UTC(), inZone(day.AddDate(0, 0, 1), zone).UTC(), nil
}

const (
	maxSeconds = 1e12 // later than the times of all formats; larger numbers are milliseconds
	maxMillis  = maxSeconds * 1000
)

// isUnix reports whether a number is long enough to be a Unix time without an @, and too short to be an
// ID.
func isUnix(text string) bool {
	whole, fraction, _ := strings.Cut(text, ".")
	return 9 <= len(whole) && len(whole) <= 13 && strings.Trim(whole+fraction, "0123456789") == ""
}

// unixTime reads Unix seconds with a fraction, or milliseconds.
func unixTime(text string) (time.Time, error) {
	whole, fraction, _ := strings.Cut(text, ".")
	seconds, err := strconv.ParseInt(whole, 10, 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) || strings.HasPrefix(whole, "+") {
		return time.Time{}, errForm
	}
	if err == nil && fraction == "" && (seconds >= maxSeconds || seconds <= -maxSeconds) &&
		seconds < maxMillis && seconds > -maxMillis {
		return time.UnixMilli(seconds), nil
	}
	if err != nil || seconds >= maxSeconds || seconds <= -maxSeconds {
		return time.Time{}, errors.New("it is too far away")
	}
	if strings.Trim(fraction, "0123456789") != "" {
		return time.Time{}, errForm
	}
	nanos, _ := strconv.ParseInt((fraction + "000000000")[:9], 10, 64)
	if strings.HasPrefix(whole, "-") {
		nanos = -nanos
	}
	return time.Unix(seconds, nanos), nil
}

// duration reads a signed duration, which may begin with weeks and days.
func parseDuration(text string) (time.Duration, error) {
	sign, rest := text[:1], text[1:]
	var total time.Duration
	for _, unit := range []struct {
		letter string
		length time.Duration
	}{{"w", 7 * 24 * time.Hour}, {"d", 24 * time.Hour}} {
		number, after, ok := strings.Cut(rest, unit.letter)
		if !ok {
			continue
		}
		n, err := strconv.ParseUint(number, 10, 31)
		if err != nil {
			return 0, errForm
		}
		part := time.Duration(n) * unit.length
		if part/unit.length != time.Duration(n) || total+part < total {
			return 0, errors.New("it is too far away")
		}
		total, rest = total+part, after
	}
	if rest != "" || total == 0 && !strings.ContainsAny(text, "wd") {
		d, err := time.ParseDuration(rest)
		if err != nil || rest[0] == '-' || rest[0] == '+' {
			return 0, errForm
		}
		if total+d < total {
			return 0, errors.New("it is too far away")
		}
		total += d
	}
	if sign == "-" {
		total = -total
	}
	return total, nil
}
