// The command vectors writes testdata/vectors and testdata/typed.json. It computes every value with
// math/big, from the formats' documents. It shares no code with the format packages, so that it can
// check them.
//
//	go run ./internal/vectors
package main

import (
	"encoding/json"
	"fmt"
	"log"
	"maps"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/sortid/sortid/internal/clock"
	"github.com/sortid/sortid/internal/conformance"
)

func main() {
	for file, b := range files() {
		if err := os.WriteFile(file, b, 0o644); err != nil {
			log.Fatal(err)
		}
	}
}

func files() map[string][]byte {
	m := map[string][]byte{conformance.TypedFile(): encode(typed())}
	for _, f := range formats {
		m[filepath.Join(conformance.Dir(), f.name+".json")] = encode(f.vectors())
	}
	return m
}

func encode(v any) []byte {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		log.Fatal(err)
	}
	return append(b, '\n')
}

type field struct {
	name string
	bits uint
}

type format struct {
	name   string
	fields []field // from the highest
	limit  *big.Int
	size   int
	time   func(timestamp int64) time.Time
	text   func(*big.Int) string
	forms  map[string]func(*big.Int) string

	printed  string            // texts in the document
	integers map[string]string // the integers of some printed texts
	variants func(string) map[string]string
	alphabet string
	invalid  []conformance.Invalid
}

const (
	base36    = "0123456789abcdefghijklmnopqrstuvwxyz"
	base32hex = "0123456789ABCDEFGHIJKLMNOPQRSTUV"
	crockford = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
	base64url = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
)

var one = big.NewInt(1)

func pow(base, exponent int64) *big.Int {
	return new(big.Int).Exp(big.NewInt(base), big.NewInt(exponent), nil)
}

func digits(n *big.Int, alphabet string, width int) string {
	base, rest, digit := big.NewInt(int64(len(alphabet))), new(big.Int).Set(n), new(big.Int)
	var b []byte
	for rest.Sign() > 0 || len(b) < width {
		rest.DivMod(rest, base, digit)
		b = append([]byte{alphabet[digit.Int64()]}, b...)
	}
	return string(b)
}

func number(s, alphabet string) *big.Int {
	n, base := new(big.Int), big.NewInt(int64(len(alphabet)))
	for _, c := range s {
		n.Add(n.Mul(n, base), big.NewInt(int64(strings.IndexRune(alphabet, c))))
	}
	return n
}

func uuid(n *big.Int) string {
	h := digits(n, base36[:16], 32)
	return strings.Join([]string{h[:8], h[8:12], h[12:16], h[16:20], h[20:]}, "-")
}

func unixMilli(ms int64) time.Time { return time.UnixMilli(ms) }

