package server

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/sortid/sortid/cmd/sortid/internal/check"
	"github.com/sortid/sortid/cmd/sortid/server/limit"
	"github.com/sortid/sortid/lease"
	httpstore "github.com/sortid/sortid/store/http"
)

// served is the realm "orders" behind a server. The test holds a node ID of 2 bits in it.
type served struct {
	memory *lease.Memory
	client *httpstore.Store
	root   lease.Record
	held   lease.Record
}

func serveRealm(t *testing.T) served {
	t.Helper()
	memory := lease.NewMemory()
	client := serveStore(t, memory)
	l := check.Must(lease.Acquire(t.Context(), client, lease.Config{Realm: "orders",
		Format: lease.SCRU64, NodeBits: 2, Name: "victim"}))(t)
	t.Cleanup(func() {
		if err := l.Close(t.Context()); err != nil && !errors.Is(err, t.Context().Err()) {
			t.Error(err)
		}
	})
	root := orders(t, client)
	held, err := client.Get(t.Context(), "orders@"+root.Generation,
		lease.Block{NodeID: l.NodeID(), Size: 2})
	if err != nil || held.Name != "victim" {
		t.Fatalf("%+v, %v", held, err)
	}
	return served{memory, client, root, held}
}

func serveStore(t *testing.T, store lease.Store) *httpstore.Store {
	t.Helper()
	_, ts := start(t, Config{Store: store, MustExist: true})
	client := check.Must(httpstore.Open(t.Context(), ts.URL))(t)
	t.Cleanup(func() { client.Close() })
	return client
}

func orders(t *testing.T, store lease.Store) lease.Record {
	t.Helper()
	config := lease.Config{Realm: "orders", Format: lease.SCRU64}
	check.Must(lease.Create(t.Context(), store, config))(t)
	return check.Must(lease.Realm(t.Context(), store, "orders"))(t)
}

func TestReadsPerCheck(t *testing.T) { inBubble(t, testReadsPerCheck) }

func testReadsPerCheck(t *testing.T) {
	store := &hooked{Store: lease.NewMemory()}
	s := virtual(t, Config{Store: store})
	root := orders(t, store)
	r := lease.Record{Realm: "orders@" + root.Generation, Block: lease.Block{NodeID: 1, Size: 1}}
	for i, state := range []lease.State{lease.Split, lease.Merging, lease.Split, lease.Merging} {
		next := r
		next.Revision, next.State = r.Revision+1, state
		store.count("GetMany", "Get", "Time")
		ok, err := s.store.Store.CompareAndSet(t.Context(), r, next)
		many, others := store.count("GetMany"), store.count("Get", "Time")
		if !ok || err != nil || many != 1 || i > 0 && others != 0 {
			t.Errorf("change %d: %v, %v, %d calls of GetMany, want 1, and %d of Get and Time", i,
				ok, err, many, others)
		}
		r = next
	}
}

