package store_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sortid/sortid/lease"
	"github.com/sortid/sortid/service/store"
)

// A URL that leads nowhere is an error that tells what is wrong with it, and no secret.
func TestBadURLs(t *testing.T) {
	for url, want := range map[string]string{
		"":                            "begins with no scheme, such as bolt",
		"sortid.db":                   "begins with no scheme",
		"host=h password=hunter2":     "begins with no scheme",
		"blot:sortid.db":              `unknown scheme "blot"; did you mean "bolt"`,
		"oracle://u:hunter2@h/d":      `unknown scheme "oracle"; there are bolt, postgres, `,
		"://u:hunter2@h/d":            `unknown scheme ""`,
		"/var/lib/sortid.db":          "begins with no scheme",
		"https://u:hunter2@h/d?x=y:z": `unknown scheme "https"`,
	} {
		s, err := store.Open(t.Context(), url)
		if s != nil || !errors.Is(err, store.ErrURL) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", url, err, want)
			continue
		}
		if strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: the password is in the error: %v", url, err)
		}
		if _, err := store.OpenExisting(t.Context(), url); !errors.Is(err, store.ErrURL) {
			t.Errorf("%q: OpenExisting: %v", url, err)
		}
	}
}

// Each name leads to its own kind of store: that is the one that finds fault with the rest
// of the URL. None shows a password.
func TestNames(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second) // for a host that there is not
	defer cancel()
	for _, name := range store.Names() {
		for _, rest := range []string{"", "//u:hunter2@%zz/d", "//u:hunter2@h/d?no_such_parameter=1"} {
			for _, name := range []string{name, strings.ToUpper(name)} {
				s, err := store.Open(ctx, name+":"+rest)
				if s != nil || err == nil || errors.Is(err, store.ErrURL) {
					t.Errorf("%s:%s: %v, want an error of the store", name, rest, err)
				} else if strings.Contains(err.Error(), "hunter2") {
					t.Errorf("%s:%s: the password is in the error: %v", name, rest, err)
				}
			}
		}
	}
}

func TestBolt(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sortid.db")
	if _, err := store.OpenExisting(t.Context(), "bolt:"+path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("OpenExisting of nothing: %v", err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("OpenExisting made a file")
	}
	for _, url := range []string{"bolt:" + path, "bolt://" + path, "BOLT:" + path} {
		s, err := store.Open(t.Context(), url)
		if err != nil {
			t.Errorf("%s: %v", url, err)
			continue
		}
		l, err := lease.Acquire(t.Context(), s, lease.Config{Realm: "r", Format: lease.SCRU64, NodeIDSize: 8})
		if err == nil {
			err = l.Close(t.Context())
		}
		if err = errors.Join(err, s.Close()); err != nil {
			t.Errorf("%s: %v", url, err)
		}
	}
}
