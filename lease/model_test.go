package lease

import (
	"bytes"
	"cmp"
	"fmt"
	"hash/maphash"
	"iter"
	"slices"
	"strconv"
	"unsafe"
)

// This file models the protocol with small limits. The model visits every state that the steps of
// processes, network and store can reach.
//
// The functions of protocol.go decide how a record may change. A process may do any step at any
// time, with records that it read long ago. At each step, its clock may show any tick. No deadline
// protects an owner. A process that does no step is paused or dead, and another process may start.
// The store makes a change never, once or twice, at any later time. The answer may be lost.
//
// A process may be cloned. Then both processes are in an overlap: they may use the same ticks. A
// process leaves the overlap when its next request is answered.
//
// The model checks two rules. Outside of overlaps, no tick is used twice by one node ID, or by a
// node ID and a part of it. No block is whole inside a whole block.

// The model has three blocks: a node ID of 1 bit, which this file calls the whole block, and its
// two halves.
const (
	mWhole = iota
	mLeft
	mRight
)

var mBlocks = [3]Block{{0, 1}, {0, 2}, {1, 2}}

// The variant sound is this protocol. Each other variant has a fault that TestModelFinds describes.
type variant int

const (
	sound variant = iota
	ttl
	blindExtend
	storeForgets
	mergeNotStored
	mergeUnwritten
	parentFirst
	hwmIgnored
	generationBefore
	floorAlone
	releaseRunning
	silenceIsGrant
	nonceBelieved
	nonceRepeated
	believedAndRepeated
	releaseByOwner
	windowKept
	hwmForgotten
	hwmInUnsplit
)

// An mRec is a record without the deadline, which the model ignores. Only models with clones have
// nonces. A process uses the same nonce for all its requests, so it knows less than in reality.
type mRec struct {
	revision, hwm int8
	state         State
	owner, nonce  int8
}

var unknown = mRec{revision: -1}

func (m mRec) record(b int8) Record {
	return Record{Block: mBlocks[b], Revision: uint64(m.revision), HWM: int64(m.hwm),
		State: m.state, Owner: Owner{byte(m.owner)}, Request: uint64(m.nonce)}
}

func fromRecord(r Record) mRec {
	return mRec{int8(r.Revision), int8(r.HWM), r.State, int8(r.Owner[0]), int8(r.Request)}
}

func stored(r Record) mRec {
	m := fromRecord(r)
	m.revision++
	return m
}

// A change is one compare-and-set on its way, or two together: the whole block, then a half.
type change struct {
	gen, block int8
	prev, next mRec
	blind      bool

	two                  bool
	firstPrev, firstNext mRec
}

var noChange = change{block: -1}

func (c change) String() string {
	if c.two {
		first := c
		first.block, first.prev, first.next, first.two = mWhole, c.firstPrev, c.firstNext, false
		c.two = false
		return first.String() + ", and " + c.String()
	}
	return fmt.Sprintf("%v from %v, hwm %d, revision %d, to %v, hwm %d, owner %d",
		mBlocks[c.block], c.prev.state, c.prev.hwm, c.prev.revision, c.next.state, c.next.hwm,
		c.next.owner)
}

type stage int8

const (
	idle       stage = iota
	prepared         // it will next ask for a grant
	unanswered       // it has asked for a grant, and got no answer
	refused          // the store has refused the grant: the process must still read why
	granted          // the grant was made: the process must still read the generation
	closing          // the generator has stopped, and the block is not yet released
	over
)

type overlap int8

const (
	single  overlap = iota
	cloned          // it was cloned, or is a clone
	settles         // it has since made a request
)

type mProc struct {
	id, gen int8
	stage   stage
	owner   int8 // the owner of its block: its id or, in a clone, the id of the original

	mem       [3]mRec // the last records that it read or wrote
	ordered   [3]bool // the whole block was seen Split after this half was read
	rewritten [3]bool // this half was written Retired after the whole block was seen

	ask    change
	askLo  int8
	unsure bool // the request was sent before, but not answered

	overlap overlap

	held   int8
	rec    mRec
	heldLo int8

	win, winLo, winHi int8 // the generator's window; win -1: none
	used              int8

	believes bool // variant ttl: it believes that it has the block
}

