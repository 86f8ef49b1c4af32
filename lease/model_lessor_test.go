package lease

import (
	"cmp"
	"fmt"
	"hash/maphash"
	"strings"
	"testing"
	"time"

	"github.com/sortid/sortid/internal/testserver"
)

// This file models lessors and their clients with small limits, as model_test.go models processes
// that take part themselves.
//
// A request of a client is a task. It may be sent again at any time, and the copies come in any
// order. A task is the work of some server: it stops forever at any step, when the request, the
// server or the answer is lost. It does each step at any time, also long after the step before. At
// each step, the store's clock may show any tick. No deadline protects a holder. A change may reach
// the store late, and its answer may be lost. The store can crash and lose what it has not
// confirmed, and it is restored from an old copy and fenced.
//
// Records change only as the functions of protocol.go and lessor_renew.go say.
//
// The model checks two rules. Honest clients never use a tick of a node ID twice, except while they
// are clones. A request gets no second lease while it has the first.

const (
	sClients = 2
	sBlocks  = 2
	sTasks   = 2
)

type lessorVariant int

const (
	right lessorVariant = iota
	undone
	uncheckedGrant
	uncheckedRenewal
	uncheckedRepetition
	firstFromKept
	usedAfterRelease
	readByGetMany
	renewalIgnored
	releaseByOldEnd
	fenceTooShort
	bucketUnwritten
	secretIgnored
	lastTimeBelowFrom
	reclaimedEvicted
	reclaimedClone
	reclaimedTooMuch
)

// An sRec is a record. A lease is the request's number and the revision of its grant.
type sRec struct {
	revision, hwm, from, peak int8
	request, grant            int8 // the owner
	wasRequest, wasGrant      int8 // the former owner
	nonce                     int8
	released                  int8
}

func sOwner(request, grant int8) Owner {
	if request == 0 {
		return Owner{}
	}
	return Owner{byte(request), byte(grant)}
}

func (r sRec) record() Record {
	full := Record{Block: Block{0, 1}, State: Whole, Revision: uint64(r.revision), HWM: int64(r.hwm),
		From: int64(r.from), Peak: int64(r.peak), Owner: sOwner(r.request, r.grant),
		Request: uint64(r.nonce), Released: int64(r.released), Name: "x"}
	if r.request == 0 {
		full.Key = sOwner(r.wasRequest, r.wasGrant)
	}
	if r.nonce != 0 {
		full.Request = sNonces[r.nonce]
	}
	return full
}

func sFrom(r Record, was sRec) sRec {
	s := sRec{revision: was.revision + 1, hwm: int8(r.HWM), from: int8(r.From), peak: int8(r.Peak),
		request: int8(r.Owner[0]), grant: int8(r.Owner[1]), released: int8(r.Released)}
	if s.request == 0 {
		s.wasRequest, s.wasGrant = int8(r.Key[0]), int8(r.Key[1])
	}
	for i, n := range sNonces {
		if n == r.Request && n != 0 {
			s.nonce = int8(i)
		}
	}
	return s
}

// sNonces are the nonces of renewals.
var sNonces = func() (nonces [10]uint64) {
	for i := range nonces {
		if i > 0 {
			nonces[i] = renewal{RenewRequest: RenewRequest{Renewal: fmt.Sprint(i)}}.nonce()
		}
	}
	return nonces
}()

// An sEntry says that a request got a block, with the revision of the grant.
type sEntry struct{ block, revision int8 } // block -1: none

type sStore struct {
	recs    [2][sBlocks]sRec          // of two generations
	entries [2][2*sClients + 1]sEntry // of each request
}

type sKind int8

const (
	noTask sKind = iota
	acquiring
	renewing
	releasing
)

type sStage int8

const (
	sSent   sStage = iota
	sRead          // it has read the record
	sMade          // it has made or found the lease: it must still read the generation
	sAnswer        // the answer is under way
	sGone          // the answer is under way: the lease has ended
)

type sTask struct {
	kind  sKind
	stage sStage
	who   int8 // the client

	request, grant   int8 // the lease; grant is 0 for an acquire
	gen, block       int8
	end, nonce, last int8

	recs   [sBlocks]sRec
	entry  sEntry
	made   sRec
	repeat bool // it has found the lease, and written nothing
	silent bool // a release does not say which tick was the last
}

