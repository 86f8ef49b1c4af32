package uid60

import (
	"errors"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sortid/sortid"
	"github.com/sortid/sortid/internal/conformance"
)

var limit = new(big.Int).Lsh(big.NewInt(1), 60)

var symbols = "ABCDEFGHIJKLMNOPQRSTUVWXYZ" + strings.ToLower("ABCDEFGHIJKLMNOPQRSTUVWXYZ") +
	"0123456789" + "-_"

func text(n *big.Int) string {
	var digits []byte
	rest, digit := new(big.Int).Set(n), new(big.Int)
	for rest.Sign() > 0 || len(digits) < 4 {
		rest.DivMod(rest, big.NewInt(64), digit)
		digits = append(digits, symbols[digit.Int64()])
	}
	slices.Reverse(digits)
	last := len(digits) - 2
	return string(digits[last:]) + string(digits[:last])
}

func number(s string) (*big.Int, bool) {
	if len(s) < 4 || len(s) > 10 {
		return nil, false
	}
	n := new(big.Int)
	for _, c := range []byte(s[2:] + s[:2]) {
		digit := strings.IndexByte(symbols, c)
		if digit < 0 {
			return nil, false
		}
		n.Add(n.Mul(n, big.NewInt(64)), big.NewInt(int64(digit)))
	}
	return n, true
}

var codec = conformance.Codec[ID]{
	Format: "uid60", Limit: limit, Size: Size,
	Parse: Parse, MustParse: MustParse, First: First,
	Text: text, Number: number,
	Fields: func(id ID) map[string]string {
		return map[string]string{
			"timestamp": strconv.FormatUint(id.Timestamp(), 10),
			"sequence":  strconv.FormatUint(uint64(id.Sequence()), 10),
			"random":    strconv.FormatUint(uint64(id.Random()), 10),
		}
	},
	Document: conformance.Document{
		Layout:  "timestamp 42 sequence 9 random 9",
		Printed: "xinaS8QBh", Integers: map[string]string{"xinaS8QBh": "11093174944930914"},
		Time: func(timestamp int64) time.Time {
			return time.UnixMilli(time.Date(2018, 3, 1, 0, 0, 0, 0, time.UTC).UnixMilli() + timestamp)
		},
		Variants: func(s string) map[string]string {
			padded := s[:2] + "A" + s[2:]
			return map[string]string{"one A of padding": padded, "padding to 10": padded}
		},
		Invalid: append(conformance.WrongSymbols("xinaS8QBh", "+/=@ [`{.,:~"),
			conformance.WrongLengths("characters", "", "x", "xi", "xin", "xinaS8QBhxi",
				"xinaS8QBhxinaS8QBh")...),
		Underscored: []string{"_-_-_-_-_-", "xi_aS8QBh", "xiAnaS8QB_"},
	},
}

func TestCodec(t *testing.T) { codec.Run(t) }

func FuzzParse(f *testing.F) { codec.Fuzz(f) }

// Short integers have four digits, and texts with more padding parse.
func TestPadding(t *testing.T) {
	for v := range uint64(1 << 18) {
		id := ID(v)
		s := id.String()
		if want := text(new(big.Int).SetUint64(v)); len(s) != 4 || v < 1<<10 && s != want {
			t.Fatalf("the text of %d is %q, want %q", v, s, want)
		}
		for n := range 7 {
			padded := s[:2] + strings.Repeat("A", n) + s[2:]
			if got, err := Parse(padded); got != id || err != nil {
				t.Fatalf("Parse(%q) = %d, %v, want %d", padded, got.Uint64(), err, v)
			}
		}
	}
	for s, v := range map[string]uint64{
		"AAAA": 0, "ABAA": 1, "A_AA": 63, "BAAA": 64, "__AA": 1<<12 - 1, "AAAB": 1 << 12,
		"AABA": 1 << 18,
		"____": 1<<24 - 1, "AABAA": 1 << 24, "__________": 1<<60 - 1,
		"xinaS8QBh": 11093174944930914,
	} {
		if got := ID(v).String(); got != s {
			t.Errorf("the text of %d is %q, want %q", v, got, s)
		}
	}
	// Here A is a digit and not padding, so these are other IDs.
	for _, s := range []string{"AxinaS8QBh", "xinaS8QBhA"} {
		if got, err := Parse(s); err != nil || got == MustParse("xinaS8QBh") {
			t.Errorf("Parse(%q) = %v, %v", s, got, err)
		}
	}
	if got := MustParse("xiAnaS8QBh"); got != MustParse("xinaS8QBh") ||
		got.String() != "xinaS8QBh" {
		t.Errorf("a padded text parsed as %v", got)
	}
	for at := range 10 {
		for _, c := range symbols {
			s := "xinaS8QBhB"[:at] + string(c) + "xinaS8QBhB"[at+1:]
			want, _ := number(s)
			if got, err := Parse(s); err != nil || want.Cmp(conformance.Big(got)) != 0 {
				t.Fatalf("Parse(%q) = %d, %v, want %v", s, got.Uint64(), err, want)
			}
		}
	}
}

