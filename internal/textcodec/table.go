// Package textcodec writes integers as texts of a fixed length, and reads them: in base 36, in
// Crockford's Base32, in base32hex, and as UUIDs. Most significant symbols come first. Tables
// decode four symbols at a time, and encode two. A format's Parse makes a single call, which also
// makes the error.
package textcodec

// NoSymbol is the value of a byte that is not a symbol. It is larger than the value of any eight
// symbols of base 32, or four of base 64. The sum of four, shifted by 20 bits, does not overflow.
const NoSymbol = 1 << 41

// A DecodeTable has the value of each byte at each of four places, or NoSymbol.
type DecodeTable [4][256]uint64

// NewDecodeTable returns the table of an alphabet. With ignoreCase, the alphabet must have letters
// of one case, and the table reads both cases.
func NewDecodeTable(alphabet string, ignoreCase bool) (t DecodeTable) {
	for place := range t {
		for c := range t[place] {
			t[place][c] = NoSymbol
		}
	}
	base := uint64(len(alphabet))
	for value, c := range []byte(alphabet) {
		worth := uint64(value)
		for place := 3; place >= 0; place-- {
			t[place][c] = worth
			if ignoreCase && c >= 'A' {
				t[place][c^('a'-'A')] = worth
			}
			worth *= base
		}
	}
	return t
}

func (t *DecodeTable) Alias(c, symbol byte) {
	for place := range t {
		t[place][c], t[place][c+'a'-'A'] = t[place][symbol], t[place][symbol]
	}
}

// Four returns the value of four symbols, or at least NoSymbol if a byte is not a symbol.
func (t *DecodeTable) Four(s *[4]byte) uint64 {
	return t[0][s[0]] + t[1][s[1]] + t[2][s[2]] + t[3][s[3]]
}

// BadSymbol returns the offset of the first byte that is not a symbol.
func (t *DecodeTable) BadSymbol(s []byte) int {
	for i, c := range s {
		if t[3][c] == NoSymbol {
			return i
		}
	}
	return len(s)
}

// FillPairs sets each element to the text of two symbols, with the first symbol in the low byte.
func FillPairs(pairs []uint16, alphabet string) {
	for i := range pairs {
		pairs[i] = uint16(alphabet[i/len(alphabet)]) | uint16(alphabet[i%len(alphabet)])<<8
	}
}

// eight returns the text of the low 40 bits of v in base 32, with the first symbol in the low byte.
// One store of eight symbols is faster than a store for each pair.
func eight(pairs *[1 << 10]uint16, v uint64) uint64 {
	return uint64(pairs[v>>30&1023]) | uint64(pairs[v>>20&1023])<<16 |
		uint64(pairs[v>>10&1023])<<32 | uint64(pairs[v&1023])<<48
}
