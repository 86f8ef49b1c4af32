// Package basen has the tables to read and write texts in base 32, 36 and 64, four symbols and two
// at a time.
package basen

// NoSymbol is the value of a byte that is not a symbol. It is larger than the value of any four
// symbols, so it shows in a sum. Four times NoSymbol does not overflow.
const NoSymbol = 1 << 28

// A DecodeTable holds the value of each byte at each of four places. For a symbol, that is its
// value times the power of the base for the place. For other bytes it is NoSymbol.
type DecodeTable [4][256]uint32

// NewDecodeTable returns the table of an alphabet, which is in upper or lower case. With
// ignoreCase, letters may be in either case.
func NewDecodeTable(alphabet string, ignoreCase bool) (t DecodeTable) {
	for place := range t {
		for c := range t[place] {
			t[place][c] = NoSymbol
		}
	}
	base := uint32(len(alphabet))
	for value, c := range []byte(alphabet) {
		worth := uint32(value)
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

// Alias makes the capital c and its small letter mean another symbol.
func (t *DecodeTable) Alias(c, symbol byte) {
	for place := range t {
		t[place][c], t[place][c+'a'-'A'] = t[place][symbol], t[place][symbol]
	}
}

// Four returns the value of four symbols, or NoSymbol or more if one is not a symbol.
func (t *DecodeTable) Four(s *[4]byte) uint32 {
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

// FillPairs sets pairs to the texts of two symbols, by their value.
func FillPairs(pairs [][2]byte, alphabet string) {
	for i := range pairs {
		pairs[i] = [2]byte{alphabet[i/len(alphabet)], alphabet[i%len(alphabet)]}
	}
}
