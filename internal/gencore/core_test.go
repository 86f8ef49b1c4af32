package gencore

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sortid/sortid"
	"github.com/sortid/sortid/internal/check"
)

var quarter = Format{Name: "quarter", Epoch: -1000, Shift: 8, Policy: sortid.RollbackReset}

// A testLease has the ticks of the format quarter. Its WaitTick calls wait.
type testLease struct {
	length time.Duration
	wait   func(context.Context) error
}

func (l testLease) NodeBits() int             { return 8 }
func (l testLease) TickLength() time.Duration { return l.length }
func (l testLease) Epoch() time.Time          { return time.UnixMilli(-1000) }
func (l testLease) ClaimTick(int64) (uint32, int64, error) {
	return 0, 0,
		sortid.ErrLeaseExpired
}
func (l testLease) WaitTick(ctx context.Context, _ int64) error { return l.wait(ctx) }

func newCore(t *testing.T, o sortid.GeneratorOptions, l sortid.Lease) *Core {
	t.Helper()
	c := new(Core)
	check.OK(t, c.Init(&quarter, o, l))
	return c
}

func TestInit(t *testing.T) {
	good := testLease{length: 256 * time.Millisecond}
	for _, test := range []struct {
		o    sortid.GeneratorOptions
		l    sortid.Lease
		says string // "" if the options are good
	}{
		{l: good},
		{o: sortid.GeneratorOptions{RollbackPolicy: sortid.RollbackReset}},
		{o: sortid.GeneratorOptions{RollbackPolicy: sortid.RollbackWait + 1},
			says: "RollbackPolicy"},
		{sortid.GeneratorOptions{RollbackPolicy: sortid.RollbackReset}, good,
			"Lease and RollbackPolicy"},
		{l: testLease{length: time.Millisecond}, says: "another format: its ticks are 1ms long"},
	} {
		err := new(Core).Init(&quarter, test.o, test.l)
		if (err != nil) != (test.says != "") || err != nil && (!errors.Is(err, sortid.ErrOption) ||
			!strings.Contains(err.Error(), test.says)) {
			t.Errorf("%+v: %v, want %q", test.o, err, test.says)
		}
	}
}

func TestTicks(t *testing.T) {
	at := time.UnixMilli(0)
	c := newCore(t, sortid.GeneratorOptions{Clock: func() time.Time { return at }}, nil)
	for ms, want := range map[int64]int64{-1000: 0, -745: 0, -744: 1, 0: 3, -1001: -1, -1256: -1,
		-1257: -2} {
		at = time.UnixMilli(ms)
		tick := c.Now(0)
		if start := c.Time(tick); tick != want || start.After(at) ||
			at.Sub(start) >= 256*time.Millisecond {
			t.Errorf("%d ms: tick %d, which starts at %v, want tick %d", ms, tick, start, want)
		}
	}
}

func TestCheckRollback(t *testing.T) {
	for _, test := range []struct {
		policy    sortid.RollbackPolicy
		allowance time.Duration
		back      int64 // ticks
		reset     bool
		err       error
	}{
		{sortid.RollbackDefault, 0, 39, false, nil}, // of 10 s
		{sortid.RollbackDefault, 0, 40, true, nil},
		{sortid.RollbackAbort, 0, 40, false, sortid.ErrClockRollback},
		{sortid.RollbackWait, 0, 40, false, ErrRetry},
		{sortid.RollbackAbort, -1, 0, false, nil},
		{sortid.RollbackAbort, -1, 1, false, sortid.ErrClockRollback},
		{sortid.RollbackAbort, 511 * time.Millisecond, 1, false, nil},
		{sortid.RollbackAbort, 511 * time.Millisecond, 2, false, sortid.ErrClockRollback},
	} {
		c := newCore(t, sortid.GeneratorOptions{RollbackPolicy: test.policy,
			RollbackAllowance: test.allowance}, nil)
		if reset, err := c.CheckRollback(1000-test.back, 1000, 1000); reset != test.reset ||
			!errors.Is(err, test.err) {
			t.Errorf("%+v: %v, %v", test, reset, err)
		}
	}
}

// A wait for a lease ends after 50 ms, or earlier with the error of the lease or of the context.
func TestLeaseWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		blocks := func(ctx context.Context) error { <-ctx.Done(); return sortid.ErrLeaseExpired }
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		for name, test := range map[string]struct {
			ctx  context.Context
			wait func(context.Context) error
			err  error
			d    time.Duration
		}{
			"blocks":  {t.Context(), blocks, ErrRetry, 50 * time.Millisecond},
			"renewed": {t.Context(), func(context.Context) error { return nil }, ErrRetry, 0},
			"fails": {t.Context(), func(context.Context) error { return sortid.ErrLeaseExpired },
				sortid.ErrLeaseExpired, 0},
			"closed": {t.Context(),
				func(ctx context.Context) error { <-ctx.Done(); return sortid.ErrLeaseClosed },
				sortid.ErrLeaseClosed, 50 * time.Millisecond},
			"the context ends": {ended, blocks, sortid.ErrLeaseExpired, 0},
		} {
			c := newCore(t, sortid.GeneratorOptions{RollbackPolicy: sortid.RollbackWait},
				testLease{256 * time.Millisecond, test.wait})
			start := time.Now()
			c.Lock()
			_, _, err := c.Claim(7)
			if err != ErrRetry {
				t.Fatalf("%s: Claim: %v", name, err)
			}
			if err := c.Finish(test.ctx, err); !errors.Is(err, test.err) ||
				time.Since(start) != test.d {
				t.Errorf("%s: %v after %v, want %v after %v", name, err, time.Since(start),
					test.err, test.d)
			}
		}
	})
}
