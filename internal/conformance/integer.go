package conformance

import (
	"database/sql/driver"
	"encoding/binary"
	"errors"
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
	if id, err := fromUint64(uint64(max)); id != max || err != nil {
		t.Errorf("FromUint64(Max) = %v, %v", id, err)
	}
}