type sClient struct {
	request    int8 // the present request; 0: over
	life       int8
	grant, gen int8 // its lease; grant 0: none
	block      int8
	from, end  int8
	used       int8
	renewal    int8 // the renewal that is not answered; 0: none
	renewalEnd int8
	sent       int8 // how many renewals it has begun
	cloned     int8 // 1: it uses the same ticks as its clone; 2: its next renewal ends that
	closing    bool
	liar       bool
}

type sState struct {
	sStore
	durable sStore // what a crash leaves
	gen     int8
	floor   int8

	copy    sStore
	copied  copied
	top     int8 // the highest hwm since the copy
	crashed bool
	evicted bool
	isClone bool

	clients [sClients]sClient
	tasks   [sTasks]sTask
	net     sTask // a change that is late; kind noTask: none

	issued [sBlocks]uint8
	twice  bool
	double bool // a request got a second lease
}

type served struct {
	variant   lessorVariant
	ticks     int8
	blocks    int8 // 0: 1
	revisions int8 // 0: 4
	fence     bool
	late      bool // changes may be late
	crash     bool
	clones    bool
	evict     bool
	liar      bool // the last client lies
	thief     bool // somebody releases leases, but does not know their secrets
	release   bool
	reclaim   bool // clients release without their last tick, and somebody reclaims node IDs
	lives     int8 // how many requests a client makes; 0: 1

	search[sState]
}

func (m *served) prepare() {
	m.blocks, m.revisions, m.lives = max(m.blocks, 1), cmp.Or(m.revisions, 4), max(m.lives, 1)
	m.start, m.next, m.violation, m.canonical = m.begin, m.steps, m.wrongIn, m.ordered
	m.hash = func(seed maphash.Seed, s *sState) uint64 { return maphash.Comparable(seed, *s) }
}

func (m *served) begin() *sState {
	s := &sState{}
	for g := range s.entries {
		for i := range s.entries[g] {
			s.entries[g][i].block = -1
		}
	}
	s.durable = s.sStore
	for i := range s.clients {
		s.clients[i] = sClient{request: int8(2*i + 1), used: -1}
	}
	if m.clones {
		s.clients[sClients-1].request = 0 // it becomes the clone
	}
	s.clients[sClients-1].liar = m.liar
	return s
}

// ordered puts the tasks in an order that does not depend on their numbers.
func (m *served) ordered(s *sState) {
	if maphash.Comparable(m.seed, s.tasks[0]) > maphash.Comparable(m.seed, s.tasks[1]) {
		s.tasks[0], s.tasks[1] = s.tasks[1], s.tasks[0]
	}
}

func (m *served) wrongIn(s *sState) string {
	switch {
	case s.twice:
		return "a tick was used twice"
	case s.double:
		return "a request got a second lease"
	}
	return ""
}

func (m *served) do(s *sState, id int8, change func(s *sState), what string, args ...any) {
	next := *s
	change(&next)
	m.add(&next, id, what, args...)
}

func (m *served) terms(window int64) Record {
	return Record{Realm: "r", Terms: Terms{Bits: 1, Tick: 1, Window: window, Lead: int64(m.ticks)}}
}

func (m *served) steps(s *sState) {
	m.storeSteps(s)
	for i := range s.clients {
		m.clientSteps(s, i)
	}
	for i := range s.tasks {
		if s.tasks[i].kind != noTask {
			if m.walking == nil || m.walking.IntN(10) == 0 {
				m.do(s, 0, func(s *sState) { s.tasks[i] = sTask{} }, "task %d is lost", i)
			}
			m.taskSteps(s, i)
		}
	}
}

