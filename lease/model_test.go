package lease

import (
	"bytes"
	"flag"
	"fmt"
	"hash/maphash"
	"slices"
	"strings"
	"testing"
	"unsafe"
)

// This file is an exhaustive model of the protocol at small bounds. It visits every state that
// steps of processes, network and store can reach.
//
// The functions of protocol.go decide how a record may change. A process may do any step at any
// time, with records that it read long ago. At each step it takes any tick as the time. No deadline
// protects an owner. A process that does no step is paused or dead, and another may start. A change
// is made or not, once or twice, at any later time, and its answer may be lost.
//
// A process may be cloned. Then the two overlap: they may use the same ticks. The overlap of each
// ends with the answer to its next request.
//
// Outside of overlaps, no tick may be used twice by one node ID or by overlapping ones. No block
// may be whole inside a whole block.

// The blocks are the whole block, a node ID of 1 bit, and its two halves.
const (
	mWhole = iota
	mLeft
	mRight
)

var mBlocks = [3]Block{{0, 1}, {0, 2}, {1, 2}}

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

// An mRec is a record without the deadline, which the model ignores. Only models with clones have a
// nonce, the same for all requests of a process. So a process knows less here than in reality.
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

const (
	idle     = iota
	drawn    // before it asks for a grant
	pending  // it has asked for a grant, without an answer
	refused  // the store has refused the grant: the process must still read why
	checking // the grant was made: the process must still read the generation
	closing  // the generator has stopped, and the block is not yet released
	over
)

type mProc struct {
	id, gen, stage int8
	owner          int8 // of its block: its own id, or its original's

	mem       [3]mRec // the last records that it read or wrote
	ordered   [3]bool // the whole block was seen Split after this half was read
	rewritten [3]bool // this half was written Retired after the whole block was seen

	ask    change
	askLo  int8
	unsure bool // it was sent before, but not answered

	overlap int8 // 0: none; 1: cloned or a clone; 2: has made a request since then

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
	if p.overlap == 2 {
		p.overlap = 0
	}
	p.forget()
}

// An mState is hashed, so every field has one byte.
type mState struct {
	recs   [2][3]mRec
	gen    int8
	floor  int8
	copied int8 // 0: no copy of the store; 1: one; 2: it was restored
	copy   [3]mRec
	top    int8 // the highest hwm stored after the copy, which a restore loses
	forgot bool
	time   int8
	procs  [3]mProc
	net    [2]change
	cloned bool
	issued [2]uint8 // the used ticks of each half, outside of overlaps
	twice  bool
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
	procs     int
	ticks     int8
	windows   []int64
	revisions int8 // the last revision of a record; 0: no limit
	net       int  // late changes at a time
	halves    bool
	fence     bool
	release   bool
	clones    cloning
	together  bool // one change may divide the whole block and grant a half

	mSearch
}

type cloning int

const (
	never cloning = iota
	anywhere
	unsent // after a request is prepared, before it is sent; no answer is lost
)

func (m *model) start() *mState {
	s := &mState{net: [2]change{noChange, noChange}}
	for i := range s.procs {
		s.procs[i] = m.boot(s, int8(i+1))
		if i >= m.procs || m.clones != never && i == m.procs-1 {
			s.procs[i].stage = over
		}
	}
	return s
}

func (m *model) boot(s *mState, id int8) mProc {
	p := mProc{id: id, owner: id, gen: s.gen, ask: noChange, held: -1, win: -1, used: -1}
	p.forget()
	return p
}

func (m *model) next(s *mState) {
	for i := range m.net {
		if c := s.net[i]; c.block >= 0 {
			t := *s
			t.net[i] = noChange
			ok := m.apply(&t, c)
			m.add(&t, func() string { return fmt.Sprintf("late: %v: %v", c, ok) })
		}
	}
	if m.fence && s.copied == 0 {
		t := *s
		t.copied, t.copy, t.top = 1, s.recs[0], 0
		m.add(&t, func() string { return "the store is copied" })
	}
	if m.fence && s.copied == 1 {
		t := *s
		t.recs[0], t.copy, t.copied, t.top = s.copy, [3]mRec{}, 2, 0
		t.floor = s.top
		if m.variant != floorAlone {
			t.gen = 1
			m.carry(&t)
		}
		m.add(&t, func() string {
			return fmt.Sprintf("the copy is restored; fenced at %d", t.floor)
		})
	}
	if m.variant == ttl && s.time < m.ticks-1 {
		t := *s
		t.time++
		m.add(&t, func() string { return fmt.Sprintf("the time is %d", t.time) })
	}
	for i := range m.procs {
		m.process(s, i)
	}
	if m.clones != never && !s.cloned {
		for i := range m.procs - 1 {
			if s.procs[i].stage != over {
				m.clone(s, i, m.procs-1)
			}
		}
	}
}

