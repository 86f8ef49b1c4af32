package lease

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/sortid/sortid/internal/window"
)

// MaxWait is the longest Wait of an [AcquireRequest].
const MaxWait = 30 * time.Second

func (r AcquireRequest) check() error {
	wrong := func(field, format string, args ...any) error {
		return &RequestError{field, fmt.Sprintf(format, args...)}
	}
	if n := len(r.Request); n < 16 || n > 128 {
		return wrong("request", "it has %d characters, want 16 to 128, made at random", n)
	}
	for _, c := range []byte(r.Request) {
		if c < ' ' || c > '~' {
			return wrong("request", "it has characters that are not printable ASCII")
		}
	}
	if r.NodeBits < 0 || r.NodeBits > MaxBits {
		return wrong("node_bits", "a node ID of %d bits, want 1 to %d", r.NodeBits, MaxBits)
	}
	if r.NodeID < -1 || r.NodeID >= 1<<MaxBits {
		return wrong("node_id", "%d is not a node ID", r.NodeID)
	}
	if err := checkName("holder", r.Holder); err != nil {
		return wrongField("holder", err)
	}
	if r.Wait < 0 || r.Wait > MaxWait {
		return wrong("wait_ms", "a wait of %v, want at most %v", r.Wait, MaxWait)
	}
	if r.Window < 0 {
		return wrong("lease_window_ms", "a window of %v", r.Window)
	}
	return nil
}

// checkFor reports whether a realm can serve the request.
func (r AcquireRequest) checkFor(root Record) error {
	t := root.Terms
	wrong := func(field, format string, args ...any) error {
		return &RequestError{field, fmt.Sprintf(format, args...)}
	}
	switch {
	case r.NodeBits == 0 && t.Only == 0:
		return wrong("node_bits", "realm %q grants node IDs of several sizes, up to %d bits; "+
			"name one", root.Realm, t.Bits)
	case t.Only != 0 && r.NodeBits != 0 && r.NodeBits != t.Only:
		return otherSize(root.Realm, t.Only, r.NodeBits)
	case r.NodeBits > t.Bits:
		return errorf(ErrRealm, "realm %q grants node IDs of at most %d bits, not %d",
			root.Realm, t.Bits, r.NodeBits)
	case r.NodeID >= 1<<r.bits(t):
		return wrong("node_id", "node ID %d needs more than %d bits", r.NodeID, r.bits(t))
	}
	if err := checkSpans(t.Duration(1), r.Window, 0); err != nil {
		return wrongField("lease_window_ms", err)
	}
	if r.Window != 0 && t.ticks(r.Window) > t.Window {
		return wrong("lease_window_ms", "a window of %v; the realm's is %v", r.Window,
			t.Rounded(t.Window))
	}
	return nil
}

func (r AcquireRequest) bits(t Terms) int {
	if r.NodeBits == 0 {
		return t.Only
	}
	return r.NodeBits
}

// exact returns the node ID that the request asks for, or nil.
func (r AcquireRequest) exact() *uint32 {
	if r.NodeID < 0 {
		return nil
	}
	id := uint32(r.NodeID)
	return &id
}

// A claimant is the role of a session that asks for a grant for a client's request. Unlike a session of
// a process, the session of a claimant never undoes a grant: another lessor may have found the
// grant and told the client.
type claimant struct {
	AcquireRequest
	lessor *StoreLessor
	realm  string
	bucket Block
	tag    tag
	record Record // the bucket's
	entry  entry  // of the last grant that was asked for
	void   entry  // the request has this entry, but its grant was not made

	// The client's clock is ahead of the store's by this much. It is known after the first reading
	// of the store's time.
	ahead   time.Duration
	checked bool

	key  Owner     // of the last grant that was asked for
	time time.Time // the store's, of the last request
}

func (c *claimant) readRoot(ctx context.Context, _ *session) (Record, error) {
	return c.lessor.freshRoot(ctx, c.realm)
}

// request compares the client's clock with the store's. The method enter adds the owner.
func (c *claimant) request(ctx context.Context, s *session, _ Owner, _ int64) (request, error) {
	t, err := c.lessor.now(ctx)
	if err != nil {
		return request{}, err
	}
	terms := s.root.Terms
	if !c.checked {
		if err := checkClock(c.Time, t, terms); err != nil {
			return request{}, err
		}
		if !c.Time.IsZero() {
			c.ahead = max(0, c.Time.Sub(t))
		}
		c.checked = true
	}
	now := terms.At(t)
	if now < 0 {
		return request{}, errorf(ErrClock, "the time %s is before the format's first tick",
			t.UTC().Format(timeFormat))
	}
	if b, tag := bucketOf(c.Request, terms); b != c.bucket {
		c.bucket, c.tag = b, tag
	}
	c.time = t
	return request{
		name: c.Holder,
		now:  now, at: ahead(terms, t, c.ahead, now+s.lead),
		window: s.window, lead: s.lead, own: s.ownWindow(),
	}, nil
}

