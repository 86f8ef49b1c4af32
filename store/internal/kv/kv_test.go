package kv

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sortid/sortid/lease"
	"github.com/sortid/sortid/testserver"
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

func TestRecord(t *testing.T) {
	b := lease.Block{NodeID: 42, Size: 8}
	r := lease.Record{Realm: "a/b", Block: b, Revision: 1<<64 - 1, HWM: -1, State: lease.Whole,
		Request: 1<<64 - 1}
	value, err := Encode(r)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := Decode(value, "a/b", b); err != nil || got != r {
		t.Errorf("got %+v, %v, want %+v", got, err, r)
	}
	for _, c := range []struct {
		value, realm string
		block        lease.Block
	}{
		{string(value), "a", b},
		{string(value), "a/b", lease.Block{NodeID: 42, Size: 9}},
		{"", "a/b", b},
		{"{}", "", lease.Block{}},
		{string(value[:len(value)-1]), "a/b", b},
		{`{"realm":"a/b","block":"42/8","revision":"0","hwm":"5","state":"whole"}`, "a/b", b},
		{`{"realm":"a/b","block":"42/8","revision":"1.5","hwm":"5","state":"whole"}`, "a/b", b},
	} {
		if got, err := Decode([]byte(c.value), c.realm, c.block); err == nil ||
			got != (lease.Record{}) {
			t.Errorf("%s for %v of %q: %+v, %v", c.value, c.block, c.realm, got, err)
		}
	}
	for _, r := range []lease.Record{{Realm: "a"}, {Revision: 1, State: 9}} {
		if value, err := Encode(r); err == nil {
			t.Errorf("%+v: %s", r, value)
		}
	}
}

// Only records that are just as they were read have versions, and only all together.
func TestSeen(t *testing.T) {
	record := func(node uint32, revision uint64) lease.Record {
		return lease.Record{Realm: "r", Block: lease.Block{NodeID: node, Size: 8},
			Revision: revision, HWM: int64(revision)}
	}
	var s Seen[int]
	s.Put(record(1, 5), 50)
	s.Put(record(2, 6), 60)
	change := func(prev ...lease.Record) (changes []lease.Change) {
		for _, p := range prev {
			changes = append(changes, lease.Change{Prev: p})
		}
		return changes
	}
	if v, ok := s.Versions(change(record(2, 6), record(1, 5))); !ok ||
		!slices.Equal(v, []int{60, 50}) {
		t.Errorf("both: %v, %v", v, ok)
	}
	other := record(1, 5)
	other.Realm = "other"
	for _, prev := range []lease.Record{record(1, 4), record(1, 6), record(3, 5), other} {
		if v, ok := s.Versions(change(record(2, 6), prev)); ok {
			t.Errorf("%+v: %v", prev, v)
		}
	}
	for i := range uint32(1000) {
		s.Put(record(i, 7), 70)
		if n := len(s.records); n > maxSeen {
			t.Fatalf("%d records are remembered", n)
		}
		if _, ok := s.Versions(change(record(i, 7))); !ok {
			t.Fatalf("record %d is forgotten at once", i)
		}
	}
}
