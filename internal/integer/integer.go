// Package integer has integers of up to 192 bits, and the places of fields in them.
package integer

import (
	"encoding/binary"
	"math/bits"
	"strconv"
)

// Words are an integer of 192 bits. The compiler keeps a struct in registers, but not an array.
type Words struct{ High, Mid, Low uint64 }

// FromArray returns the integer with these words, the most significant first.
func FromArray(w [3]uint64) Words { return Words{w[0], w[1], w[2]} }

// Array returns the integer's words, the most significant first.
func (w Words) Array() [3]uint64 { return [3]uint64{w.High, w.Mid, w.Low} }

// FromBytes returns the integer with these big-endian bytes.
func FromBytes(b *[24]byte) Words {
	return Words{binary.BigEndian.Uint64(b[0:]), binary.BigEndian.Uint64(b[8:]),
		binary.BigEndian.Uint64(b[16:])}
}

// Put sets b to the integer's bytes, big-endian.
func (w Words) Put(b *[24]byte) {
	binary.BigEndian.PutUint64(b[0:], w.High)
	binary.BigEndian.PutUint64(b[8:], w.Mid)
	binary.BigEndian.PutUint64(b[16:], w.Low)
}

// Ones returns the integer whose n low bits are set.
func Ones(n int) Words { return Words{^uint64(0), ^uint64(0), ^uint64(0)}.Shift(n - 192) }

// Compare returns -1, 0 or +1 if w is below, equal to or above v.
func (w Words) Compare(v Words) int {
	switch {
	case w == v:
		return 0
	case w.Less(&v):
		return -1
	}
	return 1
}

// Less reports whether w < v.
func (w *Words) Less(v *Words) bool {
	_, borrow := bits.Sub64(w.Low, v.Low, 0)
	_, borrow = bits.Sub64(w.Mid, v.Mid, borrow)
	_, borrow = bits.Sub64(w.High, v.High, borrow)
	return borrow != 0
}

func (w Words) Or(v Words) Words  { return Words{w.High | v.High, w.Mid | v.Mid, w.Low | v.Low} }
func (w Words) And(v Words) Words { return Words{w.High & v.High, w.Mid & v.Mid, w.Low & v.Low} }

func (w Words) AndNot(v Words) Words {
	return Words{w.High &^ v.High, w.Mid &^ v.Mid, w.Low &^ v.Low}
}

// Shift shifts left, or right if n < 0.
func (w Words) Shift(n int) Words {
	for ; n >= 64; n -= 64 {
		w = Words{w.Mid, w.Low, 0}
	}
	for ; n <= -64; n += 64 {
		w = Words{0, w.High, w.Mid}
	}
	if n >= 0 {
		return Words{w.High<<n | w.Mid>>(64-n), w.Mid<<n | w.Low>>(64-n), w.Low << n}
	}
	n = -n
	return Words{w.High >> n, w.Mid>>n | w.High<<(64-n), w.Low>>n | w.Mid<<(64-n)}
}

// TimesPlus multiplies by factor and adds carry. It returns the overflow.
func (w *Words) TimesPlus(factor, carry uint64) (over uint64) {
	for _, word := range [...]*uint64{&w.Low, &w.Mid, &w.High} {
		high, low := bits.Mul64(*word, factor)
		low, more := bits.Add64(low, carry, 0)
		*word, carry = low, high+more
	}
	return carry
}

// Divide divides by a divisor, and returns the remainder.
func (w *Words) Divide(divisor uint64) (rest uint64) {
	w.High, rest = w.High/divisor, w.High%divisor
	w.Mid, rest = bits.Div64(rest, w.Mid, divisor)
	w.Low, rest = bits.Div64(rest, w.Low, divisor)
	return rest
}

const ten19 = 10_000_000_000_000_000_000 // the largest power of ten in a word

// AppendDecimal appends an integer of at most 160 bits in decimal.
func (w Words) AppendDecimal(b []byte) []byte {
	if w.High|w.Mid == 0 {
		return strconv.AppendUint(b, w.Low, 10) // faster
	}
	var parts [3]uint64 // of 19 digits, the lowest first; 160 bits have at most 49 digits
	n := 0
	for w.High|w.Mid != 0 {
		parts[n] = w.Divide(ten19)
		n++
	}
	parts[n] = w.Low
	if w.Low == 0 {
		n--
	}
	b = strconv.AppendUint(b, parts[n], 10)
	for n--; n >= 0; n-- {
		b = AppendPadded(b, parts[n], 19)
	}
	return b
}

// AppendPadded appends v in decimal, with zeros before it to make width digits, at most 19.
func AppendPadded(b []byte, v uint64, width int) []byte {
	var buf [20]byte
	digits := strconv.AppendUint(buf[:0], v, 10)
	b = append(b, "0000000000000000000"[:max(width-len(digits), 0)]...)
	return append(b, digits...)
}

// A Place is a range of at most 64 bits.
type Place struct {
	word  uint8 // of the lowest bit: 0 is the lowest word
	shift uint8 // the lowest bit's position in that word
	mask  uint64
}

// PlaceOf returns the place with this lowest bit and this number of bits.
func PlaceOf(low, bits int) Place {
	return Place{uint8(low / 64), uint8(low % 64), 1<<bits - 1}
}

// Max returns the largest content of the place.
func (p *Place) Max() uint64 { return p.mask }

// Width returns the place's number of bits.
func (p *Place) Width() int { return bits.Len64(p.mask) }

// Of returns the place's content.
func (p *Place) Of(w *Words) uint64 {
	word, above := w.Low, w.Mid
	if p.word == 1 {
		word, above = w.Mid, w.High
	} else if p.word == 2 {
		word, above = w.High, 0
	}
	return (word>>(p.shift&63) | above<<1<<((63-p.shift)&63)) & p.mask
}
