package generate

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sortid/sortid"
	"github.com/sortid/sortid/euid"
	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/internal/conformance"
	"github.com/sortid/sortid/internal/gencore"
	"github.com/sortid/sortid/lease"
	"github.com/sortid/sortid/lease/nodefield"
	"github.com/sortid/sortid/scru160"
	"github.com/sortid/sortid/scru64"
	"github.com/sortid/sortid/uid60"
)

var (
	SCRU64  = gencore.Must(format.Lookup("scru64"))
	SCRU128 = gencore.Must(format.Lookup("scru128"))
	SCRU160 = gencore.Must(format.Lookup("scru160"))
	EUID    = gencore.Must(format.Lookup("euid"))
	UID60   = gencore.Must(format.Lookup("uid60"))
)

func newGenerator(s *format.Format, o Options) Generator {
	if s == SCRU64 && o.Values["node"] == "" && o.Lease == nil {
		o.Values = maps.Clone(o.Values)
		if o.Values == nil {
			o.Values = map[string]string{}
		}
		o.Values["node"] = "42/8"
	}
	return gencore.Must(New(s, o))
}

func next(g Generator) format.ID { return gencore.Must(g.Next(context.Background())) }

func parsedEUID(id format.ID) euid.ID { return euid.FromUint128(id.Words()[1], id.Words()[2]) }

