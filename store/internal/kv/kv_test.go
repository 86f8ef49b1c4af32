package kv

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sortid/sortid/internal/check"
	"github.com/sortid/sortid/internal/testserver"
	"github.com/sortid/sortid/lease"
)

func TestParseURL(t *testing.T) {
	for _, c := range []struct {
		url  string
		want URL
		a    string
	}{
		{"x://h", URL{"x", "", "", []string{"h:7"}, "", nil}, ""},
		{"X://h:1/", URL{"x", "", "", []string{"h:1"}, "", nil}, ""},
		{"xs://u:p@h:1,[::1]:2,[::1]/a/b/?a=1%262",
			URL{"xs", "u", "p", []string{"h:1", "[::1]:2", "[::1]:7"}, "a/b", nil}, "1&2"},
		{"x://:p%2F%3f%23%40%25:+@h", URL{"x", "", "p/?#@%:+", []string{"h:7"}, "", nil}, ""},
		{"x://u:a@b@h?a=%40", URL{"x", "u", "a@b", []string{"h:7"}, "", nil}, "@"},
		{"x://token@h", URL{"x", "token", "", []string{"h:7"}, "", nil}, ""},
	} {
		u, err := ParseURL(c.url, "7", "a", "b")
		if err != nil {
			t.Errorf("%s: %v", c.url, err)
			continue
		}
		if u.Scheme != c.want.Scheme || u.User != c.want.User || u.Password != c.want.Password ||
			!slices.Equal(u.Hosts, c.want.Hosts) ||
			u.Path != c.want.Path || u.Param("a") != c.a || u.Param("b") != "" {
			t.Errorf("%s: got %+v, want %+v", c.url, u, c.want)
		}
	}
}

// No error shows any part of the password.
func TestParseURLErrors(t *testing.T) {
	for _, c := range []struct{ url, want string }{
		{"", "://"},
		{"h:1", "://"},
		{"x://", "host:port"},
		{"x://u:secret@", "host:port"},
		{"x://u:secret@h:port", "host:port"},
		{"x://u:secret@h:1,,g", "host:port"},
		{"x://u:secret@h:1:2", "host:port"},
		{"x://u:secret", "host:port"},
		{"x://u:se/secret@h", "%2F"},
		{"x://u:se?secret@h", "%2F"},
		{"x://u:se#secret@h", "%2F"},
		{"x://u:sec%ret@h", "%25"},
		{"x://u:secret@h#secret", "/path?"},
		{"x://u:secret@h/%zz", "/path?"},
		{"x://u:secret@h?a=%zz", "name=value"},
		{"x://u:secret@h?c=secret", `no parameter "c"; there are: a, b`},
		{"x://u:secret@h?a=secret&a=secret", "a is there twice"},
	} {
		u, err := ParseURL(c.url, "7", "a", "b")
		if err == nil {
			t.Errorf("%s: %+v", c.url, u)
		} else if s := err.Error(); !strings.Contains(s, c.want) || strings.Contains(s, "sec") ||
			strings.Contains(s, "ret") {
			t.Errorf("%s: %v", c.url, err)
		}
	}
}

func TestDate(t *testing.T) {
	date := time.Date(2026, 11, 17, 12, 0, 0, 0, time.UTC)
	for here, want := range map[time.Duration]time.Duration{
		-time.Hour: 0, 0: 0, 300 * time.Millisecond: 300 * time.Millisecond,
		time.Hour: time.Second - 1,
	} {
		if got := within(date.Add(here), date); !got.Equal(date.Add(want)) {
			t.Errorf("%v after the Date: %v, want %v after it", here, got.Sub(date), want)
		}
	}
	now := time.Now()
	if got, err := Date(now.UTC().Format(http.TimeFormat)); err != nil || got.Sub(now).Abs() >
		time.Second {
		t.Errorf("the Date of now: %v, %v", got, err)
	}
	if _, err := Date(""); !errors.Is(err, lease.ErrNoTime) {
		t.Errorf("no Date: %v", err)
	}
	if got, err := Date("yesterday"); err == nil {
		t.Errorf("no time: %v", got)
	}
}

