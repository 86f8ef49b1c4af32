// Package format describes ID formats, and reads their IDs: our five formats, and formats of other
// projects, such as UUIDs, ULIDs and Snowflakes. If you know the format, import the format's
// package instead, for shorter and faster code.
//
// [AppendDetect] lists the formats that a text may have. [Lookup] finds a [Format] by its name. A
// Format has the format's layout, texts and time; it parses texts, and bounds ranges of time.
// [Format.With] describes Snowflakes with an epoch or a layout of their own. An [ID] of any format
// has fields and a time, and can be written in several encodings.
//
// Package generate makes IDs of a format. Values of all types may be used by several goroutines at
// once.
package format

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sortid/sortid"
	"github.com/sortid/sortid/internal/integer"
	"github.com/sortid/sortid/internal/parseerr"
	"github.com/sortid/sortid/internal/words"
)

// A Format describes one format. Each format has one *Format, so programs may compare pointers. Do
// not change a Format.
type Format struct {
	Name    string // Such as "scru128"; for our formats, also the package's name.
	Title   string // The name in its document.
	Summary string // What it is, in a few words.
	Source  string // Its document: title, address, or both.

	Bits   int     // The size of an ID in bits.
	Size   int     // In bytes.
	Layout []Field // From the most significant bit to the least.

	Encodings []Encoding // The usual encoding is first.
	Text      TextRules
	Search    Search // How to find IDs in other text.
	Example   string // An ID's text.

	// The time. If IDs have no time, Tick is 0.
	Epoch       time.Time     // The time of timestamp 0.
	Tick        time.Duration // The timestamp's unit: a multiple or a divisor of 1 ms.
	Reserved    bool          // Whether the first and the last timestamp are unused.
	First, Last time.Time     // The first and last time in generated IDs.
	Ordered     bool          // Whether IDs, as integers, are in order of time.

	// Within lists the formats that an inner ID may have, such as the UUID in a TypeID. The time is
	// in the inner ID.
	Within []*Format

	// Generates: package generate makes IDs of the format.
	Generates bool
	// NodeCounter is the size in bits of the field that node ID and counter share, or 0. When the
	// counter is full, the generator uses the next tick.
	NodeCounter int

	alphabet class // The classes of the text's symbols.
	letters  class // The case of the letters in written texts; 0 means both.

	parse      func(string) (integer.Words, error)
	appendText func([]byte, integer.Words) []byte
	check      func(integer.Words) error
	max        integer.Words
	usual      *Format // The inner format that generators use; its IDs are in order.

	digits        int // How many digits the largest decimal integer has.
	timestamp     []Field
	constants     []Field
	places        []integer.Place // The places of the fields in timestamp.
	epochMilli    int64
	tickMilli     int64
	perMilli      uint64
	plausibleFrom int64
	since         int           // The year of the first IDs; 0 means 2010, or the epoch.
	shared        integer.Words // The bits that are the same in all IDs.
}

// TextRules describe the format's own text. They are mostly empty if Encodings lacks [Text].
type TextRules struct {
	Alphabet   string // The alphabet, in words.
	Mark       string // Words to append to a description of the text, such as " of 64 bits".
	Symbols    string // The alphabet in order of value.
	Characters string // Symbols, and other characters between them.
	FoldsCase  bool   // Whether letter case does not matter.
	Grouped    bool   // Whether texts often have hyphens between symbols.
	Lengths    []int  // The lengths of texts, without the prefix.
	Usual      []int  // Lengths without the shorter ones of the first IDs after the epoch.
	Hex        bool   // Whether the document also has a hexadecimal text.
	Check      int    // The modulus of the check after the ID, or 0 without a check.
	Sorts      bool   // Whether texts sort as the integers do.

	// PrefixCharacters are the characters of the prefix, which an underscore separates from the
	// text. It is empty if texts have no prefix.
	PrefixCharacters string

	suffix  string     // The value "bech32" if a hyphen and a Bech32 check may follow the text.
	rotated int        // How many of the lowest digits are at the front of the text.
	aliases string     // Pairs of a letter and the symbol that it is read as: "O0I1".
	groups  []textPart // The parts of the text, if it consists of several numbers.
	prefix  *prefixRule
}

