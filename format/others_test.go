package format

import (
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sortid/sortid/internal/gencore"
	"github.com/sortid/sortid/internal/spec"
	"github.com/sortid/sortid/internal/testids"
	"github.com/sortid/sortid/internal/words"
)

// An ID's integer is the number that math/big computes from its text. Each bit is in a field.
func TestOthers(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, f := range others() {
		for range 1000 {
			want := testids.Random(r, spec.Of(f))
			id, err := f.FromBytes(want.FillBytes(make([]byte, f.Size())))
			if err != nil {
				t.Fatalf("%s: %x: %v", f.Name(), want, err)
			}
			if bigOf(id).Cmp(want) != 0 || id.Compare(largest(f)) > 0 {
				t.Fatalf("%s: %x: %x", f.Name(), want, bigOf(id))
			}
			text := id.String()
			if text2 := bigText(f, want); hasEncoding(f, Text) && id.In(Text) != text2 {
				t.Fatalf("%s: %x is written as %s, want %s", f.Name(), want, id.In(Text), text2)
			}
			if spec.Of(f).Text.Prefix != nil {
				text = "in_" + text
			}
			for _, e := range f.Encodings() {
				if e == Text {
					continue
				}
				if again, err := f.ParseAs(e, id.In(e)); err != nil || again != id {
					t.Fatalf("%s: %s %s: %v, %v", f.Name(), e, id.In(e), again, err)
				}
			}
			if again, err := f.ParseAs(f.Encodings()[0], text); err != nil || again != id {
				t.Fatalf("%s: %s: %v, %v", f.Name(), text, again, err)
			}
			sum := new(big.Int)
			for _, field := range f.Layout() {
				v, _ := new(big.Int).SetString(field.Of(id).String(), 10)
				sum.Add(sum, v.Lsh(v, uint(field.Low)))
			}
			if sum.Cmp(want) != 0 {
				t.Fatalf("%s: the fields of %s are %v", f.Name(), id, id.Fields())
			}
		}
	}
}

// longestText returns how many digits the longest text has, without a check.
func longestText(f *Format) int {
	rules := spec.Of(f).Text
	if rules.Suffix != "" {
		return rules.Lengths[0]
	}
	return slices.Max(rules.Lengths)
}

func bigText(f *Format, w *big.Int) (text string) {
	groups := spec.Of(f).Text.Groups
	if groups == nil && hasEncoding(f, Text) {
		groups = []spec.TextPart{{Digits: longestText(f), Bits: f.Bits()}}
	}
	zeros := 0
	if spec.Of(f).Text.Groups == nil && hasEncoding(f, Text) {
		zeros = longestText(f) - spec.Of(f).Text.Lengths[0] // zeros at the start that are not written
	}
	for _, g := range groups {
		symbols := spec.Of(f).Text.Symbols
		if g.Symbols != "" {
			symbols = g.Symbols
		}
		v := new(big.Int).Set(w)
		if g.Low < 0 {
			v.Lsh(v, uint(-g.Low))
		} else {
			v.Rsh(v, uint(g.Low))
		}
		v.And(v, testids.Ones(g.Bits))
		part := make([]byte, g.Digits)
		for i := range part {
			digit := new(big.Int)
			v.DivMod(v, big.NewInt(int64(len(symbols))), digit)
			part[len(part)-1-i] = symbols[digit.Int64()]
		}
		text += g.Before + string(part)
	}
	for ; zeros > 0 && text[0] == spec.Of(f).Text.Symbols[0]; zeros-- {
		text = text[1:]
	}
	return strings.TrimRight(text, " ")
}

func rowOf(name string) *Format {
	return gencore.Must(Lookup(name))
}

func TestTypeID(t *testing.T) {
	now := time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
	v7 := AppendDetect(nil, "user_01h455vb4pex5vsknk084sn02q", now)
	if len(v7) != 1 || v7[0].Prefix != "user_" ||
		words.Time(v7[0].ID.Time()) != "2023-06-30T03:34:18.518Z" {
		t.Error(v7)
	}
	v4 := gencore.Must(rowOf("uuidv4").Parse(rowOf("uuidv4").Example()))
	timeless, err := rowOf("typeid").FromBytes(v4.Bytes())
	if err != nil || timeless.spec.Timed(&timeless.words) != nil || !timeless.Time().IsZero() ||
		!timeless.Plausible(now) {
		t.Error(timeless, err)
	}
}

// Formats whose IDs are in order of time have bounds. A TypeID has the bounds of the UUID inside.
func TestOthersBounds(t *testing.T) {
	from := time.Date(2026, 11, 17, 10, 30, 0, 0, time.UTC)
	var unordered []string
	for _, f := range others() {
		if _, _, err := f.Bounds(from, from.Add(time.Hour)); err != nil {
			unordered = append(unordered, f.Name())
		}
	}
	if got := strings.Join(unordered, " "); got != "uuidv1 uuidv2 uuidv3 uuidv4 uuidv5 uuidv8 "+
		"uuid-nil uuid-max cuid2 nanoid nuid stripe" {
		t.Error(got)
	}
	first, end, err := rowOf("typeid").Bounds(from, from.Add(time.Hour))
	a, b, err2 := rowOf("uuidv7").Bounds(from, from.Add(time.Hour))
	if err != nil || err2 != nil || first.words != a.words || end.words != b.words ||
		!a.Time().Equal(from) || !b.Time().Equal(from.Add(time.Hour)) {
		t.Errorf("%v to %v, %v; want %v to %v", first, end, err, a, b)
	}
}

