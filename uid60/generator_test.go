package uid60

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/sortid/sortid"
	"github.com/sortid/sortid/internal/check"
	"github.com/sortid/sortid/internal/conformance"
	"github.com/sortid/sortid/internal/gencore"
	"github.com/sortid/sortid/internal/window"
	"github.com/sortid/sortid/lease"
)

func newGenerator(t testing.TB, s conformance.Setup, own ...Options) *Generator {
	t.Helper()
	o := append(own, Options{})[0]
	o.GeneratorOptions = s
	return check.Must(NewGenerator(o))(t)
}

func subject(bits int, own ...Options) conformance.Generator[ID] {
	random := 1<<(9-bits) - 1
	return conformance.Generator[ID]{
		New: func(t testing.TB, s conformance.Setup) conformance.Gen[ID] {
			return newGenerator(t, s, own...)
		},
		Tick: time.Millisecond, Default: sortid.RollbackAbort,
		Burst: 512, Shared: true, NoEntropy: bits == 9,
		Range:  [2]time.Time{time.UnixMilli(epoch + 1), time.UnixMilli(epoch + MaxTimestamp - 1)},
		Random: []byte{6: byte(random >> 8), 7: byte(random)},
		Core:   func(g conformance.Gen[ID]) *gencore.Core { return &g.(*Generator).core },
	}
}

func TestGenerator(t *testing.T) {
	for bits := 0; bits <= 9; bits += 3 {
		t.Run(fmt.Sprintf("%d worker bits", bits), func(t *testing.T) {
			var o Options
			if bits > 0 {
				o = Options{WorkerID: 1<<bits - 3, WorkerIDSize: bits}
			}
			g := subject(bits, o)
			g.Run(t)
		})
	}
}

// newLease returns a lease that grants worker ID 1 for the ticks lo to hi-1, counted from
// conformance.Start.
func newLease(size int, lo, hi int64) *window.Window {
	w := window.New(size, time.Millisecond, time.UnixMilli(epoch))
	start := conformance.Start.UnixMilli() - epoch
	w.Set(window.Grant{NodeID: 1, Lo: start + lo, Hi: start + hi}, start+hi)
	return w
}

func TestGeneratorOnLease(t *testing.T) {
	for _, bits := range []int{1, 4, 9} {
		g := subject(bits)
		g.New = func(t testing.TB, s conformance.Setup) conformance.Gen[ID] {
			return newGenerator(t, s, Options{Lease: newLease(bits, -1<<37, 1<<41)})
		}
		g.Leased = true
		t.Run(fmt.Sprint(bits), g.Run)
	}
}

func TestLease(t *testing.T) {
	for _, size := range []int{3, 6, 9} {
		g := conformance.Leased[ID]{
			New: func(t testing.TB, l sortid.Lease,
				s conformance.Setup) (conformance.Gen[ID], error) {
				return NewGenerator(Options{GeneratorOptions: s, Lease: l})
			},
			Tick: time.Millisecond, Epoch: time.UnixMilli(epoch), Size: size, Last: MaxTimestamp,
			Node: func(id ID) uint32 { return uint32(id.Worker(size)) },
			At:   func(id ID) int64 { return int64(id.Timestamp()) },
		}
		t.Run(fmt.Sprint(size), g.Run)
	}
}

