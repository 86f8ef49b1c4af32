package lease

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"
)

// MaxRecords is how many records [Known.Check] allows in one generation of a realm. One client can
// write them all. Together they take 20 MB. They suffice for all 32,768 node IDs of 15 bits, or
// about 3,000 random node IDs in the largest realm.
const MaxRecords = 1 << 16

var ErrIllegal = errors.New("lease: the protocol does not allow this change")

// A ChangeError says why the protocol does not allow a change. It matches [ErrIllegal].
type ChangeError struct {
	Index  int
	Reason string
}

func (e *ChangeError) Error() string {
	return fmt.Sprintf("%v: change %d: %s", ErrIllegal, e.Index, e.Reason)
}

func (e *ChangeError) Is(target error) bool { return target == ErrIllegal }

// Evidence returns the blocks that a server must read with GetMany, in this order, to check
// changes. It fails with [ErrIllegal] if the protocol forbids the changes, whatever records the
// store has.
func Evidence(changes []Change) (realm string, blocks []Block, err error) {
	if len(changes) == 0 {
		return "", nil, &ChangeError{0, "the request contains no change"}
	}
	realm = changes[0].Next.Realm
	seen := map[Block]bool{}
	for i, c := range changes {
		reason := malformed(c)
		switch {
		case reason != "":
		case c.Next.Realm != realm:
			reason = "it is of another realm than the first change"
		case seen[c.Next.Block]:
			reason = fmt.Sprintf("%v occurs twice", c.Next.Block)
		}
		if reason != "" {
			return "", nil, &ChangeError{i, reason}
		}
		seen[c.Next.Block] = true
		blocks = append(blocks, c.Next.Block)
	}
	if root := changes[0].Next; root.Block == (Block{}) {
		return root.Realm + "@" + root.Generation, []Block{{0, 1}, {1, 1}}, nil
	}
	for _, c := range changes {
		b := c.Next.Block
		if c.Prev.State == Merging {
			blocks = append(blocks, b.child(0), b.child(1))
		}
		if b.Size > 1 && (c.Prev.State == Retired || c.Next.State == Retired) {
			blocks = append(blocks, b.parent())
		}
	}
	return realm, blocks, nil
}

func malformed(c Change) string {
	next := c.Next
	realm, generation, ofBlock := strings.Cut(next.Realm, "@")
	if !ofBlock {
		generation = next.Generation
	}
	switch {
	case c.Prev.Realm != next.Realm || c.Prev.Block != next.Block:
		return "prev and next are records of different blocks"
	case ofBlock == (next.Block == Block{}):
		return fmt.Sprintf("%.120q has no record of %v: the realm's own record is 0/0 in NAME, "+
			"the records of node IDs are in NAME@GENERATION", next.Realm, next.Block)
	case next.Revision == 0:
		return "the revision of next is 0, want 1 or more"
	case next.Block.Size > MaxBits || next.Block.NodeID >= 1<<next.Block.Size:
		return fmt.Sprintf("%v is not a node ID", next.Block)
	}
	err := cmp.Or(checkRealm(realm), checkGeneration(generation), checkName("name", next.Name))
	if err != nil {
		return err.Error()
	}
	return ""
}

// Known is what a server must know to check changes.
type Known struct {
	// Root is the realm's record, with Revision 0 if there is none.
	Root Record
	// Now is the time of the store's clock or, if the store has no clock, of the server's clock.
	Now time.Time
	// Ahead is how far the clients' time may be ahead of Now: 0 if the store has a clock, otherwise
	// the realm's lead.
	Ahead time.Duration
	// Records are the records of the blocks that [Evidence] returns.
	Records []Record
	// Count is how many records Root's generation has. It matters only for new records.
	Count int
}

