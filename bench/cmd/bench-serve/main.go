// The command bench-serve measures "sortid serve" beside Redis and PostgreSQL, on servers
// that it starts, and writes docs/benchmarks-serve.md.
//
//	go run ./cmd/bench-serve [-results FILE]
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/sortid/sortid/bench/internal/report"
	"github.com/sortid/sortid/bench/internal/service"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("bench-serve: ")
	results := flag.String("results", "", "a `FILE` of results to write about, in place of measuring")
	docs := flag.String("docs", "../docs", "the folder for benchmarks-serve.md")
	flag.Parse()
	r, err := read(*results)
	if err == nil {
		err = write(r, *docs)
	}
	if err != nil {
		log.Fatal(err)
	}
}

// read returns the results in a file, or those of a measurement.
func read(name string) (*service.Results, error) {
	if name == "" {
		dir, err := os.MkdirTemp("", "bench-serve-")
		if err != nil {
			return nil, err
		}
		defer os.RemoveAll(dir)
		name = filepath.Join(dir, "results.json")
		cmd := exec.Command("go", "test", "-count", "1", "-timeout", "0", "-v", "./internal/service", "-measure", name)
		cmd.Env = append(os.Environ(), "CI=1") // so that a server that is not installed is an error
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		if err := cmd.Run(); err != nil {
			return nil, fmt.Errorf("%s: %w", cmd, err)
		}
	}
	b, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	r := &service.Results{}
	return r, json.Unmarshal(b, r)
}

func write(r *service.Results, docs string) error {
	var md bytes.Buffer
	fmt.Fprintf(&md, `# Benchmarks of the service

Written by `+"`make bench-serve`"+`; do not edit. All servers and clients are on one machine and share its processors.
`+"`sortid serve`"+` has a file as its store and writes its log to a file. Its client is fasthttp's, that of Redis %s is go-redis, that
of PostgreSQL %s is pgx. Redis keeps nothing on the disk. Beside them is a server of net/http that always gives the same short
answer, without a log: what any service on net/http takes. Of five rounds, the best counts.

Machine: %s, %d processors, %s/%s, %s.

## Ratios

IDs a second of the service to those of the other, where each request to the other is for one ID.

| What | One connection | 64 connections |
|---|--:|--:|
`, r.Redis, r.Postgres, report.Processor(), runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, runtime.Version())
	for _, other := range []string{service.Redis, service.Postgres, service.Empty} {
		for _, ours := range []string{service.SCRU64, service.SCRU128, service.Batches64, service.Batches128} {
			ratio := func(connections int) float64 {
				return r.Find(ours, connections).Rate / r.Find(other, connections).Rate
			}
			fmt.Fprintf(&md, "| %s to %s | %.2f | %.2f |\n", ours, other, ratio(1), ratio(64))
		}
	}

	for _, c := range []struct {
		connections int
		title, file string
	}{
		{1, "One connection", "serve-1"},
		{64, "64 connections", "serve-64"},
	} {
		fmt.Fprintf(&md, "\n## %s\n\n| | IDs a second | Half of the requests, µs | 99 %%, µs |\n|---|--:|--:|--:|\n", c.title)
		var bars []report.Bar
		for _, run := range r.Runs {
			if run.Connections != c.connections {
				continue
			}
			name := run.Source
			ours := strings.HasPrefix(name, "scru")
			if ours {
				name = "**" + name + "**"
			}
			fmt.Fprintf(&md, "| %s | %.0f | %.0f | %.0f |\n", name, run.Rate, 1000*run.Half, 1000*run.P99)
			if run.Source != service.Batches64 && run.Source != service.Batches128 {
				bars = append(bars, report.Bar{Name: run.Source, Value: run.Rate / 1000, Strong: ours})
			}
		}
		title := c.title + ": thousand requests a second"
		fmt.Fprintf(&md, "\n![%s](benchmarks/%s.svg)\n", title, c.file)
		if err := os.WriteFile(filepath.Join(docs, "benchmarks", c.file+".svg"), report.Chart(title, bars), 0o644); err != nil {
			return err
		}
	}
	fmt.Fprintf(&md, `
## Memory

The most resident memory of the server: %.0f MB before any request, %.0f MB with %d connections that made requests for 100 IDs at once.

## A store that fails and comes back

PostgreSQL is killed while the server has leases of %.0f s from it. A client asks for one scru64 and one scru128 ID in turn.

| | |
|---|--:|
| the store was away for | %.1f s |
| scru64 IDs were made without it for | %.1f s |
| requests for scru64 answered with 503 after that | %d |
| requests that failed otherwise, or for scru128 | %d |
| from the store's return to the next scru64 ID | %.2f s |
| 99 %% of requests before, no longer than | %.1f ms |
| while the store is away | %.1f ms |
| after it came back | %.1f ms |
`, r.Idle, r.Megabytes, r.Connections, r.Away.Window, r.Away.Down, r.Away.Goes, r.Away.Unavailable, r.Away.Failures, r.Away.Back,
		r.Away.P99[0], r.Away.P99[1], r.Away.P99[2])
	return os.WriteFile(filepath.Join(docs, "benchmarks-serve.md"), md.Bytes(), 0o644)
}
