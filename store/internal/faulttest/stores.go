package faulttest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sortid/sortid/internal/testserver"
	"github.com/sortid/sortid/lease"
	"github.com/sortid/sortid/lease/storetest"
	"github.com/sortid/sortid/store/internal/connect"
)

const patience = 3 * time.Minute

func Eventually(t *testing.T, ok func() bool, what func() string) {
	t.Helper()
	for began := time.Now(); !ok(); time.Sleep(10 * time.Millisecond) {
		if time.Since(began) > patience {
			t.Fatal(what())
		}
	}
}

var Block = lease.Block{NodeID: 42, Size: 8}

// Record returns a test record or, for revision 0, a missing record.
func Record(revision uint64) lease.Record {
	r := lease.Record{Realm: "realm", Block: Block}
	if revision > 0 {
		r.Revision, r.HWM, r.State = revision, int64(revision)*1000, lease.Whole
	}
	return r
}

type Opener[S io.Closer] = func(ctx context.Context, url string) (S, error)

func Open[S io.Closer](t *testing.T, open Opener[S], url string) S {
	t.Helper()
	s, err := open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// Store tests a kind of store with [storetest.Run], at URLs from the function place.
func Store[S lease.Store](t *testing.T, open Opener[S], place func(t testing.TB) (url string)) {
	t.Helper()
	storetest.Run(t, func(t *testing.T) func() lease.Store {
		url := place(t)
		return func() lease.Store { return Open(t, open, url) }
	})
}

// Refused opens a store. Open must fail at once. The error must contain these words, and not the
// password "secret".
func Refused[S io.Closer](t *testing.T, open Opener[S], url string, want ...string) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	s, err := open(ctx, url)
	if err == nil {
		s.Close()
		t.Fatalf("%s: no error, want one with %q", url, want)
	}
	if ctx.Err() != nil {
		t.Errorf("Open tried until its context ended: %v", err)
	}
	Says(t, err, want...)
	return err
}

// Says tests that an error contains these words, and not the password "secret".
func Says(t *testing.T, err error, want ...string) {
	t.Helper()
	if err == nil {
		t.Errorf("no error, want one with %q", want)
		return
	}
	for _, w := range want {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("no %q in the error: %v", w, err)
		}
	}
	if strings.Contains(err.Error(), "secret") {
		t.Errorf("an error with the password: %v", err)
	}
}

// Unsafe is like Refused, but the error must also match [lease.ErrUnsafe].
func Unsafe[S io.Closer](t *testing.T, open Opener[S], url string, want ...string) {
	t.Helper()
	if err := Refused(t, open, url, want...); !errors.Is(err, lease.ErrUnsafe) {
		t.Errorf("%v, want ErrUnsafe", err)
	}
}

// BadURLs opens malformed URLs. Each error must contain its words.
func BadURLs[S io.Closer](t *testing.T, open Opener[S], urls map[string]string) {
	t.Helper()
	for url, want := range urls {
		if err := Refused(t, open, url, want); !errors.Is(err, connect.ErrURL) {
			t.Errorf("%s: %v, want ErrURL", url, err)
		}
	}
}

// Secrets opens URLs with a password. No error may contain the password.
func Secrets[S io.Closer](t *testing.T, open Opener[S], urls ...string) {
	t.Helper()
	for _, form := range []string{"%s", "a%%40%s", "%%zz%s", "#%s", "/%s", "?%s", "@%s", ":%s",
		"a:%s@b", "1#%s", "1/%s", "1?%s=", "1@%s", "[%s", "]%s", " %s", "\x00%s", "\\%s", "&%s",
		")/%s", "`: %s", "1/%s?x=%[1]s", "1/a?%s#%[1]s"} {
		for _, url := range urls {
			url = strings.Replace(url, "PASSWORD", fmt.Sprintf(form, "hushhush"), 1)
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
			s, err := open(ctx, url)
			cancel()
			if err == nil {
				s.Close()
				t.Fatalf("%q: no error", url)
			}
			for e := err; e != nil; e = errors.Unwrap(e) {
				if strings.Contains(e.Error(), "hushhush") {
					t.Errorf("%q: %v", url, e)
				}
			}
		}
	}
}

func Unreachable(t *testing.T) string { return fmt.Sprintf("127.0.0.1:%d", testserver.FreePort(t)) }

// Patiently calls f, each time with a longer context, until the error of f contains these words.
func Patiently(t *testing.T, first time.Duration, f func(context.Context) error,
	want ...string) (err error) {
	t.Helper()
	for d := first; d < patience; d *= 4 {
		ctx, cancel := context.WithTimeout(t.Context(), d)
		err = f(ctx)
		ended := ctx.Err() != nil
		cancel()
		if err == nil || !ended ||
			!slices.ContainsFunc(want, func(w string) bool {
				return !strings.Contains(err.Error(), w)
			}) {
			break
		}
	}
	Says(t, err, want...)
	return err
}

// NoServer opens a store on an unreachable server, and on a silent one. Both must fail when the
// context ends, and name the address.
func NoServer[S io.Closer](t *testing.T, open Opener[S], url string, want ...string) {
	t.Helper()
	unreachable, silent := Unreachable(t), Listen(t, anyPort, nil).Addr().String()
	for address, want := range map[string][]string{
		unreachable: append(want, unreachable, "refused", "tried for "),
		silent:      {"no answer from " + silent + " in "},
	} {
		err := Patiently(t, 600*time.Millisecond, func(ctx context.Context) error {
			s, err := open(ctx, At(t, url, address))
			if err == nil {
				s.Close()
			} else if ctx.Err() == nil {
				t.Errorf("Open failed before the context ended: %v", err)
			}
			return err
		}, want...)
		if err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("an error of several lines: %q", err)
		}
	}
}

