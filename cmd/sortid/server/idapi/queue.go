package idapi

import (
	"context"
	"slices"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/sortid/sortid/cmd/sortid/server/api"
	"github.com/sortid/sortid/format"
)

// A queue shares the IDs of one node ID among clients, by start-time fair queueing. While IDs are
// scarce, it counts each client's IDs, and serves the waiting client with the lowest count. A
// request counts only after it was served, so large requests get their turn, too. After a pause, a
// client has a low count. Then the queue raises the count to last, so a pause saves no IDs.
type queue struct {
	ids *rate.Limiter // how many IDs can be made now

	mu      sync.Mutex
	waiting []*waiter // in order of arrival
	last    int64     // the highest count that a client had when it was served
	counts  map[api.Client]*int64
}

type waiter struct {
	count *int64        // the count of the waiting client
	first chan struct{} // gets a value when the waiter must check whether it is next
}

const maxCounts = 4096 // limits memory

// newQueue returns nil for generators that wait when a tick has no IDs left. Other generators run
// ahead of the clock, and fail when they are 10 s ahead. The queue lets them run only 2 s ahead, so
// that they do not fail within an answer.
func newQueue(f *format.Format, nodeBits int) *queue {
	if f.NodeCounter == 0 {
		return nil
	}
	return &queue{ids: rate.NewLimiter(capacity(f, nodeBits)), counts: map[api.Client]*int64{}}
}

// capacity returns how many IDs a node ID of a size makes in a second, and how many at once.
func capacity(f *format.Format, nodeBits int) (perSecond rate.Limit, burst int) {
	perSecond = rate.Limit(0.95 * float64(int(1)<<(f.NodeCounter-nodeBits)) / f.Tick.Seconds())
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
func (q *queue) take(ctx context.Context, c api.Client, n int, token *rate.Limiter) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	now := time.Now()
	if spare := int(q.ids.TokensAt(now)) - q.ids.Burst()/2; len(q.waiting) == 0 && spare >= 0 {
		clear(q.counts)
		if spare >= n { // IDs are not scarce, so nothing is counted
			if wait := api.Take(token, n); wait > 0 {
				return tooMany(wait)
			}
			q.ids.AllowN(now, n)
			return nil
		}
	}
	w := q.join(c)
	defer q.leave(w)
	for giveUp := now.Add(api.QueueTimeout); ; now = time.Now() {
		if wait := api.Lacks(token, n, now); wait > 0 {
			return tooMany(wait)
		}
		wait, left := api.Lacks(q.ids, n, now), giveUp.Sub(now)
		first := q.first() == w
		switch {
		case first && wait == 0:
			if wait := api.Take(token, n); wait > 0 {
				return tooMany(wait)
			}
			q.ids.ReserveN(now, n)
			q.last = max(q.last, *w.count)
			*w.count = q.last + int64(n)
			return nil
		case left <= 0 || first && wait > left || ctx.Err() != nil:
			return api.Busy(wait, api.Limit,
				"the server cannot make %d more IDs within %v; ask again later, or for fewer", n,
				api.QueueTimeout)
		case !first:
			wait = left
		}
		q.mu.Unlock()
		select {
		case <-time.After(wait):
		case <-w.first:
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

func (q *queue) join(c api.Client) *waiter {
	if len(q.counts) > maxCounts {
		clear(q.counts)
	}
	if q.counts[c] == nil {
		q.counts[c] = new(int64)
	}
	w := &waiter{q.counts[c], make(chan struct{}, 1)}
	q.waiting = append(q.waiting, w)
	return w
}

func (q *queue) leave(w *waiter) {
	q.waiting = slices.DeleteFunc(q.waiting, func(other *waiter) bool { return other == w })
	if first := q.first(); first != nil {
		select {
		case first.first <- struct{}{}:
		default:
		}
	}
}

func (q *queue) first() (first *waiter) {
	for _, w := range q.waiting {
		if first == nil || max(q.last, *w.count) < max(q.last, *first.count) {
			first = w
		}
	}
	return first
}
