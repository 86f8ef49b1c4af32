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
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sortid/sortid/lease"
	"github.com/sortid/sortid/store/internal/connect"
	"go.etcd.io/bbolt"
	bbolterrors "go.etcd.io/bbolt/errors"
)

var bucket = []byte("leases")

// ErrDamaged means that the file is damaged, or not a bbolt file with leases.
var ErrDamaged = errors.New("not a bbolt file with leases, or damaged")

// A Store is a [lease.Store] in a bbolt file. It is safe for concurrent use.
type Store struct {
	path string // absolute, without symbolic links
	// mutex lets only one goroutine of this process use the file.
	mutex chan struct{}
	// named is true after syncFolder has synced the file's name.
	named atomic.Bool
	// checked is the Unix time at which checkPages last found no damage.
	checked    atomic.Int64
	calls      queue
	conditions []string
}

// Open opens the store in the file at a URL, such as "bolt:sortid.db", or makes the file. It fails
// with [lease.ErrUnsafe] on a network file system, with [ErrDamaged], or with an error of the
// operating system. It waits for the lock until ctx ends.
func Open(ctx context.Context, url string) (*Store, error) { return open(ctx, url, true) }

// OpenExisting is like Open, but fails with [lease.ErrNoRealm] and [fs.ErrNotExist] if there is no
// file. It needs no write permission.
func OpenExisting(ctx context.Context, url string) (*Store, error) { return open(ctx, url, false) }

func open(ctx context.Context, url string, create bool) (*Store, error) {
	given, err := parse(url)
	if err != nil {
		return nil, err
	}
	path, err := resolve(given, create)
	if err != nil {
		if err = failed(given, err); !create && errors.Is(err, fs.ErrNotExist) {
			err = connect.Missing(err)
		}
		return nil, err
	}
	where := path
	if _, err := os.Stat(path); err != nil {
		where = filepath.Dir(path)
	}
	conditions, err := inspect(where)
	if err != nil {
		return nil, failed(path, err)
	}
	mutex, _ := mutexes.LoadOrStore(path, make(chan struct{}, 1))
	s := &Store{path: path, mutex: mutex.(chan struct{}), conditions: conditions}
	flag := os.O_RDONLY
	if create {
		flag = os.O_RDWR | os.O_CREATE
	}
	for began := time.Now(); ; {
		err := s.with(ctx, flag, func(*bbolt.DB) error { return nil })
		if err == nil {
			return s, nil
		}
		if !errors.Is(err, errEmpty) || time.Since(began) > beginning ||
			connect.Sleep(ctx, longest) != nil {
			return nil, err
		}
	}
}

// mutexes has the mutex of each path. On systems without flock (Solaris, AIX, Android), a file's
// lock does not exclude other goroutines of the same process.
var mutexes sync.Map

// parse does not show the URL in errors, because the URL may have a password.
func parse(url string) (string, error) {
	scheme, path, _ := strings.Cut(url, ":")
	rest, slashes := strings.CutPrefix(path, "//")
	if slashes {
		path = rest
	}
	switch {
	case !strings.EqualFold(scheme, "bolt") || path == "" || slashes && path[0] != '/':
		return "", urlError("want bolt:file.db, bolt:/folder/file.db or bolt:///folder/file.db")
	case strings.Contains(path, "?"):
		return "", urlError("there are no parameters, and a file's name cannot have " +
			"a question mark")
	}
	return path, nil
}

func urlError(text string) error { return connect.BadURL(errors.New("bolt: the URL: " + text)) }

// A notFile error says why no file can be at a path. It matches [ErrDamaged].
type notFile string

func (e notFile) Error() string        { return string(e) }
func (e notFile) Is(target error) bool { return target == ErrDamaged }

