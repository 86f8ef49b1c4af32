package input

import (
	"bufio"
	"bytes"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

var (
	gzipMagic = []byte{0x1f, 0x8b}
	zstdMagic = []byte{0x28, 0xb5, 0x2f, 0xfd}
)

// Decompress decompresses r if it is compressed. To find out, it waits only for the first bytes.
func Decompress(r io.Reader) (io.Reader, error) {
	b := bufio.NewReaderSize(r, 64<<10)
	switch {
	case begins(b, gzipMagic):
		return gzip.NewReader(b)
	case begins(b, zstdMagic):
		d, err := zstd.NewReader(b, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true))
		if err != nil {
			return nil, err
		}
		return d.IOReadCloser(), nil
	}
	return b, nil
}

// begins reports whether b begins with magic. It stops at the first byte that differs, because
// the next byte may come late.
func begins(b *bufio.Reader, magic []byte) bool {
	for n := 1; n <= len(magic); n++ {
		if head, err := b.Peek(n); err != nil || !bytes.HasPrefix(magic, head) {
			return false
		}
	}
	return true
}
