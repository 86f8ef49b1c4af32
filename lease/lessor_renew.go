package lease

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"
)

// A renewal asks for more ticks of a lease.
type renewal struct {
	RenewRequest
	id  leaseID
	key Owner
}

// Renew moves the lease's end. It fails with [ErrLost] if the lease has ended, or if somebody else
// has renewed it with another r.Renewal. It fails with [ErrForgotten] if the store has lost the
// lease.
func (l *StoreLessor) Renew(ctx context.Context, realm, id string,
	r RenewRequest) (Grant, error) {
	m, err := newRenewal(id, r)
	if err != nil {
		return Grant{}, err
	}
	root, err := l.rootFor(ctx, realm, m.id.of)
	switch {
	case err != nil:
		return Grant{}, err
	case root.Revision == 0:
		return Grant{}, forgotten("there is no realm %.120q", realm)
	case !m.id.of(root):
		return Grant{}, errorf(ErrLost, "realm %q has been fenced", realm)
	case ownerOf(m.key) != m.id.owner:
		return Grant{}, lost(root, m.id.block)
	}
	is, certain, t, err := l.readRecord(ctx, root, m.id.block)
	if err != nil {
		return Grant{}, err
	}
	if err := checkClock(m.Time, t, root.Terms); err != nil {
		return Grant{}, err
	}
	for range attempts {
		next, err := m.next(root, is, t)
		if !certain && (err != nil || next == is) {
			if is, err = l.getRecord(ctx, root, m.id.block); err != nil {
				return Grant{}, err
			}
			certain = true
			continue
		}
		if err != nil {
			// After a fence, the lease is lost, whatever the old record says.
			if _, fenced := l.still(ctx, root, is.Block); fenced != nil {
				err = fenced
			}
			return Grant{}, err
		}
		if next != is {
			next.Revision = is.Revision + 1
			ok, err := l.store.CompareAndSet(ctx, is, next)
			if err != nil {
				l.forget(is.Realm, is.Block)
				return Grant{}, fmt.Errorf("lease: realm %q: cannot renew node ID %v: %w", realm,
					is.Block, err)
			}
			if !ok {
				if is, err = l.getRecord(ctx, root, m.id.block); err != nil {
					return Grant{}, err
				}
				continue
			}
		}
		l.remember(next)
		if root, err = l.still(ctx, root, is.Block); err != nil {
			return Grant{}, err
		}
		return l.grant(root, next, m.key, t), nil
	}
	return Grant{}, errorf(ErrBusy, "node ID %v of realm %q", m.id.block, realm)
}

func newRenewal(id string, r RenewRequest) (m renewal, err error) {
	m.RenewRequest = r
	if m.key, err = parseSecret(r.Secret); err != nil {
		return m, err
	}
	if r.EndTick < 1 {
		return m, &RequestError{"end_tick", "want the end_tick of the newest answer"}
	}
	if len(r.Renewal) > 128 {
		return m, &RequestError{"renewal", "it has more than 128 characters"}
	}
	var ok bool
	if m.id, ok = parseLeaseID(id); !ok {
		return m, errorf(ErrNotFound, "%.80q", id)
	}
	return m, nil
}

// readRecord reads a lease's record and the store's time. If the record is not certain, it is a
// remembered one, which is good for a change, but not for an answer.
func (l *StoreLessor) readRecord(ctx context.Context, root Record, b Block) (r Record,
	certain bool, t time.Time, err error) {
	r, known := l.remembered(spaceOf(root), b)
	done := make(chan error, 1)
	read := func() {
		var err error
		if !known {
			r, err = l.getRecord(ctx, root, b)
		}
		done <- err
	}
	if known || l.alone {
		read()
	} else {
		go read()
	}
	t, err = l.now(ctx)
	err = errors.Join(<-done, err)
	return r, !known, t, err
}

func (l *StoreLessor) getRecord(ctx context.Context, root Record, b Block) (Record, error) {
	r, err := l.store.Get(ctx, spaceOf(root), b)
	if err != nil {
		return r, fmt.Errorf("lease: realm %q: cannot read a node ID: %w", root.Realm, err)
	}
	return r, nil
}

func lost(root Record, b Block) error {
	return errorf(ErrLost, "node ID %v of realm %q", b, root.Realm)
}

func forgotten(format string, args ...any) error {
	return errorf(ErrForgotten, "%s; somebody must fence the store",
		fmt.Sprintf(format, args...))
}

