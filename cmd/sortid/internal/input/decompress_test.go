package input

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"

	"github.com/sortid/sortid/internal/check"
)

func compressed(t *testing.T, text string) map[string][]byte {
	var g, z, x bytes.Buffer
	gw, xw := gzip.NewWriter(&g), check.Must(xz.NewWriter(&x))(t)
	zw := check.Must(zstd.NewWriter(&z))(t)
	for _, w := range []io.WriteCloser{gw, zw, xw} {
		check.Must(io.WriteString(w, text))(t)
		check.OK(t, w.Close())
	}
	return map[string][]byte{"plain": []byte(text), "gzip": g.Bytes(), "zstd": z.Bytes(),
		"xz": x.Bytes()}
}

func TestPlain(t *testing.T) {
	for _, text := range []string{"", "x", "abc", strings.Repeat("0372ijojuxuhjsfkeryi2mrtm\n",
		100_000)} {
		for name, data := range compressed(t, text) {
			for how, r := range map[string]io.Reader{"whole": bytes.NewReader(data),
				"bytes": iotest.OneByteReader(bytes.NewReader(data))} {
				d, err := Plain(r)
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				got, err := io.ReadAll(d)
				if err != nil || string(got) != text {
					t.Errorf("%s, %s: %d bytes of %d, %v", name, how, len(got), len(text), err)
				}
			}
			// Like gzip and zstd, Plain reads concatenated members.
			d, err := Plain(io.MultiReader(bytes.NewReader(data), bytes.NewReader(data)))
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if got, err := io.ReadAll(d); err != nil || string(got) != text+text {
				t.Errorf("%s twice: %d bytes of %d, %v", name, len(got), 2*len(text), err)
			}
		}
	}
}

// UTF-16 is decoded, also in a compressed file, and bzip2 is decompressed.
func TestPlainText(t *testing.T) {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	check.Must(io.WriteString(w, "\xff\xfe0\x00\xe4\x00\n\x00"))(t)
	check.OK(t, w.Close())
	for in, want := range map[string]string{
		"\xff\xfe0\x00\xe4\x00\n\x00": "0ä\n", "\xfe\xff\x000\x00\xe4\x00\n": "0ä\n",
		packed.String(): "0ä\n", "BZh91AY or not": "BZh91AY or not", "\xff": "\xff",
		// From the program bzip2.
		"BZh91AY&SY\x3c\x85\x41\x12\x00\x00\x01\x41\x00\x00\x10\x30" +
			"\x00\x20\x00\x30\xcc\x0c\x7a\x82\x71\x77\x24\x53\x85\x09\x03\xc8\x54\x11\x20": "a\nb\n",
	} {
		d := check.Must(Plain(strings.NewReader(in)))(t)
		if got, err := io.ReadAll(d); err != nil || string(got) != want {
			t.Errorf("%q: %q, %v, want %q", in, got, err, want)
		}
	}
}

func TestCutShort(t *testing.T) {
	for name, data := range compressed(t, strings.Repeat("0372ijojuxuhjsfkeryi2mrtm\n", 1000)) {
		if name == "plain" {
			continue
		}
		d := check.Must(Plain(bytes.NewReader(data[:len(data)-5])))(t)
		if _, err := io.ReadAll(d); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// What a compressor flushes can be read at once, and Close ends a read that waits.
func TestPlainPrompt(t *testing.T) {
	for name, compressor := range map[string]func(io.Writer) (flusher, error){
		"gzip": func(w io.Writer) (flusher, error) { return gzip.NewWriter(w), nil },
		"zstd": func(w io.Writer) (flusher, error) { return zstd.NewWriter(w) },
	} {
		in, out := io.Pipe()
		go func() {
			w, err := compressor(out)
			for range 2 {
				if err == nil {
					_, err = io.WriteString(w, "line\n")
				}
				if err == nil {
					err = w.Flush()
				}
			}
			if err != nil {
				out.CloseWithError(err)
			}
		}()
		plain := check.Must(Plain(in))(t)
		got := make([]byte, 10)
		if _, err := io.ReadFull(plain, got); err != nil || string(got) != "line\nline\n" {
			t.Errorf("%s: %q, %v", name, got, err)
		}
		closed := make(chan error)
		go func() {
			_, err := plain.Read(got)
			closed <- err
		}()
		check.OK(t, plain.Close())
		if err := <-closed; err == nil {
			t.Errorf("%s: a read after Close: no error", name)
		}
		in.Close()
	}
}

type flusher interface {
	io.Writer
	Flush() error
}
