package plan

import (
	"encoding/json"
	"flag"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/sortid/sortid/internal/check"
	"github.com/sortid/sortid/internal/spec"
)

var update = flag.Bool("update", false, "write testdata/plan.json")

const casesFile = "../../../../testdata/plan.json"

var base = Request{Rate: 5000, Burst: 100000, Processes: 200, Years: 20, From: "2026-11-21"}

func requests() []Request {
	rs := []Request{base}
	vary := func(change func(*Request)) {
		r := base
		change(&r)
		rs = append(rs, r)
		r.Nodes = !r.Nodes
		rs = append(rs, r)
		r.Bits = 64
		rs = append(rs, r)
	}
	vary(func(*Request) {})
	vary(func(r *Request) { r.Bits = 128 })
	vary(func(r *Request) { r.Processes = 1 })
	vary(func(r *Request) { r.Processes = 2 })
	vary(func(r *Request) { r.Processes, r.Rate = 512, 1e-3 })
	vary(func(r *Request) { r.Processes = 513 })
	vary(func(r *Request) { r.Processes, r.Rate, r.Burst = 1<<23, 1e6, 0 })
	vary(func(r *Request) { r.Processes = 1<<23 + 1 })
	vary(func(r *Request) { r.Rate = 1e9 })
	vary(func(r *Request) { r.Rate = 1e12 })
	vary(func(r *Request) { r.Rate, r.Processes = 3e8, 20 })
	vary(func(r *Request) { r.Burst = 1e9 })
	vary(func(r *Request) { r.Burst = 1 })
	vary(func(r *Request) { r.Years = 100 })
	vary(func(r *Request) { r.Years = 5000 })
	vary(func(r *Request) { r.Years = 0.01 })
	return rs
}

// All implementations share the cases. A case can omit formats.
func TestCases(t *testing.T) {
	var plans []*Plan
	for _, r := range requests() {
		p, err := Compute(r)
		if err != nil {
			t.Fatalf("%+v: %v", r, err)
		}
		plans = append(plans, p)
	}
	if *update {
		b := check.Must(json.MarshalIndent(plans, "", "\t"))(t)
		check.OK(t, os.WriteFile(filepath.FromSlash(casesFile), append(b, '\n'), 0o644))
	}
	b := check.Must(os.ReadFile(filepath.FromSlash(casesFile)))(t)
	var cases []*Plan
	check.OK(t, json.Unmarshal(b, &cases))
	if len(cases) != len(plans) {
		t.Fatalf("%d cases, want %d", len(cases), len(plans))
	}
	for i, want := range cases {
		got := plans[i]
		got.Formats = slices.DeleteFunc(got.Formats, func(f Format) bool {
			return !slices.ContainsFunc(want.Formats,
				func(w Format) bool { return w.Format == f.Format })
		})
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%+v: %+v, want %+v; if the change is meant: go test ./internal/plan -update",
				want.Request, got, want)
		}
	}
}

// randomBits returns how many bits of the IDs of one millisecond are random.
func randomBits(t *testing.T, s *spec.Format) (bits int) {
	for _, f := range check.Must(s.Usages(0))(t)[0].Layout {
		if f.Kind == spec.KindRandom || f.Kind == spec.KindCounter || f.PartBits != "" {
			bits += f.Bits
		}
		if f.Start == spec.StartHalf {
			bits--
		}
	}
	return bits
}

func TestCollisionExact(t *testing.T) {
	for _, r := range requests() {
		if r.Processes == 1 {
			continue
		}
		p := check.Must(Compute(r))(t)
		rat := func(f float64) *big.Rat { return new(big.Rat).SetFloat64(f) }
		mul := func(fs ...*big.Rat) *big.Rat {
			x := big.NewRat(1, 1)
			for _, f := range fs {
				x.Mul(x, f)
			}
			return x
		}
		n := int64(r.Processes)
		pairsOfProcesses := new(big.Rat).SetFrac(new(big.Int).Mul(big.NewInt(n), big.NewInt(n-1)),
			big.NewInt(2))
		perMilli := mul(rat(r.Rate), big.NewRat(1, 1000*n))
		millis := mul(rat(r.Years), big.NewRat(3652425*24*60*60, 10000), big.NewRat(1000, 1))
		equal := mul(millis, pairsOfProcesses, perMilli, perMilli)
		for _, s := range spec.Ours() {
			f := planOf(p, s.Name)
			if s.NodeCounter > 0 || f.Options["node_bits"] > 0 {
				if f.Collision != 0 {
					t.Errorf("%+v: %s with node IDs: %v", r, s.Name, f.Collision)
				}
				continue
			}
			e := mul(equal, new(big.Rat).SetFrac(big.NewInt(1),
				new(big.Int).Lsh(big.NewInt(1), uint(randomBits(t, s)))))
			expected, _ := e.Float64()
			want := -math.Expm1(-expected)
			if math.Abs(f.Collision-want) > 1e-9*want {
				t.Errorf("%+v: %s: %v, want %v", r, s.Name, f.Collision, want)
			}
		}
	}
}

