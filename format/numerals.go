package format

import (
	"fmt"
	"math/bits"
)

// numerals reads and writes texts that are an integer in the digits of an alphabet, at full
// length.
type numerals struct {
	format *Format
	length int
	values [256]uint8 // of the digits; noDigit for others
}

const noDigit = 0xff

func newNumerals(f *Format) *numerals {
	n := &numerals{format: f, length: f.TextLengths[0]}
	for i := range n.values {
		n.values[i] = noDigit
	}
	for i, c := range []byte(f.Symbols) {
		n.values[c] = uint8(i)
		if f.FoldsCase && 'A' <= c && c <= 'Z' {
			n.values[c|0x20] = uint8(i)
		}
	}
	return n
}

func (n *numerals) parse(text string) (w words, err error) {
	f := n.format
	_, rest := f.cutPrefix(text)
	if len(rest) != n.length {
		return words{}, f.inputError(text, fmt.Sprintf("want %s", f.Alphabet))
	}
	base := uint64(len(f.Symbols))
	for i := range len(rest) {
		digit := n.values[rest[i]]
		if digit == noDigit {
			at := len(text) - len(rest) + i
			reason := fmt.Sprintf("%q at offset %d is not in the alphabet", text[at:at+1], at)
			return words{}, f.inputError(text, reason)
		}
		carry := uint64(digit)
		for j := 2; j >= 0; j-- {
			high, low := bits.Mul64(w[j], base)
			low, over := bits.Add64(low, carry, 0)
			w[j], carry = low, high+over
		}
	}
	pad := w[2] & (1<<f.TextPad - 1)
	if w = w.shiftRight(f.TextPad); pad != 0 || w.compare(f.max) > 0 {
		return words{}, f.inputError(text, "it has more bits than an ID")
	}
	return w, f.check(w)
}

func (n *numerals) append(b []byte, w words) []byte {
	base := uint64(len(n.format.Symbols))
	var buf [64]byte
	w = w.shiftLeft(n.format.TextPad)
	for i := n.length - 1; i >= 0; i-- {
		var rest uint64
		for j := range w {
			w[j], rest = bits.Div64(rest, w[j], base)
		}
		buf[i] = n.format.Symbols[rest]
	}
	return append(b, buf[:n.length]...)
}

// shiftLeft shifts by less than 64 bits, as shiftRight does.
func (w words) shiftLeft(n int) words {
	return words{w[0]<<n | w[1]>>(64-n), w[1]<<n | w[2]>>(64-n), w[2] << n}
}

func (w words) shiftRight(n int) words {
	return words{w[0] >> n, w[1]>>n | w[0]<<(64-n), w[2]>>n | w[1]<<(64-n)}
}