// A Search says how to find IDs in other text. The zero value is for IDs that rarely occur by
// chance.
type Search struct {
	// WordLike: many words look like IDs, so programs search for IDs only if the user names the
	// format, and doubt what AppendDetect finds.
	WordLike bool `json:"word_like,omitempty"`
	// Short: IDs are short and have no check. Programs do not search for them in Base64, in numbers
	// such as 0x12, or in the letter case that generators do not use.
	Short bool `json:"short,omitempty"`
	// Prefix is the start of all texts with a plausible time.
	Prefix string `json:"prefix,omitempty"`
	// Named: programs search for IDs only if the user names the format.
	Named bool `json:"named,omitempty"`
	// Labelled: other numbers look like IDs. If the user does not name the format, the word "id"
	// must be before the ID.
	Labelled bool `json:"labelled,omitempty"`
	// Mixed: a text in which digits and letters do not alternate as in random text may be a word.
	// Programs do not search for such texts, and doubt what AppendDetect finds. About 1 in 200
	// random IDs are such texts if they have 20 or more characters, and at most 1 in 30 if they have
	// fewer.
	Mixed bool `json:"mixed,omitempty"`
	// Rarity is how seldom the format's IDs occur as decimal integers: 0, 1 or 2.
	Rarity int `json:"rarity,omitempty"`
	// Guess has the encodings in which [AppendDetect] reads a text as an ID of the format.
	Guess []Encoding `json:"-"`
}

// A prefixRule says which prefixes may be before a text. An underscore separates prefix and text.
type prefixRule struct {
	// Symbols are the characters of prefixes. A prefix begins with a letter, and does not end with
	// an underscore.
	Symbols string   `json:"symbols"`
	Min     int      `json:"min"` // length in characters; 0 also allows no underscore
	Max     int      `json:"max"`
	Known   []string `json:"known,omitempty"` // the only prefixes; nil allows all prefixes
}

// A Kind is the purpose of a field.
type Kind string

const (
	KindTime    Kind = "time"    // The timestamp, or a part of it.
	KindCounter Kind = "counter" // Differs between the IDs of a tick.
	KindNode    Kind = "node"    // The generator; with NodeCounter, also its counter.
	KindRandom  Kind = "random"
	KindData    Kind = "data"  // Anything else, such as the user's data.
	KindZero    Kind = "zero"  // Always 0.
	KindFixed   Kind = "fixed" // The same in all IDs, such as a version.
)

// A Field is a range of bits.
type Field struct {
	Name    string `json:"name"` // as in the document; empty if the bits are always zero
	Bits    int    `json:"bits"` // the width
	Low     int    `json:"low"`  // the position of the lowest bit in the ID
	Kind    Kind   `json:"kind"`
	Meaning string `json:"meaning,omitempty"`      // in one line
	Value   uint64 `json:"value,string,omitempty"` // of KindFixed, Constant
	Shift   int    `json:"shift,omitempty"`        // for KindTime: where it is in the timestamp

	// Usual is the largest value in most IDs. If it is 0, all values are as usual.
	Usual uint64 `json:"usual,string,omitempty"`
	// Constant: generators write Value, but other values also parse.
	Constant bool `json:"constant,omitempty"`
	// Part is the name of a value in the low bits, such as EUID's extension. PartBits is the name
	// of the field that contains the size of this value in bits.
	Part     string `json:"part,omitempty"`
	PartBits string `json:"part_bits,omitempty"`

	// Loose: some generators use the field in another way, such as rand_a of UUIDv7 for a counter.
	Loose bool `json:"-"`
}

// The tables are made at the first use, so that a program that imports this package starts at once.
var (
	ours = sync.OnceValue(func() []*Format {
		return []*Format{newFormat(scru64Format()), newFormat(scru128Format()),
			newFormat(scru160Format()), newFormat(euidFormat()), newFormat(uid60Format())}
	})
	all = sync.OnceValue(func() []*Format { return slices.Concat(ours(), others()) })
)

