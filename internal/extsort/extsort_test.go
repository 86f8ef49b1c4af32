package extsort

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/sortid/sortid/internal/check"
)

type record struct {
	key     Key
	payload []byte
}

// With any memory, records of any length come out in the order of slices.SortFunc.
func TestSorter(t *testing.T) {
	for seed := range uint64(6) {
		r := rand.New(rand.NewPCG(seed, 1))
		parent := t.TempDir()
		dir := &Dir{Parent: parent}
		s := Sorter{Context: t.Context(), Dir: dir, Memory: []int{1, 2000, 1 << 30}[seed%3]}
		var want []record
		for i := range 1500 {
			// The payloads of records with the same key differ.
			key := Key{High: uint64(r.Uint32N(2)), Mid: r.Uint64N(3), Low: r.Uint64N(50)}
			payload := binary.BigEndian.AppendUint32(nil, uint32(i))
			payload = append(payload, bytes.Repeat([]byte{byte(i)}, r.IntN(40))...)
			if i%500 == 7 {
				payload = append(payload, make([]byte, r.IntN(5*runBuffer))...)
			}
			want = append(want, record{key, payload})
			check.OK(t, s.Add(key, payload))
		}
		limit := 2 + r.IntN(5)
		runs, err := s.Finish(limit)
		if n := len(dir.files); err != nil || n > limit || (n == 0) != (seed%3 == 2) {
			t.Fatalf("%d files, want at most %d; %v", n, limit, err)
		}
		if named, _ := os.ReadDir(parent); len(named) > 0 && runtime.GOOS != "windows" {
			t.Errorf("files have names: %v", named)
		}
		var got []record
		if err := MergeRuns(runs, func(in *Reader, index int, key Key) error {
			got = append(got, record{key, bytes.Clone(in.Payload(index))})
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if !slices.IsSortedFunc(got, func(a, b record) int { return a.key.Compare(b.key) }) {
			t.Errorf("seed %d: the records are not in order", seed)
		}
		order := func(a, b record) int {
			return cmp.Or(a.key.Compare(b.key), bytes.Compare(a.payload, b.payload))
		}
		slices.SortFunc(got, order)
		slices.SortFunc(want, order)
		if !slices.EqualFunc(got, want, func(a, b record) bool { return order(a, b) == 0 }) {
			t.Errorf("seed %d: the %d records differ from the %d that were added", seed,
				len(got), len(want))
		}
		if len(dir.files) > 0 {
			t.Errorf("MergeRuns left %d files", len(dir.files))
		}
		if left, _ := os.ReadDir(parent); len(left) > 0 {
			t.Errorf("left on disk: %v", left)
		}
	}
}

// Neither the memory nor the number of open files grows with the number of records.
func TestSorterLimits(t *testing.T) {
	dir := &Dir{Parent: t.TempDir()}
	defer dir.Close()
	s := Sorter{Context: t.Context(), Dir: dir, Memory: 1 << 12}
	payload := make([]byte, 100)
	for i := range uint64(10_000) {
		check.OK(t, s.Add(Key{Low: ^i}, payload))
		if n := s.batch.size; n > s.Memory/2 {
			t.Fatalf("%d bytes in memory after %d records", n, i)
		}
		dir.mu.Lock()
		n := len(dir.files)
		dir.mu.Unlock()
		if n > MaxFanIn+1 { // with the file to which a join writes
			t.Fatalf("%d open files after %d records", n, i)
		}
	}
	runs, err := s.Finish(MaxFanIn)
	if err != nil {
		t.Fatal(err)
	}
	n, last := 0, Key{}
	err = MergeRuns(runs, func(in *Reader, _ int, key Key) error {
		if n++; key.Less(&last) {
			t.Errorf("%x comes after %x", key, last)
		}
		last = key
		return nil
	})
	if err != nil || n != 10_000 {
		t.Errorf("%d records, %v", n, err)
	}
}

type keys []Key

func (k *keys) Next() ([]Key, error) {
	all := *k
	*k = nil
	return all, nil
}

func (k *keys) Close() error { return nil }

func TestUnsorted(t *testing.T) {
	in := []*keys{{{Low: 1}, {Low: 5}}, {{Low: 2}, {Low: 1}}}
	if err := Merge(in, func(*keys, int, Key) error { return nil }); err != ErrUnsorted {
		t.Error(err)
	}
}

func TestTrouble(t *testing.T) {
	dir := &Dir{Parent: t.TempDir()}
	w := Writer{Dir: dir}
	for range 3 {
		check.OK(t, w.Add(Key{}, []byte("abc")))
	}
	run, err := w.Finish()
	if err != nil || run.Size() != 3*(keySize+1+3) {
		t.Fatalf("a run of 3 records has %d bytes, %v", run.Size(), err)
	}
	check.OK(t, run.file.Truncate(run.size-1))
	in := run.Open(1)
	defer in.Close()
	n := 0
	err = Merge([]*Reader{in}, func(*Reader, int, Key) error { n++; return nil })
	if n != 2 || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("%d records of a truncated run, want 2; %v", n, err)
	}

	ended, cancel := context.WithCancel(t.Context())
	cancel()
	s := Sorter{Context: ended, Dir: dir, Memory: 1 << 30}
	for i := range uint64(1 << 16) { // a merge checks the context after so many records
		check.OK(t, s.Add(Key{Low: i}, nil))
	}
	check.OK(t, s.write())
	if _, err := s.Finish(2); err != context.Canceled {
		t.Errorf("after the context has ended: %v", err)
	}
	if err := dir.Close(); err != nil {
		t.Error(err)
	}
	if err := w.Add(Key{}, nil); !errors.Is(err, os.ErrClosed) {
		t.Errorf("a closed folder: %v", err)
	}
	w = Writer{Dir: &Dir{Parent: filepath.Join(t.TempDir(), "none")}}
	if err := w.Add(Key{}, nil); err == nil {
		t.Error("a folder that cannot be made: no error")
	}
	if r, err := w.Finish(); err != nil || r.Size() != 0 {
		t.Errorf("a writer that wrote nothing: %v, %v", r, err)
	}
}