// resolve returns the absolute path of a file, without symbolic links, because links may change.
func resolve(path string, create bool) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return "", notFile("is a folder, want a file")
	case err == nil && !info.Mode().IsRegular():
		return "", notFile("is not a regular file")
	case err == nil:
		return filepath.EvalSymlinks(path)
	case !create || !errors.Is(err, fs.ErrNotExist):
		return "", err
	}
	if info, err := os.Lstat(path); err == nil && info.Mode().Type() == fs.ModeSymlink {
		return "", notFile("is a symbolic link to a file that does not exist")
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err != nil {
		return "", fmt.Errorf("cannot make the file: %w", err)
	}
	return filepath.Join(dir, filepath.Base(path)), nil
}

func (s *Store) Conditions() []string { return s.conditions }

func (s *Store) Get(ctx context.Context, realm string, b lease.Block) (lease.Record, error) {
	return view(ctx, s, func(records *bbolt.Bucket) (lease.Record, error) {
		return get(records, realm, b)
	})
}

func (s *Store) GetMany(ctx context.Context, realm string,
	blocks []lease.Block) ([]lease.Record, error) {
	return view(ctx, s, func(records *bbolt.Bucket) (found []lease.Record, err error) {
		found = make([]lease.Record, len(blocks))
		for i := 0; i < len(blocks) && err == nil; i++ {
			found[i], err = get(records, realm, blocks[i])
		}
		return found, err
	})
}

func (s *Store) CompareAndSet(ctx context.Context, prev, next lease.Record) (bool, error) {
	return s.CompareAndSetMany(ctx, []lease.Change{{Prev: prev, Next: next}})
}

// CompareAndSetMany makes all changes, or none. Changes that wait for the file at the same time
// share one transaction, and so one sync of the disk.
func (s *Store) CompareAndSetMany(ctx context.Context, changes []lease.Change) (bool, error) {
	values := make([][]byte, len(changes))
	for i, c := range changes {
		var err error
		if values[i], err = json.Marshal(c.Next); err != nil {
			return false, failed(s.path, err)
		}
	}
	if !s.named.Load() {
		if err := syncFolder(filepath.Dir(s.path)); err != nil {
			return false, failed(s.path, fmt.Errorf("cannot sync the folder: %w", err))
		}
		s.named.Store(true)
	}
	c := &call{changes: changes, values: values}
	err := s.share(ctx, c)
	return c.stored && err == nil, err
}

// share makes a call together with the calls that wait when the file is open.
func (s *Store) share(ctx context.Context, c *call) error {
	c.lead, c.done = make(chan struct{}, 1), make(chan struct{})
	s.calls.join(c)
	select {
	case <-c.lead:
		s.lead(ctx, c)
	case <-c.done:
	case <-ctx.Done():
		what := "the call is under way"
		if s.calls.leave(c) {
			what = "waiting for other calls of this process"
		}
		return failed(s.path, fmt.Errorf("%s: %w", what, context.Cause(ctx)))
	}
	return c.err
}

// lead opens the file, and makes the calls that wait: if c is a read, only reads. Reads come first,
// because they need not wait for the disk.
func (s *Store) lead(ctx context.Context, c *call) {
	flag := os.O_RDWR
	if c.read != nil {
		flag = os.O_RDONLY
	}
	var batch []*call
	err := s.with(ctx, flag, func(db *bbolt.DB) error {
		reads, changes := s.calls.take(flag == os.O_RDWR)
		batch = slices.Concat(reads, changes)
		err := readAll(db, reads)
		if err != nil || len(changes) == 0 {
			return err
		}
		batch = changes
		finish(reads, nil)
		return s.update(db, changes)
	})
	if batch == nil {
		c.err = err
		s.calls.leave(c)
		return
	}
	finish(batch, err)
	s.calls.next()
}

func finish(calls []*call, err error) {
	for _, c := range calls {
		if err != nil {
			c.err = err
		}
		close(c.done)
	}
}

// update makes the changes of all calls in one transaction.
func (s *Store) update(db *bbolt.DB, batch []*call) error {
	err := db.Update(func(tx *bbolt.Tx) error {
		// Check rarely, because checkPages reads the whole file.
		if now := time.Now().Unix(); now-s.checked.Load() >= 60 {
			if err := checkPages(tx); err != nil {
				return err
			}
			s.checked.Store(now)
		}
		return makeAll(tx, batch)
	})
	if err == errRefused { // nothing was written
		return nil
	}
	return err
}

