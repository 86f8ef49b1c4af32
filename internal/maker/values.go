package maker

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/sortid/sortid"
	"github.com/sortid/sortid/internal/parseerr"
)

// Common has the options that all formats have.
var Common = []Option{
	{Name: "rollback", Value: "POLICY",
		Usage: "what to do when the clock has gone back by more than the allowance: " +
			"reset, abort or wait",
		Fields: []string{"RollbackPolicy"}},
	{Name: "allowance", Value: "DURATION",
		Usage:  "how far the clock may go back without any effect, as in 10s",
		Fields: []string{"RollbackAllowance"}},
}

func allowance(s string) (time.Duration, error) {
	d, err := time.ParseDuration(s)
	switch {
	case err != nil:
		return 0, errors.New("want a duration such as 10s or 1m30s")
	case d < 0:
		return 0, errors.New("it is negative; want a duration such as 10s, or 0s for none")
	case d == 0:
		return -1, nil
	}
	return d, nil
}

func policy(s string) (sortid.RollbackPolicy, error) {
	switch strings.ToLower(s) {
	case "reset":
		return sortid.RollbackReset, nil
	case "abort":
		return sortid.RollbackAbort, nil
	case "wait":
		return sortid.RollbackWait, nil
	}
	return 0, errors.New("want reset, abort or wait")
}

// Number reads an integer, decimal or with 0x.
func Number(s string, limit uint64) (uint64, error) {
	base, digits := 10, s
	if rest, ok := strings.CutPrefix(strings.ToLower(s), "0x"); ok {
		base, digits = 16, rest
	}
	v, err := strconv.ParseUint(digits, base, 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return 0, fmt.Errorf("%q is not a number", parseerr.Shorten(s))
	}
	if err != nil || v > limit {
		return 0, fmt.Errorf("%s is too large, want at most %d", parseerr.Shorten(s), limit)
	}
	return v, nil
}

// Pair reads an integer of up to 16 bits and its size in bits, such as "42/8".
func Pair(s string) (value uint16, bits int, err error) {
	first, second, ok := strings.Cut(s, "/")
	if !ok {
		return 0, 0, errors.New(`want the ID and its size in bits, as in "42/8"`)
	}
	v, err := Number(first, 1<<16-1)
	if err != nil {
		return 0, 0, err
	}
	n, err := Number(second, 64)
	if err == nil && n == 0 {
		err = errors.New("its size is 0 bits, want 1 or more")
	}
	return uint16(v), int(n), err
}

// Size reads a number of bits. It returns -1 for 0, because in a generator's options 0 means the
// default and a negative number means none.
func Size(s string, limit uint64) (int, error) {
	v, err := Number(s, limit)
	if err == nil && v == 0 {
		return -1, nil
	}
	return int(v), err
}

// Flag reads "true" or "false".
func Flag(s string) (bool, error) {
	on, err := strconv.ParseBool(s)
	if err != nil {
		return false, errors.New("want true or false")
	}
	return on, nil
}
