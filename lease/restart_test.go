package lease

import (
	"testing"
	"time"

	"github.com/sortid/sortid/internal/check"
)

// A generator that ran ahead leaves a node ID that nobody can use yet. While others are free, nobody
// waits for it.
func TestRestartsDoNotWait(t *testing.T) {
	sources(t, func(t *testing.T, n *network, acquire source) {
		const bits = 5
		_, err := Create(t.Context(), n, workers(bits))
		check.OK(t, err)
		restart := func(want time.Duration) {
			t.Helper()
			l := check.Must(acquire(t.Context(), workers(bits)))(t)
			defer closed(t, l)
			_, tick, err := l.ClaimTick(time.Now().UnixMilli())
			check.OK(t, err)
			if wait := time.Until(time.UnixMilli(tick)); wait > want {
				t.Errorf("node ID %d can be used after %v, want %v", l.NodeID(), wait, want)
			}
			_, _, err = l.ClaimTick(time.Now().Add(9 * time.Second).UnixMilli())
			check.OK(t, err)
		}
		for range 1 << bits {
			restart(0)
		}
		restart(10 * time.Second)
	})
}
