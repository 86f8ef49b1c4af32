package bolt

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

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
