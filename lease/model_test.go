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

// An exhaustive model of the protocol at small bounds. It visits every state that can be
// reached, in whatever order the steps of the processes, the network and the store come.
//
// What a record may become is decided by the very functions of protocol.go. All else is
// left as open as can be. A process may do any step that it knows enough for, at any time,
// on the ground of records that it read long ago. The time that it goes by is any tick, at
// each step anew, so that clocks run, step and stand as they like. No owner is protected
// by a deadline. A process that is not chosen is paused, one that is never chosen again
// is dead, and in the place of each another may start at any time. A change that is sent
// to the store is carried out or not, its answer comes or not, and the change or a
// duplicate of it may be carried out at any later time.
//
// No tick of a node ID may be used twice, nor of two that overlap; and no block may be
// whole within one that is.

// The model's blocks: one of a bit and its halves. Ticks are counted from 0.
const (
	mWhole = iota
	mLeft
	mRight
)

var mBlocks = [3]Block{{0, 1}, {0, 2}, {1, 2}}

// A variant is a protocol that is broken on purpose.
type variant int

const (
	sound variant = iota
	ttl
	blindExtend
	storeForgets
	mergeUnmarked
	mergeUnwritten
	parentFirst
	markIgnored
	generationBefore
	floorAlone
	releaseRunning
	silenceIsGrant
)

// An mRec is a record, without what decides nothing here: no deadline, and no number of
// the request, so that a process must tell its own grant by less than it really knows.
type mRec struct {
	epoch, hwm int8
	state      State
	owner      int8
}

var unknown = mRec{epoch: -1}

func (m mRec) record(b int8) Record {
	return Record{Block: mBlocks[b], Epoch: uint64(m.epoch), HWM: int64(m.hwm), State: m.state, Owner: Owner{byte(m.owner)}}
}

func fromRecord(r Record) mRec {
	return mRec{int8(r.Epoch), int8(r.HWM), r.State, int8(r.Owner[0])}
}

// A change is a compare-and-set on its way to the store.
type change struct {
	gen, block int8 // block -1: no change
	prev, next mRec
	blind      bool
}

var noChange = change{block: -1}

func (c change) String() string {
	return fmt.Sprintf("%v from %v, hwm %d, epoch %d, to %v, hwm %d, owner %d",
		mBlocks[c.block], c.prev.state, c.prev.hwm, c.prev.epoch, c.next.state, c.next.hwm, c.next.owner)
}

// The stages of a process.
const (
	idle     = iota
	pending  // a grant has been asked for, with no answer
	refused  // the store has refused it: why remains to be read
	checking // it was made: the generation remains to be read
	closing  // the generator has stopped, the block remains to be released
	over
)

type mProc struct {
	id, gen, stage int8

	mem       [3]mRec // as read or written last, or unknown
	ordered   [3]bool // the whole was seen Split after this half was read
	rewritten [3]bool // this half was written Retired after the whole was seen as it is

	ask   change // the grant asked for
	askLo int8

	held   int8 // a block, or -1
	rec    mRec // its record, as known
	heldLo int8

	win, winLo, winHi int8 // what the generator has; win -1: nothing
	used              int8

	believes bool // variant ttl: it has the block until it hears otherwise
}

func (p *mProc) forget() {
	for b := range p.mem {
		p.mem[b] = unknown
	}
	p.ordered, p.rewritten = [3]bool{}, [3]bool{}
}

// learn notes a record that p has read, or written.
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
	p.rewritten[b] = written && r.state == Retired && whole != unknown && (whole.state == Merging || whole.state == Split)
}

func (p *mProc) grant() {
	p.held, p.rec, p.heldLo = p.ask.block, p.ask.next, p.askLo
	p.win, p.winLo, p.winHi = p.held, p.heldLo, p.rec.hwm
	p.settled()
}

func (p *mProc) lose() {
	p.held, p.rec, p.heldLo = -1, mRec{}, 0
	p.settled()
}

func (p *mProc) settled() {
	p.stage, p.ask, p.askLo = idle, noChange, 0
	p.forget()
}

// Every field of an mState takes one byte, so that it can be hashed as so many bytes.
type mState struct {
	recs   [2][3]mRec // by generation
	gen    int8
	floor  int8
	copied int8 // 0: no copy of the store yet; 1: there is one; 2: it was restored
	copy   [3]mRec
	top    int8 // with a fence: the highest hwm ever
	forgot bool
	time   int8 // variant ttl
	procs  [3]mProc
	net    [2]change
	issued [2]uint8 // the ticks used of each half
	twice  bool
}

