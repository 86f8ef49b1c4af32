package lease

import (
	"cmp"
	"context"
	crand "crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/sortid/sortid/internal/clock"
	"github.com/sortid/sortid/internal/window"
)

// A session sends the requests of one lease to the store. It is not safe for concurrent use.
type session struct {
	store  Store
	config Config
	rand   *rand.Rand     // its quality does not matter
	read   func(b []byte) // reads random bytes from the operating system
	sleep  func(context.Context, time.Duration) error
	log    *slog.Logger

	root   Record // the realm's record
	stale  bool   // a fence has replaced root
	fresh  bool   // root has just been read
	window int64  // in ticks
	lead   int64  // in ticks

	area     Block     // find searches this block first
	claimant *claimant // nil if the session's own process is the holder

	// The record of the held block. Its Revision is 0 if no block is held. The store may have a
	// newer record.
	held Record
	// The session's block was lost: none of its ticks may be used.
	withdrawn bool

	// The request for a grant whose outcome is unknown. Until the outcome is known, nothing else is
	// requested.
	pending *attempt

	top       int64 // the highest HWM of this session's grants
	notBefore int64 // the session requests no grant before this tick
	forgotten error // if not nil, the session requests no grant before a fence

	lost error // how the last node ID was lost
}

// An attempt asks for a grant. The last change is the grant.
type attempt struct {
	changes []Change
	unsure  bool // it was sent, but its answer was an error or was lost
	made    bool // the store has made the changes
}

func (a *attempt) last() Change { return a.changes[len(a.changes)-1] }

func newSession(store Store, config Config) *session {
	return &session{
		store: store, config: config, top: window.None, notBefore: window.None,
		rand:  rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64())),
		read:  func(b []byte) { crand.Read(b) }, // a failure would end the program
		sleep: clock.Sleep,
		log:   config.Logger,
	}
}

func (s *session) newOwner() Owner {
	var key Owner
	s.read(key[:])
	return ownerOf(key)
}

// enter reads the realm's record. If the realm is missing and create is set, enter creates it.
func (s *session) enter(ctx context.Context, create bool) error {
	root, err := s.readRoot(ctx)
	if err != nil {
		return err
	}
	known := s.root.Revision != 0
	switch {
	case root.Revision == 0 && known:
		return errorf(ErrForgotten, "realm %q is gone; %s", s.config.Realm, afterFence)
	case root.Revision == 0 && !create:
		return errorf(ErrNoRealm, "%q", s.config.Realm)
	case root.Revision == 0:
		if _, err := createRealm(ctx, s.store, s.config); err != nil {
			return s.failed("make the realm", err)
		}
		return s.enter(ctx, false)
	case known && root.Generation == s.root.Generation && s.forgotten != nil:
		return s.forgotten
	}
	if err := s.config.check(root); err != nil {
		return err
	}
	if known && root.Generation != s.root.Generation && root.HWM < s.top {
		if root.HWM == 0 {
			return errorf(ErrForgotten, "realm %q was created again, without a fence; %s",
				s.config.Realm, afterFence)
		}
		// Other processes can now get the remaining ticks of this process's node ID. So none of
		// these ticks may be used.
		s.notBefore, s.withdrawn = s.top, true
	}
	s.forgotten = nil
	s.setRoot(root)
	return nil
}

// readRoot reads the realm's record. A crash of the store can undo what GetMany returns. This is
// safe here, because the crash also undoes all later changes.
func (s *session) readRoot(ctx context.Context) (Record, error) {
	if s.claimant != nil {
		return s.claimant.readRoot(ctx)
	}
	records, err := s.store.GetMany(ctx, s.config.Realm, []Block{{}})
	if err != nil {
		return Record{}, s.failed("read the realm", err)
	}
	return records[0], nil
}

const afterFence = "when the realm has been fenced, this process gets a new node ID by itself"

func (s *session) setRoot(root Record) {
	s.root, s.stale, s.fresh = root, false, true
	s.window, s.lead = s.config.ticks(root.Terms)
}

func (s *session) space() string { return s.config.Realm + "@" + s.root.Generation }

