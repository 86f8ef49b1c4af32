package randomness

import (
	"fmt"
	"math"

	"github.com/sortid/sortid/verify/internal/pvalue"
	"github.com/sortid/sortid/verify/internal/words"
)

// A Field gathers what the tests of randomness need to know of the values of one field
// of the IDs, of at most 64 bits, in the order of their generation.
type Field struct {
	name   string
	width  int
	buffer []uint64 // values not yet counted; the first one was, as the predecessor
	n      uint64

	chunks     []chunk
	neighbours columns // bits that differ from the next higher bit
	// Bits that differ from those of the value before. Those of a field of at most 32
	// bits are counted in the high half of neighbours.
	changes       columns
	products      float64 // of successive values, the middle of the range being zero
	middle        float64
	variance      float64
	repeats       *repeats
	raw           *BitWriter
	near, changed []uint64 // scratch
}

// A chunk counts how often each value of a few bits of the field comes.
type chunk struct {
	shift, width int
	counts       []uint64
}

const (
	fieldBuffer = 1024

	// maxWhole is the width up to which the values are counted as a whole, not byte by
	// byte.
	maxWhole = 12
)

func newField(name string, width int) *Field {
	f := &Field{
		name: name, width: width,
		buffer:  make([]uint64, 0, fieldBuffer),
		near:    make([]uint64, fieldBuffer),
		changed: make([]uint64, fieldBuffer),
	}
	size := math.Ldexp(1, min(width, 63))
	f.middle, f.variance = (size-1)/2, (size*size-1)/12
	step := 8
	if width <= maxWhole {
		step = width
	}
	for at := 0; at < width; at += step {
		w := min(step, width-at)
		f.chunks = append(f.chunks, chunk{at, w, make([]uint64, 1<<w)})
	}
	if width >= minRepeatWidth {
		f.repeats = newRepeats(width)
	}
	return f
}

// Add adds a value, which must have no bits above the field's width.
func (f *Field) Add(v uint64) {
	if len(f.buffer) == fieldBuffer {
		f.count()
	}
	f.buffer = append(f.buffer, v)
}

// Grow adds up to n values, at least one, and returns them for the caller to fill in at
// once.
func (f *Field) Grow(n int) []uint64 {
	if len(f.buffer) == fieldBuffer {
		f.count()
	}
	at := len(f.buffer)
	f.buffer = f.buffer[:min(at+n, fieldBuffer)]
	return f.buffer[at:]
}

// count empties the buffer, except for the last value.
func (f *Field) count() {
	fresh := f.buffer
	if f.n > 0 {
		fresh = f.buffer[1:]
	}
	if len(fresh) == 0 {
		return
	}
	f.n += uint64(len(fresh))
	if f.raw != nil {
		for _, v := range fresh {
			f.raw.Add(v, f.width)
		}
	}
	addChunks(f.chunks, fresh)
	if f.repeats != nil {
		f.repeats.add(fresh)
	}

	before := f.buffer[0]
	if len(fresh) == len(f.buffer) { // the first value of all has no predecessor
		f.products -= f.centred(before) * f.centred(before)
	}
	f.products += f.multiply(before, fresh)
	f.compare(before, fresh)
	f.buffer[0] = fresh[len(fresh)-1]
	f.buffer = f.buffer[:1]
}

// multiply returns the sum of the products of successive values.
func (f *Field) multiply(before uint64, values []uint64) float64 {
	x := f.centred(before)
	var even, odd float64 // two sums, so that additions need not wait for each other
	for ; len(values) >= 2; values = values[2:] {
		y, z := f.centred(values[0]), f.centred(values[1])
		even += x * y
		odd += y * z
		x = z
	}
	for _, v := range values {
		even += x * f.centred(v)
	}
	return even + odd
}

// compare counts the bits of values that differ from their neighbours and from the value
// before.
func (f *Field) compare(before uint64, values []uint64) {
	low := uint64(1)<<(f.width-1) - 1
	near := f.near[:len(values)]
	if f.width <= 32 {
		for i, v := range values {
			near[i] = (v^v>>1)&low | (v^before)<<32
			before = v
		}
		f.neighbours.add(near)
		return
	}
	changed := f.changed[:len(values)]
	for i, v := range values {
		near[i], changed[i] = (v^v>>1)&low, v^before
		before = v
	}
	f.neighbours.add(near)
	f.changes.add(changed)
}

// unequal returns how often a bit differed from the next higher one.
func (f *Field) unequal(bit int) uint64 { return f.neighbours.count(bit) }

// Toggled returns how often a bit differed from that of the value before.
func (f *Field) Toggled(bit int) uint64 {
	f.count()
	if f.width <= 32 {
		return f.neighbours.count(32 + bit)
	}
	return f.changes.count(bit)
}

