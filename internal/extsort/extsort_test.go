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
	"slices"
	"testing"
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
		s := Sorter{Dir: dir, Memory: []int{1, 1000, 1 << 30}[seed%3]}
		var want []record
		for i := range 1500 {
			// The payloads of records with the same key differ.
			key := Key{uint64(r.Uint32N(2)), r.Uint64N(3), r.Uint64N(50)}
			payload := binary.BigEndian.AppendUint32(nil, uint32(i))
			payload = append(payload, bytes.Repeat([]byte{byte(i)}, r.IntN(40))...)
			if i%500 == 7 {
				payload = append(payload, make([]byte, r.IntN(5*runBuffer))...)
			}
			want = append(want, record{key, payload})
			if err := s.Add(key, payload); err != nil {
				t.Fatal(err)
			}
		}
		limit := 2 + r.IntN(5)
		runs, err := s.Finish(t.Context(), limit)
		if err != nil || len(runs) > limit || seed%3 == 2 && len(runs) != 1 {
			t.Fatalf("%d runs, want at most %d; %v", len(runs), limit, err)
		}
		var inputs []*Reader
		for _, run := range runs {
			in, err := run.Open(len(runs))
			if err != nil {
				t.Fatal(err)
			}
			defer in.Close()
			inputs = append(inputs, in)
		}
		var got []record
		if err := Merge(inputs, func(in *Reader, index int, key Key) error {
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
		if err := dir.Close(); err != nil {
			t.Error(err)
		}
		if left, _ := os.ReadDir(parent); len(left) > 0 {
			t.Errorf("left on disk: %v", left)
		}
	}
}

func TestSorterMemory(t *testing.T) {
	dir := &Dir{Parent: t.TempDir()}
	defer dir.Close()
	s := Sorter{Dir: dir, Memory: 1 << 20}
	payload := make([]byte, 100)
	for i := range uint64(100_000) {
		if err := s.Add(Key{2: ^i}, payload); err != nil {
			t.Fatal(err)
		}
		if n := len(s.items)*itemSize + len(s.payloads); n > s.Memory {
			t.Fatalf("%d bytes in memory after %d records", n, i)
		}
	}
	if want := 100_000 * (100 + itemSize) / (1 << 20); len(s.runs) != want {
		t.Errorf("%d runs, want %d", len(s.runs), want)
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
	in := []*keys{{{2: 1}, {2: 5}}, {{2: 2}, {2: 1}}}
	if err := Merge(in, func(*keys, int, Key) error { return nil }); err != ErrUnsorted {
		t.Error(err)
	}
}

func TestTrouble(t *testing.T) {
	dir := &Dir{Parent: t.TempDir()}
	w := Writer{Dir: dir}
	for range 3 {
		if err := w.Add(Key{}, []byte("abc")); err != nil {
			t.Fatal(err)
		}
	}
	run, err := w.Finish()
	if err != nil || run.Size() != 3*(keySize+1+3) {
		t.Fatalf("a run of 3 records has %d bytes, %v", run.Size(), err)
	}
	if err := os.Truncate(run.name, run.size-1); err != nil {
		t.Fatal(err)
	}
	in, err := run.Open(1)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	n := 0
	err = Merge([]*Reader{in}, func(*Reader, int, Key) error { n++; return nil })
	if n != 2 || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("%d records of a truncated run, want 2; %v", n, err)
	}

	ended, cancel := context.WithCancel(t.Context())
	cancel()
	s := Sorter{Dir: dir, Memory: 1}
	for i := range uint64(1 << 9) {
		if err := s.Add(Key{2: i}, nil); err != nil {
			t.Fatal(err)
		}
	}
	// A merge checks the context after 65,536 records: 128 runs of 512 records.
	for i := range s.runs {
		for j := range uint64(1 << 9) {
			w.Add(Key{2: j}, nil)
		}
		if s.runs[i], err = w.Finish(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Finish(ended, 2); err != context.Canceled {
		t.Errorf("after the context has ended: %v", err)
	}
	if err := dir.Close(); err != nil {
		t.Error(err)
	}
	if err := w.Add(Key{}, nil); !errors.Is(err, os.ErrClosed) {
		t.Errorf("a closed folder: %v", err)
	}
	w = Writer{Dir: &Dir{Parent: run.name}}
	if err := w.Add(Key{}, nil); err == nil {
		t.Error("a folder that cannot be made: no error")
	}
	if r, err := w.Finish(); err != nil || r.Size() != 0 {
		t.Errorf("a writer that wrote nothing: %v, %v", r, err)
	}
}