func (m *model) clone(s *mState, i, j int) {
	t := *s
	p := s.procs[i]
	p.id, p.overlap = s.procs[j].id, 1
	t.cloned, t.procs[j], t.procs[i].overlap = true, p, 1
	m.add(&t, func() string { return fmt.Sprintf("%d: becomes a copy of %d", p.id, s.procs[i].id) })
}

func (m *model) carry(s *mState) {
	var old []Record
	for b := range mBlocks {
		old = append(old, s.recs[0][b].record(int8(b)))
	}
	for _, r := range carryOver(old, int64(s.floor)) {
		for b := range mBlocks {
			if mBlocks[b] != r.Block || m.variant == hwmForgotten || m.variant == hwmInUnsplit &&
				r.State == Split {
				continue
			}
			r.Revision = 1
			s.recs[1][b] = fromRecord(r)
		}
	}
}

func (m *model) apply(s *mState, c change) bool {
	r, whole := &s.recs[c.gen][c.block], &s.recs[c.gen][mWhole]
	if !c.blind && (r.revision != c.prev.revision || r.hwm != c.prev.hwm) {
		return false
	}
	if c.two && (whole.revision != c.firstPrev.revision || whole.hwm != c.firstPrev.hwm) {
		return false
	}
	*r = c.next
	if c.two {
		*whole = c.firstNext
	}
	if m.fence && s.copied == 1 {
		s.top = max(s.top, c.next.hwm)
	}
	return true
}

// send tries all outcomes of a change, and calls the function with each answer.
func (m *model) send(s *mState, i int, c change, what string,
	then func(p *mProc, answered, ok bool)) {
	if m.revisions > 0 && max(c.next.revision, c.firstNext.revision) > m.revisions ||
		c.next.hwm > m.ticks {
		return
	}
	who := s.procs[i].id
	try := func(carriedOut, answered bool, late int, how string) {
		t := *s
		ok := carriedOut && m.apply(&t, c)
		if late >= 0 {
			t.net[late] = c
		}
		then(&t.procs[i], answered, ok)
		m.add(&t, func() string {
			if answered {
				how = fmt.Sprint(ok) + how
			}
			return fmt.Sprintf("%d: %s: %v: %s", who, what, c, how)
		})
	}
	try(true, true, -1, "")
	if m.clones == unsent {
		return
	}
	try(true, false, -1, "carried out, no answer")
	try(false, false, -1, "lost")
	for n := range m.net {
		if s.net[n].block < 0 {
			try(false, false, n, "under way, no answer")
			try(true, true, n, ", and a duplicate is under way")
			try(true, false, n, "carried out, no answer, and a duplicate is under way")
			break
		}
	}
	if m.variant == storeForgets && !s.forgot {
		t := *s
		if m.apply(&t, c) {
			t.recs, t.forgot = s.recs, true
			then(&t.procs[i], true, true)
			m.add(&t, func() string {
				return fmt.Sprintf("%d: %s: %v: true, and then forgotten", who, what, c)
			})
		}
	}
}