func (m *served) storeSteps(s *sState) {
	if m.fence && s.copied == notCopied {
		m.do(s, 0, func(s *sState) { s.copied, s.copy, s.top = wasCopied, s.sStore, 0 },
			"the store is copied")
	}
	if m.fence && s.copied == wasCopied {
		m.do(s, 0, func(s *sState) {
			s.sStore, s.copied, s.floor, s.gen = s.copy, restored, s.top, 1
			if m.variant == fenceTooShort {
				s.floor = max(0, s.top-1)
			}
			for b := range s.recs[1] {
				s.recs[1][b].hwm = max(s.floor, s.recs[0][b].hwm)
			}
			s.durable, s.copy, s.top = s.sStore, sStore{}, 0
		}, "the copy is restored and fenced")
	}
	if m.crash && !s.crashed {
		m.do(s, 0, func(s *sState) { s.sStore, s.crashed = s.durable, true }, "the store crashes")
	}
	if n := s.net; n.kind != noTask {
		m.do(s, 0, func(s *sState) { s.net = sTask{}; m.apply(s, &n); s.durable = s.sStore },
			"a late change arrives")
	}
	for b := range m.blocks {
		r := s.recs[s.gen][b]
		if m.evict && !s.evicted && r.request != 0 {
			m.do(s, 0, func(s *sState) {
				next := end(r.record())
				if m.variant == reclaimedEvicted {
					next.Released = 1
				}
				s.recs[s.gen][b], s.evicted = sFrom(next, r), true
				s.durable = s.sStore
			}, "node ID %d is evicted", b)
		}
		if next, err := m.reclaimed(r.record()); m.reclaim && err == nil && next.HWM != int64(r.hwm) {
			m.do(s, 0, func(s *sState) {
				s.recs[s.gen][b] = sFrom(next, r)
				s.durable = s.sStore
			}, "node ID %d is reclaimed: it has %d", b, next.HWM)
		}
	}
}

// reclaimed reclaims a node ID. Clients are at most 0 ticks ahead of the clock when they release.
func (m *served) reclaimed(r Record) (Record, error) {
	ahead := int64(0)
	if m.variant == reclaimedTooMuch {
		ahead = -1
	}
	return reclaim(r, ahead)
}

func (m *served) clientSteps(s *sState, i int) {
	c, id := s.clients[i], int8(i+1)
	if m.clones && i == sClients-1 && !s.isClone && s.clients[0].grant != 0 {
		m.do(s, id, func(s *sState) {
			s.clients[0].cloned = 1
			s.clients[i], s.isClone = s.clients[0], true
		}, "becomes a clone of 1")
	}
	if c.request == 0 {
		return
	}
	// A clone does not repeat a request that was answered: the answer would have the times of the
	// other clone.
	if !c.closing && (c.grant == 0 || !s.isClone) {
		m.send(s, i, sTask{kind: acquiring, request: c.request}, "asks for a lease")
	}
	if c.closing && c.life+1 < m.lives {
		m.do(s, id, func(s *sState) { s.clients[i] = c.anew() }, "begins anew")
	}
	if c.grant == 0 {
		return
	}
	if m.thief {
		m.send(s, i, sTask{kind: releasing, grant: c.grant, gen: c.gen, block: c.block, end: c.end,
			last: -1}, "(somebody else releases its lease)")
	}
	m.clientRenews(s, i)
	m.clientReleases(s, i)
	if c.liar || c.closing && m.variant != usedAfterRelease {
		return
	}
	for tick := max(c.from, c.used+1); tick < c.end; tick++ {
		m.do(s, id, func(s *sState) {
			s.clients[i].used = tick
			if c.cloned == 0 {
				s.twice = s.twice || s.issued[c.block]&(1<<tick) != 0
				s.issued[c.block] |= 1 << tick
			}
		}, "uses tick %d of node ID %d", tick, c.block)
	}
}

// anew returns the client with another request.
func (c sClient) anew() sClient {
	return sClient{request: c.request + 1, life: c.life + 1, used: -1, liar: c.liar}
}

func (m *served) send(s *sState, i int, t sTask, what string) {
	t.who = int8(i)
	for j := range s.tasks {
		if s.tasks[j].kind == noTask {
			m.do(s, int8(i+1), func(s *sState) { s.tasks[j] = t }, "%s, task %d", what, j)
			return
		}
	}
}

