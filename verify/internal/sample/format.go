package sample

import (
	"bytes"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/internal/integer"
	"github.com/sortid/sortid/internal/textcodec"
)

// A Format reads and writes IDs of a format as integers, which need less memory than
// [format.ID].
type Format struct {
	*format.Format

	timestamp  []timePlace
	time       integer.Words // the bits of the timestamp
	epochMilli int64
	tickMilli  int64  // 0 if a tick is shorter than 1 ms
	perMilli   uint64 // ticks in a millisecond, if a tick is shorter
	last       uint64
	allIDs     bool // each integer of f.Bits is an ID

	fast fast
}

type timePlace struct {
	place integer.Place
	shift int
}

// FormatOf returns the reader of a format. IDs without a time have no timestamps.
func FormatOf(f *format.Format) *Format {
	r := &Format{Format: f, fast: ours[f.Name]}
	_, err := f.FromWords(integer.Ones(8 * f.Size).Array())
	r.allIDs = err == nil
	for _, field := range f.Layout {
		if field.Kind == format.KindTime {
			r.timestamp = append(r.timestamp,
				timePlace{integer.PlaceOf(field.Low, field.Bits), field.Shift})
			r.time = r.time.Or(integer.Ones(field.Bits).Shift(field.Low))
		}
		if field.Kind == format.KindFixed || field.Kind == format.KindZero {
			r.allIDs = false
		}
	}
	if f.Tick == 0 {
		return r
	}
	r.epochMilli, r.tickMilli = f.Epoch.UnixMilli(), f.Tick.Milliseconds()
	r.perMilli = uint64(time.Millisecond / f.Tick)
	r.last = r.ticks(f.Last)
	if f.Reserved {
		r.last++
	}
	return r
}

// Timed returns the format whose fields contain the time: usually the format itself, but UUIDv7 for
// TypeIDs, as TypeID's document demands. It returns nil if IDs have no time.
func Timed(f *format.Format) *format.Format {
	if f.Tick != 0 {
		return f
	}
	i := slices.IndexFunc(f.Within, func(inner *format.Format) bool { return inner.Name == "uuidv7" })
	if i < 0 {
		return nil
	}
	return f.Within[i]
}

// Verifiable reports whether IDs of the format differ, so that there is something to verify.
func Verifiable(f *format.Format) bool {
	return slices.ContainsFunc(f.Layout, func(field format.Field) bool {
		return field.Kind != format.KindFixed && field.Kind != format.KindZero
	})
}

// Timestamp returns an integer's timestamp, in ticks of f.Tick since f.Epoch.
func (f *Format) Timestamp(w *integer.Words) uint64 {
	if len(f.timestamp) == 1 {
		return f.timestamp[0].place.Of(w)
	}
	ticks := uint64(0)
	for i := range f.timestamp {
		ticks |= f.timestamp[i].place.Of(w) << f.timestamp[i].shift
	}
	return ticks
}

// AfterTime returns the ID with a timestamp of zeros.
func (f *Format) AfterTime(w integer.Words) integer.Words { return w.AndNot(f.time) }

// LastTimestamp returns the largest timestamp.
func (f *Format) LastTimestamp() uint64 { return f.last }

// TimeOf returns the time of a timestamp in UTC.
func (f *Format) TimeOf(timestamp uint64) time.Time {
	if f.tickMilli == 0 {
		t := time.UnixMilli(f.epochMilli + int64(timestamp/f.perMilli)).UTC()
		return t.Add(time.Duration(timestamp%f.perMilli) * f.Tick)
	}
	return time.UnixMilli(f.epochMilli + int64(timestamp)*f.tickMilli).UTC()
}

// TimestampOf returns the timestamp of a time, or the nearest timestamp if IDs cannot show the
// time.
func (f *Format) TimestampOf(t time.Time) uint64 {
	switch {
	case t.Before(f.Epoch):
		return 0
	case t.After(f.Last):
		return f.last
	}
	return f.ticks(t)
}

// ticks does not use a time.Duration, which overflows after 292 years.
func (f *Format) ticks(t time.Time) uint64 {
	ms := uint64(t.UnixMilli() - f.epochMilli)
	if f.tickMilli == 0 {
		return ms*f.perMilli + uint64(t.Nanosecond()%1e6)/uint64(f.Tick)
	}
	return ms / uint64(f.tickMilli)
}