// makeAll makes the changes of each call, or none of that call. It fails with errRefused if it
// has made no change.
func makeAll(tx *bbolt.Tx, batch []*call) error {
	made := false
	for _, w := range batch {
		ok, err := matches(tx.Bucket(bucket), w.changes)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		records, err := tx.CreateBucketIfNotExists(bucket)
		for i := 0; i < len(w.changes) && err == nil; i++ {
			c := w.changes[i].Prev
			err = records.Put(key(c.Realm, c.Block), w.values[i])
		}
		if err != nil {
			return err
		}
		w.stored, made = true, true
	}
	if !made {
		return errRefused
	}
	return nil
}

func matches(records *bbolt.Bucket, changes []lease.Change) (bool, error) {
	for _, c := range changes {
		now, err := get(records, c.Prev.Realm, c.Prev.Block)
		if err != nil || !now.Matches(c.Prev) {
			return false, err
		}
	}
	return true, nil
}

// A call reads or changes records.
type call struct {
	read func(records *bbolt.Bucket) error // nil for a change

	changes []lease.Change
	values  [][]byte
	stored  bool

	lead  chan struct{} // tells the call to open the file, for itself and for those who wait
	leads bool          // it was told so
	done  chan struct{} // closed when the call was made
	err   error
}

// A queue has the calls that wait, the oldest first.
type queue struct {
	mu      sync.Mutex
	waiting []*call
	leading bool // a call has been told to lead, and is not done
}

// maxBatch limits how long a transaction takes.
const maxBatch = 256

func (q *queue) join(c *call) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting = append(q.waiting, c)
	q.tell()
}

func (q *queue) tell() {
	if !q.leading && len(q.waiting) > 0 {
		q.leading, q.waiting[0].leads = true, true
		q.waiting[0].lead <- struct{}{}
	}
}

// take removes all reads and, if changes may be made, the oldest changes.
func (q *queue) take(mayChange bool) (reads, changes []*call) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting = slices.DeleteFunc(q.waiting, func(c *call) bool {
		switch {
		case c.read != nil:
			reads = append(reads, c)
		case mayChange && len(changes) < maxBatch:
			changes = append(changes, c)
		default:
			return false
		}
		return true
	})
	return reads, changes
}

// next tells another call to lead.
func (q *queue) next() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.leading = false
	q.tell()
}

// leave removes a call that still waits. It returns false if the call no longer waits.
func (q *queue) leave(c *call) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	i := slices.Index(q.waiting, c)
	if i < 0 {
		return false
	}
	q.waiting = slices.Delete(q.waiting, i, i+1)
	if c.leads {
		q.leading = false
		q.tell()
	}
	return true
}

var errRefused = errors.New("refused")

// checkPages fails if a page seems longer than any file. bbolt would list all parts of such a page,
// and the list may not fit in memory.
func checkPages(tx *bbolt.Tx) error {
	longest := maxSize / tx.DB().Info().PageSize
	for id := 0; ; id++ {
		page, err := tx.Page(id)
		if page == nil || err != nil {
			return err
		}
		switch page.Type {
		case "branch", "leaf", "freelist":
			if page.OverflowCount > longest {
				return fmt.Errorf("%w: page %d seems to have %d overflow pages", ErrDamaged, id,
					page.OverflowCount)
			}
		}
	}
}

// maxPart limits how long a list keeps other calls waiting.
const maxPart = 4096

func (s *Store) List(ctx context.Context, realm string) (found []lease.Record, err error) {
	n, err := view(ctx, s, func(records *bbolt.Bucket) (n int, err error) {
		err = each(records, realm, []byte(realm+"/"), func(_, _ []byte) (bool, error) {
			n++
			return true, nil
		})
		return n, err
	})
	if err != nil {
		return nil, err
	}
	found = make([]lease.Record, 0, n) // a realm can have so many that copies would hurt
	err = s.Scan(ctx, realm, func(r lease.Record) { found = append(found, r) })
	if err != nil {
		return nil, err
	}
	return found, nil
}

