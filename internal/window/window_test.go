package window

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sortid/sortid"
)

func newWindow() *Window { return New(8, 256*time.Millisecond, time.Unix(0, 0)) }

func TestClaim(t *testing.T) {
	w := newWindow()
	want := func(ask int64, node uint32, tick int64) {
		t.Helper()
		id, got, err := w.ClaimTick(ask)
		if err != nil || got != tick || id != node {
			t.Fatalf("ClaimTick(%d) = %d, %d, %v, want node ID %d, tick %d", ask, id, got, err,
				node, tick)
		}
	}
	expired := func(ask int64) {
		t.Helper()
		if id, got, err := w.ClaimTick(ask); !errors.Is(err, sortid.ErrLeaseExpired) || id != 0 ||
			got != 0 {
			t.Fatalf("ClaimTick(%d) = %d, %d, %v, want ErrLeaseExpired", ask, id, got, err)
		}
	}

	expired(0)
	w.Set(Grant{42, 10, 20}, 15)
	want(5, 42, 10)
	want(12, 42, 12)
	want(12, 42, 13) // already claimed
	want(11, 42, 14) // skipped
	expired(20)
	expired(1 << 62)
	want(19, 42, 19)
	expired(0)
	w.Set(Grant{42, 10, 30}, 25)
	want(0, 42, 20)
	w.Set(Grant{7, 18, 40}, 35) // another node ID, whose ticks begin earlier
	want(0, 7, 21)
	w.Set(Grant{8, 50, 60}, 55)
	want(22, 8, 50)
	if used := w.Used(); used != 50 {
		t.Errorf("Used = %d", used)
	}
	if used := w.Close(); used != 50 {
		t.Errorf("Close = %d", used)
	}
	w.Set(Grant{9, 60, 70}, 65)
	if _, _, err := w.ClaimTick(65); !errors.Is(err, sortid.ErrLeaseClosed) {
		t.Errorf("after Close: %v", err)
	}
	if err := w.WaitTick(t.Context(), 65); !errors.Is(err, sortid.ErrLeaseClosed) {
		t.Errorf("Wait after Close: %v", err)
	}
}

func TestReason(t *testing.T) {
	w := newWindow()
	w.Set(Grant{42, 0, 4000}, 2000)
	reason := errors.New("the store is down")
	w.Fail(reason)
	if _, _, err := w.ClaimTick(3999); err != nil {
		t.Fatalf("within the window: %v", err)
	}
	_, _, err := w.ClaimTick(4001)
	if !errors.Is(err, sortid.ErrLeaseExpired) || !errors.Is(err, reason) {
		t.Fatalf("at the end: %v", err)
	}
	for _, s := range []string{"42/8", "1970-01-01T00:17:04.000Z", "1970-01-01T00:17:04.256Z",
		"the store is down"} {
		if !strings.Contains(err.Error(), s) {
			t.Errorf("%q does not say %q", err, s)
		}
	}
	w.Set(Grant{42, 0, 5000}, 4500)
	if _, _, err := w.ClaimTick(5000); !errors.Is(err, sortid.ErrLeaseExpired) ||
		errors.Is(err, reason) || w.Err() != nil {
		t.Errorf("after the renewal: %v", err)
	}
	w.Set(Grant{42, None, 1<<63 - 1}, 1<<63-1)
	if _, at, err := w.ClaimTick(1<<63 - 2); err != nil || at != 1<<63-2 {
		t.Errorf("the last tick: %d, %v", at, err)
	}
	if _, _, err := w.ClaimTick(1<<63 - 2); !errors.Is(err, sortid.ErrLeaseExpired) {
		t.Errorf("past the last tick: %v", err)
	}
}

func TestRequestRenewal(t *testing.T) {
	w := newWindow()
	requested := func() bool {
		select {
		case <-w.RenewalRequests():
			return true
		default:
			return false
		}
	}
	w.Set(Grant{1, 0, 10}, 5)
	for _, c := range []struct {
		tick    int64
		request bool
	}{{4, false}, {5, true}, {6, true}, {10, true}} {
		w.ClaimTick(c.tick)
		if got := requested(); got != c.request {
			t.Errorf("tick %d: a request %v", c.tick, got)
		}
	}
}

// A wait ends with a new grant, Close, or the context's end.
func TestWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWindow()
		done := make(chan error, 1)
		waiting := func(want bool) {
			t.Helper()
			synctest.Wait()
			select {
			case err := <-done:
				if err != nil || want {
					t.Fatalf("Wait has ended with %v", err)
				}
			default:
				if !want {
					t.Fatal("Wait has not ended")
				}
			}
		}
		go func() { done <- w.WaitTick(t.Context(), 15) }()
		waiting(true)
		w.Set(Grant{1, 0, 10}, 5)
		waiting(true)
		w.Set(Grant{1, 0, 16}, 5)
		waiting(false)

		w.ClaimTick(15)
		go func() { done <- w.WaitTick(t.Context(), 15) }()
		waiting(true)
		w.Set(Grant{1, 0, 17}, 5)
		waiting(false)

		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		if err := w.WaitTick(ctx, 17); !errors.Is(err, sortid.ErrLeaseExpired) ||
			!errors.Is(err, context.DeadlineExceeded) || time.Since(start) != time.Second {
			t.Errorf("the context has ended: %v after %v", err, time.Since(start))
		}
		go func() { done <- w.WaitTick(t.Context(), 17) }()
		waiting(true)
		w.Close()
		synctest.Wait()
		if err := <-done; !errors.Is(err, sortid.ErrLeaseClosed) {
			t.Errorf("closed: %v", err)
		}
	})
}