func (m *model) process(s *mState, i int) {
	p := &s.procs[i]
	to := func(what string, change func(p *mProc)) {
		t := *s
		change(&t.procs[i])
		m.add(&t, func() string { return fmt.Sprintf("%d: %s", p.id, what) })
	}
	if m.clones == never { // with clones there would be too many owners
		t := *s
		t.bury(i)
		t.procs[i] = m.boot(s, p.id)
		m.add(&t, func() string { return fmt.Sprintf("%d: ends, and another begins", p.id) })
	}
	if p.stage == over {
		return
	}
	if m.variant == ttl {
		m.processTTL(s, i)
		return
	}
	m.generate(s, i)

	if p.stage != closing && m.release && (p.held >= 0 || p.stage != idle) {
		close := func(p *mProc) {
			// The process holds the block that it has asked for, or the one before.
			held, asked, gen, b, lo := p.rec, mRec{}, p.gen, p.held, p.heldLo
			if p.stage != idle && p.stage != drawn {
				held, asked, gen, b, lo = p.ask.prev, p.ask.next, p.ask.gen, p.ask.block, p.askLo
				if held.owner != p.owner || p.stage == checking {
					held = mRec{}
				}
				if p.stage != checking && !p.unsure {
					asked = mRec{}
				}
			}
			p.settled()
			if b < 0 {
				p.stage = over
				return
			}
			p.held, p.gen, p.heldLo, p.rec, p.ask.next = b, gen, lo, held, asked
			p.stage = closing
			if m.variant != releaseRunning {
				p.withdraw()
			}
		}
		to("closes", close)
	}
	switch p.stage {
	case drawn:
		m.send(s, i, p.ask, "asks", m.asked(p.ask, p.askLo))
		return
	case pending:
		if m.variant == silenceIsGrant {
			to("takes a missing answer for a grant", (*mProc).grant)
		}
		m.ask(s, i, p.ask, p.askLo, "asks again")
		return
	case refused:
		believed := p.unsure || m.variant == nonceBelieved || m.variant == believedAndRepeated
		if believed && s.recs[p.ask.gen][p.ask.block] == p.ask.next {
			to("finds its own grant", func(p *mProc) { p.stage = checking })
		} else {
			to("finds that it was too late", func(p *mProc) {
				if m.variant != windowKept {
					p.withdraw()
				}
				p.lose()
			})
		}
		return
	case checking:
		switch {
		case m.variant == floorAlone && p.askLo < s.floor:
			to("finds that the grant is below the floor", (*mProc).lose)
		case s.gen == p.gen || m.variant == generationBefore:
			to("has the grant", (*mProc).grant)
		default:
			to("finds that the realm was fenced", func(p *mProc) { p.lose(); p.gen = s.gen })
		}
		return
	case closing:
		b := p.held
		if p.mem[b] == unknown {
			to("reads "+mBlocks[b].String(), func(p *mProc) { p.learn(b, s.recs[p.gen][b], false) })
			return
		}
		r, held := p.mem[b].record(b), p.rec.record(b)
		if asked := p.ask.next.record(b); r == asked {
			held = asked
		}
		if m.variant == releaseByOwner && r.Owner == (Owner{byte(p.owner)}) {
			held = r
		}
		r.From, held.From = int64(p.heldLo), int64(p.heldLo)
		next, err := release(r, held, int64(p.used))
		if err != nil {
			to("has nothing to release", func(p *mProc) { p.stage = over })
			return
		}
		m.write(s, i, b, next, "releases")
		return
	}
	if p.held < 0 {
		m.acquire(s, i)
		return
	}
	m.grants(p, func(q request) {
		next, err := q.extend(p.rec.record(p.held))
		if err != nil || int8(next.HWM) == p.rec.hwm {
			return
		}
		c := change{gen: p.gen, block: p.held, prev: p.rec, next: fromRecord(next),
			blind: m.variant == blindExtend}
		if c.next.revision++; c.blind {
			c.next.revision = s.recs[p.gen][p.held].revision + 1
		}
		m.ask(s, i, c, p.heldLo, "extends")
	})
}

func (m *model) generate(s *mState, i int) {
	p := &s.procs[i]
	if p.win < 0 {
		return
	}
	for tick := max(p.used+1, p.winLo); tick < p.winHi; tick++ {
		t := *s
		t.procs[i].used = tick
		for h := range t.issued {
			if (p.win == mWhole || int(p.win) == h+1) && p.overlap == 0 {
				t.twice = t.twice || t.issued[h]&(1<<tick) != 0
				t.issued[h] |= 1 << tick
			}
		}
		m.add(&t, func() string {
			return fmt.Sprintf("%d: uses tick %d of %v", p.id, tick, mBlocks[p.win])
		})
	}
}

