package lease

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Records returns the records of a realm and its blocks, in the order of node IDs, with each block
// before its parts. It fails with [ErrNoRealm] if there is no such realm. If there are records that
// no client would write, Records leaves them out, and also returns [ErrRecord].
func Records(ctx context.Context, store Store,
	realm string) (root Record, blocks []Record, err error) {
	root, err = Realm(ctx, store, realm)
	if err != nil {
		return Record{}, nil, err
	}
	blocks, err = store.List(ctx, realm+"@"+root.Generation)
	if err != nil {
		return Record{}, nil, err
	}
	var strange []string
	blocks = slices.DeleteFunc(blocks, func(r Record) bool {
		if r.Block.Size == bucketSize {
			return true
		}
		legal := r.Block.Size >= 1 && int(r.Block.Size) <= root.Terms.Bits && r.State <= Merging
		if !legal {
			strange = append(strange, r.Block.String())
		}
		return !legal
	})
	slices.SortFunc(blocks, func(a, b Record) int {
		return cmp.Or(
			cmp.Compare(a.Block.NodeID<<(MaxBits-a.Block.Size),
				b.Block.NodeID<<(MaxBits-b.Block.Size)),
			cmp.Compare(a.Block.Size, b.Block.Size))
	})
	if len(strange) > 0 {
		return root, blocks, errorf(ErrRecord, "%d of them, such as the record of %s; "+
			"another program has written them", len(strange), strange[0])
	}
	return root, blocks, nil
}

// RecordsOf is like [Records], but reads and returns only the records of a block, of the blocks
// that contain it, and of its parts. Their order may be any.
func RecordsOf(ctx context.Context, store Store, realm string,
	b Block) (root Record, blocks []Record, err error) {
	root, err = Realm(ctx, store, realm)
	if err != nil || b.Size < 1 || int(b.Size) > root.Terms.Bits {
		return root, nil, err
	}
	var around []Block
	for p := b.parent(); p.Size > 0; p = p.parent() {
		around = append(around, p)
	}
	if len(around) > 0 {
		if blocks, err = store.GetMany(ctx, spaceOf(root), around); err != nil {
			return Record{}, nil, err
		}
	}
	within, err := divided(ctx, store, spaceOf(root), b)
	if err != nil {
		return Record{}, nil, err
	}
	blocks = slices.DeleteFunc(blocks, func(r Record) bool { return r.Revision == 0 })
	return root, append(blocks, within...), nil
}

// Realm returns the record of a realm, or [ErrNoRealm].
func Realm(ctx context.Context, store Store, realm string) (Record, error) {
	if err := cmp.Or(checkRealm(realm), checkStore(store)); err != nil {
		return Record{}, err
	}
	root, err := store.Get(ctx, realm, Block{})
	switch {
	case err != nil:
		return root, err
	case root.Revision == 0:
		return root, errorf(ErrNoRealm, "%q", realm)
	}
	return root, checkTerms(root)
}

// Evict takes a block from its owner, and reports whether the owner held it. The zero Owner means
// any owner. The owner's generators use the block at most to the end of their window.
func Evict(ctx context.Context, store Store, realm string, b Block, owner Owner) (bool, error) {
	root, err := Realm(ctx, store, realm)
	if err != nil {
		return false, err
	}
	return evict(ctx, store, realm+"@"+root.Generation, b, owner)
}

func evict(ctx context.Context, store Store, space string, b Block, owner Owner) (bool, error) {
	for {
		r, err := store.Get(ctx, space, b)
		if err != nil || r.Owner == (Owner{}) || owner != (Owner{}) && r.Owner != owner {
			return false, err
		}
		next := end(r)
		next.Revision++
		if ok, err := store.CompareAndSet(ctx, r, next); ok || err != nil {
			return ok, err
		}
	}
}