func (p *mProc) forget() {
	for b := range p.mem {
		p.mem[b] = unknown
	}
	p.ordered, p.rewritten = [3]bool{}, [3]bool{}
}

func (p *mProc) learn(b int8, r mRec, written bool) {
	p.mem[b] = r
	whole := p.mem[mWhole]
	if b == mWhole {
		for h := mLeft; h <= mRight; h++ {
			p.ordered[h] = r != unknown && r.state == Split && p.mem[h] != unknown
			p.rewritten[h] = false
		}
		return
	}
	p.ordered[b] = false
	p.rewritten[b] = written && r.state == Retired && whole != unknown && (whole.state == Merging ||
		whole.state == Split)
}

func (p *mProc) known(b int8) (Record, bool) {
	return p.mem[b].record(b), p.mem[b] != unknown
}

func (p *mProc) grant() {
	p.owner = p.ask.next.owner
	p.held, p.rec, p.heldLo = p.ask.block, p.ask.next, p.askLo
	p.win, p.winLo, p.winHi = p.held, p.heldLo, p.rec.hwm
	p.settled()
}

func (p *mProc) lose() {
	p.held, p.rec, p.heldLo = -1, mRec{}, 0
	p.settled()
}

func (p *mProc) withdraw() { p.win, p.winLo, p.winHi = -1, 0, 0 }

func (p *mProc) settled() {
	p.stage, p.ask, p.askLo, p.unsure = idle, noChange, 0, false
	if p.overlap == settles {
		p.overlap = single
	}
	p.forget()
}

type copied int8

const (
	notCopied copied = iota
	wasCopied
	restored
)

// An mState is hashed, so every field has one byte.
type mState struct {
	recs   [2][3]mRec
	gen    int8
	floor  int8
	copied copied // whether the store was copied, and whether the copy was restored
	copy   [3]mRec
	top    int8 // the highest hwm stored since the copy was made
	forgot bool
	time   int8
	procs  [3]mProc
	net    [2]change
	cloned bool
	issued [2]uint8 // the used ticks of each half, outside of overlaps
	twice  bool
}

func (s *mState) use(b, tick int8) {
	for h := range s.issued {
		if b == mWhole || int(b) == h+1 {
			s.twice = s.twice || s.issued[h]&(1<<tick) != 0
			s.issued[h] |= 1 << tick
		}
	}
}

func (s *mState) bytes() []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(s)), unsafe.Sizeof(*s))
}

func (p *mProc) bytes() []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(p)), unsafe.Sizeof(*p))
}

// dead is the identity of all dead processes.
const dead = 9

type model struct {
	variant   variant
	procs     int // 0: 2
	ticks     int8
	windows   int64 // the longest window in ticks; 0: 1
	revisions int8  // the last revision of a record; 0: no limit
	net       int   // how many changes can be late at a time
	halves    bool
	fence     bool
	release   bool
	clones    cloning
	together  bool // one change may divide the whole block and grant a half

	search[mState]
}

type cloning int

const (
	never cloning = iota
	anywhere
	unsent // between the preparation of a request and its sending; no answer is lost
)

// visit visits the states that the model can reach.
func (m *model) visit() (states int, trace []string) {
	m.procs, m.windows = cmp.Or(m.procs, 2), cmp.Or(m.windows, 1)
	m.start, m.next, m.violation, m.canonical = m.begin, m.steps, m.wrongIn, m.simpler
	m.hash = func(seed maphash.Seed, s *mState) uint64 { return maphash.Bytes(seed, s.bytes()) }
	return m.run()
}

func (m *model) begin() *mState {
	s := &mState{net: [2]change{noChange, noChange}}
	for i := range s.procs {
		s.procs[i] = boot(s, int8(i+1))
		if i >= m.procs || m.clones != never && i == m.procs-1 {
			s.procs[i].stage = over
		}
	}
	return s
}

