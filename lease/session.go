package lease

import (
	"cmp"
	"context"
	crand "crypto/rand"
	"encoding/binary"
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

	area Block // find searches this block first
	role role

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

	// This process's clock minus the store's, when the last request was sent and when it had the
	// store's time. The store's time can be wrong by its precision: both are on the safe side.
	sent, came time.Duration
	sole       span // of the held block
}

// A role is for whom a session asks for grants: for its own [process], or for a [claimant].
type role interface {
	readRoot(ctx context.Context, s *session) (Record, error)
	// request returns what to ask for.
	request(ctx context.Context, s *session, owner Owner, used int64) (request, error)
	// look reads a few blocks, in their order.
	look(ctx context.Context, s *session, blocks []Block) ([]Record, error)
	// listed returns a survey of the realm that is not too old, or nil.
	listed(s *session) *listing
	// list surveys the realm. If nothing was looked at before, it also looks.
	list(ctx context.Context, s *session, q request, looked bool) (*listing, error)
	// enter gives a grant to its holder. It returns what else must be changed before.
	enter(ctx context.Context, s *session, grant *Record) ([]Change, error)
	// confirmed reports whether the grant that the store has made is valid.
	confirmed(ctx context.Context, s *session) (bool, error)
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
		store: store, config: config, role: process{}, top: window.None, notBefore: window.None,
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
	root, err := s.role.readRoot(ctx, s)
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

const afterFence = "when the realm has been fenced, this process gets a new node ID by itself"

func (s *session) setRoot(root Record) {
	s.root, s.stale, s.fresh = root, false, true
	s.window, s.lead = s.config.ticks(root.Terms)
}

func (s *session) space() string { return s.config.Realm + "@" + s.root.Generation }

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
		q, err := s.role.request(ctx, s, s.held.Owner, used)
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
			if q, err = s.role.request(ctx, s, s.newOwner(), used); err != nil {
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
		if err == nil {
			err = s.take(ctx, q, v, leaf)
		}
		if err != errRefused {
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

// find chooses a block that can be granted. The parameter lost is how often another process took
// the chosen block first.
func (s *session) find(ctx context.Context, q request, lost int) (*survey, Block, error) {
	const most = 16 // Losses after which find always lists the realm.
	if s.config.NodeID != nil {
		return s.findExact(ctx, q, Block{*s.config.NodeID, uint8(s.config.NodeBits)})
	}
	if v := s.role.listed(s); v != nil {
		return s.findListed(ctx, q, v, lost)
	}
	if lost < most {
		if v, leaf, err := s.probe(ctx, q, lost); v != nil || err != nil {
			return v, leaf, err
		}
	}
	v, err := s.role.list(ctx, s, q, lost < most)
	if err != nil {
		return nil, Block{}, err
	}
	leaf, ok := v.choose(Block{}, s.lead, lost, s.rand)
	if !ok {
		return nil, Block{}, v.full()
	}
	return v.survey, leaf, nil
}

// probes is how many reads find makes in an area before it looks elsewhere.
const probes = 6

// probe chooses a block after it has read a few records. If these show no free block, the survey is
// nil. It begins where node IDs are in use, so that large blocks stay free.
func (s *session) probe(ctx context.Context, q request, lost int) (*survey, Block, error) {
	if lost > 0 {
		return s.probeWider(ctx, q, lost)
	}
	around, err := s.look(ctx, q, edge(uint8(s.config.NodeBits)))
	if err != nil {
		return nil, Block{}, err
	}
	s.area = around.area()
	if leaf, ok := around.choose(s.area, s.patience(), 0, s.rand); ok {
		return around, leaf, nil
	}
	for _, area := range []Block{s.area, {}} {
		if v, leaf, err := s.probeArea(ctx, q, area); v != nil || err != nil {
			return v, leaf, err
		}
		if leaf, ok := around.choose(Block{}, s.patience(), 0, s.rand); ok {
			return around, leaf, nil
		}
	}
	return nil, Block{}, nil
}

// probeArea reads all of a small area, or the paths to a few blocks of a large one.
func (s *session) probeArea(ctx context.Context, q request, area Block) (*survey, Block, error) {
	small := uint8(s.config.NodeBits)-area.Size <= 4
	for range probes {
		target := s.target(area)
		blocks := path(target)
		if small {
			blocks = parts(area, target.Size)
		}
		v, err := s.look(ctx, q, blocks)
		if err != nil {
			return nil, Block{}, err
		}
		if leaf, ok := v.choose(area, s.patience(), 0, s.rand); ok {
			return v, leaf, nil
		}
		if small {
			break
		}
	}
	return nil, Block{}, nil
}

// probeWider searches a wider area with each loss, and reads fewer records for each block.
func (s *session) probeWider(ctx context.Context, q request, lost int) (*survey, Block, error) {
	const widening = 4 // Bits by which the area grows with each loss.
	for _, area := range []Block{s.area, {}} {
		for range probes {
			area.Size -= min(area.Size, uint8(widening*lost))
			target := s.target(area)
			v, err := s.look(ctx, q, parts(target, target.Size))
			if err != nil {
				return nil, Block{}, err
			}
			if v.grantable(target, s.patience()) {
				return v, target, nil
			}
			if leaf, ok := v.choose(area, s.patience(), lost, s.rand); ok {
				return v, leaf, nil
			}
		}
	}
	return nil, Block{}, nil
}

// target returns a random block of the session's size.
func (s *session) target(area Block) Block {
	size := uint8(s.config.NodeBits)
	return Block{uint32(s.rand.IntN(1 << (size - area.Size))), size}
}

// patience returns for how many ticks a block that find chooses may have to wait. A mixed realm
// keeps its large blocks free, and waits for a node ID that was just given back. In other realms,
// each node ID is as good, so the first choice is one that needs no wait.
func (s *session) patience() int64 {
	if s.root.Terms.Only != 0 {
		return 0
	}
	return s.lead
}

// findListed chooses a block of a listing that is not older than a second. It reads the block again.
func (s *session) findListed(ctx context.Context, q request, v *listing, lost int) (*survey, Block,
	error) {
	const tries = 4
	for i := range tries {
		leaf, ok := v.choose(Block{}, s.lead, lost+i, s.rand)
		var blocks []Block
		if ok {
			blocks = path(leaf)
		}
		now, err := s.look(ctx, q, blocks)
		if err != nil {
			return nil, Block{}, err
		}
		if !ok {
			return nil, Block{}, v.full()
		}
		if now.grantable(leaf, s.lead) {
			return now, leaf, nil
		}
	}
	v.expire()
	return nil, Block{}, errRefused
}

// findExact returns the block that the configuration asks for, or a [HeldError].
func (s *session) findExact(ctx context.Context, q request, b Block) (*survey, Block, error) {
	v, err := s.look(ctx, q, path(b))
	if err != nil {
		return nil, b, err
	}
	if !v.shows(b) {
		all, err := s.role.list(ctx, s, q, true)
		if err != nil {
			return nil, b, err
		}
		v = all.survey
	}
	if !v.grantable(b, s.lead) {
		return nil, b, s.notFree(v, b)
	}
	return v, b, nil
}

// look reads and surveys a few blocks. The caller must list smaller blocks first, because a half
// must not be read after its parent.
func (s *session) look(ctx context.Context, q request, blocks []Block) (*survey, error) {
	records, err := s.role.look(ctx, s, blocks)
	if err != nil {
		return nil, err
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
	base := v.get(around.block)
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
	next.Revision = prev.Revision + 1
	first, err := s.role.enter(ctx, s, &next)
	if err != nil {
		return err
	}
	if err := s.propose(ctx, slices.Concat(first, changes, []Change{{prev, next}})); err != nil {
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
	root, err := s.role.readRoot(ctx, s)
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
	if ok, err := s.role.confirmed(ctx, s); !ok || err != nil {
		return err
	}
	var from time.Time
	if last.Next.From != s.held.From || last.Next.Block != s.held.Block {
		from = s.root.Terms.Time(last.Next.From).Add(s.came)
	}
	s.sole = s.sole.renewed(from, s.root.Terms.Time(last.Next.HWM).Add(s.sent))
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
		e.Ahead = append(e.Ahead, s.ahead(g.block, g.hwm, v.now))
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
