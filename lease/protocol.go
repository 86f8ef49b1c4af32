package lease

import "errors"

// This file is the protocol: what may become of a record. Its functions know no store,
// no clock and no randomness; the package's client, its exhaustive model and its
// simulation all decide by them. Each takes records as the store has them and returns
// the one to put in the place of the first, save for Epoch, which goes up by one with
// each record written.
//
// Where a decision rests on a second record, the order of reading matters:
//
//   - revive(r, parent): r was read before the parent was read, or written, as Split;
//   - join(r, a, b): a and b were written, as Retired, after r was read, or written, as
//     Merging. To write them anew matters even where they were Retired already: a
//     revive that was decided on before then finds another Epoch.
//
// So whoever revives a half holds it against a merge that began before: either the
// merge's own write to that half comes later, and finds it Whole, or it came in between,
// and the revival fails.

var (
	errRefused = errors.New("lease: the block has changed, or is held")
	errAhead   = errors.New("lease: the grant would start too far ahead")
)

// A request holds what a grant depends on. All times are ticks.
type request struct {
	owner  Owner
	number uint64
	name   string
	now    int64 // the time by the store's clock, if it has one
	at     int64 // the tick that the node's generator has come to, or its clock
	window int64
	lead   int64
}

// free reports whether a whole block may be taken from whoever has it.
func free(r Record, now int64) bool { return r.State == Whole && !r.Held(now) }

// take grants a free block, from tick lo up to the HWM of next. With errAhead, lo says
// where the grant would have started.
func (q request) take(r Record) (next Record, lo int64, err error) {
	if !free(r, q.now) {
		return r, 0, errRefused
	}
	lo = max(r.HWM, q.now)
	if lo > q.now+q.lead {
		return r, lo, errAhead
	}
	if q.at > q.now+q.lead {
		return r, q.at, errAhead
	}
	return q.hold(r, max(lo, q.at)+q.window), lo, nil
}

// extend grants the owner of a block more ticks, from the HWM of r on. If there is no
// need it returns r.
func (q request) extend(r Record) (Record, error) {
	if r.State != Whole || r.Owner != q.owner {
		return r, errRefused
	}
	if q.at > q.now+q.lead {
		return r, errAhead
	}
	if hi := max(q.now, q.at) + q.window; hi > r.HWM {
		return q.hold(r, hi), nil
	}
	return r, nil
}

func (q request) hold(r Record, hi int64) Record {
	r.HWM, r.Deadline = hi, hi+q.window/2
	r.Owner, r.Request, r.Name = q.owner, q.number, q.name
	return r
}

// release ends a grant. The owner, who has used no tick later than used, and has had all
// ticks from lo to r's HWM, gives back those that it will never use.
func release(r Record, owner Owner, lo, used int64) (Record, error) {
	if r.State != Whole || r.Owner != owner {
		return r, errRefused
	}
	if used < lo {
		r.HWM = min(r.HWM, lo)
	} else {
		r.HWM = min(r.HWM, used+1)
	}
	return vacate(r), nil
}

func vacate(r Record) Record {
	r.Owner, r.Request, r.Deadline, r.Name = Owner{}, 0, 0, ""
	return r
}

// split divides a free block.
func split(r Record, now int64) (Record, error) {
	if !free(r, now) {
		return r, errRefused
	}
	r = vacate(r)
	r.State = Split
	return r, nil
}

// revive makes a half of a split block whole.
func revive(r, parent Record) (Record, error) {
	if r.State != Retired || parent.State != Split {
		return r, errRefused
	}
	r.State = Whole
	r.HWM = max(r.HWM, parent.HWM)
	return r, nil
}

// merge begins to make a split block whole again, and resplit gives that up.
func merge(r Record) (Record, error) { return turn(r, Split, Merging) }

func resplit(r Record) (Record, error) { return turn(r, Merging, Split) }

func turn(r Record, from, to State) (Record, error) {
	if r.State != from {
		return r, errRefused
	}
	r.State = to
	return r, nil
}

// retire ends the use of a half, if it is free or was retired before.
func retire(r Record, now int64) (Record, error) {
	if r.State != Retired && !free(r, now) {
		return r, errRefused
	}
	r = vacate(r)
	r.State = Retired
	return r, nil
}

// join makes a block whole whose halves a and b have been retired.
func join(r, a, b Record) (Record, error) {
	if r.State != Merging || a.State != Retired || b.State != Retired {
		return r, errRefused
	}
	r.State = Whole
	r.HWM = max(r.HWM, a.HWM, b.HWM)
	return r, nil
}
