package verify

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

func TestColumns(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	var c columns
	var want [64]uint64
	for range 300 {
		words := make([]uint64, r.IntN(300))
		for i := range words {
			words[i] = r.Uint64() & r.Uint64()
			for bit := range want {
				want[bit] += words[i] >> bit & 1
			}
		}
		c.add(words)
	}
	for bit, n := range want {
		if got := c.count(bit); got != n {
			t.Errorf("bit %d: %d, want %d", bit, got, n)
		}
	}
}

// What a field counts is what a plain loop counts, however the values come in.
func TestField(t *testing.T) {
	for _, width := range []int{1, 2, 9, 12, 13, 15, 24, 40, 63, 64} {
		r := rand.New(rand.NewPCG(2, uint64(width)))
		f := newField("x", width)
		n := 5000 + r.IntN(3000)
		values := make([]uint64, n)
		ones, changes, neighbours := make([]uint64, width), make([]uint64, width), make([]uint64, width)
		products, size := 0.0, math.Ldexp(1, width)
		for i := range values {
			v := r.Uint64() >> (64 - width)
			values[i] = v
			f.add(v)
			if r.IntN(300) == 0 {
				f.count()
			}
			for bit := range width {
				ones[bit] += v >> bit & 1
				if i > 0 {
					changes[bit] += (v ^ values[i-1]) >> bit & 1
				}
				if bit < width-1 {
					neighbours[bit] += (v>>bit ^ v>>(bit+1)) & 1
				}
			}
			if i > 0 {
				products += (float64(v) - (size-1)/2) * (float64(values[i-1]) - (size-1)/2)
			}
		}
		f.count()
		if f.n != uint64(n) {
			t.Errorf("width %d: %d values, want %d", width, f.n, n)
		}
		for bit := range width {
			if f.ones(bit) != ones[bit] || f.toggled(bit) != changes[bit] || bit < width-1 && f.unequal(bit) != neighbours[bit] {
				t.Errorf("width %d, bit %d: %d %d %d, want %d %d %d", width, bit,
					f.ones(bit), f.toggled(bit), f.unequal(bit), ones[bit], changes[bit], neighbours[bit])
			}
		}
		got, want := f.products/f.variance, products/((size*size-1)/12)
		if math.Abs(got-want) > 1e-6*math.Sqrt(float64(n)) {
			t.Errorf("width %d: products %g, want %g", width, got, want)
		}
	}
}

// Repeats are counted over the whole stream, in the part of the values that is watched.
func TestRepeats(t *testing.T) {
	for _, c := range []struct{ width, n int }{{20, 1000}, {20, 200_000}, {24, 2_000_000}, {32, 500_000}, {64, 300_000}} {
		r := rand.New(rand.NewPCG(3, 1))
		f := newRepeats(c.width)
		all := make([]uint64, c.n)
		for i := range all {
			all[i] = r.Uint64() >> (64 - c.width)
		}
		f.add(all)
		seen, draws := map[uint64]bool{}, uint64(0)
		for _, v := range all {
			if v*0x9e3779b97f4a7c15<<(64-c.width) <= f.last {
				seen[v] = true
				draws++
			}
		}
		if f.draws != draws || f.distinct != len(seen) || f.distinct > maxSlots/2 {
			t.Errorf("width %d: %d draws, %d distinct, want %d, %d", c.width, f.draws, f.distinct, draws, len(seen))
		}
		if _, _, p := f.result(); p < 1e-5 {
			t.Errorf("width %d, %d random values: p = %g", c.width, c.n, p)
		}
		// A period of the generator, and a generator that goes through all values once.
		for name, next := range map[string]func(i uint64) uint64{
			"period":      func(i uint64) uint64 { return all[i%uint64(len(all)/2)] },
			"permutation": func(i uint64) uint64 { return i * 0x2545f4914f6cdd1d >> 0 & (1<<c.width - 1) },
		} {
			f := newRepeats(c.width)
			for i := range all {
				f.add([]uint64{next(uint64(i))})
			}
			_, expected, p := f.result()
			if expected > 40 && p > 1e-9 || name == "period" && p > 1e-9 {
				t.Errorf("width %d, %d values: %s: p = %g, expected %g", c.width, c.n, name, p, expected)
			}
		}
	}
}

