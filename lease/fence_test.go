package lease

import (
	"errors"
	"maps"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sortid/sortid/internal/check"
)

// After a fence, no grant starts before the time that Fence returned.
func TestFence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := NewMemory()
		book := new(book)
		l := acquire(t, m, config(8))
		g := book.generator(t, l)
		g.must()
		until, err := Fence(t.Context(), m, Config{Realm: "realm"}, 5*time.Second)
		if d := time.Until(until); err != nil || d < 74*time.Second || d > 78*time.Second {
			t.Fatalf("Fence: %v, %v, want the window of 60 s, the lead of 10 s and 5 s from now", d,
				err)
		}
		var lead *LeadError
		if _, err := Acquire(t.Context(), m, config(8)); !errors.As(err, &lead) ||
			lead.Block != (Block{}) || !lead.Until.Equal(until) {
			t.Errorf("a fenced realm: %v", err)
		}
		spent := 0
		for range 120 {
			time.Sleep(time.Second)
			if _, _, err := g.next(); err != nil {
				spent++
			}
		}
		if spent < 5 || spent > 30 || g.last < until.UnixMilli()/256 {
			t.Errorf("for %d s there were no IDs", spent)
		}
		root, blocks, err := Records(t.Context(), m, "realm")
		if err != nil || root.HWM != until.UnixMilli()/256 || len(blocks) == 0 {
			t.Errorf("%+v, %v, %v", root, blocks, err)
		}
		closed(t, l)
	})
}

// A second fence never allows earlier ticks than the first fence.
func TestFenceAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := NewMemory()
		l := acquire(t, m, config(8))
		var last time.Time
		for i, skew := range []time.Duration{5 * time.Second, 0, time.Hour} {
			time.Sleep(2 * time.Minute)
			until, err := Fence(t.Context(), m, Config{Realm: "realm"}, skew)
			if err != nil || !until.After(last) {
				t.Errorf("fence %d: until %v, %v, the last until %v", i, until, err, last)
			}
			last = until
		}
		until, err := Fence(t.Context(), m, Config{Realm: "realm"}, 0)
		if err != nil || until != last {
			t.Errorf("fenced until %v, and then with less skew until %v, %v", last, until, err)
		}
		closed(t, l)
	})
}

func TestFenceErrors(t *testing.T) {
	m := NewMemory()
	closed(t, acquire(t, m, config(8)))
	for _, c := range []struct {
		what   string
		config Config
		skew   time.Duration
		err    error
	}{
		{"no realm", Config{Realm: "none"}, 0, ErrNoRealm},
		{"a skew of more than a day", Config{Realm: "realm"}, 24*time.Hour + 1, ErrConfig},
		{"a negative skew", Config{Realm: "realm"}, -1, ErrConfig},
		{"another format", Config{Realm: "realm", Format: UID60()}, 0, ErrRealm},
	} {
		_, err := Fence(t.Context(), m, c.config, c.skew)
		fails(t, c.what, err, c.err)
	}
	if names, err := m.Realms(t.Context()); err != nil || !slices.Equal(names, []string{"realm"}) {
		t.Errorf("the realms are %q, %v", names, err)
	}
}

// A fence uses the longer of its own terms and the realm's terms. It makes a missing realm.
func TestFenceTerms(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := NewMemory()
		// Before the fence, a process creates the realm again, with a smaller window.
		closed(t, acquire(t, m, Config{Realm: "anew", Format: SCRU64(), NodeBits: 8,
			Window: 10 * time.Second, MaxLead: time.Second}))
		for _, c := range []struct {
			what   string
			config Config
			least  time.Duration
		}{
			{"with longer terms than the realm's", Config{Realm: "anew", Format: SCRU64(),
				Window: time.Hour, MaxLead: time.Minute}, 61*time.Minute - 2*SCRU64().Tick},
			{"that makes the realm", Config{Realm: "none", Format: UID60()}, 70 * time.Second},
		} {
			until, err := Fence(t.Context(), m, c.config, 0)
			if err != nil || time.Until(until) < c.least {
				t.Errorf("a fence %s: %v, %v", c.what, until, err)
			}
		}
	})
}

// A lease that finds an older state in the store gets no grants until a fence.
func TestForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, gone := range []bool{false, true} {
			m := NewMemory()
			l := acquire(t, m, config(8))
			g := new(book).generator(t, l)
			m.mu.Lock()
			old := map[string]map[Block]Record{}
			for realm, records := range m.realms {
				old[realm] = maps.Clone(records)
			}
			m.mu.Unlock()
			time.Sleep(10 * time.Minute)
			g.must()
			m.mu.Lock()
			if m.realms = old; gone {
				m.realms = nil
			}
			m.mu.Unlock()
			time.Sleep(2 * time.Minute)
			fails(t, "the store has forgotten", claim(l, 0), ErrForgotten)
			fails(t, "the store has forgotten", l.Err(), ErrForgotten)
			if gone {
				// Another process creates the realm again. Without a fence, both processes could
				// use the same ticks.
				abandon(acquire(t, m, config(8)))
				time.Sleep(time.Minute)
				fails(t, "a new realm", l.Err(), ErrForgotten)
			}
			_, err := Fence(t.Context(), m, Config{Realm: "realm"}, 0)
			check.OK(t, err)
			time.Sleep(2 * time.Minute)
			g.must()
			check.OK(t, l.Err())
			closed(t, l)
		}
	})
}
