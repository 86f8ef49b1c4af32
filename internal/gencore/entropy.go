package gencore

import (
	crand "crypto/rand"
	"encoding/binary"
	"io"
	"math/rand/v2"
)

const (
	bufferSize = 128 // in words

	// reseedAfter is how many times one seed can fill the buffer.
	reseedAfter = 1 << 20
)

// A Source returns random words from ChaCha8 or from a reader. The operating system seeds ChaCha8
// at the first use and again in each second; see [Source.Tick]. A Source is not safe for concurrent
// use.
type Source struct {
	used        int // how many words of buf are used
	buf         [bufferSize]uint32
	reader      io.Reader
	bytes       [8]byte // a field, so that it is not allocated each time
	chacha      *rand.ChaCha8
	refillsLeft int
	second      int64
}

func systemSource() Source { return Source{used: bufferSize} }

// sourceOf returns a source that reads big-endian words from r. It reads only the bytes that it
// needs. The caller gets the errors of r, and an error for too few bytes.
func sourceOf(r io.Reader) Source { return Source{used: bufferSize, reader: r} }

// Tick sets the Unix time in milliseconds. In each new second the source gets a new seed. So copies
// of a virtual machine soon return different words.
func (s *Source) Tick(ms int64) {
	if second := ms / 1000; second != s.second {
		s.second, s.refillsLeft, s.used = second, 0, bufferSize
	}
}

// Second returns the Unix second of the last call of Tick. The seed of the next word is from this
// second or later.
func (s *Source) Second() int64 { return s.second }

// Next32 returns false if the buffer is empty. Then the caller must use [Source.Uint32].
func (s *Source) Next32() (w uint32, ok bool) {
	if s.used < bufferSize {
		w, ok = s.buf[s.used], true
		s.used++
	}
	return w, ok
}

func (s *Source) Next96() (hi uint64, lo uint32, ok bool) {
	if i := s.used; i < bufferSize-2 {
		hi, lo, ok = uint64(s.buf[i])<<32|uint64(s.buf[i+1]), s.buf[i+2], true
		s.used = i + 3
	}
	return hi, lo, ok
}

// Uint32 fails only if the reader fails.
func (s *Source) Uint32() (uint32, error) {
	if w, ok := s.Next32(); ok {
		return w, nil
	}
	if s.reader != nil {
		b, err := s.read(4)
		return binary.BigEndian.Uint32(b), err
	}
	s.refill()
	s.used = 1
	return s.buf[0], nil
}

// Uint64 fails only if the reader fails.
func (s *Source) Uint64() (uint64, error) {
	if s.reader != nil {
		b, err := s.read(8)
		return binary.BigEndian.Uint64(b), err
	}
	if s.used > bufferSize-2 {
		s.refill()
	}
	s.used += 2
	return uint64(s.buf[s.used-2])<<32 | uint64(s.buf[s.used-1]), nil
}

func (s *Source) read(n int) ([]byte, error) {
	_, err := io.ReadFull(s.reader, s.bytes[:n])
	return s.bytes[:n], err
}

func (s *Source) refill() {
	if s.refillsLeft == 0 {
		var seed [32]byte
		crand.Read(seed[:]) // never returns an error; a failure ends the program
		if s.chacha == nil {
			s.chacha = rand.NewChaCha8(seed)
		}
		s.chacha.Seed(seed)
		s.refillsLeft = reseedAfter
	}
	s.refillsLeft--
	for i := 0; i < bufferSize; i += 2 {
		w := s.chacha.Uint64()
		s.buf[i], s.buf[i+1] = uint32(w>>32), uint32(w)
	}
	s.used = 0
}
