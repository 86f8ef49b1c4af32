package gencore

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"testing"
	"testing/iotest"

	"github.com/sortid/sortid/internal/check"
)

// seeded returns a source, and a function that returns the words that the source must return.
func seeded(seed [32]byte) (*Source, func() uint32) {
	s := systemSource()
	s.chacha, s.refillsLeft = rand.NewChaCha8(seed), reseedAfter
	reference := rand.NewChaCha8(seed)
	var low uint32
	odd := false
	return &s, func() uint32 {
		if odd = !odd; !odd {
			return low
		}
		w := reference.Uint64()
		low = uint32(w)
		return uint32(w >> 32)
	}
}

// In every mix of calls, the source returns the words of ChaCha8 in order. It may skip only a
// buffer's last words.
func TestStream(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	s, next := seeded([32]byte{1})
	at := 0
	want := func() uint32 { at++; return next() }
	for range 100_000 {
		switch r.IntN(4) {
		case 0:
			if w := check.Must(s.Uint32())(t); w != want() {
				t.Fatalf("Uint32 = %#x as word %d", w, at)
			}
		case 1:
			if at%bufferSize == bufferSize-1 {
				want()
			}
			if w := check.Must(s.Uint64())(t); w != uint64(want())<<32|uint64(want()) {
				t.Fatalf("Uint64 = %#x up to word %d", w, at)
			}
		case 2:
			if w, ok := s.Next32(); ok != (at%bufferSize != 0) || ok && w != want() {
				t.Fatalf("Next32 = %#x, %v as word %d", w, ok, at)
			}
		case 3:
			left := (bufferSize - at%bufferSize) % bufferSize
			hi, lo, ok := s.Next96()
			if ok != (left >= 3) || ok && (hi != uint64(want())<<32|uint64(want()) ||
				lo != want()) {
				t.Fatalf("Next96 = %#x, %#x, %v with %d words left", hi, lo, ok, left)
			}
		}
	}
}

// Two copies of a source return the same words for the rest of the second, and then different
// words.
func TestTick(t *testing.T) {
	copied := func(s *Source) *Source {
		c, chacha := *s, *s.chacha
		c.chacha = &chacha
		return &c
	}
	for _, from := range []int64{2000, 2999, 1_700_000_000_000, 1_700_000_000_999} {
		a := systemSource()
		a.Tick(from)
		check.Must(a.Uint32())(t)
		b := copied(&a)
		end := from/1000*1000 + 999
		for i := range 3 * bufferSize {
			a.Tick(from)
			b.Tick(end)
			if x, y := check.Must(a.Uint32())(t), check.Must(b.Uint32())(t); x != y {
				t.Fatalf("from %d: word %d differs within the second: a seed was used up early",
					from, i)
			}
		}
		for _, to := range []int64{end + 1, end - 1000, end + 3_600_000} {
			a, b := copied(&a), copied(&a)
			a.Tick(to)
			b.Tick(to)
			if _, ok := a.Next32(); ok {
				t.Fatalf("from %d to %d: words of the old seed are left", from, to)
			}
			seen := map[uint32]bool{}
			for range 3 * bufferSize {
				seen[check.Must(a.Uint32())(t)] = true
			}
			same := 0
			for range 3 * bufferSize {
				if seen[check.Must(b.Uint32())(t)] {
					same++
				}
			}
			if same > 3 { // with random words it is nearly always 0
				t.Errorf("from %d to %d: %d words of two copies are the same", from, to, same)
			}
		}
	}
}

func TestReseed(t *testing.T) {
	s, next := seeded([32]byte{2})
	s.refillsLeft = 2
	for i := range 2 * bufferSize {
		if w := check.Must(s.Uint32())(t); w != next() {
			t.Fatalf("word %d is %#x", i, w)
		}
	}
	same := 0
	for range bufferSize {
		if check.Must(s.Uint32())(t) == next() {
			same++
		}
	}
	if same > 3 || s.refillsLeft != reseedAfter-1 {
		t.Errorf("after the seed's last buffer, %d words of %d still come from it; %d fills left",
			same, bufferSize, s.refillsLeft)
	}
}

func TestSystemsDiffer(t *testing.T) {
	a, b := systemSource(), systemSource()
	same := 0
	for range 1000 {
		if check.Must(a.Uint64())(t) == check.Must(b.Uint64())(t) {
			same++
		}
	}
	if same > 0 {
		t.Errorf("%d of 1000 words of two sources are the same", same)
	}
}

