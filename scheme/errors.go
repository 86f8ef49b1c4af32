package scheme

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

var (
	// ErrForm: the IDs of a scheme do not have the form, or a text is not of it.
	ErrForm = errors.New("wrong form")
	// ErrOption: an option that the scheme does not have, lacks, or has with another
	// kind of value.
	ErrOption = errors.New("wrong option")
)

// An UnknownError is a name that stands for nothing.
type UnknownError struct {
	What  string   // "scheme", "form"
	Name  string   // as given
	Known []string // what would be right
}

func (e *UnknownError) Error() string {
	msg := fmt.Sprintf("unknown %s %q", e.What, clip(e.Name))
	if s := e.Suggestion(); s != "" {
		return fmt.Sprintf("%s; did you mean %q? There are %s", msg, s, list(e.Known, "and"))
	}
	return msg + "; there are " + list(e.Known, "and")
}

// Suggestion returns what was probably meant, or nothing.
func (e *UnknownError) Suggestion() string {
	best, least := "", 3
	for _, known := range e.Known {
		if d := distance(strings.ToLower(clip(e.Name)), known); d < least && d < len(known) {
			best, least = known, d
		}
	}
	return best
}

// A TimeError is a time that no ID of a scheme can show.
type TimeError struct {
	Scheme *Scheme
	Time   time.Time
}

func (e *TimeError) Error() string {
	first, last := e.Scheme.Range()
	return fmt.Sprintf("%s: %s is outside the format's range, %s to %s",
		e.Scheme.Name, FormatTime(e.Time), FormatTime(first), FormatTime(last))
}

// A kinded error is of a kind, but has words of its own.
type kinded struct {
	error
	kind error
}

func (e *kinded) Unwrap() []error { return []error{e.error, e.kind} }

// because returns an error of a kind that says why.
func because(kind error, format string, args ...any) error {
	return &kinded{fmt.Errorf(format, args...), kind}
}

// clip is what an error shows of a long input.
func clip(s string) string {
	if len(s) > 64 {
		return s[:64] + "..."
	}
	return s
}

// list joins names as a sentence does.
func list(names []string, last string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	n := len(names) - 1
	return strings.Join(names[:n], ", ") + " " + last + " " + names[n]
}

// distance returns how many letters to add, drop, replace or swap with the next make b
// of a.
func distance(a, b string) int {
	before, above := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range above {
		above[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row := make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(above[j]+1, row[j-1]+1, above[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, above = above, row
	}
	return above[len(b)]
}