// Reclaim makes a node ID free that nobody holds, but that waits, because its last holder released
// it without saying which times it had used. The caller must know that the last holder's IDs have
// times of at most ahead after the clock of the process. This clock may be ahead of the store's by
// the realm's lead.
//
// If ahead has not passed since the release, or if the last holder did not release the node ID, the
// error matches [ErrWaiting]. It says when the node ID is free. If somebody holds the node ID, the
// error is a [HeldError]. If the node ID does not wait, Reclaim does nothing.
func Reclaim(ctx context.Context, store Store, realm string, b Block, ahead time.Duration) error {
	if ahead < 0 || ahead > maxSkew {
		return errorf(ErrConfig, "%v ahead, want 0s to %v", ahead, maxSkew)
	}
	root, err := Realm(ctx, store, realm)
	if err != nil {
		return err
	}
	terms := root.Terms
	for {
		r, err := store.Get(ctx, spaceOf(root), b)
		if err != nil {
			return err
		}
		t, err := timeOf(ctx, store)
		if err != nil {
			return err
		}
		now, waits := terms.At(t), terms.ticks(ahead)
		switch {
		case r.Held(now):
			return &HeldError{realm, holding(root, r, Held)}
		case stateOf(r, now, terms.Lead) != Waiting:
			return nil
		case r.Released == 0:
			return errorf(ErrWaiting, "node ID %v of realm %q may be in use until %s, because its "+
				"last holder did not release it, or said which times it used; it can be had from %s on, "+
				"and not earlier", b, realm, terms.Time(r.HWM).Format(timeFormat),
				terms.Time(r.HWM-terms.Lead).Format(timeFormat))
		case now <= r.Released+waits:
			return errorf(ErrWaiting, "node ID %v of realm %q was released at %s; "+
				"if its IDs were at most %v ahead, it can be freed from %s on, "+
				"and it can be had from %s on in any case", b, realm,
				terms.Time(r.Released).Format(timeFormat), ahead,
				terms.Time(r.Released+waits+1).Format(timeFormat),
				terms.Time(r.HWM-terms.Lead).Format(timeFormat))
		}
		next, err := reclaim(r, waits+terms.Lead)
		if err != nil {
			return err
		}
		next.Revision++
		if ok, err := store.CompareAndSet(ctx, r, next); ok || err != nil {
			return err
		}
	}
}

// maxSkew limits the parameter skew of Fence, because a fence cannot be undone.
const maxSkew = 24 * time.Hour

// Create makes the realm of a configuration, and reports whether it did. With a Format, NodeBits
// may be 0. If the realm exists and suits the configuration, Create returns false and no error.
func Create(ctx context.Context, store Store, config Config) (bool, error) {
	config, err := config.completeRealm()
	if err = cmp.Or(err, checkStore(store)); err != nil {
		return false, err
	}
	root, err := store.Get(ctx, config.Realm, Block{})
	if err != nil {
		return false, err
	}
	if root.Revision == 0 {
		if created, err := createRealm(ctx, store, config); created || err != nil {
			return created, err
		}
		if root, err = store.Get(ctx, config.Realm, Block{}); err != nil {
			return false, err
		}
	}
	return false, config.check(root)
}

func createRealm(ctx context.Context, store Store, config Config) (bool, error) {
	prev := Record{Realm: config.Realm}
	next := fenced(prev, config.terms(), newGeneration(), 0)
	ok, err := store.CompareAndSet(ctx, prev, next)
	if ok && err == nil {
		config.Logger.Info("lease: realm created", "realm", config.Realm, "store", storeName(store))
	}
	return ok, err
}

func storeName(store Store) string {
	if s, ok := store.(fmt.Stringer); ok {
		return s.String()
	}
	return fmt.Sprintf("%T", store)
}

// A TermsChange says how to change the terms of a realm.
type TermsChange struct {
	Window, Lead time.Duration // 0 leaves a value as it is
	// Force makes a value shorter even while processes hold leases. The leases of these processes
	// then become shorter, too, and the processes may end.
	Force bool
}

// SetTerms changes the window and the lead of a realm, and returns the realm's terms. Without
// Force, it fails with an [InUseError] if a value becomes shorter and a present holder needs the
// longer one. A lease uses the new values from its second renewal after the change. If its [Config]
// sets a value, the lease keeps the Config's value. But if this value is longer than the realm's,
// the lease can get no new node ID.
func SetTerms(ctx context.Context, store Store, realm string, change TermsChange) (Terms, error) {
	for {
		root, err := Realm(ctx, store, realm)
		if err != nil {
			return Terms{}, err
		}
		next := root
		next.Revision++
		next.Terms, err = root.Terms.with(change.Window, change.Lead)
		if err != nil || next.Terms == root.Terms {
			return root.Terms, err
		}
		if !change.Force {
			if err := checkUse(ctx, store, root, next.Terms); err != nil {
				return root.Terms, err
			}
		}
		if ok, err := store.CompareAndSet(ctx, root, next); ok || err != nil {
			return next.Terms, err
		}
	}
}

