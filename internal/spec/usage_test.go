package spec

import (
	"testing"

	"github.com/sortid/sortid/internal/check"
)

func lookup(t *testing.T, name string) *Format {
	t.Helper()
	f := check.Must(Lookup(name))(t)
	return f
}

func TestSplitNode(t *testing.T) {
	f := lookup(t, "scru64")
	id := check.Must(f.Parse("0u2pf62ji4b9"))(t)
	split, err := f.SplitNode(8)
	if err != nil || len(split) != 2 {
		t.Fatalf("%v, %v", split, err)
	}
	if split[0].Name != "node_id" || split[0].Bits != 8 || split[1].Bits != 16 {
		t.Errorf("%v", split)
	}
	_, node := split[0].Of(&id)
	_, counter := split[1].Of(&id)
	if node != id.Low>>16&0xff || counter != id.Low&0xffff {
		t.Errorf("node_id %v and counter %v of %x", node, counter, id.Low)
	}
	for _, size := range []int{-1, 0, 24} {
		if _, err := f.SplitNode(size); err == nil {
			t.Errorf("a node ID of %d bits is no error", size)
		}
	}
}

// In each usage, the fields fill the ID, one after another.
func TestLayouts(t *testing.T) {
	for _, f := range All() {
		most := 0
		for size := range 25 {
			usages, err := f.Usages(size)
			if err != nil {
				continue
			}
			most = size
			for _, u := range usages {
				node, next := 0, 8*f.Size
				for _, field := range u.Layout {
					if next -= field.Bits; field.Low != next || field.Bits <= 0 {
						t.Errorf("%s, %d bits, %q: %+v is not at %d", f.Name, size, u.Title, field,
							next)
					}
					if field.Kind == KindNode {
						node += field.Bits
					}
				}
				if next != 0 || size > 0 && node < size {
					t.Errorf("%s, %d bits, %q: %d bits are left, the node has %d", f.Name, size,
						u.Title, next, node)
				}
			}
		}
		want, ours := map[string]int{"scru64": 23, "scru128": 0, "scru160": 16, "euid": 0,
			"uid60": 9}[f.Name]
		if ours && most != want {
			t.Errorf("%s: node IDs of up to %d bits, want %d", f.Name, most, want)
		}
		if _, err := f.Usages(-1); err == nil {
			t.Errorf("%s: a node ID of -1 bits is no error", f.Name)
		}
	}
}
