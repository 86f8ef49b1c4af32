package reading

import (
	"errors"
	"slices"

	"github.com/sortid/sortid"
	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/verify/report"
)

// A Fault is a fault of a single line.
type Fault int

// The faults of a line.
const (
	TooLong        Fault = iota
	BadLength            // Not as long as an ID.
	BadSymbol            // A character that is no digit of the encoding.
	BadRange             // A number too large or too small for an ID.
	BadCheckSymbol       // A wrong check symbol.
	BadLayout            // A wrong version or variant.
	OtherFormat          // An ID of another format.
	BadRoundTrip         // Not the text in which the format writes the ID.
	BadCase              // That text in the wrong case.
	BadLineEnd           // CR LF, or a byte order mark.
	Blank
	FaultCount int = iota // How many faults there are.
)

// Names and titles of the checks for faults.
var faultChecks = [FaultCount]struct{ name, title string }{
	TooLong:        {"line", "no line is longer than 64 KiB"},
	BadLength:      {"length", "each line is as long as an ID"},
	BadSymbol:      {"symbol", "each character is a digit of the encoding"},
	BadRange:       {"range", "each number is in the range of IDs"},
	BadCheckSymbol: {"check", "the check symbols are those of the ID"},
	BadLayout:      {"version", "the version and variant bits are right for the format"},
	OtherFormat:    {"format", "no line is an ID of another format"},
	BadRoundTrip:   {"roundtrip", "each text is the one that its ID is written as"},
	BadCase:        {"case", "letters are in the case that the format prefers"},
	BadLineEnd:     {"lineend", "lines end with LF alone"},
	Blank:          {"blank", "no line is empty"},
}

// Check returns the name and the title of the check for the fault.
func (f Fault) Check() (name, title string) {
	return "form." + faultChecks[f].name, faultChecks[f].title
}

// Possible reports whether texts of the format can have the fault.
func (f Fault) Possible(of *format.Format) bool {
	switch f {
	case BadCheckSymbol:
		return of.Check != 0
	case BadLayout:
		return !of.Generates() && slices.ContainsFunc(of.Layout,
			func(f format.Field) bool { return f.Kind == format.KindFixed })
	}
	return true
}

// Readable reports whether a line with the fault still has an ID, or is blank.
func (f Fault) Readable() bool { return f >= BadRoundTrip }

// Tolerable reports whether the fault is only a warning.
func (f Fault) Tolerable() bool { return f >= BadCase }

// faultOf returns the fault behind a parse error of a text in an encoding.
func faultOf(encoding format.Encoding, err error) Fault {
	if encoding == format.Int {
		return BadRange // an integer has digits only
	}
	switch {
	case errors.Is(err, sortid.ErrLength):
		return BadLength
	case errors.Is(err, sortid.ErrRange):
		return BadRange
	case errors.Is(err, format.ErrLayout):
		return BadLayout
	case errors.Is(err, sortid.ErrCheck):
		return BadCheckSymbol
	}
	return BadSymbol
}

// Faults counts the faults of lines and keeps the first examples of each.
type Faults struct {
	Count    [FaultCount]uint64
	Examples [FaultCount][]report.Example // with lines of the block, from 0
}

func (f *Faults) reset() {
	f.Count = [FaultCount]uint64{}
	for i := range f.Examples {
		f.Examples[i] = f.Examples[i][:0]
	}
}

// add counts a fault and reports whether to keep it as an example.
func (f *Faults) add(check Fault) bool {
	f.Count[check]++
	return len(f.Examples[check]) < report.MaxExamples
}
