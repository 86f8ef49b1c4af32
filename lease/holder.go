package lease

import (
	"context"
	crand "crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/sortid/sortid/internal/window"
)

// A holder holds one lease of a lessor. The lessor takes part in the protocol, so a holder only
// remembers its requests and the newest grant. It is not safe for concurrent use.
type holder struct {
	lessor Lessor
	config Config
	terms  Terms // only Tick and Epoch matter here

	// The same request is sent again until its outcome is known, so that a lost answer costs no
	// second node ID.
	request string // "" if no grant is requested
	asked   bool   // a copy of request may have got a grant
	renewal string // "" if no renewal is under way

	full      bool // the last answer was that no node ID can be had
	held      bool
	grant     Grant // the one with the greatest EndTick; old if held is false
	sole      span
	withdrawn bool
	lost      error // how the last node ID was lost
	window    int64
}

func newHolder(lessor Lessor, config Config) *holder {
	h := &holder{lessor: lessor, config: config, terms: config.terms()}
	h.window = h.terms.Window
	return h
}

func (h *holder) state() keeperState {
	return keeperState{held: h.held, block: h.grant.Block, from: h.grant.FirstTick,
		end: h.grant.EndTick, sole: h.sole, withdrawn: h.withdrawn, window: h.window}
}

func (h *holder) unsure() bool { return h.asked }

func (h *holder) connections() any { return h.lessor }

// random returns a text that nobody can guess. It comes from the operating system at this moment,
// so that clones of a process get different ones.
func random() string { return crand.Text() }

func (h *holder) keep(ctx context.Context, used int64) error {
	if h.held {
		return h.renew(ctx, used)
	}
	return h.acquire(ctx, used, h.wait(ctx))
}

// renew extends the lease. If the lease was lost, renew returns the error at once, because the
// generators must stop before a new lease is acquired.
func (h *holder) renew(ctx context.Context, used int64) error {
	again := h.renewal != ""
	if !again {
		h.renewal = random()
	}
	at, sent := h.time(used), h.config.Now().Round(0)
	g, err := h.lessor.Renew(ctx, h.config.Realm, h.grant.ID, RenewRequest{
		Secret: h.grant.Secret, EndTick: h.grant.EndTick, Renewal: h.renewal, Time: at,
	})
	switch {
	case errors.Is(err, ErrLost):
		h.config.Logger.Warn("lease: node ID lost", "realm", h.config.Realm, "node",
			h.grant.Block.String(), "error", err)
		h.held, h.withdrawn, h.renewal = false, true, ""
		h.lost = h.failed("renew the lease", err)
		return h.lost
	case err != nil:
		return h.failed("renew the lease", h.leads(err, used))
	case g.ID != h.grant.ID || g.Secret != h.grant.Secret || g.Block != h.grant.Block:
		return h.strange(g, "another lease")
	}
	if err := h.check(g); err != nil {
		return err
	}
	h.renewal = ""
	h.take(g, at, sent, again || g.Repeated)
	return nil
}

// acquire acquires a node ID. If the lease of an earlier copy of the request has ended, it asks
// once more.
func (h *holder) acquire(ctx context.Context, used int64, wait time.Duration) error {
	if h.config.Once && h.lost != nil {
		return h.lost
	}
	for ended := false; ; ended = true {
		if h.request == "" {
			h.request = random()
		}
		at, sent := h.time(used), h.config.Now().Round(0)
		again := h.asked
		g, err := h.lessor.Acquire(ctx, h.config.Realm, AcquireRequest{
			Request: h.request, NodeBits: h.config.NodeBits, NodeID: h.nodeID(),
			Holder: h.config.Name, Window: h.config.Window, Wait: wait, Time: at,
		})
		switch {
		case errors.Is(err, ErrLost) || errors.Is(err, ErrRequestDiffers):
			h.request, h.asked = "", false
			if !ended {
				continue
			}
			return h.failed("lease a node ID", err)
		case err != nil:
			h.full = passes(err)
			h.asked = h.asked || !isRefusal(err)
			return h.failed("lease a node ID", h.leads(err, used))
		}
		if err := h.check(g); err != nil {
			h.asked = true
			return err
		}
		h.request, h.asked = "", false
		if err := h.suits(g); err != nil {
			_ = h.giveBack(ctx, g, window.None)
			return err
		}
		h.held, h.withdrawn, h.grant = true, false, Grant{}
		h.take(g, at, sent, again || g.Repeated)
		return nil
	}
}

func (h *holder) nodeID() int64 {
	if h.config.NodeID == nil {
		return -1
	}
	return int64(*h.config.NodeID)
}

// isRefusal reports whether err says that nothing was granted.
func isRefusal(err error) bool { return isPermanent(err) || errors.Is(err, ErrBusy) }

// maxWait is how long one request may wait for a node ID.
const maxWait = 30 * time.Second

// wait returns how long the lessor may wait for a node ID before it answers. The answer should come
// before ctx ends. With Retry, the first answer should come soon, because Retry may tell the user.
func (h *holder) wait(ctx context.Context) time.Duration {
	if !h.config.Wait || !h.full && h.config.Retry != nil || h.grant.ID != "" {
		return 0
	}
	wait := maxWait
	if deadline, ok := ctx.Deadline(); ok {
		wait = min(wait, time.Until(deadline)-time.Second)
	}
	return max(0, wait.Truncate(time.Millisecond))
}

