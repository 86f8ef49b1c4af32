package verify

import (
	"errors"
	"fmt"
	"io"
	"os"
)

// ErrShrunk: a file had fewer bytes when it was read than when it was opened.
var ErrShrunk = errors.New("the file has become shorter while it was read")

// Open opens a file for reading. If the file turns out to be shorter than it was then,
// its reader's last error is [ErrShrunk] in place of io.EOF; what was added meanwhile is
// read, too.
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
		return nil, fmt.Errorf("%s is a directory", name)
	case !info.Mode().IsRegular():
		return f, nil
	}
	return &file{File: f, left: info.Size(), size: info.Size()}, nil
}

type file struct {
	*os.File
	left, size int64
}

func (f *file) Read(b []byte) (int, error) {
	n, err := f.File.Read(b)
	f.left -= int64(n)
	if err == io.EOF && f.left > 0 {
		err = fmt.Errorf("%w: %d of %d bytes are left", ErrShrunk, f.size-f.left, f.size)
	}
	return n, err
}
