package idapi

import (
	"context"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/sortid/sortid/cmd/sortid/server/api"
	"github.com/sortid/sortid/cmd/sortid/server/fair"
	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/internal/spec"
	"github.com/sortid/sortid/store/http/wire"
)

// A queue shares the IDs of one node ID among clients. While IDs are scarce, it counts each client's
// IDs.
type queue struct {
	ids *rate.Limiter // how many IDs can be made now

	mu   sync.Mutex
	line fair.Line
}

// newQueue returns nil for generators that wait when a tick has no IDs left. Other generators run
// ahead of the clock, and fail when they are 10 s ahead. The queue lets them run only 2 s ahead, so
// that they do not fail within an answer.
func newQueue(f *format.Format, nodeBits int) *queue {
	if spec.Of(f).NodeCounter == 0 {
		return nil
	}
	return &queue{ids: rate.NewLimiter(capacity(f, nodeBits))}
}

// capacity returns how many IDs a node ID of a size makes in a second, and how many at once.
func capacity(f *format.Format, nodeBits int) (perSecond rate.Limit, burst int) {
	perSecond = rate.Limit(0.95 * float64(int(1)<<(spec.Of(f).NodeCounter-nodeBits)) / f.Tick().Seconds())
	return perSecond, max(int(2*perSecond), api.MaxIDs)
}

// resize is for a node ID of another size.
func (q *queue) resize(f *format.Format, nodeBits int) {
	perSecond, burst := capacity(f, nodeBits)
	q.ids.SetLimit(perSecond)
	q.ids.SetBurst(burst)
}

// take takes n IDs from the queue, and from the token's limit if that is not nil. It waits for the
// queue, up to [api.QueueTimeout]. If the queue or the limit has too few IDs, take takes none and
// returns a problem.
func (q *queue) take(ctx context.Context, client string, n int, token *rate.Limiter) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	now := time.Now()
	if spare := int(q.ids.TokensAt(now)) - q.ids.Burst()/2; q.line.Len() == 0 && spare >= 0 {
		q.line.Forget()
		if spare >= n { // IDs are not scarce, so nothing is counted
			if wait := api.Take(token, n); wait > 0 {
				return tooMany(wait)
			}
			q.ids.AllowN(now, n)
			return nil
		}
	}
	w := q.line.Join(client)
	defer func() {
		q.line.Leave(w)
		q.line.First(nil).Tell()
	}()
	for giveUp := now.Add(api.QueueTimeout); ; now = time.Now() {
		if wait := api.Lacks(token, n, now); wait > 0 {
			return tooMany(wait)
		}
		wait, left := api.Lacks(q.ids, n, now), giveUp.Sub(now)
		first := q.line.First(nil) == w
		switch {
		case first && wait == 0:
			if wait := api.Take(token, n); wait > 0 {
				return tooMany(wait)
			}
			q.ids.ReserveN(now, n)
			q.line.Count(w, n)
			return nil
		case left <= 0 || first && wait > left || ctx.Err() != nil:
			return api.Busy(wait, wire.Limit,
				"the server cannot make %d more IDs within %v; ask again later, or for fewer", n,
				api.QueueTimeout)
		case !first:
			wait = left
		}
		q.mu.Unlock()
		select {
		case <-time.After(wait):
		case <-w.Told:
		case <-ctx.Done():
		}
		q.mu.Lock()
	}
}

func tooMany(wait time.Duration) error {
	return api.TooMany(wait, "the token's limit of IDs a second is reached")
}

// probe takes one ID, and does not wait. If no ID is left, later requests wait longer.
func (q *queue) probe() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.ids.Reserve()
}
