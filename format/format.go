// Package format puts the five ID formats behind one table, for programs that learn
// only at run time which format they handle: a command, a server, a page, a tester.
//
// A [Format] describes a format (layout, forms, epoch, tick, range) and gives its
// operations: parse, inspect, generate, convert, bounds. An [ID] is an ID of any of
// them, and [Detect] says which format an unknown text may be of. A program that knows
// its format imports that format's package instead: it is shorter and faster.
package format

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sortid/sortid/internal/clock"
)

// A Format describes one of the five formats. There is one Format for each, so
// pointers may be compared; what they point to must not be changed.
type Format struct {
	Name    string // as in "scru128": the package's name, too
	Title   string // the name that its document gives it
	Summary string // what it is, in a few words

	Bits   int     // of the integer that stores an ID: 64, 128 or 160
	Layout []Field // from the most significant bit to the least; widths add up to Bits

	Alphabet    string // the text form, in words
	Symbols     string // the alphabet of the text form, in order of value
	FoldsCase   bool   // whether reading a text ignores the case of letters
	TextLengths []int  // the lengths of the texts that the format writes or reads
	HexText     bool   // whether the format's document has the hexadecimal form as a text, too
	Example     string // the text of an ID
	TextSorts   bool   // whether texts sort by time; integers always do

	Epoch       time.Time     // the time of timestamp 0
	Tick        time.Duration // the unit of the timestamp
	Reserved    bool          // whether no generator uses the first and the last timestamp
	First, Last time.Time     // the first and the last time that a generator puts into an ID

	Unique  string // why no two IDs are the same
	PerTick string // how many IDs a generator makes in one tick

	Options   []Option   // what a generator can be told
	Node      string     // the one of these that gives the node ID; empty if IDs carry none
	Encodings []Encoding // the forms that the IDs have

	alphabet class // of the text form
	letters  class // the case in which the format writes letters, 0 for both

	parse      func(string) (words, error)
	appendText func([]byte, words) []byte
	check      func(words) error // whether an integer as wide as Bits is an ID
	first      func(time.Time) words
	max        words
	notes      func(ID) []string
	generated  func(ID) bool // whether generators make such an ID; nil: they may make any

	newGenerator func(*Format, Options) (Generator, error)

	digits        int   // of the largest ID as a decimal integer
	plausibleFrom int64 // Unix milliseconds; see PlausibleRange
}

// A Kind is what a field is for.
type Kind string

// The kinds of fields.
const (
	KindTime    Kind = "time"
	KindCounter Kind = "counter"
	KindNode    Kind = "node"
	KindRandom  Kind = "random"
	KindData    Kind = "data"
	KindZero    Kind = "zero"
)

// A Field is a row of bits in a layout.
type Field struct {
	Name    string // as the format's document has it; empty for bits that are always zero
	Bits    int    // the width
	Low     int    // the place of the lowest bit; that of the ID's lowest bit is 0
	Kind    Kind
	Meaning string // in one line
}

// The five formats.
var (
	SCRU64  = newFormat(scru64Format())
	SCRU128 = newFormat(scru128Format())
	SCRU160 = newFormat(scru160Format())
	EUID    = newFormat(euidFormat())
	UID60   = newFormat(uid60Format())

	all = []*Format{SCRU64, SCRU128, SCRU160, EUID, UID60}
)

// All returns the five formats, in the order in which tables show them.
func All() []*Format { return append([]*Format(nil), all...) }

// Names returns the names of the five formats.
func Names() []string {
	names := make([]string, len(all))
	for i, s := range all {
		names[i] = s.Name
	}
	return names
}

// newFormat completes a description: what follows from the rest is not written down.
func newFormat(s *Format) *Format {
	place(s.Layout)
	s.Encodings = []Encoding{Text, Hex, Int}
	if s.Bits == 128 {
		s.Encodings = append(s.Encodings, UUID)
	}
	s.First, s.Last = s.Range()
	if s.Reserved {
		s.First, s.Last = s.First.Add(s.Tick), s.Last.Add(-s.Tick)
	}
	s.digits = len(s.max.appendInt(nil))
	from, _ := s.PlausibleRange(s.Epoch)
	s.plausibleFrom = from.UnixMilli()
	return s
}