func TestAttacks(t *testing.T) {
	v := serveRealm(t)
	space := v.held.Realm
	absent := func(realm string, node uint32, size uint8) lease.Record {
		return lease.Record{Realm: realm, Block: lease.Block{NodeID: node, Size: size}}
	}
	now := v.root.Terms.At(time.Now())
	whole := func(r *lease.Record) { r.State = lease.Whole }
	raise := func(r *lease.Record) { r.HWM++ }
	fence := func(generation string, hwm int64) func(*lease.Record) {
		return func(r *lease.Record) { r.Generation, r.HWM = generation, hwm }
	}
	const ownerKey, digits = "the key is not the owner's", "want 16 hexadecimal digits"
	beside := absent("uid60@0123456789abcdef", 1, 1)
	for name, c := range map[string]struct {
		want   string
		prev   lease.Record
		change func(*lease.Record)
		beside *lease.Record // an earlier change, which raises its HWM
	}{
		"0/0 of a generation":  {"has no record of 0/0", absent(space, 0, 0), whole, nil},
		"a node ID of a realm": {"has no record of 1/8", absent("orders", 1, 8), whole, nil},
		"no name":              {"want a name without @", absent("", 0, 0), whole, nil},
		"a name too long":      {"101 bytes", absent(strings.Repeat("x", 101), 0, 0), whole, nil},
		"control characters":   {"control characters", absent("a\x1b[2Jb", 0, 0), whole, nil},
		"no generation":        {digits, absent("orders@", 1, 8), whole, nil},
		"two generations":      {digits, absent(space+"@x", 1, 8), whole, nil},
		"no such realm": {"no such realm", absent("other@0123456789abcdef", 1, 8),
			whole, nil},
		"a half of a retired block": {"the block around 9/8 is retired, want split",
			absent(space, 9, 8), whole, nil},
		"too many bits":        {"more than the 23 bits", absent(space, 9, 24), whole, nil},
		"another realm beside": {"of another realm than the first", beside, whole, &v.held},
		"one node ID twice":    {"occurs twice", v.held, raise, &v.held},
		"any hwm": {"the deadline is", v.held,
			func(r *lease.Record) { r.HWM += 1 << 40 }, nil},
		"an hwm far ahead": {"too far in the future", v.held, func(r *lease.Record) {
			r.HWM += 1 << 40
			r.Deadline += 1 << 40
		}, nil},
		"a deadline far ahead": {"ticks after hwm, want at most", v.held,
			func(r *lease.Record) { r.Deadline += 1000 }, nil},
		"a lower hwm": {ownerKey, v.held, release(1), nil},
		"a lower hwm, a wrong key": {ownerKey, v.held, func(r *lease.Record) {
			key := r.Owner
			release(1)(r)
			r.Key = key
		}, nil},
		"an hwm below the grant": {ownerKey, v.held, release(v.held.HWM - v.held.From + 1), nil},
		"a grant of a held block": {"held", v.held, func(r *lease.Record) {
			r.Owner, r.Request, r.From = lease.Owner{1}, 1, r.HWM
			r.HWM += 4
			r.Deadline = r.HWM + 2
		}, nil},
		"a revision too high": {"the revision is", v.held,
			func(r *lease.Record) { release(0)(r); r.Revision++ }, nil},
		"terms in a node ID": {"the terms is", v.held,
			func(r *lease.Record) { release(0)(r); r.Terms = v.root.Terms }, nil},
		"a name of a holder too long": {"the name has 101 bytes", v.held,
			func(r *lease.Record) { r.Name = strings.Repeat("x", 101) }, nil},
		"a held block split": {"held", v.held,
			func(r *lease.Record) { release(0)(r); r.State = lease.Split }, nil},
		"a realm with no terms": {"make no sense", absent("new", 0, 0), func(r *lease.Record) {
			r.State, r.Generation = lease.Split, v.root.Generation
		}, nil},
		"a window of a year": {"make no sense", v.root,
			func(r *lease.Record) { r.Terms.Window = 365 * 24 * 3600 * 4 }, nil},
		"another tick": {"the terms is", v.root,
			func(r *lease.Record) { r.Terms.Tick = 1000 }, nil},
		"a shorter window without most_window": {"the terms is", v.root,
			func(r *lease.Record) { r.Terms.Window /= 2 }, nil},
		"a fence without a floor": {"does not fence a realm", v.root,
			func(r *lease.Record) { r.Generation = "0123456789abcdef" }, nil},
		"a fence below the time": {"does not fence a realm", v.root,
			fence("0123456789abcdef", now), nil},
		"a fence for ever": {"does not fence a realm", v.root,
			fence("0123456789abcdef", 1<<60), nil},
		"a generation that is a path": {digits, v.root,
			fence("../../../../etc", now+1000), nil},
	} {
		t.Run(name, func(t *testing.T) {
			var changes []lease.Change
			add := func(prev lease.Record, change func(*lease.Record)) {
				next := prev
				next.Revision++
				change(&next)
				changes = append(changes, lease.Change{Prev: prev, Next: next})
			}
			if c.beside != nil {
				add(*c.beside, raise)
			}
			add(c.prev, c.change)
			last := changes[len(changes)-1].Next
			before := check.Must(v.memory.Get(t.Context(), last.Realm, last.Block))(t)
			ok, err := v.client.CompareAndSetMany(t.Context(), changes)
			if ok || !errors.Is(err, lease.ErrIllegal) || !strings.Contains(err.Error(), c.want) ||
				!strings.Contains(err.Error(), fmt.Sprintf("body.changes[%d]", len(changes)-1)) {
				t.Errorf("%v, %v, want %q", ok, err, c.want)
			}
			if after, err := v.memory.Get(t.Context(), last.Realm, last.Block); err != nil ||
				after != before {
				t.Errorf("stored %+v, %v", after, err)
			}
		})
	}
	if ok, err := lease.Evict(t.Context(), v.client, "orders", v.held.Block, v.held.Owner); !ok ||
		err != nil {
		t.Errorf("an eviction: %v, %v", ok, err)
	}
}

