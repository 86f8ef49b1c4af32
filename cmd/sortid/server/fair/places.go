package fair

import (
	"context"
	"sync"
)

// Places are for a limited number of requests or connections at a time. A holder, such as a client
// or a realm, gets a place only if more places are free than the holder already has. So the first
// holder can have half of the places, the next one half of the rest, and so on. Places are safe for
// concurrent use.
type Places struct {
	places int

	mu    sync.Mutex
	taken int
	held  map[string]int
	line  Line
}

// New returns n places.
func New(n int) *Places { return &Places{places: n, held: map[string]int{}} }

// Enter reports whether the holder gets a place. If so, call Leave later.
func (p *Places) Enter(holder string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.enter(holder)
}

func (p *Places) enter(holder string) bool {
	if !p.has(holder) {
		return false
	}
	p.held[holder]++
	p.taken++
	return true
}

func (p *Places) has(holder string) bool { return p.held[holder] < p.places-p.taken }

// Wait waits until the holder gets a place. Call Leave later. If requests wait, each client's oldest
// request gets a place before any client gets a second one. The error is the cause of the end of
// ctx. Then there was no place.
func (p *Places) Wait(ctx context.Context, client, holder string) error {
	p.mu.Lock()
	if p.enter(holder) {
		p.mu.Unlock()
		return nil
	}
	w := p.line.Join(client)
	w.place = holder
	p.mu.Unlock()
	select {
	case <-w.Told:
		return nil
	case <-ctx.Done():
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.line.Leave(w) { // the place came just now
		p.leave(holder)
	}
	return context.Cause(ctx)
}

// Leave gives a place back.
func (p *Places) Leave(holder string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.leave(holder)
}

func (p *Places) leave(holder string) {
	if p.held[holder]--; p.held[holder] == 0 {
		delete(p.held, holder)
	}
	p.taken--
	for {
		w := p.line.First(func(w *Waiter) bool { return p.has(w.place) })
		if w == nil || !p.enter(w.place) {
			break
		}
		p.line.Leave(w)
		p.line.Count(w, 1)
		w.Tell()
	}
	if p.line.Len() == 0 {
		p.line.Forget()
	}
}

// Taken returns how many places are taken.
func (p *Places) Taken() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.taken
}
