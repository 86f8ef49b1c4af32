package api

import (
	"context"
	"slices"
	"sync"
	"time"
)

// Turns lets a limited number of requests run at a time. If requests wait, each client's oldest
// request gets a turn before any client gets a second one. Turns is safe for concurrent use.
type Turns struct {
	mu      sync.Mutex
	free    int
	waiting map[Client][]chan struct{} // oldest first
	order   []Client                   // the clients in waiting; the first one is next
}

// NewTurns returns Turns for n requests at a time.
func NewTurns(n int) *Turns { return &Turns{free: n, waiting: map[Client][]chan struct{}{}} }

// Take waits for a turn. Call Done after it. If Take fails, there was no turn. Then the error is a
// problem, or the cause of the end of ctx.
func (t *Turns) Take(ctx context.Context, c Client) error {
	t.mu.Lock()
	if t.free > 0 {
		t.free--
		t.mu.Unlock()
		return nil
	}
	turn := make(chan struct{})
	if t.waiting[c] == nil {
		t.order = append(t.order, c)
	}
	t.waiting[c] = append(t.waiting[c], turn)
	t.mu.Unlock()

	late := time.NewTimer(TurnTimeout)
	defer late.Stop()
	err := error(nil)
	select {
	case <-turn:
		return nil
	case <-ctx.Done():
		err = context.Cause(ctx)
	case <-late.C:
		err = Busy(time.Second, Limit,
			"other requests for leases took too long; nothing was done, so send the same again")
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.leave(c, turn) { // the turn came just now
		t.next()
	}
	return err
}

// Done ends a turn.
func (t *Turns) Done() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.next()
}

func (t *Turns) next() {
	if len(t.order) == 0 {
		t.free++
		return
	}
	c := t.order[0]
	t.order = t.order[1:]
	turn := t.waiting[c][0]
	if t.waiting[c] = t.waiting[c][1:]; len(t.waiting[c]) == 0 {
		delete(t.waiting, c)
	} else {
		t.order = append(t.order, c)
	}
	close(turn)
}

// leave reports whether the turn was still awaited.
func (t *Turns) leave(c Client, turn chan struct{}) bool {
	i := slices.Index(t.waiting[c], turn)
	if i < 0 {
		return false
	}
	if t.waiting[c] = slices.Delete(t.waiting[c], i, i+1); len(t.waiting[c]) == 0 {
		delete(t.waiting, c)
		t.order = slices.DeleteFunc(t.order, func(other Client) bool { return other == c })
	}
	return true
}