func (m *served) clientRenews(s *sState, i int) {
	c := s.clients[i]
	t := sTask{kind: renewing, request: c.request, grant: c.grant, gen: c.gen, block: c.block,
		end: c.end, nonce: c.renewal}
	switch {
	case c.closing:
		return
	case c.renewal != 0:
		t.end = c.renewalEnd
		m.send(s, i, t, "renews again")
	case c.sent < 2:
		t.nonce = int8(4*i) + c.sent + 1
		next := *s
		n := &next.clients[i]
		n.sent++
		n.renewal, n.renewalEnd = t.nonce, t.end
		if n.cloned == 1 {
			n.cloned = 2
		}
		m.send(&next, i, t, "renews")
		if !c.liar {
			return
		}
		for end := int8(1); end <= m.ticks; end++ {
			t.end = end
			m.send(&next, i, t, "renews and lies")
		}
	}
}

func (m *served) clientReleases(s *sState, i int) {
	c := s.clients[i]
	if !m.release {
		return
	}
	lasts := []int8{c.used}
	if c.liar {
		lasts = nil
		for last := range m.ticks + 1 {
			lasts = append(lasts, last-1)
		}
	}
	for _, last := range lasts {
		next := *s
		next.clients[i].closing = true
		t := sTask{kind: releasing, request: c.request, grant: c.grant, gen: c.gen,
			block: c.block, end: c.end, last: last}
		m.send(&next, i, t, fmt.Sprintf("releases after tick %d", last))
		if t.silent = true; m.reclaim {
			m.send(&next, i, t, fmt.Sprintf("releases, and does not tell its last tick %d", last))
		}
	}
}

func (m *served) taskSteps(s *sState, i int) {
	t := s.tasks[i]
	switch t.stage {
	case sSent:
		m.read(s, i)
	case sRead:
		switch t.kind {
		case acquiring:
			m.acquire(s, i)
		case renewing:
			m.renew(s, i)
		case releasing:
			m.release1(s, i)
		}
	case sMade:
		m.check(s, i)
	case sAnswer, sGone:
		m.answer(s, i)
	}
}

// read reads the realm, which may be remembered, and then the records.
func (m *served) read(s *sState, i int) {
	t := s.tasks[i]
	first := t.gen
	if t.kind == acquiring {
		first = 0
	}
	for gen := first; gen <= max(first, s.gen); gen++ {
		if t.kind != acquiring && gen != t.gen {
			// The lease is of another generation than the realm.
			m.do(s, 0, func(s *sState) { s.tasks[i].stage = sGone }, "task %d: the realm was fenced", i)
			continue
		}
		m.do(s, 0, func(s *sState) {
			t := &s.tasks[i]
			t.gen, t.stage = gen, sRead
			t.recs = s.recs[gen]
			t.entry = s.entries[gen][t.request]
		}, "task %d reads generation %d", i, gen)
	}
}

func (m *served) acquire(s *sState, i int) {
	t := s.tasks[i]
	if e := t.entry; e.block >= 0 {
		m.repeat(s, i, e)
		return
	}
	for b := range m.blocks {
		for q := range m.requests() {
			q.owner = sOwner(t.request, t.recs[b].revision+1)
			next, err := q.grant(t.recs[b].record())
			if err != nil {
				continue
			}
			m.change(s, i, b, next, "takes")
		}
	}
}

func (m *served) requests() func(yield func(q request) bool) {
	return func(yield func(q request) bool) {
		for window := int64(1); window <= 2; window++ {
			for now := range int64(m.ticks) {
				if !yield(request{now: now, at: now, window: window, lead: int64(m.ticks), name: "x"}) {
					return
				}
			}
		}
	}
}

func (m *served) repeat(s *sState, i int, e sEntry) {
	t := s.tasks[i]
	m.do(s, 0, func(s *sState) {
		r := s.recs[t.gen][e.block]
		if m.variant == readByGetMany {
			r = t.recs[e.block]
		} else {
			s.durable = s.sStore // Get returns what no crash can undo
		}
		if r.request == t.request && r.grant == e.revision {
			m.made(s, i, e.block, r, true)
		} else {
			s.tasks[i].stage = sGone
		}
	}, "task %d finds its lease, or what became of it", i)
}

func (m *served) made(s *sState, i int, b int8, r sRec, repeat bool) {
	t := &s.tasks[i]
	t.stage, t.block, t.made, t.repeat = sMade, b, r, repeat
	t.recs, t.entry = [sBlocks]sRec{}, sEntry{}
}