func (s *mState) bytes() []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(s)), unsafe.Sizeof(*s))
}

func (p *mProc) bytes() []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(p)), unsafe.Sizeof(*p))
}

// dead is the identity of all processes that are no more.
const dead = 9

type model struct {
	variant variant
	procs   int
	ticks   int8
	windows []int64 // that a grant may have
	epochs  int8    // the last epoch of a record; 0: no limit
	net     int     // changes that may be late at a time
	halves  bool    // three blocks, not one
	fence   bool    // the store is copied, and the copy restored
	release bool

	mSearch
}

func (m *model) start() *mState {
	s := &mState{net: [2]change{noChange, noChange}}
	for i := range s.procs {
		s.procs[i] = m.boot(s, int8(i+1))
		if i >= m.procs {
			s.procs[i].stage = over
		}
	}
	return s
}

func (m *model) boot(s *mState, id int8) mProc {
	p := mProc{id: id, gen: s.gen, ask: noChange, held: -1, win: -1, used: -1}
	p.forget()
	return p
}

// next goes through all that can happen in s.
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
		t.copied, t.copy = 1, s.recs[0]
		m.add(&t, func() string { return "the store is copied" })
	}
	if m.fence && s.copied == 1 {
		t := *s
		t.recs[0], t.copy, t.copied, t.top = s.copy, [3]mRec{}, 2, 0
		t.floor = s.top
		if m.variant != floorAlone {
			t.gen = 1
		}
		m.add(&t, func() string { return fmt.Sprintf("the copy is restored; fenced at %d", t.floor) })
	}
	if m.variant == ttl && s.time < m.ticks-1 {
		t := *s
		t.time++
		m.add(&t, func() string { return fmt.Sprintf("it is %d o'clock", t.time) })
	}
	for i := range m.procs {
		m.process(s, i)
	}
}

// apply carries out a change, as a store does.
func (m *model) apply(s *mState, c change) bool {
	r := &s.recs[c.gen][c.block]
	if !c.blind && (r.epoch != c.prev.epoch || r.hwm != c.prev.hwm) {
		return false
	}
	*r = c.next
	if m.fence && s.copied < 2 {
		s.top = max(s.top, c.next.hwm)
	}
	return true
}

// send tries out what may become of a change; then is told each time whether it was
// answered, and how.
func (m *model) send(s *mState, i int, c change, what string, then func(p *mProc, answered, ok bool)) {
	if m.epochs > 0 && c.next.epoch > m.epochs || c.next.hwm > m.ticks {
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
			m.add(&t, func() string { return fmt.Sprintf("%d: %s: %v: true, and then forgotten", who, what, c) })
		}
	}
}

// process goes through all steps of one process.
func (m *model) process(s *mState, i int) {
	p := &s.procs[i]
	// to leads to the state that change makes of the process.
	to := func(what string, change func(p *mProc)) {
		t := *s
		change(&t.procs[i])
		m.add(&t, func() string { return fmt.Sprintf("%d: %s", p.id, what) })
	}
	t := *s
	t.bury(i)
	t.procs[i] = m.boot(s, p.id)
	m.add(&t, func() string { return fmt.Sprintf("%d: ends, and another begins", p.id) })
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
			if p.stage != idle {
				p.held, p.heldLo, p.gen = p.ask.block, p.askLo, p.ask.gen
			}
			p.settled()
			p.stage = closing
			if m.variant != releaseRunning {
				p.win, p.winLo, p.winHi = -1, 0, 0
			}
		}
		to("closes", close)
	}
	switch p.stage {
	case pending:
		if m.variant == silenceIsGrant {
			to("takes silence for a grant", (*mProc).grant)
		}
		m.ask(s, i, p.ask, p.askLo, "asks again")
		return
	case refused:
		if s.recs[p.ask.gen][p.ask.block] == p.ask.next {
			to("finds its own grant", func(p *mProc) { p.stage = checking })
		} else {
			to("finds that it was too late", (*mProc).lose)
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
		next, err := release(p.mem[b].record(b), Owner{byte(p.id)}, int64(p.heldLo), int64(p.used))
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
		c := change{p.gen, p.held, p.rec, fromRecord(next), m.variant == blindExtend}
		if c.next.epoch++; c.blind {
			c.next.epoch = s.recs[p.gen][p.held].epoch + 1
		}
		m.ask(s, i, c, p.heldLo, "extends")
	})
}

