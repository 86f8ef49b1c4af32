package verify

import (
	"math"
	"math/bits"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/internal/integer"
	"github.com/sortid/sortid/internal/spec"
	"github.com/sortid/sortid/verify/internal/controls"
)

// A twin is a stream of an ideal generator with one fault. Without the fault, TestIdeals passes it.
type twin struct {
	format, name string
	rate         float64
	fault        string
	want         string // what the check that must fail begins with; then others that may fail
	word         string // in the detail or an example of this check
	edit         func(*stream)
}

// A stream is a list of IDs to change.
type stream struct {
	f    *format.Format
	list []integer.Words
}

// set writes the lowest bits of a value at a field, or its part that begins at the bit low.
func (s *stream) set(i int, field string, value uint64) {
	for _, f := range s.f.Layout() {
		if f.Name == field {
			mask := integer.Ones(f.Bits).Shift(f.Low)
			s.list[i] = s.list[i].AndNot(mask).Or(integer.Words{Low: value}.Shift(f.Low).And(mask))
		}
	}
}

func (s *stream) get(i int, field string) uint64 {
	for _, f := range s.f.Layout() {
		if f.Name == field {
			place := integer.PlaceOf(f.Low, f.Bits)
			return place.Of(&s.list[i])
		}
	}
	panic(field)
}

// each sets a field of all IDs.
func each(field string, value func(s *stream, i int) uint64) func(*stream) {
	return func(s *stream) {
		for i := range s.list {
			s.set(i, field, value(s, i))
		}
	}
}

// reversed has the bytes of a field in the reverse order.
func reversed(field string, size int) func(*stream, int) uint64 {
	return func(s *stream, i int) uint64 { return bits.ReverseBytes64(s.get(i, field)) >> (64 - size) }
}

func zero(*stream, int) uint64 { return 0 }

// restarting counts the IDs of a tick from a start.
func restarting(time, counter string, start uint64) func(*stream) {
	return func(s *stream) {
		n := start
		for i := range s.list {
			if n++; i == 0 || s.get(i, time) != s.get(i-1, time) {
				n = start
			}
			s.set(i, counter, n)
		}
	}
}

func bit(field string, position int, on bool) func(*stream) {
	return func(s *stream) {
		low := 0
		for _, f := range s.f.Layout() {
			if f.Name == field {
				low = f.Low
			}
		}
		bit := integer.Ones(1).Shift(low + position)
		for i := range s.list {
			if s.list[i] = s.list[i].Or(bit); !on {
				s.list[i] = s.list[i].AndNot(bit)
			}
		}
	}
}

func swapped(s *stream) { s.list[5000], s.list[5001] = s.list[5001], s.list[5000] }

func doubled(s *stream) { s.list[6001] = s.list[6000] }

func back(s *stream) {
	rest := slices.Clone(s.list[:9000])
	copy(s.list, s.list[9000:18_000])
	copy(s.list[9000:], rest)
	s.list = s.list[:18_000]
}

