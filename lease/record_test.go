package lease

import (
	"encoding/json"
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sortid/sortid/internal/check"
)

func TestBlock(t *testing.T) {
	for _, s := range []string{"0/0", "0/1", "1/1", "42/8", "255/8", "16777215/24",
		"16777215/25"} {
		b, err := ParseBlock(s)
		if err != nil || b.String() != s {
			t.Errorf("ParseBlock(%q) = %v, %v", s, b, err)
		}
	}
	for _, s := range []string{"", "/", "42", "42/", "/8", "256/8", "1/0", "0/26", "16777216/25",
		"042/8", "42/08", "+42/8", "-1/8", "42/8 ", "42/8/1", "0x2/8", "99999999999/24"} {
		b := Block{1, 1}
		if err := b.UnmarshalText([]byte(s)); !errors.Is(err, ErrBlock) || b != (Block{1, 1}) {
			t.Errorf("UnmarshalText(%q): %v, %v", s, b, err)
		}
	}
	for _, c := range []struct {
		b, c string
		want bool
	}{
		{"0/0", "0/0", true}, {"0/0", "5/3", true}, {"42/8", "42/8", true}, {"42/8", "84/9", true},
		{"42/8", "85/9", true},
		{"42/8", "86/9", false}, {"42/8", "21/7", false}, {"0/1", "16777215/24", false},
		{"1/1", "16777215/24", true},
	} {
		b, _ := ParseBlock(c.b)
		d, _ := ParseBlock(c.c)
		if b.Contains(d) != c.want {
			t.Errorf("%v contains %v: want %v", b, d, c.want)
		}
		if c.want && b != d && !b.toward(d).Contains(d) {
			t.Errorf("from %v toward %v: %v", b, d, b.toward(d))
		}
	}
	if b := (Block{42, 8}); b.child(0) != (Block{84, 9}) || b.child(1) != (Block{85, 9}) ||
		b.child(1).parent() != b {
		t.Error("the halves of 42/8 are wrong")
	}
}

// Stores write a record as JSON and read it back without loss.
func TestRecordJSON(t *testing.T) {
	r := Record{
		Realm: "realm@0123456789abcdef", Block: Block{42, 8}, Revision: 7, HWM: 6640625000,
		State: Whole,
		Owner: Owner{0xab, 15: 0xcd}, Request: 3, Deadline: 6640625117, Name: "host <1>",
	}
	text, err := json.Marshal(r)
	want := `{"realm":"realm@0123456789abcdef","block":"42/8","revision":"7","hwm":"6640625000",` +
		`"state":"whole","owner":"ab0000000000000000000000000000cd","request":"3",` +
		`"deadline":"6640625117","name":"host \u003c1\u003e"}`
	if err != nil || string(text) != want {
		t.Errorf("got  %s, %v\nwant %s", text, err, want)
	}
	root := Record{Realm: "realm", Revision: 1, State: Split, Terms: Config{Format: UID60()}.terms(),
		Generation: "0123456789abcdef"}
	for _, r := range []Record{r, root, {}, {State: Merging, HWM: -1, Revision: 1<<64 - 1}} {
		text, err := json.Marshal(r)
		var got Record
		if err := errors.Join(err, json.Unmarshal(text, &got)); err != nil || got != r {
			t.Errorf("%s: %+v, %v, want %+v", text, got, err, r)
		}
	}
	for _, bad := range []string{`{"state":"broken"}`, `{"owner":"ab"}`,
		`{"owner":"zz000000000000000000000000000000"}`, `{"block":"1/0"}`} {
		if err := json.Unmarshal([]byte(bad), &r); err == nil {
			t.Errorf("%s: no error", bad)
		}
	}
	if _, err := State(9).MarshalText(); err == nil || State(9).String() != "state 9" {
		t.Errorf("state 9: %v", err)
	}
}

func TestTerms(t *testing.T) {
	terms := Terms{Tick: 256, Epoch: 1000}
	for _, c := range []struct{ ms, tick int64 }{
		{1000, 0}, {1255, 0}, {1256, 1}, {999, -1}, {744, -1}, {743, -2},
		{1000 + 256*6640625000, 6640625000},
	} {
		if got := terms.At(time.UnixMilli(c.ms)); got != c.tick {
			t.Errorf("at %d ms the tick is %d, want %d", c.ms, got, c.tick)
		}
		if got := terms.Time(c.tick).UnixMilli(); got > c.ms || got+256 <= c.ms {
			t.Errorf("tick %d begins at %d ms, but %d ms must be in it", c.tick, got, c.ms)
		}
	}
	if d := terms.Duration(4); d != 1024*time.Millisecond {
		t.Errorf("4 ticks are %v", d)
	}
}

