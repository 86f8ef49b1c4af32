package bolt

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sortid/sortid/internal/check"
	"github.com/sortid/sortid/lease"
	"github.com/sortid/sortid/store/internal/faulttest"
)

const patience = 5 * time.Minute

func temp(t *testing.T) (path, url string) {
	path = filepath.Join(t.TempDir(), "sortid.db")
	return path, "bolt:" + path
}

func must(t *testing.T, url string) *Store {
	t.Helper()
	return faulttest.Open(t, Open, url)
}

var (
	block  = faulttest.Block
	record = faulttest.Record
)

func put(t *testing.T, s *Store, n uint64) {
	t.Helper()
	faulttest.Change(t, s, record(n-1), record(n))
}

func TestStore(t *testing.T) {
	faulttest.Store(t, Open, func(t testing.TB) string { return "bolt:" + t.TempDir() + "/a.db" })
}

// A call that waits for another call of its process also ends with its context.
func TestWaitingCallEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, url := temp(t)
		s := must(t, url)
		s.mutex <- struct{}{}
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		if _, err := s.Get(ctx, "realm", block); !errors.Is(err, context.DeadlineExceeded) ||
			!strings.Contains(err.Error(), "of this process") {
			t.Error(err)
		}
		<-s.mutex
		put(t, s, 1)
	})
}

// Readers see only complete changes.
func TestReadersSeeCompleteChanges(t *testing.T) {
	_, url := temp(t)
	s := must(t, url)
	put(t, s, 1)
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			var last uint64
			for ctx.Err() == nil {
				r, err := s.Get(t.Context(), "realm", block)
				if err != nil || r.Revision < last || r != record(r.Revision) {
					t.Errorf("%+v after %d, %v", r, last, err)
					return
				}
				last = r.Revision
			}
		})
	}
	for n := uint64(2); n < 100; n++ {
		put(t, s, n)
	}
	cancel()
	wg.Wait()
}

// Calls at the same time share transactions. Each call makes its own changes, or none.
func TestConcurrentChanges(t *testing.T) {
	s := check.Must(Open(t.Context(), "bolt:"+filepath.Join(t.TempDir(), "leases.db")))(t)
	const calls = 200
	record := func(i, revision int) lease.Record {
		return lease.Record{Realm: "r", Block: lease.Block{NodeID: uint32(i), Size: 16},
			Revision: uint64(revision), Name: fmt.Sprint(i)}
	}
	var wg sync.WaitGroup
	var canceled atomic.Int32
	for i := range calls {
		ctx, cancel := t.Context(), context.CancelFunc(func() {})
		if i%10 == 9 { // these give up, in the queue or later
			ctx, cancel = context.WithTimeout(ctx, time.Duration(i)*50*time.Microsecond)
		}
		wg.Go(func() {
			defer cancel()
			// Every second call is refused, because one of its records is missing.
			changes := []lease.Change{{Prev: record(i, 0), Next: record(i, 1)}}
			if i%2 == 1 {
				changes = append(changes, lease.Change{Prev: record(calls+i, 5),
					Next: record(calls+i, 6)})
			}
			ok, err := s.CompareAndSetMany(ctx, changes)
			switch {
			case errors.Is(err, context.DeadlineExceeded):
				canceled.Add(1)
			case err != nil || ok != (i%2 == 0):
				t.Errorf("call %d: %v, %v", i, ok, err)
			}
		})
	}
	wg.Wait()
	records, err := s.List(t.Context(), "r")
	if err != nil || len(records) != calls/2 {
		t.Errorf("%d records after %d calls (%d gave up), want %d, %v", len(records), calls,
			canceled.Load(), calls/2, err)
	}
	if s.calls.leading || len(s.calls.waiting) != 0 {
		t.Errorf("calls still wait: %+v", s.calls.waiting)
	}
}