// Lookup knows our formats only.
func TestLookup(t *testing.T) {
	if f, err := Lookup("SCRU64"); err != nil || f != SCRU64 {
		t.Errorf("%v, %v", f, err)
	}
	for _, name := range []string{"scru12", "ulid", ""} {
		_, err := Lookup(name)
		if !errors.As(err, new(*sortid.UnknownError)) ||
			!strings.HasSuffix(err.Error(), "there are scru64, scru128, scru160, euid and uid60") {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestBatch(t *testing.T) {
	for _, s := range format.Ours() {
		g := newGenerator(s, Options{})
		last := next(g)
		batch := g.NewBatch()
		for _, f := range s.Encodings() {
			const n = 1000
			if err := batch.Fill(t.Context(), n); err != nil {
				t.Fatal(err)
			}
			out := batch.Append([]byte("before\n"), f, '\n')
			lines := bytes.Split(out, []byte("\n"))
			if len(lines) != n+2 || string(lines[0]) != "before" || len(lines[n+1]) != 0 {
				t.Fatalf("%s as %s: %d lines", s.Name(), f, len(lines))
			}
			jsonLines := bytes.Split(batch.AppendJSON(nil, '\n'), []byte("\n"))
			for i, line := range lines[1 : n+1] {
				id, err := s.ParseAs(f, string(line))
				if err != nil || id.In(f) != string(line) {
					t.Fatalf("%s as %s: %s parses as %v, %v", s.Name(), f, line, id, err)
				}
				if id.Compare(last) <= 0 {
					t.Fatalf("%s: %v after %v", s.Name(), id, last)
				}
				if d := time.Since(id.Time()); d < -time.Minute || d > time.Minute {
					t.Fatalf("%s: %v has the time %v", s.Name(), id, id.Time())
				}
				var object map[string]any
				if err := json.Unmarshal(jsonLines[i], &object); err != nil ||
					object[string(f)] != string(line) {
					t.Fatalf("%s: JSON %s of %s, %v", s.Name(), jsonLines[i], line, err)
				}
				last = id
			}
		}
	}
}

func TestBatchAllocates(t *testing.T) {
	g := newGenerator(SCRU128, Options{}).NewBatch()
	b := make([]byte, 0, 512*64)
	for _, f := range SCRU128.Encodings() {
		if n := testing.AllocsPerRun(100, func() {
			if err := g.Fill(context.Background(), 512); err != nil {
				t.Fatal(err)
			}
			g.Append(b, f, '\n')
		}); n != 0 {
			t.Errorf("%s: %v allocations for 512 IDs", f, n)
		}
	}
}

// With At, IDs stay in the tick until it is full, and no call really waits.
func TestAt(t *testing.T) {
	at := conformance.Start.Add(1234 * time.Second)
	for _, c := range []struct {
		format *format.Format
		values map[string]string
		n      int
		ticks  time.Duration // the most ticks for n IDs
	}{
		{SCRU64, nil, 1000, 2 * 256 * time.Millisecond},
		{SCRU64, map[string]string{"node": "1/20"}, 1000, 1000 * 256 * time.Millisecond},
		{SCRU64, map[string]string{"node": "1/23", "rollback": "abort"}, 1000,
			1000 * 256 * time.Millisecond},
		{SCRU128, nil, 100000, time.Millisecond},
		{SCRU160, nil, 32768, time.Millisecond},
		{SCRU160, nil, 100000, 4 * time.Millisecond},
		{SCRU160, map[string]string{"micros": "true"}, 10000, 400 * time.Microsecond},
		{EUID, nil, 100000, time.Millisecond},
		{UID60, nil, 512, time.Millisecond},
		{UID60, nil, 51200, 100 * time.Millisecond},
	} {
		var g Batch
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			g = newGenerator(c.format,
				Options{At: at, Values: c.values, Entropy: conformance.Entropy(1)}).NewBatch()
			if err := g.Fill(t.Context(), c.n); err != nil || time.Since(start) != 0 {
				t.Errorf("%s %v: %v, after a wait of %v", c.format.Name(), c.values, err,
					time.Since(start))
			}
		})
		last := format.ID{}
		for i, line := range strings.Fields(string(g.Append(nil, format.Text, '\n'))) {
			id, err := c.format.Parse(line)
			if err != nil || i > 0 && id.Compare(last) <= 0 {
				t.Fatalf("%s %v: %v after %v, %v", c.format.Name(), c.values, id, last, err)
			}
			if d := id.Time().Sub(at); i == 0 && d > 0 || d <= -c.format.Tick() || d > c.ticks {
				t.Fatalf("%s %v: format.ID %d is of %v, %v after At", c.format.Name(), c.values, i,
					id.Time(), d)
			}
			last = id
		}
	}
}

func TestOverflowPasses(t *testing.T) {
	for _, o := range []Options{{Entropy: conformance.Constant(0xff)},
		{Entropy: conformance.Constant(0xff), At: time.Now()}} {
		g := newGenerator(EUID, o)
		last := next(g)
		for range 10 {
			id := next(g)
			if id.Time().UnixMilli() <= last.Time().UnixMilli() {
				t.Fatalf("%v after %v, with one format.ID in a tick", id, last)
			}
			last = id
		}
	}
	g := newGenerator(EUID, Options{Entropy: conformance.Constant(0xff),
		Clock: func() time.Time { return conformance.Start }})
	next(g)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if id, err := g.Next(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("with a clock that never moves: %v, %v", id, err)
	}
}

// A SCRU64 generator waits when it is ahead of the clock. If its clock goes back, the wait has a
// limit.
func TestPatience(t *testing.T) { synctest.Test(t, testPatience) }

func testPatience(t *testing.T) {
	values := map[string]string{"node": "1/22", "allowance": "1s"}
	batch := newGenerator(SCRU64, Options{Clock: time.Now, Values: values}).NewBatch()
	start := time.Now()
	if err := batch.Fill(t.Context(), 24); err != nil {
		t.Fatal(err)
	}
	last := format.ID{}
	for i, line := range strings.Fields(string(batch.Append(nil, format.Text, '\n'))) {
		id, err := SCRU64.Parse(line)
		if err != nil || i > 0 && id.Compare(last) <= 0 ||
			time.Until(id.Time()) > 1100*time.Millisecond {
			t.Fatalf("%v after %v, %v", id, last, err)
		}
		last = id
	}
	if d := time.Since(start); d == 0 || d > 3*time.Second {
		t.Errorf("24 IDs took %v", d)
	}

	future := gencore.Must(scru64.FromFields(uint64(time.Now().AddDate(1, 0, 0).UnixMilli())/256, 0))
	for _, policy := range []string{"", "abort"} {
		values := map[string]string{"node": future.String() + "/8"}
		if policy != "" {
			values["rollback"] = policy
		}
		start := time.Now()
		id, err := newGenerator(SCRU64, Options{Clock: time.Now, Values: values}).Next(t.Context())
		if !errors.Is(err, sortid.ErrClockRollback) || time.Since(start) > 10*time.Second {
			t.Errorf("%q, a year behind the last ID: %v, %v after %v", policy, id, err,
				time.Since(start))
		}
	}
}

var nodeOf = map[string]func(format.ID) uint32{ // of 8 bits
	"scru64":  func(id format.ID) uint32 { return scru64.ID(id.Words()[2]).NodeID(8) },
	"scru160": func(id format.ID) uint32 { return uint32(scru160.ID(id.Bytes()).Random16() >> 8) },
	"uid60":   func(id format.ID) uint32 { return uint32(uid60.ID(id.Words()[2]).Worker(8)) },
}

// IDs have the lease's node ID. When the lease ends, generators wait, or fail if an option says so.
func TestLease(t *testing.T) {
	for _, s := range format.Ours() {
		if _, ok := NodeOption(s); !ok {
			continue
		}
		for _, policy := range []string{"", "wait", "abort"} {
			t.Run(s.Name()+" "+policy, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { testLease(t, s, policy) })
			})
		}
	}
}