func (s *session) request(ctx context.Context, owner Owner, used int64) (request, error) {
	if s.claimant != nil {
		return s.claimant.demand(ctx, s)
	}
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
	// Compare wall clocks. The store has read its clock between the two readings of this clock.
	lead := terms.Duration(s.lead)
	t, before, after = t.Round(0), before.Round(0), after.Round(0)
	if d := before.Sub(t); d > lead {
		return request{}, errorf(ErrClock, "this machine's is %v ahead; at most %v are allowed",
			d, terms.Rounded(s.lead))
	}
	if d := t.Sub(after); d > lead {
		return request{}, errorf(ErrClock, "this machine's is %v behind; at most %v are allowed",
			d, terms.Rounded(s.lead))
	}
	now := terms.At(t)
	if now < 0 {
		return request{}, fmt.Errorf("%w, or both clocks are wrong: "+
			"the time %s is before the format's first tick", ErrClock, t.UTC().Format(timeFormat))
	}
	if used > now+s.lead {
		return request{}, errorf(ErrLead, "the generator has reached %s, %v ahead; "+
			"at most %v are allowed", terms.Time(used).Format(timeFormat),
			terms.Duration(used-now), terms.Rounded(s.lead))
	}
	return request{
		owner: owner, name: s.config.Name,
		now: now, at: max(min(terms.At(before), now+s.lead), used),
		window: s.window, lead: s.lead, own: s.ownWindow(),
	}, nil
}

// renew extends the held block's grant to a whole window or, if no block is held, acquires a block.
// The parameter used is the last tick that generators have claimed. After an error, call renew
// again.
func (s *session) renew(ctx context.Context, used int64) error {
	if s.pending != nil {
		if err := s.settle(ctx); err != nil {
			return err
		}
	}
	if s.held.Revision != 0 {
		q, err := s.request(ctx, s.held.Owner, used)
		if err != nil {
			return err
		}
		next, err := q.extend(s.held)
		if err != nil || next == s.held {
			return err
		}
		if err := s.propose(ctx, []Change{{s.held, next}}); err != nil {
			return err
		}
		if s.held.Revision != 0 {
			return nil
		}
	}
	return s.acquire(ctx, used)
}

const attempts = 64

func (s *session) acquire(ctx context.Context, used int64) error {
	if s.config.Once && s.top != window.None {
		return s.lost
	}
	var q request
	for lost := range attempts {
		// While the realm and the time are read, other processes can take the free blocks. So read
		// them only in every eighth attempt.
		if lost%8 == 0 || s.stale {
			var err error
			if !s.fresh || s.stale {
				err = s.enter(ctx, false)
			}
			if s.fresh = false; err != nil {
				return err
			}
			if q, err = s.request(ctx, s.newOwner(), used); err != nil {
				return err
			}
			if q.now < s.notBefore {
				return s.waiting()
			}
			if s.root.HWM > q.now+s.lead {
				return s.ahead(Block{}, s.root.HWM, q.now)
			}
		}
		v, leaf, err := s.find(ctx, q, lost)
		if err != nil {
			return err
		}
		if err := s.take(ctx, q, v, leaf); err != errRefused {
			return err
		}
		if err := s.sleep(ctx,
			time.Duration(s.rand.Int64N(int64(time.Millisecond)<<min(lost+2, 7)))); err != nil {
			return err
		}
	}
	return errorf(ErrBusy, "%d attempts failed in realm %q", attempts, s.config.Realm)
}

func (s *session) waiting() error {
	t := s.root.Terms
	return errorf(ErrForgotten, "since a fence, realm %q grants only times from %s on, "+
		"and this process already had times up to %s; "+
		"after that time it gets a new node ID by itself",
		s.config.Realm, t.Time(s.root.HWM).Format(timeFormat),
		t.Time(s.notBefore).Format(timeFormat))
}

