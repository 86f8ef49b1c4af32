// Package storetest tests whether a [lease.Store] keeps its promises.
package storetest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sortid/sortid/lease"
)

// Run tests a kind of store. For each test it calls the function setup, which prepares an empty
// store, and returns a function that opens a connection to it. Run closes the connections.
func Run(t *testing.T, setup func(t *testing.T) (open func() lease.Store)) {
	for _, c := range []struct {
		name string
		test func(t *testing.T, open func() lease.Store)
	}{
		{"Open", testOpen},
		{"Absent", testAbsent},
		{"Fields", testFields},
		{"Compare", testCompare},
		{"Keys", testKeys},
		{"List", testList},
		{"Many", testMany},
		{"Realms", testRealms},
		{"Race", testRace},
		{"Latest", testLatest},
		{"Reopen", testReopen},
		{"Context", testContext},
		{"Time", testTime},
		{"Leases", testLeases},
		{"Lessor", testLessor},
	} {
		t.Run(c.name, func(t *testing.T) {
			open := setup(t)
			c.test(t, func() lease.Store {
				s := open()
				t.Cleanup(func() { s.Close() })
				return s
			})
		})
	}
}

const patience = 3 * time.Minute

func full(realm string, b lease.Block, revision uint64) lease.Record {
	return lease.Record{
		Realm: realm, Block: b, Revision: revision, HWM: int64(revision) * 1000, State: lease.Whole,
		Owner: lease.Owner{0, 1, 0x7f, 0x80, 0xff, 0, '\'', '"', '\\', '%', '\n', 11, 12, 13, 14,
			15},
		Request: 1<<64 - 1, Deadline: 1<<62 + 1, Name: `a "name", it's 50% \ <b> ü 名 😀`,
		From: -7, Window: 1<<53 - 1, Peak: math.MaxInt64, Key: lease.Owner{0xfe, 15: 1},
		Released: 1<<62 + 1,
		Terms: lease.Terms{Bits: 23, Tick: 256, Epoch: 1519862400000, Window: 234, Lead: 39,
			Format: "scru64", Only: 8, MostWindow: 235, MostLead: 40},
		Generation: "0123456789abcdef",
	}
}

func get(t *testing.T, s lease.Store, realm string, b lease.Block) lease.Record {
	t.Helper()
	r, err := s.Get(t.Context(), realm, b)
	if err != nil {
		t.Fatalf("Get(%q, %v): %v", realm, b, err)
	}
	return r
}

func set(t *testing.T, s lease.Store, prev, next lease.Record, want bool) {
	t.Helper()
	ok, err := s.CompareAndSet(t.Context(), prev, next)
	if err != nil || ok != want {
		t.Fatalf("CompareAndSet(%+v, %+v) = %v, %v, want %v", prev, next, ok, err, want)
	}
}

func absent(realm string, b lease.Block) lease.Record {
	return lease.Record{Realm: realm, Block: b}
}

func testOpen(t *testing.T, open func() lease.Store) {
	const processes = 12
	b := lease.Block{NodeID: 42, Size: 8}
	var wg sync.WaitGroup
	var changed atomic.Int32
	begin := make(chan struct{})
	for range processes {
		wg.Go(func() {
			<-begin
			ok, err := open().CompareAndSet(t.Context(), absent("realm", b), full("realm", b, 1))
			if err != nil {
				t.Error(err)
			}
			if ok {
				changed.Add(1)
			}
		})
	}
	close(begin)
	wg.Wait()
	if n := changed.Load(); n != 1 {
		t.Errorf("%d of %d processes made the same change", n, processes)
	}
}

