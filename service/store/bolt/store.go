package bolt

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sortid/sortid/internal/clock"
	"github.com/sortid/sortid/lease"
	"go.etcd.io/bbolt"
	bbolterrors "go.etcd.io/bbolt/errors"
)

var bucket = []byte("leases")

// ErrDamaged: the file is not, or no longer, a bbolt file with leases.
var ErrDamaged = errors.New("not a bbolt file with leases, or damaged")

// A Store is a [lease.Store] in a file. It is safe for concurrent use.
type Store struct {
	path       string        // absolute, without symbolic links
	turn       chan struct{} // one goroutine of this process at a time
	named      atomic.Bool   // the file's name is known to be on the disk
	conditions []string
}

// Open returns the store in the file of a URL such as "bolt:sortid.db", and makes the
// file if there is none. It fails with [lease.ErrUnsafe] on a network file system, with
// [ErrDamaged], or with an error of the operating system; if another process keeps the
// file locked, when ctx ends.
func Open(ctx context.Context, url string) (*Store, error) { return open(ctx, url, true) }

// OpenExisting is Open for a file that must be there: without one it fails with
// [fs.ErrNotExist]. Until something is stored it needs no right to write.
func OpenExisting(ctx context.Context, url string) (*Store, error) { return open(ctx, url, false) }

func open(ctx context.Context, url string, create bool) (*Store, error) {
	given, err := parse(url)
	if err != nil {
		return nil, err
	}
	path, err := resolve(given, create)
	if err != nil {
		return nil, failed(given, err)
	}
	where := path
	if _, err := os.Stat(path); err != nil {
		where = filepath.Dir(path)
	}
	conditions, err := inspect(where)
	if err != nil {
		return nil, failed(path, err)
	}
	turn, _ := turns.LoadOrStore(path, make(chan struct{}, 1))
	s := &Store{path: path, turn: turn.(chan struct{}), conditions: conditions}
	flag := os.O_RDONLY
	if create {
		flag = os.O_RDWR | os.O_CREATE
	}
	if err := s.with(ctx, flag, func(*bbolt.DB) error { return nil }); err != nil {
		return nil, err
	}
	return s, nil
}

// turns has a channel for each file. On systems without flock (Solaris, AIX, Android) a
// lock holds for the process, and two goroutines would not exclude each other.
var turns sync.Map

// parse returns the path of a URL. Its errors do not show the URL, for one that was meant
// for another store may have a password in it.
func parse(url string) (string, error) {
	scheme, path, _ := strings.Cut(url, ":")
	rest, slashes := strings.CutPrefix(path, "//")
	if slashes {
		path = rest
	}
	switch {
	case !strings.EqualFold(scheme, "bolt") || path == "" || slashes && path[0] != '/':
		return "", errors.New("bolt: the URL: want bolt:file.db, bolt:/folder/file.db or bolt:///folder/file.db")
	case strings.Contains(path, "?"):
		return "", errors.New("bolt: the URL: there are no parameters, and a file's name with a question mark is not accepted")
	}
	return path, nil
}

// resolve returns the absolute path of a file without symbolic links, so that whatever
// becomes of these, a Store stays with one file.
func resolve(path string, create bool) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return "", errors.New("is a folder, want a file")
	case err == nil && !info.Mode().IsRegular():
		return "", errors.New("is not a regular file")
	case err == nil:
		return filepath.EvalSymlinks(path)
	case !create || !errors.Is(err, fs.ErrNotExist):
		return "", err
	}
	// Another process may have made the file since.
	if info, err := os.Lstat(path); err == nil && info.Mode().Type() == fs.ModeSymlink {
		return "", errors.New("is a symbolic link to a file that does not exist")
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err != nil {
		return "", fmt.Errorf("cannot make the file: %w", err)
	}
	return filepath.Join(dir, filepath.Base(path)), nil
}

// Conditions says, in sentences for people, on what the guarantee of this file rests that
// could not be verified; nil if there is nothing.
func (s *Store) Conditions() []string { return s.conditions }

// Get returns the record of a block.
func (s *Store) Get(ctx context.Context, realm string, b lease.Block) (r lease.Record, err error) {
	err = s.view(ctx, func(records *bbolt.Bucket) error {
		r, err = get(records, realm, b)
		return err
	})
	return r, err
}

// CompareAndSet stores next in the place of prev.
func (s *Store) CompareAndSet(ctx context.Context, prev, next lease.Record) (stored bool, err error) {
	value, err := json.Marshal(next)
	if err != nil {
		return false, failed(s.path, err)
	}
	if !s.named.Load() {
		if err := syncFolder(filepath.Dir(s.path)); err != nil {
			return false, failed(s.path, fmt.Errorf("cannot sync the folder: %w", err))
		}
		s.named.Store(true)
	}
	err = s.with(ctx, os.O_RDWR, func(db *bbolt.DB) error {
		err := db.Update(func(tx *bbolt.Tx) error {
			now, err := get(tx.Bucket(bucket), prev.Realm, prev.Block)
			if err != nil {
				return err
			}
			if !now.Matches(prev) {
				return errRefused
			}
			records, err := tx.CreateBucketIfNotExists(bucket)
			if err != nil {
				return err
			}
			return records.Put(key(prev.Realm, prev.Block), value)
		})
		stored = err == nil
		if err == errRefused { // nothing was written
			return nil
		}
		return err
	})
	if err != nil {
		return false, err
	}
	return stored, nil
}

var errRefused = errors.New("refused")