// The sequence continues from one claimed millisecond to the next, and restarts at 0 after 511. If
// a claim must wait, the sequence skips no number.
func TestLeaseSequence(t *testing.T) {
	clock := conformance.NewClock(conformance.Start)
	l := newLease(9, 0, 1)
	g := newGenerator(t, conformance.Setup{Clock: clock.Now}, Options{Lease: l})
	r := rand.New(rand.NewPCG(5, 5))
	start := conformance.Start.UnixMilli() - epoch
	claimed, rollbacks := int64(1), 0
	var last ID
	for i := 0; i < 20_000; {
		id, err := g.Generate()
		switch {
		case errors.Is(err, sortid.ErrLeaseExpired):
			now := clock.Now().UnixMilli() - epoch - start
			lo := max(now, claimed) + r.Int64N(3)*r.Int64N(8_000)
			claimed = lo + 1 + r.Int64N(3)
			l.Set(window.Grant{NodeID: r.Uint32N(512), Lo: start + lo, Hi: start + claimed}, 0)
			continue
		case errors.Is(err, sortid.ErrClockRollback):
			rollbacks++
			clock.Add(time.Second)
			continue
		case err != nil:
			t.Fatal(err)
		}
		if int(id.Sequence()) != i%512 || id <= last {
			t.Fatalf("ID %d has the sequence %d, %v after %v", i, id.Sequence(), id, last)
		}
		last = id
		if i++; i%512 == 0 || r.IntN(6) == 0 { // or else the generator can wait
			clock.Add(max(0, last.Time().Add(time.Millisecond).Sub(clock.Now())))
		}
	}
	if rollbacks == 0 {
		t.Error("no claim was too far ahead, so the test missed that case")
	}
}

// The sequence is full in a millisecond ahead of the clock.
func TestLeaseAhead(t *testing.T) {
	clock := conformance.NewClock(conformance.Start)
	g := newGenerator(t, conformance.Setup{Clock: clock.Now}, Options{Lease: newLease(9, 5, 9)})
	check.Must(0, g.Fill(make([]ID, 512)))(t)
	id, err := g.GenerateContext(conformance.Ended(t))
	want := conformance.Start.Add(6 * time.Millisecond)
	if until, _ := g.core.Waits(); !errors.Is(err, sortid.ErrOverflow) || !until.Equal(want) {
		t.Errorf("%v, %v, until %v, want ErrOverflow until %v", id, err, until, want)
	}
}

func TestNew(t *testing.T) {
	conformance.New(t, &global, func(s conformance.Setup) *Generator { return newGenerator(t, s) },
		func() ID { return check.Must(New())(t) },
		func() string { return check.Must(NewString())(t) })
}

func TestOptions(t *testing.T) {
	l := newLease(4, 0, 1)
	conformance.Refused(t, NewGenerator, map[string][]Options{
		"RollbackPolicy": {{GeneratorOptions: conformance.NoPolicy}},
		"WorkerIDSize":   {{WorkerIDSize: -1}, {WorkerIDSize: 10}},
		"WorkerID": {{WorkerID: 1}, {WorkerID: 2, WorkerIDSize: 1},
			{WorkerID: 512, WorkerIDSize: 9}, {WorkerID: 1<<16 - 1, WorkerIDSize: 9},
			{Lease: l, WorkerID: 1}},
		"Lease":                    {{Lease: newLease(10, 0, 1)}, {Lease: (*lease.Lease)(nil)}},
		"Lease and WorkerIDSize":   {{Lease: l, WorkerIDSize: 1}},
		"Lease and RollbackPolicy": {{Lease: l, GeneratorOptions: conformance.Reset}},
	})
}

// The sequence counts from 0 to 511 over all milliseconds, also after a rollback.
func TestSequence(t *testing.T) {
	clock := conformance.NewClock(conformance.Start)
	g := newGenerator(t, conformance.Setup{Clock: clock.Now})
	r := rand.New(rand.NewPCG(1, 1))
	var last ID
	for i := range 20_000 {
		id := check.Must(g.Generate())(t)
		if int(id.Sequence()) != i%512 || id <= last {
			t.Fatalf("ID %d has the sequence %d, %v after %v", i, id.Sequence(), id, last)
		}
		last = id
		switch r.IntN(6) {
		case 0:
			clock.Add(time.Millisecond)
		case 1:
			clock.Add(time.Duration(r.IntN(3000)) * time.Millisecond)
		case 2:
			clock.Add(max(-time.Duration(r.IntN(3000))*time.Millisecond,
				last.Time().Add(-9*time.Second).Sub(clock.Now())))
		}
		if i%512 == 511 { // or else the generator waits
			clock.Add(max(0, last.Time().Add(time.Millisecond).Sub(clock.Now())))
		}
	}

	g = newGenerator(t, conformance.Setup{Clock: clock.Now, RollbackPolicy: sortid.RollbackReset})
	for i := range 100 {
		if id := check.Must(g.Generate())(t); int(id.Sequence()) != i || !id.Time().Equal(clock.Now()) {
			t.Errorf("with a reset for each ID: the sequence is %d, the time %v", id.Sequence(),
				id.Time())
		}
		clock.Add(-time.Minute)
	}
}

