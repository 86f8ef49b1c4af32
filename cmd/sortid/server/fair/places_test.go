package fair

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sortid/sortid/internal/check"
)

const realm = "realm" // can have one of two places

// A client with many requests delays another client's first request only by one place.
func TestWaitIsFair(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		places := New(2)
		check.OK(t, places.Wait(t.Context(), "greedy", realm))
		var order []string
		wait := func(name string, client string) {
			go func() {
				if err := places.Wait(t.Context(), client, realm); err != nil {
					t.Errorf("%s: %v", name, err)
				}
				order = append(order, name)
				places.Leave(realm)
			}()
			synctest.Wait()
		}
		for i := range 3 {
			wait(fmt.Sprint("greedy ", i), "greedy")
		}
		wait("modest 0", "modest")
		wait("modest 1", "modest")
		wait("third 0", "third")
		places.Leave(realm)
		synctest.Wait()
		if want := []string{"greedy 0", "modest 0", "third 0", "greedy 1", "modest 1",
			"greedy 2"}; !slices.Equal(order, want) {
			t.Errorf("%q, want %q", order, want)
		}
		if places.taken+places.line.Len()+places.line.Counted() != 0 {
			t.Errorf("after all: %+v", places)
		}
	})
}

// A request whose client has hung up takes no place.
func TestWaitEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		places := New(2)
		check.OK(t, places.Wait(t.Context(), "a", realm))
		ctx, hangUp := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, hangUp)
		if err := places.Wait(ctx, "a", realm); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		// A place that comes at the moment of the hang-up is given on.
		for range 100 {
			ctx, hangUp := context.WithCancel(t.Context())
			go func() {
				if places.Wait(ctx, "a", realm) == nil {
					places.Leave(realm)
				}
			}()
			synctest.Wait()
			hangUp()
			places.Leave(realm)
			synctest.Wait()
			check.OK(t, places.Wait(t.Context(), "b", realm))
		}
		places.Leave(realm)
		if places.taken+places.line.Len()+places.line.Counted() != 0 {
			t.Errorf("after all: %+v", places)
		}
	})
}

// One holder never has the last free places, and all places come back.
func TestHoldersLeavePlaces(t *testing.T) {
	places := New(8)
	for i, c := range []struct {
		holder string
		want   int
	}{{"greedy", 4}, {"modest", 2}, {"third", 1}, {"fourth", 1}, {"fifth", 0}} {
		n := 0
		for places.Enter(c.holder) {
			n++
		}
		if n != c.want {
			t.Errorf("holder %d has %d places, want %d", i, n, c.want)
		}
	}
	for holder, n := range map[string]int{"greedy": 4, "modest": 2, "third": 1, "fourth": 1} {
		for range n {
			places.Leave(holder)
		}
	}
	if places.taken+len(places.held) != 0 {
		t.Errorf("after all: %+v", places)
	}
}