// List returns the records of a realm.
func (s *Store) List(ctx context.Context, realm string) (found []lease.Record, err error) {
	err = s.view(ctx, func(records *bbolt.Bucket) error {
		if records == nil {
			return nil
		}
		prefix := []byte(realm + "/")
		c := records.Cursor()
		for k, v := c.Seek(prefix); bytes.HasPrefix(k, prefix); k, v = c.Next() {
			r, err := decode(k, v)
			if err != nil {
				return err
			}
			if r.Realm == realm { // and not, of "a", that of "a/b"
				found = append(found, r)
			}
		}
		return nil
	})
	return found, err
}

// Time returns this machine's time: all who use the file have the same clock.
func (s *Store) Time(context.Context) (time.Time, error) { return time.Now(), nil }

// Close does nothing: between calls the file is closed.
func (s *Store) Close() error { return nil }

// key returns the key of a record. A block's text has one slash, so that the last but one
// of the key ends the realm's name, whatever that is.
func key(realm string, b lease.Block) []byte { return []byte(realm + "/" + b.String()) }

func get(records *bbolt.Bucket, realm string, b lease.Block) (lease.Record, error) {
	if records != nil {
		k := key(realm, b)
		if v := records.Get(k); v != nil {
			return decode(k, v)
		}
	}
	return lease.Record{Realm: realm, Block: b}, nil
}

func decode(k, v []byte) (r lease.Record, err error) {
	err = json.Unmarshal(v, &r)
	if err == nil && !bytes.Equal(k, key(r.Realm, r.Block)) {
		err = fmt.Errorf("it is that of %q", key(r.Realm, r.Block))
	}
	if err != nil {
		err = fmt.Errorf("%w: the record at %.200q: %w", ErrDamaged, k, err)
	}
	return r, err
}

// view calls f with the records, nil if there are none yet.
func (s *Store) view(ctx context.Context, f func(*bbolt.Bucket) error) error {
	return s.with(ctx, os.O_RDONLY, func(db *bbolt.DB) error {
		return db.View(func(tx *bbolt.Tx) error { return f(tx.Bucket(bucket)) })
	})
}

// with opens the file, calls f and closes it.
func (s *Store) with(ctx context.Context, flag int, f func(*bbolt.DB) error) (err error) {
	if ctx.Err() != nil {
		return failed(s.path, context.Cause(ctx))
	}
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return failed(s.path, fmt.Errorf("waiting for other calls of this process: %w", context.Cause(ctx)))
	}
	// bbolt believes what it reads. Where a file is damaged it panics, or reads beyond
	// the end of the file, which then becomes a panic, too.
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	var file *os.File
	defer func() {
		if p := recover(); p != nil {
			// The database's own Close might wait for the transaction for ever. What it has
			// mapped stays mapped, and keeps a lock beyond Close.
			unlock(file)
			file.Close()
			err = failed(s.path, fmt.Errorf("%w: %v", ErrDamaged, p))
		}
	}()
	db, err := s.lock(ctx, flag, &file)
	if err != nil {
		return failed(s.path, err)
	}
	if err := errors.Join(f(db), db.Close()); err != nil {
		return failed(s.path, err)
	}
	return nil
}

// maxSize bounds the file, in bytes, at some millions of records: a damaged one could
// otherwise grow to anything.
const maxSize = 1 << 30

// How long to wait before another attempt at a locked file. A change takes some
// milliseconds, most of them for the disk.
const (
	shortest = time.Millisecond
	longest  = 16 * time.Millisecond
)

// lock opens the file as soon as it can be had.
func (s *Store) lock(ctx context.Context, flag int, file **os.File) (*bbolt.DB, error) {
	options := &bbolt.Options{
		ReadOnly: flag == os.O_RDONLY,
		// Try once. bbolt would look again only every 50 ms, and know no context.
		Timeout:      time.Nanosecond,
		NoStatistics: true,
		MaxSize:      maxSize,
		OpenFile: func(path string, _ int, mode os.FileMode) (f *os.File, err error) {
			*file, err = openFile(path, flag, mode)
			return *file, err
		},
	}
	for pause := shortest; ; pause = min(2*pause, longest) {
		db, err := bbolt.Open(s.path, 0o600, options)
		if !errors.Is(err, bbolterrors.ErrTimeout) {
			return db, err
		}
		if err := clock.Sleep(ctx, pause/2+rand.N(pause)); err != nil {
			return nil, fmt.Errorf("%s has the file locked; gave up waiting: %w", holder(s.path), err)
		}
	}
}

// openFile opens the file. Only [Open] may make it, or find it empty: for one who knows
// the file, an empty one is none.
func openFile(path string, flag int, mode os.FileMode) (*os.File, error) {
	f, err := os.OpenFile(path, flag, mode)
	switch {
	case errors.Is(err, fs.ErrNotExist) && flag&os.O_CREATE == 0:
		return nil, fmt.Errorf("the file is gone; if you put a backup in its place, fence its realms: %w", fs.ErrNotExist)
	case err != nil || flag&os.O_CREATE != 0:
		return f, err
	}
	info, err := f.Stat()
	if err == nil && info.Size() == 0 {
		err = fmt.Errorf("%w: it is empty", ErrDamaged)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// failed words an error about a file.
func failed(path string, err error) error {
	switch at, ok := err.(*fs.PathError); {
	case errors.Is(err, bbolterrors.ErrInvalid), errors.Is(err, bbolterrors.ErrVersionMismatch), errors.Is(err, bbolterrors.ErrChecksum):
		err = fmt.Errorf("%w: %w", ErrDamaged, err)
	case ok && at.Path == path:
		err = fmt.Errorf("%s: %w", at.Op, at.Err) // the path is named already
	}
	return fmt.Errorf("bolt: %s: %w", path, err)
}
