package lease

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// LessorOptions are the limits of a [StoreLessor].
type LessorOptions struct {
	MaxRealms int // realms that CreateRealm makes; 0: no limit
	// Now is the clock that is used if the store has none; nil: time.Now.
	Now func() time.Time
}

var _ Lessor = (*StoreLessor)(nil)

// A StoreLessor grants leases from a store. It keeps no state except caches, so any number of them
// can share a store, in one process or in many.
type StoreLessor struct {
	store     Store
	options   LessorOptions
	precision time.Duration // the store's time may be wrong by this much
	atomic    bool          // the store makes all changes of a CompareAndSetMany, or none
	// Simulations set these: the lessor starts no goroutine, and each session is prepared.
	alone   bool
	prepare func(ctx context.Context, s *session)

	times   share[time.Time]
	mu      sync.Mutex
	realms  map[string]*leasedRealm
	records map[recordKey]Record // the last known records of held blocks
}

// A leasedRealm is what a lessor remembers of a realm.
type leasedRealm struct {
	roots share[Record]
	lists share[*census]

	mu      sync.Mutex
	root    Record
	read    time.Time // when root was read
	census  *census
	surveys map[listingKey]*listings
	freed   int // how often this lessor has freed node IDs
	queues  map[queueKey]*queue
}

type recordKey struct {
	space string
	block Block
}

const (
	maxRememberedRealms  = 1000
	maxRememberedRecords = 1 << 17 // about 50 MB
	rememberRoot         = 10 * time.Second
)

// NewLessor returns a lessor over a store. The caller closes the store. NewLessor panics if the
// store is nil.
func NewLessor(store Store, o LessorOptions) *StoreLessor {
	if err := checkStore(store); err != nil {
		panic(err)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	l := &StoreLessor{store: store, options: o, realms: map[string]*leasedRealm{},
		records: map[recordKey]Record{}, precision: precisionOf(store), atomic: true}
	if s, ok := store.(Atomicity); ok {
		l.atomic = s.Atomic()
	}
	return l
}

func (l *StoreLessor) realm(name string) *leasedRealm {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.realms[name]
	if r == nil {
		if len(l.realms) >= maxRememberedRealms {
			l.forgetRealm()
		}
		r = &leasedRealm{surveys: map[listingKey]*listings{}, queues: map[queueKey]*queue{}}
		l.realms[name] = r
	}
	return r
}

// forgetRealm forgets a realm for which nobody waits, if there is one.
func (l *StoreLessor) forgetRealm() {
	for name, r := range l.realms {
		r.mu.Lock()
		idle := len(r.queues) == 0
		r.mu.Unlock()
		if idle {
			delete(l.realms, name)
			return
		}
	}
}

// now reads the store's time. Concurrent callers share a reading that begins after their calls.
func (l *StoreLessor) now(ctx context.Context) (t time.Time, err error) {
	if l.alone {
		t, err = l.store.Time(ctx)
	} else {
		t, err = l.times.doShort(ctx, l.store.Time)
	}
	if errors.Is(err, ErrNoTime) {
		return l.options.Now().Round(0), nil
	}
	if err != nil {
		return t, fmt.Errorf("lease: cannot read the store's time: %w", err)
	}
	return t, nil
}

// freshRoot reads the record of a realm. Concurrent callers share a reading that begins after their
// calls. The record has Revision 0 if there is no such realm.
func (l *StoreLessor) freshRoot(ctx context.Context, realm string) (root Record, err error) {
	read := func(ctx context.Context) (Record, error) {
		records, err := l.store.GetMany(ctx, realm, []Block{{}})
		if err != nil {
			return Record{}, fmt.Errorf("lease: realm %q: cannot read the realm: %w", realm, err)
		}
		return records[0], nil
	}
	r, began := l.realm(realm), time.Now()
	if l.alone {
		root, err = read(ctx)
	} else {
		root, err = r.roots.doShort(ctx, read)
	}
	if err == nil {
		r.mu.Lock()
		r.root, r.read = root, began
		r.mu.Unlock()
	}
	if err == nil && root.Revision != 0 {
		err = checkTerms(root)
	}
	return root, err
}

// rootFor returns the record of a realm, with Revision 0 if there is none. It may be a remembered
// record, if that one fits.
func (l *StoreLessor) rootFor(ctx context.Context, realm string,
	fits func(root Record) bool) (Record, error) {
	if checkRealm(realm) != nil {
		return Record{}, nil // there can be no such realm
	}
	l.mu.Lock()
	r := l.realms[realm]
	l.mu.Unlock()
	if r != nil {
		r.mu.Lock()
		root, read := r.root, r.read
		r.mu.Unlock()
		if root.Revision != 0 && time.Since(read) < rememberRoot && fits(root) {
			return root, nil
		}
	}
	root, err := l.freshRoot(ctx, realm)
	if err == nil && root.Revision == 0 {
		l.mu.Lock()
		if r := l.realms[realm]; r != nil && r.idle() {
			delete(l.realms, realm) // do not remember names that clients invent
		}
		l.mu.Unlock()
	}
	return root, err
}

func (r *leasedRealm) idle() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.queues) == 0
}