var twins = []twin{
	{"uuidv7", "random", 0.1, "swapped", "clock.rollback", "goes back", swapped},
	{"uuidv7", "random", 1, "a stuck bit", "random.rand_b.first.same", "bit 7 ", bit("rand_b", 7, false)},
	{"uuidv7", "random", 1000, "a stuck bit", "random.rand_b.same", "bit 7 ", bit("rand_b", 7, true)},
	{"uuidv7", "random", 100_000, "a stuck bit", "random.rand_a.same", "bit 3 ", bit("rand_a", 3, true)},
	{"ulid", "random", 100_000, "a top bit of 0", "random.randomness.high.same", "bit 39 is always 0",
		bit("randomness", 79, false)},
	{"uuidv7", "random", 100_000, "a top bit of 0", "random.rand_b.same", "bit 61 is always 0",
		bit("rand_b", 61, false)},
	{"uuidv7", "finer time", 100_000, "a top bit of 0", "random.rand_b.same", "bit 61 is always 0",
		bit("rand_b", 61, false)},
	{"nano64", "random", 100_000, "a top bit of 0", "random.random.same", "bit 19 is always 0",
		bit("random", 19, false)},
	{"uuidv7", "random", 1000, "a rollback", "clock.rollback", "goes back", back},
	{"uuidv7", "counter of 42 bits", 100_000, "swapped", "order.swapped", "smaller", swapped},
	{"uuidv7", "continuing", 10, "a stuck bit", "random.rand_b.same", "bit 9 ", bit("rand_b", 9, true)},
	{"uuidv7", "finer time", 100_000, "swapped", "order.swapped", "smaller", swapped},
	{"uuidv7", "10 bits of a finer time", 10_000, "swapped", "order.swapped", "smaller", swapped},
	{"uuidv7", "4 bits of a finer time", 100_000, "a stuck bit", "random.rand_a.same", "bit 3 ",
		bit("rand_a", 3, true)},
	{"uuidv7", "1 bit of a finer time", 100_000, "a stuck bit", "random.rand_a.same", "bit 10 ",
		bit("rand_a", 10, false)},
	{"snowflake-twitter", "from 0", 100_000, "swapped", "order.swapped", "smaller", swapped},
	{"snowflake-twitter", "from 0", 1000, "doubled", "order.duplicate", "same", doubled},
	{"snowflake-instagram", "continuing", 8000, "a rollback", "clock.rollback", "goes back", back},
	{"snowflake-instagram", "continuing", 8000, "doubled", "order.duplicate", "same", doubled},
	{"snowflake-discord", "continuing", 8000, "another worker", "rules.worker", "changes",
		func(s *stream) { s.set(7000, "worker", 21) }},
	{"snowflake-mastodon", "hashed", 8000, "doubled", "order.duplicate", "same", doubled},
	{"snowflake-simpleflake", "random", 100_000, "many repeats", "order.duplicate", "chance",
		func(s *stream) {
			for i := 100; i < 20_000; i += 100 {
				s.list[i+1] = s.list[i]
			}
		}},
	{"objectid", "continuing", 1000, "a counter that restarts", "rules.counter", "in a new tick",
		restarting("timestamp", "counter", 77)},
	{"objectid", "continuing", 0.1, "a counter that restarts", "rules.counter", "in a new tick",
		restarting("timestamp", "counter", 77)},
	{"objectid", "continuing", 1000, "the lowest byte first", "rules.counter.bytes", "reversed",
		each("counter", reversed("counter", 24))},
	{"objectid", "continuing", 0.1, "the lowest byte first", "rules.counter.bytes", "reversed",
		each("counter", reversed("counter", 24))},
	{"xid", "continuing", 10, "the lowest byte first", "rules.counter.bytes", "reversed",
		each("counter", reversed("counter", 24))},
	{"julid", "from 0", 8000, "the lowest byte first", "rules.counter.bytes", "reversed",
		each("counter", reversed("counter", 16))},
	{"flake", "from 0", 8000, "the lowest byte first", "rules.sequence.bytes", "reversed",
		each("sequence", reversed("sequence", 16))},
	{"xid", "continuing", 1000, "a counter that restarts", "rules.counter", "in a new tick",
		restarting("time", "counter", 0)},
	{"julid", "from 0", 8000, "no counter", "rules.repeat", "counter is 0", each("counter", zero)},
	{"orderlyid", "from 0", 8000, "no sequence", "rules.repeat", "seq is 0", each("seq", zero)},
	{"cuid", "continuing", 1000, "a stuck digit", "random.random.", "", each("random",
		func(s *stream, i int) uint64 { return s.get(i, "random") % (36 * 36 * 36) })},
	{"tsid", "10 node bits", 1000, "another node", "rules.node", "changes",
		func(s *stream) {
			for i := 9000; i < len(s.list); i++ {
				s.set(i, "random", s.get(i, "random")^1<<20)
			}
		}},
	{"tsid", "10 node bits", 1000, "a stuck bit", "random.random.same order.duplicate",
		"bit 2 ", bit("random", 2, true)},
	{"ulid", "monotonic", 1, "a stuck bit", "random.randomness.first.low.same", "bit 5 ",
		bit("randomness", 5, false)},
	{"ksuid", "random", 1000, "doubled", "order.duplicate", "same", doubled},
	{"sonyflake", "from 0", 1, "seconds", "clock.unit order.duplicate", "in seconds", each("time",
		func(s *stream, i int) uint64 { return s.get(i, "time") / 100 })},
	{"uuidv7", "random", 10, "seconds", "clock.unit",
		"in seconds, not in milliseconds; then they are from 2024-05-06",
		retimed(func(ms uint64) uint64 { return ms / 1000 })},
	{"uuidv7", "random", 10, "epoch 2000", "clock.epoch", "with 2000-01-01, the newest ID is of 2024-05-06",
		retimed(func(ms uint64) uint64 { return ms - 946_684_800_000 })},
	{"ulid", "random", 10, "an odd epoch", "clock.epoch", "not 1970-01-01; if the newest ID is of now, from",
		retimed(func(ms uint64) uint64 { return ms - 1_234_567_890_123 })},
	{"uuidv7", "random", 10, "swapped bytes", "clock.bits", "bytes of the timestamps",
		retimed(func(ms uint64) uint64 { return bits.ReverseBytes64(ms) >> 16 })},
	{"snowflake-discord", "continuing", 10, "swapped bytes", "clock.bits", "bytes of the IDs",
		func(s *stream) {
			for i := range s.list {
				s.list[i].Low = bits.ReverseBytes64(s.list[i].Low)
			}
		}},
	{"ulid", "random", 10, "32 bits of time", "clock.bits", "low 32 bits",
		retimed(func(ms uint64) uint64 { return ms & math.MaxUint32 })},
	{"uuidv7", "random", 1000, "microseconds", "clock.unit", "low bits of microseconds",
		retimed(func(ms uint64) uint64 { return ms * 1000 })},
	{"sonyflake", "from 0", 10, "milliseconds", "clock.unit", "in milliseconds",
		each("time", func(s *stream, i int) uint64 { return s.get(i, "time")*10 + 3 })},
	{"ulid", "guard bit", 10, "a biased bit", "random.randomness.first.low.balance " +
		"random.randomness.first.low.bytes random.randomness.first.low.runs", "bit 20 ",
		func(s *stream) {
			for i := 0; i < len(s.list); i += 5 {
				s.list[i].Low |= 1 << 20
			}
		}},
	{"datadog-trace", "63 bits", 10, "a biased bit", "random.random.balance " +
		"random.random.bytes random.random.runs", "bit 20 ", func(s *stream) {
		for i := 0; i < len(s.list); i += 5 {
			s.list[i].Low |= 1 << 20
		}
	}},
	{"uuidv4", "random", 1, "a stuck bit", "random.random_c.same", "bit 7 ", bit("random_c", 7, true)},
	{"uuidv4", "random", 1, "doubled", "order.duplicate", "the same as in line 6001", doubled},
	{"uuid-base58", "version 4", 1, "a stuck bit", "random.random_a.same", "bit 46 ",
		func(s *stream) {
			for i := range s.list {
				s.list[i].Mid |= 1 << 62
			}
		}},
	{"short-uuid", "version 4", 1, "doubled", "order.duplicate", "the same as in line 6001", doubled},
	{"uuid-base62", "version 4", 1, "another version", "rules.version", "0101",
		func(s *stream) { s.list[500].Mid ^= 1 << 12 }},
	{"nanoid", "random", 1, "far apart", "order.duplicate random.random.high.repeats " +
		"random.random.low.repeats random.random.high.bytes random.random.low.bytes",
		"line 1", func(s *stream) { copy(s.list[10_000:], s.list[:10_000]) }},
	{"cuid2", "random", 1, "few letters", "random.first", "",
		each("letter", func(s *stream, i int) uint64 { return s.get(i, "letter") & 15 })},
	{"stripe", "cus_random", 1, "doubled", "order.duplicate", "the same as in line 6001", doubled},
	{"ksuid", "random", 10, "the Unix epoch", "clock.epoch", "with 1970-01-01, the newest ID is of 2024-05-06",
		each("timestamp", func(s *stream, i int) uint64 { return s.get(i, "timestamp") + 1_400_000_000 })},
}