func (m *model) grants(p *mProc, f func(q request)) {
	owner, nonce := Owner{byte(p.id)}, uint64(0)
	if p.held >= 0 {
		owner[0] = byte(p.owner)
	}
	if m.clones != never && m.variant != nonceRepeated && m.variant != believedAndRepeated {
		nonce = uint64(p.id)
	}
	for _, w := range m.windows {
		for now := range int64(m.ticks) {
			f(request{owner: owner, nonce: nonce, now: now, at: now, window: w,
				lead: int64(m.ticks)})
		}
	}
}

// acquire tries all ways to get a block, and all steps that divide and merge blocks.
func (m *model) acquire(s *mState, i int) {
	p := &s.procs[i]
	blocks := int8(1)
	if m.halves {
		blocks = 3
	}
	take := func(b int8, whole Record) {
		m.grants(p, func(q request) {
			if next, err := q.grant(whole); err == nil {
				c := change{gen: p.gen, block: b, prev: p.mem[b], next: fromRecord(next)}
				c.next.revision++
				m.ask(s, i, c, int8(next.From), "takes")
			}
		})
	}
	divide := func(whole Record) {
		if !m.together {
			return
		}
		for h := int8(mLeft); h <= mRight; h++ {
			parent, err := split(whole, 0)
			if err != nil || p.mem[h] == unknown {
				continue
			}
			half, err := revive(p.mem[h].record(h), parent)
			if err != nil {
				continue
			}
			m.grants(p, func(q request) {
				next, err := q.grant(half)
				if err != nil {
					return
				}
				c := change{
					gen: p.gen, block: h, prev: p.mem[h], next: fromRecord(next),
					two: true, firstPrev: p.mem[mWhole], firstNext: fromRecord(parent),
				}
				c.next.revision++
				c.firstNext.revision++
				m.ask(s, i, c, int8(next.From), "divides the block and takes a half")
			})
		}
	}
	for b := range blocks {
		t := *s
		t.procs[i].learn(b, s.recs[p.gen][b], false)
		m.add(&t, func() string { return fmt.Sprintf("%d: reads %v", p.id, mBlocks[b]) })
		if p.mem[b] == unknown {
			continue
		}
		if r := p.mem[b].record(b); r.State == Whole {
			take(b, r)
		}
		if whole, ok := m.revived(s, p, b); ok {
			take(b, whole)
		}
	}
	if !m.halves || p.mem[mWhole] == unknown {
		return
	}

	w := p.mem[mWhole].record(mWhole)
	if next, err := split(w, 0); err == nil {
		m.write(s, i, mWhole, next, "splits")
		divide(w)
	}
	if whole, ok := m.revived(s, p, mWhole); ok {
		divide(whole)
		if next, err := split(whole, 0); err == nil {
			m.write(s, i, mWhole, next, "revives and splits")
		}
	}
	if next, err := merge(w); err == nil && m.variant != mergeNotStored {
		m.write(s, i, mWhole, next, "begins to merge")
	}
	if next, err := resplit(w); err == nil {
		m.write(s, i, mWhole, next, "gives up merging")
	}
	if m.variant == mergeNotStored && w.State == Split {
		w.State = Merging // for the next steps
	}
	if w.State != Merging {
		return
	}
	for h := int8(mLeft); h <= mRight; h++ {
		if p.mem[h] != unknown && !p.rewritten[h] {
			if next, err := retire(p.mem[h].record(h), 0); err == nil {
				m.write(s, i, h, next, "retires")
			}
		}
	}
	ready := p.rewritten[mLeft] && p.rewritten[mRight]
	if m.variant == mergeUnwritten {
		ready = p.mem[mLeft] != unknown && p.mem[mRight] != unknown
	}
	if ready {
		if whole, err := join(w, p.mem[mLeft].record(mLeft),
			p.mem[mRight].record(mRight)); err == nil {
			take(mWhole, whole)
		}
	}
}