func boot(s *mState, id int8) mProc {
	p := mProc{id: id, owner: id, gen: s.gen, ask: noChange, held: -1, win: -1, used: -1}
	p.forget()
	return p
}

func (m *model) step(s *mState, change func(s *mState), what string, args ...any) {
	next := *s
	change(&next)
	m.add(&next, 0, what, args...)
}

func (m *model) steps(s *mState) {
	m.arrive(s)
	m.copyStore(s)
	m.restoreCopy(s)
	m.passTime(s)
	for i := range m.procs {
		turn{m, s, &s.procs[i], i}.steps()
	}
	m.clone(s)
}

func (m *model) arrive(s *mState) {
	for i := range m.net {
		if c := s.net[i]; c.block >= 0 {
			next := *s
			next.net[i] = noChange
			ok := m.apply(&next, &c)
			m.add(&next, 0, "late: %v: %v", &c, ok)
		}
	}
}

func (m *model) copyStore(s *mState) {
	if m.fence && s.copied == notCopied {
		m.step(s, func(s *mState) { s.copied, s.copy, s.top = wasCopied, s.recs[0], 0 },
			"the store is copied")
	}
}

func (m *model) restoreCopy(s *mState) {
	if !m.fence || s.copied != wasCopied {
		return
	}
	m.step(s, func(s *mState) {
		s.recs[0], s.copy, s.copied, s.floor, s.top = s.copy, [3]mRec{}, restored, s.top, 0
		if m.variant != floorAlone {
			s.gen = 1
			m.carry(s)
		}
	}, "the copy is restored; fenced at %d", s.top)
}

func (m *model) passTime(s *mState) {
	if m.variant == ttl && s.time < m.ticks-1 {
		m.step(s, func(s *mState) { s.time++ }, "the time is %d", s.time+1)
	}
}

func (m *model) clone(s *mState) {
	if m.clones == never || s.cloned {
		return
	}
	last := m.procs - 1
	for i := range last {
		if s.procs[i].stage == over {
			continue
		}
		m.step(s, func(s *mState) {
			s.procs[i].overlap = cloned
			id := s.procs[last].id
			s.procs[last], s.cloned = s.procs[i], true
			s.procs[last].id = id
		}, "%d: becomes a copy of %d", s.procs[last].id, s.procs[i].id)
	}
}

func (m *model) carry(s *mState) {
	var old []Record
	for b := range mBlocks {
		old = append(old, s.recs[0][b].record(int8(b)))
	}
	for _, r := range carryOver(old, int64(s.floor)) {
		if m.variant == hwmForgotten || m.variant == hwmInUnsplit && r.State == Split {
			continue
		}
		r.Revision = 1
		s.recs[1][slices.Index(mBlocks[:], r.Block)] = fromRecord(r)
	}
}

func (m *model) apply(s *mState, c *change) bool {
	matches := func(is, prev mRec) bool { return is.revision == prev.revision && is.hwm == prev.hwm }
	r, whole := &s.recs[c.gen][c.block], &s.recs[c.gen][mWhole]
	if !c.blind && !matches(*r, c.prev) || c.two && !matches(*whole, c.firstPrev) {
		return false
	}
	*r = c.next
	if c.two {
		*whole = c.firstNext
	}
	if m.fence && s.copied == wasCopied {
		s.top = max(s.top, c.next.hwm)
	}
	return true
}

// A turn is a process that may do one step in a state.
type turn struct {
	m *model
	s *mState
	p *mProc // in s
	i int    // its number
}

