// Package spec has one description for each ID format: all that the packages of this module know of
// it. Each of our formats has a file; formats of other projects are rows of tables. Package format
// is for users of the module.
package spec

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sortid/sortid"
	"github.com/sortid/sortid/internal/integer"
	"github.com/sortid/sortid/internal/maker"
	"github.com/sortid/sortid/internal/textcodec"
)

// A Format describes one format. Each format has one *Format, so programs may compare pointers.
// Nobody changes a Format after [All] has returned it.
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
	Codec     Codec  // The functions that read and write IDs.
	Search    Search // How to find IDs in other text.
	Example   string // An ID's text.

	Alphabet textcodec.Kinds // The kinds of the text's symbols.
	Letters  textcodec.Kinds // The letters in written texts: Lower or Upper; 0 means both.

	// The time. If IDs have no time, Tick is 0.
	Epoch       time.Time     // The time of timestamp 0.
	Tick        time.Duration // The timestamp's unit: a multiple or a divisor of 1 ms.
	Reserved    bool          // Whether the first and the last timestamp are unused.
	First, Last time.Time     // The first and last time in generated IDs.
	Ordered     bool          // Whether IDs, as integers, are in order of time.
	Since       int           // The year of the first IDs; 0 means 2010, or the epoch.

	// Within lists the formats that an inner ID may have, such as the UUID in a TypeID. The time is
	// in the inner ID. The first format is the one that generators use.
	Within []*Format

	// NodeCounter is the size in bits of the field that node ID and counter share, or 0. When the
	// counter is full, the generator uses the next tick.
	NodeCounter int
	Node        Node // The node IDs that processes can lease.
	Habits      Habits

	// Our formats have these members.
	Generates bool         // Whether there is a Maker.
	Maker     *maker.Maker // Its generators.
	Plan      *Plan
	SQL       *SQL

	digits        int // How many digits the largest decimal integer has.
	timestamp     []Field
	constants     []Field
	places        []integer.Place // The places of the fields in timestamp.
	timeBits      integer.Words   // The bits of the timestamp.
	epochMilli    int64
	tickMilli     int64
	perMilli      uint64
	plausibleFrom int64
	shared        integer.Words // The bits that are the same in all IDs.
	allIDs        bool          // Whether each integer of Size bytes is an ID.
	opaque        Opaque
	readable      func() map[Encoding]map[int]float64 // see Readable
}

// A Codec has the functions that read and write an ID.
type Codec struct {
	Parse  func(string) (integer.Words, error) // reads the format's own text
	Append func([]byte, integer.Words) []byte  // writes it
	Check  func(integer.Words) error           // nil if each integer of the layout is an ID
	Max    integer.Words                       // the largest ID

	// Read reads the format's own text without a string. The result canonical says whether
	// generators write the ID like this. It may be nil.
	Read func(text []byte) (w integer.Words, canonical bool, err error)
	// Lines does the work of Read for several lines of the usual length, but faster. It may be nil.
	Lines func(list []integer.Words, text []byte) []integer.Words
}

// An Encoding is a way to write an ID.
type Encoding string

// All our formats have the first three encodings. Our 128-bit formats also have UUID.
const (
	Text Encoding = "text" // the format's own text
	Hex  Encoding = "hex"  // the whole ID, big-endian, full width, lower case
	Int  Encoding = "int"  // a decimal integer
	UUID Encoding = "uuid" // 36 characters
)

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

	Prefix  *PrefixRule // Nil if texts have no prefix.
	Suffix  string      // The value "bech32" if a hyphen and a Bech32 check may follow the text.
	Rotated int         // How many of the lowest digits are at the front of the text.
	Aliases string      // Pairs of a letter and the symbol that it is read as: "O0I1".
	Groups  []TextPart  // The parts of the text, if it consists of several numbers.
}

// A Search says how to find IDs in other text. The zero value is for IDs that rarely occur by
// chance.
type Search struct {
	// WordLike: many words look like IDs, so programs search for IDs only if the user names the
	// format, and doubt what they read.
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
	// Programs do not search for such texts, and doubt what they read. About 1 in 200
	// random IDs are such texts if they have 20 or more characters, and at most 1 in 30 if they have
	// fewer.
	Mixed bool `json:"mixed,omitempty"`
	// Rarity is how seldom the format's IDs occur as decimal integers: 0, 1 or 2.
	Rarity int `json:"rarity,omitempty"`
	// Guess has the encodings in which programs guess that a text is an ID of the format.
	Guess []Encoding `json:"-"`
}