func FuzzParseURL(f *testing.F) {
	f.Add("x://u:p@h:1,g:2/path?a=b")
	f.Fuzz(func(t *testing.T, s string) {
		u, err := ParseURL(s, "7", "a")
		if err == nil && (len(u.Hosts) == 0 || strings.ContainsAny(strings.Join(u.Hosts, ""),
			"/?#@")) {
			t.Errorf("%q: hosts %q", s, u.Hosts)
		}
	})
}

func TestTLS(t *testing.T) {
	dir := t.TempDir()
	none := filepath.Join(dir, "none")
	cert, key := testserver.Certificate(t)
	os.WriteFile(none, []byte("nothing"), 0o600)

	for _, c := range []struct {
		params string
		want   string
	}{
		{"", ""},
		{"ca=" + cert, ""},
		{"ca=" + cert + "&cert=" + cert + "&key=" + key, ""},
		{"ca=" + dir + "/absent", "parameter ca"},
		{"ca=" + none, "no certificate"},
		{"cert=" + cert, "only one"},
		{"key=" + key, "only one"},
		{"cert=" + key + "&key=" + cert, "parameters cert and key"},
	} {
		u, err := ParseURL("xs://h?"+c.params, "7", TLS...)
		if err != nil {
			t.Fatal(err)
		}
		config, err := u.TLS("x")
		switch {
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: %v, want an error with %q", c.params, err, c.want)
		case c.want == "" && err != nil:
			t.Errorf("%s: %v", c.params, err)
		case c.want == "" && (config.RootCAs != nil != (c.params != "") ||
			len(config.Certificates) != strings.Count(c.params, "key=")):
			t.Errorf("%s: %+v", c.params, config)
		}
	}
}

func TestDecode(t *testing.T) {
	b := lease.Block{NodeID: 42, Size: 8}
	r := lease.Record{Realm: "a/b", Block: b, Revision: 1<<64 - 1, HWM: -1, State: lease.Whole,
		Request: 1<<64 - 1}
	value := check.Must(encode(r))(t)
	if got, err := decode([]byte(value), "a/b", b); err != nil || got != r {
		t.Errorf("got %+v, %v, want %+v", got, err, r)
	}
	if got, err := DecodeListed("42/8", []byte(value), "a/b"); err != nil || got != r {
		t.Errorf("got %+v, %v, want %+v", got, err, r)
	}
	for _, c := range []struct{ value, realm, block string }{
		{value, "a", "42/8"},
		{value, "a/b", "42/9"},
		{value, "a/b", "42"},
		{"", "a/b", "42/8"},
		{"{}", "", "0/0"},
		{value[:len(value)-1], "a/b", "42/8"},
		{`{"realm":"a","block":"42/8","revision":"0","hwm":"5","state":"whole"}`, "a", "42/8"},
		{`{"realm":"a","block":"42/8","revision":"1.5","hwm":"5","state":"whole"}`, "a", "42/8"},
	} {
		if got, err := DecodeListed(c.block, []byte(c.value), c.realm); err == nil ||
			got != (lease.Record{}) {
			t.Errorf("%s for %s of %q: %+v, %v", c.value, c.block, c.realm, got, err)
		}
	}
	for _, r := range []lease.Record{{Realm: "a"}, {Revision: 1, State: 9}} {
		if value, err := encode(r); err == nil {
			t.Errorf("%+v: %s", r, value)
		}
	}
}

// A memory keeps values. The version of a value is the value itself. A memory counts requests.
type memory struct {
	stored        map[lease.Block]string
	reads, writes int
}

func (m *memory) read(_ context.Context, _ string, blocks []lease.Block) (values [][]byte,
	versions []string, err error) {
	m.reads++
	for _, b := range blocks {
		var value []byte
		if v, ok := m.stored[b]; ok {
			value = []byte(v)
		}
		values, versions = append(values, value), append(versions, m.stored[b])
	}
	return values, versions, nil
}

