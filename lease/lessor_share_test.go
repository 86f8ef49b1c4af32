package lease

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// While two reads hang, all later callers share one read, which begins after they called.
func TestShortReadsAreShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s share[int]
		var reads atomic.Int64
		read := func(context.Context) (int, error) {
			is := reads.Add(1)
			time.Sleep(time.Second)
			return int(is), nil
		}
		var wg sync.WaitGroup
		for i, want := range []int{1, 2, 3, 3, 3, 3} {
			wg.Go(func() {
				time.Sleep(time.Duration(i) * time.Millisecond)
				if got, err := s.doShort(t.Context(), read); got != want || err != nil {
					t.Errorf("caller %d got read %d, %v, want read %d", i, got, err, want)
				}
			})
		}
		wg.Wait()
		if got, err := s.doShort(t.Context(), read); got != 4 || err != nil {
			t.Errorf("a later caller got read %d, %v, want read 4", got, err)
		}
	})
}

// A read that ends with its caller takes no place from later callers.
func TestShortReadEndsWithItsCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s share[int]
		for range 2 * shareReads {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			if _, err := s.doShort(ctx, func(ctx context.Context) (int, error) {
				<-ctx.Done()
				return 0, ctx.Err()
			}); err == nil {
				t.Error("a read without an answer: no error")
			}
			cancel()
		}
		if got, err := s.doShort(t.Context(), func(context.Context) (int, error) {
			return 1, nil
		}); got != 1 || err != nil {
			t.Errorf("got %d, %v", got, err)
		}
	})
}