func testLease(t *testing.T, s *format.Format, policy string) {
	values := map[string]string{}
	if policy != "" {
		values["rollback"] = policy
	}
	time.Sleep(time.Until(conformance.Start)) // virtual time begins before the epoch of uid60
	store := &outage{Memory: lease.NewMemory()}
	l := acquire(t, store, lease.Config{Realm: "r", Format: nodefield.LeaseFormat(s), NodeBits: 8,
		Window: 1100 * time.Millisecond})
	g := newGenerator(s, Options{Clock: time.Now, Lease: l, Values: values})
	last := format.ID{}
	check := func() {
		t.Helper()
		id := next(g)
		if nodeOf[s.Name()](id) != l.NodeID() || last != (format.ID{}) && id.Compare(last) <= 0 {
			t.Fatalf("%v after %v, on node %d", id, last, l.NodeID())
		}
		last = id
	}
	for range 1000 {
		check()
	}
	// If the store cannot be reached, the generator makes IDs until the granted ticks end.
	store.away.Store(true)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	var err error
	for err == nil {
		time.Sleep(time.Millisecond)
		_, err = g.Next(ctx)
	}
	if waited := ctx.Err() != nil; !errors.Is(err, lease.ErrExpired) ||
		waited != (policy != "abort") {
		t.Fatalf("after the end of the window: %v", err)
	}
	store.away.Store(false)
	if policy != "abort" {
		check()
	}
}

func acquire(t *testing.T, store lease.Store, config lease.Config) *lease.Lease {
	l := gencore.Must(lease.Acquire(t.Context(), store, config))
	t.Cleanup(func() { l.Close(context.Background()) })
	return l
}

type outage struct {
	*lease.Memory
	away atomic.Bool
}

func (o *outage) Time(ctx context.Context) (time.Time, error) {
	if o.away.Load() {
		return time.Time{}, errors.New("away")
	}
	return o.Memory.Time(ctx)
}

func TestLeaseOptions(t *testing.T) {
	for _, s := range format.Ours() {
		l := acquire(t, lease.NewMemory(),
			lease.Config{Realm: "r", Format: lease.Format{Bits: 8, Tick: 7 * time.Millisecond},
				NodeBits: 8})
		_, err := New(s, Options{Lease: l})
		node, ok := NodeOption(s)
		if !ok {
			if !errors.Is(err, sortid.ErrOption) ||
				!strings.Contains(err.Error(), "nothing to lease; scru64, scru160") {
				t.Errorf("%s: %v", s.Name(), err)
			}
			continue
		}
		if !errors.Is(err, sortid.ErrOption) || !strings.Contains(err.Error(), "another format") {
			t.Errorf("%s on a lease of another format: %v", s.Name(), err)
		}
		own := acquire(t, lease.NewMemory(), lease.Config{Realm: "r", Format: nodefield.LeaseFormat(s),
			NodeBits: 8})
		for want, o := range map[string]Options{
			"the lease has the node ID": {Lease: own, Values: map[string]string{node.Name: "42/8"}},
			"future ticks":              {Lease: own, At: time.Now()},
			"exclude each other": {Lease: own,
				Values: map[string]string{"rollback": "reset"}},
		} {
			if _, err := New(s, o); !errors.Is(err, sortid.ErrOption) ||
				!strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %s", s.Name(), err, want)
			}
		}
	}
}