func noRealm(realm string) error { return errorf(ErrNoRealm, "%.120q", realm) }

func (l *StoreLessor) remember(r Record) {
	l.mu.Lock()
	defer l.mu.Unlock()
	k := recordKey{r.Realm, r.Block}
	if _, ok := l.records[k]; !ok && len(l.records) >= maxRememberedRecords {
		for old := range l.records {
			delete(l.records, old)
			break
		}
	}
	l.records[k] = r
}

func (l *StoreLessor) remembered(space string, b Block) (Record, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r, ok := l.records[recordKey{space, b}]
	return r, ok
}

func (l *StoreLessor) forget(space string, b Block) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.records, recordKey{space, b})
}

func spaceOf(root Record) string { return root.Realm + "@" + root.Generation }

// CreateRealm makes a realm with the Realm, Format, NodeBits, OneSize, Window and MaxLead of c, and
// reports whether it did. Without a Format, the realm serves any generator with NodeBits and ticks
// of 1 ms since 1970. CreateRealm fails with [ErrRealm] if the realm exists with other terms.
func (l *StoreLessor) CreateRealm(ctx context.Context, c Config) (RealmInfo, bool, error) {
	given := c
	c, err := c.forRealm()
	if err != nil {
		return RealmInfo{}, false, err
	}
	created := false
	root, err := l.freshRoot(ctx, c.Realm)
	if err == nil && root.Revision == 0 {
		if err = l.checkRealms(ctx); err == nil {
			created, err = createRealm(ctx, l.store, c)
		}
		if err == nil {
			root, err = l.freshRoot(ctx, c.Realm)
		}
	}
	if err == nil && root.Revision == 0 {
		err = errorf(ErrBusy, "realm %q is gone", c.Realm)
	}
	if err == nil && !created {
		err = given.agrees(root)
	}
	if err != nil {
		return RealmInfo{}, false, err
	}
	info, err := l.info(ctx, root)
	return info, created, err
}

// forRealm checks and completes the configuration of a realm.
func (c Config) forRealm() (Config, error) {
	wrong := func(field, format string, args ...any) (Config, error) {
		return c, &RequestError{field, fmt.Sprintf(format, args...)}
	}
	if err := checkRealm(c.Realm); err != nil {
		return c, wrongField("realm", err)
	}
	if c.NodeBits < 0 || c.NodeBits > MaxBits {
		return wrong("node_bits", "a node ID of %d bits, want 1 to %d", c.NodeBits, MaxBits)
	}
	if c.Format == (Format{}) {
		if c.NodeBits == 0 {
			return wrong("node_bits", "a realm without a format needs node_bits")
		}
		c.Format = anyGenerator(c.NodeBits)
	}
	if c.NodeBits > c.Format.Bits {
		return wrong("node_bits", "a node ID of %d bits, want 1 to %d in this format", c.NodeBits,
			c.Format.Bits)
	}
	if c.NodeBits != 0 {
		c.OneSize = true
	}
	if err := checkSpans(c.Format.Tick, c.Window, 0); err != nil {
		return c, wrongField("lease_window_ms", err)
	}
	if err := checkSpans(c.Format.Tick, 0, c.MaxLead); err != nil {
		return c, wrongField("lead_ms", err)
	}
	return c.completeRealm()
}