// find chooses a block that can be granted. It reads a few records, and lists the realm only if
// these records show no free block. It begins where node IDs are in use, so that large blocks stay
// free. The parameter named lost is how often another process took the chosen block first. With
// each loss, find searches a wider area and reads fewer records.
func (s *session) find(ctx context.Context, q request, lost int) (*survey, Block, error) {
	size := uint8(s.config.NodeBits)
	if s.config.NodeID != nil {
		return s.findExact(ctx, q, Block{*s.config.NodeID, size})
	}
	const (
		listing  = 16 // Losses after which find always lists the realm.
		probes   = 6  // Reads in an area before find looks elsewhere.
		widening = 4  // Bits by which the area grows with each loss.
	)
	// A mixed realm keeps its large blocks free, and waits for a node ID that was just given back.
	// In other realms, each node ID is as good, so the first choice is one that needs no wait.
	lead := s.lead
	if s.root.Terms.Only != 0 {
		lead = 0
	}
	if lost < listing {
		var around *survey
		if lost == 0 {
			var err error
			if around, err = s.look(ctx, q, edge(size)); err != nil {
				return nil, Block{}, err
			}
			s.area = around.area()
			if leaf, ok := around.choose(s.area, lead, lost, s.rand); ok {
				return around, leaf, nil
			}
		}
		for _, area := range []Block{s.area, {}} {
			for range probes {
				area.Size -= min(area.Size, uint8(widening*lost))
				target := Block{uint32(s.rand.IntN(1 << (size - area.Size))), size}
				small := size-area.Size <= 4 && lost == 0
				var blocks []Block
				switch {
				case small:
					blocks = parts(area, size)
				case lost > 0:
					blocks = parts(target, size)
				default:
					blocks = path(target)
				}
				v, err := s.look(ctx, q, blocks)
				if err != nil {
					return nil, Block{}, err
				}
				if lost > 0 && v.grantable(target, lead) {
					return v, target, nil
				}
				if leaf, ok := v.choose(area, lead, lost, s.rand); ok {
					return v, leaf, nil
				}
				if small {
					break
				}
			}
			if lost == 0 {
				if leaf, ok := around.choose(Block{}, lead, lost, s.rand); ok {
					return around, leaf, nil
				}
			}
		}
	}
	v, err := s.list(ctx, q, lost < listing)
	if err != nil {
		return nil, Block{}, err
	}
	leaf, ok := v.choose(Block{}, s.lead, lost, s.rand)
	if !ok {
		return nil, Block{}, s.full(v)
	}
	return v, leaf, nil
}

// findExact returns the block that the configuration asks for, or a [HeldError].
func (s *session) findExact(ctx context.Context, q request, b Block) (*survey, Block, error) {
	v, err := s.look(ctx, q, path(b))
	if err != nil {
		return nil, b, err
	}
	if !v.grantable(b, s.lead) {
		// The path does not show the parts of b.
		if v, err = s.list(ctx, q, true); err != nil {
			return nil, b, err
		}
	}
	if !v.grantable(b, s.lead) {
		return nil, b, s.notFree(v, b)
	}
	return v, b, nil
}

// list surveys all records of the realm.
func (s *session) list(ctx context.Context, q request, looked bool) (*survey, error) {
	if s.claimant != nil && !looked {
		if _, err := s.look(ctx, q, nil); err != nil {
			return nil, err
		}
	}
	records, err := s.store.List(ctx, s.space())
	if err != nil {
		return nil, s.failed("list the node IDs", err)
	}
	return newSurvey(records, s.root.HWM, q.now, uint8(s.config.NodeBits), false), nil
}

// look reads and surveys a few blocks. The caller must list smaller blocks first, because a half
// must not be read after its parent.
func (s *session) look(ctx context.Context, q request, blocks []Block) (*survey, error) {
	if s.claimant != nil {
		blocks = append([]Block{s.claimant.bucket}, blocks...)
	}
	records, err := s.store.GetMany(ctx, s.space(), blocks)
	if err != nil {
		return nil, s.failed("read node IDs", err)
	}
	if s.claimant != nil {
		if err := s.claimant.see(records[0]); err != nil {
			return nil, err
		}
		records = records[1:]
	}
	return newSurvey(records, s.root.HWM, q.now, uint8(s.config.NodeBits), true), nil
}

// take acquires leaf, a free block of the survey. It returns errRefused if the store's records
// differ from the survey's.
func (s *session) take(ctx context.Context, q request, v *survey, leaf Block) error {
	around, ok := v.around(leaf)
	if !ok {
		return errRefused
	}
	base := around.record
	prev, whole, err := s.makeWhole(ctx, v, s.withSpace(base), q.now)
	if err != nil {
		return err
	}
	if base.Revision != 0 {
		if err := s.complete(ctx, v, base.Block, leaf); err != nil {
			return err
		}
	}
	var changes []Change
	for prev.Block != leaf {
		parent, err := split(whole, q.now)
		if err != nil {
			return err
		}
		parent.Revision = prev.Revision + 1
		changes = append(changes, Change{prev, parent})
		// The half was read before the split is written, as revive requires.
		prev = s.withSpace(v.get(prev.Block.toward(leaf)))
		if whole, err = revive(prev, parent); err != nil {
			return err
		}
	}
	next, err := q.grant(whole)
	if err != nil {
		return errRefused
	}
	if s.claimant != nil {
		next.Revision = prev.Revision + 1
		entry, err := s.claimant.enter(ctx, s, &next)
		if err != nil {
			return err
		}
		changes = append([]Change{entry}, changes...)
	}
	changes = append(changes, Change{prev, next})
	if err := s.propose(ctx, changes); err != nil {
		return err
	}
	if s.held.Revision == 0 {
		return errRefused
	}
	return nil
}