var formats = []*format{
	{
		name:   "scru64",
		fields: []field{{"timestamp", 40}, {"node_ctr", 24}},
		limit:  pow(36, 12),
		size:   8,
		time:   func(ts int64) time.Time { return time.UnixMilli(ts * 256) },
		text:   func(n *big.Int) string { return digits(n, base36, 12) },
		printed: "0u375nxqh5cq 0u375nxqh5cr 0u375nxqh5cs 0u375nxqh5ct 0u375ny0glr0 0u375ny0glr1 " +
			"0u375ny0glr2 0u375ny0glr3 0u2pf62ji4b9 zzzzzzzzzzzz",
		integers: map[string]string{
			"0u2pf62ji4b9": "109959589539758421", "zzzzzzzzzzzz": "4738381338321616895"},
		variants: cases,
		alphabet: base36,
		invalid:  fixed("0u2pf62ji4b9", "-+_@ [`{/:"),
	},
	{
		name:   "scru128",
		fields: []field{{"timestamp", 48}, {"counter_hi", 24}, {"counter_lo", 24}, {"entropy", 32}},
		limit:  pow(2, 128),
		size:   16,
		time:   unixMilli,
		text:   func(n *big.Int) string { return digits(n, base36, 25) },
		forms:  map[string]func(*big.Int) string{"uuid": uuid},
		printed: "0372hg16csmsm50l8dikcvukc 0372hg16csmsm50l8djl6xi25 0372hg16csmsm50l8dmgepzz1 " +
			"0372hg16csmsm50l8doir3827 0372hg16cy3nowracls909wcd 0372hg16cy3nowraclvp355ce " +
			"0372hg16cy3nowraclxf2ctzh 0372hg16cy3nowraclyunyjke 0372ijojuxuhjsfkeryi2mrtm " +
			"f5lxx1zz5pnorynqglhzmsp33",
		integers: map[string]string{
			"0372ijojuxuhjsfkeryi2mrtm": "1993501768880490086615869617690763354",
			"f5lxx1zz5pnorynqglhzmsp33": "340282366920938463463374607431768211455"},
		variants: cases,
		alphabet: base36,
		invalid: append(fixed("0372ijojuxuhjsfkeryi2mrtm", "-+_@ [`{/:"),
			over("2^128", pow(2, 128)),
			over("2^128 + 1", new(big.Int).Add(pow(2, 128), one)),
			over("2^128 + 2^64", new(big.Int).Add(pow(2, 128), pow(2, 64))),
			over("15 * 36^24 + 36^24 - 1",
				new(big.Int).Sub(new(big.Int).Mul(big.NewInt(16), pow(36, 24)), one)),
			over("16 * 36^24", new(big.Int).Mul(big.NewInt(16), pow(36, 24))),
			over("2^129", pow(2, 129)),
			over("36^25 - 1", new(big.Int).Sub(pow(36, 25), one))),
	},
	{
		name:   "scru160",
		fields: []field{{"timestamp", 48}, {"counter", 16}, {"random16", 16}, {"random80", 80}},
		limit:  pow(2, 160),
		size:   20,
		time:   unixMilli,
		text:   func(n *big.Int) string { return digits(n, base32hex, 32) },
		forms: map[string]func(*big.Int) string{
			"hex": func(n *big.Int) string { return digits(n, base36[:16], 40) }},
		printed: "05TTUP1HNCPNH30VEK64KDQT9BSNU4C4 05TTUP1HNCPNIB63R8IN5V2L3VFGNFET " +
			"017bdf6431bb33750751eb63beb3c3f8c5969d86 017bdf6431bb337662412e6a5758890735c33c2b",
		variants: cases,
		alphabet: base32hex,
		invalid: append(fixed("05TTUP1HNCPNH30VEK64KDQT9BSNU4C4", "Ww-+_@ [`{/:"),
			symbols("017bdf6431bb33750751eb63beb3c3f8c5969d86", "Gg-+_@ [`{/:")...),
	},
	{
		name: "euid",
		fields: []field{{"timestamp", 42}, {"random_and_extension", 15}, {"extension_length", 4},
			{"version", 3}, {"random", 64}},
		limit:   pow(2, 128),
		size:    16,
		time:    unixMilli,
		text:    euidText,
		forms:   map[string]func(*big.Int) string{"uuid": uuid},
		printed: "C8EE934SR007G5Q94QKKXFRFV8B",
		variants: func(s string) map[string]string {
			v := cases(s)
			if o := strings.NewReplacer("0", "O", "1", "I").Replace(s); o != s {
				v["O for 0, I for 1"] = o
			}
			if o := strings.NewReplacer("0", "o", "1", "l").Replace(s); o != s {
				v["o for 0, l for 1"] = o
			}
			return v
		},
		alphabet: crockford,
		invalid: slices.Concat(fixed("C8EE934SR007G5Q94QKKXFRFV8B", "Uu-+_@ [`{/:*~$="),
			lastSymbols("C8EE934SR007G5Q94QKKXFRFV8B"), []conformance.Invalid{
				invalid("two neighbours swapped", "8CEE934SR007G5Q94QKKXFRFV8B", "check"),
				invalid("one symbol mistyped", "C8EE934SR007G5Q94QKKXFRFV9B", "check"),
				// A remainder modulo 127 is never 127.
				invalid("check value 127 for 0", strings.Repeat("0", 25)+"3Z", "check"),
			}),
	},
	{
		name:   "uid60",
		fields: []field{{"timestamp", 42}, {"sequence", 9}, {"random", 9}},
		limit:  pow(2, 60),
		size:   8,
		time: func(ts int64) time.Time {
			return time.UnixMilli(time.Date(2018, 3, 1, 0, 0, 0, 0, time.UTC).UnixMilli() + ts)
		},
		text:    uid60Text,
		printed: "xinaS8QBh", integers: map[string]string{"xinaS8QBh": "11093174944930914"},
		variants: func(s string) map[string]string {
			v := map[string]string{}
			if base := unrotate(s); len(base) < 10 {
				v["one A of padding"] = rotate("A" + base)
				v["padding to 10"] = rotate(strings.Repeat("A", 10-len(base)) + base)
			}
			return v
		},
		alphabet: base64url,
		invalid: append(symbols("xinaS8QBh", "+/=@ [`{.,:~"),
			lengths("", "x", "xi", "xin", "xinaS8QBhxi", "xinaS8QBhxinaS8QBh")...),
	},
}

