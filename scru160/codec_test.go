package scru160

import (
	"encoding/base32"
	"encoding/hex"
	"encoding/json"
	"errors"
	"math/big"
	"strconv"
	"strings"
	"testing"

	"github.com/sortid/sortid"
	"github.com/sortid/sortid/internal/conformance"
)

var two160 = new(big.Int).Lsh(big.NewInt(1), 160)

var codec = conformance.Codec[ID]{
	Format: "scru160", Limit: two160, Size: Size, Sorts: true,
	Parse: Parse, MustParse: MustParse, First: First,
	FromBytes: FromBytes,
	Text: func(n *big.Int) string {
		return base32.HexEncoding.EncodeToString(n.FillBytes(make([]byte, Size)))
	},
	Fields: func(id ID) map[string]string {
		random80 := id.Random80()
		return map[string]string{
			"timestamp": strconv.FormatUint(id.Timestamp(), 10),
			"counter":   strconv.FormatUint(uint64(id.Counter()), 10),
			"random16":  strconv.FormatUint(uint64(id.Random16()), 10),
			"random80":  new(big.Int).SetBytes(random80[:]).String(),
		}
	},
	Number: func(s string) (*big.Int, bool) {
		var b []byte
		err := errors.New("length")
		switch {
		case strings.ContainsAny(s, "=\r\n"): // encoding/base32 ignores these
		case len(s) == 32:
			b, err = base32.HexEncoding.DecodeString(strings.Map(upper, s))
		case len(s) == 40:
			b, err = hex.DecodeString(s)
		}
		return new(big.Int).SetBytes(b), err == nil
	},
	Others: map[string]conformance.Form[ID]{"hex": {Append: ID.Hex, Parse: Parse}},
	Document: conformance.Document{
		Layout: "timestamp 48 counter 16 random16 16 random80 80",
		Printed: "05TTUP1HNCPNH30VEK64KDQT9BSNU4C4 05TTUP1HNCPNIB63R8IN5V2L3VFGNFET " +
			"017bdf6431bb33750751eb63beb3c3f8c5969d86 017bdf6431bb337662412e6a5758890735c33c2b",
		Variants: conformance.Cases,
		Invalid: append(
			conformance.WrongFixed("05TTUP1HNCPNH30VEK64KDQT9BSNU4C4", "Ww-+_@ [`{/:"),
			conformance.WrongSymbols("017bdf6431bb33750751eb63beb3c3f8c5969d86",
				"Gg-+_@ [`{/:")...),
	},
}

func TestCodec(t *testing.T) { codec.Run(t) }

func FuzzParse(f *testing.F) { codec.Fuzz(f) }

func upper(r rune) rune {
	if 'a' <= r && r <= 'z' {
		return r - 'a' + 'A'
	}
	return r
}

var random80 = [10]byte{0x9d, 0x0e, 0x6b, 0xc4, 0x2f, 0x01, 0x77, 0x38, 0xe5, 0x5a}

func TestFromFields(t *testing.T) {
	for _, c := range []struct {
		timestamp         uint64
		counter, random16 uint16
		want              string
	}{
		{0x017fef39c264, 0x1ba5, 0x6a94, "017fef39c2641ba56a949d0e6bc42f017738e55a"},
		{MaxTimestamp, MaxCounter, MaxRandom16, "ffffffffffffffffffff9d0e6bc42f017738e55a"},
		{0, 0, 0, "000000000000000000009d0e6bc42f017738e55a"},
		{MaxTimestamp + 1, 0, 0, ""},
		{1<<64 - 1, 0, 0, ""},
	} {
		id, err := FromFields(c.timestamp, c.counter, c.random16, random80)
		if c.want == "" {
			if !errors.Is(err, sortid.ErrField) || !strings.Contains(err.Error(), "timestamp") ||
				!id.IsZero() {
				t.Errorf("FromFields(%x, ...): %v, %v, want sortid.ErrField that names timestamp",
					c.timestamp, id, err)
			}
			continue
		}
		if err != nil || id.Hex() != c.want {
			t.Errorf("FromFields(%x, %x, %x) = %v, %v, want %v", c.timestamp, c.counter, c.random16,
				id.Hex(), err, c.want)
		}
		if id.Timestamp() != c.timestamp || id.Counter() != c.counter ||
			id.Random16() != c.random16 || id.Random80() != random80 {
			t.Errorf("fields of %v: %x, %x, %x, %x", id.Hex(), id.Timestamp(), id.Counter(),
				id.Random16(), id.Random80())
		}
	}
}

