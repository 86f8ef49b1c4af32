package lease

import (
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func becomes(state State, hwm int64) func(r *Record) {
	return func(r *Record) { r.State, r.HWM = state, hwm }
}

func shown(hwm int64, key Owner) func(r *Record) {
	return func(r *Record) { *r = vacate(*r); r.HWM, r.Key = hwm, key }
}

func retiredFor(revision uint64) func(r *Record) {
	return func(r *Record) { *r = vacate(*r); r.State, r.Request = Retired, revision }
}

func to(r Record, change func(r *Record)) Record {
	r.Revision++
	change(&r)
	return r
}

func heldBy(key Owner, r Record, from, hwm, deadline int64) Record {
	r.State, r.Owner, r.From, r.HWM, r.Deadline, r.Request = Whole, ownerOf(key), from, hwm,
		deadline, 5
	return r
}

func TestCheck(t *testing.T) {
	const window, lead, now = 60, 10, 1000
	generation, other := "0123456789abcdef", "fedcba9876543210"
	root := Record{
		Realm: "r", Revision: 7, State: Split, HWM: 500, Generation: generation,
		Terms: Terms{Bits: 4, Tick: 1000, Window: window, Lead: lead},
	}
	key := Owner{1, 2, 3}
	in := func(generation, block string, revision uint64, state State, hwm int64) Record {
		b, err := ParseBlock(block)
		must(t, err)
		return Record{Realm: "r@" + generation, Block: b, Revision: revision, State: state,
			HWM: hwm}
	}
	rec := func(block string, revision uint64, state State, hwm int64) Record {
		return in(generation, block, revision, state, hwm)
	}
	none := func(block string) Record { return rec(block, 0, Retired, 0) }
	held := func(r Record, from, hwm, deadline int64) Record {
		return heldBy(key, r, from, hwm, deadline)
	}
	proven := func(r Record, revision uint64) Record { r.Request = revision; return r }
	fence := func(generation string, floor int64) func(r *Record) {
		return func(r *Record) { r.Generation, r.HWM = generation, floor }
	}
	absent := Record{Realm: "r"}
	made := func(floor int64) Record { return fenced(absent, root.Terms, other, floor) }
	whole, free := rec("0/1", 3, Whole, 900), rec("0/2", 3, Whole, 900)
	mine, part := held(whole, 900, 1020, 1050), held(free, 900, 1020, 1050)
	from := func(from, hwm, deadline int64) Record { // the next record of whole or mine
		return to(held(whole, from, hwm, deadline), func(*Record) {})
	}
	by := func(r Record) Record { r.Owner[0]++; return r }
	around := func(records ...Record) []Record { return records }
	split, merging := around(rec("0/1", 1, Split, 700)), around(rec("0/1", 4, Merging, 700))
	join, half := rec("0/1", 4, Merging, 900), proven(rec("0/2", 3, Retired, 950), 4)
	const ok, stale = "", "stale" // any other text must be in the error
	for _, c := range []struct {
		name     string
		is, next Record
		around   []Record
		want     string
	}{
		{"a first half", none("0/1"), to(none("0/1"), becomes(Split, 500)), nil, ok},
		{"a first half below the floor", none("0/1"), to(none("0/1"), becomes(Split, 499)), nil,
			"hwm is 499, want 500"},
		{"a half of a split block", none("0/2"), to(none("0/2"), becomes(Whole, 700)), split, ok},
		{"a half below its block's hwm", none("0/2"), to(none("0/2"), becomes(Whole, 600)), split,
			"hwm is 600, want 700"},
		{"a half of a whole block", none("0/2"), to(none("0/2"), becomes(Whole, 700)),
			around(rec("0/1", 1, Whole, 700)), "the block around 0/2 is whole"},
		{"a half of a merging block", none("0/2"), to(none("0/2"), becomes(Whole, 700)), merging,
			stale},
		{"a half of a retired block", none("0/2"), to(none("0/2"), becomes(Whole, 500)), nil,
			"the block around 0/2 is retired"},

		{"a grant from now on", whole, from(now, now+window, now+window*3/2), nil, ok},
		{"a grant from hwm on", whole, from(900, 900+window, 900+window*3/2), nil, ok},
		{"a grant from below hwm on", whole, from(899, 899+window, 899+window*3/2), nil, "want"},
		{"a window too long", whole, from(now, now+window+2, now+window+2+window/2+1), nil,
			"want at most 30"},
		{"too far ahead", rec("0/1", 3, Whole, now+lead+1),
			from(now+lead+1, now+lead+1+window, now+lead+1+window*3/2), nil,
			"too far in the future"},
		{"a clock too far ahead", whole, from(now, now+lead+1+window, now+lead+1+window*3/2), nil,
			"too far in the future"},
		{"no deadline", whole, from(now, now+window, 0), nil, "the deadline is"},
		{"a grant of a held block", held(whole, 900, 980, now+1),
			by(from(now, now+window, now+window*3/2)), nil, "held"},
		{"a grant of a block that was held", held(whole, 900, 980, now),
			by(from(now, now+window, now+window*3/2)), nil, ok},

		{"an extension", mine, from(900, now+window, now+window*3/2), nil, ok},
		{"an extension to earlier ticks", mine, from(899, now+window, now+window*3/2), nil,
			"from is 899, want 900"},
		{"a shorter extension", mine, from(900, 1019, 1049), nil, "hwm is 1019, want 1020"},

		{"a release", mine, to(mine, shown(950, key)), nil, ok},
		{"a release of all ticks", mine, to(mine, shown(900, key)), nil, ok},
		{"a release of more than was granted", mine, to(mine, shown(899, key)), nil,
			"hwm is 899, want 900"},
		{"a release that raises hwm", mine, to(mine, shown(1021, key)), nil,
			"hwm is 1021, want 1020"},
		{"a release by another", mine, to(mine, shown(950, Owner{4})), nil, "not the owner's"},
		{"a release of what nobody holds", whole, to(whole, shown(800, Owner{})), nil, "held"},
		{"an eviction", mine, to(mine, shown(1020, Owner{})), nil, ok},

		{"a merge", rec("0/1", 3, Split, 900), to(rec("0/1", 3, Split, 900), becomes(Merging, 900)),
			nil, ok},
		{"a merge given up", rec("0/1", 3, Merging, 900),
			to(rec("0/1", 3, Merging, 900), becomes(Split, 900)), nil, ok},
		{"a half retired", free, to(free, retiredFor(4)), merging, ok},
		{"a half retired for another merge", free, to(free, retiredFor(6)), merging, stale},
		{"a half retired for no merge", free, to(free, retiredFor(4)),
			around(rec("0/1", 4, Split, 700)), stale},
		{"a held half retired", part, to(part, retiredFor(4)), merging, "held"},
		{"joined", join, to(join, becomes(Whole, 950)),
			around(half, proven(rec("1/2", 1, Retired, 0), 4)), ok},
		{"joined below the hwm of a half", join, to(join, becomes(Whole, 900)),
			around(half, proven(rec("1/2", 1, Retired, 0), 4)), "hwm is 900, want 950"},
		{"joined without proof", join, to(join, becomes(Whole, 950)),
			around(half, proven(rec("1/2", 1, Retired, 0), 2)), stale},
		{"joined with a half in use", join, to(join, becomes(Whole, 950)),
			around(proven(rec("0/2", 3, Whole, 950), 4), proven(rec("1/2", 1, Retired, 0), 4)),
			stale},

		{"a fence", root, to(root, fence(other, now+window+lead+1)), nil,
			"the hwm is 1071, want 500"},
		{"a fence without a floor", root, to(root, fence(other, 500)), nil, "the generation is"},
		{"a floor without a generation", root, to(root, fence(generation, now+window+lead+1)), nil,
			"hwm is 1071, want 500"},
		{"a realm", absent, made(0), nil, ok},
		{"a realm with a floor", absent, made(now), nil, "the hwm is 1000, want 0"},
		{"a realm with an old generation", absent, made(0),
			around(in(other, "1/1", 1, Split, 500)), "used before"},
		{"a half carried over by a fence", in(other, "3/2", 0, Retired, 0),
			to(in(other, "3/2", 0, Retired, 0), becomes(Retired, 2000)), nil, stale},
		{"a new record in a generation that has ended", in(other, "1/1", 0, Retired, 0),
			to(in(other, "1/1", 0, Retired, 0), becomes(Whole, 500)), nil, stale},
		{"a last extension in a generation that has ended",
			held(in(other, "0/1", 3, Whole, 0), 900, 1020, 1050),
			held(in(other, "0/1", 4, Whole, 0), 900, now+window, now+window*3/2), nil, ok},
		{"a revision that is not the next", none("0/1"),
			to(none("0/1"), func(r *Record) { r.State, r.HWM, r.Revision = Split, 500, 2 }), nil,
			"the revision is 2, want 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := Known{Root: root, Now: root.Terms.Time(now),
				Records: append(slices.Clone(c.around), c.is)}
			if c.is.Block == (Block{}) {
				k.Root, k.Records = c.is, c.around
			}
			got, err := k.Check([]Change{{c.is, c.next}})
			switch c.want {
			case ok, stale:
				if got != (c.want == ok) || err != nil {
					t.Errorf("%v, %v", got, err)
				}
			default:
				if fails(t, c.name, err, ErrIllegal, c.want); got {
					t.Error("the change is allowed")
				}
			}
			if c.want == ok { // the client has read another revision
				was := c.is
				was.Revision++
				if got, err := k.Check([]Change{{was, c.next}}); got || err != nil {
					t.Errorf("after a read of another revision: %v, %v", got, err)
				}
			}
		})
	}
}