// Scan reads a realm in parts, so that other calls can come between.
func (s *Store) Scan(ctx context.Context, realm string, f func(lease.Record)) error {
	for first := []byte(realm + "/"); first != nil; {
		from := first // view may return before its function does
		p, err := view(ctx, s, func(records *bbolt.Bucket) (part, error) {
			return readPart(records, realm, from)
		})
		if err != nil {
			return err
		}
		for _, r := range p.records {
			f(r)
		}
		first = p.next
	}
	return nil
}

type part struct {
	records []lease.Record
	next    []byte // the key after the part, or nil at the end
}

func readPart(records *bbolt.Bucket, realm string, first []byte) (p part, err error) {
	split, err := newSplitText(realm)
	if err != nil {
		return p, err
	}
	err = each(records, realm, first, func(k, v []byte) (more bool, err error) {
		if len(p.records) == maxPart {
			p.next = bytes.Clone(k)
			return false, nil
		}
		if r, ok := split.decode(k, v); ok {
			p.records = append(p.records, r)
			return true, nil
		}
		r, err := decode(k, v)
		if err == nil && r.Realm == realm { // for realm "a", this skips the records of "a/b"
			r.Realm = realm // all records share one string
			p.records = append(p.records, r)
		}
		return true, err
	})
	return p, err
}

// A splitText is the JSON of a block that was split once, and never leased. A large realm has more of
// these records than leases. They differ only in the block, so to compare texts is enough.
type splitText struct {
	record     lease.Record
	head, tail []byte // before and after the block
	text       []byte
}

func newSplitText(realm string) (t splitText, err error) {
	t.record = lease.Record{Realm: realm, Revision: 1, State: lease.Split}
	text, err := json.Marshal(t.record)
	t.head, t.tail, _ = bytes.Cut(text, []byte(`"block":"0/0"`))
	return t, err
}

// decode reports whether v has this text.
func (t *splitText) decode(k, v []byte) (r lease.Record, ok bool) {
	block := k[len(t.record.Realm)+1:]
	t.text = fmt.Appendf(t.text[:0], `%s"block":"%s"%s`, t.head, block, t.tail)
	r = t.record
	return r, bytes.Equal(v, t.text) && r.Block.UnmarshalText(block) == nil
}

// each calls f for the records of a realm from the key first on, while f returns true.
func each(records *bbolt.Bucket, realm string, first []byte,
	f func(k, v []byte) (more bool, err error)) (err error) {
	if records == nil {
		return nil
	}
	prefix, c, more := []byte(realm+"/"), records.Cursor(), true
	for k, v := c.Seek(first); more && err == nil && bytes.HasPrefix(k, prefix); k, v = c.Next() {
		more, err = f(k, v)
	}
	return err
}

func (s *Store) Realms(ctx context.Context) ([]string, error) {
	end := []byte("/" + lease.Block{}.String())
	return view(ctx, s, func(records *bbolt.Bucket) (names []string, err error) {
		if records == nil {
			return nil, nil
		}
		err = records.ForEach(func(k, _ []byte) error {
			if name, ok := bytes.CutSuffix(k, end); ok {
				names = append(names, string(name))
			}
			return nil
		})
		return names, err
	})
}

func (s *Store) Time(context.Context) (time.Time, error) { return time.Now(), nil }

func (s *Store) String() string { return "bolt:" + s.path }

func (s *Store) Close() error { return nil }

// key returns the key of a record. A block has one slash, so the realm ends at the second slash
// from the end.
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
		err = fmt.Errorf("it is the record of %q", key(r.Realm, r.Block))
	}
	if err != nil {
		err = fmt.Errorf("%w: the record at %.200q: %w", ErrDamaged, k, err)
	}
	return r, err
}