func (t turn) steps() {
	t.restart()
	switch {
	case t.p.stage == over:
		return
	case t.m.variant == ttl:
		t.takeForATime()
		t.useTickInTime()
		return
	}
	t.useTick()
	t.close()
	switch t.p.stage {
	case idle:
		if t.p.held >= 0 {
			t.extend()
		} else {
			t.acquire()
		}
	case prepared:
		t.sendAsk(t.p.ask, t.p.askLo, "asks")
	case unanswered:
		t.believeSilence()
		t.ask(t.p.ask, t.p.askLo, "asks again")
	case refused:
		t.readRefusal()
	case granted:
		t.readGeneration()
	case closing:
		t.release()
	}
}

func (t turn) acquire() {
	t.readAndTake(mWhole)
	if !t.m.halves {
		return
	}
	t.readAndTake(mLeft)
	t.readAndTake(mRight)
	if whole, ok := t.p.known(mWhole); ok {
		t.split(whole)
		t.reviveAndSplit()
		t.beginMerge(whole)
		t.giveUpMerge(whole)
		if t.m.variant == mergeNotStored && whole.State == Split {
			whole.State = Merging // for the next steps
		}
		if whole.State == Merging {
			t.retireHalves()
			t.takeJoined(whole)
		}
	}
}

func (t turn) do(change func(p *mProc), what string, args ...any) {
	next := *t.s
	change(&next.procs[t.i])
	t.add(&next, what, args...)
}

func (t turn) add(next *mState, what string, args ...any) {
	t.m.add(next, t.p.id, what, args...)
}

func (t turn) restart() {
	if t.m.clones != never { // with clones there would be too many owners
		return
	}
	next := *t.s
	next.bury(t.i)
	next.procs[t.i] = boot(t.s, t.p.id)
	t.add(&next, "ends, and another begins")
}

func (t turn) useTick() {
	p := t.p
	if p.win < 0 {
		return
	}
	for tick := max(p.used+1, p.winLo); tick < p.winHi; tick++ {
		next := *t.s
		next.procs[t.i].used = tick
		if p.overlap == single {
			next.use(p.win, tick)
		}
		t.add(&next, "uses tick %d of %v", tick, &mBlocks[p.win])
	}
}

func (t turn) close() {
	p := t.p
	if p.stage == closing || !t.m.release || p.held < 0 && p.stage == idle {
		return
	}
	// The process may hold the block that it has asked for, or the block that it held before.
	held, asked, gen, b, lo := p.rec, mRec{}, p.gen, p.held, p.heldLo
	if p.stage != idle && p.stage != prepared {
		held, asked, gen, b, lo = p.ask.prev, p.ask.next, p.ask.gen, p.ask.block, p.askLo
		if held.owner != p.owner || p.stage == granted {
			held = mRec{}
		}
		if p.stage != granted && !p.unsure {
			asked = mRec{}
		}
	}
	t.do(func(p *mProc) {
		if p.settled(); b < 0 {
			p.stage = over
			return
		}
		p.held, p.gen, p.heldLo, p.rec, p.ask.next = b, gen, lo, held, asked
		p.stage = closing
		if t.m.variant != releaseRunning {
			p.withdraw()
		}
	}, "closes")
}

func (t turn) believeSilence() {
	if t.m.variant == silenceIsGrant {
		t.do((*mProc).grant, "takes a missing answer for a grant")
	}
}

func (t turn) readRefusal() {
	p, m := t.p, t.m
	believed := p.unsure || m.variant == nonceBelieved || m.variant == believedAndRepeated
	if believed && t.s.recs[p.ask.gen][p.ask.block] == p.ask.next {
		t.do(func(p *mProc) { p.stage = granted }, "finds its own grant")
		return
	}
	t.do(func(p *mProc) {
		if m.variant != windowKept {
			p.withdraw()
		}
		p.lose()
	}, "finds that it was too late")
}

func (t turn) readGeneration() {
	switch {
	case t.m.variant == floorAlone && t.p.askLo < t.s.floor:
		t.do((*mProc).lose, "finds that the grant is below the floor")
	case t.s.gen == t.p.gen || t.m.variant == generationBefore:
		t.do((*mProc).grant, "has the grant")
	default:
		t.do(func(p *mProc) { p.lose(); p.gen = t.s.gen }, "finds that the realm was fenced")
	}
}

