package lease

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// If Acquire fails, it returns soon, and no node ID stays held.
func TestAcquireFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &network{Store: NewMemory(), down: true}
		start := time.Now()
		fails(t, "the store is down", acquireError(t, n, config(8)), errDown)
		if d := time.Since(start); d < 500*time.Millisecond || d > 5*time.Second {
			t.Errorf("Acquire tried for %v", d)
		}

		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		n.set(func() { n.down, n.hang = false, true })
		start = time.Now()
		_, err := Acquire(ctx, n, config(8))
		fails(t, "the store hangs", err, context.DeadlineExceeded)
		if d := time.Since(start); d > 3*time.Second {
			t.Errorf("the context ended after 1 s, Acquire after %v", d)
		}
		_, err = Acquire(ctx, NewMemory(), config(8))
		fails(t, "the context has ended before", err, context.DeadlineExceeded)

		// The grant is made, but no answer comes: Acquire gives the grant back.
		n.set(func() {
			n.hang = false
			n.deaf = func(op string, args ...Record) bool {
				return op == "set" && args[1].Owner != Owner{}
			}
		})
		fails(t, "no answer", acquireError(t, n, config(8)), errDown)
		if rs := held(t, n.Store); len(rs) > 0 {
			t.Errorf("records are held, but no process knows that: %+v", rs)
		}
	})
}

func TestConfig(t *testing.T) {
	m := NewMemory()
	first := acquire(t, m, config(8))
	defer closed(t, first)
	for _, c := range []struct {
		change func(c *Config)
		err    error
		says   string
	}{
		{func(c *Config) { c.Realm = "" }, ErrConfig, "realm"},
		{func(c *Config) { c.Realm = "a@b" }, ErrConfig, "@"},
		{func(c *Config) { c.Realm = ".." }, ErrConfig, `want another name than "."`},
		{func(c *Config) { c.Realm = "/" }, ErrConfig, `"/"`},
		{func(c *Config) { c.Realm = "a\nb" }, ErrConfig, "control"},
		{func(c *Config) { c.Realm = "\xff" }, ErrConfig, "UTF-8"},
		{func(c *Config) { c.Realm = strings.Repeat("x", 101) }, ErrConfig, "101 bytes"},
		{func(c *Config) { c.Name = "\x00" }, ErrConfig, "name"},
		{func(c *Config) { c.Format = Format{} }, ErrRealm, "the Config has no Format; set the " +
			"realm's, which is scru64"},
		{func(c *Config) { c.Format.Tick = 1500 * time.Microsecond }, ErrConfig, "1.5ms"},
		{func(c *Config) { c.Format.Bits = 25 }, ErrConfig, "25"},
		{func(c *Config) { c.NodeBits = 0 }, ErrConfig, "0 bits"},
		{func(c *Config) { c.NodeBits = 24 }, ErrConfig, "24 bits"},
		{func(c *Config) { c.Window = time.Second }, ErrConfig, "1s"},
		{func(c *Config) { c.Window = 25 * time.Hour }, ErrConfig, "25h"},
		{func(c *Config) { c.MaxLead = -1 }, ErrConfig, "lead"},
		{func(c *Config) { c.Format = SCRU160() }, ErrRealm, "256ms"},
		{func(c *Config) { c.Format.Epoch = time.UnixMilli(1000) }, ErrRealm, "epoch"},
		{func(c *Config) { c.Format.Bits = 16 }, ErrRealm, "23"},
		{func(c *Config) { c.Window = 2 * time.Minute }, ErrRealm, "2m"},
		{func(c *Config) { c.MaxLead = time.Minute }, ErrRealm, "1m"},
		{func(c *Config) { c.Window, c.MaxLead = 30*time.Second, 5*time.Second }, nil, ""},
		{func(c *Config) { c.Realm = strings.Repeat("ü", 50) }, nil, ""},
	} {
		cfg := config(8)
		c.change(&cfg)
		l, err := Acquire(t.Context(), m, cfg)
		if !errors.Is(err, c.err) || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%+v: %v, want %v that says %q", cfg, err, c.err, c.says)
		}
		if err == nil {
			closed(t, l)
		}
	}
	for _, f := range []Format{SCRU64(), SCRU160(), UID60()} {
		c := Config{Realm: fmt.Sprint(f.Bits), Format: f, NodeBits: f.Bits}
		l := acquire(t, m, c)
		if l.TickLength() != f.Tick || !l.Epoch().Equal(f.Epoch) || l.NodeBits() != f.Bits {
			t.Errorf("%+v: %v from %v, %d bits", f, l.TickLength(), l.Epoch(), l.NodeBits())
		}
		now := time.Now()
		if _, tick, err := l.ClaimTick(int64(now.Sub(f.Epoch) / f.Tick)); err != nil ||
			now.Sub(l.window.Time(tick)).Abs() > time.Second {
			t.Errorf("%+v: tick %d, %v", f, tick, err)
		}
		closed(t, l)
	}
}

func TestNoStore(t *testing.T) {
	ctx := t.Context()
	_, acquire := Acquire(ctx, nil, config(8))
	_, from := AcquireFrom(ctx, nil, config(8))
	_, create := Create(ctx, nil, config(8))
	_, realm := Realm(ctx, nil, "realm")
	_, fence := Fence(ctx, nil, config(8), 0)
	for _, err := range []error{acquire, from, create, realm, fence} {
		fails(t, "without a store", err, ErrConfig, " is nil; open one")
	}
	defer func() {
		err, _ := recover().(error)
		fails(t, "NewLessor", err, ErrConfig, "the store is nil")
	}()
	NewLessor(nil, LessorOptions{})
}

func TestForeignTerms(t *testing.T) {
	good := Config{Format: SCRU64()}.terms()
	for name, spoil := range map[string]func(*Terms){
		"none":              func(t *Terms) { *t = Terms{} },
		"no tick":           func(t *Terms) { t.Tick = 0 },
		"a negative tick":   func(t *Terms) { t.Tick = -256 },
		"an enormous tick":  func(t *Terms) { t.Tick = math.MaxInt64 },
		"no bits":           func(t *Terms) { t.Bits = 0 },
		"too many bits":     func(t *Terms) { t.Bits = MaxBits + 1 },
		"no window":         func(t *Terms) { t.Window = 0 },
		"an endless window": func(t *Terms) { t.Window = math.MaxInt64 },
		"no lead":           func(t *Terms) { t.Lead = 0 },
		"an endless lead":   func(t *Terms) { t.Lead = math.MaxInt64 },
	} {
		t.Run(name, func(t *testing.T) {
			terms := good
			spoil(&terms)
			store := NewMemory()
			root := Record{Realm: "r", Revision: 1, State: Split, Generation: "0123456789abcdef",
				Terms: terms}
			if ok, err := store.CompareAndSet(t.Context(), Record{Realm: "r"}, root); !ok ||
				err != nil {
				t.Fatal(ok, err)
			}
			config := Config{Realm: "r", Format: SCRU64(), NodeBits: 8}
			_, acquire := Acquire(t.Context(), store, config)
			_, _, records := Records(t.Context(), store, "r")
			_, evict := Evict(t.Context(), store, "r", Block{42, 8}, Owner{})
			_, fence := Fence(t.Context(), store, config, time.Minute)
			for _, err := range []error{acquire, records, evict, fence} {
				fails(t, name, err, ErrRealm)
			}
		})
	}
}
