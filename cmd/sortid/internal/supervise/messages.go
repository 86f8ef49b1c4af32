package supervise

import (
	"log/slog"
	"time"

	"github.com/sortid/sortid/internal/words"
)

// This file has what a reporter says of a lease.

// begins says which node IDs the program has.
func (r *reporter) begins(h *holding, pid int) {
	until := h.until()
	nodes, before := h.nodes.text(), ""
	if r.nodes != "" && r.nodes != nodes {
		before = "; before, it was " + r.nodes
	}
	r.nodes = nodes
	r.note("%s of realm %s until %s%s", nodes, r.realm, words.Time(until), before)
	r.setLease(until)
	r.change(func(s *Status) {
		s.State, s.PID, s.Error = running, &pid, nil
		s.setNodes(h.nodes)
		s.setUntil(until, time.Now())
	})
}

// text returns such as "node ID 42/10".
func (n Nodes) text() string {
	if len(n.IDs) > 1 {
		return "node IDs " + n.Spec()
	}
	return "node ID " + n.Spec()
}

func (r *reporter) setUntil(until, renewed time.Time) {
	r.setLease(until)
	r.change(func(s *Status) { s.setUntil(until, renewed) })
}

func (r *reporter) setState(state string) { r.change(func(s *Status) { s.State = state }) }

func (r *reporter) storeAway(err error, goesOn time.Time) {
	what := "the store does not answer"
	if permanent(err) {
		what = "the lease is not renewed"
	}
	r.note("%s; the program goes on until %s: %v", what, words.Time(goesOn), err)
	text := err.Error()
	r.change(func(s *Status) { s.runs(storeAway, &text) })
}

func (r *reporter) storeBack(n Nodes, until time.Time) {
	r.note("the store answers again; %s until %s", n.text(), words.Time(until))
	r.change(func(s *Status) { s.runs(running, nil) })
}

// waits shows why no node ID could be leased yet. If others have the node IDs, the store answers.
func (r *reporter) waits(err error) {
	text := err.Error()
	r.change(func(s *Status) {
		if s.Error = &text; occupied(err) {
			s.Error = nil
		}
	})
}

// restarts forgets the program that has ended.
func (r *reporter) restarts() {
	r.change(func(s *Status) { *s = Status{State: starting, Realm: s.Realm} })
}

func (r *reporter) logger() *slog.Logger { return slog.New(r) }