func testAbsent(t *testing.T, open func() lease.Store) {
	s := open()
	b := lease.Block{NodeID: 42, Size: 8}
	if r := get(t, s, "realm", b); r != absent("realm", b) {
		t.Errorf("Get of a missing record: %+v", r)
	}
	if rs, err := s.List(t.Context(), "realm"); err != nil || len(rs) != 0 {
		t.Errorf("List of an empty realm: %v, %v", rs, err)
	}
	set(t, s, full("realm", b, 1), full("realm", b, 2), false)
	if r := get(t, s, "realm", b); r != absent("realm", b) {
		t.Errorf("after a refused change the store has %+v", r)
	}
}

func testFields(t *testing.T, open func() lease.Store) {
	s, other := open(), open()
	b := lease.Block{NodeID: 42, Size: 8}
	was := absent("realm", b)
	for i, change := range []func(r *lease.Record){
		func(r *lease.Record) {},
		func(r *lease.Record) { r.HWM = math.MaxInt64 },
		func(r *lease.Record) { r.HWM = 0 },
		func(r *lease.Record) { r.HWM = -5 },
		func(r *lease.Record) { r.State = lease.Retired },
		func(r *lease.Record) { r.State = lease.Split },
		func(r *lease.Record) { r.State = lease.Merging },
		func(r *lease.Record) { r.Owner, r.Name, r.Request, r.Deadline = lease.Owner{}, "", 0, 0 },
		func(r *lease.Record) { r.Terms, r.Generation = lease.Terms{}, "" },
		func(r *lease.Record) { r.From, r.Window, r.Peak, r.Released, r.Key = 0, 0, 0, 0, lease.Owner{} },
		func(r *lease.Record) { r.Terms.Format, r.Terms.Only = "", 0 },
		func(r *lease.Record) { r.Name = strings.Repeat("ü", 50) },
		func(r *lease.Record) { r.Deadline = math.MaxInt64 },
		func(r *lease.Record) { r.Revision = 1<<63 - 1 },
	} {
		next := full("realm", b, uint64(i+1))
		change(&next)
		set(t, s, was, next, true)
		for _, s := range []lease.Store{s, other} {
			if r := get(t, s, "realm", b); r != next {
				t.Fatalf("stored %+v, got %+v", next, r)
			}
		}
		was = next
	}
}

func testCompare(t *testing.T, open func() lease.Store) {
	s := open()
	b := lease.Block{NodeID: 42, Size: 8}
	one, two := full("realm", b, 1), full("realm", b, 2)
	set(t, s, absent("realm", b), one, true)
	set(t, s, absent("realm", b), two, false)
	other := lease.Block{NodeID: 43, Size: 8}
	raised := absent("realm", other)
	raised.HWM = 1000 // the HWM does not matter if there is no record
	set(t, s, raised, full("realm", other, 1), true)
	for _, change := range []func(r *lease.Record){
		func(r *lease.Record) { r.Revision++ },
		func(r *lease.Record) { r.Revision-- },
		func(r *lease.Record) { r.HWM++ },
		func(r *lease.Record) { r.HWM-- },
		func(r *lease.Record) { r.Revision, r.HWM = 0, 0 },
	} {
		prev := one
		change(&prev)
		set(t, s, prev, two, false)
		if r := get(t, s, "realm", b); r != one {
			t.Fatalf("after a refused change the store has %+v, want %+v", r, one)
		}
	}
	prev := one
	prev.State, prev.Owner, prev.Deadline, prev.Name = lease.Split, lease.Owner{9}, 0, ""
	set(t, s, prev, two, true)
	set(t, s, prev, two, false) // once more
	if r := get(t, s, "realm", b); r != two {
		t.Fatalf("got %+v, want %+v", r, two)
	}
	three := full("realm", b, 3)
	three.HWM = two.HWM - 1500
	set(t, s, two, three, true)
	if r := get(t, s, "realm", b); r != three {
		t.Fatalf("got %+v, want %+v", r, three)
	}
}