func Conditions(t *testing.T, s interface{ Conditions() []string }, want ...string) {
	t.Helper()
	got := s.Conditions()
	ok := len(got) == len(want)
	for i := 0; i < len(want) && ok; i++ {
		ok = strings.HasPrefix(got[i], "conditional: ") && strings.Contains(got[i], want[i])
	}
	if !ok {
		t.Errorf("conditions: got %q, want %q", got, want)
	}
}

// Crowd uses many more stores than their server allows connections.
func Crowd[S lease.Store](t *testing.T, open Opener[S], url string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var wg sync.WaitGroup
	for i := range uint32(60) {
		wg.Go(func() {
			s, err := open(ctx, url)
			if err != nil {
				t.Error(err)
				return
			}
			defer s.Close()
			for range 3 {
				if _, err := s.Get(ctx, "realm", lease.Block{NodeID: i, Size: 8}); err != nil {
					t.Error(err)
				}
				time.Sleep(150 * time.Millisecond)
			}
		})
	}
	wg.Wait()
}

func Change(t *testing.T, s lease.Store, prev, next lease.Record) {
	t.Helper()
	if ok, err := s.CompareAndSet(t.Context(), prev, next); !ok || err != nil {
		t.Fatalf("CompareAndSet: %v, %v", ok, err)
	}
}

// Cluster stops one server after the other, while the others continue. After each restart, it calls
// the function restarted.
func Cluster(t *testing.T, s lease.Store, servers []*testserver.Server,
	restarted func(i int, is lease.Record)) {
	t.Helper()
	stores(t, "with all servers", s, Record(0), Record(1))
	for i, server := range servers {
		server.Stop()
		is := Record(uint64(i) + 2)
		stores(t, fmt.Sprint("without server ", i), s, Record(uint64(i)+1), is)
		server.Start()
		restarted(i, is)
	}
}

func ClusterURL(servers []*testserver.Server) string {
	url := servers[0].URL
	for _, s := range servers[1:] {
		_, host, _ := strings.Cut(s.URL, "://")
		url += "," + host
	}
	return url
}

// stores makes a change in a cluster that may have no leader for a while.
func stores(t *testing.T, when string, s lease.Store, was, next lease.Record) {
	t.Helper()
	var err error
	Eventually(t, func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		var r lease.Record
		if r, err = s.Get(ctx, was.Realm, was.Block); err == nil && r == was {
			_, err = s.CompareAndSet(ctx, was, next)
		} else if err == nil && r != next {
			t.Fatalf("%s: got %+v, want %+v or %+v", when, r, was, next)
		}
		return err == nil && r == next
	}, func() string { return fmt.Sprintf("%s: %v", when, err) })
}

// NotARecord tests that reading the record at [Block] of "realm" fails.
func NotARecord(t *testing.T, s lease.Store, done, want string) {
	t.Helper()
	_, err1 := s.Get(t.Context(), "realm", Block)
	_, err2 := s.List(t.Context(), "realm")
	for call, err := range map[string]error{"Get": err1, "List": err2} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %s: %v", done, call, err)
		}
	}
}

// EditedRows tests that reading a record fails after one of the statements has edited its row.
func EditedRows[S lease.Store](t *testing.T, open Opener[S], place func(t testing.TB) (url string),
	exec func(url, statement string), statements ...string) {
	t.Helper()
	for _, statement := range append(statements, "UPDATE sortid_lease SET hwm = 1",
		"UPDATE sortid_lease SET revision = 7", "UPDATE sortid_lease SET record = '[]'") {
		url := place(t)
		s := Open(t, open, url)
		Change(t, s, Record(0), Record(1))
		exec(url, statement)
		NotARecord(t, s, statement,
			`the row of realm "realm", block 42/8 was not written by this store`)
	}
}

// Replace fails if the text does not contain the string old.
func Replace(t *testing.T, text, old, new string) string {
	t.Helper()
	if !strings.Contains(text, old) {
		t.Fatal(old)
	}
	return strings.Replace(text, old, new, 1)
}

func Idles(t *testing.T, s lease.Store, times int, connections func() int) {
	t.Helper()
	revision := uint64(0)
	for range times {
		// On a slow machine, connections may be closed before they are counted.
		Eventually(t, func() bool {
			Change(t, s, Record(revision), Record(revision+1))
			revision++
			return connections() > 0
		}, func() string { return "immediately after a change, no connection is open" })
		n := 0
		Eventually(t, func() bool {
			n = connections()
			return n == 0
		}, func() string { return fmt.Sprintf("long after a change, %d connections are open", n) })
	}
	Change(t, s, Record(revision), Record(revision+1))
}

// Listed checks that docs/leases.md lists the version of a server among the tested ones.
func Listed(t *testing.T, server, version string) {
	t.Helper()
	doc, err := os.ReadFile("../../docs/leases.md")
	if errors.Is(err, fs.ErrNotExist) {
		t.Log("this module is not in its repository, so there is no docs/leases.md")
		return
	}
	_, row, ok := strings.Cut(string(doc), "\n| "+server+" | ")
	if row, _, _ = strings.Cut(row, " |\n"); err != nil || !ok {
		t.Fatalf("docs/leases.md has no row for %s, %v", server, err)
	}
	for tested := range strings.SplitSeq(row, ", ") {
		if version == tested || strings.HasPrefix(version, tested+".") {
			return
		}
	}
	t.Skipf("docs/leases.md lists %s %s, and this is %s", server, row, version)
}
