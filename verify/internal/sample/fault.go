package sample

import (
	"errors"
	"slices"

	"github.com/sortid/sortid"
	"github.com/sortid/sortid/internal/spec"
)

// A Fault is a kind of mistake in a line.
type Fault int

const (
	TooLong Fault = iota
	BadLength
	BadSymbol
	BadRange
	BadCheckSymbol
	BadLayout
	OtherFormat
	BadRoundTrip
	BadCase
	BadLineEnd
	Blank
	FaultCount int = iota
)

var faultChecks = [FaultCount]struct{ name, title, wrong string }{
	TooLong:   {"line", "no line is longer than 64 KiB", "lines are longer than 64 KiB"},
	BadLength: {"length", "each line is as long as an ID", "lines are not as long as an ID"},
	BadSymbol: {"symbol", "each character is a digit of the encoding",
		"characters are not digits of the encoding"},
	BadRange: {"range", "each number is in the range of IDs",
		"numbers are not in the range of IDs"},
	BadCheckSymbol: {"check", "the check symbols match the ID",
		"the check symbols do not match the ID"},
	BadLayout: {"version", "the version and variant bits are right for the format",
		"the version or variant bits are wrong for the format"},
	OtherFormat: {"format", "no line is an ID of another format",
		"lines are IDs of another format"},
	BadRoundTrip: {"roundtrip", "each ID has the text that the format writes",
		"the format writes IDs in another way"},
	BadCase: {"case", "letters are in the case that the format prefers",
		"letters are not in the case that the format prefers"},
	BadLineEnd: {"lineend", "lines end with LF alone", "lines end with CR LF, or a byte order mark is first"},
	Blank:      {"blank", "no line is empty", "lines are empty"},
}

func (f Fault) Check() (name, title, wrong string) {
	c := faultChecks[f]
	return "form." + c.name, c.title, c.wrong
}

// Possible reports whether the format's texts can have the fault.
func (f Fault) Possible(of *spec.Format) bool {
	switch f {
	case BadCheckSymbol:
		return of.Text.Check != 0 || of.Text.Suffix != ""
	case BadLayout:
		return !of.Generates && slices.ContainsFunc(of.Layout,
			func(f spec.Field) bool { return f.Kind == spec.KindFixed })
	}
	return true
}

// Readable reports whether a line with this fault is blank or has an ID.
func (f Fault) Readable() bool { return f >= BadRoundTrip }

// Tolerable reports whether the fault is only a warning.
func (f Fault) Tolerable() bool { return f == BadCase || f == BadLineEnd }

func faultOf(err error) Fault {
	switch {
	case errors.Is(err, sortid.ErrLength):
		return BadLength
	case errors.Is(err, sortid.ErrRange):
		return BadRange
	case errors.Is(err, sortid.ErrLayout):
		return BadLayout
	case errors.Is(err, sortid.ErrCheck):
		return BadCheckSymbol
	}
	return BadSymbol
}