var names = []string{
	"realm", "Realm", "realm ", " realm", "realm@0123456789abcdef", "realm@0123456789abcdee",
	"real", "realms",
	"a/b", "a/b/", "a//b", "a.b", "a.>", "a.*", "*", ">", "%", "_", "rea_m", "rea%", "'", `"`, `\`,
	"$1", "?", ":x", "{}", "#", "0",
	"ü", "u\u0308", "名前", "😀", strings.Repeat("x", 117), strings.Repeat("😀", 25) +
		"@0123456789abcdef", "a b", "-", "NULL", "..",
}

func testKeys(t *testing.T, open func() lease.Store) {
	s := open()
	var want []lease.Record
	blocks := []lease.Block{{}, {NodeID: 0, Size: 1}, {NodeID: 0, Size: 2}, {NodeID: 1, Size: 2},
		{NodeID: 1, Size: 24}, {NodeID: 12, Size: 8}, {NodeID: 1, Size: 12}, {NodeID: 1<<24 - 1,
			Size: 24}, {NodeID: 1<<24 - 1, Size: 25}, {NodeID: 0, Size: 25}}
	for i, name := range names {
		for j, b := range blocks {
			r := full(name, b, uint64(1+i*len(blocks)+j))
			r.Name = fmt.Sprint(i, j)
			set(t, s, absent(name, b), r, true)
			want = append(want, r)
		}
	}
	for _, r := range want {
		if got := get(t, s, r.Realm, r.Block); got != r {
			t.Errorf("got %+v, want %+v", got, r)
		}
	}
	for i, name := range names {
		checkList(t, s, name, want[i*len(blocks):(i+1)*len(blocks)])
	}
}

// checkList waits for the records, because a list may be outdated.
func checkList(t *testing.T, s lease.Store, realm string, want []lease.Record) {
	t.Helper()
	list := func() []lease.Record {
		records, err := s.List(t.Context(), realm)
		if err != nil {
			t.Fatalf("List(%q): %v", realm, err)
		}
		return inOrder(records)
	}
	want = inOrder(want)
	got := list()
	for end := time.Now().Add(patience); !slices.Equal(got, want) && time.Now().Before(end); {
		time.Sleep(50 * time.Millisecond)
		got = list()
	}
	if !slices.Equal(got, want) {
		t.Fatalf("List(%q): %d records, want %d\n got %+v\nwant %+v", realm, len(got), len(want),
			got, want)
	}
	if scanner, ok := s.(lease.Scanner); ok {
		var scanned []lease.Record
		err := scanner.Scan(t.Context(), realm, func(r lease.Record) {
			scanned = append(scanned, r)
		})
		if err != nil || !slices.Equal(inOrder(scanned), want) {
			t.Fatalf("Scan(%q): %v, %+v, want %+v", realm, err, scanned, want)
		}
	}
}

func inOrder(records []lease.Record) []lease.Record {
	return slices.SortedFunc(slices.Values(records), func(a, b lease.Record) int {
		return cmp.Or(cmp.Compare(a.Block.Size, b.Block.Size),
			cmp.Compare(a.Block.NodeID, b.Block.NodeID))
	})
}

func testList(t *testing.T, open func() lease.Store) {
	s, other := open(), open()
	var want []lease.Record
	for i := range uint32(600) {
		b := lease.Block{NodeID: i, Size: 16}
		r := full("realm", b, 1)
		set(t, s, absent("realm", b), r, true)
		if i%3 == 0 {
			next := full("realm", b, 2)
			set(t, other, r, next, true)
			r = next
		}
		want = append(want, r)
	}
	checkList(t, s, "realm", want)
	checkList(t, other, "realm", want)
}

// GetMany returns records in the requested order. CompareAndSetMany stops at the first change that
// it refuses.
func testMany(t *testing.T, open func() lease.Store) {
	s, other := open(), open()
	blocks := []lease.Block{{NodeID: 1, Size: 3}, {NodeID: 0, Size: 1}, {NodeID: 0, Size: 2},
		{NodeID: 42, Size: 8}}
	check := func(want ...lease.Record) {
		t.Helper()
		for _, s := range []lease.Store{s, other} {
			got, err := s.GetMany(t.Context(), "realm", blocks)
			if err != nil || !slices.Equal(got, want) {
				t.Fatalf("GetMany: %v\n got %+v\nwant %+v", err, got, want)
			}
		}
	}
	setAll := func(want bool, changes ...lease.Change) {
		t.Helper()
		ok, err := s.CompareAndSetMany(t.Context(), changes)
		if err != nil || ok != want {
			t.Fatalf("CompareAndSetMany: %v, %v, want %v", ok, err, want)
		}
	}
	var none, one, two [4]lease.Record
	for i, b := range blocks {
		none[i], one[i], two[i] = absent("realm", b), full("realm", b, 1), full("realm", b, 2)
	}
	check(none[:]...)
	set(t, other, absent("another", blocks[0]), full("another", blocks[0], 1), true)
	check(none[:]...)
	setAll(true, lease.Change{Prev: none[1], Next: one[1]},
		lease.Change{Prev: none[0], Next: one[0]})
	check(one[0], one[1], none[2], none[3])
	raised := one[1]
	raised.HWM++
	for _, c := range []lease.Change{{Prev: none[1], Next: one[1]}, {Prev: one[2], Next: two[2]},
		{Prev: two[1], Next: one[1]}, {Prev: raised, Next: two[1]}} {
		setAll(false, c, lease.Change{Prev: one[0], Next: two[0]},
			lease.Change{Prev: none[3], Next: one[3]})
		check(one[0], one[1], none[2], none[3])
	}
	setAll(true, lease.Change{Prev: one[1], Next: two[1]},
		lease.Change{Prev: none[2], Next: one[2]}, lease.Change{Prev: one[0], Next: two[0]})
	check(two[0], two[1], one[2], none[3])
	// The store may have made the changes before the refused change.
	setAll(false, lease.Change{Prev: none[3], Next: one[3]},
		lease.Change{Prev: one[0], Next: two[0]})
	if r := get(t, other, "realm", blocks[3]); r != none[3] && r != one[3] {
		t.Errorf("after a refused change the store has %+v", r)
	}
	if r := get(t, other, "realm", blocks[0]); r != two[0] {
		t.Errorf("after a refused change the store has %+v, want %+v", r, two[0])
	}
	// Many processes divide the same block and take the same part. One process succeeds, and none
	// waits for ever.
	const racers, rounds = 6, 15
	stores := make([]lease.Store, racers)
	for i := range stores {
		stores[i] = open()
	}
	for round := range uint32(rounds) {
		block := lease.Block{NodeID: round, Size: 9}
		var won [racers]bool
		var wg sync.WaitGroup
		for i, s := range stores {
			wg.Go(func() {
				b := block
				var changes []lease.Change
				for range 4 {
					r := full("race", b, 1)
					r.Name = fmt.Sprint(i)
					changes = append(changes, lease.Change{Prev: absent("race", b), Next: r})
					b = lease.Block{NodeID: b.NodeID << 1, Size: b.Size + 1}
				}
				ok, err := s.CompareAndSetMany(t.Context(), changes[i%2:])
				if err != nil {
					t.Error(err)
				}
				won[i] = ok
			})
		}
		wg.Wait()
		is := get(t, s, "race", lease.Block{NodeID: round << 3, Size: 12})
		for i, ok := range won {
			if ok != (is.Name == fmt.Sprint(i)) {
				t.Fatalf("round %d: CompareAndSetMany returned %v, but %q wrote the stored record",
					round, won, is.Name)
			}
		}
	}
}

func testRealms(t *testing.T, open func() lease.Store) {
	s := open()
	check := func(want []string) {
		t.Helper()
		want = slices.Sorted(slices.Values(want))
		got, err := s.Realms(t.Context())
		for end := time.Now().Add(patience); len(got) < len(want) && time.Now().Before(end); {
			time.Sleep(50 * time.Millisecond)
			got, err = s.Realms(t.Context())
		}
		slices.Sort(got)
		if err != nil || !slices.Equal(got, want) {
			t.Fatalf("Realms: %v\n got %q\nwant %q", err, got, want)
		}
	}
	check(nil)
	for i, name := range names {
		if i%3 == 0 {
			set(t, s, absent(name, lease.Block{}), full(name, lease.Block{}, 1), true)
		}
		b := lease.Block{NodeID: 0, Size: 1}
		set(t, s, absent(name, b), full(name, b, 1), true)
	}
	var want []string
	for i := 0; i < len(names); i += 3 {
		want = append(want, names[i])
	}
	check(want)
}

func testRace(t *testing.T, open func() lease.Store) {
	const racers, rounds = 8, 30
	stores := make([]lease.Store, racers)
	for i := range stores {
		stores[i] = open()
	}
	b := lease.Block{NodeID: 42, Size: 8}
	was := absent("realm", b)
	for round := range rounds {
		var wg sync.WaitGroup
		won := make([]bool, racers)
		for i, s := range stores {
			wg.Go(func() {
				next := full("realm", b, was.Revision+1)
				next.Name = fmt.Sprint(i)
				ok, err := s.CompareAndSet(t.Context(), was, next)
				if err != nil {
					t.Error(err)
				}
				won[i] = ok
			})
		}
		wg.Wait()
		is := get(t, stores[round%racers], "realm", b)
		for i := range won {
			if won[i] != (is.Name == fmt.Sprint(i)) {
				t.Fatalf("round %d: CompareAndSet returned %v, but %s wrote the stored record",
					round, won, is.Name)
			}
		}
		if is.Revision != was.Revision+1 {
			t.Fatalf("round %d: the revision went from %d to %d", round, was.Revision, is.Revision)
		}
		was = is
	}
}

func testLatest(t *testing.T, open func() lease.Store) {
	stores := []lease.Store{open(), open(), open()}
	b := lease.Block{NodeID: 42, Size: 8}
	was := absent("realm", b)
	for i := range 60 {
		next := full("realm", b, was.Revision+1)
		set(t, stores[i%3], was, next, true)
		for j := range stores {
			if r := get(t, stores[(i+1+j)%3], "realm", b); r != next {
				t.Fatalf("change %d: got revision %d, want %d", i, r.Revision, next.Revision)
			}
		}
		was = next
	}
}

func testReopen(t *testing.T, open func() lease.Store) {
	a, b := open(), open()
	block := lease.Block{NodeID: 42, Size: 8}
	one, two := full("realm", block, 1), full("realm", block, 2)
	set(t, a, absent("realm", block), one, true)
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	set(t, b, one, two, true)
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if r := get(t, open(), "realm", block); r != two {
		t.Fatalf("after all connections were closed, a new one has %+v, want %+v", r, two)
	}
}

// If the context has ended, every call soon fails. Calls with another context work.
func testContext(t *testing.T, open func() lease.Store) {
	s := open()
	b := lease.Block{NodeID: 42, Size: 8}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	done := make(chan struct{})
	go func() {
		defer close(done)
		if _, err := s.Get(ctx, "realm", b); err == nil {
			t.Error("Get: no error")
		}
		if _, err := s.GetMany(ctx, "realm", []lease.Block{b}); err == nil {
			t.Error("GetMany: no error")
		}
		if _, err := s.Realms(ctx); err == nil {
			t.Error("Realms: no error")
		}
		if ok, err := s.CompareAndSetMany(ctx, []lease.Change{
			{Prev: absent("realm", b), Next: full("realm", b, 1)},
			{Prev: absent("realm", lease.Block{}), Next: full("realm", lease.Block{}, 1)},
		}); err == nil {
			t.Errorf("CompareAndSetMany: %v without an error", ok)
		}
		if _, err := s.List(ctx, "realm"); err == nil {
			t.Error("List: no error")
		}
		if ok, err := s.CompareAndSet(ctx, absent("realm", b), full("realm", b, 1)); err == nil {
			t.Errorf("CompareAndSet: %v without an error", ok)
		}
	}()
	select {
	case <-done:
	case <-time.After(patience):
		t.Fatal("a call does not return although its context has ended")
	}
	if r := get(t, s, "realm", b); r.Revision == 0 {
		set(t, s, r, full("realm", b, 1), true)
	}
}

func testTime(t *testing.T, open func() lease.Store) {
	s := open()
	began := time.Now()
	before, err := s.Time(t.Context())
	if errors.Is(err, lease.ErrNoTime) {
		return // the store has no clock, so there is nothing to check
	}
	if err != nil {
		t.Fatal(err)
	}
	if d := time.Since(before); d.Abs() > time.Hour {
		t.Errorf("the store's clock is %v from this machine's", d)
	}
	time.Sleep(1100 * time.Millisecond)
	after, err := s.Time(t.Context())
	if d, most := after.Sub(before), time.Since(began)+time.Minute; err != nil ||
		d < 900*time.Millisecond || d > most {
		t.Errorf("after at least 1.1 s the store's clock has advanced by %v, %v", d, err)
	}
	// A process gets no node ID if its clock differs from the store's by more than the lead.
	for _, c := range []struct {
		ahead time.Duration
		want  error
	}{
		{0, nil}, {30 * time.Second, nil}, {-30 * time.Second, nil},
		{90 * time.Second, lease.ErrClock}, {-90 * time.Second, lease.ErrClock},
		{365 * 24 * time.Hour, lease.ErrClock}, {-365 * 24 * time.Hour, lease.ErrClock},
	} {
		l, err := lease.Acquire(t.Context(), s, lease.Config{
			Realm: "leases", Format: format, NodeBits: 3, MaxLead: time.Minute,
			Now: func() time.Time { return after.Add(c.ahead) },
		})
		if !errors.Is(err, c.want) {
			t.Errorf("a process %v ahead: %v, want %v", c.ahead, err, c.want)
		}
		if err == nil {
			if err := l.Close(t.Context()); err != nil {
				t.Error(err)
			}
		}
	}
}

var format = lease.Format{Mixed: true, Bits: 4, Tick: time.Millisecond,
	Epoch: time.UnixMilli(0)}

// Many processes lease node IDs of mixed sizes again and again. No tick is used twice.
func testLeases(t *testing.T, open func() lease.Store) {
	const processes, lives, ticks = 6, 5, 200
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var mu sync.Mutex
	used, uses := map[int64][]lease.Block{}, 0
	var wg sync.WaitGroup
	for i := range processes {
		s := open()
		wg.Go(func() {
			for life := range lives {
				// The realm has just enough node IDs, so blocks are split and merged.
				size := 3 + (i+life)%2
				var l *lease.Lease
				err := lease.ErrFull
				for ctx.Err() == nil && (errors.Is(err, lease.ErrFull) ||
					errors.Is(err, lease.ErrBusy)) {
					if l, err = lease.Acquire(ctx, s, lease.Config{
						Realm: "leases", Format: format, NodeBits: size,
						Window: 10 * time.Second, MaxLead: 10 * time.Second,
						Name: fmt.Sprint("process ", i),
					}); err != nil {
						time.Sleep(20 * time.Millisecond)
					}
				}
				if err != nil {
					t.Error(err)
					return
				}
				for made := 0; made < ticks; {
					node, tick, err := l.ClaimTick(time.Now().UnixMilli())
					if errors.Is(err, lease.ErrExpired) && ctx.Err() == nil {
						time.Sleep(time.Millisecond)
						continue
					}
					if err != nil {
						t.Error(err)
						break
					}
					made++
					b := lease.Block{NodeID: node, Size: uint8(size)}
					mu.Lock()
					for _, other := range used[tick] {
						if other.Contains(b) || b.Contains(other) {
							t.Errorf("tick %d of %v was used twice, also as %v", tick, b, other)
						}
					}
					used[tick] = append(used[tick], b)
					uses++
					mu.Unlock()
				}
				if err := l.Close(t.Context()); err != nil {
					t.Errorf("Close: %v", err)
				}
			}
		})
	}
	wg.Wait()
	if uses != processes*lives*ticks {
		t.Errorf("%d ticks were used, want %d", uses, processes*lives*ticks)
	}
	_, blocks, err := lease.Records(t.Context(), open(), "leases")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range blocks {
		if r.Owner != (lease.Owner{}) {
			t.Errorf("%v is still held by %s", r.Block, r.Name)
		}
	}
}

// Two lessors over one store serve many clients at once. Each request is sent to both.
func testLessor(t *testing.T, open func() lease.Store) {
	const clients = 12
	lessors := []*lease.StoreLessor{lease.NewLessor(open(), lease.LessorOptions{}),
		lease.NewLessor(open(), lease.LessorOptions{})}
	_, _, err := lessors[0].CreateRealm(t.Context(), lease.Config{Realm: "lessor",
		Format: lease.SCRU160(), NodeBits: 4})
	if err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	var mu sync.Mutex
	holders := map[lease.Block]int{}
	var wg sync.WaitGroup
	for i := range clients {
		wg.Go(func() {
			if err := testClient(t, lessors, i, func(g lease.Grant) {
				mu.Lock()
				defer mu.Unlock()
				if other, ok := holders[g.Block]; ok {
					t.Errorf("clients %d and %d have node ID %v", i, other, g.Block)
				}
				holders[g.Block] = i
			}); err != nil {
				t.Errorf("client %d: %v", i, err)
			}
		})
	}
	wg.Wait()
	info, err := lessors[1].Realm(t.Context(), "lessor")
	if err != nil || info.Held+info.Waiting+info.Free != 16 {
		t.Errorf("after %v: %+v, %v", time.Since(begin), info, err)
	}
}

// testClient acquires a lease at both lessors at once, and then renews and releases it at one after
// the other.
func testClient(t *testing.T, lessors []*lease.StoreLessor, i int,
	got func(g lease.Grant)) error {
	request := lease.AcquireRequest{Request: fmt.Sprintf("request %16d", i), NodeID: -1}
	grants, errs := make([]lease.Grant, len(lessors)), make([]error, len(lessors))
	var wg sync.WaitGroup
	for n, l := range lessors {
		wg.Go(func() { grants[n], errs[n] = l.Acquire(t.Context(), "lessor", request) })
	}
	wg.Wait()
	g := grants[0]
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("acquire: %w", err)
	}
	if other := grants[1]; other.ID != g.ID || other.Secret != g.Secret {
		return fmt.Errorf("one request got two leases: %+v and %+v", g, other)
	}
	got(g)
	time.Sleep(10 * time.Millisecond)
	renewal := lease.RenewRequest{Secret: g.Secret, EndTick: g.EndTick, Renewal: "renewal"}
	for n := range lessors {
		next, err := lessors[(i+n)%2].Renew(t.Context(), "lessor", g.ID, renewal)
		if err != nil || next.EndTick < renewal.EndTick || n > 0 && next.EndTick != g.EndTick {
			return fmt.Errorf("renewal: %+v after %+v: %w", next, g, err)
		}
		g = next
	}
	release := lease.ReleaseRequest{Secret: g.Secret, EndTick: g.EndTick}
	for n := range lessors {
		if err := lessors[(i+n)%2].Release(t.Context(), "lessor", g.ID, release); err != nil {
			return fmt.Errorf("release: %w", err)
		}
	}
	renewal.EndTick = g.EndTick
	if _, err := lessors[i%2].Renew(t.Context(), "lessor", g.ID,
		renewal); !errors.Is(err, lease.ErrLost) {
		return fmt.Errorf("renewal after the release: %w, want %w", err, lease.ErrLost)
	}
	return nil
}
