package lease

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sortid/sortid/internal/check"
)

// A process gets no grant while its clock differs much from the store's.
func TestClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := NewMemory()
		c := config(8)
		wrong := skewed(&c)
		for d, say := range map[time.Duration]string{
			time.Hour: "1h0m0s ahead", -time.Hour: "1h0m0s behind", 11 * time.Second: "11s ahead",
			-11 * time.Second: "11s behind",
		} {
			wrong.Store(int64(d))
			fails(t, "a clock that is wrong", acquireError(t, m, c), ErrClock, say)
		}
		wrong.Store(int64(9 * time.Second))
		l := acquire(t, m, c)
		for range 100 {
			time.Sleep(time.Second)
			check.OK(t, claim(l, 9*time.Second)) // within the lead
		}
		wrong.Store(int64(time.Hour))
		time.Sleep(10 * time.Second)
		fails(t, "the clock has stepped", claim(l, time.Hour), ErrExpired, ErrClock)
		fails(t, "the clock has stepped", l.Err(), ErrClock)
		wrong.Store(0)
		time.Sleep(10 * time.Second)
		check.OK(t, claim(l, 0)) // the clock is right again
		closed(t, l)
		r, _, err := Records(t.Context(), m, "realm")
		if err != nil || r.HWM != 0 {
			t.Fatal(r, err)
		}
	})
}

// After the clock was set back, a process renews as soon as without that, and learns why it cannot.
func TestClockSetBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &network{Store: NewMemory()}
		c := config(8)
		wrong := skewed(&c)
		l := acquire(t, n, c)
		defer closed(t, l)
		wrong.Store(int64(-30 * time.Second))
		asked := n.calls("time")
		time.Sleep(DefaultWindow/2 + time.Second)
		if n.calls("time") == asked {
			t.Error("no renewal")
		}
		fails(t, "the clock was set back", l.Err(), ErrClock, "30s behind")
		wrong.Store(0)
		time.Sleep(5 * time.Second)
		check.OK(t, l.Err())
	})
}

// If Time is slow to answer, the process's clock does not count as wrong.
func TestSlowClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &network{Store: NewMemory(), delay: func() time.Duration { return 15 * time.Second }}
		closed(t, acquire(t, n, config(8)))
	})
}

// If the store has no clock, a process whose clock is ahead gets future ticks. Nobody gets the same
// node ID for earlier ticks.
func TestLead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &network{Store: NewMemory(), noClock: true}
		c := config(1)
		ahead := c
		skewed(&ahead).Store(int64(time.Hour))
		for range 2 {
			l := acquire(t, n, ahead)
			check.OK(t, claim(l, time.Hour))
			defer closed(t, l)
		}
		n.set(func() { n.down = true })
		time.Sleep(2 * time.Hour) // the deadlines and the windows pass
		n.set(func() { n.down = false })
		time.Sleep(time.Minute)
		for _, r := range held(t, n) {
			_, err := Evict(t.Context(), n, "realm", r.Block, r.Owner)
			check.OK(t, err)
		}
		err := acquireError(t, n, c)
		var full *FullError
		if !errors.As(err, &full) || len(full.Ahead) != 2 {
			t.Fatalf("with all node IDs in the future: %v", err)
		}
		e := full.Ahead[0]
		if e.Ahead < 59*time.Minute || e.Ahead > 62*time.Minute || e.Max > 10*time.Second {
			t.Errorf("%+v", e)
		}
		fails(t, "a node ID in the future", e, ErrLead)
		fails(t, "all in the future", err, ErrLead,
			"all 2 wait after their last use; the next can be had from "+
				full.From.Format(timeFormat))
	})
}
