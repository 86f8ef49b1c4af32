package ids

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"slices"
	"time"

	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/internal/uuidtext"
	"github.com/sortid/sortid/verify/internal/words"
)

// A Format is one of the formats, as the tester sees it.
type Format struct {
	*format.Format
	Shift uint   // the timestamp is Hi >> Shift
	Last  uint64 // the largest timestamp; if Reserved is set, it and 0 are never generated

	codec
}

// Formats are the formats that can be checked: all of package format.
var Formats = newFormats()

func newFormats() (formats []*Format) {
	for _, s := range format.Ours() {
		i := slices.IndexFunc(s.Layout, func(f format.Field) bool { return f.Kind == format.KindTime })
		timestamp := s.Layout[i]
		formats = append(formats, &Format{
			Format: s,
			Shift:  uint(timestamp.Low - (s.Bits - 64)),
			Last:   timestamp.Of(s.Max()).Uint64(),
			codec:  codecs[s],
		})
	}
	return formats
}

// Lookup returns the format of a name, or nil.
func Lookup(name string) *Format {
	for _, f := range Formats {
		if f.Name == name {
			return f
		}
	}
	return nil
}

// Timestamp returns an ID's timestamp.
func (f *Format) Timestamp(v ID) uint64 { return v.Hi >> f.Shift }

// Time returns the time of a timestamp. It does not add a Duration, which would not reach
// the year 10889.
func (f *Format) Time(timestamp uint64) time.Time {
	return time.UnixMilli(f.Epoch.UnixMilli() + int64(timestamp)*f.Tick.Milliseconds()).UTC()
}

// TimestampOf returns the timestamp of a time, or the nearest one that the format has.
func (f *Format) TimestampOf(t time.Time) uint64 {
	ms := t.UnixMilli() - f.Epoch.UnixMilli()
	return min(uint64(max(ms, 0)/f.Tick.Milliseconds()), f.Last)
}

// Span returns the length of a number of ticks in words.
func (f *Format) Span(ticks uint64) string {
	return words.Duration(float64(ticks) * f.Tick.Seconds())
}

// bytes returns the bytes of an ID, as many as the format has.
func (f *Format) bytes(v ID) []byte {
	b := binary.BigEndian.AppendUint64(nil, v.Hi)
	if f.Bits > 64 {
		b = binary.BigEndian.AppendUint64(b, v.Lo)
	}
	if f.Bits > 128 {
		b = binary.BigEndian.AppendUint32(b, v.Tail)
	}
	return b
}

// fromBytes returns the ID of the first bytes of b, as many as the format has.
func (f *Format) fromBytes(b *[20]byte) (v ID) {
	v.Hi = binary.BigEndian.Uint64(b[:])
	if f.Bits > 64 {
		v.Lo = binary.BigEndian.Uint64(b[8:])
	}
	if f.Bits > 128 {
		v.Tail = binary.BigEndian.Uint32(b[16:])
	}
	return v
}

// In returns an ID in an encoding that the format has.
func (f *Format) In(encoding format.Encoding, v ID) string {
	id, err := f.FromBytes(f.bytes(v))
	if err != nil { // not an ID of the format, so there is no other way to write it
		return hex.EncodeToString(f.bytes(v))
	}
	return id.In(encoding)
}

// Read returns the ID of a text in any of the format's encodings, the encoding, and whether the
// text is the one that the ID is written as in that encoding. A hexadecimal number may have
// the prefix \x or 0x, as databases and programs print it.
func (f *Format) Read(text []byte) (v ID, encoding format.Encoding, canonical bool, err error) {
	v, canonical, textErr := f.read(text)
	if textErr == nil {
		return v, format.Text, canonical, nil
	}
	digits, prefixed := CutPrefix(text)
	var id format.ID
	if prefixed {
		encoding = format.Hex
		id, err = f.ParseAs(encoding, string(digits))
	} else {
		id, encoding, err = f.ParseAny(string(text))
	}
	if encoding == format.Text && len(text) == f.Bits/4 { // hexadecimal digits with one mistake, say
		encoding = format.Hex
		id, err = f.ParseAs(encoding, string(text))
	}
	switch {
	case err != nil && encoding == format.Text:
		return ID{}, encoding, false, textErr
	case err != nil:
		return ID{}, encoding, false, err
	}
	var raw [20]byte
	copy(raw[:], id.Bytes())
	v = f.fromBytes(&raw)
	if encoding == format.Int && f.Timestamp(v) == 0 {
		return ID{}, encoding, false, ErrSmall
	}
	return v, encoding, id.In(encoding) == string(digits), nil
}

// ErrSmall is the error of an integer that is too small to be an ID of any time but the
// format's first tick: rather a count of something.
var ErrSmall = errors.New("too small a number: its timestamp would be 0")

// CutPrefix returns a hexadecimal number without its prefix: 0x, \x, or \\x as COPY of
// PostgreSQL writes a backslash.
func CutPrefix(text []byte) (digits []byte, prefixed bool) {
	for _, prefix := range []string{`\x`, `\\x`, "0x", "0X"} {
		if digits, ok := bytes.CutPrefix(text, []byte(prefix)); ok {
			return digits, true
		}
	}
	return text, false
}

// AppendLines appends the IDs of the lines at the start of the text, up to the first one
// that is not just an ID in the given encoding, as it is written, and LF. All have the given
// length.
func (f *Format) AppendLines(list []ID, text []byte, encoding format.Encoding, length int) []ID {
	if encoding == format.Text && f.readLines != nil {
		return f.readLines(list, text)
	}
	for length < len(text) && text[length] == '\n' {
		var v ID
		var ok bool
		if encoding == format.Text {
			var err error
			v, ok, err = f.read(text[:length])
			ok = ok && err == nil
		} else {
			v, ok = f.readBytes(text[:length], encoding)
		}
		if !ok {
			break
		}
		list = append(list, v)
		text = text[length+1:]
	}
	return list
}

// readBytes reads the encodings that spell an ID's bytes, if that is how it is written.
func (f *Format) readBytes(text []byte, encoding format.Encoding) (v ID, ok bool) {
	var raw [20]byte
	switch encoding {
	case format.Hex:
		text, _ = CutPrefix(text)
		if len(text) != f.Bits/4 || hasCapital(text) {
			return ID{}, false
		}
		if _, err := hex.Decode(raw[:], text); err != nil {
			return ID{}, false
		}
	case format.UUID:
		if len(text) != uuidtext.Len || hasCapital(text) || uuidtext.Decode((*[16]byte)(raw[:]), text) >= 0 {
			return ID{}, false
		}
	default:
		return ID{}, false
	}
	v = f.fromBytes(&raw)
	return v, f.Bits > 64 || f.valid(v)
}

// valid reports whether an integer of 64 bits is an ID: not all are.
func (f *Format) valid(v ID) bool {
	_, err := f.FromBytes(f.bytes(v))
	return err == nil
}

func hasCapital(text []byte) bool {
	capitals, _ := letterCases(text)
	return capitals
}
