package lease

import (
	"context"
	"errors"
	"fmt"
)

// A process is the role of a session whose own process is the holder.
type process struct{}

// readRoot reads the realm's record. A crash of the store can undo what GetMany returns. This is
// safe here, because the crash also undoes all later changes.
func (process) readRoot(ctx context.Context, s *session) (Record, error) {
	records, err := s.store.GetMany(ctx, s.config.Realm, []Block{{}})
	if err != nil {
		return Record{}, s.failed("read the realm", err)
	}
	return records[0], nil
}

func (process) request(ctx context.Context, s *session, owner Owner,
	used int64) (request, error) {
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
	precision := precisionOf(s.store)
	s.sent, s.came = before.Sub(t)-precision, after.Sub(t)+precision
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

func (process) look(ctx context.Context, s *session, blocks []Block) ([]Record, error) {
	records, err := s.store.GetMany(ctx, s.space(), blocks)
	if err != nil {
		return nil, s.failed("read node IDs", err)
	}
	return records, nil
}

func (process) listed(*session) *listing { return nil }

func (process) list(ctx context.Context, s *session, q request, _ bool) (*listing, error) {
	records, err := s.store.List(ctx, s.space())
	if err != nil {
		return nil, s.failed("list the node IDs", err)
	}
	return s.newListing(records, q.now), nil
}

func (process) enter(context.Context, *session, *Record) ([]Change, error) { return nil, nil }

func (process) confirmed(context.Context, *session) (bool, error) { return true, nil }
