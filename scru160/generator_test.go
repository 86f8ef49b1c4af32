package scru160

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/sortid/sortid"
	"github.com/sortid/sortid/internal/check"
	"github.com/sortid/sortid/internal/conformance"
	"github.com/sortid/sortid/internal/gencore"
	"github.com/sortid/sortid/lease"
)

func newGenerator(t testing.TB, s conformance.Setup, own ...Options) *Generator {
	t.Helper()
	o := append(own, Options{})[0]
	o.GeneratorOptions = s
	return check.Must(NewGenerator(o))(t)
}

// subject describes a generator. The parameters are the room for IDs in a tick, and the number of
// random bits in random16.
func subject(burst, random int, own ...Options) conformance.Generator[ID] {
	random16 := 1<<random - 1
	mask := append(make([]byte, 8), byte(random16>>8), byte(random16))
	mask = append(mask, bytes.Repeat([]byte{0xff}, 10)...)
	at := 112
	for _, o := range own {
		if at -= o.NodeBits; o.Microseconds {
			at -= 10
		}
	}
	return conformance.Generator[ID]{
		AtBits: at,
		New: func(t testing.TB, s conformance.Setup) conformance.Gen[ID] {
			return newGenerator(t, s, own...)
		},
		Tick: time.Millisecond, Default: sortid.RollbackReset, Burst: burst,
		Range:  [2]time.Time{time.UnixMilli(1), time.UnixMilli(MaxTimestamp - 1)},
		Random: mask,
		Core:   func(g conformance.Gen[ID]) *gencore.Core { return &g.(*Generator).core },
	}
}

func TestGenerator(t *testing.T) {
	for name, g := range map[string]conformance.Generator[ID]{
		"default":   subject(1<<15+1, 16),
		"width 0":   subject(1<<16, 16, Options{CounterWidth: -1}),
		"extension": subject(1<<30, 0, Options{CounterExtension: 16}),
		"node":      subject(1<<15+1, 0, Options{NodeID: 0xabcd, NodeBits: 16}),
		"mixed": subject(1<<20-1<<10, 4, Options{CounterExtension: 4, NodeID: 42,
			NodeBits: 8, CounterWidth: 10}),
		"microseconds": subject(1<<5+1, 16, Options{Microseconds: true}),
		"microseconds, mixed": subject(1<<8+1, 5, Options{Microseconds: true, CounterExtension: 3,
			NodeID: 42, NodeBits: 8}),
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
		"CounterWidth": {{CounterWidth: 16}, {CounterWidth: 6, Microseconds: true},
			{CounterWidth: 20, CounterExtension: 4}},
		"CounterExtension": {{CounterExtension: -1}, {CounterExtension: 17}},
		"NodeBits":         {{NodeBits: -1}, {NodeBits: 17}},
		"NodeID": {{NodeID: 256, NodeBits: 8}, {NodeID: 1},
			{Lease: newWindow(8, 0, 1), NodeID: 1}},
		"CounterExtension and NodeBits": {{NodeID: 1, NodeBits: 9, CounterExtension: 8}},
		"CounterExtension and Lease":    {{Lease: newWindow(9, 0, 1), CounterExtension: 8}},
		"Lease": {
			{Lease: newWindow(17, 0, 1)}, {Lease: (*lease.Lease)(nil)}},
		"Lease and NodeBits": {{Lease: newWindow(8, 0, 1), NodeID: 1, NodeBits: 8}},
		"Lease and RollbackPolicy": {
			{Lease: newWindow(8, 0, 1), GeneratorOptions: conformance.Reset}},
	})
	for _, o := range []Options{
		{CounterWidth: 15},
		{CounterWidth: 5, Microseconds: true},
		{Microseconds: true, CounterWidth: 21, CounterExtension: 16},
		{CounterWidth: 31, CounterExtension: 16},
		{NodeID: 1, NodeBits: 8, CounterExtension: 8},
		{NodeID: 0xffff, NodeBits: 16},
		{Lease: newWindow(16, 0, 1)},
		{Lease: newWindow(1, 0, 1), CounterExtension: 15},
	} {
		if _, err := NewGenerator(o); err != nil {
			t.Error(err)
		}
	}
}

func TestResetStartsAfresh(t *testing.T) {
	clock := conformance.NewClock(conformance.Start)
	g := newGenerator(t, conformance.Setup{Clock: clock.Now, Entropy: conformance.Entropy(4)})
	g.Generate()
	g.counter = g.maxCounter
	clock.Add(-time.Hour)
	id, err := g.Generate()
	if err != nil || !id.Time().Equal(clock.Now()) || id.Counter()>>15 != 0 {
		t.Errorf("%v, %v", id.Hex(), err)
	}
	if next, _ := g.Generate(); next.Counter() != id.Counter()+1 {
		t.Errorf("%v after %v", next.Hex(), id.Hex())
	}
}

func BenchmarkGenerate(b *testing.B) {
	for name, o := range map[string]Options{"default": {}, "microseconds": {Microseconds: true}} {
		b.Run(name, func(b *testing.B) {
			g := newGenerator(b, conformance.Setup{}, o)
			for b.Loop() {
				_, _ = g.Generate()
			}
		})
	}
}

func BenchmarkParse(b *testing.B) {
	id := New()
	for _, text := range []string{id.String(), id.Hex()} {
		b.Run(fmt.Sprint(len(text)), func(b *testing.B) {
			for b.Loop() {
				_, _ = Parse(text)
			}
		})
	}
}
