package controls

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/sortid/sortid/internal/integer"
	"github.com/sortid/sortid/internal/spec"
	"github.com/sortid/sortid/internal/words"
)

// An Ideal makes IDs of another project's format without a mistake, as the format's document or its
// best-known library does.
type Ideal struct {
	Format, Name string
	Warns        bool // a correct choice that the tester warns of
	Check        bool // texts have OrderlyID's check
	Short        bool // texts do not begin with zeros

	// start returns a generator. The generator returns the next ID's fields below the highest field.
	start func(*Source) func() integer.Words
	// texts is used instead of start if an ID's digits are random.
	texts func(*Source) func() string
}

// A Source has the clock and the random bits of an [Ideal].
type Source struct {
	*rand.Rand
	now   time.Time // when the next ID is needed
	rate  float64   // IDs in a second
	node  uint64    // added to the node ID
	hurry bool      // a full tick is a fault: the counter starts again
}

func newSource(seed uint64, rate float64) *Source {
	return &Source{Rand: rand.New(rand.NewPCG(seed, 7)), rate: rate, node: seed % 100}
}

// Start returns when the first IDs are needed: a year after the epoch if that is late.
func (d Ideal) Start() time.Time {
	f, err := spec.Lookup(d.Format)
	if err != nil {
		panic(err)
	}
	if late := f.Epoch.AddDate(1, 0, 0); late.UnixMilli() > start {
		return late
	}
	return time.UnixMilli(start)
}

// Make returns n texts. They are needed at random times (a Poisson process) with this mean rate.
// Generators whose seeds differ by less than 100 have different node IDs.
func (d Ideal) Make(seed uint64, rate float64, n int) []string {
	return d.make(newSource(seed, rate), n)
}

// Hurry returns the texts of a generator that does not wait if a tick is full. Its counter starts
// again, so IDs occur twice.
func (d Ideal) Hurry(seed uint64, rate float64, n int) []string {
	s := newSource(seed, rate)
	s.hurry = true
	return d.make(s, n)
}

func (d Ideal) make(s *Source, n int) []string {
	f, err := spec.Lookup(d.Format)
	if err != nil {
		panic(err)
	}
	s.now = d.Start()
	lines := make([]string, n)
	if d.texts != nil {
		next := d.texts(s)
		for i := range lines {
			lines[i] = next()
		}
		return lines
	}
	next := d.start(s)
	for i := range lines {
		s.now = s.now.Add(time.Duration(s.ExpFloat64() / s.rate * float64(time.Second)))
		w := next()
		if err := f.Check(w); err != nil {
			panic(d.Format + " " + d.Name + ": " + err.Error())
		}
		lines[i] = f.In(w, f.Encodings[0])
		switch {
		case d.Short:
			lines[i] = strings.TrimLeft(lines[i], f.Text.Symbols[:1])
		case d.Format == "typeid":
			lines[i] = "user_" + lines[i]
		case d.Format == "orderlyid":
			lines[i] = "order_" + lines[i]
			if d.Check {
				lines[i] += "-" + bech32("order_", lines[i][len("order_"):])
			}
		}
	}
	return lines
}

// bits returns n random bits.
func (s *Source) bits(n int) uint64 { return s.Uint64() >> (64 - n) }

// ticks returns the time in ticks since the epoch, in Unix milliseconds.
func (s *Source) ticks(epoch int64, tick time.Duration) uint64 {
	d := s.now.Sub(time.UnixMilli(epoch)) // at most 292 years
	return uint64(d / tick)
}

// A number joins fields, the most significant one first.
type number struct{ integer.Words }

func (w number) add(v uint64, bits int) number {
	return number{w.Shift(bits).Or(integer.Words{Low: v})}
}

func (w number) random(s *Source, bits int) number {
	for ; bits > 32; bits -= 32 {
		w = w.add(s.bits(32), 32)
	}
	return w.add(s.bits(bits), bits)
}

// A tail returns what follows the time: a value of some bits. It is told whether the tick is new. If
// ok is false, the tick has had all values, and the value repeats one of them.
type tail func(fresh bool) (v uint64, ok bool)

// counting counts the IDs of a tick from 0, up to limit.
func counting(limit uint64) tail {
	n := uint64(0)
	return func(fresh bool) (uint64, bool) {
		if n++; fresh {
			n = 0
		}
		return n % (limit + 1), n <= limit
	}
}

