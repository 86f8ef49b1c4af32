package conformance

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sortid/sortid/internal/check"
	"github.com/sortid/sortid/internal/clock"
)

var update = flag.Bool("update", false, "write the vectors of the format")

// A Document has facts from a format's document. The tests compute test vectors from these
// facts with math/big, without the format's package.
type Document struct {
	Layout   string                          // the fields and their bits, from the highest
	Printed  string                          // texts in the document
	Integers map[string]string               // the integers of some printed texts
	Time     func(timestamp int64) time.Time // nil for Unix milliseconds
	// Variants returns other texts of the same ID. The keys are the vectors' notes.
	Variants func(text string) map[string]string
	Invalid  []Invalid
	// Underscored has texts of IDs that contain _, the separator of typed IDs. It can be nil.
	Underscored []string
}

func (c *Codec[T]) testDocument(t *testing.T) {
	b := check.Must(json.MarshalIndent(c.vectors(t), "", "  "))(t)
	b = append(b, '\n')
	file := filepath.Join("testdata", "vectors.json")
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if have, err := os.ReadFile(file); err != nil || !bytes.Equal(have, b) {
		t.Errorf("%s differs: run go test -run Codec/Document -update; %v", file, err)
	}
}

var one = big.NewInt(1)

func (c *Codec[T]) number(t testing.TB, text string) *big.Int {
	n, ok := c.Number(text)
	if !ok {
		t.Fatalf("the document has the text %s, but it is invalid", text)
	}
	return n
}

func (c *Codec[T]) vectors(t testing.TB) Vectors {
	v := Vectors{Format: c.Format, Invalid: c.Document.Invalid}
	var last *big.Int
	for text := range strings.FieldsSeq(c.Document.Printed) {
		last = c.number(t, text)
		if says := c.Document.Integers[text]; says != "" && last.String() != says {
			t.Fatalf("the document says that %s is %s, but the rules say %v", text, says, last)
		}
		v.Valid = append(v.Valid, c.valid("printed in the document", last, text))
		v.Typed.addValid(c.Text(last))
	}
	c.addBoundaries(&v)
	text := c.Text(last)
	variants := c.Document.Variants(text)
	for _, note := range slices.Sorted(maps.Keys(variants)) {
		v.Valid = append(v.Valid, c.valid(note, last, variants[note]))
	}
	v.Typed.addInvalid(text, c.Document.Underscored)
	return v
}

// fields calls f for each field, from the highest. Its parameter low is the position of the
// field's lowest bit.
func (c *Codec[T]) fields(f func(name string, bits, low uint)) {
	words := strings.Fields(c.Document.Layout)
	low := uint(0)
	for field := range slices.Chunk(words, 2) {
		low += width(field)
	}
	for field := range slices.Chunk(words, 2) {
		low -= width(field)
		f(field[0], width(field), low)
	}
}

func width(field []string) uint {
	n, err := strconv.ParseUint(field[1], 10, 8)
	if err != nil {
		panic(err)
	}
	return uint(n)
}

// addBoundaries adds IDs in which one field is 0, 1, half the maximum, the maximum less one, or the
// maximum. The other fields are zero, or as in the largest ID.
func (c *Codec[T]) addBoundaries(v *Vectors) {
	add := func(n *big.Int, note string, args ...any) {
		v.Valid = append(v.Valid, c.valid(fmt.Sprintf(note, args...), n, c.Text(n)))
	}
	last := new(big.Int).Sub(c.Limit, one)
	add(new(big.Int), "the smallest ID")
	add(one, "the integer 1")
	add(last, "the largest ID")
	add(new(big.Int).Sub(last, one), "one less than the largest ID")
	c.fields(func(name string, bits, low uint) {
		top := new(big.Int).Sub(new(big.Int).Lsh(one, bits), one)
		rest := new(big.Int).AndNot(last, new(big.Int).Lsh(top, low))
		if largest := new(big.Int).Rsh(last, low); largest.Cmp(top) < 0 {
			top = largest
		}
		for _, value := range []*big.Int{new(big.Int), one, new(big.Int).Rsh(top, 1),
			new(big.Int).Sub(top, one), top} {
			n := new(big.Int).Lsh(value, low)
			add(n, "%s %v, the rest 0", name, value)
			if n := new(big.Int).Or(rest, n); n.Cmp(c.Limit) < 0 {
				add(n, "%s %v, the rest as in the largest ID", name, value)
			}
		}
	})
}

func (c *Codec[T]) valid(note string, n *big.Int, text string) Valid {
	hex := fmt.Sprintf("%0*x", 2*c.Size, n)
	v := Valid{Note: note, Text: text, Int: n.String(), Hex: hex, Fields: map[string]string{}}
	if canon := c.Text(n); canon != text {
		v.Canon = canon
	}
	c.fields(func(name string, bits, low uint) {
		part := new(big.Int).Mod(new(big.Int).Rsh(n, low), new(big.Int).Lsh(one, bits))
		v.Fields[name] = part.String()
		if len(v.Fields) == 1 { // the timestamp
			at := time.UnixMilli(part.Int64())
			if c.Document.Time != nil {
				at = c.Document.Time(part.Int64())
			}
			v.Time = at.UTC().Format(clock.Layout)
		}
	})
	for name := range c.Others {
		if name == "uuid" {
			hex = strings.Join([]string{hex[:8], hex[8:12], hex[12:16], hex[16:20], hex[20:]}, "-")
		}
		v.Encodings = map[string]string{name: hex}
	}
	return v
}