func (m *model) revived(s *mState, p *mProc, b int8) (Record, bool) {
	parent := Record{State: Split}
	if p.gen == 1 {
		parent.HWM = int64(s.floor)
	}
	if b != mWhole {
		if p.mem[mWhole] == unknown || !p.ordered[b] && m.variant != parentFirst {
			return Record{}, false
		}
		parent = p.mem[mWhole].record(mWhole)
	}
	if m.variant == hwmIgnored {
		parent.HWM = 0
	}
	whole, err := revive(p.mem[b].record(b), parent)
	return whole, err == nil
}

func (m *model) ask(s *mState, i int, c change, lo int8, what string) {
	if m.clones == unsent {
		t := *s
		p := &t.procs[i]
		p.ask, p.askLo, p.stage = c, lo, drawn
		p.forget()
		m.add(&t, func() string { return fmt.Sprintf("%d: is about to ask: %v", p.id, c) })
		return
	}
	m.send(s, i, c, what, m.asked(c, lo))
}

func (m *model) asked(c change, lo int8) func(p *mProc, answered, ok bool) {
	return func(p *mProc, answered, ok bool) {
		if p.overlap == 1 && (p.stage == idle || p.stage == drawn) {
			p.overlap = 2
		}
		p.ask, p.askLo = c, lo
		p.forget()
		switch {
		case !answered:
			p.stage, p.unsure = pending, true
		case ok:
			p.stage = checking
		default:
			p.stage = refused
		}
	}
}

func (m *model) write(s *mState, i int, b int8, next Record, what string) {
	p := &s.procs[i]
	c := change{gen: p.gen, block: b, prev: p.mem[b], next: fromRecord(next)}
	c.next.revision++
	m.send(s, i, c, what, func(p *mProc, answered, ok bool) {
		switch {
		case ok && answered && p.stage == closing:
			p.stage = over
		case ok && answered:
			p.learn(b, c.next, true)
		default:
			p.learn(b, unknown, false)
		}
	})
}

// processTTL is another protocol, with exact clocks. A process has a block for one tick, or longer
// with a heartbeat. The generator goes on until a late heartbeat shows that the block is lost.
func (m *model) processTTL(s *mState, i int) {
	p := &s.procs[i]
	r := s.recs[0][mWhole] // hwm is the deadline
	t := *s
	switch {
	case !p.believes && (r.owner == 0 || s.time >= r.hwm):
		t.recs[0][mWhole] = mRec{revision: r.revision + 1, hwm: s.time + 1, state: Whole,
			owner: p.id}
		t.procs[i].believes = true
		m.add(&t, func() string { return fmt.Sprintf("%d: takes the block", p.id) })
	case p.believes && r.owner == p.id:
		t.recs[0][mWhole].hwm = s.time + 1
		m.add(&t, func() string { return fmt.Sprintf("%d: heartbeat", p.id) })
	case p.believes:
		t.procs[i].believes = false
		m.add(&t, func() string { return fmt.Sprintf("%d: heartbeat, but too late", p.id) })
	}
	if p.believes && s.time > p.used {
		t := *s
		t.procs[i].used = s.time
		t.twice = s.issued[0]&(1<<s.time) != 0
		t.issued[0] |= 1 << s.time
		m.add(&t, func() string { return fmt.Sprintf("%d: uses tick %d", p.id, s.time) })
	}
}

func (m *model) violation(s *mState) string {
	if s.twice {
		return "a tick was used twice"
	}
	if m.variant == sound { // an ended generation does not matter
		r := &s.recs[s.gen]
		if w := r[mWhole].state; (r[mLeft].state != Retired || r[mRight].state != Retired) &&
			w != Split && w != Merging {
			return fmt.Sprintf("the block is %v, and its halves are %v and %v", w, r[mLeft].state,
				r[mRight].state)
		}
	}
	return ""
}