// continuing counts all IDs, modulo size.
func continuing(s *Source, size uint64) tail {
	n, used := s.Uint64N(size), uint64(0)
	return func(fresh bool) (uint64, bool) {
		if used++; fresh {
			used = 1
		}
		if used <= size || s.hurry {
			n = (n + 1) % size
		}
		return n, used <= size
	}
}

// seeded counts the IDs of a tick from a random number of some bits, up to limit.
func seeded(s *Source, bits int, limit uint64) tail {
	n := uint64(0)
	return func(fresh bool) (uint64, bool) {
		if n++; fresh {
			n = s.bits(bits)
		}
		return n % (limit + 1), n <= limit
	}
}

// ticked returns a generator that passes each tick and the tail's value to join. When a tick is
// full, the generator goes on in the next tick.
func (s *Source) ticked(epoch int64, tick time.Duration, t tail,
	join func(tick, v uint64) number) func() integer.Words {
	last := uint64(0)
	return func() integer.Words {
		now := max(s.ticks(epoch, tick), last)
		v, ok := t(now != last)
		for !ok && !s.hurry {
			now++
			v, ok = t(true)
		}
		last = now
		return join(now, v).Words
	}
}

const ms = time.Millisecond

// Epochs in Unix milliseconds.
const (
	epochTwitter   = 1_288_834_974_657
	epochInstagram = 1_314_220_021_721
	epoch2014      = 1_409_529_600_000
	epoch2025      = 1_735_689_600_000
	epoch2015      = 1_420_070_400_000
	epoch2020      = 1_577_836_800_000
	epoch2024      = 1_704_067_200_000
	epoch2000      = 946_684_800_000
	epochKSUID     = 1_400_000_000_000
)

// snowflake has a counter above or below the node's bits.
func snowflake(name, how string, epoch int64, tick time.Duration, timeBits, counterBits int,
	node uint64, nodeBits int, counterFirst bool, t func(*Source) tail) Ideal {
	return Ideal{Format: name, Name: how, start: func(s *Source) func() integer.Words {
		node := (node + s.node) & (1<<nodeBits - 1)
		return s.ticked(epoch, tick, t(s), func(tick, v uint64) number {
			w := number{}.add(tick, timeBits)
			if counterFirst {
				return w.add(v, counterBits).add(node, nodeBits)
			}
			return w.add(node, nodeBits).add(v, counterBits)
		})
	}}
}

func zero(limit uint64) func(*Source) tail { return func(*Source) tail { return counting(limit) } }

func wrapping(size uint64) func(*Source) tail {
	return func(s *Source) tail { return continuing(s, size) }
}

func random(bits int) func(*Source) tail {
	return func(s *Source) tail { return func(bool) (uint64, bool) { return s.bits(bits), true } }
}

// free has random bits in each ID.
func free(name string, epoch int64, tick time.Duration, timeBits, bits int) Ideal {
	return Ideal{Format: name, Name: "random", start: func(s *Source) func() integer.Words {
		return func() integer.Words {
			return number{}.add(s.ticks(epoch, tick), timeBits).random(s, bits).Words
		}
	}}
}

// monotonic has random bits in a tick's first ID, after guard bits, which are 0. The next IDs go up
// by at most most.
func monotonic(name, how string, tick time.Duration, timeBits, bits, guard int, most uint64) Ideal {
	return Ideal{Format: name, Name: how, Warns: guard > 0,
		start: func(s *Source) func() integer.Words {
			last, w := uint64(0), number{}
			return func() integer.Words {
				if now := s.ticks(0, tick); now > last {
					last = now
					w = number{}.add(now, timeBits).add(0, guard).random(s, bits-guard)
					return w.Words
				}
				by := 1 + s.Uint64N(most)
				if w.Low += by; w.Low < by {
					w.Mid++
				}
				return w.Words
			}
		}}
}

// uuidv7 joins a time, 12 bits and 62 bits.
func uuidv7(ms, a, b uint64) number {
	return number{}.add(ms, 48).add(7, 4).add(a, 12).add(2, 2).add(b, 62)
}

func v7(how string, next func(s *Source) func() number) Ideal {
	return Ideal{Format: "uuidv7", Name: how, start: func(s *Source) func() integer.Words {
		n := next(s)
		return func() integer.Words { return n().Words }
	}}
}

