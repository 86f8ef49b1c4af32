package clock

import (
	"testing"
	"time"
	"unsafe"
)

func stamp(unixNano, monotonic int64) (t time.Time) {
	const leapDays = (1884/4 - 1969/4) - (1884/100 - 1969/100) + (1884/400 - 1969/400)
	const unixTo1885 = ((1884-1969)*365 + leapDays) * 86400
	p := (*struct {
		wall uint64
		ext  int64
		loc  *time.Location
	})(unsafe.Pointer(&t))
	p.wall = 1<<63 | uint64(unixNano/1e9-unixTo1885)<<30 | uint64(unixNano%1e9)
	p.ext = monotonic
	return t
}

func TestStamp(t *testing.T) {
	now := time.Now().UnixNano()
	a, b := stamp(now, 1000), stamp(now+5e9+7, 1300)
	if a.UnixNano() != now || b.UnixNano() != now+5e9+7 || b.Sub(a) != 300 ||
		b.Round(0).Sub(a.Round(0)) != 5e9+7 {
		t.Fatalf("%v, %v: package time has another layout", a, b)
	}
}

func TestInjected(t *testing.T) {
	at := time.UnixMilli(1000)
	c := Injected(func() time.Time { return at })
	for range 100 {
		if c.Milli(7) != at.UnixMilli() || c.Micro() != at.UnixMicro() {
			t.Fatalf("%d, %d at %v", c.Milli(7), c.Micro(), at)
		}
		at = at.Add(time.Millisecond + time.Microsecond)
	}
}

// On the real machine, Milli returns a time within the call.
func TestSystemClockIsWithinTheCall(t *testing.T) {
	c := System()
	end := time.Now().Add(300 * time.Millisecond)
	for now := time.Now(); now.Before(end); {
		// The machine's clock may step meanwhile, so allow for Staleness.
		before := now.Add(-Staleness).UnixMilli()
		ms := c.Milli(Counter())
		now = time.Now()
		if ms < min(before, now.Add(-Staleness).UnixMilli()) || ms > now.UnixMilli() {
			t.Fatalf("%d between %d and %d", ms, before, now.UnixMilli())
		}
	}
}

func TestCounter(t *testing.T) {
	if System().counter == nil {
		t.Skip("this processor's counter can stop; to run this test: " +
			"use a machine with an invariant time-stamp counter")
	}
	a := Counter()
	time.Sleep(2 * time.Millisecond)
	if b := Counter(); b <= a {
		t.Errorf("%d after %d", b, a)
	}
}

func TestAllocations(t *testing.T) {
	for name, c := range map[string]Clock{"system": System(), "injected": Injected(time.Now)} {
		if n := testing.AllocsPerRun(1000, func() { c.Milli(Counter()); c.Micro() }); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

// The command bench runs this, too.
func BenchmarkParts(b *testing.B) {
	b.Run("lib=counter", func(b *testing.B) {
		for b.Loop() {
			sinkCount = Counter()
		}
	})
	b.Run("lib=clock", func(b *testing.B) {
		c := System()
		for b.Loop() {
			sinkMilli = c.Milli(Counter())
		}
	})
}

var (
	sinkCount uint64
	sinkMilli int64
)