// look also reads the bucket.
func (c *claimant) look(ctx context.Context, s *session, blocks []Block) ([]Record, error) {
	records, err := process{}.look(ctx, s, append([]Block{c.bucket}, blocks...))
	if err != nil {
		return nil, err
	}
	return records[1:], c.see(records[0])
}

func (c *claimant) listed(s *session) *listing { return c.lessor.listed(s) }

func (c *claimant) list(ctx context.Context, s *session, _ request, looked bool) (*listing, error) {
	if !looked {
		if _, err := c.look(ctx, s, nil); err != nil {
			return nil, err
		}
	}
	return c.lessor.list(ctx, s)
}

// checkClock compares the client's clock with the store's.
func checkClock(client, store time.Time, terms Terms) error {
	lead := terms.Duration(terms.Lead)
	if d := client.Round(0).Sub(store.Round(0)); !client.IsZero() && (d > lead || d < -lead) {
		return &ClockError{Difference: d, Max: terms.Rounded(terms.Lead)}
	}
	return nil
}

// ahead returns the tick of the client's clock, but none after the tick most.
func ahead(terms Terms, store time.Time, d time.Duration, most int64) int64 {
	return min(terms.At(store.Add(d)), most)
}

// Acquire grants a node ID, or returns the lease that an earlier copy of the request got.
func (l *StoreLessor) Acquire(ctx context.Context, realm string,
	r AcquireRequest) (Grant, error) {
	if err := r.check(); err != nil {
		return Grant{}, err
	}
	c := &claimant{AcquireRequest: r, lessor: l, realm: realm}
	g, err := l.acquire(ctx, c)
	if r.Wait > 0 && passes(err) {
		return l.wait(ctx, c, err)
	}
	return g, err
}

func (l *StoreLessor) acquire(ctx context.Context, c *claimant) (Grant, error) {
	g, err := l.tryAcquire(ctx, c, attempts)
	if err == errVoid {
		err = errorf(ErrBusy, "realm %q", c.realm)
	}
	return g, err
}

func (l *StoreLessor) tryAcquire(ctx context.Context, c *claimant, tries int) (Grant, error) {
	root, err := l.rootFor(ctx, c.realm, func(root Record) bool { return c.checkFor(root) == nil })
	switch {
	case err != nil:
		return Grant{}, err
	case root.Revision == 0:
		return Grant{}, noRealm(c.realm)
	}
	if err := c.checkFor(root); err != nil {
		return l.earlier(ctx, c, root, err)
	}
	s := newSession(l.store, configFor(root, c.AcquireRequest))
	s.role = c
	s.setRoot(root)
	if l.prepare != nil {
		l.prepare(ctx, s)
	}
	err = s.acquire(ctx, window.None)
	if found := (*foundError)(nil); errors.As(err, &found) {
		g, err := l.repeat(ctx, c, s.root, found.entry)
		if err == errVoid {
			c.void = found.entry
		}
		if tries--; tries > 0 && (err == errVoid || errors.Is(err, ErrBusy)) && ctx.Err() == nil {
			return l.tryAcquire(ctx, c, tries)
		}
		return g, err
	}
	if err != nil {
		return Grant{}, err
	}
	l.remember(s.held)
	g := l.grant(s.root, s.held, c.key, c.time)
	// Leases that were granted together must not be renewed together.
	g.RenewAt = g.renewAt(s.window/2 + rand.Int64N(s.window/2+1))
	return g, nil
}

func configFor(root Record, r AcquireRequest) Config {
	t := root.Terms
	c, err := Config{
		Realm: root.Realm, MustExist: true,
		Format:   t.LeaseFormat(),
		NodeBits: r.bits(t), NodeID: r.exact(), Window: r.Window, Name: r.Holder,
	}.complete()
	if err != nil {
		panic(err) // checkFor has checked the request
	}
	return c
}

// earlier returns the lease of an earlier copy of a request that the realm no longer allows.
func (l *StoreLessor) earlier(ctx context.Context, c *claimant, root Record, wrong error) (Grant,
	error) {
	b, tag := bucketOf(c.Request, root.Terms)
	records, err := l.store.GetMany(ctx, spaceOf(root), []Block{b})
	if err != nil {
		return Grant{}, fmt.Errorf("lease: realm %q: cannot read a node ID: %w", c.realm, err)
	}
	c.tag = tag
	var found *foundError
	if err := c.see(records[0]); errors.As(err, &found) {
		if g, err := l.repeat(ctx, c, root, found.entry); err != errVoid {
			return g, err
		}
	}
	return Grant{}, wrong
}

// errVoid: the grant of an entry was not made.
var errVoid = errors.New("lease: no grant")