// countedV7 has a counter of some bits below the time. It starts in each millisecond with random
// bits, except the highest guard bits.
func countedV7(how string, bits, guard int) Ideal {
	d := v7(how, func(s *Source) func() number {
		last, counter := uint64(0), uint64(0)
		return func() number {
			now := max(s.ticks(0, ms), last)
			if counter++; now > last {
				counter = s.bits(bits - guard)
			} else if counter >= 1<<bits {
				now, counter = now+1, s.bits(bits-guard)
			}
			last = now
			low := bits - 12
			return uuidv7(now, counter>>low, counter&(1<<low-1)<<(62-low)|s.bits(62-low))
		}
	})
	d.Warns = guard > 0
	return d
}

// preciseV7 has a finer time in rand_a, in steps of a 4096th of a millisecond. If sorted, no two
// times are equal.
func preciseV7(how string, sorted bool) Ideal {
	return v7(how, func(s *Source) func() number {
		last := uint64(0)
		return func() number {
			now := s.now.UnixNano()
			at := uint64(now/1e6)<<12 | uint64(now%1e6*4096/1e6)
			if last = max(at, last+1); !sorted {
				last = at
			}
			return uuidv7(last>>12, last&0xfff, s.bits(62))
		}
	})
}

// finerV7 has some bits of a finer time in rand_a, and random bits below, as Ruby's uuid_v7 with
// extra_timestamp_bits.
func finerV7(bits int) Ideal {
	name := words.Plural(uint64(bits), "bit") + " of a finer time"
	return v7(name, func(s *Source) func() number {
		return func() number {
			now := s.now.UnixNano()
			fine := uint64(now%1e6<<bits/1e6)<<(12-bits) | s.bits(12)>>bits
			return uuidv7(uint64(now/1e6), fine, s.bits(62))
		}
	})
}

// gregorian returns a time as UUIDs of version 1 have it. No two are equal.
func gregorian(s *Source) func() uint64 {
	last := uint64(0)
	return func() uint64 {
		last = max(last+1, uint64(s.now.Unix())*1e7+uint64(s.now.Nanosecond()/100)+
			0x01b21dd213814000)
		return last
	}
}

// timeUUID makes UUIDs of version 1 or 6. The fields seq and node have random bits in each process
// or in each ID.
func timeUUID(name, how string, each bool) Ideal {
	return Ideal{Format: name, Name: how, start: func(s *Source) func() integer.Words {
		next, seq, node := gregorian(s), s.bits(14), s.bits(48)
		return func() integer.Words {
			if each {
				seq, node = s.bits(14), s.bits(48)
			}
			t := next()
			w := number{}.add(t&math.MaxUint32, 32).add(t>>32&0xffff, 16).add(1, 4).add(t>>48, 12)
			if name == "uuidv6" {
				w = number{}.add(t>>28, 32).add(t>>12&0xffff, 16).add(6, 4).add(t&0xfff, 12)
			}
			return w.add(2, 2).add(seq, 14).add(node, 48).Words
		}
	}}
}

func unixTime(name string, tick time.Duration) Ideal {
	return Ideal{Format: name, Name: "clock", start: func(s *Source) func() integer.Words {
		return func() integer.Words { return integer.Words{Low: s.ticks(0, tick)} }
	}}
}

const (
	base36to4 = 36 * 36 * 36 * 36
	base36to8 = base36to4 * base36to4
)

// digits returns n random digits.
func (s *Source) digits(alphabet string, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = alphabet[s.IntN(len(alphabet))]
	}
	return string(b)
}

func digits(name, prefix, first string, n int, alphabet string) Ideal {
	return Ideal{Format: name, Name: strings.TrimSuffix(prefix+"random", "_"),
		texts: func(s *Source) func() string {
			return func() string { return prefix + s.digits(first, 1) + s.digits(alphabet, n-1) }
		}}
}