func TestMicrosecondFields(t *testing.T) {
	id, err := FromFields(1, 999<<6|33, 0, [10]byte{})
	if err != nil || id.Micros() != 999 || id.CounterLow() != 33 {
		t.Errorf("%v: %d, %d, %v", id.Hex(), id.Micros(), id.CounterLow(), err)
	}
}

func TestHexForms(t *testing.T) {
	id := MustParse("05TTUP1HNCPNH30VEK64KDQT9BSNU4C4")
	const digits = "017bdf6431bb33788c1f750c4a375d4af97f1184"
	if id.Hex() != digits || Hex(id).String() != digits || string(id.AppendHex([]byte("x"))) != "x"+
		digits {
		t.Errorf("%s, %s, %s, want %s", id.Hex(), Hex(id), id.AppendHex([]byte("x")), digits)
	}
	if MustParse(strings.ToUpper(digits)) != id {
		t.Error("Parse does not ignore the case of hexadecimal digits")
	}
	if b, err := json.Marshal(map[Hex]Hex{Hex(id): Hex(id)}); err != nil || string(b) != `{"`+
		digits+`":"`+digits+`"}` {
		t.Errorf("JSON: %s, %v", b, err)
	}
	for _, text := range []string{digits, strings.ToUpper(digits), id.String(),
		strings.ToLower(id.String())} {
		var h Hex
		if err := json.Unmarshal([]byte(`"`+text+`"`), &h); err != nil || ID(h) != id {
			t.Errorf("JSON of %s: %v, %v", text, h, err)
		}
	}
	conformance.KeepsOn(t, Hex(id), "", digits[1:], digits+"0", "g"+digits[1:], digits[:39]+"é"[:1])
	sources := []any{digits, []byte(digits), id[:], [20]byte(id), id.String(), []byte(id.String())}
	conformance.Column(t, id, Hex(id), digits, sources...)
	conformance.Column(t, id, Bytes(id), id[:], sources...)
	conformance.Texts(t, id, Bytes(id))
	if n := testing.AllocsPerRun(100, func() { _, _ = Parse(digits) }); n != 0 {
		t.Errorf("Parse of hexadecimal digits allocates %v times", n)
	}
}

func TestSymbolOffset(t *testing.T) {
	id := MustParse("05TTUP1HNCPNH30VEK64KDQT9BSNU4C4")
	for _, text := range []string{id.String(), id.Hex()} {
		for at := range text {
			for _, c := range []byte{'w', 'W', 'z', '-', ' ', 0, 0xff} {
				s := []byte(text)
				s[at] = c
				s[len(s)-1-(len(s)-1-at)/2] = c
				_, err := Parse(string(s))
				var p *sortid.ParseError
				if !errors.As(err, &p) || p.Offset != at || p.Err != sortid.ErrSymbol {
					t.Fatalf("Parse(%q): %v, want sortid.ErrSymbol at %d", s, err, at)
				}
			}
		}
	}
}

func TestErrorText(t *testing.T) {
	for s, want := range map[string]string{
		"": "an empty input: wrong length: 0 bytes, want 32 of base32hex or 40 of hex",
		"05TTUP1HNCPNH30VEK64KDQT9BSNU4CW": "'W' at offset 31, want 0-9 or A-V, " +
			"because a text of 32 characters is base32hex",
		"g17bdf6431bb33788c1f750c4a375d4af97f1184": "'g' at offset 0, want 0-9 or a-f, " +
			"because a text of 40 characters is hex",
	} {
		if _, err := Parse(s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Parse(%q): %v, want %s", s, err, want)
		}
	}
}
