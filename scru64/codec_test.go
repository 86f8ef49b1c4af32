package scru64

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"math/big"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sortid/sortid"
	"github.com/sortid/sortid/internal/conformance"
	"github.com/sortid/sortid/internal/gencore"
)

var limit = new(big.Int).Exp(big.NewInt(36), big.NewInt(12), nil)

func text(n *big.Int) string {
	s := n.Text(36)
	return strings.Repeat("0", TextLen-len(s)) + s
}

var codec = conformance.Codec[ID]{
	Format: "scru64", Limit: limit, Size: Size, Sorts: true,
	Parse: Parse, MustParse: MustParse, First: First,
	Text: text,
	Number: func(s string) (*big.Int, bool) {
		if len(s) != TextLen || strings.ContainsAny(s, "+-_") {
			return nil, false
		}
		return new(big.Int).SetString(s, 36)
	},
	Fields: func(id ID) map[string]string {
		return map[string]string{
			"timestamp": strconv.FormatUint(id.Timestamp(), 10),
			"node_ctr":  strconv.FormatUint(uint64(id.NodeCtr()), 10),
		}
	},
	Document: conformance.Document{
		Layout: "timestamp 40 node_ctr 24",
		Printed: "0u375nxqh5cq 0u375nxqh5cr 0u375nxqh5cs 0u375nxqh5ct 0u375ny0glr0 0u375ny0glr1 " +
			"0u375ny0glr2 0u375ny0glr3 0u2pf62ji4b9 zzzzzzzzzzzz",
		Integers: map[string]string{
			"0u2pf62ji4b9": "109959589539758421", "zzzzzzzzzzzz": "4738381338321616895"},
		Time:     func(timestamp int64) time.Time { return time.UnixMilli(timestamp * 256) },
		Variants: conformance.Cases,
		Invalid:  conformance.WrongFixed("0u2pf62ji4b9", "-+_@ [`{/:"),
	},
}

func TestCodec(t *testing.T) { codec.Run(t) }

func FuzzParse(f *testing.F) { codec.Fuzz(f) }

func TestFromFields(t *testing.T) {
	for _, c := range []struct {
		timestamp uint64
		nodeCtr   uint32
		wrong     string
		want      ID
	}{
		{6554102274, 2769237, "", 109959589539758421},
		{0, 0, "", 0},
		{MaxTimestamp, MaxNodeCtr, "", Max()},
		{MaxTimestamp + 1, 0, "timestamp", 0},
		{1<<64 - 1, 0, "timestamp", 0},
		{0, MaxNodeCtr + 1, "node_ctr", 0},
	} {
		id, err := FromFields(c.timestamp, c.nodeCtr)
		if c.wrong == "" && (err != nil || id != c.want || id.Timestamp() != c.timestamp ||
			id.NodeCtr() != c.nodeCtr) {
			t.Errorf("FromFields(%d, %d) = %v, %v, want %v", c.timestamp, c.nodeCtr, id, err,
				c.want)
		}
		if c.wrong != "" && (id != 0 || !errors.Is(err, sortid.ErrField) ||
			!strings.Contains(err.Error(), c.wrong)) {
			t.Errorf("FromFields(%d, %d) = %v, %v, want sortid.ErrField that names %s", c.timestamp,
				c.nodeCtr, id, err, c.wrong)
		}
	}
	if MaxTimestamp != 282429536480 {
		t.Errorf("MaxTimestamp is %d", uint64(MaxTimestamp))
	}
}

func TestNodeIDAndCounter(t *testing.T) {
	id := MustParse("0u2pf62ji4b9")
	for size := -3; size < 40; size++ {
		s := min(max(size, 0), 24)
		want := new(big.Int).Mod(new(big.Int).SetUint64(uint64(id)), big.NewInt(1<<24))
		node, counter := new(big.Int).DivMod(want, new(big.Int).Lsh(big.NewInt(1), uint(24-s)),
			new(big.Int))
		if got := id.NodeID(size); node.Cmp(big.NewInt(int64(got))) != 0 {
			t.Errorf("NodeID(%d) = %d, want %d", size, got, node)
		}
		if got := id.Counter(size); counter.Cmp(big.NewInt(int64(got))) != 0 {
			t.Errorf("Counter(%d) = %d, want %d", size, got, counter)
		}
	}
}

func TestAboveMax(t *testing.T) { conformance.AboveMax[ID, Text](t, Max(), FromUint64, Parse) }

func TestSQLForms(t *testing.T) {
	id := MustParse("0u2pf62ji4b9")
	bin, _ := id.MarshalBinary()
	if v, err := id.Value(); v != int64(109959589539758421) || err != nil {
		t.Errorf("Value = %v, %v", v, err)
	}
	conformance.Column(t, id, Text(id), "0u2pf62ji4b9", int64(id), uint64(id), id.String(),
		strings.ToUpper(id.String()), []byte(id.String()), bin)
}

