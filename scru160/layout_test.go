package scru160

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/sortid/sortid"
	"github.com/sortid/sortid/internal/check"
	"github.com/sortid/sortid/internal/conformance"
)

type mode struct {
	micros                bool
	ext, node, id, random int
}

// counter returns the counter of an ID, and the bits of random16 after it.
func (m mode) counter(id ID) (counter, rest int) {
	counter = int(id.Counter())
	if m.micros {
		counter = id.CounterLow()
	}
	r := int(id.Random16())
	return counter<<m.ext | r>>(16-m.ext), r & (1<<(16-m.ext) - 1)
}

func (m mode) options() Options {
	o := Options{CounterExtension: m.ext, NodeID: uint16(m.id), NodeBits: m.node,
		Microseconds: m.micros}
	limit := 15 + m.ext
	if m.micros {
		limit = 5 + m.ext
	}
	o.CounterWidth = min(m.random, limit)
	if o.CounterWidth == 0 {
		o.CounterWidth = -1
	}
	return o
}

func TestFieldsFollowTheLayout(t *testing.T) {
	var modes []mode
	for _, micros := range []bool{false, true} {
		for _, k := range []int{0, 1, 7, 8, 15, 16} {
			for _, n := range []int{0, 1, 8, 9, 15, 16} {
				for _, random := range []int{0, 1, 5, 14, 15, 31} {
					if k+n <= 16 {
						modes = append(modes, mode{micros, k, n, 1<<n - 1 - n&1, random})
					}
				}
			}
		}
	}
	for _, m := range modes {
		t.Run(fmt.Sprintf("%+v", m), func(t *testing.T) { testLayout(t, m) })
	}
}

func testLayout(t *testing.T, m mode) {
	size, unit := 16+m.ext, time.Millisecond
	if m.micros {
		size, unit = 6+m.ext, time.Microsecond
	}
	width := min(m.random, size-1)
	clock := conformance.NewClock(conformance.Start)
	g := newGenerator(t, conformance.Setup{Clock: clock.Now,
		Entropy: conformance.Entropy(uint64(size))}, m.options())
	const ticks, each = 100, 5
	var ones, zeros int64
	var set, clear [10]byte
	var restOnes, restZeros int
	for tick := range ticks {
		var last ID
		for i := range each {
			id := check.Must(g.Generate())(t)
			counter, rest := m.counter(id)
			if i == 0 {
				if int64(counter)>>width != 0 {
					t.Fatalf("tick %d: the counter starts at %#x, want %d bits at most", tick,
						counter, width)
				}
				ones, zeros = ones|int64(counter), zeros|int64(^counter)
			} else if before, _ := m.counter(last); counter != before+1 {
				t.Fatalf("tick %d: counter %#x after %#x", tick, counter, before)
			}
			free := 16 - m.ext - m.node
			if rest>>free != m.id {
				t.Fatalf("%v: node ID %#x, want %#x", id.Hex(), rest>>free, m.id)
			}
			restOnes, restZeros = restOnes|rest, restZeros|^rest
			for i, b := range id.Random80() {
				set[i] |= b
				clear[i] |= ^b
			}
			if m.micros && int64(id.Micros()) != clock.Now().UnixMicro()%1000 ||
				!id.Time().Equal(clock.Now().Truncate(time.Millisecond)) {
				t.Fatalf("%v at %v", id.Hex(), clock.Now())
			}
			last = id
		}
		clock.Add(unit)
	}
	// The chance that a bit never changes is 1 in 2^99.
	if all := int64(1)<<width - 1; ones&all != all || zeros&all != all {
		t.Errorf("of %d random bits of the counter's start only %#x were ever 1 and %#x ever 0",
			width, ones, zeros&all)
	}
	if all := 1<<(16-m.ext-m.node) - 1; restOnes&all != all || restZeros&all != all {
		t.Errorf("random16: only %#x were ever 1 and %#x ever 0", restOnes, restZeros)
	}
	for i := range set {
		if set[i] != 0xff || clear[i] != 0xff {
			t.Errorf("random80, byte %d: only %#x were ever 1 and %#x ever 0", i, set[i], clear[i])
		}
	}
}

// A tick has room for exactly the promised number of IDs. Then the generator waits.
func TestTickHasRoomForThePromisedIDs(t *testing.T) {
	for _, c := range []struct {
		want int
		o    Options
	}{
		{1<<15 + 1, Options{}},
		{1 << 16, Options{CounterWidth: -1}},
		{1<<16 - 1<<8 + 1, Options{CounterWidth: 8}},
		{1<<17 + 1, Options{CounterExtension: 2}},
		{1<<5 + 1, Options{Microseconds: true}},
		{1 << 6, Options{Microseconds: true, CounterWidth: -1}},
		{1<<8 + 1, Options{Microseconds: true, CounterExtension: 3}},
	} {
		clock := conformance.NewClock(conformance.Start)
		g := newGenerator(t, conformance.Setup{Clock: clock.Now,
			Entropy: conformance.Constant(0xff)}, c.o)
		ids := make([]ID, c.want)
		check.Must(ID{}, g.Fill(ids))(t)
		conformance.Increasing(t, ids)
		if last := ids[len(ids)-1]; !last.Time().Equal(conformance.Start) || last.Micros() != 0 &&
			g.micros {
			t.Errorf("the last of %d IDs has the time %v", c.want, last.Time())
		}
		id, err := g.GenerateContext(conformance.Ended(t))
		if !id.IsZero() || !errors.Is(err, sortid.ErrOverflow) ||
			!errors.Is(err, context.Canceled) || errors.Is(err, sortid.ErrClockRollback) {
			t.Errorf("after %d IDs: %v, %v, want sortid.ErrOverflow and the context's error",
				c.want, id, err)
		}
	}
}