// No grant starts below hwm, ends too late, or starts further ahead than the lead.
func TestGrants(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	me, other := Owner{1}, Owner{2}
	for range 100_000 {
		is := Record{
			Revision: r.Uint64N(3), HWM: r.Int64N(40), State: State(r.IntN(4)),
			Owner: []Owner{{}, me, other}[r.IntN(3)], Deadline: r.Int64N(40), Key: Owner{9},
		}
		q := request{owner: me, nonce: 5, name: "me", now: r.Int64N(40), at: r.Int64N(40),
			window: 1 + r.Int64N(10), lead: r.Int64N(5)}

		next, err := q.grant(is)
		takable := is.State == Whole && (is.Owner == Owner{} || q.now >= is.Deadline)
		near := max(is.HWM, q.now, q.at) <= q.now+q.lead
		if (err == nil) != (takable && near) {
			t.Fatalf("%+v is granted %+v: %v", q, is, err)
		}
		if err == nil {
			if lo := next.From; lo < is.HWM || lo < q.now || next.HWM < lo+q.window ||
				next.HWM > q.now+q.lead+q.window ||
				next.Owner != me || next.Request != 5 || next.Name != "me" ||
				next.Deadline <= next.HWM-1 || next.State != Whole || (next.Key != Owner{}) {
				t.Fatalf("%+v is granted %+v: %+v", q, is, next)
			}
		} else if next != is {
			t.Fatalf("the grant is refused, but %+v becomes %+v", is, next)
		}

		next, err = q.extend(is)
		if (err == nil) != (is.State == Whole && is.Owner == me && q.at <= q.now+q.lead) {
			t.Fatalf("%+v extends %+v: %v", q, is, err)
		}
		if err != nil && next != is || next.HWM < is.HWM ||
			next.HWM > max(is.HWM, q.now+q.lead+q.window) ||
			err == nil && next.HWM < max(q.now, q.at)+q.window {
			t.Fatalf("%+v extends %+v: %+v", q, is, next)
		}

		low, used := r.Int64N(40), r.Int64N(40)
		is.From = low
		for _, change := range []func(r *Record){
			func(r *Record) { r.Revision++ }, func(r *Record) { r.HWM++ },
			func(r *Record) { r.Request++ }, func(r *Record) { r.Owner[3]++ },
		} {
			held := is
			change(&held)
			if next, err := release(is, held, used); err != errRefused || next != is {
				t.Fatalf("release of %+v by the holder of %+v: %+v, %v", is, held, next, err)
			}
		}
		next, err = release(is, is, used)
		if (err == nil) != (is.State == Whole) {
			t.Fatalf("release of %+v: %v", is, err)
		}
		if err == nil && (next.HWM > is.HWM || next.HWM < is.HWM &&
			(next.HWM <= used || next.HWM < low) || next.Owner != Owner{}) {
			t.Fatalf("release of %+v, granted from tick %d on, tick %d used last: %+v", is,
				low, used, next)
		}
	}
}

func TestHeldIsLeftAlone(t *testing.T) {
	held := Record{Revision: 1, HWM: 20, State: Whole, Owner: Owner{1}, Request: 1, Deadline: 30,
		Name: "me"}
	for what, change := range map[string]func(Record,
		int64) (Record, error){"split": split, "retire": retire} {
		if next, err := change(held, 29); err != errRefused || next != held {
			t.Errorf("%s before the deadline: %+v, %v", what, next, err)
		}
		if next, err := change(held, 30); err != nil || next.Owner != (Owner{}) ||
			next.Deadline != 0 || next.HWM != 20 || next.State == Whole {
			t.Errorf("%s at the deadline: %+v, %v", what, next, err)
		}
	}
}

