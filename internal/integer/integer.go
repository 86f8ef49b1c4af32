// Package integer has integers of up to 192 bits, and the places of fields in them.
package integer

import (
	"cmp"
	"encoding/binary"
	"math/bits"
	"strconv"
)

// Words are an integer, the most significant word first.
type Words [3]uint64

// FromBytes returns the integer with these big-endian bytes.
func FromBytes(b *[24]byte) Words {
	return Words{binary.BigEndian.Uint64(b[0:]), binary.BigEndian.Uint64(b[8:]),
		binary.BigEndian.Uint64(b[16:])}
}

// Put sets b to the integer's bytes, big-endian.
func (w *Words) Put(b *[24]byte) {
	binary.BigEndian.PutUint64(b[0:], w[0])
	binary.BigEndian.PutUint64(b[8:], w[1])
	binary.BigEndian.PutUint64(b[16:], w[2])
}

// Ones returns the integer whose n low bits are set.
func Ones(n int) Words { return Words{^uint64(0), ^uint64(0), ^uint64(0)}.Shift(n - 192) }

// Compare returns -1, 0 or +1 if w is below, equal to or above v.
func (w Words) Compare(v Words) int {
	for i := range w {
		if w[i] != v[i] {
			return cmp.Compare(w[i], v[i])
		}
	}
	return 0
}

// Less reports whether w < v.
func (w *Words) Less(v *Words) bool {
	_, borrow := bits.Sub64(w[2], v[2], 0)
	_, borrow = bits.Sub64(w[1], v[1], borrow)
	_, borrow = bits.Sub64(w[0], v[0], borrow)
	return borrow != 0
}

func (w Words) Or(v Words) Words  { return Words{w[0] | v[0], w[1] | v[1], w[2] | v[2]} }
func (w Words) And(v Words) Words { return Words{w[0] & v[0], w[1] & v[1], w[2] & v[2]} }

// Shift shifts left, or right if n < 0, by less than 192 bits.
func (w Words) Shift(n int) (s Words) {
	switch {
	case n == 0:
		return w
	case n > 0:
		for i := 0; i+n/64 < 3; i++ {
			s[i] = w[i+n/64] << (n % 64)
			if i+n/64 < 2 {
				s[i] |= w[i+n/64+1] >> (64 - n%64)
			}
		}
		return s
	}
	n = -n
	for i := n / 64; i < 3; i++ {
		s[i] = w[i-n/64] >> (n % 64)
		if i > n/64 {
			s[i] |= w[i-n/64-1] << (64 - n%64)
		}
	}
	return s
}

// TimesPlus multiplies by factor and adds carry. It returns the overflow.
func (w *Words) TimesPlus(factor, carry uint64) (over uint64) {
	for i := 2; i >= 0; i-- {
		high, low := bits.Mul64(w[i], factor)
		low, more := bits.Add64(low, carry, 0)
		w[i], carry = low, high+more
	}
	return carry
}

const ten19 = 10_000_000_000_000_000_000 // the largest power of ten in a word

// AppendDecimal appends an integer of at most 160 bits in decimal.
func (w Words) AppendDecimal(b []byte) []byte {
	var parts [3]uint64 // of 19 digits, the lowest first; 160 bits have at most 49 digits
	n := 0
	for w[0]|w[1] != 0 {
		var rest uint64
		w[0], rest = w[0]/ten19, w[0]%ten19
		w[1], rest = bits.Div64(rest, w[1], ten19)
		w[2], rest = bits.Div64(rest, w[2], ten19)
		parts[n] = rest
		n++
	}
	parts[n] = w[2]
	if w[2] == 0 && n > 0 {
		n--
	}
	b = strconv.AppendUint(b, parts[n], 10)
	for n--; n >= 0; n-- {
		b = AppendPadded(b, parts[n], 19)
	}
	return b
}

// AppendPadded appends v in decimal, with zeros before it to make width digits.
func AppendPadded(b []byte, v uint64, width int) []byte {
	var buf [20]byte
	for i := width - 1; i >= 0; i-- {
		buf[i] = byte('0' + v%10)
		v /= 10
	}
	return append(b, buf[:width]...)
}

// A Place is a range of at most 64 bits.
type Place struct {
	word, above uint8 // the indexes of the lowest bit's word, and of the word above it
	shift       uint8
	mask        uint64
}

// PlaceOf returns the place with this lowest bit and this number of bits.
func PlaceOf(low, bits int) Place {
	word := 2 - low/64
	return Place{uint8(word), uint8(max(word-1, 0)), uint8(low % 64), 1<<bits - 1}
}

// Max returns the largest content of the place.
func (p *Place) Max() uint64 { return p.mask }

// Width returns the place's number of bits.
func (p *Place) Width() int { return bits.Len64(p.mask) }

// Of returns the place's content.
func (p *Place) Of(w *Words) uint64 {
	return (w[p.word]>>(p.shift&63) | w[p.above]<<1<<((63-p.shift)&63)) & p.mask
}