// Cases returns a text in upper, lower and mixed case, without the text itself.
func Cases(s string) map[string]string {
	v := map[string]string{}
	mixed := []byte(strings.ToLower(s))
	for i := 0; i < len(mixed); i += 2 {
		mixed[i] = strings.ToUpper(string(mixed[i]))[0]
	}
	for note, other := range map[string]string{"upper case": strings.ToUpper(s),
		"lower case": strings.ToLower(s), "mixed case": string(mixed)} {
		if other != s {
			v[note] = other
		}
	}
	return v
}

// Wrong returns a text that is wrong as a whole, not at an offset.
func Wrong(note, text, reason string) Invalid {
	return Invalid{Note: note, Text: text, Reason: reason, Offset: -1}
}

func WrongLengths(unit string, texts ...string) (out []Invalid) {
	for _, s := range texts {
		out = append(out, Wrong(fmt.Sprintf("%d %s", len(s), unit), s, "length"))
	}
	return out
}

func WrongSymbols(text, bad string) (out []Invalid) {
	add := func(offset int, text, note string, args ...any) {
		out = append(out, Invalid{Note: fmt.Sprintf(note, args...), Text: text, Reason: "symbol",
			Offset: offset})
	}
	for _, c := range bad {
		for _, at := range []int{0, len(text) / 2, len(text) - 1} {
			add(at, text[:at]+string(c)+text[at+1:], "%q at %d", c, at)
		}
	}
	for _, at := range []int{0, len(text) - 2} {
		add(at, text[:at]+"é"+text[at+2:], "two bytes of a character that is not ASCII")
	}
	add(1, text[:1]+"!"+text[2:len(text)-1]+"!", "two bad symbols: the first counts")
	add(3, text[:3]+"\x00"+text[4:], "a control character")
	return out
}

// WrongFixed is [WrongSymbols] for texts of fixed length. It adds texts of other lengths.
func WrongFixed(text, bad string) []Invalid {
	return append(WrongSymbols(text, bad), WrongLengths("bytes", "", text[:1], text[:len(text)-1],
		text+"0", " "+text, text+"\n", text+text)...)
}

const longPrefix = "abcdefghi_abcdefghi_abcdefghi_abcdefghi_abcdefghi_abcdefghi_jkl"

func (v *Typed) addValid(text string) {
	for _, c := range []struct{ note, prefix string }{
		{"a prefix", "user_"},
		{"one letter", "a_"},
		{"seven letters", "invoice_"},
		{"eight letters", "customer_"},
		{"underscores inside", "user_session__token_"},
		{"63 characters, the most", longPrefix + "_"},
		{"no prefix, and no separator", ""},
	} {
		v.add(c.note, c.prefix, text)
	}
}

// add adds an ID with a prefix. The prefix includes the separator.
func (v *Typed) add(note, prefix, text string) {
	v.Valid = append(v.Valid, TypedValid{Note: note, Prefix: strings.TrimSuffix(prefix, "_"),
		Inner: text, Text: prefix + text})
}

func (v *Typed) addInvalid(text string, underscored []string) {
	if underscored != nil {
		v.add("_ in the ID", "a_b_", underscored[0])
		v.add("_ in an old ID", "user_", underscored[1])
		text = underscored[2]
	}
	for _, c := range []struct{ note, want, found, reason, text string }{
		{"an upper-case letter", "", "User", "prefix", "User_" + text},
		{"a digit", "", "user2", "prefix", "user2_" + text},
		{"a hyphen", "", "user-session", "prefix", "user-session_" + text},
		{"a letter that is not ASCII", "", "usér", "prefix", "usér_" + text},
		{"_ at the front", "", "_user", "prefix", "_user_" + text},
		{"_ at the end", "", "user_", "prefix", "user__" + text},
		{"64 characters", "", longPrefix + "m", "prefix", longPrefix + "m_" + text},
		{"an empty prefix with a separator", "", "", "prefix", "_" + text},
		{"another prefix", "user", "order", "prefix", "order_" + text},
		{"a longer prefix", "user", "users", "prefix", "users_" + text},
		{"a shorter prefix", "user", "use", "prefix", "use_" + text},
		{"one more part", "user", "user_session", "prefix", "user_session_" + text},
		{"upper case", "user", "USER", "prefix", "USER_" + text},
		{"the ID is missing", "user", "user", "length", "user_"},
		{"a bad symbol in the ID", "user", "user", "symbol", "user_" + text[:3] + "!" + text[4:]},
		{"an ID that is too long", "user", "user", "length", "user_" + text + text},
		{"no prefix", "user", "", "prefix", text},
		{"two separators", "user", "user_", "prefix", "user__" + text},
	} {
		if underscored == nil || c.note != "no prefix" && c.note != "two separators" {
			v.Invalid = append(v.Invalid, TypedInvalid{Note: c.note, Want: c.want, Found: c.found,
				Text: c.text, Reason: c.reason})
		}
	}
}
