package lease

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"

	"github.com/sortid/sortid/internal/window"
)

// A session is one owner's business with a store: it asks for a block, for more of its
// ticks, and gives it back. It has no goroutine and no timer of its own, and is not safe
// for concurrent use.
type session struct {
	store  Store
	config Config
	owner  Owner
	rand   *rand.Rand
	log    *slog.Logger

	root   Record // the realm's record, when a block was last chosen
	window int64  // in ticks
	lead   int64  // in ticks

	// The block that is held, if held.Epoch is not 0, and the first tick of all that was
	// granted of it; the last is held.HWM - 1. The record in the store may be a newer one:
	// that is found out at the next change.
	held Record
	lo   int64

	// The grant that was asked for without an answer. There is at most one, and until its
	// fate is known nothing else is asked for.
	pending  *attempt
	requests uint64

	top    int64 // the end of the last tick that was ever granted
	forgot error // the store has turned out to be older than it was
}

// An attempt is a grant, from tick lo on, that takes effect if next takes the place of
// prev in the store.
type attempt struct {
	prev, next Record
	lo         int64
}

func newSession(store Store, config Config) *session {
	return &session{
		store: store, config: config, owner: newOwner(), top: window.None,
		rand: rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64())),
		log:  config.Logger,
	}
}

// enter reads the realm's record, or makes it if create is set and there is none.
func (s *session) enter(ctx context.Context, create bool) error {
	root, err := s.store.Get(ctx, s.config.Realm, Block{})
	if err != nil {
		return s.failed("read the realm", err)
	}
	switch known := s.root.Epoch != 0; {
	case root.Epoch == 0 && known:
		return fmt.Errorf("%w: realm %q is gone", ErrForgotten, s.config.Realm)
	case root.Epoch == 0 && !create:
		return fmt.Errorf("%w: %q", ErrNoRealm, s.config.Realm)
	case root.Epoch == 0:
		next := root
		next.Epoch, next.State = 1, Split
		next.Terms, next.Generation = s.config.terms(), newGeneration()
		if _, err := s.store.CompareAndSet(ctx, root, next); err != nil {
			return s.failed("make the realm", err)
		}
		// Whoever made it, it is now to be read. What is there must not be taken from
		// next, which may be lost if two were at it.
		return s.enter(ctx, false)
	case known && root.Generation == s.root.Generation && s.forgot != nil:
		return s.forgot
	case known && root.Generation != s.root.Generation && root.HWM < s.top:
		return fmt.Errorf("%w: realm %q is not the one that it was, and has no floor above what was granted then",
			ErrForgotten, s.config.Realm)
	}
	if err := cmp.Or(checkTerms(root), s.config.check(root.Terms)); err != nil {
		return err
	}
	s.root, s.forgot = root, nil
	s.window, s.lead = s.config.ticks(root.Terms)
	return nil
}

// space returns under which name the records of the realm's blocks are kept.
func (s *session) space() string { return s.config.Realm + "@" + s.root.Generation }

// request begins a request for a grant, for a generator that has used tick used.
func (s *session) request(ctx context.Context, used int64) (request, error) {
	before := s.config.Now()
	t, err := s.store.Time(ctx)
	after := s.config.Now()
	if errors.Is(err, ErrNoTime) {
		t, err = before, nil
	}
	if err != nil {
		return request{}, s.failed("read the store's time", err)
	}
	terms := s.root.Terms
	// By the wall clocks, and no further apart than the time that the call took explains.
	lead := terms.Duration(s.lead)
	t, before, after = t.Round(0), before.Round(0), after.Round(0)
	if d := before.Sub(t); d > lead {
		return request{}, fmt.Errorf("%w: it is %v ahead; at most %v are allowed", ErrClock, d, lead)
	}
	if d := t.Sub(after); d > lead {
		return request{}, fmt.Errorf("%w: it is %v behind; at most %v are allowed", ErrClock, d, lead)
	}
	now := terms.At(t)
	if now < 0 {
		return request{}, fmt.Errorf("%w: or both are wrong, for they show %s, before the format's first tick",
			ErrClock, t.UTC().Format(timeFormat))
	}
	if used > now+s.lead {
		return request{}, fmt.Errorf("%w: the generator has come to %s, %v ahead; at most %v are allowed",
			ErrLead, terms.Time(used).Format(timeFormat), terms.Duration(used-now), lead)
	}
	s.requests++
	return request{
		owner: s.owner, number: s.requests, name: s.config.Name,
		now: now, at: max(min(terms.At(before), now+s.lead), used),
		window: s.window, lead: s.lead,
	}, nil
}

