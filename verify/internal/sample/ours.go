package sample

import (
	"bytes"
	"encoding/binary"

	"github.com/sortid/sortid"
	"github.com/sortid/sortid/euid"
	"github.com/sortid/sortid/internal/integer"
	"github.com/sortid/sortid/internal/textcodec"
	"github.com/sortid/sortid/scru128"
	"github.com/sortid/sortid/scru160"
	"github.com/sortid/sortid/scru64"
	"github.com/sortid/sortid/uid60"
)

// fast reads texts of one of our formats without a string for each.
type fast struct {
	// text parses a text. The result canonical says whether generators write the ID like this.
	text func([]byte) (w integer.Words, canonical bool, err error)
	// lines does the work of text for several lines of the usual length, but faster. It may be nil.
	lines func([]integer.Words, []byte) []integer.Words
}

var ours = map[string]fast{
	"scru64": {text: func(b []byte) (integer.Words, bool, error) {
		var id scru64.ID
		err := id.UnmarshalText(b)
		return integer.Words{Low: id.Uint64()}, !hasCapital(b), err
	}},
	"scru128": {lines: scru128Lines, text: func(b []byte) (integer.Words, bool, error) {
		if len(b) == scru128.UUIDLen {
			return integer.Words{}, false, sortid.ErrLength
		}
		var id scru128.ID
		err := id.UnmarshalText(b)
		hi, lo := id.Uint128()
		return integer.Words{Mid: hi, Low: lo}, !hasCapital(b), err
	}},
	"scru160": {text: func(b []byte) (integer.Words, bool, error) {
		if len(b) == scru160.HexLen { // another encoding
			return integer.Words{}, false, sortid.ErrLength
		}
		var id scru160.ID
		err := id.UnmarshalText(b)
		return integer.Words{High: uint64(binary.BigEndian.Uint32(id[:])),
			Mid: binary.BigEndian.Uint64(id[4:]),
			Low: binary.BigEndian.Uint64(id[12:])}, !hasSmall(b), err
	}},
	"euid": {text: func(b []byte) (integer.Words, bool, error) {
		if len(b) == euid.UUIDLen {
			return integer.Words{}, false, sortid.ErrLength
		}
		var id euid.ID
		err := id.UnmarshalText(b)
		hi, lo := id.Uint128()
		return integer.Words{Mid: hi, Low: lo}, !hasSmall(b) && !bytes.ContainsAny(b, "OIL"), err
	}},
	"uid60": {text: func(b []byte) (integer.Words, bool, error) {
		var id uid60.ID
		err := id.UnmarshalText(b)
		var buf [uid60.MaxTextLen]byte
		written, _ := id.AppendText(buf[:0])
		return integer.Words{Low: id.Uint64()}, string(written) == string(b), err
	}},
}

func scru128Lines(list []integer.Words, text []byte) []integer.Words {
	const length = scru128.TextLen
	var s textcodec.Base36Sequence
	for len(text) > length && text[length] == '\n' {
		hi, lo, ok := s.Decode((*[length]byte)(text))
		if !ok {
			break
		}
		list = append(list, integer.Words{Mid: hi, Low: lo})
		text = text[length+1:]
	}
	return list
}

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

func hasCapital(digits []byte) bool {
	capitals, _ := letterCases(digits)
	return capitals
}

func hasSmall(digits []byte) bool {
	_, small := letterCases(digits)
	return small
}
