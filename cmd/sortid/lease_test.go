package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sortid/sortid/cmd/sortid/internal/console"
	"github.com/sortid/sortid/cmd/sortid/internal/nodeid"
	"github.com/sortid/sortid/internal/check"
	"github.com/sortid/sortid/internal/testserver"
	"github.com/sortid/sortid/internal/words"
	"github.com/sortid/sortid/lease"
	"github.com/sortid/sortid/store"
	"go.etcd.io/bbolt"
)

func openBolt(t *testing.T) (path string, st store.Store) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "leases.db")
	st = check.Must(store.Open(t.Context(), "bolt:"+path))(t)
	t.Cleanup(func() { st.Close() })
	return path, st
}

func TestAsk(t *testing.T) {
	for answer, yes := range map[string]bool{"y\n": true, "Yes\r\n": true, "y": true, "n\n": false,
		"\n": false, "": false, "yo\n": false, "\ny\n": false} {
		path, st := openBolt(t)
		l := check.Must(lease.Acquire(t.Context(), st, lease.Config{Realm: "scru64",
			Format: lease.SCRU64(), NodeBits: 8, Name: "me"}))(t)
		node := lease.Block{NodeID: l.NodeID(), Size: 8}
		root, _, err := lease.Records(t.Context(), st, "scru64")
		if err != nil {
			t.Fatal(err)
		}
		for _, args := range [][]string{{"lease", "evict", "bolt:" + path, node.String()},
			{"lease", "fence", "bolt:" + path}} {
			var out, errs bytes.Buffer
			c := &console.Console{In: strings.NewReader(answer), Out: &out, Err: &errs,
				InTerminal: true, Width: 80}
			if code := run(c, args); (code == console.Success) != yes || code == console.WrongUsage ||
				!strings.Contains(errs.String(), "[y/N]") {
				t.Errorf("%v answered with %q: code %d, %s", args, answer, code, errs.String())
			}
		}
		r, err := st.Get(t.Context(), "scru64@"+root.Generation, node)
		if err != nil || (r.Owner == lease.Owner{}) != yes {
			t.Errorf("answered with %q: %+v, %v", answer, r, err)
		}
		after, _, err := lease.Records(t.Context(), st, "scru64")
		if err != nil || (after.Generation != root.Generation) != yes {
			t.Errorf("answered with %q: the realm was %+v, is %+v, %v", answer, root, after, err)
		}
		l.Close(t.Context())
	}
}

func TestGivenBack(t *testing.T) {
	path, st := openBolt(t)
	check.Must(lease.Create(t.Context(), st,
		lease.Config{Realm: "scru64", Format: lease.SCRU64()}))(t)
	for _, out := range []*full{{after: 100}, {after: 100_000}} {
		code, stderr := start(nil, out, "new", "scru64", "--lease", "bolt:"+path, "--forever")
		if code != console.Failure || stderr != "sortid: disk full\n" {
			t.Errorf("code %d, %s", code, stderr)
		}
	}
	_, blocks, err := lease.Records(t.Context(), st, "scru64")
	if err != nil {
		t.Fatal(err)
	}
	used := 0
	for _, r := range blocks {
		if r.Owner != (lease.Owner{}) {
			t.Errorf("%v is still held by %s", r.Block, r.Name)
		}
		if r.State == lease.Whole && r.HWM > 0 {
			used++
		}
	}
	if used == 0 {
		t.Error("no node ID was ever used")
	}
}

// If the store fails at the end, new waits for a limited time, and still exits with 0.
func TestNotGivenBack(t *testing.T) {
	defer func(d time.Duration) { nodeid.ReleasePatience = d }(nodeid.ReleasePatience)
	nodeid.ReleasePatience = 2 * time.Second
	path, _ := openBolt(t)
	lock := &locker{path: path}
	code, stderr := start(nil, lock, "new", "scru64", "--lease", "bolt:"+path, "-n", "1",
		"--create")
	defer lock.db.Close() // the file is locked until here
	if code != console.Success || !strings.Contains(
		stderr, "could not be given back; it becomes free soon after 20") ||
		!strings.Contains(stderr, "has the file locked") {
		t.Errorf("code %d, %s", code, stderr)
	}
}

