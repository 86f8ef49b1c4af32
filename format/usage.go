package format

import "fmt"

// A Usage is a way in which generators fill the bits of an ID. It divides fields of the layout
// whose parts have uses of their own. Most formats have one usage.
type Usage struct {
	Name      string // empty if the format has one usage only
	Title     string // what the counter is, in words
	Extension int    // by how many bits the counter is longer than in the layout
	Layout    []Field
}

// A Start says how a counter starts in a new tick. Within a tick it goes up by one.
type Start uint8

// The ways in which counters start.
const (
	StartRandom Start = iota // All bits are random.
	StartHalf                // The top bit is 0; of the others, the low ones are random, or none.
	StartGuard               // The low bits are random; those above stay the same.
	StartNever               // It goes on, and after all ones from 0.
)

// The names of usages.
const (
	UsageDefault      = "default"
	UsageMicroseconds = "microseconds"
)

// Usages returns the usages of the format, given the size of node IDs. A size of 0 says that there
// are none, or that their size is not known.
func (f *Format) Usages(nodeBits int) ([]Usage, error) {
	var usages []Usage
	switch {
	case f.usages != nil && nodeBits >= 0:
		usages = f.usages(f, nodeBits)
	case f.usages == nil && nodeBits == 0:
		return []Usage{{Layout: f.Layout}}, nil
	case f.usages == nil:
		usages = f.splitTail(nodeBits)
	}
	if len(usages) == 0 {
		return nil, fmt.Errorf("%s has no node ID of %d bits", f.Name, nodeBits)
	}
	for _, u := range usages {
		place(u.Layout)
	}
	return usages, nil
}

// splitTail divides the node IDs and the counter at the end of the layout anew. Installations of
// one format give a node ID different sizes.
func (f *Format) splitTail(nodeBits int) []Usage {
	at, size, counters := len(f.Layout), 0, 0
	for at > 0 && (f.Layout[at-1].Kind == KindNode || f.Layout[at-1].Kind == KindCounter) {
		at--
		size += f.Layout[at].Bits
		if f.Layout[at].Kind == KindCounter {
			counters++
		}
	}
	if counters != 1 || nodeBits < 1 || nodeBits >= size {
		return nil
	}
	tail := []Field{{Name: "node", Bits: nodeBits, Kind: KindNode},
		{Name: "counter", Bits: size - nodeBits, Kind: KindCounter}}
	if f.Layout[at].Kind == KindCounter {
		tail[0], tail[1] = tail[1], tail[0]
	}
	return []Usage{{Layout: append(append([]Field(nil), f.Layout[:at]...), tail...)}}
}
