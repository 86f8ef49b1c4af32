package kv

import (
	"fmt"
	"time"

	"github.com/sortid/sortid/lease"
)

// Date returns the time of a server from the header Date of its answer, which has whole seconds.
func Date(header string) (time.Time, error) {
	if header == "" {
		return time.Time{}, lease.ErrNoTime
	}
	date, err := time.Parse("Mon, 02 Jan 2006 15:04:05 GMT", header)
	if err != nil {
		return time.Time{}, fmt.Errorf("the Date of the answer: %w", err)
	}
	return within(time.Now(), date), nil
}

// within returns the time that is nearest to this machine's time (here), in the second that begins
// at date. The server's time is in this second.
func within(here, date time.Time) time.Time {
	switch end := date.Add(time.Second - 1); {
	case here.Before(date):
		return date
	case here.After(end):
		return end
	}
	return here.Round(0)
}
