package lease

import (
	"context"
	"maps"
	"sync"
	"sync/atomic"
	"time"
)

// A listing is a survey of all records of a realm. Many requests share it, so nobody changes it.
type listing struct {
	*survey
	full func() error // says that no node ID is free

	ended   time.Time
	took    time.Duration
	freed   int         // how often the lessor had freed node IDs before the listing began
	expired atomic.Bool // the store has changed too much
}

func (v *listing) expire() { v.expired.Store(true) }

func (s *session) newListing(records []Record, now int64) *listing {
	v := newSurvey(records, s.root.HWM, now, uint8(s.config.NodeBits), false)
	return &listing{survey: v, full: sync.OnceValue(func() error { return s.full(v) })}
}

// maxListing is how old a listing may be. A listing that was fast may be used only for a shorter
// time.
const maxListing = time.Second

// A listingKey names the listings of one generation of a realm, for one size.
type listingKey struct {
	space string
	size  uint8
}

// listings are what a lessor keeps for one listingKey.
type listings struct {
	share share[*listing]
	last  *listing
}

// list surveys a session's realm. Concurrent callers share a list, and a list that took long serves
// later callers, too. So requests that find a realm full cost a bounded number of lists.
func (l *StoreLessor) list(ctx context.Context, s *session) (*listing, error) {
	// The session's own goroutine may change s before the list ends.
	s = &session{store: s.store, config: s.config, root: s.root, lead: s.lead}
	read := func(ctx context.Context) (*listing, error) {
		began := time.Now()
		t, err := l.now(ctx)
		if err != nil {
			return nil, err
		}
		records, err := s.store.List(ctx, s.space())
		if err != nil {
			return nil, s.failed("list the node IDs", err)
		}
		v := s.newListing(records, s.root.Terms.At(t))
		v.ended = time.Now()
		v.took = v.ended.Sub(began)
		return v, nil
	}
	if l.alone {
		return read(ctx)
	}
	r, all := l.listings(s)
	return all.share.do(ctx, func(ctx context.Context) (*listing, error) {
		r.mu.Lock()
		freed := r.freed
		r.mu.Unlock()
		v, err := read(ctx)
		if err == nil {
			v.freed = freed
			r.mu.Lock()
			all.last = v
			r.mu.Unlock()
		}
		return v, err
	})
}

// listed returns the last listing of a session's realm, or nil if it is too old.
func (l *StoreLessor) listed(s *session) *listing {
	r, all := l.listings(s)
	r.mu.Lock()
	defer r.mu.Unlock()
	if v := all.last; v != nil && (v.expired.Load() || v.freed != r.freed ||
		time.Since(v.ended) > min(maxListing, 4*v.took)) {
		all.last = nil
	}
	return all.last
}

// listings returns what the lessor keeps for a session's realm. It forgets other generations.
func (l *StoreLessor) listings(s *session) (*leasedRealm, *listings) {
	r, k := l.realm(s.config.Realm), listingKey{s.space(), uint8(s.config.NodeBits)}
	r.mu.Lock()
	defer r.mu.Unlock()
	all := r.surveys[k]
	if all == nil {
		maps.DeleteFunc(r.surveys, func(old listingKey, _ *listings) bool {
			return old.space != k.space
		})
		all = &listings{}
		r.surveys[k] = all
	}
	return r, all
}
