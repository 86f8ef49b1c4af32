package lease

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/sortid/sortid/internal/check"
)

// With Once, a lease that is evicted or fenced gets no other node ID, and says why.
func TestOnce(t *testing.T) {
	for _, lose := range []struct {
		want string
		how  func(t *testing.T, n *network, b Block)
	}{
		{"node ID %v of realm \"workers\" was evicted", func(t *testing.T, n *network, b Block) {
			ok := check.Must(Evict(t.Context(), n, "workers", b, Owner{}))(t)
			if !ok {
				t.Errorf("%v was not held", b)
			}
		}},
		{"realm \"workers\" has been fenced", func(t *testing.T, n *network, b Block) {
			_, err := Fence(t.Context(), n, workers(0), time.Minute)
			check.OK(t, err)
		}},
	} {
		sources(t, func(t *testing.T, n *network, acquire source) {
			_, err := Create(t.Context(), n, workers(10))
			check.OK(t, err)
			c := workers(10)
			c.Once, c.Renew = true, 4*time.Second
			l := check.Must(acquire(t.Context(), c))(t)
			defer l.Close(t.Context())
			b := Block{l.NodeID(), 10}
			lose.how(t, n, b)
			time.Sleep(10 * time.Second)
			want := strings.ReplaceAll(lose.want, "%v", b.String())
			if err := l.Err(); !errors.Is(err, ErrLost) || !strings.Contains(err.Error(), want) {
				t.Errorf("%v, want %s", err, want)
			}
			time.Sleep(10 * time.Minute)
			if l.NodeID() != b.NodeID || l.Until().After(time.Now()) {
				t.Errorf("node ID %d until %v after the loss of %v", l.NodeID(), l.Until(), b)
			}
			records := check.Must(n.List(t.Context(), "workers@"+spaceRoot(t, n).Generation))(t)
			for _, r := range records {
				if r.Owner != (Owner{}) {
					t.Errorf("%v is held", r.Block)
				}
			}
		})
	}
}

func spaceRoot(t *testing.T, n *network) Record {
	t.Helper()
	root := check.Must(Realm(t.Context(), n, "workers"))(t)
	return root
}