// checkUse fails if a holder needs the present window or lead, and the next one is shorter. A
// lease with a window of its own needs only this window. The lead of a lease is not known.
func checkUse(ctx context.Context, store Store, root Record, next Terms) error {
	is := root.Terms
	shorterLead := next.Lead < is.Lead
	if !shorterLead && next.Window >= is.Window {
		return nil
	}
	t, err := timeOf(ctx, store)
	if err != nil {
		return err
	}
	records, err := store.List(ctx, spaceOf(root))
	if err != nil {
		return err
	}
	e := &InUseError{Realm: root.Realm}
	for _, r := range records {
		if r.Held(is.At(t)) && (shorterLead || ownOr(r.Window, is) > next.Window) {
			e.Holders++
			if until := is.Time(r.HWM); until.After(e.Until) {
				e.Until = until
			}
		}
	}
	if e.Holders == 0 {
		return nil
	}
	return e
}

// timeOf returns the store's time or, if the store has no clock, the time of this process.
func timeOf(ctx context.Context, store Store) (time.Time, error) {
	t, err := store.Time(ctx)
	if errors.Is(err, ErrNoTime) {
		return time.Now(), nil
	}
	return t, err
}

func (t Terms) with(window, lead time.Duration) (Terms, error) {
	if err := checkSpans(t.Duration(1), window, lead); err != nil {
		return t, err
	}
	next := t
	if window != 0 {
		next.Window = t.ticks(window)
	}
	if lead != 0 {
		next.Lead = t.ticks(lead)
	}
	next.MostWindow, next.MostLead = t.most(next)
	return next, nil
}

// most returns the longest window and lead of two Terms, t and next. A result of 0
// means the value in next.
func (t Terms) most(next Terms) (window, lead int64) {
	if window = max(t.Window, t.MostWindow, next.Window); window == next.Window {
		window = 0
	}
	if lead = max(t.Lead, t.MostLead, next.Lead); lead == next.Lead {
		lead = 0
	}
	return window, lead
}

// Fence makes a realm safe after its store was restored from an old copy, or may have lost changes.
// Call Fence before any process can reach that store. All later grants start at the returned time
// or after it. All earlier grants end before that time, if no clock was ahead by more than skew.
// The returned time is at least window plus lead plus skew in the future. Nobody gets a node ID
// before this time minus the lead.
//
// Fence needs only Realm in config. Window and MaxLead, if not 0, become the realm's. Set them if
// the old copy has a shorter window or lead than the realm had when changes were lost. If the realm
// is missing, Fence creates it with config's Format, NodeBits and OneSize. If config has neither a
// Format nor NodeBits, Fence fails with [ErrNoRealm] instead. If Format is not the realm's format,
// Fence fails with [ErrRealm]. After an error of the store, call Fence again.
func Fence(ctx context.Context, store Store, config Config, skew time.Duration) (time.Time, error) {
	config, err := fenceConfig(config, skew)
	if err = cmp.Or(err, checkStore(store)); err != nil {
		return time.Time{}, err
	}
	for {
		root, err := store.Get(ctx, config.Realm, Block{})
		if err != nil {
			return time.Time{}, err
		}
		terms, err := config.fencedTerms(root)
		if err != nil {
			return time.Time{}, err
		}
		now, err := store.Time(ctx)
		if errors.Is(err, ErrNoTime) {
			now, err = config.Now(), nil
		}
		if err != nil {
			return time.Time{}, err
		}
		next := fenced(root, terms, newGeneration(), max(root.HWM, terms.floor(now, skew)))
		if err := carry(ctx, store, root, next, true); err != nil {
			return time.Time{}, err
		}
		ok, err := store.CompareAndSet(ctx, root, next)
		if err != nil {
			return time.Time{}, err
		}
		if !ok {
			continue
		}
		// Before the fence was stored, processes may have got more grants. Carry over the HWMs of
		// these grants, too, before anybody is granted ticks at the floor or above it.
		return terms.Time(next.HWM), carry(ctx, store, root, next, false)
	}
}