// A change waits only for a part of a list.
func TestChangeBetweenPartsOfAList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, url := temp(t)
		s := must(t, url)
		const last = 2 * maxPart
		record := func(i int, revision uint64) lease.Record {
			return lease.Record{Realm: "r", Block: lease.Block{NodeID: uint32(1<<23 + i), Size: 24},
				Revision: revision}
		}
		var all []lease.Change
		for i := range last + 1 {
			all = append(all, lease.Change{Prev: record(i, 0), Next: record(i, 1)})
		}
		check.Must(s.CompareAndSetMany(t.Context(), all))(t)
		s.mutex <- struct{}{}
		var wg sync.WaitGroup
		wg.Go(func() {
			records, err := s.List(t.Context(), "r")
			if err != nil || len(records) != last+1 || records[last] != record(last, 2) {
				t.Errorf("%d records, the last is %+v, %v", len(records),
					records[max(0, len(records)-1):], err)
			}
		})
		synctest.Wait()
		wg.Go(func() { faulttest.Change(t, s, record(last, 1), record(last, 2)) })
		synctest.Wait()
		<-s.mutex
		wg.Wait()
	})
}

// List reads the text of most split blocks without a decoder. It must return the same as Get.
func TestListOfSplitBlocks(t *testing.T) {
	_, url := temp(t)
	s := must(t, url)
	for _, realm := range []string{"a", "a/1", "0/0", `"block":"0/0"`, "<é>@0123456789abcdef"} {
		var want []lease.Record
		for i, state := range []lease.State{lease.Split, lease.Split, lease.Merging, lease.Whole} {
			for j, revision := range []uint64{1, 2} {
				r := lease.Record{Realm: realm, Block: lease.Block{NodeID: uint32(2*i + j), Size: 9},
					Revision: revision, State: state}
				if i == 0 {
					r.HWM = 1
				}
				faulttest.Change(t, s, lease.Record{Realm: realm, Block: r.Block}, r)
				want = append(want, r)
			}
		}
		if got := check.Must(s.List(t.Context(), realm))(t); !slices.Equal(got, want) {
			t.Errorf("realm %q: got %+v, want %+v", realm, got, want)
		}
	}
}

// A read that shares the file with a change gets its answer even if the change fails.
func TestReadBesideChangeThatFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, url := temp(t)
		s := must(t, url)
		put(t, s, 1)
		s.mutex <- struct{}{}
		var wg sync.WaitGroup
		wg.Go(func() {
			long := lease.Record{Realm: strings.Repeat("r", 1<<15)} // bbolt has no such keys
			next := long
			next.Revision = 1
			if ok, err := s.CompareAndSet(t.Context(), long, next); ok || err == nil {
				t.Errorf("the change: %v, %v", ok, err)
			}
		})
		synctest.Wait() // the change opens the file
		wg.Go(func() {
			if r, err := s.Get(t.Context(), "realm", block); err != nil || r != record(1) {
				t.Errorf("the read: %+v, %v", r, err)
			}
		})
		synctest.Wait()
		<-s.mutex
		wg.Wait()
	})
}

// Reads at the same time share transactions. Each gets what it asks for, and none waits for others
// after its context has ended.
func TestConcurrentReads(t *testing.T) {
	_, url := temp(t)
	s := must(t, url)
	const calls = 100
	of := func(i int) lease.Block { return lease.Block{NodeID: uint32(i), Size: 16} }
	for i := range calls {
		next := lease.Record{Realm: "r", Block: of(i), Revision: 1, Name: fmt.Sprint(i)}
		faulttest.Change(t, s, lease.Record{Realm: "r", Block: of(i)}, next)
	}
	s.mutex <- struct{}{} // now all reads wait
	given, give := context.WithCancel(t.Context())
	var up, wg sync.WaitGroup
	for i := range calls {
		read := func(ctx context.Context) (lease.Record, error) { return s.Get(ctx, "r", of(i)) }
		if i%2 == 1 {
			read = func(ctx context.Context) (r lease.Record, err error) {
				records, err := s.GetMany(ctx, "r", []lease.Block{{}, of(i)})
				if len(records) == 2 {
					r = records[1]
				}
				return r, err
			}
		}
		if i%10 == 9 {
			up.Go(func() {
				if r, err := read(given); !errors.Is(err, context.Canceled) || r != (lease.Record{}) {
					t.Errorf("read %d gave up: %v, %v", i, r, err)
				}
			})
			continue
		}
		wg.Go(func() {
			if r, err := read(t.Context()); err != nil || r.Name != fmt.Sprint(i) {
				t.Errorf("read %d: %q, %v", i, r.Name, err)
			}
		})
	}
	give()
	up.Wait()
	<-s.mutex
	wg.Wait()
	if s.calls.leading || len(s.calls.waiting) != 0 {
		t.Errorf("calls still wait: %+v", s.calls.waiting)
	}
}
