package tester

import (
	"bytes"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/sortid/sortid/cmd/sortid/internal/console"
)

func TestSourceClosedWhileRead(t *testing.T) {
	var data bytes.Buffer
	w, err := zstd.NewWriter(&data)
	if err != nil {
		t.Fatal(err)
	}
	w.Write(bytes.Repeat([]byte("0372ijojuxuhjsfkeryi2mrtm\n"), 200_000))
	w.Close()
	name := filepath.Join(t.TempDir(), "ids")
	if err := os.WriteFile(name, data.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	v := &Tester{Console: &console.Console{}}
	for range 20 {
		in, err := v.source(name).read()
		if err != nil {
			t.Fatal(err)
		}
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
