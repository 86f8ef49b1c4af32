// Package format is one table of every format of IDs that the product knows: the five that it
// makes, and other people's, such as UUIDs, ULID and Snowflakes. It is for programs that learn
// only at run time which format they handle: a command, a server, a page, a tester.
//
// A [Format] describes a format: its names, layout, text, time and range, and how to find it
// in text. It also has the options of its generators, and facts for leases, planners and
// databases. It parses, converts and generates. An [ID] is an ID of any format, and [Detect]
// lists the formats that a text may have. A program that knows its format imports that
// format's package instead: it is shorter and faster.
//
// A format of ours has a file with its description and its operations. A format of others is a
// row of data in others.go, and one decoder reads them all.
package format

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sortid/sortid/internal/clock"
	"github.com/sortid/sortid/lease"
	"github.com/sortid/sortid/typed"
)

// A Format describes a format of IDs. There is one for each, so pointers may be compared. Do
// not change what they point to. Some fields are set only for formats of ours; see
// [Format.Generates].
type Format struct {
	Name    string // As in "scru128": the package's name, too.
	Title   string // The name that its document gives it.
	Summary string // What it is, in a few words.
	Source  string // Its document: the title, the address, or both.

	Bits   int     // How many an ID has.
	Size   int     // The bytes of the integer that an ID is.
	Layout []Field // Of the integer, from the most significant bit to the least.

	// The text.
	Encodings   []Encoding // That the IDs have, their text first.
	Alphabet    string     // The text in words.
	Symbols     string     // The alphabet in order of value; empty if the text is no [Text].
	FoldsCase   bool       // Whether reading a text ignores the case of letters.
	TextLengths []int      // The lengths of the texts that the format writes or reads.
	Check       int        // The modulus of the check in the bits that follow the ID; 0 if these are zero.
	CheckSuffix string     // The kind of the check that may follow the text, after a hyphen: "bech32".
	Rotated     int        // How many digits of lowest value the text begins with.
	Aliases     string     // Other letters that are read, each before its symbol, as in "O0I1".
	Groups      []Group    // Of the text, if it is more than one number.
	Guess       []Encoding // Those that Detect tries, nil for all.
	HexText     bool       // Whether the format's document has the hexadecimal encoding as a text, too.
	Prefix      *Prefix    // The name and the underscore before the text, nil if there is none.
	Mark        string     // What else tells an ID, to go on after the words for its encoding.
	Example     string     // The text of an ID.
	Grouped     bool       // Whether people put hyphens between the symbols of a text.
	TextSorts   bool       // Whether texts sort by time; integers always do.
	Search      Search     // How to find it among other text.

	// The time. Tick is 0 if IDs carry none.
	Epoch       time.Time     // The time of timestamp 0.
	Tick        time.Duration // The unit of the timestamp, that divides a millisecond or is a multiple.
	Reserved    bool          // Whether no generator uses the first and the last timestamp.
	First, Last time.Time     // The first and the last time that a generator puts into an ID.

	// What follows is of formats of ours.
	Unique  string       // Why no two IDs are the same.
	PerTick string       // How many IDs a generator makes in one tick.
	Choose  string       // When to choose the format.
	Options []Option     // What a generator can be told.
	Node    string       // The one of these that gives the node ID; empty if IDs carry none.
	Lease   lease.Format // How node IDs are leased; zero if IDs carry none.
	// NeedsNode: only a node ID makes IDs unique for certain, so a server leases one.
	NeedsNode bool
	// NodeCounter is the size of the field that node ID and counter share, 0 if there is none. Such
	// a format needs node IDs, and its full counter borrows the next tick. See SplitNode.
	NodeCounter int
	// Stateless: generators may fill the counters at random in each ID.
	Stateless bool `json:"-"`
	Plan      Plan
	SQL       SQL

	alphabet class // Of the text.
	letters  class // The case in which the format writes letters, 0 for both.

	parse func(string) (Words, error)
	// unmarshal does what parse does, and tells whether the text is the one that is written.
	unmarshal func([]byte) (w Words, canonical bool, err error)
	// appendLines does what calling unmarshal for each line does; nil: there is no faster way.
	appendLines func([]Words, []byte) []Words
	appendText  func([]byte, Words) []byte
	check       func(Words) error // Whether an integer as wide as Bits is an ID.
	first       func(time.Time) Words
	max         Words
	within      []*Format // The formats of the IDs within these IDs, which tell the time.
	usual       *Format   // The one of these that generators put there; its IDs are in order.

	usages func(f *Format, nodeBits int) []Usage // Nil: one, which is Layout.

	newGenerator func(*Format, Options) (Generator, error)

	digits        int // Of the largest ID as a decimal integer.
	timestamp     []Field
	constants     []Field
	places        []Place // Of these.
	epochMilli    int64   // Unix milliseconds.
	tickMilli     int64   // Milliseconds in a tick, 0 if it is shorter than one.
	perMilli      uint64  // Ticks in a millisecond, if it is shorter.
	plausibleFrom int64   // Unix milliseconds; see PlausibleRange.
}