func TestCase(t *testing.T) {
	if a, b := MustParse("xinaS8QBh"), MustParse("XINAs8qbH"); a == b {
		t.Errorf("%d in upper and in lower case", a.Uint64())
	}
}

func TestTextLength(t *testing.T) {
	tenth := ID(1 << 54)
	if n := len(tenth.String()); n != 10 || tenth.Time().Format("2006-01") != "2020-05" {
		t.Errorf("%v has %d characters and is of %v", tenth, n, tenth.Time())
	}
	if n := len((tenth - 1).String()); n != 9 {
		t.Errorf("%v has %d characters", tenth-1, n)
	}
}

func TestFromFields(t *testing.T) {
	for _, c := range []struct {
		timestamp        uint64
		sequence, random uint16
		wrong            string
		want             ID
	}{
		{42317104129, 270, 98, "", 11093174944930914},
		{0, 0, 0, "", 0},
		{MaxTimestamp, MaxSequence, MaxRandom, "", Max()},
		{MaxTimestamp + 1, 0, 0, "timestamp", 0},
		{1<<64 - 1, 0, 0, "timestamp", 0},
		{0, MaxSequence + 1, 0, "sequence", 0},
		{0, 0, MaxRandom + 1, "random", 0},
		{0, 0, 1<<16 - 1, "random", 0},
	} {
		id, err := FromFields(c.timestamp, c.sequence, c.random)
		if c.wrong == "" && (err != nil || id != c.want || id.Timestamp() != c.timestamp ||
			id.Sequence() != c.sequence || id.Random() != c.random) {
			t.Errorf("FromFields(%d, %d, %d) = %v, %v, want %v", c.timestamp, c.sequence, c.random,
				id, err, c.want)
		}
		if c.wrong != "" && (id != 0 || !errors.Is(err, sortid.ErrField) ||
			!strings.Contains(err.Error(), c.wrong)) {
			t.Errorf("FromFields(%d, %d, %d) = %v, %v, want sortid.ErrField that names %s",
				c.timestamp, c.sequence, c.random, id, err, c.wrong)
		}
	}
}

func TestFirstAtTheEnds(t *testing.T) {
	for ms, want := range map[int64]ID{
		epoch - 1: 0, epoch: 0, epoch + 1: 1 << 18,
		epoch + MaxTimestamp - 1: (MaxTimestamp - 1) << 18,
		epoch + MaxTimestamp:     MaxTimestamp << 18,
		epoch + MaxTimestamp + 1: Max(),
	} {
		if got := First(time.UnixMilli(ms)); got != want {
			t.Errorf("First at %d ms is %d, want %d", ms, uint64(got), uint64(want))
		}
	}
	if got := time.UnixMilli(epoch).UTC().Format(time.RFC3339Nano); got != "2018-03-01T00:00:00Z" {
		t.Errorf("the epoch is %s", got)
	}
}

func TestWorker(t *testing.T) {
	id, _ := FromFields(1, 2, 0b101100111)
	for bits, want := range map[int]uint16{
		-1: 0, 0: 0, 1: 0b1, 2: 0b10, 3: 0b101, 4: 0b1011, 5: 0b10110, 6: 0b101100,
		7: 0b1011001, 8: 0b10110011, 9: 0b101100111, 10: 0b101100111, 100: 0b101100111,
	} {
		if got := id.Worker(bits); got != want {
			t.Errorf("Worker(%d) = %b, want %b", bits, got, want)
		}
	}
}

func TestAboveMax(t *testing.T) { conformance.AboveMax[ID, Text](t, Max(), FromUint64, Parse) }

func TestSQLForms(t *testing.T) {
	id := MustParse("xinaS8QBh")
	if v, err := id.Value(); v != int64(11093174944930914) || err != nil {
		t.Errorf("Value = %v, %v", v, err)
	}
	conformance.Column(t, id, Text(id), "xinaS8QBh", int64(id), id.String(), []byte(id.String()),
		"xiAnaS8QBh")
	var got ID
	if err := got.Scan(uint64(Max())); err != nil || got != Max() {
		t.Errorf("Scan of the largest uint64: %v, %v", got, err)
	}
	if err := got.Scan(uint64(Max()) + 1); !errors.Is(err, sortid.ErrRange) || got != Max() {
		t.Errorf("Scan of a uint64 too large: %v, %v", got, err)
	}
	if err := got.Scan([]byte("AAAAAAAB")); err != nil || got != 1<<12 {
		t.Errorf("Scan of eight characters: %v, %v", got, err)
	}
	if err := got.Scan(make([]byte, 8)); !errors.Is(err, sortid.ErrSymbol) {
		t.Errorf("Scan of eight zero bytes: %v, %v", got, err)
	}
}