// With renewals and Close at the same time, no tick is claimed twice.
func TestRace(t *testing.T) {
	for round := range 80 {
		w := newWindow()
		w.Set(Grant{0, 0, 8}, 4)
		var taken [4096]atomic.Int32
		var wg sync.WaitGroup
		var top [4]int64
		for i := range top {
			top[i] = None
			wg.Go(func() {
				for t0 := int64(0); ; t0++ {
					id, at, err := w.ClaimTick(t0)
					if errors.Is(err, sortid.ErrLeaseClosed) {
						return
					}
					if err != nil {
						continue
					}
					if taken[at].Add(1) > 1 {
						t.Errorf("tick %d twice", at)
					}
					if at/8 < int64(id) || at < t0 {
						t.Errorf("tick %d, asked for %d, of node ID %d", at, t0, id)
					}
					t0, top[i] = at, at
				}
			})
		}
		for i := range int64(round % 40) {
			w.Set(Grant{uint32(i), 8 * i, 8*i + 16}, 8*i+4)
		}
		used := w.Close()
		wg.Wait()
		for _, top := range top {
			if top > used {
				t.Fatalf("tick %d was claimed; Close said that %d was the last", top, used)
			}
		}
	}
}

// No generator gets a tick after the tick that Close returns, because other processes may get later
// ticks.
func TestCloseRace(t *testing.T) {
	for range 50 {
		w := newWindow()
		w.Set(Grant{0, 0, 1 << 62}, 1<<62)
		var running, wg sync.WaitGroup
		var top [2]int64
		for i := range top {
			running.Add(1)
			wg.Go(func() {
				last := int64(0)
				for n := 0; ; n++ {
					_, at, err := w.ClaimTick(last + 1)
					if err != nil {
						break
					}
					if last = at; n == 20 {
						running.Done()
					}
				}
				top[i] = last
			})
		}
		running.Wait()
		used := w.Close()
		wg.Wait()
		// A claim during Close may raise the last claimed tick, but the claim fails.
		if last := max(top[0], top[1]); last > used || last < used-2 {
			t.Fatalf("Close said that %d was the last tick claimed; it was %d", used, last)
		}
	}
}

func TestAllocations(t *testing.T) {
	w := newWindow()
	w.Set(Grant{1, 0, 1 << 40}, 1<<40)
	at := int64(0)
	if n := testing.AllocsPerRun(1000, func() { at++; w.ClaimTick(at) }); n != 0 {
		t.Errorf("Claim allocates %v times", n)
	}
}

func BenchmarkClaim(b *testing.B) {
	w := newWindow()
	w.Set(Grant{1, 0, 1 << 62}, 1<<62)
	at := int64(0)
	for b.Loop() {
		at++
		w.ClaimTick(at)
	}
}

func TestClaimTicks(t *testing.T) {
	w := newWindow()
	w.Set(Grant{7, 10, 30}, 20)
	for _, c := range []struct {
		first, last int64
		ok, asks    bool
	}{
		{9, 12, false, false}, // before the grant
		{10, 12, true, false},
		{12, 13, false, false}, // 12 is claimed
		{5, 6, false, false},
		{14, 13, false, false},
		{13, 13, true, false},
		{18, 20, true, true},
		{29, 30, false, false}, // 30 is not granted
		{29, 29, true, true},
	} {
		nodeID, ok := w.ClaimTicks(c.first, c.last)
		if ok != c.ok || ok && nodeID != 7 || len(w.RenewalRequests()) > 0 != c.asks {
			t.Errorf("%d to %d: node ID %d, %v", c.first, c.last, nodeID, ok)
		}
		if c.asks && len(w.RenewalRequests()) > 0 {
			<-w.RenewalRequests()
		}
	}
	w.Close()
	if _, ok := w.ClaimTicks(40, 41); ok || w.Used() != 29 {
		t.Errorf("after Close: %v, used %d", ok, w.Used())
	}
}

// With renewals and Close at the same time, no tick is claimed twice, and none after Close.
func TestClaimTicksRace(t *testing.T) {
	for round := range 80 {
		w := newWindow()
		w.Set(Grant{0, 0, 8}, 4)
		var taken [4096]atomic.Int32
		var wg sync.WaitGroup
		var top atomic.Int64
		top.Store(None)
		for i := range 4 {
			wg.Go(func() {
				for first := int64(i); first < 4000; first++ {
					last := first + int64(i)
					id, ok := w.ClaimTicks(first, last)
					if !ok {
						if _, _, over := w.Watch(); over {
							return
						}
						continue
					}
					for tick := first; tick <= last; tick++ {
						if taken[tick].Add(1) > 1 {
							t.Errorf("tick %d twice", tick)
						}
					}
					if int64(id) > first/8 || last >= 8*int64(id)+16 {
						t.Errorf("ticks %d to %d of node ID %d", first, last, id)
					}
					for {
						if was := top.Load(); was >= last || top.CompareAndSwap(was, last) {
							break
						}
					}
				}
			})
		}
		for i := range int64(round % 40) {
			w.Set(Grant{uint32(i), 8 * i, 8*i + 16}, 8*i+4)
		}
		used := w.Close()
		wg.Wait()
		if top := top.Load(); top > used {
			t.Fatalf("tick %d was claimed; Close said that %d was the last", top, used)
		}
	}
}
