package input

import (
	"bufio"
	"bytes"
	"compress/bzip2"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"
	"golang.org/x/text/encoding/unicode"
)

var (
	gzipMagic = []byte{0x1f, 0x8b}
	zstdMagic = []byte{0x28, 0xb5, 0x2f, 0xfd}
	// Packed by default, with the largest blocks; the first block begins with digits of pi.
	bzip2Magic = []byte("BZh91AY&SY")
	xzMagic    = []byte("\xfd7zXZ\x00")

	utf16Little, utf16Big = []byte("\xff\xfe"), []byte("\xfe\xff")
)

// BufferSize is the size of the buffer of [Plain], in bytes.
const BufferSize = 64 << 10

// IsPlain reports whether Plain reads the bytes of b as they are.
func IsPlain(b *bufio.Reader) bool {
	for _, magic := range [][]byte{gzipMagic, zstdMagic, bzip2Magic, xzMagic, utf16Little, utf16Big} {
		if begins(b, magic) {
			return false
		}
	}
	return true
}

// Plain reads r as UTF-8. It decompresses gzip, Zstandard, bzip2 and xz, and decodes UTF-16 with a
// byte-order mark. To find out, it waits only for the first bytes. A goroutine decompresses while the
// caller works on what it has read, until the caller calls Close. If r is a bufio.Reader with such a
// buffer, Plain uses it.
func Plain(r io.Reader) (io.ReadCloser, error) {
	b := bufio.NewReaderSize(r, BufferSize)
	var plain io.ReadCloser
	switch {
	case begins(b, gzipMagic):
		d, err := gzip.NewReader(b)
		if err != nil {
			return nil, damage(err)
		}
		plain = d
	case begins(b, zstdMagic):
		d, err := zstd.NewReader(b, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true))
		if err != nil {
			return nil, damage(err)
		}
		plain = d.IOReadCloser()
	case begins(b, bzip2Magic):
		plain = io.NopCloser(bzip2.NewReader(b))
	case begins(b, xzMagic):
		d, err := xz.NewReader(b)
		if err != nil {
			return nil, damage(err)
		}
		plain = io.NopCloser(d)
	default:
		return io.NopCloser(decode(b)), nil
	}
	out, in := io.Pipe()
	go func() {
		defer plain.Close()
		in.CloseWithError(damage(forward(in, plain, b)))
	}()
	return struct {
		io.Reader
		io.Closer
	}{decode(bufio.NewReader(out)), out}, nil
}

// damage says what an error of decompression means.
func damage(err error) error {
	switch {
	case err == nil || err == io.EOF:
		return err
	case errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("the compressed data is cut short")
	}
	return fmt.Errorf("cannot be decompressed: %w", err)
}

// decode decodes UTF-16 if the text begins with its byte-order mark.
func decode(b *bufio.Reader) io.Reader {
	if begins(b, utf16Little) || begins(b, utf16Big) {
		return unicode.UTF16(unicode.LittleEndian, unicode.ExpectBOM).NewDecoder().Reader(b)
	}
	return b
}

// forward copies what it decompresses from b. It writes large pieces, but before it could wait for
// input it writes what it has. A piece costs a change of goroutines.
func forward(w io.Writer, plain io.Reader, b *bufio.Reader) error {
	out := bufio.NewWriterSize(w, 256<<10)
	piece := make([]byte, 32<<10)
	for {
		n, err := plain.Read(piece)
		_, closed := out.Write(piece[:n])
		if err != nil || b.Buffered() == 0 {
			closed = out.Flush()
		}
		if err != nil || closed != nil {
			return err
		}
	}
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
