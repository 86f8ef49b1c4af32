package supervise

import (
	"slices"
	"strings"
	"testing"
)

func TestVariables(t *testing.T) {
	one := Nodes{IDs: []uint32{42}, Bits: 10}
	several := Nodes{IDs: []uint32{4, 5, 6, 7}, Bits: 10, Count: true}
	for _, c := range []struct {
		text  string
		nodes Nodes
		want  string
	}{
		{"A=-Dtsid.node={node_id}", one, "A=-Dtsid.node=42"},
		{"_a1={node_ids} of {node_bits}: {node_spec}", one, "_a1=42 of 10: 42/10"},
		{"A={node_ids};{node_spec}", several, "A=4,5,6,7;4/10,5/10,6/10,7/10"},
		{"A={{node_id}", one, "A={node_id}"},
		{"A={{{node_id}}", one, "A={42}"},
		{`A={"a":{1}} {} {a-b} { a } {`, one, `A={"a":{1}} {} {a-b} { a } {`},
		{"A=", one, "A="},
		{"A=b=c,d", one, "A=b=c,d"},
	} {
		all, err := ParseVariables([]string{c.text}, false)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		if got := all[0].with(c.nodes); got != c.want {
			t.Errorf("%s: %s, want %s", c.text, got, c.want)
		}
	}
	for text, want := range map[string]string{
		"A":           "want NAME=TEMPLATE",
		"=1":          `the name ""`,
		"1A=1":        `the name "1A"`,
		"A-B=1":       `the name "A-B"`,
		"A B=1":       `the name "A B"`,
		"A={nodeid}":  "there is no placeholder {nodeid}",
		"A={NODE_ID}": "there is no placeholder {NODE_ID}",
		"A={_}":       "for the text {_}, write {{_}",
		"A={ä}":       "there is no placeholder {ä}",
	} {
		if _, err := ParseVariables([]string{text}, false); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	if _, err := ParseVariables([]string{"A={node_id}"}, true); err == nil {
		t.Error("with --count, {node_id} is accepted")
	}
}

// A program never gets a node ID of an outer lease, and never a number alone where sizes mix.
func TestEnvironmentOf(t *testing.T) {
	outer := []string{"KEPT=1", "SORTID_NODE_ID=1", "SORTID_NODE_BITS=1", "SORTID_NODE_IDS=1",
		"SCRU64_NODE_SPEC=1/1", "OWN=old"}
	env, err := ParseVariables([]string{"OWN=new {node_spec}", "OWN_TOO=,{node_bits}"}, false)
	if err != nil {
		t.Fatal(err)
	}
	ids := []uint32{4}
	const own = "KEPT=1 OWN=new 4/8 OWN_TOO=,8"
	for _, c := range []struct {
		nodes Nodes
		want  string
	}{
		{Nodes{IDs: ids, Bits: 8}, own + " SORTID_NODE_BITS=8 SORTID_NODE_ID=4 SORTID_NODE_IDS=4"},
		{Nodes{IDs: ids, Bits: 8, Format: "scru64"},
			"KEPT=1 OWN=new 4/8 OWN_TOO=,8 SCRU64_NODE_SPEC=4/8 " +
				"SORTID_NODE_BITS=8 SORTID_NODE_ID=4 SORTID_NODE_IDS=4"},
		{Nodes{IDs: ids, Bits: 8, Format: "scru64", Mixed: true}, own + " SCRU64_NODE_SPEC=4/8"},
		{Nodes{IDs: ids, Bits: 8, Count: true}, own + " SORTID_NODE_BITS=8 SORTID_NODE_IDS=4"},
		{Nodes{IDs: ids, Bits: 8, Format: "scru64", Mixed: true, Count: true}, own},
	} {
		got := environment(outer, c.nodes, env)
		slices.Sort(got)
		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("%+v: %s, want %s", c.nodes, text, c.want)
		}
	}
	env, _ = ParseVariables([]string{"SORTID_NODE_ID=own"}, false)
	got := environment(outer, Nodes{IDs: ids, Bits: 8}, env)
	if !slices.Contains(got, "SORTID_NODE_ID=own") || slices.Contains(got, "SORTID_NODE_ID=4") {
		t.Errorf("%s: --env does not win", got)
	}
}