// In a steady stream, each millisecond after the first has 512 IDs.
func TestSteadyStream(t *testing.T) {
	for _, first := range []int{1, 2, 300, 511, 512} {
		g := newGenerator(t, conformance.Setup{})
		counts := map[uint64]int{}
		for now := int64(1000); now < 1020; now++ {
			for limit := first; now > 1000 || limit > 0; limit-- {
				id, err := g.next(now)
				if err == gencore.ErrRetry {
					if until, why := g.core.Waits(); until.UnixMilli() != epoch+now+1 ||
						why != sortid.ErrOverflow {
						t.Fatalf("at %d it waits for %v, %v", now, until, why)
					}
					break
				}
				if err != nil || id.Timestamp() != uint64(now) {
					t.Fatalf("at %d: %v, %v", now, id, err)
				}
				counts[id.Timestamp()]++
			}
		}
		for now := uint64(1000); now < 1020; now++ {
			want := 512
			switch {
			case now == 1000:
				want = first
			case now == 1001 && first < 512:
				want = 512 - first
			}
			if counts[now] != want {
				t.Errorf("%d IDs at first: %d at %d, want %d", first, counts[now], now, want)
			}
		}
	}
}

// On a real clock, no millisecond has more than 512 IDs, and the sequence is 0 again only in a new
// millisecond.
func TestRealStream(t *testing.T) {
	g := newGenerator(t, conformance.Setup{})
	ids := make([]ID, 512*30)
	check.Must(0, g.Fill(ids[:len(ids)/2]))(t)
	for i := len(ids) / 2; i < len(ids); i++ {
		ids[i] = check.Must(g.Generate())(t)
	}
	counts := map[uint64]int{}
	for i, id := range ids {
		counts[id.Timestamp()]++
		if i > 0 && (id <= ids[i-1] || id.Sequence() == 0 &&
			id.Timestamp() == ids[i-1].Timestamp()) {
			t.Fatalf("ID %d: sequence %d at %d after %d at %d", i, id.Sequence(), id.Timestamp(),
				ids[i-1].Sequence(), ids[i-1].Timestamp())
		}
	}
	for at, n := range counts {
		if n > 512 {
			t.Errorf("%d IDs at %d", n, at)
		}
	}
}

