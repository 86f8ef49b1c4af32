package euid

import (
	"context"
	"errors"
	"math/bits"
	"testing"
	"time"

	"github.com/sortid/sortid"
	"github.com/sortid/sortid/internal/check"
	"github.com/sortid/sortid/internal/conformance"
	"github.com/sortid/sortid/internal/gencore"
)

func newGenerator(t testing.TB, s conformance.Setup, own ...Options) *Generator {
	t.Helper()
	o := append(own, Options{})[0]
	o.GeneratorOptions = s
	return check.Must(NewGenerator(o))(t)
}

func subject(own ...Options) conformance.Generator[ID] {
	at := 79
	for _, o := range own {
		at -= max(o.ExtensionLength, bits.Len16(o.Extension))
	}
	return conformance.Generator[ID]{
		AtBits: at,
		New: func(t testing.TB, s conformance.Setup) conformance.Gen[ID] {
			return newGenerator(t, s, own...)
		},
		Tick: time.Millisecond, Default: sortid.RollbackReset,
		// The high half of random must not become full. With the tests' seeds it does not, but with
		// the system's entropy one run in a million fails.
		Burst:  1 << 20,
		Range:  [2]time.Time{time.UnixMilli(0), time.UnixMilli(MaxTimestamp)},
		Random: []byte{12: 0xff, 0xff, 0xff, 0xff},
		Core:   func(g conformance.Gen[ID]) *gencore.Core { return &g.(*Generator).core },
	}
}

func TestGenerator(t *testing.T) {
	for name, g := range map[string]conformance.Generator[ID]{
		"default":          subject(),
		"extension":        subject(Options{Extension: 42}),
		"full extension":   subject(Options{Extension: 32767}),
		"extension of one": subject(Options{Extension: 0, ExtensionLength: 1}),
	} {
		t.Run(name, g.Run)
	}
}

func TestNew(t *testing.T) {
	conformance.New(t, &global,
		func(s conformance.Setup) *Generator { return newGenerator(t, s) }, New, NewString)
}

func TestOptions(t *testing.T) {
	conformance.Refused(t, NewGenerator, map[string][]Options{
		"RollbackPolicy": {{GeneratorOptions: conformance.NoPolicy}},
		"Extension": {{Extension: 32768}, {Extension: 65535},
			{Extension: 65535, ExtensionLength: 15}},
		"ExtensionLength": {{Extension: 0, ExtensionLength: -1},
			{Extension: 0, ExtensionLength: 16}, {Extension: 8, ExtensionLength: 3}},
	})
}

func TestExtension(t *testing.T) {
	clock := conformance.NewClock(conformance.Start)
	entropy := conformance.Entropy(1)
	try := func(opt Options, value uint16, length int) {
		t.Helper()
		g := newGenerator(t, conformance.Setup{Clock: clock.Now, Entropy: entropy}, opt)
		id := check.Must(g.Generate())(t)
		got, ok := id.Extension()
		if got != value || ok != (length > 0) || id.ExtensionLength() != length ||
			id.Version() != 1 || id.VersionBits() != 0 {
			t.Fatalf("%d in %d bits: %v has %d, %v, in %d bits, version %d", value, length,
				UUID(id), got, ok, id.ExtensionLength(), id.Version())
		}
	}
	for value := range 1 << 15 {
		try(Options{Extension: uint16(value)}, uint16(value), bits.Len(uint(value)))
	}
	for length := 1; length <= 15; length++ {
		for _, value := range []uint16{0, 1, 1<<length - 1, 1 << (length - 1)} {
			try(Options{Extension: value, ExtensionLength: length}, value, length)
		}
		g := newGenerator(t, conformance.Setup{Clock: clock.Now, Entropy: entropy},
			Options{Extension: 0, ExtensionLength: length})
		var ones, zeros uint16
		for range 100 { // the chance that a bit never changes is 1 in 2^99
			clock.Add(time.Millisecond)
			id := check.Must(g.Generate())(t)
			ones, zeros = ones|id.RandomAndExtension(), zeros|^id.RandomAndExtension()
		}
		random := uint16(MaxRandomAndExtension) &^ (1<<length - 1)
		if ones != random || zeros&random != random {
			t.Errorf("above %d bits of extension only %#x were ever 1 and %#x ever 0", length, ones,
				zeros&random)
		}
	}
}

func TestMonotonicity(t *testing.T) {
	clock := conformance.NewClock(conformance.Start)
	g := newGenerator(t, conformance.Setup{Clock: clock.Now, Entropy: conformance.Entropy(2)},
		Options{Extension: 9})
	var last ID
	headers, starts, lows := map[uint64]bool{}, map[uint64]bool{}, map[uint32]bool{}
	const ticks, each = 500, 20
	for range ticks {
		for i := range each {
			id := check.Must(g.Generate())(t)
			hi, lo := id.Uint128()
			lastHi, lastLo := last.Uint128()
			if i > 0 && (hi != lastHi || lo>>32 != lastLo>>32+1) {
				t.Fatalf("%v after %v", UUID(id), UUID(last))
			}
			if i == 0 {
				headers[hi&(1<<22-1)], starts[lo>>32] = true, true
			}
			lows[uint32(lo)] = true
			last = id
		}
		clock.Add(time.Millisecond)
	}
	if len(headers) < ticks*3/4 || len(starts) != ticks || len(lows) < ticks*each-1 {
		t.Errorf("%d headers, %d starts, %d low halves of %d ms with %d IDs each", len(headers),
			len(starts), len(lows), ticks, each)
	}
}