// generate goes through the ticks that p's generator may use.
func (m *model) generate(s *mState, i int) {
	p := &s.procs[i]
	if p.win < 0 {
		return
	}
	for tick := max(p.used+1, p.winLo); tick < p.winHi; tick++ {
		t := *s
		t.procs[i].used = tick
		for h := range t.issued {
			if p.win == mWhole || int(p.win) == h+1 {
				t.twice = t.twice || t.issued[h]&(1<<tick) != 0
				t.issued[h] |= 1 << tick
			}
		}
		m.add(&t, func() string { return fmt.Sprintf("%d: uses tick %d of %v", p.id, tick, mBlocks[p.win]) })
	}
}

// grants goes through the requests that p may make.
func (m *model) grants(p *mProc, f func(q request)) {
	for _, w := range m.windows {
		for now := range int64(m.ticks) {
			f(request{owner: Owner{byte(p.id)}, now: now, at: now, window: w, lead: int64(m.ticks)})
		}
	}
}

// acquire goes through the ways to a block: one that is whole, one that is given life,
// one that is joined; and through the steps that divide and merge.
func (m *model) acquire(s *mState, i int) {
	p := &s.procs[i]
	blocks := int8(1)
	if m.halves {
		blocks = 3
	}
	take := func(b int8, whole Record) {
		m.grants(p, func(q request) {
			if next, lo, err := q.take(whole); err == nil {
				c := change{p.gen, b, p.mem[b], fromRecord(next), false}
				c.next.epoch++
				m.ask(s, i, c, int8(lo), "takes")
			}
		})
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
	}
	if whole, ok := m.revived(s, p, mWhole); ok {
		if next, err := split(whole, 0); err == nil {
			m.write(s, i, mWhole, next, "gives life to and splits")
		}
	}
	if next, err := merge(w); err == nil && m.variant != mergeUnmarked {
		m.write(s, i, mWhole, next, "begins to merge")
	}
	if next, err := resplit(w); err == nil {
		m.write(s, i, mWhole, next, "gives up merging")
	}
	if m.variant == mergeUnmarked && w.State == Split {
		w.State = Merging // as far as what follows is concerned
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
		if whole, err := join(w, p.mem[mLeft].record(mLeft), p.mem[mRight].record(mRight)); err == nil {
			take(mWhole, whole)
		}
	}
}

// revived returns what a retired block becomes, if p may give it life.
func (m *model) revived(s *mState, p *mProc, b int8) (Record, bool) {
	parent := Record{State: Split} // the realm's own
	if p.gen == 1 {
		parent.HWM = int64(s.floor)
	}
	if b != mWhole {
		if p.mem[mWhole] == unknown || !p.ordered[b] && m.variant != parentFirst {
			return Record{}, false
		}
		parent = p.mem[mWhole].record(mWhole)
	}
	if m.variant == markIgnored {
		parent.HWM = 0
	}
	whole, err := revive(p.mem[b].record(b), parent)
	return whole, err == nil
}

// ask sends a change that makes a grant.
func (m *model) ask(s *mState, i int, c change, lo int8, what string) {
	m.send(s, i, c, what, func(p *mProc, answered, ok bool) {
		p.ask, p.askLo = c, lo
		p.forget()
		switch {
		case !answered:
			p.stage = pending
		case ok:
			p.stage = checking
		default:
			p.stage = refused
		}
	})
}

// write sends any other change.
func (m *model) write(s *mState, i int, b int8, next Record, what string) {
	p := &s.procs[i]
	c := change{p.gen, b, p.mem[b], fromRecord(next), false}
	c.next.epoch++
	m.send(s, i, c, what, func(p *mProc, answered, ok bool) {
		switch {
		case ok && answered && p.stage == closing:
			p.stage = over
		case ok && answered:
			p.learn(b, c.next, true)
		default: // it must be read again
			p.learn(b, unknown, false)
		}
	})
}

// processTTL is another protocol, with clocks that are all exact: who takes a block has
// it for one tick, then others may take it; a heartbeat makes the time longer; the
// generator goes on until a heartbeat, which may be late, says that the block is gone.
func (m *model) processTTL(s *mState, i int) {
	p := &s.procs[i]
	r := s.recs[0][mWhole] // hwm serves as the deadline
	t := *s
	switch {
	case !p.believes && (r.owner == 0 || s.time >= r.hwm):
		t.recs[0][mWhole] = mRec{epoch: r.epoch + 1, hwm: s.time + 1, state: Whole, owner: p.id}
		t.procs[i].believes = true
		m.add(&t, func() string { return fmt.Sprintf("%d: takes the block", p.id) })
	case p.believes && r.owner == p.id:
		t.recs[0][mWhole].hwm = s.time + 1
		m.add(&t, func() string { return fmt.Sprintf("%d: heartbeat", p.id) })
	case p.believes:
		t.procs[i].believes = false
		m.add(&t, func() string { return fmt.Sprintf("%d: heartbeat, too late", p.id) })
	}
	if p.believes && s.time > p.used {
		t := *s
		t.procs[i].used = s.time
		t.twice = s.issued[0]&(1<<s.time) != 0
		t.issued[0] |= 1 << s.time
		m.add(&t, func() string { return fmt.Sprintf("%d: uses tick %d", p.id, s.time) })
	}
}

