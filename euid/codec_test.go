package euid

import (
	"errors"
	"math/big"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sortid/sortid"
	"github.com/sortid/sortid/internal/conformance"
)

const (
	alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
	digits32 = "0123456789abcdefghijklmnopqrstuv"
	sample   = "C8EE934SR007G5Q94QKKXFRFV8B"
)

var (
	two128   = new(big.Int).Lsh(big.NewInt(1), 128)
	big127   = big.NewInt(127)
	encoding = strings.NewReplacer(replacements(digits32, alphabet)...)
	decoding = strings.NewReplacer(
		append(replacements(alphabet+strings.ToLower(alphabet[10:]), digits32+digits32[10:]),
			"O", "0", "o", "0", "I", "1", "i", "1", "L", "1", "l", "1", "U", "?", "u", "?")...)
)

func replacements(from, to string) (pairs []string) {
	for i := range from {
		pairs = append(pairs, from[i:i+1], to[i:i+1])
	}
	return pairs
}

var toBig = conformance.Big[ID]

func text(n *big.Int) string {
	check := new(big.Int).Mod(n, big127)
	s := new(big.Int).Or(new(big.Int).Lsh(n, 7), check).Text(32)
	return encoding.Replace(strings.Repeat("0", TextLen-len(s)) + s)
}

func number(s string) (*big.Int, bool) {
	if len(s) != TextLen || strings.ContainsAny(s, "+-_") {
		return nil, false
	}
	n, ok := new(big.Int).SetString(decoding.Replace(s), 32)
	if !ok {
		return nil, false
	}
	check := new(big.Int).And(n, big.NewInt(127))
	n.Rsh(n, 7)
	return n, check.Cmp(new(big.Int).Mod(n, big127)) == 0
}

var codec = conformance.Codec[ID]{
	Format: "euid", Limit: two128, Size: Size, Sorts: true,
	Parse: Parse, MustParse: MustParse, First: First,
	FromBytes: FromBytes, Text: text, Number: number,
	Fields: func(id ID) map[string]string {
		return map[string]string{
			"timestamp":            strconv.FormatUint(id.Timestamp(), 10),
			"random_and_extension": strconv.FormatUint(uint64(id.RandomAndExtension()), 10),
			"extension_length":     strconv.Itoa(id.ExtensionLength()),
			"version":              strconv.Itoa(int(id.VersionBits())),
			"random":               strconv.FormatUint(id.Random(), 10),
		}
	},
	Others: map[string]conformance.Form[ID]{"uuid": {
		Append: func(id ID) string { return UUID(id).String() },
		Parse:  func(s string) (ID, error) { u, err := ParseUUID(s); return ID(u), err },
	}},
	Document: conformance.Document{
		Layout:  "timestamp 42 random_and_extension 15 extension_length 4 version 3 random 64",
		Printed: sample,
		Variants: func(s string) map[string]string {
			v := conformance.Cases(s)
			v["O for 0, I for 1"] = strings.NewReplacer("0", "O", "1", "I").Replace(s)
			v["o for 0, l for 1"] = strings.NewReplacer("0", "o", "1", "l").Replace(s)
			return v
		},
		Invalid: slices.Concat(conformance.WrongFixed(sample, "Uu-+_@ [`{/:*~$="),
			otherChecks(), []conformance.Invalid{
				conformance.Wrong("two neighbours swapped", "8CEE934SR007G5Q94QKKXFRFV8B", "check"),
				conformance.Wrong("one symbol mistyped", "C8EE934SR007G5Q94QKKXFRFV9B", "check"),
				// A remainder modulo 127 is never 127.
				conformance.Wrong("check value 127 for 0", strings.Repeat("0", 25)+"3Z", "check"),
			}),
	},
}

func otherChecks() (out []conformance.Invalid) {
	for _, c := range alphabet {
		if text := sample[:26] + string(c); text != sample {
			out = append(out, conformance.Wrong("another last symbol", text, "check"))
		}
	}
	return out
}

func TestCodec(t *testing.T) { codec.Run(t) }

func FuzzParse(f *testing.F) { codec.Fuzz(f) }