var nodeSpecs = map[string]string{
	"42/8":            "42/8",
	"0xb00/12":        "2816/12",
	"0u2r85hm2pt3/16": "0u2r85hm2pt3/16", "0U2R85HM2PT3/16": "0u2r85hm2pt3/16",
	"zzzzzzzzzzzz/23": "zzzzzzzzzzzz/23",
	"0/1":             "0/1",
	"1/01":            "1/1", "00000001/1": "1/1", "0x000001/1": "1/1",
	"8388607/23": "8388607/23", "0x7fffff/23": "8388607/23",
	// Twelve digits are an ID. If its timestamp is 0, the spec has only its node ID.
	"000000000001/1": "0/1", "00000009zldr/1": "1/1",
}

var badNodeSpecs = []string{
	"", "/", "42", "42/", "/8", "/", "//", "42//8", "42/8/", "1/2/3", " 42/8", "42/8 ", "42 /8",
	"42/ 8", "42/8\n",
	"+42/8", "-42/8", "42/+8", "42/-8", "4_2/8", "42/0", "42/24", "42/00", "42/99", "42/008",
	"42/800", "42/0x8",
	"0/0", "2/1", "256/8", "0x100/8", "16777216/23", "8388608/23", "000000042/8", "999999999/23",
	"ab/8", "0x/8", "0x1000000/23", "0x0000001/8",
	"x1/8", "0XB00/12", "0b1/8", "0o1/8", "0xg/8", "0x1_0/8", "0x-1/8", "0u2r85hm2pt/16",
	"0u2r85hm2pt33/16", "0u2r85hm2pt!/16",
	"0u2r85hm2pt3", "0u2r85hm2pt3/", "0u2r85hm2pt3/0", "0u2r85hm2pt3/24", "\x0042/8", "４２/8",
	strings.Repeat("1", 1<<20),
}

func TestParseNodeSpec(t *testing.T) {
	for in, canonical := range nodeSpecs {
		spec, err := ParseNodeSpec(in)
		want, _ := specByGrammar(in)
		if err != nil || spec != want || spec.String() != canonical {
			t.Errorf("ParseNodeSpec(%q) = %v, %v, want %s", in, spec, err, canonical)
		}
		if back := mustSpec(canonical); back != spec {
			t.Errorf("ParseNodeSpec(%q) = %v, want %v", canonical, back, spec)
		}
	}
	for _, s := range badNodeSpecs {
		spec, err := ParseNodeSpec(s)
		if !spec.IsZero() || !errors.Is(err, ErrNodeSpec) || len(err.Error()) > 500 {
			t.Errorf("ParseNodeSpec(%.40q) = %v, %.500v", s, spec, err)
		}
		keep := mustSpec("42/8")
		if uerr := keep.UnmarshalText([]byte(s)); uerr == nil || uerr.Error() != err.Error() ||
			keep != mustSpec("42/8") {
			t.Errorf("UnmarshalText(%.40q): %v, %v", s, keep, uerr)
		}
	}
	for s, want := range map[string]string{
		"42/80": `scru64: invalid node spec "42/80": size 80, want 1 to 23`,
		"42": `scru64: invalid node spec "42": no slash, want a node ID, a slash and a size, ` +
			`such as 42/8`,
		"300/8":  `scru64: invalid node spec "300/8": node ID 300, want at most 255 for a size of 8 bits`,
		"-1/8":   `scru64: invalid node spec "-1/8": node ID "-1", want 1 to 8 digits of base 10`,
		"42/ 8":  `scru64: invalid node spec "42/ 8": size " 8", want 1 to 2 digits of base 10`,
		"0xzz/8": `scru64: invalid node spec "0xzz/8": node ID "zz", want 1 to 6 digits of base 16`,
	} {
		if _, err := ParseNodeSpec(s); err == nil || err.Error() != want {
			t.Errorf("ParseNodeSpec(%q): %v, want %v", s, err, want)
		}
	}
}

func mustSpec(s string) NodeSpec { return gencore.Must(ParseNodeSpec(s)) }

