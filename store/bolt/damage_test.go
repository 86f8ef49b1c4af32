package bolt

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/sortid/sortid/internal/check"
	"github.com/sortid/sortid/lease"
	"github.com/sortid/sortid/store/internal/faulttest"
	"go.etcd.io/bbolt"
)

// use calls the methods and returns their errors. No call may wait forever.
func use(t *testing.T, url string) error {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	s, err := Open(ctx, url)
	if err != nil {
		return err
	}
	_, err1 := s.Get(ctx, "realm", block)
	_, err2 := s.List(ctx, "realm")
	_, err3 := s.CompareAndSet(ctx, record(1), record(2))
	_, err4 := s.CompareAndSet(ctx, lease.Record{Realm: "new"},
		lease.Record{Realm: "new", Revision: 1})
	return errors.Join(err1, err2, err3, err4)
}

// damages has ways to damage a file. Each function may change its argument.
var damages = map[string]func(f file, r *rand.Rand) file{
	"cut":           func(f file, r *rand.Rand) file { return f[:r.IntN(len(f))] },
	"cut at a page": func(f file, r *rand.Rand) file { return f[:f.anyPage(r)] },
	"a page of zeros": func(f file, r *rand.Rand) file {
		clear(f[f.anyPage(r):][:page])
		return f
	},
	"no page but zeros": func(f file, _ *rand.Rand) file {
		clear(f[2*page:])
		return f
	},
	"a page of noise": func(f file, r *rand.Rand) file {
		for i, at := 0, f.anyPage(r); i < page; i++ {
			f[at+i] = byte(r.Uint32())
		}
		return f
	},
	"two pages swapped": func(f file, r *rand.Rand) file {
		i, j := f.anyPage(r), f.anyPage(r)
		was := string(f[i : i+page])
		copy(f[i:i+page], f[j:j+page])
		copy(f[j:], was)
		return f
	},
	"a bit in each page's head": func(f file, r *rand.Rand) file {
		for at := 2 * page; at < len(f); at += page {
			f[at+r.IntN(64)] ^= 1 << r.IntN(8)
		}
		return f
	},
	"some bytes": func(f file, r *rand.Rand) file {
		for range 50 {
			f[r.IntN(len(f))] = byte(r.Uint32())
		}
		return f
	},
}

var page = os.Getpagesize()

type file []byte

func (f file) anyPage(r *rand.Rand) int { return r.IntN(len(f)/page) * page }

// If the file is damaged, calls return errors. The file never stays locked.
func TestDamagedFileGivesErrorsAndNoLock(t *testing.T) {
	path, url := temp(t)
	s := must(t, url)
	put(t, s, 1)
	for i := range uint32(300) {
		b := lease.Block{NodeID: i, Size: 16}
		faulttest.Change(t, s, lease.Record{Realm: "realm", Block: b},
			lease.Record{Realm: "realm", Block: b, Revision: 1})
	}
	good := check.Must(os.ReadFile(path))(t)
	useFile := func(f file) error {
		t.Helper()
		check.OK(t, os.WriteFile(path, f, 0o600))
		return use(t, url)
	}
	rounds := 100
	if testing.Short() {
		rounds = 20
	}
	for name, damage := range damages {
		failed := 0
		for round := range rounds {
			err := useFile(damage(bytes.Clone(good), rand.New(rand.NewPCG(uint64(round), 0))))
			if err == nil {
				continue
			}
			failed++
			if errors.Is(err, context.DeadlineExceeded) ||
				strings.Contains(err.Error(), "runtime error") ||
				!strings.HasPrefix(err.Error(), "bolt: "+path) {
				t.Errorf("%s, round %d: %v", name, round, err)
			}
		}
		t.Logf("%s: %d of %d files were found to be damaged", name, failed, rounds)
		if failed == 0 {
			t.Errorf("%s: no call found the damage", name)
		}
		if err := useFile(good); err != nil {
			t.Errorf("after %s: %v", name, err)
		}
	}
}

func TestWrongRecordIsAnError(t *testing.T) {
	path, url := temp(t)
	s := must(t, url)
	put(t, s, 1)
	for _, value := range []string{`{"realm":"realm","block":"43/8","revision":"1"}`,
		`{"realm":"other","block":"42/8"}`, `{}`, `nonsense`, ``} {
		db, err := bbolt.Open(path, 0o600, nil)
		if err != nil {
			t.Fatal(err)
		}
		err = db.Update(func(tx *bbolt.Tx) error {
			return tx.Bucket(bucket).Put(key("realm", block), []byte(value))
		})
		check.OK(t, errors.Join(err, db.Close()))
		faulttest.NotARecord(t, s, value, "realm/42/8")
		if _, err := s.CompareAndSet(t.Context(), record(1), record(2)); !errors.Is(err,
			ErrDamaged) || !strings.Contains(err.Error(), "realm/42/8") {
			t.Errorf("%s: %v", value, err)
		}
	}
}

func TestBucketsOfOthersAreIgnored(t *testing.T) {
	path, url := temp(t)
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{NoFreelistSync: true})
	if err == nil {
		err = db.Update(func(tx *bbolt.Tx) error {
			_, err := tx.CreateBucket([]byte("other"))
			return err
		})
	}
	check.OK(t, errors.Join(err, db.Close()))
	s := must(t, url)
	if rs, err := s.List(t.Context(), "realm"); err != nil || len(rs) != 0 {
		t.Error(rs, err)
	}
	put(t, s, 1)
}
