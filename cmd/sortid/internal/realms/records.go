package realms

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/sortid/sortid/cmd/sortid/internal/console"
	"github.com/sortid/sortid/lease"
	"github.com/sortid/sortid/store"
	"github.com/sortid/sortid/store/kubernetes"
)

// direct is the access to a store.
type direct struct{ store.Store }

func (d direct) load(ctx context.Context, name string) (*Realm, error) {
	return d.realm(ctx, name, func() (lease.Record, []lease.Record, error) {
		return lease.Records(ctx, d, name)
	})
}

func (d direct) loadNode(ctx context.Context, name string, b lease.Block) (*Realm, error) {
	return d.realm(ctx, name, func() (lease.Record, []lease.Record, error) {
		return lease.RecordsOf(ctx, d, name, b)
	})
}

func (d direct) realm(ctx context.Context, name string,
	read func() (lease.Record, []lease.Record, error)) (*Realm, error) {
	root, blocks, unread := read()
	switch {
	case errors.Is(unread, lease.ErrRecord):
	case errors.Is(unread, lease.ErrConfig):
		return nil, console.UsageError(unread)
	case unread != nil:
		return nil, unread
	}
	here := time.Now()
	now, err := d.Time(ctx)
	if errors.Is(err, lease.ErrNoTime) {
		now, err = here, nil
	}
	if err != nil {
		return nil, err
	}
	skew := now.Sub(here)
	r := records{root: root, now: root.Terms.At(now), blocks: map[lease.Block]lease.Record{}}
	if cluster, ok := d.Store.(*kubernetes.Store); ok {
		if r.pods, err = cluster.Pods(ctx); err != nil {
			return nil, err
		}
	}
	for _, b := range blocks {
		r.order = append(r.order, b.Block)
		r.blocks[b.Block] = b
	}
	return &Realm{Name: name, Terms: root.Terms, nodes: r, generation: root.Generation,
		floor: root.HWM, now: r.now, skew: &skew, column: "OWNER"}, unread
}

func (d direct) evict(ctx context.Context, e Entry) (held bool, err error) {
	return lease.Evict(ctx, d, e.Realm, e.block, e.owner)
}

// records are the node IDs of a realm in a store.
type records struct {
	root   lease.Record
	now    int64 // the current tick, by the store's clock
	order  []lease.Block
	blocks map[lease.Block]lease.Record
	pods   map[string]bool // of the cluster; nil if they are unknown
}

func (r records) Entries(which Listing) (entries []Entry) {
	for _, b := range r.order {
		rec := r.blocks[b]
		if rec.State != lease.Whole && which != AllBlocks {
			continue
		}
		e := r.entry(rec)
		if which == OutOfUse && !e.outOfUse() {
			continue
		}
		entries = append(entries, e)
	}
	return entries
}

func (r records) EntryOf(b lease.Block) Entry { return r.entry(r.blocks[b]) }

func (r records) Around(b lease.Block) []Entry {
	rec, ok := r.blocks[b]
	if !ok {
		rec.Block = b
	}
	entries := []Entry{r.entry(rec)}
	for _, other := range r.order {
		if o := r.blocks[other]; other != b && o.State == lease.Whole && overlap(other, b) {
			entries = append(entries, r.entry(o))
		}
	}
	return entries
}

func (r records) entry(rec lease.Record) Entry {
	e := newEntry(r.root.Realm, rec.Block, rec.Name)
	e.Generation, e.State = r.root.Generation, r.state(rec)
	e.HWM, e.Revision = strconv.FormatInt(rec.HWM, 10), strconv.FormatUint(rec.Revision, 10)
	if e.owner = rec.Owner; e.owner != (lease.Owner{}) {
		e.Owner, e.Request = rec.Owner.String(), strconv.FormatUint(rec.Request, 10)
		e.Deadline = strconv.FormatInt(rec.Deadline, 10)
	}
	e.setTimes(r.root.Terms, r.now, r.mark(rec), r.freeFrom(rec))
	pod, _, _ := strings.Cut(rec.Name, "/") // see nodeid.MyName
	e.PodGone = r.pods != nil && e.Owner != "" && !r.pods[pod]
	if e.State == "free" {
		e.Holder = "" // it was given back
	}
	return e
}

// mark returns the end of all grants that include a block: the largest HWM (high-water mark) of the
// block, of the blocks that contain it, and of the realm.
func (r records) mark(rec lease.Record) int64 {
	mark := max(rec.HWM, r.root.HWM)
	for b := rec.Block; b.Size > 1; {
		b = lease.Block{NodeID: b.NodeID >> 1, Size: b.Size - 1}
		mark = max(mark, r.blocks[b].HWM)
	}
	return mark
}

// freeFrom returns the first tick at which another process can have the block, if the lease is not
// renewed.
func (r records) freeFrom(rec lease.Record) int64 {
	from := r.mark(rec) - r.root.Terms.Lead
	if rec.Held(r.now) {
		from = max(from, rec.Deadline)
	}
	return from
}

func (r records) state(rec lease.Record) string {
	switch {
	case rec.Revision == 0:
		return "unused"
	case rec.State != lease.Whole:
		return rec.State.String()
	}
	use := useOf(rec.Held(r.now), r.root.Terms, r.now, rec.HWM, r.freeFrom(rec))
	switch {
	case use != "":
		return use
	case rec.Owner != (lease.Owner{}):
		return "lapsed"
	}
	return "free"
}

func (r records) share() (s share) {
	for i := range uint32(2) {
		r.count(&s, lease.Block{NodeID: i, Size: 1}, r.root.HWM)
	}
	return s
}

// count adds a block to s. The parameter mark is the highest HWM of the blocks that contain it.
func (r records) count(s *share, b lease.Block, mark int64) {
	rec := r.blocks[b]
	mark = max(mark, rec.HWM)
	part := partOf(b)
	switch {
	case rec.State == lease.Split || rec.State == lease.Merging:
		for i := range uint32(2) {
			r.count(s, lease.Block{NodeID: b.NodeID<<1 | i, Size: b.Size + 1}, mark)
		}
	case rec.Held(r.now) && r.now >= rec.HWM:
		s.Expired += part
	case rec.Held(r.now):
		s.Held += part
	case mark > r.now+r.root.Terms.Lead:
		s.Later += part
	default:
		s.Free += part
	}
}
