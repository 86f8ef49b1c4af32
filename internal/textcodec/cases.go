package textcodec

import "encoding/binary"

func letterCases(digits []byte) (capitals, small bool) {
	// All letters have bit 6, and small letters have bit 5.
	const bit6, bit5 = 0x4040404040404040, 0x2020202020202020
	var up, down uint64
	last := len(digits) - 8
	for i := 0; last >= 0; i += 8 {
		i = min(i, last) // the last eight digits may overlap the previous eight
		w := binary.LittleEndian.Uint64(digits[i:])
		up |= w & bit6 &^ (w & bit5 << 1)
		down |= w & bit6 & (w & bit5 << 1)
		if i == last {
			break
		}
	}
	return up != 0, down != 0
}

// HasCapital reports whether a text of letters and digits has a capital letter.
func HasCapital(digits []byte) bool {
	capitals, _ := letterCases(digits)
	return capitals
}

// HasSmall reports whether a text of letters and digits has a small letter.
func HasSmall(digits []byte) bool {
	_, small := letterCases(digits)
	return small
}