// A PrefixRule says which prefixes may be before a text. An underscore separates prefix and text.
type PrefixRule struct {
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

	// What tests of generators must know.
	Loose  bool   `json:"-"` // some generators use the field in another way, as rand_a of UUIDv7
	Same   bool   `json:"-"` // for KindRandom: all IDs of a process have the same value
	Start  Start  `json:"-"` // for KindCounter: its start in a new tick
	Every  uint64 `json:"-"` // for KindCounter: ticks between new random values; 0 means 1
	Most   uint64 `json:"-"` // the largest value; 0 means all bits set
	Resets bool   `json:"-"` // for StartNever: in some generators, it starts again in a new tick
	Seeds  bool   `json:"-"` // for KindRandom: a tick's next IDs may count up from it
	Half   string `json:"-"` // for KindRandom: why the highest bit may always be 0; empty if it may not
}

// The tables are made at the first use, so that a program that imports this package starts at once.
var (
	ours = sync.OnceValue(func() []*Format {
		return []*Format{complete(scru64Format()), complete(scru128Format()),
			complete(scru160Format()), complete(euidFormat()), complete(uid60Format())}
	})
	all = sync.OnceValue(func() []*Format { return slices.Concat(ours(), others()) })
)

// All returns all formats, ours first.
func All() []*Format { return slices.Clone(all()) }

// Ours returns the formats with generators, in the order in which tables list them.
func Ours() []*Format { return slices.Clone(ours()) }

// Names returns the names of formats.
func Names(formats []*Format) []string {
	names := make([]string, len(formats))
	for i, f := range formats {
		names[i] = f.Name
	}
	return names
}

// complete completes a description. Without a Tick, the timestamp counts milliseconds. Without an
// Epoch, it counts from 1970.
func complete(f *Format) *Format {
	f.opaque.format = f
	f.readable = sync.OnceValue(f.countReadable)
	f.Generates = f.Maker != nil
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
	f.digits = len(f.Codec.Max.AppendDecimal(nil))
	f.allIDs = f.isFull()
	for _, field := range f.Layout {
		if field.Constant {
			f.constants = append(f.constants, field)
		}
		if field.Kind == KindTime {
			f.timestamp = append(f.timestamp, field)
			f.places = append(f.places, integer.PlaceOf(field.Low, field.Bits))
			f.timeBits = f.timeBits.Or(integer.Ones(field.Bits).Shift(field.Low))
		}
	}
	if f.timestamp == nil {
		return f
	}
	f.Text.Usual = f.Text.Lengths[max(0, len(f.Text.Lengths)-2):]
	f.Tick, f.Epoch = cmp.Or(f.Tick, time.Millisecond), cmp.Or(f.Epoch, unix(0))
	f.epochMilli = f.Epoch.UnixMilli()
	f.tickMilli, f.perMilli = f.Tick.Milliseconds(), uint64(time.Millisecond/f.Tick)
	f.First, f.Last = f.Span()
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

// isFull reports whether each integer of f.Size bytes is an ID.
func (f *Format) isFull() bool {
	return f.Has(integer.Ones(8*f.Size)) && !slices.ContainsFunc(f.Layout, Field.isConstant)
}

// isConstant reports whether the field is the same in all IDs.
func (f Field) isConstant() bool { return f.Kind == KindFixed || f.Kind == KindZero }

// complete derives the members that follow from others.
func (t *TextRules) complete() {
	t.Usual, t.Characters = t.Lengths, t.Symbols
	for _, g := range t.Groups {
		t.Characters += g.Before + g.Symbols
	}
}

// AliasOf returns the symbols that letters are read as, or nil if there are none.
func (t *TextRules) AliasOf() (symbols map[string]string) {
	for i := 0; i < len(t.Aliases); i += 2 {
		if symbols == nil {
			symbols = map[string]string{}
		}
		symbols[t.Aliases[i:i+1]] = t.Aliases[i+1 : i+2]
	}
	return symbols
}

// digits returns how many digits the longest text has, without a check.
func (t *TextRules) digits() int {
	if t.Suffix != "" {
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
	return nil, &sortid.UnknownError{What: "format", Name: name, Known: Names(all())}
}

// HasCases reports whether texts have small and capital letters with different values.
func (f *Format) HasCases() bool {
	return !f.Text.FoldsCase && textcodec.KindsOf(f.Text.Symbols).HasCases()
}

// CutPrefix splits a text into the prefix with its underscore, and the ID. If the prefix is wrong,
// both results are empty.
func (f *Format) CutPrefix(text string) (prefix, rest string) {
	if f.Text.Prefix == nil {
		return "", text
	}
	i := strings.LastIndexByte(text, '_')
	if i < 0 && f.Text.Prefix.Min == 0 {
		return "", text
	}
	if !f.Text.Prefix.allows(text[:max(i, 0)]) {
		return "", ""
	}
	return text[:i+1], text[i+1:]
}

func (p *PrefixRule) allows(name string) bool {
	switch {
	case name == "" || len(name) < p.Min || len(name) > p.Max,
		!strings.ContainsRune(lower, rune(name[0])):
		return false
	case p.Known != nil:
		return slices.Contains(p.Known, name)
	}
	return name[len(name)-1] != '_' && strings.Trim(name, p.Symbols) == ""
}
