package scru128

import (
	"errors"
	"math/big"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/sortid/sortid"
	"github.com/sortid/sortid/internal/conformance"
)

var two128 = new(big.Int).Lsh(big.NewInt(1), 128)

func text(n *big.Int) string {
	s := n.Text(36)
	return strings.Repeat("0", TextLen-len(s)) + s
}

func number(s string) (*big.Int, bool) {
	if len(s) != TextLen || strings.ContainsAny(s, "+-_") {
		return nil, false
	}
	n, ok := new(big.Int).SetString(s, 36)
	return n, ok && n.Cmp(two128) < 0
}

var codec = conformance.Codec[ID]{
	Format: "scru128", Limit: two128, Size: Size, Sorts: true,
	Parse: Parse, MustParse: MustParse, First: First,
	FromBytes: FromBytes, Text: text, Number: number,
	Fields: func(id ID) map[string]string {
		return map[string]string{
			"timestamp":  strconv.FormatUint(id.Timestamp(), 10),
			"counter_hi": strconv.FormatUint(uint64(id.CounterHi()), 10),
			"counter_lo": strconv.FormatUint(uint64(id.CounterLo()), 10),
			"entropy":    strconv.FormatUint(uint64(id.Entropy()), 10),
		}
	},
	Others: map[string]conformance.Form[ID]{"uuid": {
		Append: func(id ID) string { return UUID(id).String() },
		Parse:  func(s string) (ID, error) { u, err := ParseUUID(s); return ID(u), err },
	}},
	Document: conformance.Document{
		Layout: "timestamp 48 counter_hi 24 counter_lo 24 entropy 32",
		Printed: "0372hg16csmsm50l8dikcvukc 0372hg16csmsm50l8djl6xi25 0372hg16csmsm50l8dmgepzz1 " +
			"0372hg16csmsm50l8doir3827 0372hg16cy3nowracls909wcd 0372hg16cy3nowraclvp355ce " +
			"0372hg16cy3nowraclxf2ctzh 0372hg16cy3nowraclyunyjke 0372ijojuxuhjsfkeryi2mrtm " +
			"f5lxx1zz5pnorynqglhzmsp33",
		Integers: map[string]string{
			"0372ijojuxuhjsfkeryi2mrtm": "1993501768880490086615869617690763354",
			"f5lxx1zz5pnorynqglhzmsp33": "340282366920938463463374607431768211455"},
		Variants: conformance.Cases,
		Invalid: append(conformance.WrongFixed("0372ijojuxuhjsfkeryi2mrtm", "-+_@ [`{/:"),
			conformance.Wrong("2^128", "f5lxx1zz5pnorynqglhzmsp34", "range"),
			conformance.Wrong("2^128 + 1", "f5lxx1zz5pnorynqglhzmsp35", "range"),
			conformance.Wrong("2^128 + 2^64", "f5lxx1zz5pnovut4hmk5rl5vk", "range"),
			conformance.Wrong("15 * 36^24 + 36^24 - 1", "f"+strings.Repeat("z", 24), "range"),
			conformance.Wrong("16 * 36^24", "g"+strings.Repeat("0", 24), "range"),
			conformance.Wrong("2^129", "ub7vu3zybfbdjxbgx6zz9le68", "range"),
			conformance.Wrong("36^25 - 1", strings.Repeat("z", 25), "range")),
	},
}

func TestCodec(t *testing.T) { codec.Run(t) }

func FuzzParse(f *testing.F) { codec.Fuzz(f) }

func FuzzUUID(f *testing.F) {
	conformance.FuzzUUID(f, ParseUUID, "017fef39-c264-1ba5-6a94-83188841e05a")
}

func TestFromFields(t *testing.T) {
	for _, c := range []struct {
		timestamp uint64
		hi, lo    uint32
		wrong     string
		want      string
	}{
		{0x017fef39c264, 0x1ba56a, 0x948318, "", "017fef39-c264-1ba5-6a94-83188841e05a"},
		{MaxTimestamp, MaxCounterHi, MaxCounterLo, "", "ffffffff-ffff-ffff-ffff-ffff8841e05a"},
		{MaxTimestamp + 1, 0, 0, "timestamp", ""},
		{0, MaxCounterHi + 1, 0, "counter_hi", ""},
		{0, 0, MaxCounterLo + 1, "counter_lo", ""},
	} {
		id, err := FromFields(c.timestamp, c.hi, c.lo, 0x8841e05a)
		if c.wrong == "" && (err != nil || UUID(id).String() != c.want) {
			t.Errorf("FromFields(%x, %x, %x) = %v, %v, want %v", c.timestamp, c.hi, c.lo, UUID(id),
				err, c.want)
		}
		if c.wrong != "" && (!errors.Is(err, sortid.ErrField) ||
			!strings.Contains(err.Error(), c.wrong)) {
			t.Errorf("FromFields(%x, %x, %x): %v, want sortid.ErrField that names %s", c.timestamp,
				c.hi, c.lo, err, c.wrong)
		}
	}
}

func TestUint128(t *testing.T) {
	id := MustParse("0372ijojuxuhjsfkeryi2mrtm")
	if hi, lo := id.Uint128(); FromUint128(hi, lo) != id || hi != 0x017fef39c2641ba5 {
		t.Errorf("Uint128 of %v = %x, %x", id, hi, lo)
	}
}

func TestUUIDForms(t *testing.T) {
	id := MustParse("0372ijojuxuhjsfkeryi2mrtm")
	conformance.UUID(t, id, UUID(id), Bytes(id))
}

// The compiler must inline these functions, which saves a copy of the ID.
func TestInlining(t *testing.T) {
	out, err := exec.Command("go", "build", "-gcflags=-m", ".").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, name := range []string{"Parse", "ID.AppendText"} {
		if !strings.Contains(string(out), "can inline "+name+"\n") {
			t.Errorf("%s is not inlined", name)
		}
	}
}