// The fuzzer varies 128 bits, because a random text almost never parses.
func FuzzText(f *testing.F) {
	f.Add(uint64(0), uint64(0))
	f.Add(uint64(0x621ce48c99c00078), uint64(0x16e925e73ebf0fda))
	f.Fuzz(func(t *testing.T, hi, lo uint64) {
		id := FromUint128(hi, lo)
		s := id.String()
		if s != text(toBig(id)) {
			t.Fatalf("%x %x: %s, want %s", hi, lo, s, text(toBig(id)))
		}
		if back, err := Parse(strings.ToLower(s)); err != nil || back != id {
			t.Fatalf("%s: %v, %v", s, back, err)
		}
	})
}

func FuzzUUID(f *testing.F) {
	conformance.FuzzUUID(f, ParseUUID, "621ce48c-99c0-0078-16e9-25e73ebf0fda")
}

func TestChecksum(t *testing.T) {
	try := func(hi, lo uint64) {
		id := FromUint128(hi, lo)
		if got, want := id.String(), text(toBig(id)); got != want {
			t.Fatalf("%#x, %#x: %s, want %s", hi, lo, got, want)
		}
	}
	for n := range uint64(10 * 127) {
		try(0, n)
		try(n, 0)
		try(0, ^n)
		try(^n, ^uint64(0))
		try(^n, 0)
	}
	for i := range 64 {
		for j := range 64 {
			try(1<<i, 1<<j)
			try(1<<i-1, 1<<j-1)
			try(^uint64(0)<<i, 1<<j-1)
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 200_000 {
		try(r.Uint64()>>r.IntN(64), r.Uint64()>>r.IntN(64))
	}
}

func TestCheck(t *testing.T) {
	for _, id := range []ID{MustParse(sample), {}, Max(), FromUint128(0, 126), FromUint128(0, 127)} {
		n := toBig(id)
		right := new(big.Int).Mod(n, big127).Int64()
		for check := range int64(128) {
			s := new(big.Int).Add(new(big.Int).Lsh(n, 7), big.NewInt(check)).Text(32)
			s = encoding.Replace(strings.Repeat("0", TextLen-len(s)) + s)
			got, err := Parse(s)
			if check == right && (err != nil || got != id) {
				t.Errorf("Parse(%s): %v, %v", s, got, err)
			}
			var p *sortid.ParseError
			if check != right && (!errors.As(err, &p) || p.Err != sortid.ErrCheck ||
				p.Offset != -1 || !got.IsZero()) {
				t.Errorf("Parse(%s): %v, %v, want ErrCheck", s, got, err)
			}
		}
	}
}

// Parse finds each mistyped symbol and each swap of two neighbors, because the prime 127 divides
// neither 32 nor 31.
func TestTypos(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		s := FromUint128(r.Uint64(), r.Uint64()).String()
		for at := range s {
			for _, c := range []byte(alphabet) {
				b := []byte(s)
				b[at] = c
				if _, err := Parse(string(b)); c != s[at] && !errors.Is(err, sortid.ErrCheck) {
					t.Errorf("%q, mistyped from %s: %v, want ErrCheck", b, s, err)
				}
			}
			if b := []byte(s); at > 0 && s[at] != s[at-1] {
				b[at], b[at-1] = s[at-1], s[at]
				if _, err := Parse(string(b)); !errors.Is(err, sortid.ErrCheck) {
					t.Errorf("%q, swapped from %s: %v, want ErrCheck", b, s, err)
				}
			}
		}
	}
}

func TestForgiving(t *testing.T) {
	const canon = "010101010101010101010101010"
	id := codec.Of(new(big.Int).Rsh(
		func() *big.Int { n, _ := new(big.Int).SetString(canon, 32); return n }(), 7))
	s := id.String()
	for _, zero := range "0oO" {
		for _, one := range "1iIlL" {
			typed := strings.NewReplacer("0", string(zero), "1", string(one)).Replace(s)
			if got, err := Parse(typed); err != nil || got != id {
				t.Errorf("Parse(%s): %v, %v, want %s", typed, got, err, s)
			}
		}
	}
}

func TestFromFields(t *testing.T) {
	const rnd = 0x16e925e73ebf0fda
	for _, c := range []struct {
		timestamp         uint64
		field             uint16
		length, version   uint8
		wrong             string
		want              string
		extension         uint16
		attached          bool
		versionNumber     int
		extensionFieldLen int
	}{
		{1685566141031, 0, 15, 0, "", "621ce48c-99c0-0078-16e9-25e73ebf0fda", 0, true, 1, 15},
		{1685566141031, 0x7fff, 0, 0, "", "621ce48c-99ff-ff80-16e9-25e73ebf0fda", 0, false, 1, 0},
		{1685566141031, 0x5a5a, 4, 0, "", "621ce48c-99ed-2d20-16e9-25e73ebf0fda", 0xa, true, 1, 4},
		{MaxTimestamp, MaxRandomAndExtension, 15, 7, "", "ffffffff-ffff-ffff-16e9-25e73ebf0fda",
			0x7fff, true, 8, 15},
		{0, 0, 0, 0, "", "00000000-0000-0000-16e9-25e73ebf0fda", 0, false, 1, 0},
		{MaxTimestamp + 1, 0, 0, 0, "timestamp", "", 0, false, 0, 0},
		{0, MaxRandomAndExtension + 1, 0, 0, "random_and_extension", "", 0, false, 0, 0},
		{0, 0, MaxExtensionLength + 1, 0, "extension_length", "", 0, false, 0, 0},
		{0, 0, 0, MaxVersionBits + 1, "version", "", 0, false, 0, 0},
	} {
		id, err := FromFields(c.timestamp, c.field, c.length, c.version, rnd)
		if c.wrong != "" {
			if !errors.Is(err, sortid.ErrField) || !strings.Contains(err.Error(), c.wrong) ||
				!id.IsZero() {
				t.Errorf("%+v: %v, %v, want sortid.ErrField that names %s", c, id, err, c.wrong)
			}
			continue
		}
		if err != nil || UUID(id).String() != c.want {
			t.Errorf("%+v: %v, %v", c, UUID(id), err)
		}
		if id.Timestamp() != c.timestamp || id.RandomAndExtension() != c.field ||
			id.ExtensionLength() != int(c.length) ||
			id.VersionBits() != c.version || id.Version() != c.versionNumber || id.Random() != rnd {
			t.Errorf("%+v: the fields of %v are %d %#x %d %d %d %#x", c, UUID(id), id.Timestamp(),
				id.RandomAndExtension(),
				id.ExtensionLength(), id.VersionBits(), id.Version(), id.Random())
		}
		if value, ok := id.Extension(); value != c.extension || ok != c.attached {
			t.Errorf("%+v: extension %#x, %v", c, value, ok)
		}
	}
}

func TestUint128(t *testing.T) {
	id := MustParse(sample)
	if hi, lo := id.Uint128(); FromUint128(hi, lo) != id || hi != 0x621ce48c99c00078 ||
		lo != 0x16e925e73ebf0fda {
		t.Errorf("Uint128 of %v = %x, %x", id, hi, lo)
	}
}

func TestUUIDForms(t *testing.T) {
	id := MustParse(sample)
	conformance.UUID(t, id, UUID(id), Bytes(id))
}

func TestErrorText(t *testing.T) {
	for s, want := range map[string]string{
		"":                                     "an empty input: wrong length: 0 bytes, want 27",
		"C8EE934SR007G5Q94QKKXFRFV8U":          "'U' at offset 26, want one of Crockford's Base32",
		"C8EE934SR007G5Q94QKKXFRFV80":          "the check value does not fit",
		"621ce48c-99c0-0078-16e9-25e73ebf0fda": "36 bytes, want 27",
	} {
		if _, err := Parse(s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Parse(%q): %v, want %s", s, err, want)
		}
	}
	if _, err := ParseUUID("x"); err == nil || !strings.Contains(err.Error(), "1 bytes, want 36") {
		t.Errorf("ParseUUID: %v", err)
	}
}