// A Search says how texts of a format are found among other text, beyond what alphabet and
// lengths tell. The zero Search is for texts that hardly anything else looks like.
type Search struct {
	// WordLike: many words look like a text. The format is looked for only where it is named.
	WordLike bool `json:"word_like,omitempty"`
	// Short: the text is short and has no check. It is not looked for within Base64, among
	// numbers such as 0x12, or in another case of letters than the format writes.
	Short bool `json:"short,omitempty"`
	// Prefix is what the texts of all plausible times begin with.
	Prefix string `json:"prefix,omitempty"`
	// Named: the format is looked for only where it is named.
	Named bool `json:"named,omitempty"`
	// Labelled: other numbers look like it. Unless it is named, it is looked for only after "id".
	Labelled bool `json:"labelled,omitempty"`
	// Mixed: Detect takes a text for an ID only if its digits and letters alternate as in
	// random text. About one ID in 200 looks otherwise.
	Mixed bool `json:"mixed,omitempty"`
}

// A Prefix says what may stand before a text, with an underscore between.
type Prefix struct {
	Symbols string   `json:"symbols"` // a letter comes first, and no underscore last
	Min     int      `json:"min"`     // the length
	Max     int      `json:"max"`
	Known   []string `json:"known,omitempty"` // all that there are, nil if any may be
}

// A Plan is what a planner has to know about a format. Its formulas are in docs/command.md.
type Plan struct {
	Preference int    `json:"preference"`       // Its place in the order in which formats are recommended, from 1.
	Unique     string `json:"unique,omitempty"` // What makes IDs unique, without node IDs.

	// RandomBits is by how many random bits the IDs of two processes and the same millisecond
	// differ.
	RandomBits float64 `json:"random_bits,omitempty"`
	// PerTick is how many IDs a process makes in a tick on average.
	PerTick float64 `json:"per_tick,omitempty"`
	// Least is how many a process makes in a tick at least, if it then waits for the next
	// one; else 0.
	Least float64 `json:"least,omitempty"`

	NodeBits int `json:"node_bits,omitempty"` // The largest size of a node ID, with which IDs are certainly unique.
}

// SQL is what a database has to know about a format.
type SQL struct {
	Postgres string `json:"postgres"`      // The column type that stores IDs in binary in PostgreSQL.
	Bytes    int    `json:"bytes"`         // That a value takes in it.
	New      string `json:"new,omitempty"` // The call of a function in the database that makes an ID; empty if none does.

	Parts []string `json:"-"` // What its functions in PostgreSQL need that formats share.
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
	KindFixed   Kind = "fixed" // the same in all IDs of the format
)

// A Field is a row of bits in a layout.
type Field struct {
	Name    string `json:"name"` // as the format's document has it; empty for bits that are always zero
	Bits    int    `json:"bits"` // the width
	Low     int    `json:"low"`  // the place of the lowest bit; the ID's lowest bit is at 0
	Kind    Kind   `json:"kind"`
	Meaning string `json:"meaning,omitempty"`      // in one line
	Value   uint64 `json:"value,string,omitempty"` // of a field that is KindFixed or Constant
	Shift   int    `json:"shift,omitempty"`        // of KindTime: the place of its lowest bit in the timestamp

	// Constant: generators write Value. Unlike KindFixed, other values are read, too.
	Constant bool `json:"constant,omitempty"`
	// Part names a value in the field's low bits, as many as the field PartBits says.
	Part     string `json:"part,omitempty"`
	PartBits string `json:"part_bits,omitempty"`

	// What follows is for those who test generators; see [Usage].
	Start Start  `json:"-"` // of KindCounter: how it starts in a new tick
	Every uint64 `json:"-"` // of KindCounter: in how many ticks it is renewed, if not in each
	Most  uint64 `json:"-"` // the largest content, if not all bits may be set
	// Loose: of KindRandom, it may be a counter or a finer time instead; of KindNode, it may be
	// random.
	Loose bool `json:"-"`
}