// nuids are IDs of processes that start one after another, and make about most IDs each, by turns.
// In a prefix, the first symbols are more frequent, because each is a random byte modulo 62.
func nuids(how string, most int) Ideal {
	return Ideal{Format: "nuid", Name: how, texts: func(s *Source) func() string {
		var prefixes []string
		return func() string {
			if s.IntN(most) == 0 || len(prefixes) == 0 {
				prefix := make([]byte, 12)
				for i := range prefix {
					prefix[i] = digits62[s.bits(8)%62]
				}
				prefixes = append(prefixes, string(prefix))
			}
			prefix := prefixes[len(prefixes)-1]
			if most > 1 {
				prefix = prefixes[s.IntN(len(prefixes))]
			}
			return prefix + s.digits(digits62, 10)
		}
	}}
}

// hashed has the digits of a hash after skip digits, as libraries for CUID2 have them. If signed, half
// of the numbers are negative, and skip counts the sign.
func hashed(size, skip int, signed bool) Ideal {
	return Ideal{Format: "cuid2", Name: fmt.Sprintf("hash of %d bits without %d digits", size, skip),
		texts: func(s *Source) func() string {
			return func() string {
				var words [512 / bits.UintSize]big.Word
				for i := range words {
					words[i] = big.Word(s.bits(bits.UintSize))
				}
				number := new(big.Int).SetBits(words[:])
				number.Rsh(number, uint(512-size))
				if signed && s.bits(1) == 1 {
					number.Neg(number)
				}
				return s.digits(letters, 1) + number.Text(36)[skip:skip+23]
			}
		}}
}

// uuid has random bits around a version.
func uuid(name string, version uint64) Ideal {
	return Ideal{Format: name, Name: "random", start: func(s *Source) func() integer.Words {
		return func() integer.Words {
			return number{}.random(s, 48).add(version, 4).add(s.bits(12), 12).add(2, 2).
				add(s.bits(62), 62).Words
		}
	}}
}

const (
	letters  = "abcdefghijklmnopqrstuvwxyz"
	digits36 = "0123456789" + letters
	digits62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ" + letters
	digits64 = digits62 + "-_"
)

