package scru64

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/sortid/sortid/internal/check"
)

// The values that the tests of the reference implementation have, for version 1.0.0 of the
// specification.
func TestReference(t *testing.T) {
	var reference struct {
		IDs []struct {
			Text      string
			Int       uint64 `json:",string"`
			Timestamp uint64
			NodeCtr   uint32 `json:"node_ctr"`
		}
		Specs []struct {
			Spec, Canonical string
			NodeID          uint32 `json:"node_id"`
			NodeIDSize      int    `json:"node_id_size"`
		}
		InvalidSpecs []string `json:"invalid_specs"`
	}
	check.OK(t, json.Unmarshal(check.Must(os.ReadFile("testdata/reference.json"))(t), &reference))
	if len(reference.IDs) != 24 || len(reference.Specs) != 38 || len(reference.InvalidSpecs) != 21 {
		t.Fatal("the file is not whole")
	}
	for _, want := range reference.IDs {
		id, err := Parse(want.Text)
		if err != nil || id.Uint64() != want.Int || id.Timestamp() != want.Timestamp ||
			id.NodeCtr() != want.NodeCtr {
			t.Errorf("%s: %d, %v", want.Text, id.Uint64(), err)
		}
		if again, err := FromUint64(want.Int); err != nil || again.String() != want.Text {
			t.Errorf("%d: %v, %v", want.Int, again, err)
		}
	}
	for _, want := range reference.Specs {
		s, err := ParseNodeSpec(want.Spec)
		if err != nil || s.NodeID() != want.NodeID || s.NodeIDSize() != want.NodeIDSize ||
			s.String() != want.Canonical {
			t.Errorf("%s: %v with node ID %d, %v", want.Spec, s, s.NodeID(), err)
		}
	}
	for _, spec := range reference.InvalidSpecs {
		if s, err := ParseNodeSpec(spec); err == nil {
			t.Errorf("%q is read as %v", spec, s)
		}
	}
}
