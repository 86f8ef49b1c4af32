// Package usage says how generators use an ID's bits; the tester and the planner's tests ask it.
package usage

import (
	"fmt"
	"slices"

	"github.com/sortid/sortid/format"
)

// A Usage is one meaning of an ID's bits. It splits a field whose parts have separate meanings.
type Usage struct {
	Name      string // empty if the format has only one usage
	Title     string // the counter's meaning
	Extension int    // how many bits the counter has beyond its field in Format.Layout
	Layout    []Field
}

// A Field is a field of an ID, with what tests of generators need to know.
type Field struct {
	format.Field
	Start  Start  // for KindCounter: its start in a new tick
	Every  uint64 // for KindCounter: ticks between new random values; 0 means 1
	Most   uint64 // the largest value; 0 means all bits set
	Resets bool   // for StartNever: in some generators, it starts again in a new tick
	Seeds  bool   // for KindRandom: a tick's next IDs may count up from it
	Half   string // for KindRandom: why the highest bit may always be 0; empty if it may not
}

// A Start says how a counter starts in a new tick. After the start, the counter goes up by one.
type Start uint8

const (
	StartRandom Start = iota // All bits are random.
	StartHalf                // The top bit is 0. Low bits may be random.
	StartGuard               // Low bits are random. The other bits start at a fixed value.
	StartNever               // It continues, and wraps to 0.
)

const (
	Default      = "default"
	Microseconds = "microseconds"
)

// Facts say how the generators of one of our formats use bits.
type Facts struct {
	Stateless bool // generators can choose random counters for each ID

	// usages returns the usages for node IDs of this size, or nil if no node ID has this size. The
	// size 0 means that there is no node ID, or that its size is not known.
	usages func(f *format.Format, nodeBits int) []Usage
}

var facts = map[string]Facts{
	"scru64":  {usages: scru64},
	"scru128": {usages: scru128, Stateless: true},
	"scru160": {usages: scru160},
	"euid":    {usages: euid, Stateless: true},
	"uid60":   {usages: uid60},
}

// A habit is what the layout of another project's format does not say about a field.
type habit struct {
	start         Start
	most          uint64
	seeds, resets bool
	same          bool   // for KindRandom: all IDs of a process have the same value
	half          string // Seeds has a reason of its own
}

const guard = "it may be a guard bit, which gives the counter of a tick more room"

const base36to4 = 36 * 36 * 36 * 36

var others = map[string]map[string]habit{
	"cuid": {"counter": {start: StartNever, most: base36to4 - 1},
		"random": {most: base36to4*base36to4 - 1,
			half: "the library for JavaScript uses only half of the values"}},
	"datadog-trace":        {"random": {half: "many tracers make numbers of 63 bits"}},
	"nano64":               {"random": {seeds: true}},
	"nuid":                 {"prefix": {same: true}},
	"objectid":             {"counter": {start: StartNever}},
	"orderlyid":            {"seq": {start: StartNever, resets: true}},
	"pushid":               {"random": {seeds: true}},
	"puid":                 {"counter": {start: StartNever, resets: true, most: 1e9 - 1}},
	"snowflake-discord":    {"increment": {start: StartNever, resets: true}},
	"snowflake-instagram":  {"sequence": {start: StartNever, resets: true}},
	"snowflake-spaceflake": {"sequence": {start: StartNever, resets: true}},
	"threads":              {"sequence": {start: StartNever, resets: true}},
	"ulid":                 {"randomness": {seeds: true}},
	"uuidv7":               {"rand_b": {seeds: true}},
	"tsid":                 {"random": {seeds: true}},
	"xid":                  {"counter": {start: StartNever}},
}

// NodeIn returns the random field whose highest bits can be a node ID, which TSIDs have.
func NodeIn(f *format.Format) (node format.Field, ok bool) {
	if f.Name != "tsid" {
		return node, false
	}
	return f.Layout[len(f.Layout)-1], true
}

// Digits are digits of an ID's text that are random in each ID.
type Digits struct {
	Name  string
	From  int    // the first digit's index in the text; if negative, from the end
	First string // the alphabet of the first digit; empty if it is the text's alphabet
	Count int
}