// violation says what is wrong in s.
func (m *model) violation(s *mState) string {
	if s.twice {
		return "a tick was used twice"
	}
	if m.variant == sound { // nobody minds what becomes of a generation that is over
		r := &s.recs[s.gen]
		if w := r[mWhole].state; (r[mLeft].state != Retired || r[mRight].state != Retired) && w != Split && w != Merging {
			return fmt.Sprintf("the block is %v, and its halves are %v and %v", w, r[mLeft].state, r[mRight].state)
		}
	}
	return ""
}

// owners calls f for each owner that occurs in s.
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
	}
	for i := range s.procs {
		p := &s.procs[i]
		for b := range p.mem {
			f(&p.mem[b].owner)
		}
		f(&p.rec.owner)
		f(&p.ask.prev.owner)
		f(&p.ask.next.owner)
	}
}

// bury makes process i one of the dead.
func (s *mState) bury(i int) {
	gone := s.procs[i].id
	s.owners(func(id *int8) {
		if *id == gone {
			*id = dead
		}
	})
}

// canonical replaces s by a state that behaves the same, so that there are fewer.
func (m *model) canonical(s *mState) {
	if m.variant != sound {
		return
	}
	// The epochs of a record only grow, except in a copy that is restored. So what is
	// based on an epoch that has passed will be refused, whichever it was; and what an
	// epoch is, in a record that never goes back, matters only beside others.
	const base = 4
	for g := range s.recs {
		if m.fence && g == 0 && s.copied < 2 {
			continue
		}
		for b := range s.recs[g] {
			is := s.recs[g][b]
			late := func(r mRec) bool { return r.epoch < is.epoch }
			shift := base - is.epoch
			if m.epochs > 0 {
				shift = 0
			}
			move := func(r *mRec) {
				if *r != unknown {
					r.epoch += shift
				}
			}
			for i := range s.net {
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
				if c := &p.ask; c.block == int8(b) && c.gen == int8(g) {
					if p.stage == checking {
						c.prev = mRec{epoch: -shift}
						if late(c.next) { // and yet it was granted
							c.next.epoch = -shift
						}
					} else if late(c.prev) && c.next != is { // it will be refused, and lost
						c.prev, c.next, p.askLo = mRec{epoch: -shift}, mRec{epoch: -shift}, 0
					}
					move(&c.prev)
					move(&c.next)
				}
				if p.gen != int8(g) {
					continue
				}
				if p.held == int8(b) && p.stage == idle {
					if late(p.rec) { // it can only find out that the block is lost
						p.rec.epoch = -shift
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
						// Still good for a decision about another record.
						r.epoch, r.owner = 0, 0
					}
				}
			}
			move(&s.recs[g][b])
		}
	}
	if s.net[0].block < 0 {
		s.net[0], s.net[1] = s.net[1], s.net[0]
	}
	// What a process has no more use for.
	for i := range s.procs {
		p := &s.procs[i]
		switch p.stage {
		case over:
			s.bury(i)
			*p = mProc{stage: over, id: p.id}
		case closing:
			p.rec = mRec{}
		case idle:
		default:
			p.held, p.rec, p.heldLo = -1, mRec{}, 0
		}
		if max(p.used+1, p.winLo) >= p.winHi {
			p.win, p.winLo, p.winHi = -1, 0, 0
		}
	}
	// Which process is called what does not matter.
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

// An mSearch is a search through all states, breadth first.
type mSearch struct {
	limit int // of states; 0: none

	seed  maphash.Seed
	seen  map[uint64]struct{}
	nodes []mNode
	from  int32
	which int32

	retrace int32 // the step looked for on the way back, else -1
	found   mState
	label   string
}

// An mNode is a state, and by which step from which other it was reached.
type mNode struct {
	state  *mState // nil once its steps are known
	parent int32
	which  int32
}

// add notes a state that can follow.
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
	// States are told apart by 64 bits: among ten million, two that differ are taken for
	// one with a probability of 1 in 300,000 or less.
	k := maphash.Bytes(m.seed, s.bytes())
	if _, ok := m.seen[k]; ok {
		return
	}
	m.seen[k] = struct{}{}
	c := *s
	m.nodes = append(m.nodes, mNode{&c, m.from, which})
}

