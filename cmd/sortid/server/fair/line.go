// Package fair shares what a server has among its clients, so that a client with many requests does
// not hold up others.
package fair

import "slices"

// A Line has requests that wait, by start-time fair queueing: the first request is the oldest one of
// the client with the lowest count. A request counts only after it was served, so large requests get
// their turn, too. After a pause, a client has a low count. Then the line raises the count to last,
// so a pause saves nothing. The user of a Line locks it.
type Line struct {
	waiting []*Waiter // in order of arrival
	last    int64     // the highest count that a client had when it was served
	counts  map[string]*int64
}

// A Waiter is a request in a line.
type Waiter struct {
	Told  chan struct{} // gets a value after Tell
	count *int64        // the count of the client
	place string        // see Places
}

const maxCounts = 4096 // limits memory

// Join adds a request to the line.
func (l *Line) Join(client string) *Waiter {
	if l.counts == nil || len(l.counts) > maxCounts {
		l.counts = map[string]*int64{}
	}
	if l.counts[client] == nil {
		l.counts[client] = new(int64)
	}
	w := &Waiter{count: l.counts[client], Told: make(chan struct{}, 1)}
	l.waiting = append(l.waiting, w)
	return w
}

// Leave removes a request, and reports whether it was in the line.
func (l *Line) Leave(w *Waiter) bool {
	i := slices.Index(l.waiting, w)
	if i < 0 {
		return false
	}
	l.waiting = slices.Delete(l.waiting, i, i+1)
	return true
}

// First returns the first request of those that may be served, or nil. A nil function permits all.
func (l *Line) First(may func(*Waiter) bool) (first *Waiter) {
	for _, w := range l.waiting {
		if (first == nil || max(l.last, *w.count) < max(l.last, *first.count)) &&
			(may == nil || may(w)) {
			first = w
		}
	}
	return first
}

// Count counts n for the client of a request that is served.
func (l *Line) Count(w *Waiter, n int) {
	l.last = max(l.last, *w.count)
	*w.count = l.last + int64(n)
}

// Forget forgets what clients have taken. Call it when there is enough for all.
func (l *Line) Forget() { clear(l.counts) }

// Counted returns how many clients are counted.
func (l *Line) Counted() int { return len(l.counts) }

// Len returns how many requests wait.
func (l *Line) Len() int { return len(l.waiting) }

// Tell wakes a request. A nil Waiter is permitted.
func (w *Waiter) Tell() {
	if w == nil {
		return
	}
	select {
	case w.Told <- struct{}{}:
	default:
	}
}
