package lease

import (
	"cmp"
	"slices"
	"testing"

	"github.com/sortid/sortid/internal/check"
)

// RecordsOf returns what Records does of the blocks that overlap with one, without listing the
// realm.
func TestRecordsOf(t *testing.T) {
	n := &network{Store: NewMemory()}
	for _, bits := range []int{3, 8, 5, 8, 6, 2, 8} {
		defer closed(t, acquire(t, n, config(bits)))
	}
	order := func(a, b Record) int {
		return cmp.Or(cmp.Compare(a.Block.Size, b.Block.Size),
			cmp.Compare(a.Block.NodeID, b.Block.NodeID))
	}
	_, all, err := Records(t.Context(), n, "realm")
	check.OK(t, err)
	lists := n.calls("list")
	for size := uint8(1); size <= 9; size++ {
		for id := range uint32(1) << size {
			b := Block{id, size}
			var want []Record
			for _, r := range all {
				// Parts of a block that is not divided are retired.
				if (r.Block.Contains(b) || b.Contains(r.Block)) && r.State != Retired {
					want = append(want, r)
				}
			}
			_, got, err := RecordsOf(t.Context(), n, "realm", b)
			check.OK(t, err)
			got = slices.DeleteFunc(got, func(r Record) bool { return r.State == Retired })
			slices.SortFunc(want, order)
			slices.SortFunc(got, order)
			if !slices.Equal(got, want) {
				t.Fatalf("%v: %v, want %v", b, got, want)
			}
		}
	}
	if n.calls("list") != lists {
		t.Error("RecordsOf lists the realm")
	}
}
