package server

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/sortid/sortid/lease"
	httpstore "github.com/sortid/sortid/store/http"
)

// Another process holds a node ID of 2 bits.
type served struct {
	memory *lease.Memory
	url    string
	client *httpstore.Store
	root   lease.Record
	held   lease.Record
}

func serveRealm(t *testing.T) served {
	t.Helper()
	memory := lease.NewMemory()
	_, ts := start(t, Config{Store: memory, MustExist: true})
	client, err := httpstore.Open(t.Context(), ts.URL)
	must(t, err)
	t.Cleanup(func() { client.Close() })
	l, err := lease.Acquire(t.Context(), client, lease.Config{Realm: "orders", Format: lease.SCRU64,
		NodeBits: 2, Name: "victim"})
	must(t, err)
	t.Cleanup(func() {
		if err := l.Close(t.Context()); err != nil && !errors.Is(err, t.Context().Err()) {
			t.Error(err)
		}
	})
	root, err := lease.Realm(t.Context(), client, "orders")
	must(t, err)
	held, err := client.Get(t.Context(), "orders@"+root.Generation,
		lease.Block{NodeID: l.NodeID(), Size: 2})
	if err != nil || held.Name != "victim" {
		t.Fatalf("%+v, %v", held, err)
	}
	return served{memory, ts.URL, client, root, held}
}

// A check costs one GetMany.
func TestReadsPerCheck(t *testing.T) {
	memory := lease.NewMemory()
	store := &hooked{Store: memory}
	g := newCheckedStore(store)
	if _, err := lease.Create(t.Context(), memory,
		lease.Config{Realm: "orders", Format: lease.SCRU64}); err != nil {
		t.Fatal(err)
	}
	root, err := lease.Realm(t.Context(), memory, "orders")
	must(t, err)
	r := lease.Record{Realm: "orders@" + root.Generation, Block: lease.Block{NodeID: 1, Size: 1}}
	for i, state := range []lease.State{lease.Split, lease.Merging, lease.Split, lease.Merging} {
		next := r
		next.Revision, next.State = r.Revision+1, state
		store.count("GetMany", "Get", "Time")
		ok, err := g.compareAndSet(t.Context(), []lease.Change{{Prev: r, Next: next}})
		many, others := store.count("GetMany"), store.count("Get", "Time")
		if !ok || err != nil || many != 1 || i > 0 && others != 0 {
			t.Errorf("change %d: %v, %v, %d calls of GetMany, want 1, and %d of Get and Time", i,
				ok, err, many, others)
		}
		r = next
	}
}