// next returns what the renewal makes of the record r.
func (m renewal) next(root, r Record, t time.Time) (Record, error) {
	terms := root.Terms
	now := terms.At(t)
	if r.State != Whole || r.Owner != m.id.owner {
		if r.Owner == (Owner{}) && r.Key == m.id.owner {
			return r, errorf(ErrLost, "node ID %v of realm %q was evicted or released", r.Block,
				root.Realm)
		}
		return r, m.ended(root, r, max(r.Peak, r.HWM), t)
	}
	if r.HWM < m.EndTick {
		return r, m.ended(root, r, r.HWM, t)
	}
	nonce := m.nonce()
	switch {
	case m.Renewal == "":
	case r.Request == nonce: // an earlier copy
		return r, nil
	case r.HWM > m.EndTick: // a clone of the client has renewed the lease
		return r, errorf(ErrLost, "a copy of this client has renewed node ID %v of realm %q",
			r.Block, root.Realm)
	}
	q := request{
		owner: r.Owner, nonce: nonce, name: r.Name, now: now, at: now,
		window: ownOr(r.Window, terms), lead: terms.Lead, own: r.Window,
	}
	if !m.Time.IsZero() {
		q.at = max(now, ahead(terms, t, m.Time.Sub(t), now+terms.Lead))
	}
	next, err := q.extend(r)
	if err != nil {
		return r, err
	}
	if next == r && m.Renewal != "" {
		next.Request = nonce // a late copy must not renew again
	}
	if next.HWM > r.HWM && r.HWM < now {
		next.From = now // the lease was over
	}
	return next, nil
}

// ended says why the client no longer holds a lease. The parameter mark is the first tick of the
// block that the store has never granted, as far as the store knows.
func (m renewal) ended(root, r Record, mark int64, t time.Time) error {
	switch {
	case mark >= m.EndTick:
		return lost(root, r.Block)
	case m.EndTick > root.Terms.reach(t):
		return &RequestError{"end_tick", "the realm cannot have granted this tick yet"}
	}
	return forgotten("node ID %v of realm %q was granted up to tick %d, the store knows only %d",
		r.Block, root.Realm, m.EndTick, mark)
}

func (m renewal) nonce() uint64 {
	if m.Renewal == "" {
		return rand.Uint64()
	}
	h := sha256.Sum256([]byte("renewal " + m.Renewal))
	return binary.BigEndian.Uint64(h[:])
}

// Release ends a lease. It succeeds if the lease has ended already.
func (l *StoreLessor) Release(ctx context.Context, realm, id string, r ReleaseRequest) error {
	key, err := parseSecret(r.Secret)
	if err != nil {
		return err
	}
	lease, ok := parseLeaseID(id)
	root, err := l.rootFor(ctx, realm, func(root Record) bool { return !ok || lease.of(root) })
	switch {
	case err != nil:
		return err
	case root.Revision == 0:
		return noRealm(realm)
	case !ok || !lease.of(root) || ownerOf(key) != lease.owner:
		return nil
	}
	is, certain, t, err := l.readRecord(ctx, root, lease.block)
	if err != nil {
		return err
	}
	for range attempts {
		if is.Owner != lease.owner || is.State != Whole {
			if certain {
				return nil
			}
		} else {
			next := r.end(root.Terms, is, t)
			if next.Released != 0 { // the store's time may be wrong by the precision
				next.Released = root.Terms.At(t.Add(l.precision))
			}
			next.Revision = is.Revision + 1
			l.forget(is.Realm, is.Block)
			ok, err := l.store.CompareAndSet(ctx, is, next)
			if err != nil {
				return fmt.Errorf("lease: realm %q: cannot release node ID %v: %w", realm, is.Block,
					err)
			}
			if ok {
				l.freed(realm)
				return nil
			}
		}
		if is, err = l.getRecord(ctx, root, lease.block); err != nil {
			return err
		}
		certain = true
	}
	return errorf(ErrBusy, "node ID %v of realm %q", lease.block, realm)
}

// end returns the record after the release. The client may have a clone that has renewed the lease
// since, and uses ticks after LastTime. Then the HWM stays, and [Reclaim] is not possible.
func (r ReleaseRequest) end(terms Terms, is Record, t time.Time) Record {
	switch cloned := r.EndTick != 0 && r.EndTick < is.HWM; {
	case cloned:
		return end(is)
	case r.LastTime.IsZero():
		next := end(is)
		next.Released = terms.At(t)
		return next
	}
	return end(cut(is, max(terms.At(r.LastTime), terms.At(t)-1)))
}

// Evict takes a node ID from its holder, who may use it to the end of the lease. It fails with
// [ErrNotFound] if the lease is not held.
func (l *StoreLessor) Evict(ctx context.Context, realm, id string) error {
	root, err := l.present(ctx, realm)
	if err != nil {
		return err
	}
	lease, ok := parseLeaseID(id)
	if ok = ok && lease.of(root); ok {
		l.forget(spaceOf(root), lease.block)
		ok, err = evict(ctx, l.store, spaceOf(root), lease.block, lease.owner)
	}
	switch {
	case err != nil:
		return fmt.Errorf("lease: realm %q: cannot evict: %w", realm, err)
	case !ok:
		return errorf(ErrNotFound, "%.80q is not held in realm %q", id, realm)
	}
	l.freed(realm)
	return nil
}
