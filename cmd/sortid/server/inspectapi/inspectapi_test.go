package inspectapi

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/time/rate"

	"github.com/sortid/sortid/cmd/sortid/server/api"
	"github.com/sortid/sortid/internal/check"
)

func TestInspectedLines(t *testing.T) { synctest.Test(t, testInspectedLines) }

func testInspectedLines(t *testing.T) {
	for _, c := range []struct{ lines, size, want int }{
		{1, 0, 1}, {1, 64, 1}, {1, 65, 2}, {1, 64 << 10, 1024}, {1000, 26_000, 1000},
		{1000, 100_000, 1563},
	} {
		if got := linesCost(c.lines, c.size); got != c.want {
			t.Errorf("%d lines of %d bytes cost %d, want %d", c.lines, c.size, got, c.want)
		}
	}

	ctx, begin := t.Context(), time.Now()
	for range 10 {
		check.OK(t, errors.Join(spendLines(nil, api.MaxIDs, 64*api.MaxIDs),
			waitLines(ctx, nil, api.MaxIDs, 64*api.MaxIDs)))
	}
	limited := rate.NewLimiter(100, api.MaxIDs)
	check.OK(t, spendLines(limited, api.MaxIDs-1, 0))
	check.OK(t, waitLines(ctx, limited, 1, 64))
	if took := time.Since(begin); took > 0 {
		t.Errorf("below the limit it waits for %v", took)
	}
	// A line of 64 KiB costs 1024 IDs, which take 10.24 s.
	w := httptest.NewRecorder()
	api.Refuse(w, spendLines(limited, 1, 64<<10))
	if w.Code != http.StatusTooManyRequests || w.Header().Get("Retry-After") != "11" {
		t.Errorf("above the limit: %d, %v", w.Code, w.Header())
	}
	var problem *api.Problem
	if err := spendLines(limited, 1, 0); !errors.As(err, &problem) ||
		problem.Status != http.StatusTooManyRequests {
		t.Errorf("above the limit: %v", err)
	}
	if err := waitLines(ctx, limited, 1, 64<<10); err != nil ||
		time.Since(begin) != 10240*time.Millisecond {
		t.Errorf("%v after %v", err, time.Since(begin))
	}
	begin = time.Now()
	if err := waitLines(ctx, limited, 4000, 0); err == nil || time.Since(begin) > 0 {
		t.Errorf("%v after %v", err, time.Since(begin))
	}
	gone, cancel := context.WithCancel(ctx)
	cancel()
	if err := waitLines(gone, limited, 1, 0); err == nil {
		t.Error("it waits for a client that has left")
	}
}
