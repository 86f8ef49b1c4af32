package chance

import (
	"fmt"
	"math"

	"github.com/sortid/sortid/internal/words"
	"github.com/sortid/sortid/verify/internal/findings"
)

// A Field collects the values of a random field of at most 64 bits, in the order of generation.
type Field struct {
	name   string
	width  int
	buffer []uint64 // values to count; if n > 0, the first is already counted
	n      uint64   // values counted

	chunks     []chunk
	neighbours columns // counts bits that differ from the next higher bit
	// Counts bits that differ from the previous value. If width is at most 32, the high half of
	// neighbours counts them instead.
	changes       columns
	products      float64 // sum of (value - middle) * (next value - middle)
	middle        float64
	variance      float64
	repeats       *repeats
	raw           *BitWriter
	near, changed []uint64 // buffers of the method compare
	digits        *digits  // nil if the field has bits

	// SameOnly means that the field need not be random. Then Judge looks only for constant bits.
	SameOnly bool
	// Half says why the highest bit may always be 0, or why numbers may always be below one half. It
	// is empty if they may not.
	Half string
	// Unordered means that values are not in the order of generation.
	Unordered bool
	// Prefix is how many of the highest bits may belong to a counter that continues from tick to tick.
	// So they may always be the same.
	Prefix int
	// Skip is the reason not to judge the field, or empty.
	Skip string
}

// A chunk counts how often each value of a few bits occurs.
type chunk struct {
	shift, width int
	counts       []uint64
}

const (
	fieldBuffer = 1024

	// Up to a width of maxWhole bits, whole values are counted. Above it, each byte is counted.
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

// Add adds a value, which must fit in the field's width.
func (f *Field) Add(v uint64) {
	if len(f.buffer) == fieldBuffer {
		f.count()
	}
	f.buffer = append(f.buffer, v)
}

// Grow adds from 1 to n values and returns them. The caller must set them before the next call.
func (f *Field) Grow(n int) []uint64 {
	if len(f.buffer) == fieldBuffer {
		f.count()
	}
	at := len(f.buffer)
	f.buffer = f.buffer[:min(at+n, fieldBuffer)]
	return f.buffer[at:]
}

// count counts the values in the buffer. Only the last value stays there.
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
	if len(fresh) == len(f.buffer) {
		f.products -= f.centred(before) * f.centred(before)
	}
	f.products += f.multiply(before, fresh)
	f.compare(before, fresh)
	f.buffer[0] = fresh[len(fresh)-1]
	f.buffer = f.buffer[:1]
}

func (f *Field) multiply(before uint64, values []uint64) float64 {
	x := f.centred(before)
	var even, odd float64 // two sums, added in parallel
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

// Toggled returns how often a bit differed from the same bit of the previous value.
func (f *Field) Toggled(bit int) uint64 {
	f.count()
	if f.width <= 32 {
		return f.neighbours.count(32 + bit)
	}
	return f.changes.count(bit)
}

// addChunks counts two bytes of a value in one loop if possible, because the processor can do both
// additions at the same time.
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

// centred returns v minus half the largest possible value. If v has 64 bits, centred ignores the
// lowest bit.
func (f *Field) centred(v uint64) float64 {
	if f.width == 64 {
		v >>= 1
	}
	return float64(int64(v)) - f.middle
}

// chi2 returns the p-value of the counts. With few values, it uses only high bits of the chunk.
func (c *chunk) chi2(n uint64) (p float64, width int, x float64, ok bool) {
	width = c.width
	for width > 0 && n < minCell<<width {
		width--
	}
	if width < 2 {
		return 0, 0, 0, false // testBalance already tests single bits
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
	return findings.Chi2(x, len(cells)-1), width, x, true
}

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

type kind struct{ name, title, wrong string }

var (
	testSame    = kind{"same", "no bit is always the same", "bits are always the same"}
	testBalance = kind{"balance", "each bit is 1 in half of the values",
		"a bit is 1 too often or too rarely"}
	testBytes = kind{"bytes", "all values are equally frequent",
		"some values are too frequent, or all are too equally frequent"}
	testRuns = kind{"runs", "each bit changes from one value to the next in half of the cases",
		"a bit changes too often or too rarely"}
	testSerial = kind{"serial", "a value does not depend on the previous value",
		"a value depends on the previous value"}
	testNeighbours = kind{"neighbours", "neighbouring bits differ in half of the values",
		"neighbouring bits differ too often or too rarely"}
	testRepeats = kind{"repeats", "values repeat as often as by chance",
		"values repeat too often or too rarely"}
)

// kinds has all kinds except testSame, which has no p-value.
var kinds = []kind{testBalance, testBytes, testRuns, testSerial, testNeighbours, testRepeats}

// A result is the outcome of one test of a bit, a chunk or the whole field.
type result struct {
	kind kind
	p    float64
	note string
}

const (
	// A cell is a count in chi2. If the mean count is at least minCell, the chi-square distribution
	// is right even for very small p-values.
	minCell = 64
	// The mean of more than minProducts products has nearly a normal distribution.
	minProducts = 1000
)

// results tests the field. If the highest bit is always 0, it tests only the other bits.
func (f *Field) results() (rs []result) {
	f.count()
	if f.n < 2 {
		return nil
	}
	if f.digits != nil {
		rs = f.digits.results(f.Unordered)
	} else {
		rs = f.bitResults()
	}
	if f.guarded() {
		return rs
	}
	return append(rs, f.valueResults()...)
}

func (f *Field) bitResults() (rs []result) {
	width := f.width
	if f.guarded() {
		width--
	}
	add := func(k kind, p float64, format string, args ...any) {
		rs = append(rs, result{k, p, fmt.Sprintf(format, args...)})
	}
	for bit := range width {
		k := f.ones(bit)
		add(testBalance, findings.Coin(k, f.n), "bit %d is 1 in %s of the values", bit,
			words.Percent(k, f.n))
		if !f.Unordered {
			k = f.Toggled(bit)
			add(testRuns, findings.Coin(k, f.n-1),
				"bit %d changes from one value to the next in %s of the cases", bit,
				words.Percent(k, f.n-1))
		}
		if bit < width-1 {
			k = f.neighbours.count(bit)
			add(testNeighbours, findings.Coin(k, f.n), "bits %d and %d differ in %s of the values",
				bit+1, bit, words.Percent(k, f.n))
		}
	}
	for _, c := range f.chunks {
		if c.shift+c.width > width {
			break
		}
		if p, width, x, ok := c.chi2(f.n); ok {
			high := c.shift + c.width - 1
			add(testBytes, p, "bits %d to %d: chi-square %.1f with %d degrees of freedom", high,
				high-width+1, x, 1<<width-1)
		}
	}
	return rs
}

// valueResults tests whole values.
func (f *Field) valueResults() (rs []result) {
	if f.n > minProducts && !f.Unordered {
		m := float64(f.n - 1)
		r := f.products / m / f.variance
		rs = append(rs, result{testSerial, findings.Normal(r * math.Sqrt(m)),
			fmt.Sprintf("the serial correlation of successive values is %.4f", r)})
	}
	if f.repeats != nil {
		seen, expected, p := f.repeats.result()
		rs = append(rs, result{testRepeats, p, fmt.Sprintf("%s among %s; chance explains %.3g",
			words.Plural(seen, "repeat"), words.Plural(f.repeats.draws, "watched value"), expected)})
	}
	return rs
}

func (f *Field) Width() int { return f.width }

func (f *Field) Len() uint64 {
	f.count()
	return f.n
}
