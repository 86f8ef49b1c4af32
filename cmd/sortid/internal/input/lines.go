package input

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// maxLine is the length of the longest line that a lineReader returns, in bytes, with its newline.
const maxLine = 64 << 10

// errTooLong means that the line is longer than maxLine, and was skipped.
var errTooLong = errors.New("longer than 64 KiB, so it is no ID; skipped")

// ErrUTF16 means that the input begins like UTF-16. The reader stops there.
var ErrUTF16 = errors.New(
	`this is UTF-16, as Windows writes it, and not UTF-8; "iconv -f UTF-16 -t UTF-8" converts it`)

type lineReader struct {
	r   *bufio.Reader
	n   int
	err error // the underlying reader's error
}

func newLineReader(r io.Reader) *lineReader {
	return &lineReader{r: bufio.NewReaderSize(r, maxLine)}
}

// Number returns the number of the last line that Next read, from 1. Blank lines count.
func (r *lineReader) Number() int { return r.n }

// Next returns the next line that is not blank, without its newline. It is valid until the next
// call. After [errTooLong], Next continues. Other errors are final: [io.EOF], [ErrUTF16] or an
// error of the underlying reader.
func (r *lineReader) Next() ([]byte, error) {
	for r.err == nil {
		line, err := r.r.ReadSlice('\n')
		if len(line) > 0 {
			r.n++
		}
		long := err == bufio.ErrBufferFull
		for err == bufio.ErrBufferFull {
			_, err = r.r.ReadSlice('\n')
		}
		r.err = err
		if long {
			return nil, errTooLong
		}
		if r.n == 1 { // there may be a byte-order mark
			if bytes.HasPrefix(line, []byte("\xff\xfe")) ||
				bytes.HasPrefix(line, []byte("\xfe\xff")) {
				r.err = ErrUTF16
				return nil, r.err
			}
			line = bytes.TrimPrefix(line, []byte("\ufeff"))
		}
		if len(bytes.TrimSpace(line)) > 0 {
			return bytes.TrimRight(line, "\r\n"), nil
		}
	}
	return nil, r.err
}

// Ready reports whether Next can return without waiting for input.
func (r *lineReader) Ready() bool {
	b, _ := r.r.Peek(r.r.Buffered())
	return bytes.IndexByte(b, '\n') >= 0
}