// The formats of ours.
var (
	SCRU64  = newFormat(scru64Format())
	SCRU128 = newFormat(scru128Format())
	SCRU160 = newFormat(scru160Format())
	EUID    = newFormat(euidFormat())
	UID60   = newFormat(uid60Format())
)

var (
	ours = []*Format{SCRU64, SCRU128, SCRU160, EUID, UID60}
	all  = slices.Concat(ours, others)
)

// All returns the table: our formats, then other people's.
func All() []*Format { return slices.Clone(all) }

// Ours returns the formats that generators make IDs of, in the order in which tables show them.
func Ours() []*Format { return slices.Clone(ours) }

// Names returns the names of the formats of ours.
func Names() []string { return NamesOf(ours) }

// Preferred returns the format that is recommended before all others if it fits.
func Preferred() *Format {
	return slices.MinFunc(ours,
		func(a, b *Format) int { return a.Plan.Preference - b.Plan.Preference })
}

// Leased returns the formats of ours for which a server leases node IDs.
func Leased() (formats []*Format) {
	for _, f := range ours {
		if f.NeedsNode {
			formats = append(formats, f)
		}
	}
	return formats
}

// NamesOf returns the names of formats.
func NamesOf(formats []*Format) []string {
	names := make([]string, len(formats))
	for i, f := range formats {
		names[i] = f.Name
	}
	return names
}

// Generates reports whether the format is one of ours, so that [Format.NewGenerator] makes its
// IDs. Formats of others are only read.
func (f *Format) Generates() bool { return f.newGenerator != nil }

// HasTime reports whether IDs of the format carry a time.
func (f *Format) HasTime() bool { return f.Tick != 0 }

// Timed returns the format that the time and the fields of the IDs follow: f itself, or the format
// of the IDs within these IDs. It returns nil if they carry no time.
func (f *Format) Timed() *Format {
	switch {
	case f.HasTime():
		return f
	case slices.Contains(f.within, UUIDv7): // which the document of TypeID wants
		return UUIDv7
	}
	return nil
}

// newFormat completes a description: what follows from the rest is not written down.
func newFormat(f *Format) *Format {
	f.Size = place(f.Layout) / 8
	if f.Encodings == nil {
		f.Encodings = []Encoding{Text, Hex, Int}
		if f.Bits == 128 {
			f.Encodings = append(f.Encodings, UUID)
		}
	}
	f.digits = len(f.max.appendInt(nil))
	for _, field := range f.Layout {
		if field.Constant {
			f.constants = append(f.constants, field)
		}
	}
	if !f.HasTime() {
		return f
	}
	for _, field := range f.Layout {
		if field.Kind == KindTime {
			f.timestamp = append(f.timestamp, field)
			f.places = append(f.places, field.Place())
		}
	}
	f.epochMilli = f.Epoch.UnixMilli()
	f.tickMilli, f.perMilli = f.Tick.Milliseconds(), uint64(time.Millisecond/f.Tick)
	f.First, f.Last = f.Range()
	if f.Reserved {
		f.First, f.Last = f.First.Add(f.Tick), f.Last.Add(-f.Tick)
	}
	from, _ := f.PlausibleRange(f.Epoch)
	f.plausibleFrom = from.UnixMilli()
	return f
}

// place fills in where the fields are, given their widths, and returns the sum of these.
func place(layout []Field) int {
	low := 0
	for i := len(layout) - 1; i >= 0; i-- {
		layout[i].Low = low
		low += layout[i].Bits
	}
	return low
}

// Lookup returns the format of ours of a name, in either case. The error is an [UnknownError].
func Lookup(name string) (*Format, error) { return lookup(ours, name) }

// LookupAny is [Lookup] among all formats.
func LookupAny(name string) (*Format, error) { return lookup(all, name) }

func lookup(formats []*Format, name string) (*Format, error) {
	for _, f := range formats {
		if strings.EqualFold(f.Name, name) {
			return f, nil
		}
	}
	return nil, &UnknownError{What: "format", Name: name, Known: NamesOf(formats)}
}

// String returns the format's name.
func (f *Format) String() string { return f.Name }