func (m *memory) write(_ context.Context, changes []lease.Change, values, was []string) ([]string,
	error) {
	m.writes++
	for i, c := range changes {
		if m.stored[c.Prev.Block] != was[i] {
			return nil, nil
		}
	}
	for i, c := range changes {
		m.stored[c.Prev.Block] = values[i]
	}
	return values, nil
}

func (m *memory) records() *Records[string] {
	return NewRecords(Server[string]{
		Read: m.read, Write: m.write,
		Failed: func(what string, err error) error { return fmt.Errorf("%s: %w", what, err) },
		Key:    func(realm string, b lease.Block) string { return realm + " " + b.String() },
	})
}

func record(node uint32, revision uint64) lease.Record {
	return lease.Record{Realm: "realm", Block: lease.Block{NodeID: node, Size: 8},
		Revision: revision, HWM: int64(revision)}
}

// With a server that replaces only one value at a time, changes end at the first one that is refused.
func TestOneValueAtATime(t *testing.T) {
	m := &memory{stored: map[lease.Block]string{}}
	server := m.records().server
	server.One = true
	r := NewRecords(server)
	var changes []lease.Change
	for node, revision := range []uint64{0, 1, 0} { // the second record does not exist
		changes = append(changes, lease.Change{Prev: record(uint32(node), revision),
			Next: record(uint32(node), revision+1)})
	}
	ok, err := r.CompareAndSetMany(t.Context(), changes)
	if ok || err != nil || r.Atomic() || len(m.stored) != 1 {
		t.Errorf("%v, %v, atomic: %v, stored: %v; want false, and the first record", ok, err,
			r.Atomic(), m.stored)
	}
}

func TestRecords(t *testing.T) {
	m := &memory{stored: map[lease.Block]string{}}
	a, b := m.records(), m.records()
	for i, c := range []struct {
		r         *Records[string]
		revisions []uint64 // of the blocks 0/8 and 1/8, before the change
		want      bool
		reads     int
		writes    int
	}{
		{a, []uint64{0, 0}, true, 1, 1},
		{a, []uint64{1, 1}, true, 0, 1},
		{a, []uint64{1}, false, 1, 0}, // a remembers revision 2
		{b, []uint64{2, 1}, false, 1, 0},
		{b, []uint64{2, 2}, true, 0, 1},
		{a, []uint64{2}, false, 1, 1},   // a remembers the old record, which b has replaced
		{a, []uint64{3, 3}, true, 1, 1}, // a remembers only 0/8 correctly
	} {
		var changes []lease.Change
		for node, revision := range c.revisions {
			changes = append(changes, lease.Change{Prev: record(uint32(node), revision),
				Next: record(uint32(node), revision+1)})
		}
		m.reads, m.writes = 0, 0
		ok, err := c.r.CompareAndSetMany(t.Context(), changes)
		if ok != c.want || err != nil || m.reads != c.reads || m.writes != c.writes {
			t.Errorf("change %d: %v, %v after %d reads and %d writes, want %v after %d and %d", i,
				ok, err, m.reads, m.writes, c.want, c.reads, c.writes)
		}
	}
	m.stored[record(1, 0).Block] = "damaged"
	if r, err := a.Get(t.Context(), "realm", record(1, 0).Block); err == nil ||
		!strings.HasPrefix(err.Error(), "read realm 1/8: ") {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestRecordsForget(t *testing.T) {
	r := (&memory{stored: map[lease.Block]string{}}).records()
	for i := range uint32(3 * maxSeen) {
		if ok, err := r.CompareAndSet(t.Context(), record(i, 0), record(i, 1)); !ok || err != nil {
			t.Fatal(ok, err)
		}
		if n := len(r.seen); n > maxSeen {
			t.Fatalf("Records remembers %d records", n)
		}
		if _, ok := r.versions([]lease.Change{{Prev: record(i, 1)}}); !ok {
			t.Fatalf("Records immediately forgets record %d", i)
		}
	}
}