// renew sees to it that there is a block with a window that reaches as far ahead as it
// can; used is the last tick that the generator has used. After an error it can be
// called again, and takes up where it was.
func (s *session) renew(ctx context.Context, used int64) error {
	if s.pending != nil {
		if err := s.settle(ctx); err != nil {
			return err
		}
	}
	if s.held.Epoch != 0 {
		q, err := s.request(ctx, used)
		if err != nil {
			return err
		}
		next, err := q.extend(s.held)
		if err != nil || next == s.held {
			return err
		}
		if err := s.propose(ctx, s.held, next, s.lo); err != nil {
			return err
		}
		if s.held.Epoch != 0 {
			return nil
		}
	}
	return s.acquire(ctx, used)
}

// acquire gets a block.
func (s *session) acquire(ctx context.Context, used int64) error {
	const attempts = 64
	for n := range attempts {
		if err := s.enter(ctx, false); err != nil {
			return err
		}
		records, err := s.store.List(ctx, s.space())
		if err != nil {
			return s.failed("list the node IDs", err)
		}
		q, err := s.request(ctx, used)
		if err != nil {
			return err
		}
		if s.root.HWM > q.now+s.lead {
			return s.ahead(Block{}, s.root.HWM, q.now)
		}
		v := look(records, s.root.HWM, q.now, uint8(s.config.NodeIDSize))
		leaf, base, ok := v.choose(s.lead, n, s.rand)
		if !ok {
			return s.full(v)
		}
		if err := s.take(ctx, q, v, leaf, base); err != errRefused {
			return err
		}
	}
	return fmt.Errorf("%w: %d attempts at realm %q", ErrBusy, attempts, s.config.Realm)
}

// take gets a block out of the region whose record is base. It returns errRefused if
// things are not, or no longer, as the survey had them.
func (s *session) take(ctx context.Context, q request, v *survey, leaf Block, base Record) error {
	prev, whole, err := s.whole(ctx, s.known(base), q.now)
	for err == nil && prev.Block != leaf {
		var parent Record
		if parent, err = split(whole, q.now); err != nil {
			break
		}
		if parent, err = s.write(ctx, prev, parent); err != nil {
			break
		}
		// The half was read for the survey, before this write of its parent.
		prev = s.known(v.get(prev.Block.toward(leaf)))
		whole, err = revive(prev, parent)
	}
	if err != nil {
		return err
	}
	next, lo, err := q.take(whole)
	if err != nil {
		return errRefused
	}
	if err := s.propose(ctx, prev, next, lo); err != nil {
		return err
	}
	if s.held.Epoch == 0 {
		return errRefused
	}
	return nil
}

// known completes a record of a survey.
func (s *session) known(r Record) Record {
	r.Realm = s.space()
	return r
}

// whole returns what becomes of the record prev, that of r's block, when the block is
// made whole, which is left to the caller to write.
func (s *session) whole(ctx context.Context, r Record, now int64) (prev, whole Record, err error) {
	switch r.State {
	case Whole:
		return r, r, nil
	case Retired:
		parent, err := s.split(ctx, r.Block)
		if err != nil {
			return r, r, err
		}
		whole, err := revive(r, parent)
		return r, whole, err
	default:
		return s.merged(ctx, r, now)
	}
}

// split returns the record of the block around b as it is now, after b was read. If it
// is about to be made whole, that is stopped.
func (s *session) split(ctx context.Context, b Block) (Record, error) {
	if b.Size == 1 {
		return s.root, nil // does not change within a generation
	}
	parent, err := s.store.Get(ctx, s.space(), b.parent())
	if err != nil {
		return parent, s.failed("read a node ID", err)
	}
	if parent.State != Merging {
		return parent, nil
	}
	return s.resplit(ctx, parent)
}

func (s *session) resplit(ctx context.Context, r Record) (Record, error) {
	next, err := resplit(r)
	if err != nil {
		return r, err
	}
	return s.write(ctx, r, next)
}

// merged is whole for a block that is divided.
func (s *session) merged(ctx context.Context, r Record, now int64) (prev, whole Record, err error) {
	if r.State == Split {
		next, _ := merge(r)
		if r, err = s.write(ctx, r, next); err != nil {
			return r, r, err
		}
	}
	var half [2]Record
	for i := range half {
		if half[i], err = s.retired(ctx, r.Block.child(uint32(i)), now); err != nil {
			if err == errRefused { // somebody needs this half: so it shall stay one
				s.resplit(ctx, r)
			}
			return r, r, err
		}
	}
	whole, err = join(r, half[0], half[1])
	return r, whole, err
}

// retired retires a half of a block that is Merging, in any case by a write.
func (s *session) retired(ctx context.Context, b Block, now int64) (Record, error) {
	r, err := s.store.Get(ctx, s.space(), b)
	if err != nil {
		return r, s.failed("read a node ID", err)
	}
	whole := r
	if r.State == Split || r.State == Merging {
		if r, whole, err = s.merged(ctx, r, now); err != nil {
			return r, err
		}
	}
	next, err := retire(whole, now)
	if err != nil {
		return r, err
	}
	return s.write(ctx, r, next)
}