// DigitsOf returns the random digits of a format whose bits are not all random, because the base of
// its digits is not a power of two. It returns nil if the bits are random.
func DigitsOf(f *format.Format) []Digits {
	switch f.Name {
	case "cuid2":
		return []Digits{
			{"first", 0, "abcdefghijklmnopqrstuvwxyz", 9}, {"middle", 9, "", 8}, {"last", 17, "", 7},
		}
	case "stripe": // the digits before can be an account's
		return []Digits{{"last", -7, "", 7}}
	}
	return nil
}

// Repeating reports whether generators of the format may make an ID twice, because the ID depends on
// a name, or on a clock that is too coarse.
func Repeating(f *format.Format) bool {
	return slices.Contains([]string{"uuidv2", "uuidv3", "uuidv5"}, f.Name)
}

// Rounded returns the bit that is 1 if the generator rounds the time, which OrderlyIDs have.
func Rounded(f *format.Format) (bit format.Field, ok bool) {
	i := slices.IndexFunc(f.Layout, func(field format.Field) bool { return field.Name == "flags" })
	if f.Name != "orderlyid" || i < 0 {
		return bit, false
	}
	return format.Field{Name: "privacy", Bits: 1, Low: f.Layout[i].Low + 5}, true
}

// FactsOf returns the facts of one of our formats, or false if there are none.
func FactsOf(f *format.Format) (Facts, bool) {
	known, ok := facts[f.Name]
	return known, ok
}

// Of returns the usages for node IDs of this size in bits. A size of 0 means that there is no node
// ID, or that the size is not known.
func Of(f *format.Format, nodeBits int) ([]Usage, error) {
	known, ours := FactsOf(f)
	var usages []Usage
	switch {
	case ours && nodeBits >= 0:
		usages = known.usages(f, nodeBits)
	case !ours && nodeBits == 0:
		layout := fields(f.Layout)
		for i := range layout {
			field := &layout[i]
			how := others[f.Name][field.Name]
			field.Start, field.Most = how.start, how.most
			field.Seeds, field.Resets, field.Half = how.seeds, how.resets, how.half
			if field.Seeds {
				field.Half = guard
			}
			if how.same {
				field.Kind = format.KindNode
			}
		}
		return []Usage{{Layout: layout}}, nil
	case !ours:
		usages = splitTail(f, nodeBits)
	}
	if len(usages) == 0 {
		return nil, fmt.Errorf("%s has no node ID of %d bits", f.Name, nodeBits)
	}
	for _, u := range usages {
		low := 0
		for i := len(u.Layout) - 1; i >= 0; i-- {
			u.Layout[i].Low = low
			low += u.Layout[i].Bits
		}
	}
	return usages, nil
}

// SplitNode splits the field that node ID and counter share; see [format.Format.NodeCounter]. The
// caller gives the node ID's size in bits, which IDs do not show. SplitNode fails if no node ID can
// have this size.
func SplitNode(f *format.Format, size int) ([]format.Field, error) {
	if limit := f.NodeCounter - 1; size < 1 || size > limit {
		return nil, fmt.Errorf("a node ID has 1 to %d bits, not %d", limit, size)
	}
	rest := f.NodeCounter - size
	return []format.Field{
		{Name: "node_id", Bits: size, Low: rest, Kind: format.KindNode,
			Meaning: "the node that made the ID"},
		{Name: "counter", Bits: rest, Kind: format.KindCounter,
			Meaning: "+1 per ID, random start in each tick"},
	}, nil
}

func fields(layout []format.Field) []Field {
	all := make([]Field, len(layout))
	for i, f := range layout {
		all[i].Field = f
	}
	return all
}

func field(name string, bits int, kind format.Kind) Field {
	return Field{Field: format.Field{Name: name, Bits: bits, Kind: kind}}
}

func counter(bits int, start Start) Field {
	f := field("counter", bits, format.KindCounter)
	f.Start = start
	return f
}

