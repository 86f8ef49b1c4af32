package format

import (
	"encoding/binary"
	"encoding/hex"
	"errors"

	"github.com/sortid/sortid/internal/textcodec"
)

// ErrSmall is the error of an integer in the format's first tick. Such an integer is so small that
// it is probably a count.
var ErrSmall = errors.New("the number is too small: its timestamp would be 0")

// ReadLine returns the ID of a text in any encoding, and the encoding. The text is canonical if the
// format writes the ID in this way. The text may have the prefix of a typed ID, or \x or 0x before
// hexadecimal digits.
func (f *Format) ReadLine(text []byte) (w Words, e Encoding, canonical bool, err error) {
	w, canonical, textErr := f.readText(text)
	if textErr == nil {
		return w, Text, canonical, nil
	}
	digits, prefixed := textcodec.CutHexPrefix(text)
	var id ID
	var typed string // the prefix of a typed ID
	if prefixed {
		e = Hex
		id, err = f.ParseAs(Hex, string(digits))
	} else {
		var c Candidate
		c, err = f.Read(string(text))
		id, e, typed = c.ID, c.Encoding, c.Prefix
	}
	if e == Text && typed == "" && len(text) == 2*f.Size && f.HasEncoding(Hex) {
		// It is probably a hexadecimal text with a wrong digit.
		e = Hex
		id, err = f.ParseAs(Hex, string(text))
	}
	switch {
	case err != nil && e == Text:
		return Words{}, e, false, textErr
	case err != nil:
		return Words{}, e, false, err
	case e == Int && f.HasTime() && f.Timestamp(&id.words) == 0:
		return Words{}, e, false, ErrSmall
	}
	return id.words, e, typed+id.In(e) == string(digits), nil
}

func (f *Format) readText(text []byte) (w Words, canonical bool, err error) {
	if f.unmarshal == nil {
		id, err := f.ParseAs(Text, string(text))
		if err != nil {
			return Words{}, false, err
		}
		prefix, _ := f.cutPrefix(string(text))
		return id.words, prefix+string(f.appendText(nil, id.words)) == string(text), nil
	}
	return f.unmarshal(text)
}

// AppendLines appends the IDs of the text's first lines. It stops at the first line that is not a
// canonical ID of this encoding and length, or that does not end with LF.
func (f *Format) AppendLines(list []Words, text []byte, e Encoding, length int) []Words {
	if e == Text && f.appendLines != nil {
		return f.appendLines(list, text)
	}
	for length < len(text) && text[length] == '\n' {
		var w Words
		var ok bool
		switch e {
		case Text:
			var err error
			w, ok, err = f.readText(text[:length])
			ok = ok && err == nil
		case Hex, UUID:
			w, ok = f.readBytes(text[:length], e)
		}
		if !ok {
			break
		}
		list = append(list, w)
		text = text[length+1:]
	}
	return list
}

func (f *Format) readBytes(text []byte, e Encoding) (w Words, ok bool) {
	var raw [24]byte
	if e == UUID {
		if len(text) != textcodec.UUIDLen || textcodec.DecodeUUID((*[16]byte)(raw[8:]), text) >= 0 {
			return Words{}, false
		}
	} else {
		text, _ = textcodec.CutHexPrefix(text)
		if len(text) != 2*f.Size {
			return Words{}, false
		}
		if _, err := hex.Decode(raw[24-f.Size:], text); err != nil {
			return Words{}, false
		}
	}
	if hasCapital(text) {
		return Words{}, false
	}
	w = wordsOf(&raw)
	return w, f.has(w)
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