// view returns what f reads. Calls that wait for the file at the same time share one transaction.
func view[T any](ctx context.Context, s *Store, f func(*bbolt.Bucket) (T, error)) (v T, err error) {
	var found T // f may still write it after view has returned
	err = s.share(ctx, &call{read: func(records *bbolt.Bucket) (err error) {
		found, err = f(records)
		return failed(s.path, err)
	}})
	if err != nil {
		return v, err
	}
	return found, nil
}

func readAll(db *bbolt.DB, batch []*call) error {
	return db.View(func(tx *bbolt.Tx) error {
		for _, c := range batch {
			c.err = c.read(tx.Bucket(bucket))
		}
		return nil
	})
}

func (s *Store) with(ctx context.Context, flag int, f func(*bbolt.DB) error) (err error) {
	if ctx.Err() != nil {
		return failed(s.path, context.Cause(ctx))
	}
	select {
	case s.mutex <- struct{}{}:
		defer func() { <-s.mutex }()
	case <-ctx.Done():
		return failed(s.path, fmt.Errorf("waiting for other calls of this process: %w",
			context.Cause(ctx)))
	}
	// If the file is damaged, bbolt may panic, or read beyond the end of the file. SetPanicOnFault
	// turns such a read into a panic, too.
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	var file *os.File
	defer func() {
		if p := recover(); p != nil {
			// Do not close the database: Close might wait for the transaction forever. So the file
			// stays mapped into memory. With flock, a mapped file stays locked after file.Close,
			// so unlock it first.
			unlock(file)
			file.Close()
			if _, ok := p.(runtime.Error); ok {
				p = "pages are missing or wrong"
			}
			err = failed(s.path, fmt.Errorf("%w: %v", ErrDamaged, p))
		}
	}()
	db, err := s.lock(ctx, flag, &file)
	if err != nil {
		return failed(s.path, err)
	}
	return failed(s.path, errors.Join(f(db), db.Close()))
}

// maxSize, in bytes, is enough for some millions of records. A larger file is probably damaged.
const maxSize = 1 << 30

// The shortest and the longest pause between attempts to open the file. A change locks the file for
// some milliseconds, mostly to sync it.
const (
	shortest = time.Millisecond
	longest  = 16 * time.Millisecond
)

// beginning is how long another process may need to make a file.
const beginning = time.Second

var errEmpty = fmt.Errorf("%w: it is empty", ErrDamaged)

func (s *Store) lock(ctx context.Context, flag int, file **os.File) (*bbolt.DB, error) {
	options := &bbolt.Options{
		ReadOnly: flag == os.O_RDONLY,
		// Do not wait in bbolt: it tries only every 50 ms, and ignores the context.
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
		if err := connect.Sleep(ctx, pause/2+rand.N(pause)); err != nil {
			return nil, fmt.Errorf("%s has the file locked; gave up waiting: %w", holder(s.path),
				err)
		}
	}
}

// openFile creates a file or accepts an empty file only for [Open]. A file that is empty later has
// lost its records.
func openFile(path string, flag int, mode os.FileMode) (*os.File, error) {
	f, err := os.OpenFile(path, flag, mode)
	switch {
	case errors.Is(err, fs.ErrNotExist) && flag&os.O_CREATE == 0:
		return nil, fmt.Errorf("the file is gone; if you put a backup in its place, fence its "+
			"realms: %w", fs.ErrNotExist)
	case err != nil || flag&os.O_CREATE != 0:
		return f, err
	}
	info, err := f.Stat()
	if err == nil && info.Size() == 0 {
		err = errEmpty
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func failed(path string, err error) error {
	switch at, ok := err.(*fs.PathError); {
	case err == nil:
		return nil
	case errors.Is(err, bbolterrors.ErrInvalid), errors.Is(err, bbolterrors.ErrVersionMismatch),
		errors.Is(err, bbolterrors.ErrChecksum), strings.Contains(err.Error(), "file size too small"):
		err = fmt.Errorf("%w: %w", ErrDamaged, err)
	case ok && at.Path == path:
		err = fmt.Errorf("%s: %w", at.Op, at.Err)
	}
	return fmt.Errorf("bolt: %s: %w", path, err)
}