// Max returns the largest ID.
func (f *Format) Max() ID { return ID{f, f.max} }

// HasEncoding reports whether the format's IDs have the encoding.
func (f *Format) HasEncoding(e Encoding) bool { return slices.Contains(f.Encodings, e) }

// SplitNode returns the fields of node ID and counter, of a format where they share one, given the
// size of the node ID: an ID does not tell it.
func (f *Format) SplitNode(size int) ([]Field, error) {
	if most := f.NodeCounter - 1; size < 1 || size > most {
		return nil, fmt.Errorf("a node ID has 1 to %d bits, not %d", most, size)
	}
	fields := []Field{
		{Name: "node_id", Bits: size, Kind: KindNode, Meaning: "the node that made the ID"},
		{Name: "counter", Bits: f.NodeCounter - size, Kind: KindCounter,
			Meaning: "+1 per ID, random start in each tick"},
	}
	place(fields)
	return fields, nil
}

// Range returns the first and the last time that an ID of the format can show, at the
// reserved timestamps too.
func (f *Format) Range() (first, last time.Time) {
	return f.Epoch, f.Max().Time().Add(f.Tick - time.Nanosecond)
}

// CheckTime returns a [TimeError] if no ID of the format can show the time.
func (f *Format) CheckTime(t time.Time) error {
	if first, last := f.Range(); t.Before(first) || t.After(last) {
		return &TimeError{Format: f, Time: t}
	}
	return nil
}

// Bounds returns the smallest ID of from's tick, and the smallest ID of to's tick. The time
// range has the IDs from the first up to, but not including, the second. It returns a
// [TimeError] for a time that no ID can show, and another error if the range is empty or IDs are
// not in order of time. The bounds of TypeIDs hold for UUIDs of version 7 in them.
func (f *Format) Bounds(from, to time.Time) (first, end ID, err error) {
	if f.usual != nil {
		first, end, err = f.usual.Bounds(from, to)
		return ID{f, first.words}, ID{f, end.words}, err
	}
	if f.first == nil {
		return ID{}, ID{}, fmt.Errorf(
			"%s: IDs are not in order of time, so no two of them bound a range", f.Name)
	}
	for _, t := range [2]time.Time{from, to} {
		if err := f.CheckTime(t); err != nil {
			return ID{}, ID{}, err
		}
	}
	first, end = ID{f, f.first(from)}, ID{f, f.first(to)}
	switch {
	case !from.Before(to):
		return ID{}, ID{}, fmt.Errorf(
			"%s: the range from %s to %s is empty: its end must be later than its start",
			f.Name, FormatTime(from), FormatTime(to))
	case first == end:
		return ID{}, ID{}, fmt.Errorf(
			"%s: the range from %s to %s lies within one tick, and IDs do not tell times within %v apart",
			f.Name, FormatTime(from), FormatTime(to), f.Tick)
	}
	return first, end, nil
}

// CheckPrefix returns an error if no ID of the format has the prefix, without its underscore.
func (f *Format) CheckPrefix(prefix string) error {
	switch {
	case f.Prefix != nil && !f.Prefix.allows(prefix):
		return fmt.Errorf("%q is no prefix of %s IDs, such as %s", prefix, f.Name, f.Example)
	case f.Prefix == nil && !f.Generates():
		return fmt.Errorf("%s IDs have no prefix", f.Name)
	case f.Prefix == nil:
		return typed.CheckPrefix(prefix)
	}
	return nil
}

// TimeLayout is how times are shown: RFC 3339 in UTC to the millisecond.
const TimeLayout = clock.Layout

// FormatTime returns the time in [TimeLayout].
func FormatTime(t time.Time) string { return t.UTC().Format(TimeLayout) }

// UsualLengths returns the lengths of the format's texts. It leaves out lengths that
// only times just after the epoch have.
func (f *Format) UsualLengths() []int {
	if !f.HasTime() {
		return f.TextLengths
	}
	return f.TextLengths[max(0, len(f.TextLengths)-2):]
}

// Lengths returns the usual lengths of the format's texts in words, as in "9 or 10".
func (f *Format) Lengths() string {
	lengths := f.UsualLengths()
	words := make([]string, len(lengths))
	for i, n := range lengths {
		words[i] = strconv.Itoa(n)
	}
	if f.HexText {
		words = append(words, strconv.Itoa(2*f.Size))
	}
	return list(words, "or")
}