// parseRecords reads records such as "0/1 whole 50" and "0/1 whole 50 held".
func parseRecords(t *testing.T, text string) (records []Record) {
	t.Helper()
	for line := range strings.SplitSeq(text, ", ") {
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		r := Record{Revision: 1}
		hwm, err := strconv.ParseInt(fields[2], 10, 64)
		check.OK(t, errors.Join(err, r.Block.UnmarshalText([]byte(fields[0])),
			r.State.UnmarshalText([]byte(fields[1]))))
		if r.HWM = hwm; len(fields) > 3 {
			r.Owner, r.Deadline = Owner{1}, 1000
		}
		records = append(records, r)
	}
	return records
}

func choices(v *survey, times, attempts int, r *rand.Rand) map[string]bool {
	blocks := map[string]bool{}
	for range times {
		if b, ok := v.choose(Block{}, 10, attempts, r); ok {
			blocks[b.String()] = true
		}
	}
	return blocks
}

// The survey finds every free block. It prefers the smallest block that can be granted at once.
func TestChoose(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, c := range []struct {
		name    string
		size    uint8
		records string
		best    string
		want    string // all blocks that the first attempt may choose
	}{
		{"an empty realm", 1, "", "0/1", "0/1 1/1"},
		{"an empty realm", 2, "", "0/1", "0/2 1/2 2/2 3/2"},
		{"an empty realm, the first few", 5, "", "0/1", "0/5 1/5 2/5 3/5 4/5 5/5 6/5 7/5"},
		{"the other half", 1, "0/1 whole 50 held", "1/1", "1/1"},
		{"expired", 1, "0/1 whole 50 held, 1/1 whole 50", "1/1", "1/1"},
		{"a half that is split", 2, "0/1 split 50, 0/2 whole 60 held", "1/2", "1/2 2/2 3/2"},
		{"a half that is split, the first few", 5, "0/1 split 50, 0/2 whole 60 held", "1/2",
			"10/5 11/5 12/5 13/5 14/5 15/5 8/5 9/5"},
		{"a free block before a larger one", 2, "0/1 whole 0, 1/1 split 0, 2/2 whole 60 held",
			"3/2", "0/2 1/2 3/2"},
		{"not a block that is free only in the future", 2,
			"0/1 split 0, 0/2 whole 105, 1/2 whole 50 held, 1/1 whole 60", "1/1", "2/2 3/2"},
		{"a block that is free within the lead", 2,
			"0/1 split 0, 0/2 whole 105, 1/2 whole 50 held, 1/1 whole 60 held", "0/2", "0/2"},
		{"no block that is too far ahead", 2,
			"0/1 split 0, 0/2 whole 111, 1/2 whole 50 held, 1/1 whole 60 held", "", ""},
		{"no block inside one that is too far ahead", 2, "0/1 split 111, 1/1 whole 111", "", ""},
		{"a merge", 1, "0/1 split 0, 0/2 split 0, 0/3 whole 50, 1/1 whole 60 held", "0/1", "0/1"},
		{"no merge of a held block", 1,
			"0/1 merging 0, 0/2 split 0, 1/3 whole 50 held, 1/1 whole 60 held", "", ""},
		{"no merge too far ahead", 1, "0/1 split 0, 0/2 split 0, 1/3 whole 111, 1/1 whole 60 held",
			"", ""},
		{"a merge that spares a larger block", 2,
			"0/1 split 0, 0/2 split 0, 0/3 whole 0, 1/2 whole 50 held", "0/2", "0/2 2/2 3/2"},
		{"a merge under way is left alone if another block is free", 2,
			"0/1 merging 0, 0/2 whole 0, 1/2 whole 0, 1/1 split 0", "2/2", "0/2 1/2 2/2 3/2"},
	} {
		v := newSurvey(parseRecords(t, c.records), 0, 100, c.size, false)
		if u := v.usable(10); len(u) > 0 && u[0].block.String() != c.best || len(u) == 0 &&
			c.best != "" {
			t.Errorf("%s: the first of %v, want %s", c.name, u, c.best)
		}
		names := slices.Sorted(maps.Keys(choices(v, 500, 0, r)))
		if s := strings.Join(names, " "); s != c.want {
			t.Errorf("%s: %d bits out of %v: chose %q, want %q", c.name, c.size, c.records, s,
				c.want)
		}
		wide := choices(v, 2000, 60, r)
		if len(wide) < len(names) || c.records == "" && len(wide) != 1<<c.size {
			t.Errorf("%s: after many attempts it chose %d different blocks", c.name, len(wide))
		}
	}
	if b, ok := newSurvey(nil, 111, 100, 2, false).choose(Block{}, 10, 0, r); ok {
		t.Errorf("below the floor: %v", b)
	}
}

