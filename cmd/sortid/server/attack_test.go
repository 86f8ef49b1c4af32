package server

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sortid/sortid/internal/check"
	"github.com/sortid/sortid/lease"
)

const callTime = 100 * time.Millisecond

// A narrow store has two connections. A list of the realm "hangs" ends only with its context.
func narrow() *hooked {
	connections := make(chan struct{}, 2)
	return &hooked{Store: lease.NewMemory(),
		before: func(ctx context.Context, method, realm string) error {
			d := callTime
			if method == "List" && strings.HasPrefix(realm, "hangs@") {
				d = time.Hour
			}
			select {
			case connections <- struct{}{}:
				defer func() { <-connections }()
			case <-ctx.Done():
				return context.Cause(ctx)
			}
			select {
			case <-time.After(d):
				return nil
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}}
}

// Renewals of the server's own leases reach the store in spite of slow lists and many clients.
func TestStoreHammered(t *testing.T) { inBubble(t, testStoreHammered) }

func testStoreHammered(t *testing.T) {
	store := narrow()
	s := virtual(t, Config{Store: store})
	check.Must(lease.Create(t.Context(), store.Store, lease.Config{Realm: "hangs",
		Format: lease.SCRU64()}))(t)
	ctx, stop := context.WithTimeout(t.Context(), 3*time.Minute)
	defer stop()
	var refused, listed, read atomic.Int64
	var hammering sync.WaitGroup
	hammer := func(path string, done *atomic.Int64) {
		hammering.Go(func() {
			for ctx.Err() == nil {
				w := ask(ctx, s, "GET", path, "")
				switch {
				case w.Code == http.StatusOK:
					done.Add(1)
				case w.Code == http.StatusServiceUnavailable && ctx.Err() == nil:
					refused.Add(1)
					time.Sleep(w.retryAfter(t))
				case ctx.Err() == nil:
					t.Errorf("%s: status %d, want 200 or 503: %s", path, w.Code, w.Body)
					return
				}
			}
		})
	}
	for range 200 {
		hammer("/v1/realms/hangs/leases", &listed)
	}
	for range 200 {
		hammer("/v1/realms/scru64", &read)
	}
	for ctx.Err() == nil {
		for _, path := range []string{"/v1/ids/scru64", "/v1/ids/uid60"} {
			if w := ask(t.Context(), s, "GET", path, ""); w.Code != http.StatusOK {
				t.Fatalf("%s: status %d, want 200: %s", path, w.Code, w.Body)
			}
		}
		time.Sleep(time.Second)
	}
	hammering.Wait()
	time.Sleep(time.Minute) // requests share lists, so a list can go on without its first request
	lists := store.count("List")
	t.Logf("%d lists begun, %d reads answered, %d refused", lists, read.Load(), refused.Load())
	if lists == 0 || read.Load() == 0 || refused.Load() == 0 {
		t.Errorf("%d lists, %d reads answered, %d refused; want some of each", lists, read.Load(),
			refused.Load())
	}
}
