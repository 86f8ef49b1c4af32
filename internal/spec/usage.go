package spec

import "fmt"

// Habits say how generators use bits, beyond the layout.
type Habits struct {
	// Usages returns the usages for node IDs of this size, or nil if no node ID has this size. The
	// size 0 means that there is no node ID, or that its size is not known. It may be nil.
	Usages func(f *Format, nodeBits int) []Usage

	Stateless bool     // Generators can choose random counters for each ID.
	Repeats   bool     // Generators may make an ID twice, from the same name or a coarse clock.
	NodeInEnd bool     // The highest bits of the last, random, field can be a node ID.
	Rounded   string   // The name of the field whose bit 5 says that the time is rounded.
	Digits    []Digits // The random digits of texts, if the bits are not all random.
}

// Digits are digits of an ID's text that are random in each ID.
type Digits struct {
	Name  string
	From  int // the first digit's index in the text; if negative, from the end
	Count int
	First string // the alphabet of the first digit; empty if it is the text's alphabet
	// Hashes are sizes in bits. Libraries write a hash of such a size as a number without leading
	// zeros. After the first digit, they write this number without its first 0, 1 or 2 digits, or, of
	// negative numbers, without the sign.
	Hashes []int
	// Block is how many digits are one random number. If Half is not empty, it says why numbers may
	// always be below one half.
	Block int
	Half  string
	// Same says that the digits are random in each process, not in each ID.
	Same bool
	// Bytes says that libraries may make a digit of a random byte modulo the base.
	Bytes bool
}

// A Usage is one meaning of an ID's bits. It splits a field whose parts have separate meanings.
type Usage struct {
	Name      string // empty if the format has only one usage
	Title     string // the counter's meaning
	Extension int    // how many bits the counter has beyond its field in Format.Layout
	Layout    []Field
}

// A Start says how a counter starts in a new tick. After the start, the counter goes up by one.
type Start uint8

const (
	StartRandom Start = iota // All bits are random.
	StartHalf                // The top bit is 0. Low bits may be random.
	StartGuard               // Low bits are random. The other bits start at a fixed value.
	StartNever               // It continues, and wraps to 0.
)

// The names of the usages of a format that has several.
const (
	DefaultUsage      = "default"
	MicrosecondsUsage = "microseconds"
)

// Usages returns the usages for node IDs of this size in bits. A size of 0 means that there is no
// node ID, or that the size is not known.
func (f *Format) Usages(nodeBits int) ([]Usage, error) {
	var usages []Usage
	switch {
	case nodeBits < 0:
	case f.Habits.Usages != nil:
		usages = f.Habits.Usages(f, nodeBits)
	case nodeBits == 0:
		return []Usage{{Layout: f.usualLayout()}}, nil
	default:
		usages = splitTail(f, nodeBits)
	}
	if len(usages) == 0 {
		return nil, fmt.Errorf("%s has no node ID of %d bits", f.Name, nodeBits)
	}
	for _, u := range usages {
		place(u.Layout)
	}
	return usages, nil
}

// usualLayout returns the layout. A field that is the same in all IDs of a process is a node ID.
func (f *Format) usualLayout() []Field {
	layout := append([]Field(nil), f.Layout...)
	for i := range layout {
		if layout[i].Same {
			layout[i].Kind = KindNode
		}
	}
	return layout
}

// NodeInEnd returns the random field whose highest bits can be a node ID, which TSIDs have.
func (f *Format) NodeInEnd() (node Field, ok bool) {
	if !f.Habits.NodeInEnd {
		return node, false
	}
	return f.Layout[len(f.Layout)-1], true
}

// Rounded returns the bit that is 1 if the generator rounds the time, which OrderlyIDs have.
func (f *Format) Rounded() (bit Field, ok bool) {
	for _, field := range f.Layout {
		if field.Name != "" && field.Name == f.Habits.Rounded {
			return Field{Name: "privacy", Bits: 1, Low: field.Low + 5}, true
		}
	}
	return bit, false
}

// SplitNode splits the field that node ID and counter share; see [Format.NodeCounter]. The caller
// gives the node ID's size in bits, which IDs do not show. SplitNode fails if no node ID can have
// this size.
func (f *Format) SplitNode(size int) ([]Field, error) {
	if limit := f.NodeCounter - 1; size < 1 || size > limit {
		return nil, fmt.Errorf("a node ID has 1 to %d bits, not %d", limit, size)
	}
	rest := f.NodeCounter - size
	return []Field{
		{Name: "node_id", Bits: size, Low: rest, Kind: KindNode,
			Meaning: "the node that made the ID"},
		{Name: "counter", Bits: rest, Kind: KindCounter,
			Meaning: "+1 per ID, random start in each tick"},
	}, nil
}

// bitsOf returns a field without a meaning in words, for a Usage.
func bitsOf(name string, bits int, kind Kind) Field { return field(name, bits, kind, "") }

func counter(bits int, start Start) Field {
	return starts(start, bitsOf("counter", bits, KindCounter))
}

// starts sets how a counter starts.
func starts(s Start, f Field) Field {
	f.Start = s
	return f
}

// resets says that a counter may start again in a new tick, or continue.
func resets(f Field) Field {
	f.Start, f.Resets = StartNever, true
	return f
}

// seeds says that a tick's next IDs may count up from the field.
func seeds(f Field) Field {
	f.Seeds = true
	f.Half = "it may be a guard bit, which gives the counter of a tick more room"
	return f
}

// most sets the largest value.
func most(v uint64, f Field) Field {
	f.Most = v
	return f
}

// half sets why the highest bit may always be 0.
func half(why string, f Field) Field {
	f.Half = why
	return f
}

// same says that the value is the same in all IDs of a process.
func same(f Field) Field {
	f.Same = true
	return f
}

// splitTail divides the last bits into a node ID of this size and a counter, because the size of
// node IDs differs between installations.
func splitTail(f *Format, nodeBits int) []Usage {
	layout := append([]Field(nil), f.Layout...)
	if shared, ok := f.NodeInEnd(); ok {
		if nodeBits < 1 || nodeBits >= shared.Bits {
			return nil
		}
		rest := seeds(bitsOf(shared.Name, shared.Bits-nodeBits, KindRandom))
		return []Usage{{Layout: append(layout[:len(layout)-1],
			bitsOf("node", nodeBits, KindNode), rest)}}
	}
	at, size, counters := len(layout), 0, 0
	for at > 0 && (layout[at-1].Kind == KindNode || layout[at-1].Kind == KindCounter) {
		at--
		size += layout[at].Bits
		if layout[at].Kind == KindCounter {
			counters++
		}
	}
	if counters != 1 || nodeBits < 1 || nodeBits >= size {
		return nil
	}
	tail := []Field{bitsOf("node", nodeBits, KindNode),
		bitsOf("counter", size-nodeBits, KindCounter)}
	if layout[at].Kind == KindCounter {
		tail[0], tail[1] = tail[1], tail[0]
	}
	return []Usage{{Layout: append(layout[:at:at], tail...)}}
}