func over(note string, n *big.Int) conformance.Invalid {
	return invalid(note, digits(n, base36, 25), "range")
}

func lastSymbols(sound string) (out []conformance.Invalid) {
	for _, c := range crockford {
		if text := sound[:26] + string(c); text != sound {
			out = append(out, invalid("another last symbol", text, "check"))
		}
	}
	return out
}

func lengths(texts ...string) (out []conformance.Invalid) {
	for _, s := range texts {
		out = append(out, invalid(fmt.Sprintf("%d characters", len(s)), s, "length"))
	}
	return out
}

func euidText(n *big.Int) string {
	check := new(big.Int).Mod(n, big.NewInt(127))
	return digits(check.Add(check, new(big.Int).Lsh(n, 7)), crockford, 27)
}

func uid60Text(n *big.Int) string { return rotate(digits(n, base64url, 4)) }

func rotate(s string) string   { return s[len(s)-2:] + s[:len(s)-2] }
func unrotate(s string) string { return s[2:] + s[:2] }

// last returns the last text printed in the document.
func (f *format) last() string { return f.printed[strings.LastIndexByte(f.printed, ' ')+1:] }

func (f *format) parse(text string) *big.Int {
	switch {
	case f.name == "euid":
		return new(big.Int).Rsh(number(text, crockford), 7)
	case f.name == "uid60":
		return number(unrotate(text), base64url)
	case f.name == "scru160" && len(text) == 40:
		return number(text, base36[:16])
	}
	return number(text, f.alphabet)
}

func cases(s string) map[string]string {
	v := map[string]string{}
	if u := strings.ToUpper(s); u != s {
		v["upper case"] = u
	}
	if l := strings.ToLower(s); l != s {
		v["lower case"] = l
	}
	mixed := []byte(strings.ToLower(s))
	for i := 0; i < len(mixed); i += 2 {
		mixed[i] = strings.ToUpper(string(mixed[i]))[0]
	}
	if string(mixed) != s {
		v["mixed case"] = string(mixed)
	}
	return v
}

// invalid returns a text that is wrong as a whole.
func invalid(note, text, reason string) conformance.Invalid {
	return conformance.Invalid{Note: note, Text: text, Reason: reason, Offset: -1}
}

func symbols(text, bad string) (out []conformance.Invalid) {
	for _, c := range bad {
		for _, at := range []int{0, len(text) / 2, len(text) - 1} {
			out = append(out, conformance.Invalid{
				Note: fmt.Sprintf("%q at %d", c, at), Reason: "symbol", Offset: at,
				Text: text[:at] + string(c) + text[at+1:],
			})
		}
	}
	for _, at := range []int{0, len(text) - 2} {
		out = append(out, conformance.Invalid{
			Note: "two bytes of a character that is not ASCII", Reason: "symbol", Offset: at,
			Text: text[:at] + "é" + text[at+2:],
		})
	}
	return append(out, conformance.Invalid{
		Note: "two bad symbols: the first counts", Reason: "symbol", Offset: 1,
		Text: text[:1] + "!" + text[2:len(text)-1] + "!",
	}, conformance.Invalid{
		Note: "a control character", Reason: "symbol", Offset: 3, Text: text[:3] + "\x00" +
			text[4:],
	})
}