// time returns the time up to which the lease is in use: the clock's or, if the generator is ahead
// of the clock, the generator's.
func (h *holder) time(used int64) time.Time {
	now := h.config.Now().Round(0)
	if used == window.None {
		return now
	}
	if last := h.terms.Time(used); last.After(now) {
		return last
	}
	return now
}

// leads returns [ErrLead] instead of [ErrClock] if not the clock is ahead, but the generator.
func (h *holder) leads(err error, used int64) error {
	wrong := (*ClockError)(nil)
	if !errors.As(err, &wrong) || used == window.None {
		return err
	}
	// The difference is the generator's lead over this clock plus the clock's lead.
	ahead := h.terms.Time(used).Sub(h.config.Now().Round(0))
	if ahead <= 0 || wrong.Difference-ahead >= ahead {
		return err
	}
	most := ""
	if wrong.Max != 0 {
		most = fmt.Sprintf("; at most %v are allowed", wrong.Max)
	}
	return errorf(ErrLead, "the generator has reached %s, %v ahead%s",
		h.terms.Time(used).Format(timeFormat), wrong.Difference, most)
}

// take replaces the grant, unless the answer is older.
func (h *holder) take(g Grant, at, sent time.Time, repeated bool) {
	if g.EndTick < h.grant.EndTick {
		return
	}
	var from time.Time
	if g.ID != h.grant.ID || g.FirstTick != h.grant.FirstTick {
		from = h.config.Now().Round(0).Add(g.StartsIn)
	}
	h.sole = h.sole.renewed(from, sent.Add(g.ValidFor))
	h.grant = g
	// The lessor extends a lease to a window after its clock, or after the client's.
	span := g.EndTick - max(g.FirstTick, h.terms.At(at), h.terms.At(g.ServerTime))
	if repeated { // the end is from an earlier time
		span = max(span, h.window)
	}
	if h.config.Window != 0 {
		span = min(span, h.config.terms().Window)
	}
	h.window = max(span, 4)
}

// check refuses an answer that no lessor gives.
func (h *holder) check(g Grant) error {
	f := h.config.Format
	switch {
	case g.ID == "" || g.Secret == "":
		return h.strange(g, "no ID or no secret")
	case int(g.Block.Size) != h.config.NodeBits || g.Block.NodeID >= 1<<g.Block.Size:
		return h.strange(g, fmt.Sprintf("node ID %v instead of one of %d bits", g.Block,
			h.config.NodeBits))
	case h.config.NodeID != nil && g.Block.NodeID != *h.config.NodeID:
		return h.strange(g, fmt.Sprintf("node ID %v instead of %d", g.Block, *h.config.NodeID))
	case g.FirstTick < 0 || g.FirstTick >= g.EndTick || g.EndTick > 1<<53:
		return h.strange(g, fmt.Sprintf("the ticks from %d to %d", g.FirstTick, g.EndTick))
	case h.held && (g.Tick != f.Tick || !g.Epoch.Equal(f.Epoch)):
		return h.strange(g, "other ticks than before")
	}
	return nil
}

func (h *holder) strange(g Grant, what string) error {
	return fmt.Errorf("lease: realm %q: the answer makes no sense: it has %s", h.config.Realm, what)
}

// suits returns [ErrRealm] if the realm grants node IDs for another format.
func (h *holder) suits(g Grant) error {
	f := h.config.Format
	wrong := func(what string, has, want any) error {
		return errorf(ErrRealm, "%q has %s %v, this process wants %v; %s", h.config.Realm,
			what, has, want, otherFormat)
	}
	switch {
	case g.Format != "" && f.Name != "" && g.Format != f.Name:
		return wrong("the format", g.Format, f.Name)
	case g.Tick != f.Tick:
		return wrong("ticks of", g.Tick, f.Tick)
	case !g.Epoch.Equal(f.Epoch):
		return wrong("the epoch", g.Epoch.Format(timeFormat), f.Epoch.UTC().Format(timeFormat))
	}
	return nil
}

// release first finds out about requests without an answer, because they may have changed what is
// to be given back.
func (h *holder) release(ctx context.Context, used int64) error {
	switch {
	case h.held && h.renewal != "":
		if err := h.renew(ctx, used); err != nil && h.held && !isPermanent(err) {
			return err
		}
	case !h.held && h.asked:
		if err := h.acquire(ctx, used, 0); err != nil && !isPermanent(err) {
			return err
		}
	}
	if !h.held {
		h.asked = false
		return nil
	}
	err := h.giveBack(ctx, h.grant, used)
	h.held = err != nil
	return err
}

// giveBack releases a lease. The last time of an ID is the last millisecond of the last used tick
// or, if no tick was used, the millisecond before the lease.
func (h *holder) giveBack(ctx context.Context, g Grant, used int64) error {
	last := g.time(max(used+1, g.FirstTick)).Add(-time.Millisecond)
	err := h.lessor.Release(ctx, h.config.Realm, g.ID, ReleaseRequest{
		Secret: g.Secret, EndTick: g.EndTick, LastTime: last,
	})
	if err != nil && !errors.Is(err, ErrLost) {
		return h.failed("give the node ID back", err)
	}
	return nil
}

// failed adds what failed, except to errors that say it.
func (h *holder) failed(what string, err error) error {
	if isRefusal(err) {
		return err
	}
	return fmt.Errorf("lease: realm %q: cannot %s: %w", h.config.Realm, what, err)
}