// Ideals has at least one generator for each format.
var Ideals = []Ideal{
	uuid("uuidv3", 3), uuid("uuidv4", 4), uuid("uuidv5", 5), uuid("uuidv8", 8),
	{Format: "uuidv2", Name: "one user", start: func(s *Source) func() integer.Words {
		seq, node := uint64(0), s.bits(48)
		return func() integer.Words {
			seq++ // few IDs are possible, so this one repeats them
			return number{}.add(1000, 32).add(0x9414, 16).add(2, 4).add(0x1ec, 12).add(2, 2).
				add(seq&63, 6).add(0, 8).add(node, 48).Words
		}
	}, Warns: true},
	digits("nanoid", "", digits64, 21, digits64), digits("cuid2", "", letters, 24, digits36),
	hashed(512, 0, false), hashed(512, 1, false), hashed(512, 2, false), hashed(255, 1, true),
	digits("stripe", "cus_", digits62, 14, digits62), digits("stripe", "pi_3", digits62, 23, digits62),
	{Format: "nuid", Name: "one process", texts: func(s *Source) func() string {
		prefix, n := s.digits(digits62, 12), s.Uint64N(1<<50)
		return func() string {
			n += 33 + s.Uint64N(300)
			sequence, rest := make([]byte, 10), n
			for i := range sequence {
				sequence[len(sequence)-1-i] = digits62[rest%62]
				rest /= 62
			}
			return prefix + string(sequence)
		}
	}},
	nuids("a process for each ID", 1), nuids("merged", 50),
	unixTime("unix-s", time.Second), unixTime("unix-ms", ms),
	unixTime("unix-us", time.Microsecond), unixTime("unix-ns", 1),
	snowflake("snowflake-twitter", "from 0", epochTwitter, ms, 41, 12, 711, 10, false, zero(4095)),
	snowflake("snowflake-twitter", "continuing", epochTwitter, ms, 41, 12, 711, 10, false,
		wrapping(4096)),
	snowflake("snowflake-discord", "continuing", epoch2015, ms, 42, 12, 33, 10, false,
		wrapping(4096)),
	snowflake("snowflake-discord", "from 0", epoch2015, ms, 42, 12, 33, 10, false, zero(4095)),
	snowflake("snowflake-instagram", "continuing", epochInstagram, ms, 41, 10, 1341, 13, false,
		wrapping(1024)),
	snowflake("threads", "continuing", epochInstagram, ms, 41, 10, 1341, 13, false,
		wrapping(1024)),
	snowflake("snowflake-mastodon", "hashed", 0, ms, 48, 16, 0, 0, false,
		func(s *Source) tail {
			n := s.node
			return func(bool) (uint64, bool) {
				n += 100
				hash := uint64(s.now.UnixMilli()) * 0x9e3779b97f4a7c15 >> 48
				return (hash + n) & 0xffff, true
			}
		}),
	warned(snowflake("snowflake-linkedin", "random", 0, ms, 42, 22, 0, 0, false, random(22))),
	warned(snowflake("snowflake-tiktok", "random", 0, time.Second, 32, 32, 0, 0, false, random(32))),
	snowflake("snowflake-spaceflake", "continuing", epoch2015, ms, 42, 12, 37, 10, false,
		wrapping(4096)),
	snowflake("snowflake-spaceflake", "random", epoch2015, ms, 42, 12, 37, 10, false,
		func(s *Source) tail { // a tick has each number once
			seen := map[uint64]bool{}
			return func(fresh bool) (uint64, bool) {
				if fresh {
					clear(seen)
				}
				for {
					if v := s.bits(12); !seen[v] {
						seen[v] = true
						return v, true
					}
				}
			}
		}),
	snowflake("snowflake-flake", "from 0", 0, ms, 42, 12, 420, 10, false, zero(4095)),
	warned(snowflake("snowflake-simpleflake", "random", epoch2000, ms, 41, 23, 0, 0, false,
		random(23))),
	snowflake("snowflake-frostflake", "from 0", 0, time.Second, 32, 21, 99, 11, true,
		zero(1<<21-1)),
	snowflake("snowid", "from 0", epoch2024, ms, 42, 12, 77, 10, false, zero(4095)),
	snowflake("sonyflake", "from 0", epoch2014, 10*ms, 40, 8, 4711, 16, true, zero(255)),
	snowflake("sonyflake-v2", "from 0", epoch2025, 10*ms, 40, 8, 4711, 16, true, zero(255)),
	snowflake("tsid", "10 node bits", epoch2020, ms, 42, 12, 333, 10, false,
		func(s *Source) tail { return seeded(s, 12, 4095) }),
	snowflake("tsid", "8 node bits", epoch2020, ms, 42, 14, 33, 8, false,
		func(s *Source) tail { return seeded(s, 14, 1<<14-1) }),
	snowflake("tsid", "20 node bits", epoch2020, ms, 42, 2, 33333, 20, false,
		func(s *Source) tail { return seeded(s, 2, 3) }),
	snowflake("tsid", "no node", epoch2020, ms, 42, 22, 0, 0, false,
		func(s *Source) tail { return seeded(s, 22, 1<<22-1) }),
	snowflake("tsid", "continuing, 10 node bits", epoch2020, ms, 42, 12, 333, 10, false,
		wrapping(4096)),
	snowflake("tsid", "fast", epoch2020, ms, 42, 22, 0, 0, false, wrapping(1<<22)),
	free("ulid", 0, ms, 48, 80), monotonic("ulid", "monotonic", ms, 48, 80, 0, 1),
	monotonic("ulid", "random steps", ms, 48, 80, 0, 1<<32),
	monotonic("ulid", "guard bit", ms, 48, 80, 1, 1),
	free("xray-trace", 0, time.Second, 32, 96),
	free("timeflake", 0, ms, 48, 80), free("ksuid", epochKSUID, time.Second, 32, 128),
	warned(free("nano64", 0, ms, 44, 20)), monotonic("nano64", "monotonic", ms, 44, 20, 1, 1),
	monotonic("pushid", "monotonic", ms, 48, 72, 0, 1),
	{Format: "julid", Name: "from 0", start: func(s *Source) func() integer.Words {
		return s.ticked(0, ms, counting(1<<16-1), func(tick, v uint64) number {
			return number{}.add(tick, 48).add(v, 16).random(s, 64)
		})
	}},
	datadog("random", 64), warned(datadog("63 bits", 63)),
	{Format: "upid", Name: "random", start: func(s *Source) func() integer.Words {
		return func() integer.Words {
			return number{}.add(s.ticks(0, 256*ms), 40).random(s, 64).add(0xd4bb8, 20).add(6, 4).Words
		}
	}},
	snowflake("xid", "continuing", 0, time.Second, 32, 24, 0x4fa21be3c7, 40, false,
		wrapping(1<<24)),
	snowflake("objectid", "continuing", 0, time.Second, 32, 24, 0x4fa21be3c7, 40, false,
		wrapping(1<<24)),
	snowflake("flake", "from 0", 0, ms, 64, 16, 0x4fa21be3c799, 48, false, zero(1<<16-1)),
	tid("one clock ID", false), warned(tid("random clock IDs", true)),
	orderlyID("from 0", ms), checked(orderlyID("with check", ms)), orderlyID("rounded", time.Minute),
	cuid("continuing", 1), warned(cuid("half of the digits", 2)),
	{Format: "puid", Name: "clock", start: func(s *Source) func() integer.Words {
		maker, offset := s.bits(51), time.Duration(s.bits(29))
		last := time.Time{}
		return func() integer.Words {
			now := s.now.Add(offset)
			if !now.After(last) {
				now = last.Add(1)
			}
			last = now
			clock := uint64(now.Nanosecond())
			return number{}.add(s.ticks(0, ms), 44).add(maker, 52).add(clock, 32).Words
		}
	}},
	timeUUID("uuidv1", "one node", false), timeUUID("uuidv1", "random node", true),
	timeUUID("uuidv6", "one node", false), timeUUID("uuidv6", "random node", true),
	v7("random", func(s *Source) func() number {
		return func() number { return uuidv7(s.ticks(0, ms), s.bits(12), s.bits(62)) }
	}),
	countedV7("counter of 42 bits", 42, 0), countedV7("counter of 32 bits", 32, 0),
	countedV7("counter with a guard bit", 42, 1),
	preciseV7("finer time", true), preciseV7("finer time, unsorted", false),
	finerV7(1), finerV7(2), finerV7(3), finerV7(4), finerV7(7), finerV7(10),
	v7("counter from 0 in rand_a", func(s *Source) func() number {
		count, last := counting(4095), uint64(0)
		return func() number {
			now := max(s.ticks(0, ms), last)
			v, _ := count(now != last)
			last = now
			return uuidv7(now, v, s.bits(62))
		}
	}),
	warned(v7("continuing", func(s *Source) func() number { // uuid of npm, version 10
		counter := s.bits(34)
		return func() number {
			counter++
			return uuidv7(s.ticks(0, ms), counter>>19&0xfff, counter&(1<<19-1)<<43|s.bits(43))
		}
	})),
	within("typeid"), within("uuid-base58"), within("short-uuid"), within("shortuuid"),
	within("uuid-base62"), within("uuid-base64"),
	random4("uuid-base58"), random4("short-uuid"), random4("shortuuid"), random4("uuid-base62"),
	random4("uuid-base64"), short(within("uuid-base58")), short(random4("uuid-base58")),
	{Format: "typeid", Name: "counter of 42 bits", start: countedV7("", 42, 0).start},
}