func (t turn) release() {
	p, b := t.p, t.p.held
	r, ok := p.known(b)
	if !ok {
		t.read(b)
		return
	}
	held := p.rec.record(b)
	if asked := p.ask.next.record(b); r == asked {
		held = asked
	}
	if t.m.variant == releaseByOwner && r.Owner == (Owner{byte(p.owner)}) {
		held = r
	}
	r.From, held.From = int64(p.heldLo), int64(p.heldLo)
	next, err := release(r, held, int64(p.used))
	if err != nil {
		t.do(func(p *mProc) { p.stage = over }, "has nothing to release")
		return
	}
	t.write(b, next, "releases")
}

func (t turn) extend() {
	p := t.p
	for q := range t.requests() {
		r, err := q.extend(p.rec.record(p.held))
		if err != nil || int8(r.HWM) == p.rec.hwm {
			continue
		}
		c := change{gen: p.gen, block: p.held, prev: p.rec, next: stored(r)}
		if t.m.variant == blindExtend {
			c.blind, c.next.revision = true, t.s.recs[p.gen][p.held].revision+1
		}
		t.ask(c, p.heldLo, "extends")
	}
}

func (t turn) read(b int8) {
	t.do(func(p *mProc) { p.learn(b, t.s.recs[p.gen][b], false) }, "reads %v", &mBlocks[b])
}

func (t turn) readAndTake(b int8) {
	t.read(b)
	r, ok := t.p.known(b)
	if !ok {
		return
	}
	if r.State == Whole {
		t.take(b, r)
	}
	if whole, ok := t.revived(b); ok {
		t.take(b, whole)
	}
}

// take asks for a grant of a block that is whole, or that the grant makes whole.
func (t turn) take(b int8, whole Record) {
	for q := range t.requests() {
		if next, err := q.grant(whole); err == nil {
			t.ask(change{gen: t.p.gen, block: b, prev: t.p.mem[b], next: stored(next)},
				int8(next.From), "takes")
		}
	}
}

func (t turn) split(whole Record) {
	if next, err := split(whole, 0); err == nil {
		t.write(mWhole, next, "splits")
		t.divide(whole)
	}
}

func (t turn) reviveAndSplit() {
	whole, ok := t.revived(mWhole)
	if !ok {
		return
	}
	t.divide(whole)
	if next, err := split(whole, 0); err == nil {
		t.write(mWhole, next, "revives and splits")
	}
}

func (t turn) divide(whole Record) {
	parent, err := split(whole, 0)
	if err != nil || !t.m.together {
		return
	}
	p := t.p
	for h := int8(mLeft); h <= mRight; h++ {
		r, ok := p.known(h)
		half, err := revive(r, parent)
		if err != nil || !ok {
			continue
		}
		for q := range t.requests() {
			if next, err := q.grant(half); err == nil {
				t.ask(change{gen: p.gen, block: h, prev: p.mem[h], next: stored(next), two: true,
					firstPrev: p.mem[mWhole], firstNext: stored(parent)}, int8(next.From),
					"divides the block and takes a half")
			}
		}
	}
}

func (t turn) beginMerge(whole Record) {
	if next, err := merge(whole); err == nil && t.m.variant != mergeNotStored {
		t.write(mWhole, next, "begins to merge")
	}
}

func (t turn) giveUpMerge(whole Record) {
	if next, err := resplit(whole); err == nil {
		t.write(mWhole, next, "gives up merging")
	}
}

func (t turn) retireHalves() {
	for h := int8(mLeft); h <= mRight; h++ {
		r, ok := t.p.known(h)
		if next, err := retire(r, 0); err == nil && ok && !t.p.rewritten[h] {
			t.write(h, next, "retires")
		}
	}
}