func TestOptions(t *testing.T) {
	at := time.Now()
	one := func(s *format.Format, name, value string) (format.ID, error) {
		values := map[string]string{name: value}
		if s == SCRU64 && name != "node" {
			values["node"] = "42/8"
		}
		g, err := New(s,
			Options{At: at, Values: values, Entropy: conformance.Constant(0xff)})
		if err != nil {
			return format.ID{}, err
		}
		return g.Next(t.Context())
	}
	for _, c := range []struct {
		format      *format.Format
		name, value string
		want        func(format.ID) bool
	}{
		{SCRU64, "node", "42/8",
			func(id format.ID) bool { return scru64.ID(id.Words()[2]).NodeID(8) == 42 }},
		{SCRU64, "node", "0xb00/12",
			func(id format.ID) bool { return scru64.ID(id.Words()[2]).NodeID(12) == 0xb00 }},
		{SCRU64, "node", "0u2r85hm2pt3/16", func(id format.ID) bool {
			return scru64.ID(id.Words()[2]).NodeID(16) == scru64.MustParse("0u2r85hm2pt3").NodeID(16)
		}},
		{SCRU64, "guard", "3",
			func(id format.ID) bool { return scru64.ID(id.Words()[2]).Counter(8) == 1<<13-1 }},
		{SCRU64, "guard", "0",
			func(id format.ID) bool { return scru64.ID(id.Words()[2]).Counter(8) == 1<<16-1 }},
		{UID60, "worker", "5/4",
			func(id format.ID) bool { return uid60.ID(id.Words()[2]).Worker(4) == 5 }},
		{SCRU160, "node", "42/8",
			func(id format.ID) bool { return scru160.ID(id.Bytes()).Random16() == 42<<8|0xff }},
		{SCRU160, "micros", "true",
			func(id format.ID) bool { return scru160.ID(id.Bytes()).Micros() == at.Nanosecond()/1000%1000 }},
		{SCRU160, "micros", "false",
			func(id format.ID) bool { return scru160.ID(id.Bytes()).Counter() == 1<<15-1 }},
		{SCRU160, "counter-width", "3",
			func(id format.ID) bool { return scru160.ID(id.Bytes()).Counter() == 7 }},
		{SCRU160, "counter-ext", "4",
			func(id format.ID) bool { return scru160.ID(id.Bytes()).Random16() == 0xffff }},
		{SCRU128, "stateless", "true", func(id format.ID) bool { return id == (format.ID{}) == false }},
		{EUID, "ext", "5", func(id format.ID) bool {
			v, ok := parsedEUID(id).Extension()
			return ok && v == 5 && parsedEUID(id).ExtensionLength() == 3
		}},
		{EUID, "ext", "0x5/8", func(id format.ID) bool {
			v, ok := parsedEUID(id).Extension()
			return ok && v == 5 && parsedEUID(id).ExtensionLength() == 8
		}},
		{EUID, "ext", "0", func(id format.ID) bool { return parsedEUID(id).ExtensionLength() == 0 }},
	} {
		id, err := one(c.format, c.name, c.value)
		if err != nil || !c.want(id) {
			t.Errorf("%s: %s=%s: %v, %v", c.format.Name(), c.name, c.value, id, err)
		}
	}
	for _, c := range []struct {
		format            *format.Format
		name, value, want string
	}{
		{SCRU128, "node", "1/8", "it is for scru64 and scru160"},
		{SCRU64, "ext", "1", "it is for euid"},
		{SCRU64, "nod", "1", "no format has this option"},
		{SCRU64, "node", "42", "slash"},
		{SCRU64, "node", "256/8", "256"},
		{SCRU64, "guard", "17", "guard \"17\": 17 bits"},
		{SCRU64, "guard", "-1", `"-1" is not a number`},
		{UID60, "worker", "5", `"42/8"`},
		{UID60, "worker", "16/4", "15"},
		{UID60, "worker", "1/10", "10"},
		{UID60, "worker", "99999/4", "too large"},
		{UID60, "worker", "1/", `"" is not a number`},
		{SCRU160, "node", "1/17", "16"},
		{SCRU160, "micros", "maybe", "true or false"},
		{SCRU160, "counter-width", "16", "15"},
		{SCRU160, "counter-ext", "17", "16"},
		{SCRU128, "stateless", "", "true or false"},
		{EUID, "ext", "32768", "at most 32767"},
		{EUID, "ext", "-1", "not a number"},
		{EUID, "ext", "5/2", "2"},
		{EUID, "ext", "5/16", "15"},
		{EUID, "ext", "5/", "not a number"},
		{EUID, "ext", "5/0", "0 bits"},
		{SCRU128, "rollback", "never", "reset, abort or wait"},
		{SCRU128, "allowance", "10", "10s"},
		{SCRU128, "allowance", "-1s", "negative"},
	} {
		id, err := one(c.format, c.name, c.value)
		if !errors.Is(err, sortid.ErrOption) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %s=%q: %v, %v, want %q", c.format.Name(), c.name, c.value, id, err, c.want)
		}
	}
	if _, err := New(SCRU64, Options{}); !errors.Is(err, sortid.ErrOption) ||
		!strings.Contains(err.Error(), "42/8") {
		t.Errorf("scru64 without a node: %v", err)
	}
}