// Check reports whether the protocol allows changes, in their order. If so, the caller must make
// them by CompareAndSetMany, with the checked records as Prev.
//
//   - false without an error: another change came first. The client may read again and continue.
//   - An error that matches [ErrIllegal]: no client that follows the protocol asks for this change.
//
// A hostile client can still hold and evict all node IDs, change the terms within the limits of a
// [Config], and store [MaxRecords] records. But it cannot make other clients issue an ID twice, as
// long as Now never decreases:
//
//   - A grant starts at the HWM or above it. It ends no later than Now plus Ahead, the realm's
//     longest window and its longest lead. So it ends below the floor of any later fence with
//     a skew of at least Ahead.
//   - Only a release with the owner's key lowers the HWM, and not below the record's From.
//   - Halves are joined only if their Request shows that both were retired after the merge began.
//   - A generation that a fence has ended gets no new records.
//   - Check refuses a fence, because a hostile client could first put overlapping node IDs into
//     the new generation. So trusted people must fence, at the store itself.
func (k Known) Check(changes []Change) (bool, error) {
	if _, _, err := Evidence(changes); err != nil {
		return false, err
	}
	c := newChecker(k, changes[0].Next)
	for _, change := range changes {
		if !c.stored(change.Next).Matches(change.Prev) {
			return false, nil
		}
	}
	for i, change := range changes {
		err := c.change(c.stored(change.Next), change.Next)
		switch {
		case err == errConflict, err != nil && c.past && c.stored(change.Next).Revision != 0:
			return false, nil
		case err != nil:
			return false, &ChangeError{i, err.Error()}
		}
		c.records[change.Next.Block] = change.Next
	}
	return true, nil
}

var errConflict = errors.New("lease: another change came first")

type checker struct {
	Known
	records      map[Block]Record
	past         bool  // the changes are of an earlier generation
	now          int64 // the latest tick that a client may use as the time
	window, lead int64
}

func newChecker(k Known, next Record) *checker {
	t := k.Root.Terms
	c := &checker{Known: k, records: make(map[Block]Record, len(k.Records)),
		window: max(t.Window, t.MostWindow), lead: max(t.Lead, t.MostLead)}
	for _, r := range k.Records {
		c.records[r.Block] = r
	}
	_, generation, ofBlock := strings.Cut(next.Realm, "@")
	c.past = ofBlock && generation != k.Root.Generation
	if checkTerms(k.Root) == nil {
		c.now = t.At(k.Now.Add(k.Ahead))
	}
	return c
}

func (c *checker) stored(next Record) Record {
	r := c.records[next.Block]
	if next.Block == (Block{}) {
		r = c.Root
	}
	r.Realm, r.Block = next.Realm, next.Block
	return r
}

func (c *checker) change(is, next Record) error {
	if next.Block == (Block{}) {
		return c.changeRoot(is, next)
	}
	switch err := checkTerms(c.Root); {
	case c.Root.Revision == 0:
		return errors.New("there is no such realm")
	case err != nil:
		return err
	case int(next.Block.Size) > c.Root.Terms.Bits:
		return fmt.Errorf("%v has more than the %d bits of the realm's node IDs",
			next.Block, c.Root.Terms.Bits)
	}
	if is.Revision == 0 {
		if c.Count++; c.Count > MaxRecords && !c.past {
			return fmt.Errorf("the realm has %d records, which is the limit", MaxRecords)
		}
	}
	want, err := c.outcome(is, next)
	switch err {
	case nil:
	case errRefused:
		return fmt.Errorf("the block is %v, or is held, so it cannot become %v", is.State,
			next.State)
	case errAhead:
		return errors.New("the grant is too far in the future")
	default:
		return err
	}
	return same(is, want, next)
}

func same(is, want, next Record) error {
	want.Revision = is.Revision + 1
	if want == next {
		return nil
	}
	for _, f := range []struct {
		name      string
		got, want any
	}{
		{"revision", next.Revision, want.Revision},
		{"state", next.State, want.State},
		{"hwm", next.HWM, want.HWM},
		{"from", next.From, want.From},
		{"deadline", next.Deadline, want.Deadline},
		{"request", next.Request, want.Request},
		{"owner", next.Owner, want.Owner},
		{"generation", next.Generation, want.Generation},
		{"terms", next.Terms, want.Terms},
	} {
		if f.got != f.want {
			return fmt.Errorf("the %s is %.120s, want %v", f.name, fmt.Sprint(f.got), f.want)
		}
	}
	return errors.New("the name or the key is wrong")
}

// outcome returns what the record next must be, except for its Revision.
func (c *checker) outcome(is, next Record) (Record, error) {
	switch {
	case c.past && is.Revision == 0:
		return is, errConflict
	case next.State == Merging:
		return merge(is)
	case next.State == Retired:
		return c.retired(is, next)
	case next.State == Split && is.State == Merging && next.HWM == is.HWM:
		return resplit(is)
	case next.Owner != Owner{} && next.Owner == is.Owner:
		return c.extended(is, next)
	case next.State == Whole && is.State == Whole && next.Owner == Owner{}:
		return released(is, next)
	}
	whole, err := c.whole(is)
	switch {
	case err != nil:
		return is, err
	case next.State == Split:
		return split(whole, c.now)
	case next.Owner != Owner{}:
		return c.granted(whole, next)
	}
	return whole, nil
}

