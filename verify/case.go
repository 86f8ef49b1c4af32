package verify

import "encoding/binary"

// cases reports whether there are capitals, and whether there are small letters, among
// the digits of an encoding; there must be eight or more. Where an ID has one text but for
// the case of letters, this tells whether it is the one that the ID is written as.
func cases(digits []byte) (capitals, small bool) {
	const bit6, bit5 = 0x4040404040404040, 0x2020202020202020 // set in letters; in small ones
	var up, down uint64
	last := len(digits) - 8
	for i := 0; ; i += 8 {
		i = min(i, last) // the last eight may overlap those before
		w := binary.LittleEndian.Uint64(digits[i:])
		up |= w & bit6 &^ (w & bit5 << 1)
		down |= w & bit6 & (w & bit5 << 1)
		if i == last {
			return up != 0, down != 0
		}
	}
}
