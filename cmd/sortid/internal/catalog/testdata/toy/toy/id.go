// Package toy is a format for a test: 42 bits of time, 10 of a counter and 12 random ones.
// A node ID can be in the high random bits.
package toy

import (
	"cmp"
	"database/sql/driver"
	"encoding/binary"
	"fmt"
	"strconv"
	"time"

	"github.com/sortid/sortid"
	"github.com/sortid/sortid/internal/clock"
	"github.com/sortid/sortid/internal/parseerr"
)

const (
	name    = "toy"
	TextLen = 13 // Base36 digits

	counterBits = 10
	randomBits  = 12
)

// An ID counts milliseconds from 1970 in its 42 high bits.
type ID uint64

const Max = ^ID(0)

func (id ID) Time() time.Time {
	return time.UnixMilli(int64(id >> (counterBits + randomBits))).UTC()
}

func (id ID) Compare(other ID) int { return cmp.Compare(id, other) }
func (id ID) IsZero() bool         { return id == 0 }

func First(t time.Time) ID {
	ms := min(max(clock.UnixMilli(t), 0), 1<<42-1)
	return ID(ms) << (counterBits + randomBits)
}

func Parse(s string) (id ID, err error) { return id, id.UnmarshalText([]byte(s)) }

func (id ID) String() string { return fmt.Sprintf("%013s", strconv.FormatUint(uint64(id), 36)) }

func (id ID) AppendText(b []byte) ([]byte, error) { return append(b, id.String()...), nil }
func (id ID) MarshalText() ([]byte, error)        { return id.AppendText(nil) }

func (id *ID) UnmarshalText(b []byte) error {
	if len(b) != TextLen {
		return parseerr.Text(name, b, -1, sortid.ErrLength, "13")
	}
	v, err := strconv.ParseUint(string(b), 36, 64)
	if err != nil {
		return parseerr.Text(name, b, -1, err, "Base36 digits")
	}
	*id = ID(v)
	return nil
}

func (id ID) AppendBinary(b []byte) ([]byte, error) {
	return binary.BigEndian.AppendUint64(b, uint64(id)), nil
}
func (id ID) MarshalBinary() ([]byte, error) { return id.AppendBinary(nil) }

func (id *ID) UnmarshalBinary(b []byte) error {
	if len(b) != 8 {
		return parseerr.Binary(name, len(b), sortid.ErrBinaryLength, "8")
	}
	*id = ID(binary.BigEndian.Uint64(b))
	return nil
}

func (id ID) Value() (driver.Value, error) { return int64(id), nil }

func (id *ID) Scan(v any) error {
	i, ok := v.(int64)
	if !ok {
		return sortid.ErrScan
	}
	*id = ID(i)
	return nil
}