// splitTail divides the last bits into a node ID of this size and a counter, because the size of
// node IDs differs between installations.
func splitTail(f *format.Format, nodeBits int) []Usage {
	layout := fields(f.Layout)
	if shared, ok := NodeIn(f); ok {
		if nodeBits < 1 || nodeBits >= shared.Bits {
			return nil
		}
		rest := field(shared.Name, shared.Bits-nodeBits, format.KindRandom)
		rest.Seeds, rest.Half = true, guard
		return []Usage{{Layout: append(layout[:len(layout)-1],
			field("node", nodeBits, format.KindNode), rest)}}
	}
	at, size, counters := len(layout), 0, 0
	for at > 0 && (layout[at-1].Kind == format.KindNode ||
		layout[at-1].Kind == format.KindCounter) {
		at--
		size += layout[at].Bits
		if layout[at].Kind == format.KindCounter {
			counters++
		}
	}
	if counters != 1 || nodeBits < 1 || nodeBits >= size {
		return nil
	}
	tail := []Field{field("node", nodeBits, format.KindNode),
		field("counter", size-nodeBits, format.KindCounter)}
	if layout[at].Kind == format.KindCounter {
		tail[0], tail[1] = tail[1], tail[0]
	}
	return []Usage{{Layout: append(layout[:at:at], tail...)}}
}

func scru64(f *format.Format, nodeBits int) []Usage {
	time := fields(f.Layout)[0]
	if nodeBits == 0 { // node ID and counter together
		return []Usage{{Layout: []Field{time, counter(f.NodeCounter, StartGuard)}}}
	}
	split, err := SplitNode(f, nodeBits)
	if err != nil {
		return nil
	}
	layout := fields(split)
	layout[0].Name, layout[1].Start = "node", StartGuard
	return []Usage{{Layout: append([]Field{time}, layout...)}}
}

func scru128(f *format.Format, nodeBits int) []Usage {
	if nodeBits > 0 {
		return nil
	}
	layout := fields(f.Layout)
	layout[1].Every = 1000
	return []Usage{{Layout: layout}}
}

func scru160(f *format.Format, nodeBits int) (usages []Usage) {
	whole := fields(f.Layout)
	add := func(u Usage, counter ...Field) {
		layout := append([]Field{whole[0]}, counter...)
		if nodeBits > 0 {
			layout = append(layout, field("node", nodeBits, format.KindNode))
		}
		if rest := 16 - u.Extension - nodeBits; rest > 0 {
			layout = append(layout, field("random16", rest, format.KindRandom))
		}
		u.Layout = append(layout, whole[3])
		usages = append(usages, u)
	}
	for extension := range max(17-nodeBits, 0) {
		u := Usage{Name: Default, Title: "counter of 16 bits", Extension: extension}
		if extension > 0 {
			u.Title = fmt.Sprintf("counter of %d bits, the low %d in random16", 16+extension,
				extension)
		}
		add(u, counter(16+extension, StartHalf))
	}
	if nodeBits <= 16 {
		micros := field("micros", 10, format.KindTime)
		micros.Most = 999
		add(Usage{Name: Microseconds, Title: "microseconds and 6 bits of counter"}, micros,
			counter(6, StartHalf))
	}
	return usages
}

func euid(f *format.Format, nodeBits int) []Usage {
	if nodeBits > 0 {
		return nil
	}
	layout := fields(f.Layout)
	header := field("header", 15, format.KindData)
	header.PartBits = layout[2].Name
	return []Usage{{Layout: []Field{
		layout[0], header, layout[2],
		field("version", 3, format.KindFixed),
		field("random_high", 32, format.KindCounter),
		field("random_low", 32, format.KindRandom),
	}}}
}

func uid60(f *format.Format, nodeBits int) []Usage {
	layout := fields(f.Layout)[:3:3]
	layout[2].Start = StartNever
	if nodeBits > 0 {
		layout = append(layout, field("worker", nodeBits, format.KindNode))
	}
	switch rest := 9 - nodeBits; {
	case rest < 0:
		return nil
	case rest > 0:
		layout = append(layout, field("random", rest, format.KindRandom))
	}
	return []Usage{{Layout: layout}}
}