func (t turn) takeJoined(whole Record) {
	left, ok1 := t.p.known(mLeft)
	right, ok2 := t.p.known(mRight)
	ready := t.p.rewritten[mLeft] && t.p.rewritten[mRight]
	if t.m.variant == mergeUnwritten {
		ready = ok1 && ok2
	}
	if joined, err := join(whole, left, right); err == nil && ready {
		t.take(mWhole, joined)
	}
}

func (t turn) revived(b int8) (Record, bool) {
	p, parent := t.p, Record{State: Split}
	if p.gen == 1 {
		parent.HWM = int64(t.s.floor)
	}
	if b != mWhole {
		var ok bool
		if parent, ok = p.known(mWhole); !ok || !p.ordered[b] && t.m.variant != parentFirst {
			return Record{}, false
		}
	}
	if t.m.variant == hwmIgnored {
		parent.HWM = 0
	}
	r, ok := p.known(b)
	whole, err := revive(r, parent)
	return whole, ok && err == nil
}

func (t turn) requests() iter.Seq[request] {
	q := request{owner: Owner{byte(t.p.id)}, lead: int64(t.m.ticks)}
	if t.p.held >= 0 {
		q.owner[0] = byte(t.p.owner)
	}
	v := t.m.variant
	if t.m.clones != never && v != nonceRepeated && v != believedAndRepeated {
		q.nonce = uint64(t.p.id)
	}
	return func(yield func(request) bool) {
		for q.window = 1; q.window <= t.m.windows; q.window++ {
			for now := range int64(t.m.ticks) {
				if q.now, q.at = now, now; !yield(q) {
					return
				}
			}
		}
	}
}

func (t turn) ask(c change, lo int8, what string) {
	if t.m.clones != unsent {
		t.sendAsk(c, lo, what)
		return
	}
	t.do(func(p *mProc) {
		p.ask, p.askLo, p.stage = c, lo, prepared
		p.forget()
	}, "is about to ask: %v", &c)
}

func (t turn) sendAsk(c change, lo int8, what string) {
	t.send(c, what, func(p *mProc, answered, ok bool) {
		if p.overlap == cloned && (p.stage == idle || p.stage == prepared) {
			p.overlap = settles
		}
		p.ask, p.askLo = c, lo
		p.forget()
		switch {
		case !answered:
			p.stage, p.unsure = unanswered, true
		case ok:
			p.stage = granted
		default:
			p.stage = refused
		}
	})
}

func (t turn) write(b int8, next Record, what string) {
	c := change{gen: t.p.gen, block: b, prev: t.p.mem[b], next: stored(next)}
	t.send(c, what, func(p *mProc, answered, ok bool) {
		switch {
		case !ok || !answered:
			p.learn(b, unknown, false)
		case p.stage == closing:
			p.stage = over
		default:
			p.learn(b, c.next, true)
		}
	})
}

// If no answer is lost, only the first outcome can happen.
var outcomes = []struct {
	made, answered, late bool
	how                  string
}{
	{made: true, answered: true},
	{made: true, how: "carried out, no answer"},
	{how: "lost"},
	{late: true, how: "under way, no answer"},
	{made: true, answered: true, late: true, how: ", and a duplicate is under way"},
	{made: true, late: true, how: "carried out, no answer, and a duplicate is under way"},
}

// send tries all outcomes of a change, and calls the function with each answer.
func (t turn) send(c change, what string, then func(p *mProc, answered, ok bool)) {
	m := t.m
	if m.revisions > 0 && max(c.next.revision, c.firstNext.revision) > m.revisions ||
		c.next.hwm > m.ticks {
		return
	}
	free := slices.IndexFunc(t.s.net[:m.net], func(c change) bool { return c.block < 0 })
	for i, o := range outcomes {
		if o.late && free < 0 || m.clones == unsent && i > 0 {
			continue
		}
		next := *t.s
		ok := o.made && m.apply(&next, &c)
		if o.late {
			next.net[free] = c
		}
		then(&next.procs[t.i], o.answered, ok)
		answer := ""
		if o.answered {
			answer = strconv.FormatBool(ok)
		}
		t.add(&next, "%s: %v: %s%s", what, &c, answer, o.how)
	}
	if m.variant == storeForgets && !t.s.forgot {
		next := *t.s
		if m.apply(&next, &c) {
			next.recs, next.forgot = t.s.recs, true
			then(&next.procs[t.i], true, true)
			t.add(&next, "%s: %v: true, and then forgotten", what, &c)
		}
	}
}