// release returns a change that releases a block, and lowers its HWM by d.
func release(d int64) func(r *lease.Record) {
	return func(r *lease.Record) {
		*r = lease.Record{Realm: r.Realm, Block: r.Block, Revision: r.Revision, HWM: r.HWM - d,
			State: r.State}
	}
}

func TestCheckedAgainstTheStore(t *testing.T) {
	v := serveRealm(t)
	stale := v.held
	stale.Revision--
	next := stale
	next.HWM, next.Revision = next.HWM+1<<40, stale.Revision+1
	if ok, err := v.client.CompareAndSet(t.Context(), stale, next); ok || err != nil {
		t.Errorf("a change of an outdated record: %v, %v, want false", ok, err)
	}
	claimed := v.held // the stored block is held, but the client claims that it is not
	claimed.Owner, claimed.Deadline, claimed.From = lease.Owner{}, 0, 0
	next = claimed
	next.Revision++
	next.State = lease.Split
	if ok, err := v.client.CompareAndSet(t.Context(), claimed, next); ok ||
		!errors.Is(err, lease.ErrIllegal) {
		t.Errorf("a held block split: %v, %v", ok, err)
	}
}

// Operators can make a realm, and change its terms, over HTTP.
func TestOperators(t *testing.T) {
	v := serveRealm(t)
	ctx := t.Context()
	if made, err := lease.Create(ctx, v.client, lease.Config{Realm: "made", Format: lease.UID60,
		Window: time.Hour}); !made || err != nil {
		t.Fatal(made, err)
	}
	check.Must(lease.SetTerms(ctx, v.client, "made", 10*time.Second, time.Second))(t)
	check.Must(lease.SetTerms(ctx, v.client, "made", 0, time.Minute))(t)
}

// The server limits the number of realms that clients make. The store itself has no limit.
func TestManyRealms(t *testing.T) {
	v := serveRealm(t)
	config := func(i int) lease.Config {
		return lease.Config{Realm: fmt.Sprint("realm", i), Format: lease.SCRU64, NodeBits: 8}
	}
	create := func(store lease.Store, i int) error {
		_, err := lease.Create(t.Context(), store, config(i))
		return err
	}
	names := check.Must(v.memory.Realms(t.Context()))(t)
	for i := len(names); i < limit.MaxRealms; i++ {
		if err := create(v.client, i); err != nil {
			t.Fatalf("realm %d: %v", i, err)
		}
	}
	const want = "make the realm at the store itself"
	if err := create(v.client, limit.MaxRealms); !errors.Is(err, lease.ErrIllegal) ||
		!strings.Contains(err.Error(), want) {
		t.Errorf("one more realm: %v", err)
	}
	check.OK(t, create(v.memory, limit.MaxRealms))
	l := check.Must(lease.Acquire(t.Context(), v.client, config(limit.MaxRealms)))(t)
	check.OK(t, l.Close(t.Context()))
}