// A Narrow is a format whose ticks have room for few IDs, with two of its generators.
type Narrow struct {
	Rate         float64 // IDs in a second, more than there is room for
	FromZero, On Ideal   // the counter starts at 0 in each tick, or continues
}

var Narrows = []Narrow{
	narrow("snowflake-twitter", epochTwitter, ms, 41, 12, 711, 10, false),
	narrow("snowflake-discord", epoch2015, ms, 42, 12, 33, 10, false),
	narrow("snowflake-instagram", epochInstagram, ms, 41, 10, 1341, 13, false),
	narrow("threads", epochInstagram, ms, 41, 10, 1341, 13, false),
	narrow("snowflake-spaceflake", epoch2015, ms, 42, 12, 37, 10, false),
	narrow("snowflake-flake", 0, ms, 42, 12, 420, 10, false),
	narrow("snowid", epoch2024, ms, 42, 12, 77, 10, false),
	narrow("sonyflake", epoch2014, 10*ms, 40, 8, 4711, 16, true),
	narrow("sonyflake-v2", epoch2025, 10*ms, 40, 8, 4711, 16, true),
}

func narrow(name string, epoch int64, tick time.Duration, timeBits, counterBits int, node uint64,
	nodeBits int, counterFirst bool) Narrow {
	room := uint64(1) << counterBits
	return Narrow{1.5 * float64(room) / tick.Seconds(),
		snowflake(name, "from 0", epoch, tick, timeBits, counterBits, node, nodeBits, counterFirst,
			zero(room-1)),
		snowflake(name, "continuing", epoch, tick, timeBits, counterBits, node, nodeBits,
			counterFirst, wrapping(room))}
}