// Variant ttl is another protocol, with exact clocks. A process has a block for one tick. Each
// heartbeat extends this time. The generator continues until a late heartbeat shows that the block
// is lost.

func (t turn) takeForATime() {
	r, time := t.s.recs[0][mWhole], t.s.time // hwm is the deadline
	next := *t.s
	whole, p := &next.recs[0][mWhole], &next.procs[t.i]
	switch {
	case !p.believes && (r.owner == 0 || time >= r.hwm):
		*whole = mRec{revision: r.revision + 1, hwm: time + 1, state: Whole, owner: p.id}
		p.believes = true
		t.add(&next, "takes the block")
	case p.believes && r.owner == p.id:
		whole.hwm = time + 1
		t.add(&next, "heartbeat")
	case p.believes:
		p.believes = false
		t.add(&next, "heartbeat, but too late")
	}
}

func (t turn) useTickInTime() {
	if t.p.believes && t.s.time > t.p.used {
		next := *t.s
		next.procs[t.i].used = next.time
		next.use(mLeft, next.time)
		t.add(&next, "uses tick %d", next.time)
	}
}

func (m *model) wrongIn(s *mState) string {
	if s.twice {
		return "a tick was used twice"
	}
	r := &s.recs[s.gen] // an ended generation does not matter
	whole, left, right := r[mWhole].state, r[mLeft].state, r[mRight].state
	if m.variant == sound && (left != Retired || right != Retired) && whole != Split &&
		whole != Merging {
		return fmt.Sprintf("the block is %v, and its halves are %v and %v", whole, left, right)
	}
	return ""
}

func (s *mState) owners(f func(id *int8)) {
	three := func(rs *[3]mRec) {
		for b := range rs {
			f(&rs[b].owner)
		}
	}
	change := func(c *change) {
		for _, r := range [...]*mRec{&c.prev, &c.next, &c.firstPrev, &c.firstNext} {
			f(&r.owner)
		}
	}
	three(&s.recs[0])
	three(&s.recs[1])
	three(&s.copy)
	for i := range s.net {
		change(&s.net[i])
	}
	for i := range s.procs {
		p := &s.procs[i]
		three(&p.mem)
		change(&p.ask)
		f(&p.rec.owner)
		f(&p.owner)
	}
}

func (s *mState) bury(i int) {
	gone := s.procs[i].id
	s.owners(func(id *int8) {
		if *id == gone {
			*id = dead
		}
	})
}

// canonical replaces s by an equivalent state, so that there are fewer states to visit.
func (m *model) simpler(s *mState) {
	if m.variant != sound || m.clones != never {
		return
	}
	for g := range int8(2) {
		if m.fence && g == 0 && s.copied != restored {
			continue
		}
		for b := range int8(3) {
			newView(m, s, g, b).rebase(s)
		}
	}
	if s.net[0].block < 0 {
		s.net[0], s.net[1] = s.net[1], s.net[0]
	}
	for i := range s.procs {
		s.dropUnused(i)
	}
	s.sort(m.procs)
}

// A view is a stored record. Its copies in messages and processes are compared with it. The
// revisions of a record only grow, except when a copy of the store is restored. So a change based
// on any past revision will be refused. In a record that is never restored, only the order of
// revisions matters.
type view struct {
	gen, block int8
	is         mRec
	shift      int8 // the difference between the new revisions and the old ones
}

func newView(m *model, s *mState, gen, block int8) view {
	v := view{gen: gen, block: block, is: s.recs[gen][block]}
	if m.revisions == 0 {
		v.shift = 4 - v.is.revision
	}
	return v
}