// retimed changes the Unix milliseconds of UUIDv7s and ULIDs.
func retimed(change func(ms uint64) uint64) func(*stream) {
	return func(s *stream) {
		name := s.f.Layout()[0].Name
		for i := range s.list {
			s.set(i, name, change(s.get(i, name)))
		}
	}
}

func TestTwins(t *testing.T) {
	for i, w := range twins {
		if testing.Short() && i%4 > 1 {
			continue
		}
		// People also test old logs.
		o := Options{Now: func() time.Time { return controls.Now.AddDate(0, 1+20*(i%2), 0) }}
		t.Run(w.format+"/"+w.name+"/"+w.fault, func(t *testing.T) {
			at := slices.IndexFunc(controls.Ideals, func(d controls.Ideal) bool {
				return d.Format == w.format && d.Name == w.name
			})
			f, err := format.Lookup(w.format)
			if err != nil {
				t.Fatal(err)
			}
			s := &stream{f: f}
			for _, line := range controls.Ideals[at].Make(7, w.rate, 20_000) {
				id, err := f.ParseAs(f.Encodings()[0], line)
				if err != nil {
					t.Fatal(err)
				}
				s.list = append(s.list, integer.FromArray(id.Words()))
			}
			w.edit(s)
			var lines []string
			for _, v := range s.list {
				id, err := f.FromWords(v.Array())
				if err != nil {
					t.Fatal(err)
				}
				text := id.In(f.Encodings()[0])
				if f.Name() == "stripe" {
					text = "cus_" + text
				} else if spec.Of(f).Text.Prefix != nil {
					text = "order_" + text
				}
				lines = append(lines, text)
			}
			r := check(t, w.format, lines, o)
			want, found := strings.Fields(w.want), false
			for _, c := range r.Failed() {
				if !strings.HasPrefix(c.Name, want[0]) {
					if !slices.Contains(want, c.Name) {
						t.Errorf("%s fails: %s, %+v", c.Name, c.Detail, c.Examples)
					}
					continue
				}
				found = true
				text := c.Detail
				for _, e := range c.Examples {
					text += " " + e.Note
				}
				if !strings.Contains(text, w.word) {
					t.Errorf("%s: %q lacks %q", c.Name, text, w.word)
				}
			}
			if !found {
				t.Errorf("%s does not fail", want[0])
			}
		})
	}
}