// RunningV7 is broken: its counter of 12 bits continues, and starts again in the middle of a tick.
var RunningV7 = v7("running on", func(s *Source) func() number {
	counter := s.bits(12)
	return func() number {
		counter++
		return uuidv7(s.ticks(0, ms), counter&4095, s.bits(62))
	}
})

// within makes texts that contain a UUIDv7 of random bits.
func within(name string) Ideal {
	return Ideal{Format: name, Name: "random", start: func(s *Source) func() integer.Words {
		return func() integer.Words { return uuidv7(s.ticks(0, ms), s.bits(12), s.bits(62)).Words }
	}}
}

// random4 makes texts that contain a UUIDv4.
func random4(name string) Ideal {
	d := uuid(name, 4)
	d.Name = "version 4"
	return d
}

// short omits the zeros at the start of texts.
func short(d Ideal) Ideal {
	d.Name += ", short"
	d.Short = true
	return d
}

func warned(d Ideal) Ideal {
	d.Warns = true
	return d
}

func datadog(how string, bits int) Ideal {
	return Ideal{Format: "datadog-trace", Name: how, start: func(s *Source) func() integer.Words {
		return func() integer.Words {
			return number{}.add(s.ticks(0, time.Second), 32).add(0, 32+64-bits).random(s, bits).Words
		}
	}}
}

func tid(how string, each bool) Ideal {
	return Ideal{Format: "tid", Name: how, start: func(s *Source) func() integer.Words {
		last, id := uint64(0), s.bits(10)
		return func() integer.Words {
			if last = max(last+1, s.ticks(0, time.Microsecond)); each {
				id = s.bits(10)
			}
			return number{}.add(last, 54).add(id, 10).Words
		}
	}}
}

// cuid has two random numbers below 36^4 / part.
func cuid(how string, part uint64) Ideal {
	return Ideal{Format: "cuid", Name: how, start: func(s *Source) func() integer.Words {
		counter, print := continuing(s, base36to4), s.Uint64N(base36to4)
		return s.ticked(0, ms, counter, func(tick, v uint64) number {
			random := s.Uint64N(base36to4/part)*base36to4 + s.Uint64N(base36to4/part)
			return number{}.add(tick, 44).add(v, 21).add(print, 21).add(random, 42)
		})
	}}
}

// orderlyID rounds the time down to multiples of round, and counts from 0 to 4095, and again from 0.
func orderlyID(how string, round time.Duration) Ideal {
	return Ideal{Format: "orderlyid", Name: how, start: func(s *Source) func() integer.Words {
		flags := uint64(0)
		if round > ms {
			flags = 32
		}
		last, n := uint64(0), uint64(0)
		return func() integer.Words {
			now := s.ticks(epoch2020, round) * uint64(round/ms)
			if n++; now != last {
				last, n = now, 0
			}
			return number{}.add(now, 48).add(flags, 8).add(12, 16).add(n%4096, 12).add(3, 16).
				random(s, 60).Words
		}
	}}
}

func checked(d Ideal) Ideal {
	d.Check = true
	return d
}

const crockford = "0123456789abcdefghjkmnpqrstvwxyz"

// bech32 returns the check of BIP 173, in Crockford's alphabet.
func bech32(prefix, digits string) (check string) {
	var values []uint64
	for _, c := range prefix {
		values = append(values, uint64(c)>>5)
	}
	values = append(values, 0)
	for _, c := range prefix {
		values = append(values, uint64(c)&31)
	}
	for _, c := range digits {
		values = append(values, uint64(strings.IndexRune(crockford, c)))
	}
	remainder := uint64(1)
	for _, v := range append(values, 0, 0, 0, 0) {
		remainder = remainder<<5 ^ v
		for i, g := range []uint64{0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3} {
			if remainder>>(30+i)&1 == 1 {
				remainder ^= g
			}
		}
		remainder &= 1<<30 - 1
	}
	remainder ^= 1
	for shift := 15; shift >= 0; shift -= 5 {
		check += crockford[remainder>>shift&31:][:1]
	}
	return check
}