func (s *mState) owners(f func(id *int8)) {
	for g := range s.recs {
		for b := range s.recs[g] {
			f(&s.recs[g][b].owner)
		}
	}
	for b := range s.copy {
		f(&s.copy[b].owner)
	}
	for i := range s.net {
		f(&s.net[i].prev.owner)
		f(&s.net[i].next.owner)
		f(&s.net[i].firstPrev.owner)
	}
	for i := range s.procs {
		p := &s.procs[i]
		for b := range p.mem {
			f(&p.mem[b].owner)
		}
		f(&p.rec.owner)
		f(&p.ask.prev.owner)
		f(&p.ask.next.owner)
		f(&p.ask.firstPrev.owner)
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

// canonical replaces s by a state that behaves the same, to have fewer states.
func (m *model) canonical(s *mState) {
	if m.variant != sound || m.clones != never {
		return
	}
	// The revisions of a record only grow, except when a copy is restored. So a change based on any
	// past revision will be refused. In a record that is never restored, only their order matters.
	const base = 4
	for g := range s.recs {
		if m.fence && g == 0 && s.copied < 2 {
			continue
		}
		for b := range s.recs[g] {
			is := s.recs[g][b]
			late := func(r mRec) bool { return r.revision < is.revision }
			shift := base - is.revision
			if m.revisions > 0 {
				shift = 0
			}
			move := func(r *mRec) {
				if *r != unknown {
					r.revision += shift
				}
			}
			for i := range s.net {
				if c := &s.net[i]; c.two && b == mWhole && c.gen == int8(g) {
					if late(c.firstPrev) {
						*c = noChange
						continue
					}
					move(&c.firstPrev)
					move(&c.firstNext)
				}
				if c := &s.net[i]; c.block == int8(b) && c.gen == int8(g) {
					if late(c.prev) {
						*c = noChange
						continue
					}
					move(&c.prev)
					move(&c.next)
				}
			}
			for i := range s.procs {
				p := &s.procs[i]
				if c := &p.ask; c.two && b == mWhole && c.gen == int8(g) {
					move(&c.firstPrev)
					move(&c.firstNext)
				}
				if p.stage == closing && p.held == int8(b) && p.gen == int8(g) {
					for _, r := range []*mRec{&p.rec, &p.ask.next} {
						if late(*r) {
							*r = mRec{revision: -shift}
						}
						move(r)
					}
				} else if c := &p.ask; c.block == int8(b) && c.gen == int8(g) {
					if p.stage == checking {
						c.prev = mRec{revision: -shift}
						if late(c.next) {
							c.next.revision = -shift
						}
					} else if late(c.prev) && c.next != is { // the change will be refused
						c.prev, c.next, p.askLo = mRec{revision: -shift}, mRec{revision: -shift}, 0
					}
					move(&c.prev)
					move(&c.next)
				}
				if p.gen != int8(g) {
					continue
				}
				if p.held == int8(b) && p.stage == idle {
					if late(p.rec) { // it can only find out that the block is lost
						p.rec.revision = -shift
					}
					move(&p.rec)
				}
				if r := &p.mem[b]; *r != unknown {
					switch {
					case !late(*r):
						move(r)
					case b != mWhole && !p.rewritten[b] || p.stage == closing:
						p.learn(int8(b), unknown, false)
					default:
						// A step on another record can still use this one.
						r.revision, r.owner = 0, 0
					}
				}
			}
			move(&s.recs[g][b])
		}
	}
	if s.net[0].block < 0 {
		s.net[0], s.net[1] = s.net[1], s.net[0]
	}
	for i := range s.procs {
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
			p.win, p.winLo, p.winHi = -1, 0, 0
		}
	}
	self := func(p mProc) mProc {
		p.rec.owner, p.ask.next.owner = 0, 0
		p.id = 0
		return p
	}
	procs := s.procs[:m.procs]
	slices.SortFunc(procs, func(a, b mProc) int {
		a, b = self(a), self(b)
		return bytes.Compare(a.bytes(), b.bytes())
	})
	var names [dead + 1]int8
	names[dead] = dead
	for i := range procs {
		names[procs[i].id] = int8(i + 1)
	}
	s.owners(func(id *int8) { *id = names[*id] })
	for i := range procs {
		procs[i].id = int8(i + 1)
	}
}

type mSearch struct {
	limit int

	seed  maphash.Seed
	seen  map[uint64]struct{}
	nodes []mNode
	from  int32
	which int32

	wrong string // what is wrong in the state with the number at, or ""
	at    int32

	retrace int32 // the number of the step to describe, or -1
	found   mState
	label   string
}

// An mNode is a state, with the step and the state that lead to it.
type mNode struct {
	state  *mState
	parent int32
	which  int32
}

func (m *model) add(s *mState, what func() string) {
	which := m.which
	m.which++
	if m.retrace >= 0 {
		if which == m.retrace {
			m.label = what()
			m.canonical(s)
			m.found = *s
		}
		return
	}
	m.canonical(s)
	// The search compares hashes of 64 bits. Two of ten million are the same with a probability of
	// at most 1 in 300,000.
	k := maphash.Bytes(m.seed, s.bytes())
	if _, ok := m.seen[k]; ok {
		return
	}
	m.seen[k] = struct{}{}
	c := *s
	m.nodes = append(m.nodes, mNode{&c, m.from, which})
	if m.wrong == "" {
		m.wrong = m.violation(s)
		m.at = int32(len(m.nodes) - 1)
	}
}

// search returns the number of states and, if one is wrong, the shortest way to it.
func (m *model) search() (states int, trace []string) {
	m.seed, m.seen, m.nodes = maphash.MakeSeed(), map[uint64]struct{}{}, nil
	m.from, m.which, m.retrace, m.wrong = -1, 0, -1, ""
	m.add(m.start(), nil)
	for n := 0; n < len(m.nodes); n++ {
		if m.wrong != "" {
			return len(m.nodes), append(m.path(m.at), m.wrong)
		}
		s := m.nodes[n].state
		m.from, m.which = int32(n), 0
		m.next(s)
		m.nodes[n].state = nil
		if m.limit > 0 && len(m.nodes) > m.limit {
			return -len(m.nodes), nil
		}
	}
	return len(m.nodes), nil
}

func (m *model) path(n int32) (trace []string) {
	var which []int32
	for ; n > 0; n = m.nodes[n].parent {
		which = append(which, m.nodes[n].which)
	}
	m.found = *m.start()
	m.canonical(&m.found)
	for _, w := range slices.Backward(which) {
		s := m.found
		m.which, m.retrace = 0, w
		m.next(&s)
		trace = append(trace, m.label)
	}
	m.retrace = -1
	return trace
}

var long = flag.Bool("long", false,
	"lease: check the model at larger bounds: minutes, and gigabytes of memory")

func TestModel(t *testing.T) {
	for _, c := range []struct {
		name string
		size int // 0: always; 1: not with -short; 2: with -long only
		m    model
	}{
		{"one block", 0, model{procs: 2, ticks: 3, windows: []int64{1, 2}, net: 1, release: true}},
		{"one block, more ticks", 1, model{procs: 2, ticks: 4, windows: []int64{1}, net: 1,
			release: true}},
		{"one block, three processes", 1, model{procs: 3, ticks: 3, windows: []int64{1},
			release: true}},
		{"one block, two late changes", 2, model{procs: 2, ticks: 4, windows: []int64{1, 2}, net: 2,
			release: true}},
		{"one block, all together", 2, model{procs: 3, ticks: 3, windows: []int64{1, 2}, net: 1,
			release: true}},
		{"three blocks", 0, model{procs: 2, ticks: 1, windows: []int64{1}, halves: true}},
		{"three blocks, late changes", 1, model{procs: 2, ticks: 1, windows: []int64{1}, net: 1,
			halves: true}},
		{"three blocks, release", 1, model{procs: 2, ticks: 1, windows: []int64{1}, halves: true,
			release: true}},
		{"three blocks, three processes", 2, model{procs: 3, ticks: 1, windows: []int64{1},
			halves: true}},
		{"three blocks, more ticks", 2, model{procs: 2, ticks: 2, windows: []int64{1},
			halves: true}},
		{"three blocks, two changes at once, few", 0, model{procs: 2, ticks: 1, windows: []int64{1},
			revisions: 2, halves: true, together: true}},
		{"three blocks, two changes at once", 2, model{procs: 2, ticks: 1, windows: []int64{1},
			halves: true, together: true}},
		{"three blocks, late changes, two at once", 2,
			model{procs: 2, ticks: 1, windows: []int64{1}, net: 1, halves: true, together: true}},
		{"clones", 0, model{procs: 2, ticks: 3, windows: []int64{1}, revisions: 4,
			clones: anywhere}},
		{"clones and another process", 1, model{procs: 3, ticks: 2, windows: []int64{1},
			revisions: 3, clones: anywhere}},
		{"clones and another process, release", 2, model{procs: 3, ticks: 3, windows: []int64{1},
			revisions: 4, clones: anywhere, release: true}},
		{"clones, release", 1, model{procs: 2, ticks: 3, windows: []int64{1}, revisions: 4,
			clones: anywhere, release: true}},
		{"clones, late changes", 2, model{procs: 2, ticks: 3, windows: []int64{1}, revisions: 4,
			net: 1, clones: anywhere, release: true}},
		{"clones, before a request is sent", 0, model{procs: 2, ticks: 3, windows: []int64{1},
			revisions: 4, clones: unsent, release: true}},
		{"fence", 0, model{procs: 2, ticks: 2, windows: []int64{1}, net: 1, fence: true,
			revisions: 3}},
		{"fence, more ticks", 1, model{procs: 2, ticks: 3, windows: []int64{1}, fence: true,
			revisions: 4}},
		{"fence, release", 2, model{procs: 2, ticks: 3, windows: []int64{1}, fence: true,
			revisions: 4, release: true}},
		{"fence, three blocks", 2, model{procs: 2, ticks: 1, windows: []int64{1}, fence: true,
			revisions: 2, halves: true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.size == 1 && testing.Short() || c.size == 2 && !*long {
				t.SkipNow()
			}
			states, trace := c.m.search()
			t.Logf("%d states", states)
			if trace != nil {
				t.Error(strings.Join(trace, "\n"))
			}
		})
	}
}

// The model finds what breaks the protocol: first the usual faults of leases, then the points on
// which this protocol depends.
func TestModelFinds(t *testing.T) {
	one := model{procs: 2, ticks: 3, windows: []int64{1}, revisions: 4}
	three := model{procs: 2, ticks: 1, windows: []int64{1}, revisions: 6, halves: true}
	fence := model{procs: 2, ticks: 3, windows: []int64{1}, revisions: 3, fence: true}
	clones := model{procs: 2, ticks: 3, windows: []int64{1}, revisions: 4, clones: anywhere}
	third := clones
	third.procs, third.ticks, third.release = 3, 2, true
	with := func(m model, change func(m *model)) model {
		change(&m)
		return m
	}
	for _, c := range []struct {
		name    string
		variant variant
		m       model
	}{
		{"a time to live, and a heartbeat that may be late", ttl, one},
		{"an extension without a comparison", blindExtend, one},
		{"a store that forgets one change", storeForgets, one},
		{"a missing answer taken for a grant", silenceIsGrant, one},
		{"a release before the generator has stopped", releaseRunning,
			with(one, func(m *model) { m.release = true })},
		{"halves retired without a stored merge", mergeNotStored, three},
		{"a merge that does not write to halves that are retired", mergeUnwritten, three},
		{"a half revived by a parent that was read before the half", parentFirst, three},
		{"a half that does not take over the hwm", hwmIgnored, three},
		{"an own grant recognized by a nonce that two clones share",
			believedAndRepeated, clones},
		{"a request with a nonce that two clones share", nonceRepeated, clones},
		{"an own grant recognized by its nonce although no answer was lost", nonceBelieved,
			with(clones, func(m *model) { m.clones = unsent })},
		{"a release of any record with the same owner", releaseByOwner, third},
		{"a window that is kept when the node ID is lost", windowKept, clones},
		{"a fence that forgets an hwm above the floor", hwmForgotten, fence},
		{"a fence that carries an hwm over into blocks that are not split", hwmInUnsplit,
			with(fence, func(m *model) { m.ticks, m.revisions, m.halves = 1, 2, true })},
		{"a generation that is not read after the commit", generationBefore, fence},
		{"a fence that is only a floor", floorAlone,
			with(fence, func(m *model) { m.ticks, m.halves = 1, true })},
	} {
		t.Run(c.name, func(t *testing.T) {
			if (c.m.halves || c.m.procs > 2) && testing.Short() {
				t.SkipNow()
			}
			c.m.variant = c.variant
			c.m.limit = 5_000_000
			states, trace := c.m.search()
			if trace == nil {
				t.Fatalf("%d states, and no wrong state", states)
			}
			t.Logf("%d states\n%s", states, strings.Join(trace, "\n"))
		})
	}
}