func (s *session) complete(ctx context.Context, v *survey, base, leaf Block) error {
	var blocks []Block
	for b := leaf; b != base; b = b.parent() {
		if !v.knows(b) {
			blocks = append(blocks, b)
		}
	}
	if len(blocks) == 0 {
		return nil
	}
	records, err := s.store.GetMany(ctx, s.space(), blocks)
	if err != nil {
		return s.failed("read node IDs", err)
	}
	v.add(records)
	return nil
}

func (s *session) withSpace(r Record) Record {
	r.Realm = s.space()
	return r
}

// makeWhole returns two records of r's block: the stored record, and the record that will make the
// block whole. It does not write the second record.
func (s *session) makeWhole(ctx context.Context, v *survey, r Record,
	now int64) (prev, whole Record, err error) {
	switch r.State {
	case Whole:
		return r, r, nil
	case Retired:
		parent, err := s.splitParent(ctx, v, r.Block)
		if err != nil {
			return r, r, err
		}
		whole, err := revive(r, parent)
		return r, whole, err
	default:
		return s.mergeParts(ctx, r, now)
	}
}

// splitParent returns the record of b's parent, read together with b's record or later. If the
// parent is merging, splitParent cancels the merge.
func (s *session) splitParent(ctx context.Context, v *survey, b Block) (Record, error) {
	if b.Size == 1 {
		return s.root, nil // within a generation, the root's HWM and state do not change
	}
	if v.partial {
		return v.get(b.parent()), nil
	}
	parent, err := s.store.Get(ctx, s.space(), b.parent())
	if err != nil {
		return parent, s.failed("read a node ID", err)
	}
	if parent.State != Merging {
		return parent, nil
	}
	return s.cancelMerge(ctx, parent)
}

func (s *session) cancelMerge(ctx context.Context, r Record) (Record, error) {
	next, err := resplit(r)
	if err != nil {
		return r, err
	}
	return s.write(ctx, r, next)
}

func (s *session) mergeParts(ctx context.Context, r Record,
	now int64) (prev, whole Record, err error) {
	if r.State == Split {
		next, _ := merge(r)
		if r, err = s.write(ctx, r, next); err != nil {
			return r, r, err
		}
	}
	var half [2]Record
	for i := range half {
		if half[i], err = s.retirePart(ctx, r, uint32(i), now); err != nil {
			if err == errRefused { // another process holds a part, so the block stays split
				s.cancelMerge(ctx, r)
			}
			return r, r, err
		}
	}
	whole, err = join(r, half[0], half[1])
	return r, whole, err
}

// retirePart retires half i of a merging block. It writes even if the half is Retired already.
func (s *session) retirePart(ctx context.Context, merging Record, i uint32,
	now int64) (Record, error) {
	r, err := s.store.Get(ctx, s.space(), merging.Block.child(i))
	if err != nil {
		return r, s.failed("read a node ID", err)
	}
	whole := r
	if r.State == Split || r.State == Merging {
		if r, whole, err = s.mergeParts(ctx, r, now); err != nil {
			return r, err
		}
	}
	next, err := retire(whole, now)
	if err != nil {
		return r, err
	}
	return s.write(ctx, r, next)
}

func (s *session) write(ctx context.Context, prev, next Record) (Record, error) {
	next.Revision = prev.Revision + 1
	ok, err := s.store.CompareAndSet(ctx, prev, next)
	switch {
	case err != nil:
		return prev, s.failed("change a node ID", err)
	case !ok:
		return prev, errRefused
	}
	return next, nil
}

// propose requests the changes. The last change is the grant. Its random nonce comes from the
// operating system at the last moment, so clones of a process have different nonces.
func (s *session) propose(ctx context.Context, changes []Change) error {
	if s.claimant != nil && ctx.Err() != nil { // the client has hung up
		return context.Cause(ctx)
	}
	last := &changes[len(changes)-1]
	last.Next.Revision = last.Prev.Revision + 1
	last.Next.Request = s.nonce()
	s.pending = &attempt{changes: changes}
	return s.settle(ctx)
}

func (s *session) nonce() uint64 {
	var nonce [8]byte
	s.read(nonce[:])
	return binary.BigEndian.Uint64(nonce[:])
}

