package chance

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/sortid/sortid/verify/internal/controls"
	"github.com/sortid/sortid/verify/internal/findings"
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

func TestField(t *testing.T) {
	for _, width := range []int{1, 2, 9, 12, 13, 15, 24, 40, 63, 64} {
		r := rand.New(rand.NewPCG(2, uint64(width)))
		f := newField("x", width)
		n := 5000 + r.IntN(3000)
		values := make([]uint64, n)
		ones, changes, neighbours := make([]uint64, width), make([]uint64, width), make([]uint64,
			width)
		products, size := 0.0, math.Ldexp(1, width)
		for i := range values {
			v := r.Uint64() >> (64 - width)
			values[i] = v
			f.Add(v)
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
			if f.ones(bit) != ones[bit] || f.Toggled(bit) != changes[bit] || bit < width-1 &&
				f.neighbours.count(bit) != neighbours[bit] {
				t.Errorf("width %d, bit %d: %d %d %d, want %d %d %d", width, bit,
					f.ones(bit), f.Toggled(bit), f.neighbours.count(bit), ones[bit], changes[bit],
					neighbours[bit])
			}
		}
		got, want := f.products/f.variance, products/((size*size-1)/12)
		if math.Abs(got-want) > 1e-6*math.Sqrt(float64(n)) {
			t.Errorf("width %d: products %g, want %g", width, got, want)
		}
	}
}

func TestRepeats(t *testing.T) {
	for _, c := range []struct{ width, n int }{{20, 1000}, {20, 200_000}, {24, 2_000_000},
		{32, 500_000}, {64, 300_000}} {
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
			t.Errorf("width %d: %d draws, %d distinct, want %d, %d", c.width, f.draws, f.distinct,
				draws, len(seen))
		}
		if _, _, p := f.result(); p < 1e-5 {
			t.Errorf("width %d, %d random values: p = %g", c.width, c.n, p)
		}
		// One generator is periodic. The other returns each value once.
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
				t.Errorf("width %d, %d values: %s: p = %g, expected %g", c.width, c.n, name, p,
					expected)
			}
		}
	}
}

// Half of the p-values are below one half, or fewer if only a few p-values are possible.
func TestRepeatsPValues(t *testing.T) {
	rounds := 200
	if testing.Short() {
		rounds = 60
	}
	for _, c := range []struct{ width, n int }{{20, 3000}, {20, 40_000}, {20, 100_000},
		{24, 100_000}} {
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
			t.Errorf("width %d, %d values: a share of %.3f of the p-values is below 0.5", c.width,
				c.n, x)
		}
		if tiny > rounds/100+3+rounds/100 {
			t.Errorf("width %d, %d values: %d of %d p-values are below 0.01", c.width, c.n, tiny,
				rounds)
		}
	}
}

// The tests find the smallest bias that the report names.
func TestBias(t *testing.T) {
	seen := 0
	const n, rounds = 100_000, 40
	for i := range rounds {
		r := rand.New(rand.NewPCG(5, uint64(i)))
		var s Set
		f := s.Add("x", 32)
		limit := uint64((0.5 + detectableBias(n, 200)) * math.MaxUint32)
		for range n {
			v := r.Uint64() >> 32 &^ 1
			if r.Uint64()>>32 < limit {
				v |= 1
			}
			f.Add(v)
		}
		var found findings.List
		s.Judge(&found)
		for _, t := range found.Outcomes() {
			if t.Name == "random.x.balance" && t.Count > 0 {
				seen++
			}
		}
	}
	if seen < rounds*9/10 {
		t.Errorf("a bias of %.4f in one bit was found in %d of %d streams", detectableBias(n, 200),
			seen, rounds)
	}
}

func TestPValuesAreUniform(t *testing.T) {
	rounds := 300
	if testing.Short() {
		rounds = 60
	}
	limits := []float64{0.5, 0.1, 0.01, 0.001}
	below := map[kind][4]int{}
	total := map[kind]int{}
	for seed := range uint64(rounds) {
		for _, width := range []int{9, 16, 24, 32, 40, 64} {
			f := newField("x", width)
			m := controls.New(seed, "", 0, 0)
			for range 30_000 {
				f.Add(m.Uint64() >> (64 - width))
			}
			for _, r := range f.results() {
				total[r.kind]++
				counts := below[r.kind]
				for i, u := range limits {
					if r.p < u {
						counts[i]++
					}
				}
				below[r.kind] = counts
			}
		}
	}
	for _, test := range kinds {
		n := float64(total[test])
		for i, u := range limits {
			got := float64(below[test][i])
			// The bounds are wide, because the results of one field depend on each other. Also, a
			// small number of repeats has only a few possible p-values.
			sd := 1.5 * math.Sqrt(n*u*(1-u))
			low := n*u - 5*sd
			if test == testRepeats {
				low = 0
			}
			if got > n*u+5*sd || got < low {
				t.Errorf("%s: %.0f of %.0f p-values below %g, want %.0f", test.name, got, n, u, n*u)
			}
		}
	}
}

func TestBitWriter(t *testing.T) {
	var out bytes.Buffer
	b := &BitWriter{w: &out}
	b.Add(0b101, 3)
	b.Add(0xffff_0000_ffff_0001, 64)
	b.Add(1, 1)
	b.Add(0x12345, 20)
	b.Flush()
	bits := ""
	for _, c := range out.Bytes() {
		bits += fmt.Sprintf("%08b", c)
	}
	want := "101" + fmt.Sprintf("%064b", uint64(0xffff_0000_ffff_0001)) + "1" +
		fmt.Sprintf("%020b", 0x12345)
	if want = want[:len(want)/8*8]; bits != want {
		t.Errorf("%s, want %s", bits, want)
	}
}