// repeat returns the lease of an earlier copy of the request. Nothing is written, so the record
// must come from Get: a crash could undo what GetMany returns.
func (l *StoreLessor) repeat(ctx context.Context, c *claimant, root Record, e entry) (Grant,
	error) {
	b := e.block
	salt, key := e.keys(c.Request, spaceOf(root))
	r, err := l.getRecord(ctx, root, b)
	if err != nil {
		return Grant{}, err
	}
	if r.State != Whole || r.Owner != ownerOf(key) || r.Key != salt {
		if err := l.void(ctx, root, e, r, ownerOf(key)); err != nil {
			return Grant{}, err
		}
		return Grant{}, errorf(ErrLost, "it had node ID %v of realm %q", b, c.realm)
	}
	if c.NodeBits != 0 && c.NodeBits != int(b.Size) || c.NodeID >= 0 &&
		c.NodeID != int64(b.NodeID) {
		return Grant{}, errorf(ErrRequestDiffers, "it got node ID %v of realm %q", b,
			c.realm)
	}
	t, err := l.now(ctx)
	if err != nil {
		return Grant{}, err
	}
	if root, err = l.still(ctx, root, b); err != nil {
		return Grant{}, err
	}
	g := l.grant(root, r, key, t)
	g.Repeated = true
	return g, nil
}

// void returns errVoid if the grant of the entry e was not made, or if nobody can know. The record
// r of its block does not belong to the owner.
func (l *StoreLessor) void(ctx context.Context, root Record, e entry, r Record,
	owner Owner) error {
	switch later := int32(uint32(r.Revision) - e.revision); {
	case r.Owner == (Owner{}) && r.Key == owner:
		return nil // released or evicted
	case later == 0:
		return errVoid // another grant came first
	case later > 0 && l.atomic:
		return nil
	case later > 0:
		return errVoid
	}
	// The grant can still be made. With another revision, it can not.
	next := r
	next.Revision++
	ok, err := l.store.CompareAndSet(ctx, r, next)
	switch {
	case err != nil:
		return fmt.Errorf("lease: realm %q: cannot change a node ID: %w", root.Realm, err)
	case !ok:
		return errorf(ErrBusy, "node ID %v of realm %q is changing", e.block, root.Realm)
	}
	return errVoid
}

// still reads the realm again, and fails if the realm has been fenced. Each answer with times comes
// after it.
func (l *StoreLessor) still(ctx context.Context, root Record, b Block) (Record, error) {
	now, err := l.freshRoot(ctx, root.Realm)
	if err == nil && now.Generation != root.Generation {
		err = errorf(ErrLost, "realm %q has been fenced since it got node ID %v",
			root.Realm, b)
	}
	return now, err
}

// grant describes a lease. The time t is the store's, read after the request came.
func (l *StoreLessor) grant(root, r Record, key Owner, t time.Time) Grant {
	terms := root.Terms
	g := Grant{
		ID: newLeaseID(root, r.Block, r.Owner).String(), Secret: secretOf(key), Realm: root.Realm,
		Format: terms.Format, Block: r.Block, Holder: r.Name,
		FirstTick: r.From, EndTick: r.HWM, Tick: terms.Duration(1),
		Epoch: time.UnixMilli(terms.Epoch).UTC(), ServerTime: t.UTC().Round(0),
	}
	span := ownOr(r.Window, terms)
	g.RenewAt = g.renewAt(span/2 + rand.Int64N(span/8+1))
	// The store's time may be wrong by the precision. Choose what is safe.
	const ms = time.Millisecond
	g.ValidFor = g.ValidUntil().Sub(t.Add(l.precision)).Truncate(ms)
	g.ValidFor = min(max(0, g.ValidFor), terms.Duration(terms.Window+terms.Lead))
	g.StartsIn = max(0, g.ValidFrom().Sub(t.Add(-l.precision))+ms-1).Truncate(ms)
	return g
}

func (g Grant) renewAt(left int64) time.Time { return g.time(g.EndTick - left) }

// ownOr returns a lease's own window, or the realm's if that is shorter.
func ownOr(own int64, t Terms) int64 {
	if own == 0 {
		return t.Window
	}
	return min(own, t.Window)
}

// notFree says who has a block that a client has asked for.
func (s *session) notFree(v *survey, b Block) error {
	e := &HeldError{Realm: s.config.Realm}
	for _, r := range v.held {
		if r.Block.Contains(b) || b.Contains(r.Block) {
			if h := holding(s.root, r, Held); e.State == "" || h.FreeFrom.After(e.FreeFrom) {
				e.Holding = h
			}
		}
	}
	if e.State != "" {
		return e
	}
	u, ok := v.around(b)
	if !ok {
		return errorf(ErrBusy, "node ID %v of realm %q is changing", b, s.config.Realm)
	}
	r := v.get(u.block)
	if own := v.get(b); own.Key != (Owner{}) {
		r = own
	}
	r.Block, r.HWM = b, u.hwm
	e.Holding = holding(s.root, r, Waiting)
	if r.Key == (Owner{}) { // a fence or a larger node ID blocks it
		e.ID, e.Since = "", time.Time{}
	}
	return e
}