func TestRollback(t *testing.T) {
	for _, s := range format.Ours() {
		for _, policy := range []string{"reset", "abort", "wait", "ABORT"} {
			clock := conformance.NewClock(conformance.Start)
			g := newGenerator(s, Options{Clock: clock.Now, Values: map[string]string{
				"rollback":  policy,
				"allowance": "5s"}})
			first := next(g)
			clock.Add(-4 * time.Second)
			if id := next(g); id.Compare(first) <= 0 {
				t.Errorf("%s, %s: within the allowance %v after %v", s.Name(), policy, id, first)
			}
			clock.Add(-2 * time.Second)
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
			id, err := g.Next(ctx)
			cancel()
			switch strings.ToLower(policy) {
			case "reset":
				if err != nil || id.Time().UnixMilli() >= first.Time().UnixMilli() {
					t.Errorf("%s, reset: %v, %v", s.Name(), id, err)
				}
			case "abort":
				if err == nil || errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("%s, abort: %v, %v", s.Name(), id, err)
				}
			case "wait":
				if !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("%s, wait: %v, %v", s.Name(), id, err)
				}
			}
		}
	}
}

func TestGeneratorErrors(t *testing.T) {
	for _, s := range format.Ours() {
		g := newGenerator(s, Options{Entropy: &conformance.Limited{
			Reader: conformance.Entropy(1), Left: 40, Err: io.EOF}})
		batch := g.NewBatch()
		if err := batch.Fill(t.Context(), 1); err != nil {
			t.Fatalf("%s: %v", s.Name(), err)
		}
		if s == SCRU64 {
			continue // a generator of SCRU64 reads little entropy
		}
		if err := batch.Fill(t.Context(), 1000); err == nil {
			t.Errorf("%s: no error without entropy", s.Name())
		}
		if b := batch.Append(nil, format.Text, '\n'); len(b) != 0 {
			t.Errorf("%s: after an error the batch has %q", s.Name(), b)
		}
	}
}