// If a server refuses a change as illegal, the lease keeps its grant, and asks again.
func TestIllegalIsNotPending(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var refuse atomic.Bool
		var refused sync.Map // requests that stay refused
		n := &network{Store: NewMemory(), before: func(op string, next Record) error {
			if _, ok := refused.Load(next.Request); op == "set" && (ok || refuse.Load()) {
				refused.Store(next.Request, true)
				return &ChangeError{0, "the test refuses it"}
			}
			return nil
		}}
		c := config(4)
		c.Window = 10 * time.Second
		l := acquire(t, n, c)
		node := l.NodeID()
		refuse.Store(true)
		time.Sleep(time.Minute)
		fails(t, "the lease", l.Err(), ErrIllegal)
		fails(t, "another lease", acquireError(t, n, c), ErrIllegal)
		refuse.Store(false)
		time.Sleep(time.Minute)
		if err := l.Err(); err != nil || l.NodeID() != node {
			t.Errorf("%v, node ID %d, had %d", err, l.NodeID(), node)
		}
		must(t, claim(l, 0))
		closed(t, l)
	})
}

// Check allows no HWM that is far in the future or below ticks that others were granted.
func FuzzCheck(f *testing.F) {
	f.Add(int64(900), int64(960), int64(1000), int64(1060), int64(1090), uint64(3), uint8(1),
		uint8(1), int64(1000), int64(60), int64(256))
	f.Add(int64(900), int64(960), int64(960), int64(940), int64(0), uint64(3), uint8(1), uint8(9),
		int64(1000), int64(60), int64(256))
	f.Add(int64(-1<<63), int64(1<<63-1), int64(1<<62), int64(1<<63-1), int64(-1<<63),
		uint64(1<<64-1), uint8(2), uint8(3), int64(-1<<63), int64(1<<62), int64(1<<62))
	f.Fuzz(func(t *testing.T, from, hwm, nextFrom, nextHWM, deadline int64, revision uint64, was,
		state uint8, now, window, tick int64) {
		root := Record{
			Realm: "r", Revision: 7, State: Split, Generation: "0123456789abcdef",
			Terms: Terms{Bits: 4, Tick: tick, Window: window, Lead: window / 4},
		}
		key := Owner{1}
		is := Record{Realm: "r@0123456789abcdef", Block: Block{1, 1}, Revision: revision,
			State: State(was % 4), HWM: hwm, From: from, Deadline: deadline / 2}
		next := Record{Realm: is.Realm, Block: is.Block, Revision: revision + 1,
			State: State(state % 4), HWM: nextHWM, From: nextFrom, Deadline: deadline}
		if was&4 != 0 {
			is.Owner = ownerOf(key)
		}
		switch state >> 2 & 3 {
		case 1:
			next.Owner = ownerOf(key)
		case 2:
			next.Key = key
		case 3:
			next.Owner = Owner{2}
		}
		k := Known{Root: root, Now: time.UnixMilli(now), Records: []Record{is}}
		if ok, _ := k.Check([]Change{{is, next}}); !ok {
			return
		}
		released := is.Owner != Owner{} && next.Key == key && next.HWM >= is.From
		if next.HWM < is.HWM && !released || next.HWM > max(is.HWM, root.Terms.reach(k.Now)) {
			t.Errorf("%+v became %+v", is, next)
		}
	})
}