// Each millisecond has room for one ID.
func TestOverflow(t *testing.T) {
	clock := conformance.NewClock(conformance.Start)
	g := newGenerator(t, conformance.Setup{Clock: clock.Now, Entropy: conformance.Constant(0xff)})
	for ms := range 3 {
		id, err := g.Generate()
		want, _ := FromFields(uint64(conformance.Start.UnixMilli())+uint64(ms),
			MaxRandomAndExtension, 0, 0, 1<<64-1)
		if err != nil || id != want {
			t.Fatalf("%v, %v, want %v", UUID(id), err, UUID(want))
		}
		ids := []ID{id, id}
		for range 3 {
			if id, err := g.Generate(); !errors.Is(err, sortid.ErrOverflow) || !id.IsZero() {
				t.Fatalf("%v, %v, want ErrOverflow", UUID(id), err)
			}
			if err := g.Fill(ids); !errors.Is(err, sortid.ErrOverflow) || !ids[0].IsZero() ||
				!ids[1].IsZero() {
				t.Fatalf("Fill: %v, %v, want sortid.ErrOverflow and no ID", ids, err)
			}
			clock.Add(-time.Millisecond)
		}
		clock.Add(4 * time.Millisecond)
	}
	if err := g.Fill(make([]ID, 2)); !errors.Is(err, sortid.ErrOverflow) {
		t.Errorf("Fill over the end: %v, want ErrOverflow", err)
	}

	g = newGenerator(t, conformance.Setup{Clock: clock.Now, Entropy: conformance.Entropy(3)})
	g.Generate()
	g.high = maxHigh - 2
	ids := make([]ID, 2)
	if err := g.Fill(ids); err != nil || ids[1].Random()>>32 != 1<<32-1 ||
		ids[0].Compare(ids[1]) >= 0 {
		t.Errorf("%v, %v", ids, err)
	}
	if _, err := g.Generate(); !errors.Is(err, sortid.ErrOverflow) {
		t.Errorf("%v, want ErrOverflow", err)
	}
}

// TestOverflow on the fast path, with the system's entropy.
func TestOverflowFastPath(t *testing.T) {
	clock := conformance.NewClock(conformance.Start)
	g := newGenerator(t, conformance.Setup{Clock: clock.Now})
	first := check.Must(g.Generate())(t)
	ids := make([]ID, 4)
	g.high = maxHigh - 3
	for i := range 3 {
		ids[i] = check.Must(g.Generate())(t)
		if ids[i].Random()>>32 != maxHigh-2+uint64(i) || ids[i].Time() != first.Time() {
			t.Fatalf("ID %d: %v", i, UUID(ids[i]))
		}
	}
	if id, err := g.Generate(); !errors.Is(err, sortid.ErrOverflow) {
		t.Errorf("%v, %v, want ErrOverflow", UUID(id), err)
	}
	if until, _ := g.core.Waits(); !until.Equal(time.UnixMilli(0)) {
		t.Errorf("a call that does not wait has left the time of a wait: %v", until)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	err := g.generate(ended, new(ID), true)
	if until, _ := g.core.Waits(); !errors.Is(err, sortid.ErrOverflow) ||
		!until.Equal(conformance.Start.Add(time.Millisecond)) {
		t.Errorf("%v until %v, want ErrOverflow until the next millisecond", err, until)
	}
	g.high = maxHigh - 3
	if err := g.Fill(ids[:3]); err != nil || ids[0].Random()>>32 != maxHigh-2 ||
		ids[2].Random()>>32 != maxHigh {
		t.Errorf("Fill of what is left: %v, %v", ids[:3], err)
	}
	g.high = maxHigh - 3
	if err := g.Fill(ids); !errors.Is(err, sortid.ErrOverflow) {
		t.Errorf("Fill: %v, %v, want ErrOverflow", ids, err)
	}
}

// When Generate fails, New waits and notices a clock that goes back.
func TestPatience(t *testing.T) {
	clock := conformance.NewClock(conformance.Start)
	g := newGenerator(t, conformance.Setup{Clock: clock.Now, Entropy: conformance.Constant(0xff)})
	for _, step := range []time.Duration{time.Millisecond, -time.Hour} {
		check.Must(g.Generate())(t)
		go func() {
			time.Sleep(3 * time.Millisecond)
			clock.Add(step)
		}()
		var id ID
		if err := g.generate(t.Context(), &id, true); err != nil || !id.Time().Equal(clock.Now()) {
			t.Errorf("after %v: %v, %v", step, UUID(id), err)
		}
		clock.Add(time.Minute)
	}

	global.core.Lock()
	global.core.Close()
	until := time.Now().UnixMilli() + 5
	global.timestamp, global.settledTick, global.high = until, gencore.NoTick, maxHigh
	global.core.Unlock()
	if id := New(); int64(id.Timestamp()) <= until {
		t.Errorf("New makes %v, with all up to %d used up", UUID(id), until)
	}
}

func TestResetStartsAfresh(t *testing.T) {
	clock := conformance.NewClock(conformance.Start)
	g := newGenerator(t, conformance.Setup{Clock: clock.Now, Entropy: conformance.Entropy(4)},
		Options{Extension: 3})
	a, _ := g.Generate()
	g.high = maxHigh
	clock.Add(-time.Hour)
	b, err := g.Generate()
	if err != nil || !b.Time().Equal(clock.Now()) ||
		b.RandomAndExtension() == a.RandomAndExtension() {
		t.Errorf("%v after %v: %v", UUID(b), UUID(a), err)
	}
	if c, err := g.GenerateContext(conformance.Ended(t)); err != nil || c.Compare(b) <= 0 {
		t.Errorf("without a need to wait: %v, %v", UUID(c), err)
	}
}