// change asks the store to replace the record that the task has read.
func (m *served) change(s *sState, i int, b int8, next Record, what string) {
	t := s.tasks[i]
	was := t.recs[b]
	c := t
	c.block, c.made = b, sFrom(next, was)
	if c.made.hwm > m.ticks || c.made.revision > m.revisions {
		return
	}
	c.recs = [sBlocks]sRec{was}
	apply := func(s *sState) {
		if m.apply(s, &c) {
			m.made(s, i, b, c.made, false)
		} else {
			s.tasks[i] = sTask{kind: t.kind, who: t.who, request: t.request, grant: t.grant,
				gen: t.gen, block: t.block, end: t.end, nonce: t.nonce, last: t.last,
				silent: t.silent}
		}
	}
	m.do(s, 0, func(s *sState) { apply(s); s.durable = s.sStore },
		"task %d %s node ID %d up to %d", i, what, b, c.made.hwm)
	if m.crash {
		// The change is visible, but the store has not confirmed it yet.
		m.do(s, 0, func(s *sState) { m.apply(s, &c); s.tasks[i] = sTask{} },
			"task %d %s node ID %d up to %d, no answer yet", i, what, b, c.made.hwm)
	}
	if m.late && s.net.kind == noTask {
		m.do(s, 0, func(s *sState) { s.net = c; s.tasks[i] = sTask{} },
			"task %d %s node ID %d up to %d, late and without an answer", i, what, b, c.made.hwm)
	}
}

func (m *served) apply(s *sState, c *sTask) bool {
	r := &s.recs[c.gen][c.block]
	if r.revision != c.recs[0].revision || r.hwm != c.recs[0].hwm {
		return false
	}
	if c.kind == acquiring {
		e := &s.entries[c.gen][c.request]
		if e.block >= 0 {
			return false // the bucket has changed
		}
		if m.variant != bucketUnwritten {
			*e = sEntry{c.block, c.made.revision}
		}
		for b := range m.blocks {
			if is := s.recs[c.gen][b]; b != c.block && is.request == c.request {
				s.double = true
			}
		}
	}
	*r = c.made
	if m.fence && s.copied == wasCopied {
		s.top = max(s.top, r.hwm)
	}
	return true
}

func (m *served) renewal(t sTask, end int8) renewal {
	r := renewal{RenewRequest: RenewRequest{EndTick: int64(end), Renewal: fmt.Sprint(t.nonce)}}
	r.id.owner = sOwner(t.request, t.grant)
	if m.variant == renewalIgnored {
		r.Renewal = ""
	}
	return r
}

func (m *served) renew(s *sState, i int) {
	t := s.tasks[i]
	if t.end == 0 {
		return
	}
	n := m.renewal(t, t.end)
	for window := int64(1); window <= 2; window++ {
		for now := range int64(m.ticks) {
			at := time.UnixMilli(now)
			is := t.recs[t.block].record()
			next, err := n.next(m.terms(window), is, at)
			if m.variant == renewalIgnored {
				next.Request = is.Request
			}
			if err == nil && next != is {
				m.change(s, i, t.block, next, "renews")
				continue
			}
			// There is nothing to write, so the record must come from Get.
			m.do(s, 0, func(s *sState) {
				r := s.recs[t.gen][t.block]
				if m.variant == readByGetMany {
					r = t.recs[t.block]
				} else {
					s.durable = s.sStore
				}
				is := r.record()
				next, err := n.next(m.terms(window), is, at)
				switch {
				case err == nil && next == is:
					m.made(s, i, t.block, r, true)
				case err == nil: // it reads again
					s.tasks[i].recs = s.recs[t.gen]
				case strings.HasPrefix(err.Error(), ErrLost.Error()):
					s.tasks[i].stage = sGone
				default:
					s.tasks[i] = sTask{}
				}
			}, "task %d writes nothing, at %d", i, now)
		}
	}
}