// All returns all formats, ours first.
func All() []*Format { return slices.Clone(all()) }

// Ours returns the formats with generators, in the order in which tables list them.
func Ours() []*Format { return slices.Clone(ours()) }

func namesOf(formats []*Format) []string {
	names := make([]string, len(formats))
	for i, f := range formats {
		names[i] = f.Name
	}
	return names
}

// newFormat completes a description. Without a Tick, the timestamp counts milliseconds. Without an
// Epoch, it counts from 1970.
func newFormat(f *Format) *Format {
	bits := place(f.Layout)
	f.Size, f.Bits = bits/8, cmp.Or(f.Bits, bits)
	if f.Encodings == nil {
		f.Encodings = []Encoding{Text, Hex, Int}
		if f.Bits == 128 {
			f.Encodings = append(f.Encodings, UUID)
		}
	}
	if f.Search.Guess == nil {
		f.Search.Guess = f.Encodings
	}
	f.Text.complete()
	f.digits = len(f.max.AppendDecimal(nil))
	for _, field := range f.Layout {
		if field.Constant {
			f.constants = append(f.constants, field)
		}
		if field.Kind == KindTime {
			f.timestamp = append(f.timestamp, field)
			f.places = append(f.places, integer.PlaceOf(field.Low, field.Bits))
		}
	}
	if f.timestamp == nil {
		return f
	}
	f.Text.Usual = f.Text.Lengths[max(0, len(f.Text.Lengths)-2):]
	f.Tick, f.Epoch = cmp.Or(f.Tick, time.Millisecond), cmp.Or(f.Epoch, unix(0))
	f.epochMilli = f.Epoch.UnixMilli()
	f.tickMilli, f.perMilli = f.Tick.Milliseconds(), uint64(time.Millisecond/f.Tick)
	f.First, f.Last = f.span()
	if f.Reserved {
		f.First, f.Last = f.First.Add(f.Tick), f.Last.Add(-f.Tick)
	}
	f.setPlausible()
	f.Ordered = f.inOrder()
	return f
}

func (f *Format) setPlausible() {
	from, _ := f.PlausibleRange(f.Epoch)
	f.plausibleFrom = from.UnixMilli()
}

// complete derives the members that follow from others.
func (t *TextRules) complete() {
	t.Usual, t.Characters = t.Lengths, t.Symbols
	for _, g := range t.groups {
		t.Characters += g.Before + g.Symbols
	}
	if t.prefix != nil {
		t.PrefixCharacters = t.prefix.Symbols
	}
}

// digits returns how many digits the longest text has, without a check.
func (t *TextRules) digits() int {
	if t.suffix != "" {
		return t.Lengths[0]
	}
	return slices.Max(t.Lengths)
}

// inOrder reports whether integers are in order of time. They are in order if the timestamp's
// fields are in order, and all bits before and between these fields are constant.
func (f *Format) inOrder() bool {
	next := 64 // the next field must have lower bits of the timestamp
	for _, field := range f.Layout {
		switch field.Kind {
		case KindTime:
			if field.Shift >= next {
				return false
			}
			next = field.Shift
		case KindFixed, KindZero:
		default:
			return next == 0
		}
	}
	return next == 0
}

func place(layout []Field) int {
	low := 0
	for i := len(layout) - 1; i >= 0; i-- {
		layout[i].Low = low
		low += layout[i].Bits
	}
	return low
}

// Lookup returns the format with this name, or a [*sortid.UnknownError]. Letter case does not
// matter.
func Lookup(name string) (*Format, error) {
	for _, f := range all() {
		if strings.EqualFold(f.Name, name) {
			return f, nil
		}
	}
	return nil, &sortid.UnknownError{What: "format", Name: name, Known: namesOf(all())}
}