type locker struct {
	path string
	db   *bbolt.DB
}

func (l *locker) Write(b []byte) (n int, err error) {
	l.db, err = bbolt.Open(l.path, 0o600, nil)
	return len(b), err
}

// The conditions of the store's guarantee are printed once.
func TestConditions(t *testing.T) {
	dir, err := os.MkdirTemp("/dev/shm", "sortid")
	if err != nil {
		testserver.Missing(t, fmt.Sprintf("there is no tmpfs: %v", err),
			"mount -t tmpfs tmpfs /dev/shm")
	}
	defer os.RemoveAll(dir)
	url := "bolt:" + filepath.Join(dir, "leases.db")
	if st, err := store.Open(t.Context(), url); err != nil || st.Conditions() == nil {
		testserver.Missing(t, fmt.Sprintf("a store in /dev/shm has no conditions: %v", err),
			"mount -t tmpfs tmpfs /dev/shm")
	}
	var out bytes.Buffer
	code, stderr := start(nil, &out, "new", "scru64", "--lease", url, "-n", "2", "--create")
	if code != console.Success || strings.Count(out.String(), "\n") != 2 ||
		strings.Count(stderr, "sortid: conditional: the file is on tmpfs") != 1 {
		t.Errorf("code %d, %s, %s", code, out.String(), stderr)
	}
	out.Reset()
	if code, stderr := start(nil, &out, "lease", "create", url, "--format",
		"uid60"); code != console.Success || strings.Count(
		stderr, "sortid: conditional: the file is on tmpfs") != 1 {
		t.Errorf("code %d, %s", code, stderr)
	}
	shown := sortid(t, "", "lease", "show", url, "--realm", "scru64")
	if !strings.Contains(strings.Join(strings.Fields(shown), " "),
		"conditions conditional: the file is on tmpfs") {
		t.Error(shown)
	}
}

// --timeout limits the wait for a store. Without it, this test waits for a day.
func TestTimeout(t *testing.T) {
	defer nodeid.SetPatience(nodeid.Patience)
	nodeid.SetPatience(24 * time.Hour)
	silent := check.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer silent.Close()
	for _, command := range []string{"list", "show"} {
		address := silent.Addr().String()
		expect(t, console.Failure, []string{"lease", command, "redis://" + address, "--timeout", "100ms"},
			"no answer from "+address)
	}
	expect(t, console.WrongUsage, []string{"lease", "list", "bolt:x", "--timeout", "0s"},
		"--timeout 0s: want")
}

// An error from a server is printed in one line, and cannot control a terminal.
func TestServerText(t *testing.T) {
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusForbidden)
		json.NewEncoder(w).Encode(
			map[string]string{"detail": "\x1b[2Jno\nsortid: all is well\x7f\u009b1m\u202e ü"})
	}))
	defer web.Close()
	database := check.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer database.Close()
	go func() {
		for {
			conn, err := database.Accept()
			if err != nil {
				return
			}
			const number = "\xff\x6a\x04" // of an error
			message := number + "\x1b[2Jno\nsortid: all is well\x7f\u009b1m\u202e ü"
			conn.Write(append([]byte{byte(len(message)), 0, 0, 0}, message...))
			conn.Close()
		}
	}()
	const want = `\x1b[2Jno\nsortid: all is well\x7f\u009b1m\u202e ü`
	for _, url := range []string{web.URL, "mysql://u:p@" + database.Addr().String() + "/ids"} {
		_, stderr := expect(t, console.Failure, []string{"lease", "list", url}, want)
		if strings.Count(stderr, "\n") != 1 ||
			strings.ContainsAny(stderr, "\x1b\x7f\u009b\u202e") {
			t.Errorf("%s: %q, want %q in a line", url, stderr, want)
		}
	}
}

