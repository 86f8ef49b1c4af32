package store_test

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sortid/sortid/internal/check"
	"github.com/sortid/sortid/internal/testserver"
	"github.com/sortid/sortid/lease"
	"github.com/sortid/sortid/store"
)

func TestRealmCreatedIn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "leases.db")
	s := check.Must(store.Open(t.Context(), "bolt:"+path))(t)
	defer s.Close()
	var log strings.Builder
	c := lease.Config{Realm: "orders", Format: lease.SCRU64(), NodeBits: 8,
		Logger: slog.New(slog.NewTextHandler(&log, nil))}
	if _, err := lease.Create(t.Context(), s, c); err != nil {
		t.Fatal(err)
	}
	path = check.Must(filepath.EvalSymlinks(path))(t)
	if want := "realm=orders store=bolt:" + path; !strings.Contains(log.String(), want) {
		t.Errorf("the log is %q, want %q in it", &log, want)
	}
}

// The error says what is wrong with the URL, but has no secret.
func TestBadURLs(t *testing.T) {
	for url, want := range map[string]string{
		"":                          "begins with no scheme, such as bolt",
		"sortid.db":                 "begins with no scheme",
		"host=h password=hunter2":   "begins with no scheme",
		"blot:sortid.db":            `unknown scheme "blot"; there are bolt, postgres, `,
		"oracle://u:hunter2@h/d":    `unknown scheme "oracle"; there are bolt, postgres, `,
		"://u:hunter2@h/d":          `unknown scheme ""`,
		"/var/lib/sortid.db":        "begins with no scheme",
		"ftp://u:hunter2@h/d?x=y:z": `unknown scheme "ftp"`,
	} {
		s, err := store.OpenSource(t.Context(), url)
		if s != nil || !errors.Is(err, store.ErrURL) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", url, err, want)
			continue
		}
		if strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: the password is in the error: %v", url, err)
		}
		_, err1 := store.Open(t.Context(), url)
		_, err2 := store.OpenExisting(t.Context(), url)
		_, err3 := store.OpenExistingSource(t.Context(), url)
		if !errors.Is(err1, store.ErrURL) || !errors.Is(err2, store.ErrURL) ||
			!errors.Is(err3, store.ErrURL) {
			t.Errorf("%q: %v, %v, %v", url, err1, err2, err3)
		}
	}
}

// Each name selects its kind of store. Its error does not show the password.
func TestNames(t *testing.T) {
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none")) // without it, kubernetes: is a URL
	packages := map[string]string{"postgresql": "postgres", "mariadb": "mysql", "etcds": "etcd",
		"natss": "nats", "rediss": "redis", "https": "http"}
	for _, name := range store.Names() {
		for _, rest := range []string{"", "//u:hunter2@%zz/d?"} {
			for _, name := range []string{name, strings.ToUpper(name)} {
				s, err := store.OpenSource(t.Context(), name+":"+rest)
				if s != nil || !errors.Is(err, store.ErrURL) {
					t.Errorf("%s:%s: %v, want an error of the URL", name, rest, err)
					continue
				}
				if name = strings.ToLower(name); !strings.HasPrefix(err.Error(),
					cmp.Or(packages[name], name)+":") {
					t.Errorf("%s:%s: %v, want an error of the store", name, rest, err)
				}
				if strings.Contains(err.Error(), "hunter2") {
					t.Errorf("%s:%s: the password is in the error: %v", name, rest, err)
				}
			}
		}
	}
}

func TestBolt(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sortid.db")
	if _, err := store.OpenExisting(t.Context(), "bolt:"+path); !errors.Is(err, fs.ErrNotExist) ||
		!errors.Is(err, lease.ErrNoRealm) {
		t.Errorf("OpenExisting of nothing: %v", err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("OpenExisting made a file")
	}
	if _, err := store.OpenExistingSource(t.Context(), "bolt:"+path); !errors.Is(err,
		fs.ErrNotExist) {
		t.Errorf("OpenExistingSource of nothing: %v", err)
	}
	for _, url := range []string{"bolt:" + path, "bolt://" + path, "BOLT:" + path} {
		s, err := store.OpenSource(t.Context(), url)
		if err != nil {
			t.Errorf("%s: %v", url, err)
			continue
		}
		l, err := s.Acquire(t.Context(), lease.Config{Realm: "r", Format: lease.SCRU64(),
			NodeBits: 8})
		if err == nil {
			err = l.Close(t.Context())
		}
		if err = errors.Join(err, s.Close()); err != nil {
			t.Errorf("%s: %v", url, err)
		}
	}
}

// OpenExisting makes neither a table nor a bucket.
func TestOpenExisting(t *testing.T) {
	for name, at := range map[string]func(testing.TB) string{"postgres": testserver.Postgres,
		"mysql": testserver.MySQL, "nats": testserver.NATS} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := at(t)
			for range 2 { // the first must not make it for the second
				if s, err := store.OpenExisting(t.Context(), url); !errors.Is(err,
					lease.ErrNoRealm) || !strings.Contains(err.Error(), "there is no ") {
					t.Fatalf("of nothing: %v, %v", s, err)
				}
			}
			for _, open := range []func(context.Context, string) (store.Store, error){store.Open,
				store.OpenExisting} {
				s := check.Must(open(t.Context(), url))(t)
				s.Close()
			}
		})
	}
}

// A server is no store, and the error does not show its URL.
func TestServerIsNoStore(t *testing.T) {
	for _, url := range []string{"https://host?token=hunter2", "HTTP://host?token=hunter2"} {
		for name, open := range map[string]func(context.Context, string) (store.Store, error){
			"Open": store.Open, "OpenExisting": store.OpenExisting} {
			_, err := open(t.Context(), url)
			if !errors.Is(err, store.ErrURL) || !strings.Contains(err.Error(), "not of a store") ||
				strings.Contains(err.Error(), "hunter2") {
				t.Errorf("%s(%s): %v", name, url, err)
			}
		}
	}
}