func (c *checker) whole(is Record) (Record, error) {
	switch is.State {
	case Retired:
		parent := c.Root
		if is.Block.Size > 1 {
			parent = c.records[is.Block.parent()]
		}
		if parent.State == Merging {
			return is, errConflict
		}
		whole, err := revive(is, parent)
		if err != nil {
			err = fmt.Errorf("the block around %v is %v, want split", is.Block, parent.State)
		}
		return whole, err
	case Merging:
		a, b := c.records[is.Block.child(0)], c.records[is.Block.child(1)]
		if whole, err := join(is, a, b); err == nil && a.Request == is.Revision &&
			b.Request == is.Revision {
			return whole, nil
		}
		return is, errConflict
	case Whole:
		return is, nil
	}
	return is, errRefused
}

func (c *checker) retired(is, next Record) (Record, error) {
	if is.Block.Size == 1 {
		return is, errors.New("it is not part of a larger block, so it cannot be retired")
	}
	parent := c.records[is.Block.parent()]
	if parent.State != Merging || parent.Revision != next.Request {
		return is, errConflict
	}
	if is.State == Merging {
		whole, err := c.whole(is)
		if err != nil {
			return is, err
		}
		is = whole
	}
	r, err := retire(is, c.now)
	r.Request = next.Request
	return r, err
}

func (c *checker) granted(whole, next Record) (Record, error) {
	return c.request(next, func(q request) (Record, error) {
		q.now = min(next.From, c.now) // the latest time that the client can have used
		return q.grant(whole)
	})
}

func (c *checker) extended(is, next Record) (Record, error) {
	return c.request(next, func(q request) (Record, error) {
		q.now = min(q.at, c.now)
		return q.extend(is)
	})
}

// request tries the windows with which a client can get the record next. A grant's deadline is half
// a window after the grant's end. The half is rounded down, so the window has 2*half or 2*half+1
// ticks.
func (c *checker) request(next Record,
	grant func(q request) (Record, error)) (r Record, err error) {
	half := next.Deadline - next.HWM
	if half < 0 || half > c.window/2 {
		return r,
			fmt.Errorf(
				"the deadline is %d ticks after hwm, want at most %d, which is half a window",
				half, c.window/2)
	}
	for w := max(1, 2*half); w <= min(2*half+1, c.window); w++ {
		r, err = grant(request{
			owner: next.Owner, nonce: next.Request, name: next.Name,
			at: next.HWM - w, window: w, lead: c.lead,
		})
		if err == nil && r.HWM == next.HWM && r.From == next.From {
			break
		}
	}
	return r, err
}

func released(is, next Record) (Record, error) {
	switch {
	case is.Owner == Owner{}:
		return is, errRefused
	case next.HWM == is.HWM && next.Key == Owner{}:
		return vacate(is), nil
	case ownerOf(next.Key) != is.Owner:
		return is, errors.New("the key is not the owner's, and only the owner may lower hwm")
	}
	r, err := release(is, is, next.HWM-1)
	r.Key = next.Key
	return r, err
}

func (c *checker) changeRoot(is, next Record) error {
	if err := legalTerms(next.Terms); err != nil {
		return err
	}
	if is.Revision != 0 {
		terms, err := changedTerms(is, next.Terms)
		if err != nil {
			return err
		}
		want := is
		want.Terms = terms
		return same(is, want, next)
	}
	for _, r := range c.records {
		if r.Revision != 0 {
			return errors.New("the generation has been used before")
		}
	}
	return same(is, fenced(is, next.Terms, next.Generation, 0), next)
}

func changedTerms(root Record, next Terms) (Terms, error) {
	if err := checkTerms(root); err != nil {
		return next, err
	}
	var window, lead time.Duration
	if next.Window != root.Terms.Window {
		window = next.Duration(next.Window)
	}
	if next.Lead != root.Terms.Lead {
		lead = next.Duration(next.Lead)
	}
	return root.Terms.with(window, lead)
}

func legalTerms(t Terms) error {
	if err := checkTerms(Record{Terms: t}); err != nil {
		return err
	}
	c := Config{
		Realm: "realm", Format: Format{Bits: t.Bits, Tick: t.Duration(1)}, NodeBits: 1,
		Window: t.Duration(t.Window), MaxLead: t.Duration(t.Lead),
	}
	if err := c.Validate(); err != nil {
		return err
	}
	if y := t.Time(0).Year(); y < 0 || y > 9999 {
		return fmt.Errorf("the epoch is in the year %d, want 0 to 9999", y)
	}
	return nil
}