func (m *served) release1(s *sState, i int) {
	t := s.tasks[i]
	is := t.recs[t.block].record()
	if mine := t.request != 0 && is.Owner == sOwner(t.request, t.grant); !mine &&
		m.variant != secretIgnored {
		m.do(s, 0, func(s *sState) { s.tasks[i] = sTask{} }, "task %d has nothing to release", i)
		return
	}
	r := ReleaseRequest{EndTick: int64(t.end), LastTime: time.UnixMilli(int64(t.last))}
	if m.variant == releaseByOldEnd {
		r.EndTick = 0
	}
	first := int64(0)
	if t.silent {
		// When the release came, the client's last tick was not ahead of the clock.
		r.LastTime, first = time.Time{}, int64(max(0, t.last))
	}
	if m.variant == reclaimedClone {
		r.EndTick = 0
	}
	for now := first; now < int64(m.ticks); now++ {
		next := r.end(m.terms(1).Terms, is, time.UnixMilli(now))
		if m.variant == lastTimeBelowFrom {
			next.HWM = min(is.HWM, int64(t.last)+1)
		}
		m.change(s, i, t.block, next, "releases")
	}
}

func (m *served) check(s *sState, i int) {
	t := s.tasks[i]
	if m.variant == undone && t.kind == acquiring && !t.repeat {
		next := s.recs[t.gen][t.block]
		if next == t.made {
			m.do(s, 0, func(s *sState) {
				r := t.made.record()
				s.recs[t.gen][t.block] = sFrom(end(cut(r, r.From-1)), next)
				s.tasks[i], s.durable = sTask{}, s.sStore
			}, "task %d undoes the grant, because the client has hung up", i)
		}
	}
	if t.kind == releasing {
		m.do(s, 0, func(s *sState) { s.tasks[i] = sTask{} }, "task %d has released", i)
		return
	}
	unchecked := m.variant == uncheckedRepetition && t.repeat ||
		m.variant == uncheckedGrant && !t.repeat && t.kind == acquiring ||
		m.variant == uncheckedRenewal && !t.repeat && t.kind == renewing
	m.do(s, 0, func(s *sState) {
		switch {
		case s.gen == t.gen || unchecked:
			s.tasks[i].stage = sAnswer
		case t.kind == renewing:
			s.tasks[i].stage = sGone
		default:
			s.tasks[i] = sTask{}
		}
	}, "task %d reads the generation again", i)
}

// answer delivers an answer. The task stays, so its answer may come again.
func (m *served) answer(s *sState, i int) {
	t, c := s.tasks[i], s.clients[s.tasks[i].who]
	mine := t.request == c.request && c.request != 0 && !c.closing &&
		(t.kind == acquiring || t.grant == c.grant && t.gen == c.gen)
	if t.kind == acquiring && t.stage == sGone && c.grant != 0 {
		mine = false // the client has the lease, and asks for no other
	}
	if !mine {
		return // as if the answer was lost
	}
	m.do(s, int8(t.who)+1, func(s *sState) {
		c := &s.clients[t.who]
		if t.stage == sGone {
			if m.lives > c.life+1 {
				*c = c.anew()
			} else {
				c.request = 0
			}
			return
		}
		r := t.made
		if c.grant == 0 || r.hwm > c.end {
			if c.grant == 0 || m.variant != firstFromKept {
				c.from = r.from
			}
			c.grant, c.gen, c.block, c.end = r.grant, t.gen, t.block, r.hwm
		}
		if t.kind == renewing && t.nonce == c.renewal {
			c.renewal = 0
			switch {
			case c.cloned == 2 && r.hwm > c.renewalEnd:
				c.cloned = 0
			case c.cloned == 2: // a renewal that does not move the end does not part clones
				c.cloned = 1
			}
		}
	}, "gets the answer of task %d: ticks %d to %d", i, t.made.from, t.made.hwm)
}

// visit visits states by breadth, and then walks at random.
func (m *served) visit(states, walks int) (visited int, trace []string) {
	m.prepare()
	m.limit = states
	if visited, trace = m.run(); trace != nil || visited > 0 {
		return visited, trace
	}
	for seed := range uint64(walks) {
		if trace := m.walk(seed, 60); trace != nil {
			return visited, trace
		}
	}
	return visited, nil
}

