package realms

import (
	"context"
	"errors"
	"time"

	"github.com/sortid/sortid/cmd/sortid/internal/console"
	"github.com/sortid/sortid/lease"
	"github.com/sortid/sortid/store/http"
)

// server is the access to a server.
type server struct{ *http.Client }

// listAge is how old a server's list of leases may be; see [lease.StoreLessor.Holdings].
const listAge = 10 * time.Second

func (s server) load(ctx context.Context, name string) (*Realm, error) {
	return s.realm(ctx, name, func(lease.Terms) ([]lease.Holding, error) {
		return s.rows(ctx, name, "", 1000, func(lease.Holding) bool { return true })
	})
}

func (s server) loadNode(ctx context.Context, name string, b lease.Block) (*Realm, error) {
	return s.realm(ctx, name, func(t lease.Terms) (all []lease.Holding, err error) {
		for size := uint8(1); size <= b.Size && int(b.Size) <= t.Bits; size++ {
			if t.Only != 0 && int(size) < min(t.Only, int(b.Size)) {
				continue // nobody holds a larger one
			}
			at, part := lease.Block{NodeID: b.NodeID >> (b.Size - size), Size: size}, 1
			if at == b && int(size) != t.Only {
				part = 1000 // it may have parts
			}
			rows, err := s.rows(ctx, name, before(at), part, func(h lease.Holding) bool {
				return h.Block == at || at == b && b.Contains(h.Block)
			})
			if err != nil {
				return nil, err
			}
			all = append(all, rows...)
		}
		return all, nil
	})
}

// before returns the last position before a block in the order of a server's list.
func before(b lease.Block) string {
	switch {
	case b.Size > 1 && b.NodeID%2 == 0:
		return lease.Block{NodeID: b.NodeID / 2, Size: b.Size - 1}.String()
	case b.NodeID == 0:
		return ""
	}
	return lease.Block{NodeID: b.NodeID<<(lease.MaxBits-b.Size) - 1, Size: lease.MaxBits}.String()
}

// rows returns the leases after a position, up to the first one that is not wanted. It reads so many
// at once.
func (s server) rows(ctx context.Context, name, after string, part int,
	wanted func(lease.Holding) bool) (all []lease.Holding, err error) {
	for more := true; more; more = after != "" {
		var rows []lease.Holding
		if rows, after, err = s.Holdings(ctx, name, after, part); err != nil {
			return nil, err
		}
		for _, h := range rows {
			if !wanted(h) {
				return all, nil
			}
			all = append(all, h)
		}
	}
	return all, nil
}

func (s server) realm(ctx context.Context, name string,
	read func(lease.Terms) ([]lease.Holding, error)) (*Realm, error) {
	info, err := s.Realm(ctx, name)
	if errors.Is(err, lease.ErrConfig) {
		return nil, console.UsageError(err)
	}
	if err != nil {
		return nil, err
	}
	l := leases{RealmInfo: info, now: info.Terms.At(time.Now())}
	if l.rows, err = read(info.Terms); err != nil {
		return nil, err
	}
	return &Realm{Name: name, Terms: info.Terms, MaxAge: listAge, nodes: l, now: l.now,
		column: "LEASE"}, nil
}

func (s server) evict(ctx context.Context, e Entry) (held bool, err error) {
	err = s.Evict(ctx, e.Realm, e.ID)
	if errors.Is(err, lease.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// leases are the node IDs of a realm that a server lists: those that somebody holds, or that wait
// after their use.
type leases struct {
	lease.RealmInfo
	now  int64 // the current tick, by this machine's clock
	rows []lease.Holding
}

func (l leases) Entries(which Listing) (entries []Entry) {
	for _, h := range l.rows {
		if e := l.entry(h); which != OutOfUse || e.outOfUse() {
			entries = append(entries, e)
		}
	}
	return entries
}

func (l leases) EntryOf(b lease.Block) Entry {
	for _, h := range l.rows {
		if h.Block == b {
			return l.entry(h)
		}
	}
	return Entry{}
}

func (l leases) Around(b lease.Block) []Entry {
	this := newEntry(l.Name, b, "")
	this.State = "unused"
	var others []Entry
	for _, h := range l.rows {
		switch e := l.entry(h); {
		case h.Block == b:
			this = e
		case overlap(h.Block, b):
			others = append(others, e)
			if h.Block.Contains(b) {
				this.setTimes(l.Terms, l.now, l.Terms.At(h.Until), l.Terms.At(h.Until)-l.Terms.Lead)
			}
		}
	}
	return append([]Entry{this}, others...)
}

func (l leases) entry(h lease.Holding) Entry {
	e := newEntry(l.Name, h.Block, h.Holder)
	e.ID = h.ID
	until, held := l.Terms.At(h.Until), l.held(h)
	from := until - l.Terms.Lead
	if held {
		from = max(from, l.Terms.At(h.FreeFrom))
	}
	e.setTimes(l.Terms, l.now, until, from)
	switch e.State = useOf(held, l.Terms, l.now, until, from); {
	case e.State != "":
	case h.State == lease.Held:
		e.State = "lapsed"
	default:
		e.State, e.Holder = "free", ""
	}
	return e
}

func (l leases) held(h lease.Holding) bool {
	return h.State == lease.Held && l.now < l.Terms.At(h.FreeFrom)
}

func (l leases) share() share {
	s := share{Free: 1}
	for _, h := range l.rows {
		until, held, part := l.Terms.At(h.Until), l.held(h), partOf(h.Block)
		switch {
		case held && l.now >= until:
			s.Expired += part
		case held:
			s.Held += part
		case until > l.now+l.Terms.Lead:
			s.Later += part
		default:
			continue
		}
		s.Free -= part
	}
	if l.FreeShare < s.Free { // after a fence, only the server knows what is free
		s.Later, s.Free = s.Later+s.Free-l.FreeShare, l.FreeShare
	}
	return s
}
