package lease

import (
	"context"
	"errors"
	"slices"
	"time"
)

// A queue has the clients who wait for the same node IDs of a realm, the oldest first. Only the
// first client looks for a free node ID again and again. When it has found one, it wakes the next
// two. So as many clients are woken as node IDs are free.
type queue struct{ waiters []*waiter }

type queueKey struct {
	bits   int
	nodeID int64
}

type waiter struct{ look chan struct{} }

const (
	lookPause    = time.Second
	maxLookPause = 10 * time.Second
)

// wake makes the first n clients look. The caller must hold the realm's mutex.
func (q *queue) wake(n int) {
	for _, w := range q.waiters[:min(n, len(q.waiters))] {
		select {
		case w.look <- struct{}{}:
		default:
		}
	}
}

// freed tells the clients who wait that a node ID may be free.
func (l *StoreLessor) freed(realm string) {
	l.mu.Lock()
	r := l.realms[realm]
	l.mu.Unlock()
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.freed++
	for _, q := range r.queues {
		q.wake(1)
	}
}

// wait acquires a node ID as soon as one can be had. The parameter err says why there was none. If
// there is none in time, wait returns the newest such error.
func (l *StoreLessor) wait(ctx context.Context, c *claimant, err error) (Grant, error) {
	limit := time.NewTimer(c.Wait)
	defer limit.Stop()
	r, w := l.realm(c.realm), &waiter{make(chan struct{}, 1)}
	leave := r.join(queueKey{c.NodeBits, c.NodeID}, w)
	found := 0
	defer func() { leave(found) }()
	for took := time.Duration(0); ; {
		var pause <-chan time.Time
		if r.isFirst(queueKey{c.NodeBits, c.NodeID}, w) {
			pause = time.After(lookAfter(err, c.time, took))
		}
		select {
		case <-ctx.Done():
			return Grant{}, context.Cause(ctx)
		case <-limit.C:
			return Grant{}, err
		case <-w.look:
		case <-pause:
		}
		began := time.Now()
		g, now := l.acquire(ctx, c)
		took = time.Since(began)
		if !passes(now) {
			if now == nil {
				found = 2
			}
			return g, now
		}
		err = now
	}
}

// join adds a client to a queue, and returns a function that removes it and wakes the next ones: at
// least the next one if the client was the first.
func (r *leasedRealm) join(k queueKey, w *waiter) (leave func(wake int)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	q := r.queues[k]
	if q == nil {
		q = &queue{}
		r.queues[k] = q
	}
	q.waiters = append(q.waiters, w)
	return func(wake int) {
		r.mu.Lock()
		defer r.mu.Unlock()
		i := slices.Index(q.waiters, w)
		q.waiters = slices.Delete(q.waiters, i, i+1)
		if len(q.waiters) == 0 {
			delete(r.queues, k)
		}
		if i == 0 {
			wake = max(wake, 1)
		}
		q.wake(wake)
	}
}

func (r *leasedRealm) isFirst(k queueKey, w *waiter) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.queues[k].waiters[0] == w
}

// lookAfter returns how long the first client sleeps: until a node ID is free, but not much more
// than a second, because another lessor may free one. If a look takes long, it sleeps longer.
func lookAfter(err error, now time.Time, took time.Duration) time.Duration {
	pause := jitter(min(max(lookPause, 20*took), maxLookPause))
	var full *FullError
	var held *HeldError
	var lead *LeadError
	var from time.Time
	switch {
	case errors.As(err, &held):
		from = held.FreeFrom
	case errors.As(err, &full):
		from = full.From
	case errors.As(err, &lead):
		from = lead.Until.Add(-lead.Max)
	}
	if until := from.Sub(now); !from.IsZero() && until > 0 && !now.IsZero() {
		pause = min(pause, until+time.Millisecond)
	}
	return pause
}
