package gencore

import (
	crand "crypto/rand"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/sortid/sortid"
	"github.com/sortid/sortid/internal/clock"
)

func TestWindow(t *testing.T) {
	var w Window
	take := func(counter, number uint64) {
		t.Helper()
		v, ok := w.Take(counter)
		if ok != (number > 0) || ok && (v.Number != number || v.High != 3 || v.Node != 4) {
			t.Errorf("at %d: %+v %v, want %d", counter, v, ok, number)
		}
	}
	closes := func(taken uint64) {
		t.Helper()
		if n := w.close(); n != taken {
			t.Errorf("closed with %d numbers, want %d", n, taken)
		}
	}
	for round := range uint64(9) { // each word is used more than once
		take(0, 0)
		take(100, 0)
		closes(0)
		w.open(100, 10, 3, Values{Number: 50 * round, High: 3, Node: 4})
		take(99, 0)
		take(100, 50*round+1)
		take(110, 0)
		take(109, 50*round+2)
		if round%2 == 0 {
			take(105, 50*round+3)
			take(105, 0)
			take(105, 0)
			closes(3)
		} else {
			closes(2)
		}
		closes(0)
	}
}

// Many goroutines take numbers while one closes and opens the window.
func TestWindowIsShared(t *testing.T) {
	const goroutines, rounds, room = 4, 5_000, 10_000
	var w Window
	type number struct{ high, number uint64 }
	var taken [goroutines][]number
	done := make(chan struct{})
	var group sync.WaitGroup
	for i := range goroutines {
		group.Go(func() {
			for last := (number{}); ; {
				select {
				case <-done:
					return
				default:
				}
				v, ok := w.Take(5)
				if !ok || len(taken[i])%100 == 0 {
					runtime.Gosched()
				}
				if !ok {
					continue
				}
				n := number{v.High, v.Number}
				if v.Node != v.High+1 || n.high < last.high ||
					n.high == last.high && n.number <= last.number {
					t.Errorf("%+v after %+v", v, last)
				}
				last = n
				taken[i] = append(taken[i], n)
			}
		})
	}
	var own []number
	var high, last uint64
	for range rounds {
		if rand.IntN(4) == 0 {
			high, last = high+1, 0
		}
		last++
		own = append(own, number{high, last})
		w.open(0, 10, room, Values{Number: last, High: high, Node: high + 1})
		for version := w.version.Load(); w.word(version).Load() == version; {
			runtime.Gosched()
		}
		last += w.close()
	}
	close(done)
	group.Wait()
	all := append(own, slices.Concat(taken[:]...)...)
	seen := make(map[number]bool, len(all))
	for _, n := range all {
		if seen[n] {
			t.Fatalf("%+v is taken twice", n)
		}
		seen[n] = true
	}
}

// A Core opens windows only for the system's clock and random bits, and only for the clock's tick.
func TestOpen(t *testing.T) {
	system := clock.System()
	for name, test := range map[string]struct {
		o     sortid.GeneratorOptions
		opens bool
	}{
		"defaults": {opens: system.Steady()},
		"clock":    {o: sortid.GeneratorOptions{Clock: time.Now}},
		"entropy":  {o: sortid.GeneratorOptions{Entropy: crand.Reader}},
	} {
		c := newCore(t, test.o, nil)
		opens := func(settled, room uint64) bool {
			counter := clock.Counter()
			now := c.Now(counter)
			c.Open(now+int64(settled), room, Values{Number: 7})
			v, ok := c.window.Take(counter)
			if ok && v.Number != 8 {
				t.Errorf("%s: the first number is %d", name, v.Number)
			}
			_, _, _, before := c.Clock.Reading()
			taken := c.Close()
			if _, _, _, after := c.Clock.Reading(); ok && (taken != 1 || after != before-1) {
				t.Errorf("%s: %d numbers were taken, and %d uses", name, taken, before-after)
			}
			return ok
		}
		ever := false
		for range 10_000 { // at first the clock does not know the counter's rate
			ever = opens(0, 10) || ever
			if opens(1, 10) {
				t.Fatalf("%s: opens for another tick", name)
			}
			if opens(0, 0) {
				t.Fatalf("%s: opens without room", name)
			}
		}
		if ever != test.opens {
			t.Errorf("%s: opens %v", name, ever)
		}
	}
}
