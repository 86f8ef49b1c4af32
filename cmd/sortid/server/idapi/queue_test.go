package idapi

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/internal/check"
)

// While there are enough IDs, the queue does not count requests, and allocates nothing.
func TestQueueCountsScarceIDs(t *testing.T) { synctest.Test(t, testQueueCountsScarceIDs) }

func testQueueCountsScarceIDs(t *testing.T) {
	f := check.Must(format.Lookup("scru64"))(t)
	q := newQueue(f, 8)
	take := func(n int) {
		t.Helper()
		check.OK(t, q.take(t.Context(), "192.0.2.1", n, nil))
	}
	if n := testing.AllocsPerRun(100, func() { take(1) }); n != 0 || q.line.Counted() != 0 {
		t.Errorf("%v allocations, %d clients counted, want none", n, q.line.Counted())
	}
	for _, n := range []int{q.ids.Burst()/2 + 1, q.ids.Burst()/2 + 2} {
		time.Sleep(time.Minute)
		take(n) // leaves at most half of the limit
		take(1)
		if q.line.Counted() != 1 {
			t.Errorf("%d clients counted, want 1", q.line.Counted())
		}
		time.Sleep(time.Minute)
		take(1)
		if q.line.Counted() != 0 {
			t.Errorf("%d clients counted when there are enough IDs again, want none", q.line.Counted())
		}
	}
}
