package main

import (
	"errors"
	"fmt"
	"time"
	_ "time/tzdata" // for --tz where the system has no zones, as in a container

	"github.com/sortid/sortid/cmd/sortid/internal/when"
	"github.com/sortid/sortid/format"
	"github.com/spf13/cobra"
)

// spanFlags are the flags that tell a range of times.
type spanFlags struct {
	cmd                  *cobra.Command
	from, to, on, around string
	within               time.Duration
	zone                 string
}

// addSpanFlags adds the flags to a command; toDefault says what an absent --to means.
func addSpanFlags(cmd *cobra.Command, toDefault string) *spanFlags {
	f := &spanFlags{cmd: cmd}
	flags := cmd.Flags()
	flags.StringVar(&f.from, "from", "", "the first `TIME` of the range")
	flags.StringVar(&f.to, "to", "", "the first `TIME` after the range (default "+toDefault+")")
	flags.StringVar(&f.on, "on", "", "the `DATE` that is the range: 2006-01-02, today or yesterday")
	flags.StringVar(&f.around, "around", "", "an `ID` whose time is the middle of the range")
	flags.DurationVar(&f.within, "within", 5*time.Minute, "how far the range reaches before and after that of --around")
	flags.StringVar(&f.zone, "tz", "", "the time `ZONE` of times without an offset, such as Europe/Berlin (default UTC)")
	return f
}

// A span is a range of times, without its end. Either end is zero if it is not given.
type span struct{ from, to time.Time }

// read returns the range that the flags tell. The ID of --around may be of any format, and
// is read as one of s first, unless s is nil.
func (f *spanFlags) read(now time.Time, s *format.Format) (r span, err error) {
	for _, pair := range [][2]string{{"on", "from"}, {"on", "to"}, {"on", "around"}, {"around", "from"}, {"around", "to"}} {
		if f.given(pair[0]) && f.given(pair[1]) {
			return r, usagef("--%s and --%s exclude each other", pair[0], pair[1])
		}
	}
	if f.given("within") && !f.given("around") {
		return r, usagef("--within goes with --around")
	}
	zone := time.UTC
	if f.given("tz") {
		if !f.given("from") && !f.given("to") && !f.given("on") {
			return r, usagef("--tz goes with --from, --to or --on")
		}
		if zone, err = time.LoadLocation(f.zone); err != nil || f.zone == "" {
			return r, usagef("--tz: %q is no time zone; want a name such as Europe/Berlin, America/New_York or UTC", f.zone)
		}
	}
	switch {
	case f.given("on"):
		r.from, r.to, err = when.Day(f.on, now, zone)
		if err != nil {
			err = usagef("--on: %w", err)
		}
		return r, err
	case f.given("around"):
		t, err := timeOfID(f.around, s)
		if err != nil {
			return r, usagef("--around: %w", err)
		}
		if f.within <= 0 {
			return r, usagef("--within: want a duration above 0, such as 5m")
		}
		return span{t.Add(-f.within), t.Add(f.within)}, nil
	}
	if f.given("from") {
		if r.from, err = timeIn("from", f.from, now, zone); err != nil {
			return r, err
		}
	}
	if f.given("to") {
		r.to, err = timeIn("to", f.to, now, zone)
	}
	return r, err
}

func (f *spanFlags) given(name string) bool { return f.cmd.Flags().Changed(name) }

// timeOfID returns the time of an ID, of the format if it can be.
func timeOfID(text string, s *format.Format) (time.Time, error) {
	if s != nil {
		if r, err := (&reader{format: s}).read(text); err == nil {
			return r.time(), nil
		}
	}
	r, err := new(reader).read(text)
	switch {
	case err != nil:
		return time.Time{}, err
	case r.time().IsZero():
		return time.Time{}, fmt.Errorf("%s is %s, which has no time in it", quote(text), r.as())
	}
	return r.time(), nil
}

// timeOf reads the time of a flag, in UTC unless it says otherwise.
func timeOf(name, text string, now time.Time) (time.Time, error) {
	return timeIn(name, text, now, time.UTC)
}

func timeIn(name, text string, now time.Time, zone *time.Location) (time.Time, error) {
	t, err := when.ParseIn(text, now, zone)
	if err != nil {
		return t, usagef("--%s: %w", name, err)
	}
	return t, nil
}

var errNoSpan = errors.New("bounds wants --from TIME, --on DATE or --around ID; a TIME is one of " + when.Accepted)