func fenceConfig(config Config, skew time.Duration) (Config, error) {
	if err := checkRealm(config.Realm); err != nil {
		return config, err
	}
	if skew < 0 || skew > maxSkew {
		return config, errorf(ErrConfig, "a skew of %v, want at most %v: "+
			"the realm would have no node IDs for that long", skew, maxSkew)
	}
	if config.Now == nil {
		config.Now = time.Now
	}
	if config.Format == (Format{}) && config.NodeBits == 0 {
		return config, nil
	}
	return config.completeRealm()
}

// completeRealm completes the configuration of a realm, for which NodeBits may be 0 if it has a
// Format.
func (c Config) completeRealm() (Config, error) {
	bits := c.NodeBits
	if bits == 0 && c.Format != (Format{}) {
		c.NodeBits = 1
	}
	c, err := c.complete()
	c.NodeBits = bits
	return c, err
}

func (c Config) fencedTerms(root Record) (Terms, error) {
	terms, known := root.Terms, c.Format != (Format{})
	switch {
	case root.Revision == 0 && !known:
		return terms, errorf(ErrNoRealm, "%q", c.Realm)
	case root.Revision == 0:
		terms = c.terms()
	case known:
		same := c
		same.NodeBits, same.Window, same.MaxLead = 0, 0, 0
		if err := same.check(root); err != nil {
			return terms, err
		}
	}
	if err := checkTerms(Record{Realm: c.Realm, Terms: terms}); err != nil {
		return terms, err
	}
	return terms.with(c.Window, c.MaxLead)
}

func (t Terms) reach(now time.Time) int64 {
	return t.At(now) + max(t.Window, t.MostWindow) + max(t.Lead, t.MostLead)
}

func (t Terms) floor(now time.Time, skew time.Duration) int64 {
	return t.reach(now) + t.ticks(skew+fenceTime) + 2 // two roundings can each lose a tick
}

// fenceTime is the longest expected time from reading the clock to storing the new generation.
const fenceTime = time.Second

func fenced(root Record, terms Terms, generation string, floor int64) Record {
	root.Revision, root.State, root.Generation, root.HWM = root.Revision+1, Split, generation, floor
	// The floor is above all past grants, so their length no longer matters.
	terms.MostWindow, terms.MostLead = 0, 0
	root.Terms = terms
	return root
}

// carry writes the first records of a new generation, or completes them. With partsFirst, it writes
// parts before the blocks that contain them, so that each split block always has a part with
// a record.
func carry(ctx context.Context, store Store, from, to Record, partsFirst bool) error {
	old, err := divided(ctx, store, spaceOf(from), Block{0, 1}, Block{1, 1})
	if err != nil {
		return err
	}
	records := carryOver(old, to.HWM)
	if partsFirst {
		slices.Reverse(records)
	}
	for _, r := range records {
		for {
			prev, err := store.Get(ctx, to.Realm+"@"+to.Generation, r.Block)
			if err != nil {
				return err
			}
			next := prev
			next.Revision, next.HWM = prev.Revision+1, max(prev.HWM, r.HWM)
			if prev.State == Retired {
				next.State = r.State
			}
			if prev.Revision != 0 && next.HWM == prev.HWM && next.State == prev.State {
				break
			}
			ok, err := store.CompareAndSet(ctx, prev, next)
			if err != nil {
				return err
			}
			if ok {
				break
			}
		}
	}
	return nil
}

// divided returns the records of some blocks and their parts that are not inside a whole or retired
// block. The HWM of a whole or retired block is valid for all its parts.
func divided(ctx context.Context, store Store, space string, blocks ...Block) (all []Record,
	err error) {
	const batch = 256
	for len(blocks) > 0 {
		n := min(batch, len(blocks))
		records, err := store.GetMany(ctx, space, blocks[:n])
		if err != nil {
			return nil, err
		}
		blocks = blocks[n:]
		for _, r := range records {
			if r.Revision == 0 {
				continue
			}
			all = append(all, r)
			if r.State == Split || r.State == Merging {
				blocks = append(blocks, r.Block.child(0), r.Block.child(1))
			}
		}
	}
	return all, nil
}