// A fence begins a generation. If clients could fence a realm, they could put overlapping node IDs
// into the generation.
func TestNoFenceOverHTTP(t *testing.T) {
	v := serveRealm(t)
	ctx := t.Context()
	far := v.held // a fence would have to begin above this HWM
	far.Revision, far.HWM = far.Revision+1, far.HWM+1<<30
	if ok, err := v.memory.CompareAndSet(ctx, v.held, far); !ok || err != nil {
		t.Fatal(ok, err)
	}
	before := check.Must(lease.Realm(ctx, v.memory, "orders"))(t)
	for _, c := range []lease.Config{{Realm: "orders"}, {Realm: "lost", Format: lease.SCRU64}} {
		_, err := lease.Fence(ctx, v.client, c, 0)
		if !errors.Is(err, lease.ErrIllegal) ||
			!strings.Contains(err.Error(), "fence the realm at the store itself") {
			t.Error(err)
		}
	}
	if after, err := lease.Realm(ctx, v.memory, "orders"); err != nil || after != before {
		t.Errorf("%+v, %v", after, err)
	}
	// Records of a later generation are refused, too.
	for _, r := range []lease.Record{
		{Block: lease.Block{NodeID: 0, Size: 2}, State: lease.Split, HWM: far.HWM},
		{Block: far.Block, State: lease.Retired, HWM: far.HWM},
		{Block: lease.Block{NodeID: 1, Size: 1}, State: lease.Whole, HWM: far.HWM},
	} {
		r.Realm, r.Revision = "orders@00000000deadbeef", 1
		if ok, err := v.client.CompareAndSet(ctx, lease.Record{Realm: r.Realm, Block: r.Block},
			r); ok || !errors.Is(err, lease.ErrIllegal) {
			t.Errorf("%v: %v, %v", r.Block, ok, err)
		}
	}
	if records, err := v.memory.List(ctx, "orders@00000000deadbeef"); err != nil ||
		len(records) > 0 {
		t.Errorf("%v, %v", records, err)
	}
}

// Clients can make a limited number of records. The server seldom counts them.
func TestManyRecords(t *testing.T) {
	memory := lease.NewMemory()
	store := &hooked{Store: memory}
	client := serveStore(t, store)
	space := "orders@" + orders(t, client).Generation
	made, last := 0, error(nil)
	for size := uint8(1); last == nil && size < 20; size++ {
		for from := uint32(0); last == nil && from < 1<<size; from += limit.MaxMany {
			var changes []lease.Change
			for n := from; n < min(from+limit.MaxMany, 1<<size); n++ {
				b := lease.Block{NodeID: n, Size: size}
				changes = append(changes, lease.Change{Prev: lease.Record{Realm: space, Block: b},
					Next: lease.Record{Realm: space, Block: b, Revision: 1, State: lease.Split}})
			}
			var ok bool
			if ok, last = client.CompareAndSetMany(t.Context(), changes); ok {
				made += len(changes)
			}
		}
	}
	records, err := memory.List(t.Context(), space)
	if err != nil || len(records) != made || made > lease.MaxRecords ||
		made < lease.MaxRecords-limit.MaxMany || !errors.Is(last, lease.ErrIllegal) ||
		!strings.Contains(last.Error(), "which is the limit") {
		t.Errorf("%d records were made, there are %d, then %v, %v", made, len(records), last, err)
	}
	if n := store.count("List"); n > made/1000*2 {
		t.Errorf("%d lists for %d records", n, made)
	}
}

// Bodies must be JSON, because browsers let foreign pages send other types. A body that ends too
// soon is the client's error.
func TestStoreBodies(t *testing.T) {
	_, ts := start(t, Config{Store: lease.NewMemory()})
	for kind, status := range map[string]int{
		"": 415, "text/plain": 415, "application/x-www-form-urlencoded": 415,
		"application/json; charset": 415,
		"application/json":          200, "application/json; charset=utf-8": 200,
		"Application/JSON": 200,
	} {
		a := send(t, http.MethodPost, ts.URL+"/v1/store/realms", "{}", "Content-Type: "+kind)
		if a.StatusCode != status || status == 415 &&
			!strings.Contains(a.body, "Content-Type: application/json") {
			t.Errorf("%q: %d, want %d: %s", kind, a.StatusCode, status, a.body)
		}
	}
	for _, path := range []string{"get", "compare-and-set", "list", "realms", "time",
		"conditions"} {
		c, in := raw(t, ts.URL, "POST /v1/store/"+path+" HTTP/1.1\r\nHost: localhost\r\n"+
			"Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{")
		check.OK(t, c.(*net.TCPConn).CloseWrite())
		a := read(t)(http.ReadResponse(in, nil))
		if a.StatusCode != 400 || !strings.Contains(a.body, "the body ends too soon") {
			t.Errorf("%s cut off: %d: %s", path, a.StatusCode, a.body)
		}
	}
}