// search visits all states. It returns their number and, if something is wrong in one,
// the shortest way to it.
func (m *model) search() (states int, trace []string) {
	m.seed, m.seen, m.nodes = maphash.MakeSeed(), map[uint64]struct{}{}, nil
	m.from, m.which, m.retrace = -1, 0, -1
	m.add(m.start(), nil)
	for n := 0; n < len(m.nodes); n++ {
		s := m.nodes[n].state
		if wrong := m.violation(s); wrong != "" {
			return len(m.nodes), append(m.path(int32(n)), wrong)
		}
		m.from, m.which = int32(n), 0
		m.next(s)
		m.nodes[n].state = nil
		if m.limit > 0 && len(m.nodes) > m.limit {
			return -len(m.nodes), nil
		}
	}
	return len(m.nodes), nil
}

// path tells the steps to a node.
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

var long = flag.Bool("long", false, "lease: check the model at larger bounds: minutes, and gigabytes of memory")

// The protocol holds in every state that can be reached.
func TestModel(t *testing.T) {
	for _, c := range []struct {
		name string
		size int // 0: always; 1: not with -short; 2: with -long only
		m    model
	}{
		{"one block", 0, model{procs: 2, ticks: 3, windows: []int64{1, 2}, net: 1, release: true}},
		{"one block, more ticks", 1, model{procs: 2, ticks: 4, windows: []int64{1}, net: 1, release: true}},
		{"one block, three processes", 1, model{procs: 3, ticks: 3, windows: []int64{1}, release: true}},
		{"one block, two late changes", 2, model{procs: 2, ticks: 4, windows: []int64{1, 2}, net: 2, release: true}},
		{"one block, all together", 2, model{procs: 3, ticks: 3, windows: []int64{1, 2}, net: 1, release: true}},
		{"three blocks", 0, model{procs: 2, ticks: 1, windows: []int64{1}, halves: true}},
		{"three blocks, late changes", 1, model{procs: 2, ticks: 1, windows: []int64{1}, net: 1, halves: true}},
		{"three blocks, release", 1, model{procs: 2, ticks: 1, windows: []int64{1}, halves: true, release: true}},
		{"three blocks, three processes", 2, model{procs: 3, ticks: 1, windows: []int64{1}, halves: true}},
		{"three blocks, more ticks", 2, model{procs: 2, ticks: 2, windows: []int64{1}, halves: true}},
		{"fence", 0, model{procs: 2, ticks: 2, windows: []int64{1}, net: 1, fence: true, epochs: 3}},
		{"fence, more ticks", 1, model{procs: 2, ticks: 3, windows: []int64{1}, fence: true, epochs: 4}},
		{"fence, release", 2, model{procs: 2, ticks: 3, windows: []int64{1}, fence: true, epochs: 4, release: true}},
		{"fence, three blocks", 2, model{procs: 2, ticks: 1, windows: []int64{1}, fence: true, epochs: 2, halves: true}},
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

// What breaks the protocol, the model finds. The first three are the ways in which leases
// are commonly broken; then come the points on which this one hangs.
func TestModelFinds(t *testing.T) {
	one := model{procs: 2, ticks: 3, windows: []int64{1}, epochs: 4}
	three := model{procs: 2, ticks: 1, windows: []int64{1}, epochs: 6, halves: true}
	fence := model{procs: 2, ticks: 3, windows: []int64{1}, epochs: 3, fence: true}
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
		{"silence taken for a grant", silenceIsGrant, one},
		{"a release before the generator has stopped", releaseRunning, with(one, func(m *model) { m.release = true })},
		{"a merge that leaves no mark on the whole", mergeUnmarked, three},
		{"a merge that does not write to halves that are retired", mergeUnwritten, three},
		{"a half given life by a parent that was read before it", parentFirst, three},
		{"a half that does not take over the mark", markIgnored, three},
		{"a generation that is not asked for after the commit", generationBefore, fence},
		{"a fence that is a floor alone", floorAlone, with(fence, func(m *model) { m.ticks, m.halves = 1, true })},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.m.halves && testing.Short() {
				t.SkipNow()
			}
			c.m.variant = c.variant
			c.m.limit = 5_000_000
			states, trace := c.m.search()
			if trace == nil {
				t.Fatalf("%d states, and nothing wrong", states)
			}
			t.Logf("%d states\n%s", states, strings.Join(trace, "\n"))
		})
	}
}