// A world makes small IDs, which are often equal. make returns the bits in which the IDs of one
// millisecond differ.
type world struct {
	name string
	bits float64 // as in the formula
	new  func(*rand.Rand) (newMilli func(ms int), make func() uint64)
}

var worlds = []world{
	{"scru128", 3 + 6 + 2, func(rng *rand.Rand) (func(int), func() uint64) {
		var hi, lo uint64
		return func(ms int) {
				if ms%8 == 0 { // like a second of the real format
					hi = rng.Uint64N(1 << 3)
				}
				lo = rng.Uint64N(1 << 6)
			}, func() uint64 {
				if lo++; lo == 1<<6 {
					hi, lo = (hi+1)%(1<<3), 0
				}
				return (hi<<6|lo)<<2 | rng.Uint64N(1<<2)
			}
	}},
	{"scru160", 8 + 3, func(rng *rand.Rand) (func(int), func() uint64) {
		var counter uint64 // of 9 bits; the low 8 start at random
		return func(int) { counter = rng.Uint64N(1 << 8) },
			func() uint64 { counter++; return counter<<3 | rng.Uint64N(1<<3) }
	}},
	{"euid", 2 + 6 + 3, func(rng *rand.Rand) (func(int), func() uint64) {
		var header, high uint64
		return func(int) { header, high = rng.Uint64N(1<<2), rng.Uint64N(1<<6) },
			func() uint64 { high++; return header<<32 | high%(1<<6)<<3 | rng.Uint64N(1<<3) }
	}},
	{"uid60", 3 + 8, func(rng *rand.Rand) (func(int), func() uint64) {
		// A longer sequence would make equal IDs too rare.
		sequence := rng.Uint64N(1 << 3)
		return func(int) {},
			func() uint64 { sequence = (sequence + 1) % (1 << 3); return sequence<<8 | rng.Uint64N(1<<8) }
	}},
}

func (w world) run(rng *rand.Rand, processes, millis int, perMilli float64) (equal int) {
	type process struct {
		newMilli func(int)
		make     func() uint64
	}
	all := make([]process, processes)
	for i := range all {
		all[i].newMilli, all[i].make = w.new(rng)
	}
	for ms := range millis {
		ids := map[uint64]int{}
		for _, p := range all {
			p.newMilli(ms)
			for range poisson(rng, perMilli) {
				id := p.make()
				equal += ids[id]
				ids[id]++
			}
		}
	}
	return equal
}

func poisson(rng *rand.Rand, mean float64) (n int) {
	for p := rng.Float64(); p > math.Exp(-mean); p *= rng.Float64() {
		n++
	}
	return n
}

func TestMonteCarlo(t *testing.T) {
	for _, w := range worlds {
		t.Run(w.name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(1, 2))
			const processes, perMilli = 5, 0.6

			millis, lifetimes := 400_000, 3000
			if testing.Short() {
				millis, lifetimes = millis/4, lifetimes/4
			}
			r := Request{Rate: processes * perMilli * 1000, Processes: processes,
				Years: float64(millis) / 1000 / secondsPerYear}
			want := pairs(r) * math.Exp2(-w.bits)
			got := float64(w.run(rng, processes, millis, perMilli))
			if sigma := math.Sqrt(want); math.Abs(got-want) > 5*sigma {
				t.Errorf("%v equal pairs, the formula says %.1f +- %.1f", got, want, sigma)
			}

			const short = 400
			r.Years = short / 1000.0 / secondsPerYear
			l := load{pairs: pairs(r)}
			p := l.collision(w.bits)
			var hit float64
			for range lifetimes {
				if w.run(rng, processes, short, perMilli) > 0 {
					hit++
				}
			}
			n := float64(lifetimes)
			if sigma := math.Sqrt(p * (1 - p) / n); math.Abs(hit/n-p) > 5*sigma {
				t.Errorf("a collision in %v of lifetimes, the formula says %v +- %v", hit/n, p, sigma)
			}
		})
	}
}

func TestCounter(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, bits := range []int{1, 4, 5, 8, 12, 16, 23} {
		size := math.Exp2(float64(bits))
		for _, load := range []float64{0.001, 0.1, 0.4, 0.5, 0.7, 0.9, 1, 1.1} {
			perTick := math.Floor(load * size)
			guard, mean, ok := counter(bits, perTick)
			if ok != (perTick <= size) {
				t.Errorf("%d bits, %v IDs a tick: %v", bits, perTick, ok)
			}
			const ticks = 200_000
			var held float64
			overflows := 0
			for range ticks {
				start := rng.Uint64N(1 << (bits - guard))
				room := size - float64(start)
				held += room
				if perTick > room {
					overflows++
				}
			}
			if diff := math.Abs(held/ticks-mean) / size; diff > 0.005 {
				t.Errorf("%d bits, guard %d: a tick holds %v on average, the plan says %v", bits,
					guard, held/ticks, mean)
			}
			if ok && overflows > ticks*maxOverflow*1.3 {
				t.Errorf("%d bits, guard %d, %v IDs a tick: %d of %d ticks overflow", bits, guard,
					perTick, overflows, ticks)
			}
			if bits <= 4 && guard < 1 {
				t.Errorf("%d bits: guard %d is below the default", bits, guard)
			}
		}
	}
}