// Half of the p-values of repeats are below one half, in each of the regimes; of a few
// repeats less, as they come in steps.
func TestRepeatsPValues(t *testing.T) {
	if underRace {
		t.Skip("plain arithmetic")
	}
	rounds := 200
	if testing.Short() {
		rounds = 60
	}
	for _, c := range []struct{ width, n int }{{20, 3000}, {20, 40_000}, {20, 100_000}, {24, 100_000}} {
		low, tiny := 0, 0
		for i := range rounds {
			r := rand.New(rand.NewPCG(4, uint64(i)))
			f := newRepeats(c.width)
			values := make([]uint64, c.n)
			for i := range values {
				values[i] = r.Uint64() >> (64 - c.width)
			}
			f.add(values)
			_, _, p := f.result()
			if p < 0.5 {
				low++
			}
			if p < 0.01 {
				tiny++
			}
		}
		if x := float64(low) / float64(rounds); x < 0.2 || x > 0.62 {
			t.Errorf("width %d, %d values: a share of %.3f below 0.5", c.width, c.n, x)
		}
		if tiny > rounds/100+3+rounds/100 {
			t.Errorf("width %d, %d values: %d of %d below 0.01", c.width, c.n, tiny, rounds)
		}
	}
}

// The smallest bias that the report says it could have seen is seen.
func TestBias(t *testing.T) {
	if underRace {
		t.Skip("plain arithmetic")
	}
	seen := 0
	const n, rounds = 100_000, 40
	for i := range rounds {
		r := rand.New(rand.NewPCG(5, uint64(i)))
		f := newField("x", 32)
		c := &checker{fields: []*field{f}}
		limit := uint64((0.5 + bias(n, 200)) * math.MaxUint32)
		for range n {
			v := r.Uint64() >> 32 &^ 1
			if r.Uint64()>>32 < limit {
				v |= 1
			}
			f.add(v)
		}
		c.random()
		for _, t := range c.tallies {
			if t.Name == "random.x.balance" && t.Count > 0 {
				seen++
			}
		}
	}
	if seen < rounds*9/10 {
		t.Errorf("a bias of %.4f in one bit was seen in %d of %d streams", bias(n, 200), seen, rounds)
	}
}

func TestSpread(t *testing.T) {
	var s spread
	for v := range uint64(100_000) {
		s.add(v)
	}
	for _, q := range []float64{0, 0.001, 0.5, 0.99, 1} {
		want := q * 100_000
		if got := float64(s.quantile(q)); got < want-1 || got > want*1.126+1 {
			t.Errorf("quantile %g: %g, want %g", q, got, want)
		}
	}
	var one spread
	one.add(math.MaxUint64)
	one.add(math.MaxUint64)
	if one.quantile(0.5) != math.MaxUint64 || one.most != math.MaxUint64 {
		t.Errorf("the largest number: %d", one.quantile(0.5))
	}
}

func TestTimeline(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	for range 200 {
		var l timeline
		at := map[uint64]uint64{}
		ts := r.Uint64N(1 << 40)
		for range r.IntN(3000) {
			ts += r.Uint64N(1 << r.IntN(20))
			if r.IntN(100) == 0 {
				ts -= min(ts, r.Uint64N(1<<20))
			}
			n := r.Uint64N(5)
			at[ts] += n
			l.add(ts, n)
		}
		want := make([]uint64, len(l.counts))
		for ts, n := range at {
			want[ts/l.width-l.first] += n
		}
		for i := range want {
			if l.counts[i] != want[i] {
				t.Fatalf("stretch %d of %d: %d, want %d", i, len(want), l.counts[i], want[i])
			}
		}
		if len(l.counts) > maxStretches || len(l.counts) < maxStretches/4 && l.width > 1 {
			t.Fatalf("%d stretches of width %d", len(l.counts), l.width)
		}
	}
	var l timeline
	l.add(1, 1)
	l.add(1<<48-1, 1) // an outlier in the year 10889
	if got := l.result(&formatSCRU128); len(got.Count) == 0 || got.Step <= 0 || got.Start.After(time.UnixMilli(1)) {
		t.Errorf("%+v", got)
	}
}