func TestRange(t *testing.T) {
	for _, s := range format.Ours() {
		for _, c := range []struct {
			at time.Time
			ok bool
		}{
			{s.First(), true}, {s.Last(), true}, {s.First().Add(-1), false}, {s.Last().Add(1), false},
		} {
			values := map[string]string{}
			if s == SCRU64 {
				values["node"] = "1/8"
			}
			g := gencore.Must(New(s, Options{Clock: func() time.Time { return c.at },
				Values: values}))
			id, err := g.Next(t.Context())
			if c.ok != (err == nil) {
				t.Errorf("%s: at %v the generator gives %v, %v", s.Name(), c.at, id, err)
				continue
			}
			if c.ok {
				if lag := c.at.Sub(id.Time()); lag < 0 || lag >= s.Tick() {
					t.Errorf("%s: at %v the ID's time is %v", s.Name(), c.at, id.Time())
				}
			}
			_, err = New(s, Options{At: c.at, Values: values})
			if c.ok != (err == nil) || !c.ok && !errors.Is(err, sortid.ErrTimeRange) {
				t.Errorf("%s: NewGenerator at %v: %v", s.Name(), c.at, err)
			}
		}
	}
}

// Each of our formats has a maker, and no other has one.
func TestMakers(t *testing.T) {
	for _, f := range format.All() {
		options := OptionsOf(f)
		if f.Generates() != (len(options) > 0) {
			t.Errorf("%s: Generates returns %v, but internal/spec/%s.go has the options %v", f.Name(),
				f.Generates(), f.Name(), options)
		}
		names := map[string]bool{}
		for _, o := range options {
			if o.Usage == "" || names[o.Name] {
				t.Errorf("%s: the option %q has no usage or occurs twice", f.Name(), o.Name)
			}
			names[o.Name] = true
		}
		if node := makerOf(f).Node; node != "" && !names[node] {
			t.Errorf("%s: no option %q for the node ID", f.Name(), node)
		}
		if !f.Generates() {
			if g, err := New(f, Options{}); g != nil || !errors.Is(err, sortid.ErrOption) ||
				!strings.Contains(err.Error(), "scru64, scru128, scru160, euid and uid60") {
				t.Errorf("%s: %v, %v", f.Name(), g, err)
			}
		}
	}
}

// IDs of given times are unique, and do not move the generator. A format that cannot make them
// refuses in CheckAt, too.
func TestNextAt(t *testing.T) {
	at := time.Date(2024, 1, 1, 12, 0, 0, 0, time.UTC)
	for _, f := range format.Ours() {
		o := Options{Values: map[string]string{}}
		if NeedsNode(f) {
			if node, _ := NodeOption(f); node.Needed {
				o.Values[node.Name] = "42/8"
			}
		}
		g, err := New(f, o)
		if err != nil {
			t.Fatal(err)
		}
		refused := CheckAt(f)
		seen := map[format.ID]bool{}
		for range 100 {
			id, err := g.NextAt(at)
			if refused != nil {
				if !errors.Is(err, errors.ErrUnsupported) || id.Format() != nil {
					t.Errorf("%s: %v, %v, want %v", f.Name(), id, err, refused)
				}
				continue
			}
			if seen[id] = true; err != nil || !id.Time().Equal(at) {
				t.Errorf("%s: %v of %v, %v, want %v", f.Name(), id, id.Time(), err, at)
			}
		}
		if refused == nil && len(seen) != 100 {
			t.Errorf("%s: %d of 100 IDs are distinct", f.Name(), len(seen))
		}
		for _, wrong := range []time.Time{f.First().Add(-f.Tick()), f.Last().Add(f.Tick())} {
			if _, err := g.NextAt(wrong); refused == nil && !errors.Is(err, sortid.ErrTimeRange) {
				t.Errorf("%s at %v: %v, want ErrTimeRange", f.Name(), wrong, err)
			}
		}
		if id, err := g.Next(t.Context()); err != nil || time.Since(id.Time()) > time.Hour {
			t.Errorf("%s: then the next ID is %v, %v", f.Name(), id, err)
		}
	}
}