func TestModelOfLessors(t *testing.T) {
	for _, c := range []struct {
		name string
		m    served
	}{
		{"acquire", served{ticks: 3, revisions: 3}},
		{"renew", served{ticks: 3, revisions: 4, release: true}},
		{"two node IDs", served{ticks: 2, blocks: 2, revisions: 2, late: true}},
		{"release", served{ticks: 3, revisions: 5, release: true, late: true, lives: 2}},
		{"evict", served{ticks: 3, revisions: 5, release: true, evict: true, lives: 2}},
		{"reclaim", served{ticks: 3, revisions: 6, release: true, reclaim: true, evict: true,
			late: true, lives: 2}},
		{"reclaim and clones", served{ticks: 4, revisions: 5, release: true, reclaim: true,
			clones: true}},
		{"fence", served{ticks: 3, revisions: 3, fence: true, late: true}},
		{"crash", served{ticks: 3, revisions: 3, crash: true}},
		{"clones", served{ticks: 4, revisions: 4, clones: true, release: true}},
		{"a liar", served{ticks: 3, revisions: 5, liar: true, release: true, lives: 2}},
		{"a thief", served{ticks: 3, revisions: 4, thief: true}},
		{"all together", served{ticks: 4, blocks: 2, revisions: 8, fence: true, late: true,
			crash: true, evict: true, liar: true, thief: true, release: true, reclaim: true,
			lives: 2}},
	} {
		t.Run(c.name, func(t *testing.T) {
			states, walks := 50_000, 3_000
			switch {
			case testserver.Soak(t) > 0:
				states, walks = 3_000_000, 300_000
			case testing.Short():
				states, walks = 10_000, 500
			}
			visited, trace := c.m.visit(states, walks)
			t.Logf("%d states", visited)
			if trace != nil {
				t.Error(strings.Join(trace, "\n"))
			}
		})
	}
}

func TestModelFindsInLessors(t *testing.T) {
	const shallow, deep = 400_000, 1000 // how many states to visit before walking
	small := served{ticks: 3, revisions: 3}
	fence := served{ticks: 3, revisions: 3, fence: true}
	for _, c := range []struct {
		name    string
		variant lessorVariant
		states  int
		m       served
	}{
		{"a grant that is undone when the client hangs up", undone, shallow, small},
		{"a grant answered without a look at the generation", uncheckedGrant, shallow, fence},
		{"a renewal answered without a look at the generation", uncheckedRenewal, deep, fence},
		{"a repetition answered without a look at the generation", uncheckedRepetition, deep,
			fence},
		{"a fence that is too short", fenceTooShort, shallow, fence},
		{"a client that keeps the first tick of its first answer", firstFromKept, deep, fence},
		{"a client that makes IDs after it has sent a release", usedAfterRelease, shallow,
			served{ticks: 3, revisions: 3, release: true}},
		{"a repetition answered from GetMany", readByGetMany, shallow,
			served{ticks: 3, revisions: 3, crash: true}},
		{"a renewal that does not part clones", renewalIgnored, deep,
			served{ticks: 4, revisions: 4, clones: true}},
		{"a release by an end that a clone has moved", releaseByOldEnd, deep,
			served{ticks: 4, revisions: 5, clones: true, release: true, lives: 2}},
		{"a grant without an entry in the bucket", bucketUnwritten, shallow,
			served{ticks: 2, blocks: 2, revisions: 2}},
		{"a release without the secret", secretIgnored, shallow,
			served{ticks: 3, revisions: 3, thief: true}},
		{"a last time before the lease", lastTimeBelowFrom, deep,
			served{ticks: 3, revisions: 4, liar: true, release: true, lives: 2}},
		{"a node ID that is reclaimed after an eviction", reclaimedEvicted, deep,
			served{ticks: 4, revisions: 5, evict: true, reclaim: true}},
		{"a node ID that is reclaimed after a release by a clone", reclaimedClone, deep,
			served{ticks: 4, revisions: 6, clones: true, release: true, reclaim: true, lives: 2}},
		{"a node ID that is reclaimed with its last used tick", reclaimedTooMuch, deep,
			served{ticks: 3, revisions: 4, release: true, reclaim: true, lives: 2}},
	} {
		if c.states == deep && testing.Short() {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			c.m.variant = c.variant
			visited, trace := c.m.visit(c.states, 200_000)
			if trace == nil {
				t.Fatalf("%d states, and no wrong state", visited)
			}
			t.Logf("%d states\n%s", visited, strings.Join(trace, "\n"))
		})
	}
}