// After 511 the generator waits for the next millisecond or the context's end, with each policy.
func TestWaitForNext(t *testing.T) {
	for _, policy := range []sortid.RollbackPolicy{sortid.RollbackAbort, sortid.RollbackWait,
		sortid.RollbackReset} {
		for _, back := range []time.Duration{0, 3 * time.Millisecond, 10 * time.Second} {
			clock := conformance.NewClock(conformance.Start)
			g := newGenerator(t, conformance.Setup{Clock: clock.Now, RollbackPolicy: policy})
			ids := make([]ID, 512)
			if err := g.Fill(ids); err != nil || !ids[511].Time().Equal(conformance.Start) ||
				ids[511].Sequence() != 511 {
				t.Fatalf("%v, %v", ids[511], err)
			}
			clock.Add(-back)

			ctx, cancel := context.WithCancelCause(t.Context())
			cause := errors.New("cause")
			time.AfterFunc(5*time.Millisecond, func() { cancel(cause) })
			id, err := g.GenerateContext(ctx)
			if id != 0 || !errors.Is(err, context.Canceled) || !errors.Is(err, cause) ||
				!errors.Is(err, sortid.ErrOverflow) || errors.Is(err, sortid.ErrClockRollback) {
				t.Fatalf("back by %v: %v, %v, want sortid.ErrOverflow and the context's error",
					back, id, err)
			}
			two := []ID{1, 2}
			if err := g.FillContext(ctx, two); !errors.Is(err, context.Canceled) ||
				errors.Is(err, sortid.ErrClockRollback) || two[0]|two[1] != 0 {
				t.Fatalf("back by %v: Fill %v, %v", back, two, err)
			}

			time.AfterFunc(3*time.Millisecond, func() { clock.Add(back + time.Millisecond) })
			next := check.Must(g.Generate())(t)
			if next <= ids[511] || next.Sequence() != 0 ||
				!next.Time().Equal(conformance.Start.Add(time.Millisecond)) {
				t.Errorf("back by %v: after the wait %v, sequence %d, time %v", back, next,
					next.Sequence(), next.Time())
			}
		}
	}

	clock := conformance.NewClock(conformance.Start)
	g := newGenerator(t, conformance.Setup{Clock: clock.Now})
	check.Must(0, g.Fill(make([]ID, 512)))(t)
	time.AfterFunc(3*time.Millisecond, func() { clock.Add(-time.Minute) })
	if id, err := g.Generate(); id != 0 || !errors.Is(err, sortid.ErrClockRollback) {
		t.Errorf("the clock went back during the wait: %v, %v", id, err)
	}

	clock = conformance.NewClock(conformance.Start)
	g = newGenerator(t, conformance.Setup{Clock: clock.Now})
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	go func() {
		for ctx.Err() == nil {
			time.Sleep(time.Millisecond)
			clock.Add(time.Millisecond)
		}
	}()
	ids := make([]ID, 5*512)
	check.Must(0, g.Fill(ids))(t)
	for i, id := range ids {
		if int(id.Sequence()) != i%512 || i > 0 && id <= ids[i-1] {
			t.Fatalf("Fill: ID %d has the sequence %d at %v", i, id.Sequence(), id.Time())
		}
	}
}

// Generators with the same clock and entropy, but different worker IDs, never make the same ID.
func TestWorkerBits(t *testing.T) {
	for bits := 1; bits <= 9; bits++ {
		seen := map[ID]uint16{}
		for n := range uint16(2) {
			worker := n * (1<<bits - 1)
			clock := conformance.NewClock(conformance.Start)
			g := newGenerator(
				t, conformance.Setup{Clock: clock.Now, Entropy: conformance.Entropy(1)},
				Options{WorkerID: worker, WorkerIDSize: bits})
			var ones, zeros uint16
			for i := range 2000 {
				id := check.Must(g.Generate())(t)
				if id.Worker(bits) != worker {
					t.Fatalf("worker %d of %d bits: %v has %d", worker, bits, id, id.Worker(bits))
				}
				if other, twice := seen[id]; twice {
					t.Fatalf("%v by the workers %d and %d", id, other, worker)
				}
				seen[id] = worker
				ones, zeros = ones|id.Random(), zeros|^id.Random()
				if i%64 == 63 {
					clock.Add(time.Millisecond)
				}
			}
			rest := uint16(1)<<(9-bits) - 1
			if ones&rest != rest || zeros&rest != rest {
				t.Errorf("worker %d of %d bits: the rest is not random: %b, %b", worker, bits, ones,
					zeros)
			}
		}
	}
}

func TestRandom(t *testing.T) {
	clock := conformance.NewClock(conformance.Start)
	g := newGenerator(t, conformance.Setup{Clock: clock.Now, Entropy: conformance.Entropy(1)})
	seen := map[uint16]bool{}
	for range 10_000 {
		seen[check.Must(g.Generate())(t).Random()] = true
		clock.Add(time.Millisecond)
	}
	if len(seen) != 512 {
		t.Errorf("%d values of 512 in 10000 IDs", len(seen))
	}
}

func TestResetDuplicates(t *testing.T) {
	clock := conformance.NewClock(conformance.Start)
	g := newGenerator(t, conformance.Setup{Clock: clock.Now, RollbackPolicy: sortid.RollbackReset},
		Options{WorkerID: 7, WorkerIDSize: 9})
	first := check.Must(g.Generate())(t)
	for range 511 {
		clock.Add(time.Minute)
		check.Must(g.Generate())(t)
	}
	clock.Add(-511 * time.Minute)
	if again := check.Must(g.Generate())(t); again != first {
		t.Errorf("%v, and after the reset %v", first, again)
	}
}
