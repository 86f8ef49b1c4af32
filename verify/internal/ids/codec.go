package ids

import (
	"bytes"
	"encoding/binary"

	"github.com/sortid/sortid"
	"github.com/sortid/sortid/euid"
	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/internal/base36"
	"github.com/sortid/sortid/scru128"
	"github.com/sortid/sortid/scru160"
	"github.com/sortid/sortid/scru64"
	"github.com/sortid/sortid/uid60"
)

// A codec reads the texts of a format, faster than package format does.
type codec struct {
	// read returns the ID of a text, and whether the text is the one that the ID is
	// written as.
	read func(text []byte) (v ID, canonical bool, err error)
	// readLines does what calling read for each line does; nil: there is no faster way.
	readLines func(list []ID, text []byte) []ID
}

var codecs = map[*format.Format]codec{
	format.SCRU64:  {read: readSCRU64},
	format.SCRU128: {read: readSCRU128, readLines: readLinesSCRU128},
	format.SCRU160: {read: readSCRU160},
	format.EUID:    {read: readEUID},
	format.UID60:   {read: readUID60},
}

func readSCRU64(text []byte) (v ID, canonical bool, err error) {
	var n scru64.ID
	if err := n.UnmarshalText(text); err != nil {
		return ID{}, false, err
	}
	return ID{Hi: uint64(n)}, !hasCapital(text), nil
}

func readSCRU128(text []byte) (v ID, canonical bool, err error) {
	var s scru128.ID
	if err := s.UnmarshalText(text); err != nil {
		return ID{}, false, err
	}
	return ID{Hi: binary.BigEndian.Uint64(s[:8]), Lo: binary.BigEndian.Uint64(s[8:])}, !hasCapital(text), nil
}

func readLinesSCRU128(list []ID, text []byte) []ID {
	const length = scru128.TextLen
	var s base36.Sequence128
	for len(text) > length && text[length] == '\n' {
		hi, lo, ok := s.Decode((*[length]byte)(text))
		if !ok {
			break
		}
		list = append(list, ID{Hi: hi, Lo: lo})
		text = text[length+1:]
	}
	return list
}

func readSCRU160(text []byte) (v ID, canonical bool, err error) {
	if len(text) == scru160.HexLen { // another encoding
		return ID{}, false, sortid.ErrLength
	}
	var s scru160.ID
	if err := s.UnmarshalText(text); err != nil {
		return ID{}, false, err
	}
	_, small := letterCases(text)
	return ID{binary.BigEndian.Uint64(s[:8]), binary.BigEndian.Uint64(s[8:16]), binary.BigEndian.Uint32(s[16:])}, !small, nil
}

func readEUID(text []byte) (v ID, canonical bool, err error) {
	var e euid.ID
	if err := e.UnmarshalText(text); err != nil {
		return ID{}, false, err
	}
	_, small := letterCases(text)
	return ID{Hi: binary.BigEndian.Uint64(e[:8]), Lo: binary.BigEndian.Uint64(e[8:])}, !small && !hasAlias(text), nil
}

// hasAlias reports whether there is a letter that is read as a digit, but never written.
func hasAlias(text []byte) bool {
	return bytes.IndexByte(text, 'O') >= 0 || bytes.IndexByte(text, 'I') >= 0 || bytes.IndexByte(text, 'L') >= 0
}

func readUID60(text []byte) (v ID, canonical bool, err error) {
	var n uid60.ID
	if err := n.UnmarshalText(text); err != nil {
		return ID{}, false, err
	}
	var written [uid60.MaxTextLen]byte
	b, _ := n.AppendText(written[:0])
	return ID{Hi: uint64(n)}, string(b) == string(text), nil
}

// letterCases reports whether there are capitals, and whether there are small letters,
// among the digits of an encoding, which must be eight or more.
func letterCases(digits []byte) (capitals, small bool) {
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