// addChunks counts the values, two bytes at a time where there are two, so that additions
// wait less often for each other.
func addChunks(chunks []chunk, values []uint64) {
	for len(chunks) > 0 {
		c, shift := chunks[0], chunks[0].shift&63
		if len(chunks) > 1 && c.width == 8 && chunks[1].width == 8 {
			low, high := (*[256]uint64)(c.counts), (*[256]uint64)(chunks[1].counts)
			for _, v := range values {
				v >>= shift
				low[uint8(v)]++
				high[uint8(v>>8)]++
			}
			chunks = chunks[2:]
			continue
		}
		mask := uint64(len(c.counts) - 1)
		for _, v := range values {
			c.counts[v>>shift&mask]++
		}
		chunks = chunks[1:]
	}
}

// centred returns a value as its distance from the middle. Of 64 bits it leaves the last
// one out.
func (f *Field) centred(v uint64) float64 {
	if f.width == 64 {
		v >>= 1
	}
	return float64(int64(v)) - f.middle
}

// chi2 returns the p-value of the counts. Where there are too few values for so many
// counts it looks at the high bits only, as many of them as the number allows.
func (c *chunk) chi2(n uint64) (p float64, width int, x float64, ok bool) {
	width = c.width
	for width > 0 && n < minCell<<width {
		width--
	}
	if width < 2 {
		return 0, 0, 0, false // what is left is the balance of a bit
	}
	cells := make([]uint64, 1<<width)
	for v, count := range c.counts {
		cells[v>>(c.width-width)] += count
	}
	expected := float64(n) / float64(len(cells))
	for _, count := range cells {
		d := float64(count) - expected
		x += d * d / expected
	}
	return pvalue.Chi2(x, len(cells)-1), width, x, true
}

// ones returns how often a bit was set.
func (f *Field) ones(bit int) (n uint64) {
	c := f.chunks[0]
	for _, c = range f.chunks {
		if bit < c.shift+c.width {
			break
		}
	}
	for v, count := range c.counts {
		if v>>(bit-c.shift)&1 != 0 {
			n += count
		}
	}
	return n
}

// The tests, by name.
const (
	testBalance    = "balance"
	testBytes      = "bytes"
	testRuns       = "runs"
	testSerial     = "serial"
	testNeighbours = "neighbours"
	testRepeats    = "repeats"
)

var testNames = [...]string{testBalance, testBytes, testRuns, testSerial, testNeighbours, testRepeats}

// A result is the result of one test of a bit, of a chunk, or of the field.
type result struct {
	test string
	p    float64
	note string // what was seen, if that is worth saying
}

const (
	// minCell is how many values there must be for each one that is told apart, for the
	// chi-square distribution to hold in its far tail.
	minCell = 64
	// minProducts is how many products make a sum that is normally distributed there.
	minProducts = 1000
)

// results runs the tests.
func (f *Field) results() (rs []result) {
	f.count()
	if f.n < 2 {
		return nil
	}
	add := func(test string, p float64, format string, args ...any) {
		rs = append(rs, result{test, p, fmt.Sprintf(format, args...)})
	}
	for bit := range f.width {
		k := f.ones(bit)
		add(testBalance, pvalue.Coin(k, f.n), "bit %d is 1 in %s of the values", bit, words.Percent(k, f.n))
		k = f.Toggled(bit)
		add(testRuns, pvalue.Coin(k, f.n-1), "bit %d changes from one value to the next in %s of cases", bit, words.Percent(k, f.n-1))
		if bit < f.width-1 {
			k = f.unequal(bit)
			add(testNeighbours, pvalue.Coin(k, f.n), "bits %d and %d differ in %s of the values", bit+1, bit, words.Percent(k, f.n))
		}
	}
	for _, c := range f.chunks {
		if p, width, x, ok := c.chi2(f.n); ok {
			high := c.shift + c.width - 1
			add(testBytes, p, "bits %d to %d: chi-square %.1f with %d degrees of freedom", high, high-width+1, x, 1<<width-1)
		}
	}
	if f.n > minProducts {
		m := float64(f.n - 1)
		r := f.products / m / f.variance
		add(testSerial, pvalue.Normal(r*math.Sqrt(m)), "successive values have a covariance of %.4f of what their variance should be", r)
	}
	if f.repeats != nil {
		seen, expected, p := f.repeats.result()
		add(testRepeats, p, "%s of %s watched values had come before, %.3g were to be expected",
			words.Count(seen), words.Count(f.repeats.draws), expected)
	}
	return rs
}

// Len returns the number of values.
func (f *Field) Len() uint64 {
	f.count()
	return f.n
}