func TestErrors(t *testing.T) {
	lead := &LeadError{Realm: "realm", Block: Block{42, 8}, Ahead: time.Hour, Max: 10 * time.Second,
		Until: time.UnixMilli(0).UTC()}
	at := lead.Until
	full := &FullError{Realm: "realm", Size: 8, All: 256, Waiting: 254, From: at.Add(-time.Hour),
		Held: []Record{{Block: Block{1, 8}, Owner: Owner{0xab, 0xcd}},
			{Block: Block{2, 8}, Name: "host"}}, Until: []time.Time{at, at}}
	held, waiting := *full, *full
	held.Waiting, held.From = 0, at
	waiting.Waiting, waiting.Held, waiting.Until = 256, nil, nil
	const holders = `; held: 1/8 by abcd0000 until 1970-01-01T00:00:00.000Z, ` +
		`2/8 by host until 1970-01-01T00:00:00.000Z`
	for _, c := range []struct{ got, want string }{
		{lead.Error(),
			`lease: node ID 42/8 of realm "realm" can be used from 1970-01-01T00:00:00.000Z on, ` +
				`which is 1h0m0s in the future; at most 10s are allowed`},
		{(&LeadError{Realm: "realm"}).Error(),
			`lease: node IDs of realm "realm" can be used from 0001-01-01T00:00:00.000Z on, ` +
				`which is 0s in the future; at most 0s are allowed`},
		{full.Error(),
			`lease: no free node ID of 8 bits in realm "realm": ` +
				`all 256 are held (2) or wait after their last use (254); ` +
				`the next can be had from 1969-12-31T23:00:00.000Z on, ` +
				`or earlier if a holder gives its node ID back` + holders},
		{held.Error(),
			`lease: no free node ID of 8 bits in realm "realm": all 256 are held; ` +
				`the next can be had from 1970-01-01T00:00:00.000Z on, unless its holder renews it, ` +
				`or earlier if a holder gives its node ID back` + holders},
		{waiting.Error(),
			`lease: no free node ID of 8 bits in realm "realm": ` +
				`all 256 wait after their last use; ` +
				`the next can be had from 1969-12-31T23:00:00.000Z on`},
	} {
		if c.got != c.want {
			t.Errorf("got  %s\nwant %s", c.got, c.want)
		}
	}
}

func TestMatches(t *testing.T) {
	none, one := Record{}, Record{Revision: 1, HWM: 5}
	for _, c := range []struct {
		is, was Record
		want    bool
	}{
		{none, none, true},
		{none, Record{HWM: 5}, true}, // revision 0: the caller expects no record
		{none, one, false},
		{one, none, false},
		{one, one, true},
		{one, Record{Revision: 1, HWM: 5, Name: "other"}, true},
		{one, Record{Revision: 1, HWM: 6}, false},
		{one, Record{Revision: 2, HWM: 5}, false},
		{one, Record{HWM: 5}, false},
	} {
		if got := c.is.Matches(c.was); got != c.want {
			t.Errorf("%+v instead of %+v: %v", c.is, c.was, got)
		}
	}
}

func TestRounded(t *testing.T) {
	for _, c := range []struct {
		tick  int64
		d     time.Duration
		ticks int64
	}{
		{256, time.Minute, 235}, {256, 50 * time.Second, 196}, {256, 10 * time.Second, 40},
		{256, 1500 * time.Millisecond, 6},
		{256, 256 * time.Millisecond, 1}, {256, 24 * time.Hour, 337500}, {1, time.Minute, 60000},
		{1, 1234 * time.Millisecond, 1234},
	} {
		terms := Terms{Tick: c.tick}
		n := terms.ticks(c.d)
		if n != c.ticks || terms.Duration(n) < c.d {
			t.Errorf("%v is %d ticks of %d ms, want %d", c.d, n, c.tick, c.ticks)
		}
		if d := terms.Rounded(n); d != c.d && c.d != 256*time.Millisecond {
			t.Errorf("%d ticks of %d ms are shown as %v, want %v", n, c.tick, d, c.d)
		}
	}
}