// write puts next in the place of prev, and returns it as it then stands.
func (s *session) write(ctx context.Context, prev, next Record) (Record, error) {
	next.Epoch = prev.Epoch + 1
	ok, err := s.store.CompareAndSet(ctx, prev, next)
	switch {
	case err != nil:
		return prev, s.failed("change a node ID", err)
	case !ok:
		return prev, errRefused
	}
	return next, nil
}

// propose asks for a grant and settles what has become of it.
func (s *session) propose(ctx context.Context, prev, next Record, lo int64) error {
	next.Epoch = prev.Epoch + 1
	s.pending = &attempt{prev, next, lo}
	return s.settle(ctx)
}

// settle finds out whether the pending grant was made: then it is held, else nothing is.
// With an error that remains open, and settle must be called again.
//
// An answer that never came is not taken for a grant. The very same change is asked for
// again, and that is safe: if the first request has been carried out, or will be before
// the second, then the second is refused, and the record tells by the owner, which is
// this session alone, and by the request's number, that it is this grant, whose ticks
// nobody has used yet. And as long as the record is just so, nobody has been granted
// anything after it.
func (s *session) settle(ctx context.Context) error {
	p := s.pending
	ok, err := s.store.CompareAndSet(ctx, p.prev, p.next)
	if err != nil {
		return s.failed("lease a node ID", err)
	}
	if !ok {
		r, err := s.store.Get(ctx, p.next.Realm, p.next.Block)
		if err != nil {
			return s.failed("read a node ID", err)
		}
		if r != p.next {
			s.pending = nil
			s.lose(r, p.prev)
			return nil
		}
	}
	// The grant counts only if its generation is still the realm's, and that is asked
	// after the commit: a grant committed after a fence is found out here, however long
	// this process was stopped since it chose the block.
	root, err := s.store.Get(ctx, s.config.Realm, Block{})
	if err != nil {
		return s.failed("read the realm", err)
	}
	s.pending = nil
	if root.Generation != s.root.Generation {
		s.log.Warn("lease: the realm has been fenced", "realm", s.config.Realm, "node", p.next.Block.String())
		s.held = Record{}
		return nil
	}
	s.held, s.lo, s.top = p.next, p.lo, max(s.top, p.next.HWM)
	return nil
}

// lose gives up the block, given its record as it is and as it was.
func (s *session) lose(is, was Record) {
	if s.held.Epoch != 0 {
		s.log.Warn("lease: lost to another", "realm", s.config.Realm, "node", is.Block.String(), "owner", is.Owner.String(), "name", is.Name)
	}
	s.held = Record{}
	if is.Epoch < was.Epoch {
		s.forgot = fmt.Errorf("%w: node ID %v of realm %q was at epoch %d and is at %d",
			ErrForgotten, is.Block, s.config.Realm, was.Epoch, is.Epoch)
	}
}

// release gives the block back, together with the ticks after used, which never will be.
func (s *session) release(ctx context.Context, used int64) error {
	b, lo := s.held, s.lo
	if s.pending != nil {
		b, lo = s.pending.next, s.pending.lo
	}
	for b.Epoch != 0 {
		r, err := s.store.Get(ctx, b.Realm, b.Block)
		if err != nil {
			return s.failed("read a node ID", err)
		}
		next, err := release(r, s.owner, lo, used)
		if err != nil {
			break // it is not ours, or no longer
		}
		if _, err = s.write(ctx, r, next); err == nil {
			break
		}
		if err != errRefused {
			return err
		}
	}
	s.held, s.pending = Record{}, nil
	return nil
}

// failed words an error of the store.
func (s *session) failed(what string, err error) error {
	return fmt.Errorf("lease: realm %q: cannot %s: %w", s.config.Realm, what, err)
}

// ahead says that a grant of b could start at tick lo only.
func (s *session) ahead(b Block, lo, now int64) *LeadError {
	t := s.root.Terms
	return &LeadError{Realm: s.config.Realm, Block: b, Ahead: t.Duration(lo - now), Max: t.Duration(s.lead), Until: t.Time(lo)}
}

// full words that nothing is free.
func (s *session) full(v *survey) error {
	e := &FullError{Realm: s.config.Realm, Size: s.config.NodeIDSize, Held: v.held}
	slices.SortFunc(e.Held, func(a, b Record) int { return cmp.Compare(a.Deadline, b.Deadline) })
	for _, r := range e.Held {
		e.Until = append(e.Until, s.root.Terms.Time(r.Deadline))
	}
	for _, g := range v.regions {
		e.Ahead = append(e.Ahead, s.ahead(g.record.Block, g.mark, v.now))
	}
	return e
}