// timestampOf returns an integer's timestamp, in ticks of f.Tick since f.Epoch.
func (f *Format) timestampOf(w *integer.Words) uint64 {
	if len(f.places) == 1 {
		return f.places[0].Of(w)
	}
	ticks := uint64(0)
	for i := range f.places {
		ticks |= f.places[i].Of(w) << f.timestamp[i].Shift
	}
	return ticks
}

// largest returns the largest ID.
func (f *Format) largest() ID { return ID{f, f.max} }

// hasEncoding reports whether IDs have the encoding.
func (f *Format) hasEncoding(e Encoding) bool { return slices.Contains(f.Encodings, e) }

// span returns the first and last time that IDs can show, including the reserved timestamps.
func (f *Format) span() (first, last time.Time) {
	return f.Epoch, f.largest().Time().Add(f.Tick - time.Nanosecond)
}

// checkTime returns [sortid.ErrTimeRange] with the reason if the time is outside the format's
// range.
func (f *Format) checkTime(t time.Time) error {
	if first, last := f.span(); t.Before(first) || t.After(last) {
		return f.timeError(t)
	}
	return nil
}

func (f *Format) timeError(t time.Time) error {
	first, last := f.span()
	return parseerr.Kindf(sortid.ErrTimeRange, "%s: %s is outside the format's range, %s to %s",
		f.Name, words.Time(t), words.Time(first), words.Time(last))
}

// Bounds returns the bounds of a time range: an ID is in the range if first <= ID and ID < end. The
// bounds are the smallest IDs of the ticks that contain the two times. Bounds returns
// [sortid.ErrTimeRange] if a time is outside the format's range. It also fails if the range is
// empty, or if IDs are not in order of time. For TypeIDs, the bounds are for a UUIDv7 inside.
func (f *Format) Bounds(from, to time.Time) (first, end ID, err error) {
	if f.usual != nil {
		first, end, err = f.usual.Bounds(from, to)
		return ID{f, first.words}, ID{f, end.words}, err
	}
	if !f.Ordered {
		return ID{}, ID{}, fmt.Errorf(
			"%s: IDs are not in order of time, so two IDs cannot bound a time range", f.Name)
	}
	for _, t := range [2]time.Time{from, to} {
		if err := f.checkTime(t); err != nil {
			return ID{}, ID{}, err
		}
	}
	first, end = ID{f, f.first(from)}, ID{f, f.first(to)}
	switch {
	case !from.Before(to):
		return ID{}, ID{}, fmt.Errorf(
			"%s: the range from %s to %s is empty: its end must be later than its start",
			f.Name, words.Time(from), words.Time(to))
	case first == end:
		return ID{}, ID{}, fmt.Errorf(
			"%s: the range from %s to %s is within one tick of %v, so its bounds would be equal",
			f.Name, words.Time(from), words.Time(to), f.Tick)
	}
	return first, end, nil
}

// first returns the smallest integer of t's tick.
func (f *Format) first(t time.Time) integer.Words {
	w, ticks := f.shared, integer.Words{Low: f.ticks(t)}
	for _, field := range f.timestamp {
		w = w.Or(ticks.Shift(-field.Shift).And(integer.Ones(field.Bits)).Shift(field.Low))
	}
	return w
}

// cutPrefix splits a text into the prefix with its underscore, and the ID. If the prefix is wrong,
// both results are empty.
func (f *Format) cutPrefix(text string) (prefix, rest string) {
	if f.Text.prefix == nil {
		return "", text
	}
	i := strings.LastIndexByte(text, '_')
	if i < 0 && f.Text.prefix.Min == 0 {
		return "", text
	}
	if !f.Text.prefix.allows(text[:max(i, 0)]) {
		return "", ""
	}
	return text[:i+1], text[i+1:]
}

func (p *prefixRule) allows(name string) bool {
	switch {
	case name == "" || len(name) < p.Min || len(name) > p.Max,
		!strings.ContainsRune(lower, rune(name[0])):
		return false
	case p.Known != nil:
		return slices.Contains(p.Known, name)
	}
	return name[len(name)-1] != '_' && strings.Trim(name, p.Symbols) == ""
}
