package bolt

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sortid/sortid/internal/check"
	"github.com/sortid/sortid/store/internal/faulttest"
)

func TestURLNamesTheFile(t *testing.T) {
	for url, want := range map[string]string{
		"bolt:a.db":            "a.db",
		"bolt:./b/a b%20ü#.db": "./b/a b%20ü#.db",
		"bolt:/var/lib/a.db":   "/var/lib/a.db",
		"bolt:///var/lib/a.db": "/var/lib/a.db",
		"BOLT:a.db":            "a.db",
		`bolt:C:\data\a.db`:    `C:\data\a.db`,
	} {
		if got, err := parse(url); got != want || err != nil {
			t.Errorf("%q: %q, %v", url, got, err)
		}
	}
	for _, url := range []string{"", "bolt", "bolt:", "bolt://", "bolt://a.db",
		"bolt://localhost/a.db", "bolt:a.db?timeout=5s", "blot:a.db", "/var/lib/a.db", "/", "///a",
		"postgres://u:secret@h/db"} {
		faulttest.BadURLs(t, Open, map[string]string{url: "bolt: the URL: "})
	}
}

// Open refuses other kinds of files, and leaves them unchanged. The error has the name and the
// reason.
func TestRefusesOtherFilesAndKeepsThem(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	_, url := temp(t)
	put(t, must(t, url), 1)
	whole := check.Must(os.ReadFile(strings.TrimPrefix(url, "bolt:")))(t)
	firstPage := string(whole[:4096])
	for name, content := range map[string]string{"text": strings.Repeat("hello\n", 5000),
		"short": "x", "page": firstPage, "empty": "", "zeros": strings.Repeat("\x00", 1<<16)} {
		check.OK(t, os.WriteFile(in(name), []byte(content), 0o600))
	}
	check.OK(t, os.Symlink("nowhere", in("dangling")))
	for _, c := range []struct {
		name     string
		open     func(context.Context, string) (*Store, error)
		want     string
		sentinel error
	}{
		{"", Open, "is a folder", ErrDamaged},
		{"no/such/folder.db", Open, "cannot make the file: lstat " + in("no"), fs.ErrNotExist},
		{"text/below", Open, "not a directory", nil},
		{"dangling", Open, "symbolic link to a file that does not exist", ErrDamaged},
		{"text", Open, "not a bbolt file with leases, or damaged: invalid database", ErrDamaged},
		{"text", OpenExisting, "not a bbolt file with leases, or damaged: invalid database",
			ErrDamaged},
		{"short", Open, "or damaged", ErrDamaged},
		{"page", Open, "or damaged: file size too small", ErrDamaged},
		{"zeros", Open, "or damaged", ErrDamaged},
		{"empty", OpenExisting, "it is empty", ErrDamaged},
		{"missing", OpenExisting, "no such file", fs.ErrNotExist},
	} {
		before, _ := os.ReadDir(dir)
		was, _ := os.ReadFile(in(c.name))
		_, err := c.open(t.Context(), "bolt:"+in(c.name))
		if err == nil || !strings.Contains(err.Error(), c.want) ||
			!strings.Contains(err.Error(), in(c.name)) || c.sentinel != nil &&
			!errors.Is(err, c.sentinel) {
			t.Errorf("%q: %v, want %s", c.name, err, c.want)
		} else if strings.Count(err.Error(), in(c.name)) > 1 {
			t.Errorf("%q: named twice: %v", c.name, err)
		}
		after, _ := os.ReadDir(dir)
		if is, _ := os.ReadFile(in(c.name)); len(before) != len(after) ||
			string(was) != string(is) {
			t.Errorf("%q: the folder or the file was changed", c.name)
		}
	}

	check.OK(t, os.Symlink("empty", in("link")))
	put(t, must(t, "bolt:"+in("link")), 1)
	if r, err := must(t, "bolt:"+in("empty")).Get(t.Context(), "realm", block); err != nil ||
		r != record(1) {
		t.Errorf("%+v, %v", r, err)
	}
}

// While another process makes the file, it is empty for a moment. The time is virtual.
func TestOpenExistingWaitsForTheMaker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path, url := temp(t)
		check.OK(t, os.WriteFile(path, nil, 0o600))
		maker := time.AfterFunc(beginning/2, func() {
			if _, err := Open(context.Background(), url); err != nil {
				t.Error(err)
			}
		})
		defer maker.Stop()
		if _, err := OpenExisting(t.Context(), url); err != nil {
			t.Error(err)
		}
	})
}

// If the file is gone, all grants are lost. So a Store does not make the file again.
func TestDoesNotMakeTheFileAgain(t *testing.T) {
	path, url := temp(t)
	s := must(t, url)
	put(t, s, 1)
	check.OK(t, os.Remove(path))
	_, err := s.CompareAndSet(t.Context(), record(0), record(1))
	if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "the file is gone") {
		t.Errorf("CompareAndSet: %v", err)
	}
	if _, err := s.Get(t.Context(), "realm", block); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Get: %v", err)
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the file was made: %v", err)
	}
}

// A relative path is relative to the folder at the time of Open.
func TestRelativePathKeepsItsFolder(t *testing.T) {
	t.Chdir(t.TempDir())
	s := must(t, "bolt:sortid.db")
	here, _ := os.Getwd()
	t.Chdir(t.TempDir())
	put(t, s, 1)
	put(t, must(t, "bolt://"+here+"/sortid.db"), 2)
}

func TestSyncFolder(t *testing.T) {
	if err := syncFolder(t.TempDir()); err != nil {
		t.Error(err)
	}
	if err := syncFolder(filepath.Join(t.TempDir(), "none")); !errors.Is(err, fs.ErrNotExist) &&
		linux {
		t.Error(err)
	}
}
