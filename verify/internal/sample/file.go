package sample

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"
)

var ErrShrunk = errors.New("the file became shorter while it was read")

// Open opens a file. If the file becomes shorter, the reader ends with [ErrShrunk]. If the file
// grows, the reader also reads the added bytes. The reader of a regular file has the method
// Position() int64. It returns how many bytes were read, and is safe for concurrent use.
func Open(name string) (io.ReadCloser, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	switch {
	case err != nil:
		f.Close()
		return nil, err
	case info.IsDir():
		f.Close()
		return nil, fmt.Errorf("%s: is a directory", name)
	case !info.Mode().IsRegular():
		return f, nil
	}
	return &file{File: f, size: info.Size()}, nil
}

type file struct {
	*os.File
	size int64
	at   atomic.Int64
}

func (f *file) Read(b []byte) (int, error) {
	n, err := f.File.Read(b)
	at := f.at.Add(int64(n))
	if err == io.EOF && at < f.size {
		err = fmt.Errorf("%w: %d of %d bytes are left", ErrShrunk, at, f.size)
	}
	return n, err
}

func (f *file) Position() int64 { return f.at.Load() }