// A burst takes the planned number of ticks, plus or minus one.
func TestBurst(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	p := check.Must(Compute(Request{Rate: 10, Burst: 200_000, Processes: 200, Years: 1, Nodes: true,
		From: base.From}))(t)
	meanTicks := func(room func() float64) float64 {
		const bursts = 2000
		n := 0
		for range bursts {
			for left := 200_000.0; left > 0; n++ {
				left -= room()
			}
		}
		return float64(n)/bursts - 1 // the clock itself reaches the first tick
	}
	f := planOf(p, "scru64")
	bits := 24 - f.Options["node_bits"]
	starts := uint64(1) << (bits - f.Options["overflow_guard"])
	if n := meanTicks(func() float64 {
		return float64(uint64(1)<<bits - rng.Uint64N(starts))
	}); math.Abs(n-f.BurstAhead/0.256) > 1 {
		t.Errorf("scru64: %v ticks ahead, the plan says %v s", n, f.BurstAhead)
	}
	f = planOf(p, "scru160")
	if n := meanTicks(func() float64 {
		return float64(65536 - rng.Uint64N(1<<15))
	}); math.Abs(n-f.BurstWaits/0.001) > 1 {
		t.Errorf("scru160: %v ticks, the plan says %v s", n, f.BurstWaits)
	}
	if got, want := planOf(p, "uid60").BurstWaits, 0.390; math.Abs(got-want) > 1e-9 {
		t.Errorf("uid60 waits %v s, want %v", got, want)
	}
}

func planOf(p *Plan, name string) Format {
	return p.Formats[slices.IndexFunc(p.Formats, func(f Format) bool { return f.Format == name })]
}

func TestRecommended(t *testing.T) {
	for _, c := range []struct {
		change func(*Request)
		want   string
	}{
		{func(*Request) {}, "scru128"},
		{func(r *Request) { r.Bits = 128 }, "scru128"},
		{func(r *Request) { r.Bits = 64 }, ""},
		{func(r *Request) { r.Bits, r.Nodes = 64, true }, "scru64"},
		{func(r *Request) { r.Bits, r.Processes = 64, 1 }, "scru64"},
		{func(r *Request) { r.Bits, r.Nodes, r.Rate, r.Burst = 64, true, 6e7, 0 }, "uid60"},
		{func(r *Request) { r.Rate, r.Processes = 1e10, 1000 }, "scru160"},
		{func(r *Request) { r.Years = 9500 }, ""},
	} {
		r := base
		c.change(&r)
		p := check.Must(Compute(r))(t)
		if p.Recommended != c.want {
			t.Errorf("%+v: %q, want %q: %+v", r, p.Recommended, c.want, p.Formats)
		}
		if (p.Command == "") != (c.want == "") || !strings.Contains(p.Command, c.want) {
			t.Errorf("%+v: command %q", r, p.Command)
		}
		for _, f := range p.Formats {
			if len(f.Reasons) == 0 {
				t.Errorf("%+v: %s has no reason", r, f.Format)
			}
		}
	}
}

func TestErrors(t *testing.T) {
	for _, c := range []struct {
		change func(*Request)
		want   string
	}{
		{func(r *Request) { r.Rate = 0 }, "rate is 0"},
		{func(r *Request) { r.Rate = math.NaN() }, "rate is NaN"},
		{func(r *Request) { r.Rate = math.Inf(1) }, "rate is +Inf"},
		{func(r *Request) { r.Burst = -1 }, "burst is -1"},
		{func(r *Request) { r.Processes = 0 }, "processes is 0"},
		{func(r *Request) { r.Years = -2 }, "years is -2"},
		{func(r *Request) { r.Bits = 60 }, "bits is neither"},
		{func(r *Request) { r.From = "today" }, `from is "today"`},
	} {
		r := base
		c.change(&r)
		if _, err := Compute(r); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", r, err, c.want)
		}
	}
}

func TestWords(t *testing.T) {
	for p, want := range map[float64]string{
		0: "none", 1: "certain", 0.5: "50 %", 1.0 / 3e6: "one in 3 million",
		1 / 1.25e9: "one in 1.2 billion",
		1e-25:      "one in 10^25", 1 / 9.964e5: "one in 996 thousand",
		1 / 9.996e5: "one in 1 million",
		0.001:       "one in 1000", 1 / 9.99e6: "one in 10 million",
	} {
		if got := Odds(p); got != want {
			t.Errorf("Odds(%v) = %q, want %q", p, got, want)
		}
	}
	for s, want := range map[float64]string{0.256: "256 ms", 1.536: "1.5 s", 600: "10 min",
		36000: "10 h"} {
		if got := Seconds(s); got != want {
			t.Errorf("Seconds(%v) = %q, want %q", s, got, want)
		}
	}
}