func TestNodeSpec(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for size := 1; size <= 23; size++ {
		for range 1000 {
			nodeID := r.Uint32() >> (32 - size)
			spec, err := NewNodeSpec(nodeID, size)
			if _, ok := spec.Previous(); ok || err != nil || spec.NodeID() != nodeID ||
				spec.NodeIDSize() != size {
				t.Fatalf("NewNodeSpec(%d, %d) = %v, %v", nodeID, size, spec, err)
			}
			if spec != mustSpec(fmt.Sprintf("%d/%d", nodeID, size)) ||
				spec != mustSpec(fmt.Sprintf("%#x/%d", nodeID, size)) {
				t.Fatalf("%v parses as another spec", spec)
			}
			id := ID(r.Uint64N(uint64(Max()) + 1))
			if r.IntN(4) == 0 {
				id &= MaxNodeCtr
			}
			spec, err = NodeSpecAfter(id, size)
			previous, ok := spec.Previous()
			if err != nil || ok != (id.Timestamp() > 0) || ok && previous != id ||
				spec.NodeID() != id.NodeID(size) || spec.NodeIDSize() != size {
				t.Fatalf("NodeSpecAfter(%v, %d) = %v, %v", id, size, spec, err)
			}
			if spec != mustSpec(fmt.Sprintf("%v/%d", id, size)) {
				t.Fatalf("%v parses as another spec", spec)
			}
		}
		if spec, err := NewNodeSpec(1<<size, size); !spec.IsZero() || !errors.Is(err, ErrNodeSpec) {
			t.Errorf("a node ID too large by one: %v, %v", spec, err)
		}
	}
	for _, size := range []int{math.MinInt, -1, 0, 24, 256, 257, math.MaxInt} {
		if spec, err := NewNodeSpec(0, size); !spec.IsZero() || !errors.Is(err, ErrNodeSpec) {
			t.Errorf("NewNodeSpec(0, %d): %v, %v", size, spec, err)
		}
		if spec, err := NodeSpecAfter(MustParse("0u2r85hm2pt3"), size); !spec.IsZero() ||
			!errors.Is(err, ErrNodeSpec) {
			t.Errorf("NodeSpecAfter(..., %d): %v, %v", size, spec, err)
		}
	}
	if spec, err := NodeSpecAfter(Max()+1, 8); !spec.IsZero() || !errors.Is(err, ErrNodeSpec) ||
		!errors.Is(err, sortid.ErrRange) {
		t.Errorf("NodeSpecAfter(Max()+1): %v, %v", spec, err)
	}
}

func TestNodeSpecText(t *testing.T) {
	var config struct{ Node NodeSpec }
	in := `{"Node":"0u2r85hm2pt3/16"}`
	if err := json.Unmarshal([]byte(in), &config); err != nil ||
		config.Node != mustSpec("0u2r85hm2pt3/16") {
		t.Errorf("JSON: %v, %v", config, err)
	}
	if b, err := json.Marshal(config); string(b) != in || err != nil {
		t.Errorf("JSON: %s, %v", b, err)
	}
	flags := flag.NewFlagSet("", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	var spec NodeSpec
	flags.TextVar(&spec, "node", NodeSpec{}, "")
	if err := flags.Parse([]string{"-node", "42/8"}); err != nil || spec != mustSpec("42/8") {
		t.Errorf("flag: %v, %v", spec, err)
	}
	if err := flags.Parse([]string{"-node", "42"}); err == nil {
		t.Error("flag: no error")
	}

	zero := NodeSpec{}
	if b, err := zero.MarshalText(); b != nil || !errors.Is(err, ErrNodeSpec) {
		t.Errorf("the zero NodeSpec's text: %q, %v", b, err)
	}
	if _, err := ParseNodeSpec(zero.String()); err == nil || zero.NodeID() != 0 ||
		zero.NodeIDSize() != 0 {
		t.Errorf("the zero NodeSpec: %v, %v", zero, err)
	}
}

var grammar = regexp.MustCompile(
	`^(?:([0-9A-Za-z]{12})|([0-9]{1,8})|0x([0-9A-Fa-f]{1,6}))/([0-9]{1,2})$`)

// ParseNodeSpec agrees with a regular expression and math/big.
func FuzzParseNodeSpec(f *testing.F) {
	for in := range nodeSpecs {
		f.Add(in)
	}
	for _, s := range badNodeSpecs[:len(badNodeSpecs)-1] {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		spec, err := ParseNodeSpec(s)
		want, ok := specByGrammar(s)
		if ok != (err == nil) || spec != want {
			t.Fatalf("ParseNodeSpec(%q) = %v, %v; by the grammar %v, %v", s, spec, err, want, ok)
		}
		if !ok {
			if !errors.Is(err, ErrNodeSpec) {
				t.Fatalf("ParseNodeSpec(%q): %v is not ErrNodeSpec", s, err)
			}
			return
		}
		if back, err := ParseNodeSpec(spec.String()); back != spec || err != nil {
			t.Fatalf("%q: %v parsed as %v, %v", s, spec, back, err)
		}
	})
}

func specByGrammar(s string) (NodeSpec, bool) {
	m := grammar.FindStringSubmatch(s)
	if m == nil {
		return NodeSpec{}, false
	}
	size, _ := strconv.Atoi(m[4])
	if size < 1 || size > 23 {
		return NodeSpec{}, false
	}
	room := new(big.Int).Lsh(big.NewInt(1), uint(24-size))
	node := new(big.Int)
	switch {
	case m[1] != "":
		n, _ := new(big.Int).SetString(m[1], 36)
		if n.BitLen() > 24 {
			return NodeSpec{ID(n.Uint64()), uint8(size)}, true
		}
		node.Div(n, room)
	case m[2] != "":
		node.SetString(m[2], 10)
	default:
		node.SetString(m[3], 16)
	}
	if node.BitLen() > size {
		return NodeSpec{}, false
	}
	return NodeSpec{ID(node.Mul(node, room).Uint64()), uint8(size)}, true
}