func TestHolderNames(t *testing.T) {
	path, st := openBolt(t)
	root := lease.Record{Realm: "scru64", Revision: 1, State: lease.Split, Generation: "g",
		Terms: lease.Terms{Bits: 8, Tick: 256, Window: 200, Lead: 40}}
	b := lease.Block{NodeID: 1, Size: 1}
	held := lease.Record{Realm: "scru64@g", Block: b, Revision: 1, HWM: 5, State: lease.Whole,
		Owner: lease.Owner{1}, Deadline: math.MaxInt64 / 256, Name: "ü\x1b[31m\n\u202e"}
	for _, r := range []lease.Record{root, held} {
		if ok, err := st.CompareAndSet(t.Context(), lease.Record{Realm: r.Realm, Block: r.Block},
			r); !ok || err != nil {
			t.Fatal(ok, err)
		}
	}
	for _, args := range [][]string{{"list", "bolt:" + path}, {"show", "bolt:" + path, "1/1"},
		{"list", "bolt:" + path, "-o", "json"}} {
		out := sortid(t, "", append([]string{"lease"}, args...)...)
		if strings.ContainsAny(out, "\x1b\u202e") || !strings.Contains(
			strings.ReplaceAll(out, `\\`, `\`), `ü\x1b[31m\n\u202e`) {
			t.Errorf("%v: %q", args, out)
		}
		if args[len(args)-1] == "json" && !json.Valid([]byte(out)) {
			t.Errorf("no JSON: %s", out)
		}
	}
}

// Commands report records that they cannot read, but list and fence others.
func TestForeignRecords(t *testing.T) {
	path, st := openBolt(t)
	at := func(args string) []string {
		return strings.Fields("lease " + strings.ReplaceAll(args, "URL", "bolt:"+path))
	}
	for _, name := range []string{"first", "last"} {
		check.Must(lease.Create(t.Context(), st,
			lease.Config{Realm: name, Format: lease.SCRU64()}))(t)
	}
	root := check.Must(lease.Realm(t.Context(), st, "last"))(t)
	for _, r := range []lease.Record{
		{Realm: "last@" + root.Generation, Block: lease.Block{NodeID: 1, Size: 24},
			State: lease.Whole},
		{Realm: "first@x", State: lease.Whole},
		{Realm: "middle", State: lease.Split},
	} {
		r.Revision = 1
		if ok, err := st.CompareAndSet(t.Context(), lease.Record{Realm: r.Realm, Block: r.Block},
			r); !ok || err != nil {
			t.Fatal(ok, err)
		}
	}
	for _, args := range []string{"list URL", "show URL", "list URL -o json --all"} {
		out, _ := expect(t, console.Failure, at(args), `realm "first@x"`, "want a name without @",
			`realm "middle"`, `realm "last": lease: records that make no sense: 1 of them, such as `+
				`the record of 1/24`)
		if !strings.HasSuffix(args, "--all") && (!strings.Contains(out, "first") ||
			!strings.Contains(out, "last")) {
			t.Errorf("%v: %s", args, out)
		}
	}
	out, _ := expect(t, console.Failure, at("list URL --realm last --all"))
	if !strings.Contains(out, "last") || strings.Contains(out, "1/24") {
		t.Error(out)
	}
	expect(t, console.WrongUsage, at("evict URL 1/8 --yes"), "choose one with --realm: first")
	out, stderr := expect(t, console.Failure, at("fence URL --yes"), `realm "first@x" is not fenced: `,
		`realm "middle" is not fenced: `, `fenced: ["first" "last"]; not fenced: ["first@x" `+
			`"middle"]; let no process reach the store before all its realms are fenced`)
	if strings.Count(out, "\n") != 2 || !strings.HasPrefix(out, "first\t20") ||
		!strings.Contains(out, "\nlast\t20") ||
		strings.Contains(stderr, "may reach the store again") {
		t.Error(out, stderr)
	}
	if after, err := lease.Realm(t.Context(), st, "last"); err != nil ||
		after.Generation == root.Generation {
		t.Errorf("the last realm is not fenced: %+v, %v", after, err)
	}
}

func TestListWithoutRealms(t *testing.T) {
	path, _ := openBolt(t)
	expect(t, console.Failure, []string{"lease", "list", "bolt:" + path}, "the store has no realms")
}

// evict frees a node ID that was released without its last time, as soon as that is safe.
func TestEvictWaiting(t *testing.T) {
	path, st := openBolt(t)
	url := "bolt:" + path
	l := lease.NewLessor(st, lease.LessorOptions{})
	config := lease.Config{Realm: "workers", NodeBits: 4}
	if _, _, err := l.CreateRealm(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	acquire := func(nodeID int64) lease.Grant {
		return check.Must(l.Acquire(t.Context(), "workers", lease.AcquireRequest{NodeID: nodeID,
			Request: fmt.Sprintf("request of %d at %d", nodeID, time.Now().UnixNano()), Holder: "me"}))(t)
	}
	released, evicted := acquire(5), acquire(6)
	if err := l.Release(t.Context(), "workers", released.ID,
		lease.ReleaseRequest{Secret: released.Secret}); err != nil {
		t.Fatal(err)
	}
	expect(t, console.Success, []string{"lease", "evict", url, "6/4", "-y"}, "is taken from me")
	expect(t, console.Failure, []string{"lease", "evict", url, "6/4", "-y"},
		"waits after its last use",
		"did not release it", "it can be had from "+words.Time(
			evicted.ValidUntil().Add(-10*time.Second)))
	expect(t, console.Failure, []string{"lease", "evict", url, "5/4", "-y"},
		"waits after its last use",
		"if its IDs were at most 10s ahead, it can be freed from 20")
	expect(t, console.WrongUsage, []string{"lease", "evict", url, "5/4", "-y", "--ahead", "-1s"},
		"--ahead -1s")
	time.Sleep(5 * time.Millisecond)
	expect(t, console.Success, []string{"lease", "evict", url, "5/4", "-y", "--ahead", "1ms"},
		`node ID 5/4 of realm "workers" is free`)
	if again := acquire(5); !again.ValidFrom().Before(released.ValidUntil()) {
		t.Errorf("the next lease begins at %v", again.ValidFrom())
	}
	expect(t, console.Failure, []string{"lease", "evict", url, "7/4", "-y"},
		"nobody holds node ID 7/4")

	until := time.Now().Add(8 * time.Second).Truncate(time.Millisecond) // earlier than the lead
	released = acquire(8)
	check.OK(t, l.Release(t.Context(), "workers", released.ID,
		lease.ReleaseRequest{Secret: released.Secret, LastTime: until}))
	expect(t, console.Failure, []string{"lease", "evict", url, "8/4", "-y"},
		"nobody holds node ID 8/4",
		"the next holder can use it from "+words.Time(until.Add(time.Millisecond)))
}

// The list of a server may be older than a lease. evict finds the lease all the same.
func TestEvictNewLease(t *testing.T) {
	t.Parallel()
	path, st := openBolt(t)
	check.Must(lease.Create(t.Context(), st, lease.Config{Realm: "workers", NodeBits: 4,
		OneSize: true}))(t)
	s := serve(t, "--store", "bolt:"+path, "--leases-only")
	answer := check.Must(http.Post(s.url+"/v1/realms/workers/leases", "application/json",
		strings.NewReader(`{"request":"a request of this test","node_id":3,"holder":"me"}`)))(t)
	answer.Body.Close()
	if answer.StatusCode != http.StatusCreated {
		t.Fatal(answer.Status)
	}
	old := true
	server := httputil.NewSingleHostReverseProxy(check.Must(url.Parse(s.url))(t))
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if old && r.Method == "GET" && r.URL.Path == "/v1/realms/workers/leases" {
			old = false
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, `{"leases":[],"next":null}`)
			return
		}
		server.ServeHTTP(w, r)
	}))
	defer web.Close()
	expect(t, console.Success, []string{"lease", "evict", web.URL, "3/4", "-y"}, "is taken from me")
}
