package flags

import (
	"time"
	_ "time/tzdata" // for --tz on systems without time zones, such as containers

	"github.com/sortid/sortid/cmd/sortid/internal/console"
	"github.com/sortid/sortid/internal/words"
	"github.com/spf13/cobra"
)

type Span struct {
	cmd                  *cobra.Command
	from, to, on, around string
	within               time.Duration
	zone                 string
}

// ChooseSpan adds flags for a time range. toDefault says what a missing --to means.
func ChooseSpan(cmd *cobra.Command, toDefault string) *Span {
	f := &Span{cmd: cmd}
	flags := cmd.Flags()
	flags.StringVar(&f.from, "from", "", "the first `TIME` of the range")
	flags.StringVar(&f.to, "to", "", "the first `TIME` after the range (default "+toDefault+")")
	flags.StringVar(&f.on, "on", "", "the `DATE` that is the range: 2006-01-02, today or yesterday")
	flags.StringVar(&f.around, "around", "", "an `ID` whose time is the middle of the range")
	flags.DurationVar(&f.within, "within", 5*time.Minute,
		"how far the range reaches before and after the time of --around, a `DURATION`")
	flags.StringVar(&f.zone, "tz", "",
		"the time `ZONE` of times without an offset, such as Europe/Berlin (default UTC)")
	cmd.MarkFlagsMutuallyExclusive("on", "around", "from")
	cmd.MarkFlagsMutuallyExclusive("on", "around", "to")
	return f
}

// A Range starts at From and ends before To. A missing limit is zero.
type Range struct{ From, To time.Time }

// Read returns the range. The function timeOf returns the time of the ID of --around.
func (f *Span) Read(now time.Time,
	timeOf func(id string) (time.Time, error)) (r Range, err error) {
	if f.given("within") && !f.given("around") {
		return r, console.UsageErrorf("--within needs --around")
	}
	zone := time.UTC
	if f.given("tz") {
		if !f.given("from") && !f.given("to") && !f.given("on") {
			return r, console.UsageErrorf("--tz needs --from, --to or --on")
		}
		if zone, err = time.LoadLocation(f.zone); err != nil || f.zone == "" {
			return r, console.UsageErrorf(
				"--tz: %q is not a time zone; want a name such as "+
					"Europe/Berlin, America/New_York or UTC", f.zone)
		}
	}
	switch {
	case f.given("on"):
		r.From, r.To, err = words.Day(f.on, now, zone)
		if err != nil {
			err = console.UsageErrorf("--on: %w", err)
		}
		return r, err
	case f.given("around"):
		t, err := timeOf(f.around)
		if err != nil {
			return r, console.UsageErrorf("--around: %w", err)
		}
		if f.within <= 0 {
			return r, console.UsageErrorf("--within: want a duration above 0, such as 5m")
		}
		return Range{t.Add(-f.within), t.Add(f.within)}, nil
	}
	if f.given("from") {
		if r.From, err = timeIn("from", f.from, now, zone); err != nil {
			return r, err
		}
	}
	if f.given("to") {
		if r.To, err = timeIn("to", f.to, now, zone); err != nil {
			return r, err
		}
	}
	if !r.From.IsZero() && !r.To.IsZero() && !r.From.Before(r.To) {
		return r, console.UsageErrorf(
			"the range from %s to %s is empty: its end must be later than its start",
			words.Time(r.From), words.Time(r.To))
	}
	return r, nil
}

func (f *Span) given(name string) bool { return f.cmd.Flags().Changed(name) }

// TimeOf reads a flag's time. A time without an offset is in UTC. An empty text is the zero time.
func TimeOf(name, text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	return timeIn(name, text, now, time.UTC)
}

// ReadTime reads the same times as TimeOf, except an empty text. Its errors name no flag.
func ReadTime(text string, now time.Time) (time.Time, error) {
	if words.IsDay(text) {
		t, _, err := words.Day(text, now, time.UTC)
		return t, err
	}
	return words.ParseTime(text, now, time.UTC)
}

// Times lists the times that flags accept.
const Times = words.AcceptedTimes + ", or the start of today or yesterday"

func timeIn(name, text string, now time.Time, zone *time.Location) (time.Time, error) {
	if words.IsDay(text) {
		t, _, err := words.Day(text, now, zone)
		return t, err
	}
	t, err := words.ParseTime(text, now, zone)
	if err != nil {
		return t, console.UsageErrorf("--%s: %w", name, err)
	}
	return t, nil
}