// settle finds out whether the pending grant was made. If so, the session holds it. After an error,
// settle must be called again. docs/leases.md ("Why no ID is issued twice") explains the steps.
func (s *session) settle(ctx context.Context) error {
	p := s.pending
	last := p.last()
	if !p.made {
		ok, err := s.compareAndSet(ctx, p.changes)
		if err != nil {
			p.unsure = true
			return s.failed("lease a node ID", err)
		}
		if !ok && !p.unsure && s.held.Revision == 0 {
			s.pending = nil // another process was faster
			return nil
		}
		if !ok {
			r, err := s.store.Get(ctx, last.Next.Realm, last.Next.Block)
			if err != nil {
				return s.failed("read a node ID", err)
			}
			if !p.unsure || r != last.Next {
				s.pending = nil
				s.lose(r, last.Prev)
				return nil
			}
		}
		p.made = true
	}
	// If a fence has given the realm another generation, the grant is not valid.
	root, err := s.readRoot(ctx)
	if err != nil {
		return err
	}
	s.pending = nil
	if root.Generation != s.root.Generation {
		s.log.Warn("lease: the realm has been fenced", "realm", s.config.Realm, "node",
			last.Next.Block.String())
		s.held, s.stale = Record{}, true
		s.lost = errorf(ErrLost, "realm %q has been fenced", s.config.Realm)
		return nil
	}
	s.fresh = false
	if root != s.root && s.config.check(root) == nil {
		s.setRoot(root)
	}
	if s.claimant != nil {
		if ok, err := s.claimant.confirmed(ctx, s); !ok || err != nil {
			return err
		}
	}
	s.held, s.top, s.withdrawn = last.Next, max(s.top, last.Next.HWM), false
	return nil
}

func (s *session) compareAndSet(ctx context.Context, changes []Change) (bool, error) {
	if len(changes) == 1 {
		return s.store.CompareAndSet(ctx, changes[0].Prev, changes[0].Next)
	}
	return s.store.CompareAndSetMany(ctx, changes)
}

func (s *session) lose(is, was Record) {
	if s.held.Revision != 0 {
		s.log.Warn("lease: node ID lost to another process", "realm", s.config.Realm,
			"node", is.Block.String(), "owner", is.Owner.String(), "name", is.Name)
		s.held, s.withdrawn = Record{}, true
		s.lost = taken(s.config.Realm, is, was)
	}
	if is.Revision < was.Revision {
		s.forgotten = errorf(ErrForgotten,
			"node ID %v of realm %q was at revision %d and is at %d; %s", is.Block, s.config.Realm, was.Revision, is.Revision, afterFence)
	}
}

// taken says how a node ID was lost.
func taken(realm string, is, was Record) error {
	how := "was taken by " + cmp.Or(is.Name, "another process")
	if is.Owner == (Owner{}) && is.Key == was.Owner {
		how = "was evicted"
	}
	return errorf(ErrLost, "node ID %v of realm %q %s", was.Block, realm, how)
}

func (s *session) release(ctx context.Context, used int64) error {
	held, asked := s.held, Record{}
	if p := s.pending; p != nil {
		switch asked = p.last().Next; {
		case p.made:
			held = asked
		case !p.unsure: // it was not granted
			asked = Record{}
		case held.Revision == 0:
			held = asked
		}
	}
	for held.Revision != 0 {
		r, err := s.store.Get(ctx, held.Realm, held.Block)
		if err != nil {
			return s.failed("read a node ID", err)
		}
		if r == asked {
			held = asked
		}
		next, err := release(r, held, used)
		if err != nil {
			break // another process has changed the record
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

func (s *session) failed(what string, err error) error {
	return fmt.Errorf("lease: realm %q: cannot %s: %w", s.config.Realm, what, err)
}

func (s *session) ahead(b Block, lo, now int64) *LeadError {
	t := s.root.Terms
	return &LeadError{Realm: s.config.Realm, Block: b, Ahead: t.Duration(lo - now),
		Max: t.Rounded(s.lead), Until: t.Time(lo)}
}

func (s *session) full(v *survey) error {
	e := &FullError{Realm: s.config.Realm, Size: s.config.NodeBits, Held: v.held,
		All: 1 << s.config.NodeBits}
	slices.SortFunc(e.Held, func(a, b Record) int { return cmp.Compare(a.Deadline, b.Deadline) })
	for _, r := range e.Held {
		e.Until = append(e.Until, s.root.Terms.Time(r.Deadline))
	}
	for _, g := range v.regions {
		e.Ahead = append(e.Ahead, s.ahead(g.record.Block, g.hwm, v.now))
		e.Waiting += g.count(v.size)
	}
	if from, ok := v.soonest(s.lead); ok {
		e.From = s.root.Terms.Time(from)
	}
	return e
}

// ownWindow returns the lease's window in ticks if its configuration has one, or 0.
func (s *session) ownWindow() int64 {
	if s.config.Window == 0 {
		return 0
	}
	return s.window
}