// Each bit is 1 in half of the words, and bytes are evenly spread. The bounds are six sigma.
func TestDistribution(t *testing.T) {
	const n = 1 << 20
	s := systemSource()
	var ones [32]int
	var count [256]int
	for i := range n {
		s.Tick(int64(i))
		w := check.Must(s.Uint32())(t)
		for bit := range ones {
			ones[bit] += int(w >> bit & 1)
		}
		count[w&255]++
		count[w>>24]++
	}
	for bit, k := range ones {
		if math.Abs(float64(k)-n/2) > 6*math.Sqrt(n/4) {
			t.Errorf("bit %d is 1 in %d of %d words", bit, k, n)
		}
	}
	var chi2 float64
	const each = 2 * n / 256.0
	for _, k := range count {
		chi2 += (float64(k) - each) * (float64(k) - each) / each
	}
	if chi2 > 255+6*math.Sqrt(2*255) || chi2 < 255-6*math.Sqrt(2*255) {
		t.Errorf("chi-squared of bytes is %.0f, want about 255", chi2)
	}
}

// The source reads only the bytes that it needs, also in pieces.
func TestReader(t *testing.T) {
	data := make([]byte, 1200)
	for i := range data {
		data[i] = byte(i * 7)
	}
	for name, wrap := range map[string]func(io.Reader) io.Reader{
		"whole": func(r io.Reader) io.Reader { return r }, "half": iotest.HalfReader,
		"one": iotest.OneByteReader, "data and error": iotest.DataErrReader,
	} {
		source := bytes.NewReader(data)
		s := sourceOf(wrap(source))
		for used := 0; used < len(data); {
			s.Tick(int64(used) * 1000)
			if _, ok := s.Next32(); ok {
				t.Fatalf("%s: Next32 without a reading", name)
			}
			if _, _, ok := s.Next96(); ok {
				t.Fatalf("%s: Next96 without a reading", name)
			}
			if w := check.Must(s.Uint32())(t); w != binary.BigEndian.Uint32(data[used:]) {
				t.Fatalf("%s: Uint32 = %#x after %d bytes", name, w, used)
			}
			used += 4
			if w := check.Must(s.Uint64())(t); w != binary.BigEndian.Uint64(data[used:]) {
				t.Fatalf("%s: Uint64 = %#x after %d bytes", name, w, used)
			}
			used += 8
			if left := len(data) - used; name == "whole" && source.Len() != left {
				t.Fatalf("%s: %d bytes left, want %d", name, source.Len(), left)
			}
		}
		if _, err := s.Uint32(); !errors.Is(err, io.EOF) {
			t.Errorf("%s: %v at the end", name, err)
		}
	}
}

// If the reader fails or has too few bytes, the source fails. Later the source works again.
func TestShortReads(t *testing.T) {
	for n := range 8 {
		b := bytes.NewReader(make([]byte, n))
		s := sourceOf(b)
		want := io.ErrUnexpectedEOF
		if n == 0 {
			want = io.EOF
		}
		if _, err := s.Uint64(); !errors.Is(err, want) {
			t.Errorf("Uint64 from %d bytes: %v, want %v", n, err, want)
		}
		b.Reset(bytes.Repeat([]byte{9}, 8))
		if w, err := s.Uint64(); err != nil || w != 0x0909090909090909 {
			t.Errorf("Uint64 after an error: %#x, %v", w, err)
		}
		if n < 4 {
			b.Reset(make([]byte, n))
			if _, err := s.Uint32(); !errors.Is(err, want) {
				t.Errorf("Uint32 from %d bytes: %v, want %v", n, err, want)
			}
		}
	}
	broken := errors.New("broken")
	s := sourceOf(io.MultiReader(bytes.NewReader(make([]byte, 6)), iotest.ErrReader(broken)))
	if _, err := s.Uint64(); !errors.Is(err, broken) {
		t.Errorf("%v, want the reader's error", err)
	}
}

func TestAllocations(t *testing.T) {
	zeros := zero{}
	for name, s := range map[string]Source{"system": systemSource(), "reader": sourceOf(zeros)} {
		ms := int64(0)
		check.Must(s.Uint32())(t)
		if n := testing.AllocsPerRun(10_000, func() {
			ms += 10
			s.Tick(ms)
			_, _ = s.Uint32()
			_, _ = s.Uint64()
			_, _ = s.Next32()
			_, _, _ = s.Next96()
		}); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

type zero struct{}

func (zero) Read(b []byte) (int, error) { clear(b); return len(b), nil }

// The command bench runs this, too.
func BenchmarkParts(b *testing.B) {
	b.Run("lib=entropy-32-bits", func(b *testing.B) {
		s := systemSource()
		for b.Loop() {
			sinkWord, sinkErr = s.Uint32()
		}
	})
}

var (
	sinkWord uint32
	sinkErr  error
)
