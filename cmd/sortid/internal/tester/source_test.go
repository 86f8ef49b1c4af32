package tester

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/klauspost/compress/zstd"

	"github.com/sortid/sortid/cmd/sortid/internal/console"
	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/internal/check"
	"github.com/sortid/sortid/verify"
	"github.com/sortid/sortid/verify/duplicates"
)

func TestSourceClosedWhileRead(t *testing.T) {
	var data bytes.Buffer
	w := check.Must(zstd.NewWriter(&data))(t)
	w.Write(bytes.Repeat([]byte("0372ijojuxuhjsfkeryi2mrtm\n"), 200_000))
	w.Close()
	name := filepath.Join(t.TempDir(), "ids")
	check.OK(t, os.WriteFile(name, data.Bytes(), 0o600))
	v := &Tester{Console: &console.Console{}}
	for range 20 {
		in := check.Must(v.source(name).read())(t)
		var wg sync.WaitGroup
		begun := make(chan struct{})
		wg.Go(func() {
			b := make([]byte, 100_000)
			in.Read(b)
			close(begun)
			for {
				if _, err := in.Read(b); err != nil {
					return
				}
			}
		})
		<-begun
		in.Close()
		wg.Wait()
	}
}

// The guess reads whole lines, however many there are and however they arrive.
func TestGuessOfWholeLines(t *testing.T) {
	for _, f := range format.All() {
		if !verify.Knows(f) || testing.Short() && !f.Generates() {
			continue
		}
		encoding := f.Encodings()[0]
		id := check.Must(f.Read(f.Example()))(t)
		var all []string
		for i := range uint64(head) / 4 {
			next := id.ID.Words()
			next[len(next)-1] += i
			if made, err := f.FromWords(next); err == nil {
				all = append(all, id.Prefix+made.In(encoding))
			}
		}
		want := verify.Detect([]byte(strings.Join(all[:500], "\n") + "\n"))
		step := len(all[0]) + 1
		for _, size := range []int{4096, head, 2 * head} {
			for n := size/step - 1; n <= size/step+2; n++ {
				text := strings.Join(all[:n], "\n") + "\n"
				for name, r := range map[string]io.Reader{"whole": strings.NewReader(text),
					"halves": iotest.HalfReader(strings.NewReader(text)),
					"odd":    &oddReader{strings.NewReader(text), 997},
				} {
					s := &source{in: duplicates.Source{Name: name, Once: true,
						Open: func() (io.ReadCloser, error) { return io.NopCloser(r), nil }}}
					got, err := s.guess()
					if err != nil || got.Format != want.Format || got.Integers != want.Integers {
						t.Fatalf("%s, %d lines, %s: %+v, %v, want %+v", f.Name(), n, name, got, err, want)
					}
					in, _ := s.read()
					if rest, err := io.ReadAll(in); err != nil || string(rest) != text {
						t.Fatalf("%s: after the guess, %d bytes are left of %d: %v", f.Name(),
							len(rest), len(text), err)
					}
				}
			}
		}
	}
}

// An oddReader reads at most n bytes at once.
type oddReader struct {
	r io.Reader
	n int
}

func (o *oddReader) Read(b []byte) (int, error) { return o.r.Read(b[:min(len(b), o.n)]) }