// Bounds are the smallest integers of their ticks, and separate random IDs by timestamp.
func TestOthersBoundsPart(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	ticks := func(f *Format, w *big.Int) *big.Int {
		sum := new(big.Int)
		for _, field := range spec.Of(f).Layout {
			if field.Kind == spec.KindTime {
				v := new(big.Int).Rsh(w, uint(field.Low))
				v.And(v, testids.Ones(field.Bits))
				sum.Add(sum, v.Lsh(v, uint(field.Shift)))
			}
		}
		return sum
	}
	for _, f := range others() {
		if !f.Ordered() {
			continue
		}
		start, last := spec.Of(f).Span()
		for range 200 {
			id := testids.Random(r, spec.Of(f))
			tick := func(n int64) time.Time {
				of := ticks(f, id)
				of.Add(of, big.NewInt(n)).Mul(of, big.NewInt(int64(f.Tick())))
				seconds, nanos := new(big.Int).DivMod(of, big.NewInt(1e9), new(big.Int))
				return time.Unix(f.Epoch().Unix()+seconds.Int64(),
					int64(f.Epoch().Nanosecond())+nanos.Int64())
			}
			from, to := tick(-r.Int64N(3)), tick(r.Int64N(3))
			if from.Before(start) || to.After(last) || !from.Before(to) {
				continue
			}
			first, end, err := f.Bounds(from, to)
			if err != nil {
				t.Fatalf("%s: %v to %v: %v", f.Name(), from, to, err)
			}
			for at, bound := range map[time.Time]ID{from: first, to: end} {
				least := new(big.Int)
				n := ticks(f, bigOf(bound))
				for _, field := range spec.Of(f).Layout {
					v := new(big.Int).SetUint64(field.Value)
					if field.Kind == spec.KindTime {
						v.Rsh(n, uint(field.Shift))
						v.And(v, testids.Ones(field.Bits))
					}
					least.Or(least, v.Lsh(v, uint(field.Low)))
				}
				if bigOf(bound).Cmp(least) != 0 ||
					!bound.Time().Equal(at.Truncate(time.Millisecond)) &&
						f.Tick() >= time.Millisecond {
					t.Fatalf("%s: the bound of %v is %x of %v, want %x", f.Name(), at, bigOf(bound),
						bound.Time(), least)
				}
			}
			in := id.Cmp(bigOf(first)) >= 0 && id.Cmp(bigOf(end)) < 0
			n := ticks(f, id)
			want := n.Cmp(ticks(f, bigOf(first))) >= 0 && n.Cmp(ticks(f, bigOf(end))) < 0
			if in != want {
				t.Fatalf("%s: %x is in %v to %v: %v", f.Name(), id, from, to, in)
			}
		}
	}
}

// IDs convert to formats with the same time in the same bits, and back.
func TestConvert(t *testing.T) {
	const others = "uuid-base58 short-uuid shortuuid uuid-base62 uuid-base64"
	const boxed = "typeid " + others
	for text, want := range map[string]string{
		"ulid 01ARZ3NDEKTSV4RRFFQ69G5FAV":             "scru128 timeflake julid",
		"uuidv7 017f22e2-79b0-7cc3-98c4-dc0c0c07398f": "scru128 ulid julid timeflake " + boxed,
		"uuidv4 919108f7-52d1-4320-9bac-f847db4148a8": boxed,
		"typeid user_01h455vb4pex5vsknk084sn02q":      "uuidv7 " + others,
		"snowflake-discord 175928847299117063":        "",
		"snowflake-linkedin 7157450712540516352":      "snowflake-flake",
		"objectid 507f1f77bcf86cd799439011":           "xid",
		"uid60 xinaS8QBh":                             "",
	} {
		name, text, _ := strings.Cut(text, " ")
		id := gencore.Must(rowOf(name).Parse(text))
		n := 0
		for _, g := range All() {
			other, err := id.As(g)
			wanted := slices.Contains(strings.Fields(want), g.Name()) || g == id.Format()
			if (err == nil) != wanted {
				t.Errorf("%s as %s: %v, %v", name, g.Name(), other, err)
			}
			if err != nil {
				continue
			}
			n++
			if again, err := other.As(id.Format()); err != nil || again != id ||
				other.Time() != id.Time() {
				t.Errorf("%s as %s and back: %v, %v", name, g.Name(), again, err)
			}
		}
		if n != 1+len(strings.Fields(want)) {
			t.Errorf("%s: %d formats", name, n)
		}
	}
}

func BenchmarkDetect(b *testing.B) {
	now := time.Now()
	for _, f := range []*Format{SCRU128, SCRU64, rowOf("uuidv7"), rowOf("ulid")} {
		b.Run(f.Name(), func(b *testing.B) {
			var found []Candidate
			for b.Loop() {
				found = AppendDetect(found[:0], f.Example(), now)
			}
		})
	}
}
