package exact

import (
	"bytes"
	"fmt"
	"math"
	"math/bits"
	"strings"

	"github.com/sortid/sortid/internal/integer"
	"github.com/sortid/sortid/internal/spec"
	"github.com/sortid/sortid/verify/internal/chance"
)

// A digitField has random digits of an ID's text. It tests each digit, and the 32 highest bits of
// their number, as a share of the largest number.
type digitField struct {
	digits   spec.Digits
	alphabet string
	index    [256]uint8 // of characters in the alphabet
	weights  []uint64   // of the digits in the number
	values   uint64     // how many numbers there are
	size     int        // of digits, and a random digit after them
	field    *chance.Field
	leading  []*leading // of hashes

	symbols []uint8
	seen    map[string]bool // the digits of each process
}

// If processes have the same digits in all IDs, the digits of at most maxProcesses processes are
// tested.
const maxProcesses = 1 << 16

func newDigits(r *Rules, d spec.Digits) *digitField {
	t := &digitField{digits: d, size: d.Count, seen: map[string]bool{},
		alphabet: strings.TrimLeft(r.Format.Text.Symbols, " ")}
	for i, c := range []byte(t.alphabet) {
		t.index[c] = uint8(i)
	}
	for _, next := range r.Format.Habits.Digits {
		if next.From == d.From+d.Count && d.From >= 0 {
			t.size++
		}
	}
	t.symbols = make([]uint8, t.size)
	t.weigh()
	for _, size := range d.Hashes {
		t.leading = append(t.leading, newLeading(size, len(t.alphabet)))
	}
	var places []chance.Place
	for i := range t.size {
		places = append(places, t.place(i))
	}
	t.field = r.Fields.AddDigits(d.Name, t.alphabet, places, d.Count)
	t.field.Half = d.Half
	t.field.Unordered = r.Options.Unordered
	return t
}

// weigh sets the weights of the first digits, as many as fit in 64 bits. It leaves out the first
// digits of a hash, because numbers with them would repeat too often.
func (t *digitField) weigh() {
	t.values = 1
	for i := 0; i < t.digits.Count && t.values <= math.MaxUint64/uint64(t.base(i)); i++ {
		t.weights = append(t.weights, 0)
		if t.counts(i) {
			t.values *= uint64(t.base(i))
		}
	}
	rest := t.values
	for i := range t.weights {
		if t.counts(i) {
			rest /= uint64(t.base(i))
			t.weights[i] = rest
		}
	}
}

// counts reports whether a digit's symbols are equally probable.
func (t *digitField) counts(i int) bool {
	return len(t.digits.Hashes) == 0 || i == 0 || i > len(leading{}.shares)
}

func (t *digitField) first(i int) string {
	if i == 0 && t.digits.First != "" {
		return t.digits.First
	}
	return t.alphabet
}

func (t *digitField) base(i int) int { return len(t.first(i)) }

// place describes a digit. Users count a text's digits from 1, or from the end.
func (t *digitField) place(i int) chance.Place {
	d := &t.digits
	p := chance.Place{Name: fmt.Sprintf("digit %d", d.From+i+1),
		Halved: d.Half != "" && i%d.Block == 0}
	if d.From < 0 {
		p.Name = fmt.Sprintf("digit %d of the last %d", i+1, -d.From)
	}
	even := make([]float64, len(t.alphabet))
	for _, c := range []byte(t.first(i)) {
		even[t.index[c]] = 1 / float64(t.base(i))
	}
	add := func(shares []float64, equal float64) {
		p.Shares, p.Equal = append(p.Shares, shares), append(p.Equal, equal)
	}
	add(even, 0)
	if d.Bytes {
		add(ofBytes(len(t.alphabet)), 0)
	}
	for _, l := range t.leading {
		if i == 0 {
			break
		}
		for skip := i - 1; skip < len(l.shares); skip++ {
			add(l.shares[skip], l.equal[skip])
		}
		if i < len(l.shares) {
			add(l.signed(i))
		}
	}
	return p
}

// ofBytes returns the probabilities of the remainders of a random byte.
func ofBytes(base int) []float64 {
	shares := make([]float64, base)
	for b := range 256 {
		shares[b%base] += 1.0 / 256
	}
	return shares
}

// leading is about the first digits of a random number that is written without leading zeros. It has
// the probabilities of each digit's symbols, and the probability that the digit equals the next one.
// The symbols of later digits are nearly equally probable.
type leading struct {
	shares [3][]float64
	equal  [3]float64
}

func newLeading(size, base int) *leading {
	l := &leading{equal: [3]float64{2: 1 / float64(base)}}
	for i := range l.shares {
		l.shares[i] = make([]float64, base)
	}
	numbers, lowest := math.Ldexp(1, size), base*base // the first number of three digits
	unit := 1.0                                       // how many numbers begin with the same three digits
	for unit*float64(lowest*base) < numbers {
		unit *= float64(base)
	}
	for range 5 { // numbers that are five digits shorter are too rare to matter
		for p := lowest; p < lowest*base && float64(p) < numbers/unit; p++ {
			share := min(1, numbers/unit-float64(p)) * unit / numbers
			digits := [3]int{p / lowest, p / base % base, p % base}
			for i, digit := range digits {
				if l.shares[i][digit] += share; i > 0 && digit == digits[i-1] {
					l.equal[i-1] += share
				}
			}
		}
		unit /= float64(base)
	}
	return l
}

// signed returns the probabilities for digit i of a random number after its sign, which half of the
// numbers have. The first character, a sign or a digit, is cut off.
func (l *leading) signed(i int) (shares []float64, equal float64) {
	for symbol, share := range l.shares[i-1] {
		shares = append(shares, (share+l.shares[i][symbol])/2)
	}
	return shares, (l.equal[i-1] + l.equal[i]) / 2
}

// addDigits adds the digits of IDs to all digit fields.
func (r *Rules) addDigits(list []integer.Words) {
	if len(r.digits) == 0 {
		return
	}
	var buffer [64]byte
	for _, v := range list {
		if !r.Format.Has(v) {
			continue
		}
		text := bytes.TrimRight(r.Format.Append(buffer[:0], v, spec.Text), " ")
		for _, t := range r.digits {
			t.add(text)
		}
	}
}

func (t *digitField) add(text []byte) {
	from := t.digits.From
	if from < 0 {
		from += len(text)
	}
	text = text[from : from+t.size]
	if t.digits.Same {
		if t.seen[string(text)] || len(t.seen) == maxProcesses {
			return
		}
		t.seen[string(text)] = true
	}
	for i, c := range text {
		t.symbols[i] = t.index[c]
	}
	t.field.AddSymbols(t.symbols)
	t.field.Add(t.share())
}

// share returns the digits' number, as a share of the largest number.
func (t *digitField) share() uint64 {
	n := uint64(0)
	for i, weight := range t.weights {
		n += uint64(t.symbols[i]) * weight
	}
	if t.digits.First != "" {
		n -= uint64(t.index[t.digits.First[0]]) * t.weights[0]
	}
	share, _ := bits.Div64(n>>32, n<<32, t.values)
	return share
}
