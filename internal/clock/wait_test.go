package clock

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sortid/sortid/internal/check"
)

func wait(ctx context.Context, c *Clock, ms int64) error {
	for c.now().UnixMilli() < ms {
		if err := c.Pause(ctx, ms*1000); err != nil {
			return err
		}
	}
	return nil
}

func TestWait(t *testing.T) {
	c := System()
	for _, far := range []int64{-1000, 0, 1, 2, 7, 60, 130} {
		until := time.Now().UnixMilli() + far
		check.OK(t, wait(t.Context(), &c, until))
		if now := time.Now().UnixMilli(); now < until {
			t.Errorf("%d ms: back at %d, want %d", far, now, until)
		}
	}
	for range 20 {
		until := time.Now().UnixMicro() + 1500
		check.OK(t, c.Pause(t.Context(), until))
		if now := time.Now().UnixMicro(); now < until {
			t.Errorf("back at %d, want %d", now, until)
		}
	}
}

// A long pause ends early, so that the caller can check the clock.
func TestLongPauseEndsEarly(t *testing.T) {
	c := System()
	began := time.Now()
	check.OK(t, c.Pause(t.Context(), began.Add(time.Hour).UnixMicro()))
	if d := time.Since(began); d < 10*time.Millisecond {
		t.Errorf("one pause of %v", d)
	}
	var calls atomic.Int32
	still := Injected(func() time.Time { calls.Add(1); return time.UnixMilli(5) })
	if err := still.Pause(t.Context(), 6000); err != nil || calls.Load() != 1 {
		t.Errorf("%v, %d readings", err, calls.Load())
	}
}

func TestWaitContext(t *testing.T) {
	far := time.Now().Add(time.Hour)
	frozen := time.Now()
	for name, c := range map[string]Clock{"system": System(),
		"injected": Injected(func() time.Time { return frozen })} {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		if err := wait(ctx, &c, far.UnixMilli()); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: %v, want the deadline", name, err)
		}
		// Pause returns the error even if its time has also ended.
		for range 20 {
			if err := Sleep(ctx, time.Nanosecond); !errors.Is(err, context.DeadlineExceeded) {
				t.Fatalf("%s: %v at once, want the deadline", name, err)
			}
		}
		if err := wait(ctx, &c, frozen.UnixMilli()); err != nil {
			t.Errorf("%s: %v for a time that has passed", name, err)
		}
		cancel()

		cause := errors.New("cause")
		ctx, end := context.WithCancelCause(t.Context())
		go func() {
			time.Sleep(5 * time.Millisecond)
			end(cause)
		}()
		if err := wait(ctx, &c, far.UnixMilli()); !errors.Is(err, context.Canceled) ||
			!errors.Is(err, cause) {
			t.Errorf("%s: %v, want Canceled and the cause", name, err)
		}
	}
}

// A wait ends at the right time, even if the clock moves meanwhile.
func TestWaitFollowsAClockThatMoves(t *testing.T) {
	var mu sync.Mutex
	at := time.UnixMilli(1000)
	move := func(d time.Duration) {
		mu.Lock()
		defer mu.Unlock()
		at = at.Add(d)
	}
	c := Injected(func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		return at
	})
	go func() {
		for range 20 {
			time.Sleep(time.Millisecond)
			move(time.Second)
			move(-500 * time.Millisecond)
		}
	}()
	if err := wait(t.Context(), &c, 9000); err != nil || c.Milli(0) < 9000 {
		t.Errorf("%v at %d", err, c.Milli(0))
	}
}