// Illegal changes are refused with the reason, and not stored.
func TestAttacks(t *testing.T) {
	v := serveRealm(t)
	space := v.held.Realm
	absent := func(realm string, b lease.Block) lease.Record {
		return lease.Record{Realm: realm, Block: b}
	}
	next := func(prev lease.Record, change func(r *lease.Record)) lease.Change {
		r := prev
		r.Revision++
		change(&r)
		return lease.Change{Prev: prev, Next: r}
	}
	now := v.root.Terms.At(time.Now())
	whole := func(r *lease.Record) { r.State = lease.Whole }
	for name, c := range map[string]struct {
		want    string
		changes []lease.Change
	}{
		"0/0 of a generation": {"has no record of 0/0",
			[]lease.Change{next(absent(space, lease.Block{}), whole)}},
		"a node ID of a realm": {"has no record of 1/8",
			[]lease.Change{next(absent("orders", lease.Block{NodeID: 1, Size: 8}), whole)}},
		"no name": {"want a name without @",
			[]lease.Change{next(absent("", lease.Block{}), whole)}},
		"a name too long": {"101 bytes",
			[]lease.Change{next(absent(strings.Repeat("x", 101), lease.Block{}), whole)}},
		"control characters": {"control characters",
			[]lease.Change{next(absent("a\x1b[2Jb", lease.Block{}), whole)}},
		"no generation": {"want 16 hexadecimal digits",
			[]lease.Change{next(absent("orders@", lease.Block{NodeID: 1, Size: 8}), whole)}},
		"two generations": {"want 16 hexadecimal digits",
			[]lease.Change{next(absent(space+"@x", lease.Block{NodeID: 1, Size: 8}), whole)}},
		"no such realm": {"no such realm",
			[]lease.Change{next(absent("other@0123456789abcdef", lease.Block{NodeID: 1, Size: 8}),
				whole)}},
		"a node ID from nowhere": {"the block around 9/8 is retired, want split",
			[]lease.Change{next(absent(space, lease.Block{NodeID: 9, Size: 8}), whole)}},
		"too many bits": {"more than the 23 bits",
			[]lease.Change{next(absent(space, lease.Block{NodeID: 9, Size: 24}), whole)}},
		"another realm beside": {"of another realm than the first", []lease.Change{
			next(v.held, func(r *lease.Record) { r.HWM++ }),
			next(absent("uid60@0123456789abcdef", lease.Block{NodeID: 1, Size: 1}), whole)}},
		"one node ID twice": {"occurs twice",
			[]lease.Change{next(v.held, func(r *lease.Record) { r.HWM++ }),
				next(v.held, func(r *lease.Record) { r.HWM++ })}},
		"any mark": {"the deadline is",
			[]lease.Change{next(v.held, func(r *lease.Record) { r.HWM += 1 << 40 })}},
		"a mark far ahead": {"too far ahead of the time",
			[]lease.Change{next(v.held, func(r *lease.Record) {
				r.HWM += 1 << 40
				r.Deadline += 1 << 40
			})}},
		"a deadline far ahead": {"ticks after hwm, want at most",
			[]lease.Change{next(v.held, func(r *lease.Record) { r.Deadline += 1000 })}},
		"a lower mark": {"the key is not the owner's", []lease.Change{next(v.held, release(0))}},
		"a lower mark, a wrong key": {"the key is not the owner's",
			[]lease.Change{next(v.held, func(r *lease.Record) {
				release(0)(r)
				r.Key = r.Owner
			})}},
		"a mark below the grant": {"the key is not the owner's",
			[]lease.Change{next(v.held, release(v.held.From-v.held.HWM-1))}},
		"a lease that is held": {"held", []lease.Change{next(v.held, func(r *lease.Record) {
			r.Owner, r.Request, r.From = lease.Owner{1}, 1, r.HWM
			r.HWM += 4
			r.Deadline = r.HWM + 2
		})}},
		"a revision too high": {"the revision is",
			[]lease.Change{next(v.held, func(r *lease.Record) { *r = vacated(*r); r.Revision++ })}},
		"terms in a node ID": {"the terms is", []lease.Change{next(
			v.held, func(r *lease.Record) { *r = vacated(*r); r.Terms = v.root.Terms })}},
		"a name that is none": {"the name has 101 bytes", []lease.Change{next(
			v.held, func(r *lease.Record) { r.Name = strings.Repeat("x", 101) })}},
		"a held block split": {"held", []lease.Change{next(
			v.held, func(r *lease.Record) { *r = vacated(*r); r.State = lease.Split })}},
		"a realm with no terms": {"make no sense", []lease.Change{next(absent("new", lease.Block{}),
			func(r *lease.Record) { r.State, r.Generation = lease.Split, v.root.Generation })}},
		"a window of a year": {"make no sense", []lease.Change{next(
			v.root, func(r *lease.Record) { r.Terms.Window = 365 * 24 * 3600 * 4 })}},
		"another tick": {"the terms is",
			[]lease.Change{next(v.root, func(r *lease.Record) { r.Terms.Tick = 1000 })}},
		"a window forgotten": {"the terms is",
			[]lease.Change{next(v.root, func(r *lease.Record) { r.Terms.Window /= 2 })}},
		"a fence that is none": {"passes on no fence", []lease.Change{next(
			v.root, func(r *lease.Record) { r.Generation = "0123456789abcdef" })}},
		"a fence below the time": {"passes on no fence",
			[]lease.Change{next(v.root, func(r *lease.Record) {
				r.Generation, r.HWM = "0123456789abcdef", now
			})}},
		"a fence for ever": {"passes on no fence",
			[]lease.Change{next(v.root, func(r *lease.Record) {
				r.Generation, r.HWM = "0123456789abcdef", 1<<60
			})}},
		"a generation that is a name": {"want 16 hexadecimal digits",
			[]lease.Change{next(v.root, func(r *lease.Record) {
				r.Generation, r.HWM = "../../../../etc", now+1000
			})}},
	} {
		t.Run(name, func(t *testing.T) {
			last := c.changes[len(c.changes)-1].Next
			before, err := v.memory.Get(t.Context(), last.Realm, last.Block)
			must(t, err)
			ok, err := v.client.CompareAndSetMany(t.Context(), c.changes)
			if ok || !errors.Is(err, lease.ErrIllegal) || !strings.Contains(err.Error(), c.want) ||
				!strings.Contains(err.Error(), fmt.Sprintf("body.changes[%d]", len(c.changes)-1)) {
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

func vacated(r lease.Record) lease.Record {
	return lease.Record{Realm: r.Realm, Block: r.Block, Revision: r.Revision, HWM: r.HWM,
		State: r.State}
}

// release gives a block back, its mark lower by d.
func release(d int64) func(r *lease.Record) {
	return func(r *lease.Record) {
		if d == 0 {
			d = -1
		}
		*r = vacated(*r)
		r.HWM += d
	}
}

// Checks use the store's records, not the client's.
func TestCheckedAgainstTheStore(t *testing.T) {
	v := serveRealm(t)
	stale := v.held
	stale.Revision--
	next := stale
	next.HWM, next.Revision = next.HWM+1<<40, stale.Revision+1
	if ok, err := v.client.CompareAndSet(t.Context(), stale, next); ok || err != nil {
		t.Errorf("a change of what is no longer there: %v, %v, want false", ok, err)
	}
	claimed := v.held // held, whatever the client says
	claimed.Owner, claimed.Deadline, claimed.From = lease.Owner{}, 0, 0
	next = claimed
	next.Revision++
	next.State = lease.Split
	if ok, err := v.client.CompareAndSet(t.Context(), claimed, next); ok ||
		!errors.Is(err, lease.ErrIllegal) {
		t.Errorf("a held block split: %v, %v", ok, err)
	}
}

// Operators' changes over HTTP leave all leases alive.
func TestOperators(t *testing.T) {
	v := serveRealm(t)
	ctx := t.Context()
	if made, err := lease.Create(ctx, v.client, lease.Config{Realm: "made", Format: lease.UID60,
		Window: time.Hour}); !made || err != nil {
		t.Fatal(made, err)
	}
	if _, err := lease.SetTerms(ctx, v.client, "made", 10*time.Second, time.Second); err != nil {
		t.Fatal(err)
	}
	if _, err := lease.SetTerms(ctx, v.client, "made", 0, time.Minute); err != nil {
		t.Fatal(err)
	}
}

// Clients can make only so many realms; the store's operators any number.
func TestManyRealms(t *testing.T) {
	v := serveRealm(t)
	config := func(i int) lease.Config {
		return lease.Config{Realm: fmt.Sprint("realm", i), Format: lease.SCRU64, NodeBits: 8}
	}
	create := func(store lease.Store, i int) error {
		_, err := lease.Create(t.Context(), store, config(i))
		return err
	}
	names, err := v.memory.Realms(t.Context())
	must(t, err)
	for i := len(names); i < maxRealms; i++ {
		if err := create(v.client, i); err != nil {
			t.Fatalf("realm %d: %v", i, err)
		}
	}
	const want = "make it at the store itself"
	if err := create(v.client, maxRealms); !errors.Is(err, lease.ErrIllegal) ||
		!strings.Contains(err.Error(), want) {
		t.Errorf("one more: %v", err)
	}
	if err := create(v.memory, maxRealms); err != nil {
		t.Error(err)
	}
	if l, err := lease.Acquire(t.Context(), v.client, config(maxRealms)); err != nil {
		t.Error(err)
	} else if err := l.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

// Only who reaches the store itself may fence. Clients could prepare records in a generation they
// begin, and node IDs of two sizes would overlap.
func TestNoFenceOverHTTP(t *testing.T) {
	v := serveRealm(t)
	ctx := t.Context()
	far := v.held // a fence carries this mark over
	far.Revision, far.HWM = far.Revision+1, far.HWM+1<<30
	if ok, err := v.memory.CompareAndSet(ctx, v.held, far); !ok || err != nil {
		t.Fatal(ok, err)
	}
	before, err := lease.Realm(ctx, v.memory, "orders")
	must(t, err)
	for _, c := range []lease.Config{{Realm: "orders"}, {Realm: "lost", Format: lease.SCRU64}} {
		_, err = lease.Fence(ctx, v.client, c, 0)
		if !errors.Is(err, lease.ErrIllegal) || !strings.Contains(err.Error(), noFence) {
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

// Clients can make only so many records, which are seldom counted.
func TestManyRecords(t *testing.T) {
	memory := lease.NewMemory()
	store := &hooked{Store: memory}
	_, ts := start(t, Config{Store: store, MustExist: true})
	client, err := httpstore.Open(t.Context(), ts.URL)
	must(t, err)
	defer client.Close()
	if _, err := lease.Create(t.Context(), client,
		lease.Config{Realm: "orders", Format: lease.SCRU64}); err != nil {
		t.Fatal(err)
	}
	root, err := lease.Realm(t.Context(), client, "orders")
	must(t, err)
	space := "orders@" + root.Generation
	made, last := 0, error(nil)
	for size := uint8(1); last == nil && size < 20; size++ {
		for from := uint32(0); last == nil && from < 1<<size; from += maxMany {
			var changes []lease.Change
			for n := from; n < min(from+maxMany, 1<<size); n++ {
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
		made < lease.MaxRecords-maxMany || !errors.Is(last, lease.ErrIllegal) ||
		!strings.Contains(last.Error(), "which is the most") {
		t.Errorf("%d records were made, there are %d, then %v, %v", made, len(records), last, err)
	}
	if n := store.count("List"); n > made/recountAfter*2 {
		t.Errorf("%d lists for %d records", n, made)
	}
}

// Only JSON by its type is taken, so foreign pages must ask first. A cut body is the client's
// fault.
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
		c, err := net.Dial("tcp", strings.TrimPrefix(ts.URL, "http://"))
		must(t, err)
		fmt.Fprintf(c, "POST /v1/store/%s HTTP/1.1\r\nHost: localhost\r\n"+
			"Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{", path)
		must(t, c.(*net.TCPConn).CloseWrite())
		answer, err := io.ReadAll(c)
		c.Close()
		if err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 400 ") ||
			!strings.Contains(string(answer), "the body ends too soon") {
			t.Errorf("%s cut off: %v\n%s", path, err, answer)
		}
	}
}