// Timestamp returns the field that holds the time, in ticks since the epoch.
func (s *Format) Timestamp() Field {
	if s.Layout[0].Kind == KindZero {
		return s.Layout[1]
	}
	return s.Layout[0]
}

// place fills in where the fields are, given their widths.
func place(layout []Field) {
	low := 0
	for i := len(layout) - 1; i >= 0; i-- {
		layout[i].Low = low
		low += layout[i].Bits
	}
}

// Lookup returns the format of a name, in either case. The error is an [UnknownError].
func Lookup(name string) (*Format, error) {
	for _, s := range all {
		if strings.EqualFold(s.Name, name) {
			return s, nil
		}
	}
	return nil, &UnknownError{What: "scheme", Name: name, Known: Names()}
}

// String returns the format's name.
func (s *Format) String() string { return s.Name }

// Max returns the largest ID.
func (s *Format) Max() ID { return ID{s, s.max} }

// HasEncoding reports whether the format's IDs have the form.
func (s *Format) HasEncoding(f Encoding) bool { return slices.Contains(s.Encodings, f) }

// SplitNode returns what node_ctr of SCRU64 is made of, given the size of the node ID,
// 1 to 23 bits, which an ID does not tell: node_id and counter.
func SplitNode(size int) ([]Field, error) {
	if size < 1 || size > 23 {
		return nil, fmt.Errorf("a node ID has 1 to 23 bits, not %d", size)
	}
	fields := []Field{
		{Name: "node_id", Bits: size, Kind: KindNode, Meaning: "the node that made the ID"},
		{Name: "counter", Bits: 24 - size, Kind: KindCounter, Meaning: "+1 per ID, random start in each tick"},
	}
	place(fields)
	return fields, nil
}

// Range returns the first and the last time that an ID of the format can show, at the
// reserved timestamps too.
func (s *Format) Range() (first, last time.Time) {
	return s.Epoch, s.Max().Time().Add(s.Tick - time.Nanosecond)
}

// CheckTime returns a [TimeError] if no ID of the format can show the time.
func (s *Format) CheckTime(t time.Time) error {
	if first, last := s.Range(); t.Before(first) || t.After(last) {
		return &TimeError{Format: s, Time: t}
	}
	return nil
}

// Bounds returns the smallest ID of from's tick and that of to's: the IDs from the one
// up to, but not including, the other are those of the time range. It returns a
// [TimeError] for a time that no ID can show, and another error if the range is empty.
func (s *Format) Bounds(from, to time.Time) (first, end ID, err error) {
	for _, t := range [2]time.Time{from, to} {
		if err := s.CheckTime(t); err != nil {
			return ID{}, ID{}, err
		}
	}
	first, end = ID{s, s.first(from)}, ID{s, s.first(to)}
	switch {
	case !from.Before(to):
		return ID{}, ID{}, fmt.Errorf("%s: the range from %s to %s is empty: its end must be later than its start",
			s.Name, FormatTime(from), FormatTime(to))
	case first == end:
		return ID{}, ID{}, fmt.Errorf("%s: the range from %s to %s lies within one tick, and IDs do not tell times within %v apart",
			s.Name, FormatTime(from), FormatTime(to), s.Tick)
	}
	return first, end, nil
}

// TimeLayout is how times are shown: RFC 3339 in UTC to the millisecond.
const TimeLayout = clock.Layout

// FormatTime returns the time in [TimeLayout].
func FormatTime(t time.Time) string { return t.UTC().Format(TimeLayout) }

// UsualLengths returns the lengths of the format's texts, but for those that only times just
// after the epoch have.
func (s *Format) UsualLengths() []int { return s.TextLengths[max(0, len(s.TextLengths)-2):] }

// Lengths returns the usual lengths of the format's texts in words, as in "9 or 10".
func (s *Format) Lengths() string {
	lengths := s.UsualLengths()
	words := make([]string, len(lengths))
	for i, n := range lengths {
		words[i] = strconv.Itoa(n)
	}
	if s.HexText {
		words = append(words, strconv.Itoa(s.Bits/4))
	}
	return list(words, "or")
}