func (v *view) late(r *mRec) bool { return r.revision < v.is.revision }

func (v *view) move(rs ...*mRec) {
	for _, r := range rs {
		if *r != unknown {
			r.revision += v.shift
		}
	}
}

// ofChange returns nil if c does not change the view's record.
func (v *view) ofChange(c *change) (prev, next *mRec) {
	switch {
	case c.gen != v.gen:
	case c.block == v.block:
		return &c.prev, &c.next
	case c.two && v.block == mWhole:
		return &c.firstPrev, &c.firstNext
	}
	return nil, nil
}

// rebase gives the record and its copies new revisions, and drops copies that no longer matter.
func (v view) rebase(s *mState) {
	for i := range s.net {
		v.rebaseLate(&s.net[i])
	}
	for i := range s.procs {
		p := &s.procs[i]
		if p.stage == closing {
			v.rebaseClosing(p)
		} else {
			v.rebaseAsk(p)
		}
		v.rebaseHeld(p)
		v.rebaseMemory(p)
	}
	v.move(&s.recs[v.gen][v.block])
}

func (v *view) rebaseLate(c *change) {
	prev, next := v.ofChange(c)
	switch {
	case prev == nil:
	case v.late(prev):
		*c = noChange
	default:
		v.move(prev, next)
	}
}

func (v *view) rebaseClosing(p *mProc) {
	if p.held != v.block || p.gen != v.gen {
		return
	}
	for _, r := range []*mRec{&p.rec, &p.ask.next} {
		if v.late(r) {
			*r = mRec{}
		} else {
			v.move(r)
		}
	}
}

func (v *view) rebaseAsk(p *mProc) {
	prev, next := v.ofChange(&p.ask)
	switch {
	case prev == nil:
	case prev == &p.ask.firstPrev:
		v.move(prev, next)
	case p.stage == granted && v.late(next):
		*prev, next.revision = mRec{}, 0
	case p.stage == granted:
		*prev = mRec{}
		v.move(next)
	case v.late(prev) && *next != v.is: // the change will be refused
		*prev, *next, p.askLo = mRec{}, mRec{}, 0
	default:
		v.move(prev, next)
	}
}

func (v *view) rebaseHeld(p *mProc) {
	switch {
	case p.stage != idle || p.held != v.block || p.gen != v.gen:
	case v.late(&p.rec): // the process can only find that the block is lost
		p.rec.revision = 0
	default:
		v.move(&p.rec)
	}
}

func (v *view) rebaseMemory(p *mProc) {
	r := &p.mem[v.block]
	switch {
	case p.gen != v.gen || *r == unknown:
	case !v.late(r):
		v.move(r)
	case v.block != mWhole && !p.rewritten[v.block] || p.stage == closing:
		p.learn(v.block, unknown, false)
	default:
		// A step on another record can still use this copy.
		r.revision, r.owner = 0, 0
	}
}

func (s *mState) dropUnused(i int) {
	p := &s.procs[i]
	switch p.stage {
	case over:
		s.bury(i)
		*p = mProc{stage: over, id: p.id}
	case closing, idle:
	default:
		p.held, p.rec, p.heldLo = -1, mRec{}, 0
	}
	if max(p.used+1, p.winLo) >= p.winHi {
		p.withdraw()
	}
}

// sort puts the processes into an order that does not depend on their identities.
func (s *mState) sort(n int) {
	nameless := func(p mProc) mProc {
		p.id, p.rec.owner, p.ask.next.owner = 0, 0, 0
		return p
	}
	procs := s.procs[:n]
	slices.SortFunc(procs, func(a, b mProc) int {
		a, b = nameless(a), nameless(b)
		return bytes.Compare(a.bytes(), b.bytes())
	})
	names := [dead + 1]int8{dead: dead}
	for i := range procs {
		names[procs[i].id] = int8(i + 1)
	}
	s.owners(func(id *int8) { *id = names[*id] })
	for i := range procs {
		procs[i].id = int8(i + 1)
	}
}
