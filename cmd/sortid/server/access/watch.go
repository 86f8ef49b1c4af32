package access

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

const watchInterval = time.Second

// RefusedFiles is a metric that shows which changed files are not used now. All servers of a
// process share it, because files are opened before servers are made.
var RefusedFiles = prometheus.NewGaugeVec(prometheus.GaugeOpts{
	Name: "sortid_file_refused",
	Help: "1 while a changed file of tokens or certificates is not used, otherwise 0.",
}, []string{"file"})

// A watcher reads files that change together, such as a certificate and its key. It compares
// their contents, because a changed file can have the same size and time.
type watcher struct {
	kind  string
	paths []string
	use   func(contents [][]byte) error

	contents [][]byte // of the files, when they were last read
	failure  string   // the error when they were last read
}

// watchFiles passes the contents of files to the function use, and again after each change until
// ctx is done. If the function fails, it must keep the previous contents. watchFiles returns the
// first call's error, and logs later errors, once for each change. Errors begin with the parameter
// kind, such as "certificate".
func watchFiles(ctx context.Context, log *slog.Logger, kind string, use func([][]byte) error,
	paths ...string) error {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	w := &watcher{kind: kind, paths: paths, use: use}
	if _, err := w.refresh(); err != nil {
		return err
	}
	refused := RefusedFiles.WithLabelValues(strings.Join(paths, " and "))
	refused.Set(0)
	go w.watch(ctx, log, refused)
	return nil
}

func (w *watcher) watch(ctx context.Context, log *slog.Logger, refused prometheus.Gauge) {
	ticker := time.NewTicker(watchInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		switch changed, err := w.refresh(); {
		case err != nil:
			refused.Set(1)
			log.Error("a changed file is not used; the previous contents stay in use",
				slog.Any("error", err))
		case changed:
			refused.Set(0)
			log.Info("a changed file is used", slog.Any("files", w.paths))
		}
	}
}

func (w *watcher) refresh() (changed bool, err error) {
	contents, failure := make([][]byte, len(w.paths)), ""
	for i, path := range w.paths {
		if contents[i], err = os.ReadFile(path); err != nil {
			contents, failure = nil, err.Error()
			break
		}
	}
	if failure == w.failure && slices.EqualFunc(contents, w.contents, bytes.Equal) {
		return false, nil
	}
	w.contents, w.failure = contents, failure
	if err != nil {
		return true, fmt.Errorf("%s: %w", w.kind, err)
	}
	if err := w.use(contents); err != nil {
		return true, fmt.Errorf("%s %s: %w", w.kind, strings.Join(w.paths, " and "), err)
	}
	return true, nil
}
