package format

import "fmt"

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

const (
	UsageDefault      = "default"
	UsageMicroseconds = "microseconds"
)

// Usages returns the usages for node IDs of this size in bits. A size of 0 means that there is no
// node ID, or that the size is not known.
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

// splitTail divides the last bits into a node ID of this size and a counter, because the size of
// node IDs differs between installations.
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
