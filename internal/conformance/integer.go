package conformance

import (
	"database/sql/driver"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/sortid/sortid"
)

// AboveMax tests that no function reads or writes an integer above max as an ID. Text is the
// ID type for database columns of texts.
func AboveMax[T interface {
	~uint64
	ID[T]
}, Text interface {
	~uint64
	fmt.Stringer
	driver.Valuer
}](t *testing.T, max T, fromUint64 func(uint64) (T, error), parse func(string) (T, error)) {
	for _, v := range []uint64{uint64(max) + 1, 1 << 63, 1<<64 - 1} {
		id, err := fromUint64(v)
		var p *sortid.ParseError
		if id != 0 || !errors.Is(err, sortid.ErrRange) || !errors.As(err, &p) ||
			!strings.Contains(err.Error(), strconv.FormatUint(v, 10)) {
			t.Errorf("FromUint64(%d) = %v, %v", v, id, err)
		}
		bad := T(v)
		if _, err := parse(bad.String()); err == nil ||
			!strings.Contains(bad.String(), strconv.FormatUint(v, 10)) {
			t.Errorf("ID(%d) has the text %q; Parse: %v", v, bad, err)
		}
		keep := []byte("x")
		if b, err := bad.AppendText(keep); string(b) != "x" || !errors.Is(err, sortid.ErrRange) {
			t.Errorf("AppendText of ID(%d): %q, %v", v, b, err)
		}
		if b, err := bad.AppendBinary(keep); string(b) != "x" || !errors.Is(err, sortid.ErrRange) {
			t.Errorf("AppendBinary of ID(%d): %q, %v", v, b, err)
		}
		if value, err := bad.Value(); value != nil || !errors.Is(err, sortid.ErrRange) {
			t.Errorf("Value of ID(%d): %v, %v", v, value, err)
		}
		if value, err := Text(bad).Value(); value != nil || !errors.Is(err, sortid.ErrRange) {
			t.Errorf("Value of Text(%d): %v, %v", v, value, err)
		}
		got := T(7)
		to := any(&got).(pointer)
		b := binary.BigEndian.AppendUint64(nil, v)
		if err := to.UnmarshalBinary(b); got != 7 || !errors.Is(err, sortid.ErrRange) {
			t.Errorf("UnmarshalBinary of %x: %v, %v", v, got, err)
		}
		for _, src := range []any{v, int64(v)} {
			if err := to.Scan(src); got != 7 || !errors.Is(err, sortid.ErrRange) {
				t.Errorf("Scan(%T(%[1]d)): %v, %v", src, got, err)
			}
		}
	}
	testJSONNumbers(t, max/2)
	testJSONNumbers(t, Text(max/2))
	if id, err := fromUint64(uint64(max)); id != max || err != nil {
		t.Errorf("FromUint64(Max) = %v, %v", id, err)
	}
}

// testJSONNumbers tests that an ID reads JSON numbers that are exact in floating point, and texts.
func testJSONNumbers[T interface {
	~uint64
	fmt.Stringer
}](t *testing.T, id T) {
	t.Helper()
	text := id.String()
	escaped := fmt.Sprintf(`"\u%04x%s"`, text[0], text[1:])
	for in, want := range map[string]T{"0": 0, " 12345 ": 12345, "9007199254740991": 1<<53 - 1,
		`"` + text + `"`: id, escaped: id, "null": 7} {
		got := T(7)
		if err := json.Unmarshal([]byte(in), &got); err != nil || got != want {
			t.Errorf("%T: JSON %s: %d, %v, want %d", id, in, got, err, want)
		}
	}
	for in, reason := range map[string]string{"9007199254740992": "below 2^53",
		strconv.FormatUint(uint64(id), 10): "the text in a string", "-1": "want a string",
		"1.5": "want a string", "1e3": "want a string", "18446744073709551616": "want a string",
		"true": "want a string", "[1]": "want a string", `{"a":1}`: "want a string",
		`"` + text + `\/"`: "", `"!"`: "", `""`: "", `"1234567\ud83d"`: ""} {
		got := T(7)
		err := json.Unmarshal([]byte(in), &got)
		if err == nil || got != 7 || !strings.Contains(err.Error(), reason) {
			t.Errorf("%T: JSON %s: %d, %v, want an error with %q", id, in, got, err, reason)
		}
	}
	for _, in := range []string{"", `"`, "nul", "12 34", `"` + text} {
		got := T(7)
		err := any(&got).(json.Unmarshaler).UnmarshalJSON([]byte(in))
		if err == nil || got != 7 {
			t.Errorf("%T: UnmarshalJSON(%q): %d, %v", id, in, got, err)
		}
	}
	var list struct {
		IDs  []T
		Keys map[T]*T
	}
	in := fmt.Sprintf(`{"IDs":[1,%q],"Keys":{%[1]q:2}}`, text)
	if err := json.Unmarshal([]byte(in), &list); err != nil || len(list.IDs) != 2 ||
		list.IDs[0] != 1 || list.IDs[1] != id || list.Keys[id] == nil || *list.Keys[id] != 2 {
		t.Errorf("%T: JSON %s: %v, %v", id, in, list, err)
	}
}