// agrees reports whether a realm has the terms that c names.
func (c Config) agrees(root Record) error {
	t := root.Terms
	differs := func(what string, has, want any) error {
		return errorf(ErrRealm, "realm %q has %s %v, not %v", c.Realm, what, has, want)
	}
	f := c.Format
	switch {
	case f != (Format{}) && t.Format != f.Name:
		return differs("the format", cmp.Or(t.Format, "none"), f.Name)
	case f != (Format{}) && (t.Tick != f.Tick.Milliseconds() || t.Epoch != f.Epoch.UnixMilli()):
		return differs("ticks of", t.Duration(1), f.Tick)
	case f == (Format{}) && t.Format != "" && c.NodeBits == 0:
		return differs("the format", t.Format, "none")
	case c.NodeBits != 0 && t.Only == 0:
		return errorf(ErrRealm, "realm %q grants node IDs of several sizes, not only of %d bits",
			c.Realm, c.NodeBits)
	case c.NodeBits != 0 && t.Only != c.NodeBits:
		return otherSize(c.Realm, t.Only, c.NodeBits)
	case c.Window != 0 && t.ticks(c.Window) != t.Window:
		return differs("the window", t.Rounded(t.Window), c.Window)
	case c.MaxLead != 0 && t.ticks(c.MaxLead) != t.Lead:
		return differs("the lead", t.Rounded(t.Lead), c.MaxLead)
	}
	return nil
}

func (l *StoreLessor) checkRealms(ctx context.Context) error {
	if l.options.MaxRealms == 0 {
		return nil
	}
	names, err := l.store.Realms(ctx)
	if err == nil && len(names) >= l.options.MaxRealms {
		err = errorf(ErrTooManyRealms, "%d", len(names))
	}
	return err
}

// SetRealm is [SetTerms].
func (l *StoreLessor) SetRealm(ctx context.Context, realm string,
	change TermsChange) (RealmInfo, error) {
	root, err := l.present(ctx, realm)
	if err != nil {
		return RealmInfo{}, err
	}
	if err := checkSpans(root.Terms.Duration(1), change.Window, 0); err != nil {
		return RealmInfo{}, wrongField("lease_window_ms", err)
	}
	if err := checkSpans(root.Terms.Duration(1), 0, change.Lead); err != nil {
		return RealmInfo{}, wrongField("lead_ms", err)
	}
	if _, err := SetTerms(ctx, l.store, realm, change); err != nil {
		return RealmInfo{}, err
	}
	return l.Realm(ctx, realm)
}

// present reads the record of a realm, or fails with [ErrNoRealm].
func (l *StoreLessor) present(ctx context.Context, realm string) (Record, error) {
	never := func(Record) bool { return false }
	root, err := l.rootFor(ctx, realm, never)
	if err == nil && root.Revision == 0 {
		err = noRealm(realm)
	}
	return root, err
}

// Realm describes a realm. It fails with [ErrNoRealm] if there is none.
func (l *StoreLessor) Realm(ctx context.Context, realm string) (RealmInfo, error) {
	root, err := l.present(ctx, realm)
	if err != nil {
		return RealmInfo{}, err
	}
	return l.info(ctx, root)
}

// Realms returns up to limit realms that permitted allows, in the order of names. It begins with
// the first name after the parameter after. It also returns the last name, or "" at the end. A nil
// permitted allows all realms.
func (l *StoreLessor) Realms(ctx context.Context, permitted func(name string) bool, after string,
	limit int) (realms []RealmInfo, next string, err error) {
	names, err := l.store.Realms(ctx)
	if err != nil {
		return nil, "", err
	}
	slices.Sort(names)
	for _, name := range names {
		if name <= after && after != "" || permitted != nil && !permitted(name) {
			continue
		}
		if len(realms) >= limit {
			return realms, realms[len(realms)-1].Name, nil
		}
		info, err := l.Realm(ctx, name)
		if err != nil && !errors.Is(err, ErrNoRealm) {
			return nil, "", err
		}
		if err == nil {
			realms = append(realms, info)
		}
	}
	return realms, "", nil
}