func fixed(text, bad string) []conformance.Invalid {
	out := symbols(text, bad)
	for _, s := range []string{"", text[:1], text[:len(text)-1], text + "0", " " + text,
		text + "\n", text + text} {
		out = append(out, invalid(fmt.Sprintf("%d bytes", len(s)), s, "length"))
	}
	return out
}

func (f *format) vectors() conformance.Vectors {
	v := conformance.Vectors{Format: f.name}
	for text := range strings.FieldsSeq(f.printed) {
		n := f.parse(text)
		if says := f.integers[text]; says != "" && n.String() != says {
			log.Fatalf("%s: the document says that %s is %s, but the rules say %v", f.name, text, says, n)
		}
		v.Valid = append(v.Valid, f.valid("printed in the document", n, text))
	}
	for _, b := range f.boundaries() {
		v.Valid = append(v.Valid, f.valid(b.note, b.n, f.text(b.n)))
	}
	last := f.parse(f.last())
	variants := f.variants(f.text(last))
	for _, note := range slices.Sorted(maps.Keys(variants)) {
		v.Valid = append(v.Valid, f.valid(note, last, variants[note]))
	}
	v.Invalid = f.invalid
	return v
}

type boundary struct {
	note string
	n    *big.Int
}

// boundaries have 0, 1, half or the maximum in a field, and zeros or the bits of the largest ID in
// the others.
func (f *format) boundaries() (out []boundary) {
	last := new(big.Int).Sub(f.limit, one)
	out = append(out,
		boundary{"the smallest ID", new(big.Int)},
		boundary{"the integer 1", big.NewInt(1)},
		boundary{"the largest ID", last},
		boundary{"one less than the largest ID", new(big.Int).Sub(last, one)},
	)
	shift := uint(0)
	for _, fd := range f.fields {
		shift += fd.bits
	}
	for _, fd := range f.fields {
		shift -= fd.bits
		top := new(big.Int).Sub(new(big.Int).Lsh(one, fd.bits), one)
		mask := new(big.Int).Lsh(top, shift)
		if largest := new(big.Int).Rsh(last, shift); largest.Cmp(top) < 0 {
			top = largest
		}
		for _, value := range []*big.Int{new(big.Int), one, new(big.Int).Rsh(top, 1),
			new(big.Int).Sub(top, one), top} {
			n := new(big.Int).Lsh(value, shift)
			out = append(out, boundary{fmt.Sprintf("%s %v, the rest 0", fd.name, value), n})
			rest := new(big.Int).AndNot(last, mask)
			if m := new(big.Int).Or(rest, n); m.Cmp(f.limit) < 0 {
				out = append(out,
					boundary{fmt.Sprintf("%s %v, the rest as in the largest ID", fd.name, value),
						m})
			}
		}
	}
	return out
}

func (f *format) valid(note string, n *big.Int, text string) conformance.Valid {
	v := conformance.Valid{
		Note: note, Text: text, Int: n.String(), Hex: digits(n, base36[:16], 2*f.size),
		Fields: map[string]string{},
	}
	if canon := f.text(n); canon != text {
		v.Canon = canon
	}
	shift := uint(0)
	for i := len(f.fields) - 1; i >= 0; i-- {
		fd := f.fields[i]
		part := new(big.Int).Mod(new(big.Int).Rsh(n, shift), new(big.Int).Lsh(one, fd.bits))
		v.Fields[fd.name] = part.String()
		if i == 0 {
			v.Time = f.time(part.Int64()).UTC().Format(clock.Layout)
		}
		shift += fd.bits
	}
	for name, form := range f.forms {
		if v.Encodings == nil {
			v.Encodings = map[string]string{}
		}
		v.Encodings[name] = form(n)
	}
	return v
}
