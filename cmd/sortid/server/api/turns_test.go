package api

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sortid/sortid/internal/check"
)

// A client with many requests delays another client's first request only by one turn.
func TestTurnsAreFair(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := NewTurns(1)
		check.OK(t, turns.Take(t.Context(), "greedy"))
		var order []string
		wait := func(name string, c Client) {
			go func() {
				if err := turns.Take(t.Context(), c); err != nil {
					t.Errorf("%s: %v", name, err)
				}
				order = append(order, name)
				turns.Done()
			}()
			synctest.Wait()
		}
		for i := range 3 {
			wait(fmt.Sprint("greedy ", i), "greedy")
		}
		wait("modest 0", "modest")
		wait("modest 1", "modest")
		wait("third 0", "third")
		turns.Done()
		synctest.Wait()
		if want := []string{"greedy 0", "modest 0", "third 0", "greedy 1", "modest 1",
			"greedy 2"}; !slices.Equal(order, want) {
			t.Errorf("%q, want %q", order, want)
		}
		if turns.free != 1 || len(turns.waiting)+len(turns.order) != 0 {
			t.Errorf("after all: %+v", turns)
		}
	})
}

// A request that gets no turn in time, or whose client has hung up, takes none.
func TestTurnsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := NewTurns(1)
		check.OK(t, turns.Take(t.Context(), "a"))
		begin := time.Now()
		err := turns.Take(t.Context(), "a")
		if took := time.Since(begin); took != TurnTimeout || err == nil ||
			!strings.Contains(err.Error(), "send the same again") {
			t.Errorf("%v after %v", err, took)
		}
		ctx, hangUp := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, hangUp)
		if err := turns.Take(ctx, "a"); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		// A turn that comes at the moment of the hang-up is given on.
		for range 100 {
			ctx, hangUp := context.WithCancel(t.Context())
			go func() {
				if turns.Take(ctx, "a") == nil {
					turns.Done()
				}
			}()
			synctest.Wait()
			go hangUp()
			turns.Done()
			synctest.Wait()
			check.OK(t, turns.Take(t.Context(), "b"))
		}
		turns.Done()
		if turns.free != 1 || len(turns.waiting)+len(turns.order) != 0 {
			t.Errorf("after all: %+v", turns)
		}
	})
}