// InEncoding returns the integer in an encoding of the format, or in hexadecimal if the integer is
// not an ID.
func (f *Format) InEncoding(w integer.Words, e format.Encoding) string {
	id, err := f.FromWords(w.Array())
	if err != nil {
		var b [24]byte
		w.Put(&b)
		return hex.EncodeToString(b[len(b)-f.Size:])
	}
	return id.In(e)
}

// errSmall is the error of an integer in the format's first tick. Such an integer is so small that
// it is probably a count.
var errSmall = errors.New("the number is too small: its timestamp would be 0")

// ReadLine returns the ID of a text in any encoding, and the encoding. The text is canonical if the
// format writes the ID in this way. The text may have the prefix of a typed ID, or \x or 0x before
// hexadecimal digits.
func (f *Format) ReadLine(text []byte) (w integer.Words, e format.Encoding, canonical bool,
	err error) {
	w, canonical, textErr := f.readText(text)
	if textErr == nil {
		return w, format.Text, canonical, nil
	}
	digits, prefixed := textcodec.CutHexPrefix(text)
	var id format.ID
	var typed string // the prefix of a typed ID
	if prefixed {
		e = format.Hex
		id, err = f.ParseAs(e, string(digits))
	} else {
		var c format.Candidate
		c, err = f.Read(string(text))
		id, e, typed = c.ID, c.Encoding, c.Prefix
	}
	if e == format.Text && typed == "" && len(text) == 2*f.Size &&
		slices.Contains(f.Encodings, format.Hex) {
		// It is probably a hexadecimal text with a wrong digit.
		e = format.Hex
		id, err = f.ParseAs(e, string(text))
	}
	switch {
	case err != nil && e == format.Text:
		return integer.Words{}, e, false, textErr
	case err != nil:
		return integer.Words{}, e, false, err
	}
	if w = integer.FromArray(id.Words()); e == format.Int && f.Tick != 0 && f.Timestamp(&w) == 0 {
		return integer.Words{}, e, false, errSmall
	}
	return w, e, typed+id.In(e) == string(digits), nil
}

func (f *Format) readText(text []byte) (w integer.Words, canonical bool, err error) {
	if f.fast.text != nil {
		return f.fast.text(text)
	}
	id, err := f.ParseAs(format.Text, string(text))
	if err != nil {
		return w, false, err
	}
	var buf [64]byte
	written := id.Append(buf[:0], format.Text)
	if i := bytes.LastIndexByte(text, '-'); i > 0 && !strings.Contains(f.Text.Characters, "-") &&
		!hasCapital(text[i:]) {
		text = text[:i] // ParseAs has compared the check
	}
	prefix, found := bytes.CutSuffix(text, written)
	return integer.FromArray(id.Words()),
		found && (len(prefix) == 0 || prefix[len(prefix)-1] == '_'), nil
}

// AppendLines appends the IDs of the text's first lines. It stops at the first line that is not a
// canonical ID of this encoding and length, or that does not end with LF.
func (f *Format) AppendLines(list []integer.Words, text []byte, e format.Encoding,
	length int) []integer.Words {
	if e == format.Text && f.fast.lines != nil && length == f.Text.Lengths[0] {
		return f.fast.lines(list, text)
	}
	for length < len(text) && text[length] == '\n' {
		var w integer.Words
		var ok bool
		switch e {
		case format.Text:
			var err error
			w, ok, err = f.readText(text[:length])
			ok = ok && err == nil
		case format.Hex, format.UUID:
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

func (f *Format) readBytes(text []byte, e format.Encoding) (w integer.Words, ok bool) {
	var raw [24]byte
	if e == format.UUID {
		if len(text) != textcodec.UUIDLen || textcodec.DecodeUUID((*[16]byte)(raw[8:]), text) >= 0 {
			return w, false
		}
	} else {
		text, _ = textcodec.CutHexPrefix(text)
		if len(text) != 2*f.Size {
			return w, false
		}
		if _, err := hex.Decode(raw[24-f.Size:], text); err != nil {
			return w, false
		}
	}
	if hasCapital(text) {
		return w, false
	}
	w = integer.FromBytes(&raw)
	if f.allIDs {
		return w, true
	}
	_, err := f.FromWords(w.Array())
	return w, err == nil
}
