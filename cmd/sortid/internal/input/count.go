package input

import (
	"io"
	"os"
	"sync/atomic"
)

// A Counter adds the number of bytes that it reads to N.
type Counter struct {
	From io.Reader
	N    *atomic.Uint64
}

func (c Counter) Read(b []byte) (int, error) {
	n, err := c.From.Read(b)
	c.N.Add(uint64(n))
	return n, err
}

// SizeOf returns how many bytes of a regular file are left to read, or -1 for other readers.
func SizeOf(r io.Reader) int64 {
	f, ok := r.(*os.File)
	if !ok {
		return -1
	}
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return -1
	}
	at, err := f.Seek(0, io.SeekCurrent)
	if err != nil {
		return -1
	}
	return info.Size() - at
}
