package nodeid

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/sortid/sortid/cmd/sortid/internal/console"
	"github.com/sortid/sortid/internal/check"
)

// If a program has a log, the message about a slow store is a line of it.
func TestSlowStore(t *testing.T) {
	silent := check.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer silent.Close()
	defer func(d time.Duration) { slow = d }(slow)
	slow = time.Millisecond
	ctx, cancel := context.WithTimeout(t.Context(), time.Second/2)
	defer cancel()
	log := make(writes, 9)
	var stderr bytes.Buffer
	o := &Options{URL: "postgres://user@" + silent.Addr().String() + "/ids",
		Log: slog.New(slog.NewJSONHandler(log, nil))}
	if _, err := Open(ctx, &console.Console{Err: &stderr}, o); err == nil {
		t.Fatal("a silent store was opened")
	}
	var line struct{ Msg string }
	text := <-log
	if err := json.Unmarshal(text, &line); err != nil || stderr.Len() > 0 ||
		!strings.HasPrefix(line.Msg, "no answer from postgres://") {
		t.Errorf("%v: log %q, standard error %q", err, text, &stderr)
	}
}

// A writes receives a copy of each write.
type writes chan []byte

func (w writes) Write(b []byte) (int, error) {
	w <- bytes.Clone(b)
	return len(b), nil
}
