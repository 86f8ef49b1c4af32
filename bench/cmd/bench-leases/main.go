// The command bench-leases runs the benchmarks of the stores of leases, on servers that
// it starts, prints what they say and writes docs/benchmarks-leases.md.
//
//	go run ./cmd/bench-leases [-benchtime 300x]
package main

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/perf/benchfmt"

	"github.com/sortid/sortid/bench/internal/report"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("bench-leases: ")
	benchtime := flag.String("benchtime", "300x", "how many acquisitions and renewals of each store")
	service := flag.String("service", "../service", "the folder of the module with the stores")
	docs := flag.String("docs", "../docs", "the folder for benchmarks-leases.md")
	flag.Parse()

	var b benchmarks
	for _, args := range [][]string{
		{"-bench", "Acquire|Extend", "-benchtime", *benchtime},
		{"-bench", "Nodes", "-benchtime", "1x"},
	} {
		if err := b.run(*service, args); err != nil {
			log.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(*docs, "benchmarks-leases.md"), b.document(), 0o644); err != nil {
		log.Fatal(err)
	}
}

// benchmarks holds their results: by benchmark, by store, by unit.
type benchmarks struct {
	stores []string // in the order of their first results
	values map[[3]string]float64
}

func (b *benchmarks) run(service string, args []string) error {
	cmd := exec.Command("go", append([]string{"test", "-run", "^$", "-timeout", "30m"}, append(args, "./store")...)...)
	cmd.Dir, cmd.Stderr = service, os.Stderr
	var out bytes.Buffer
	cmd.Stdout = io.MultiWriter(&out, os.Stdout)
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w", cmd, err)
	}
	if b.values == nil {
		b.values = map[[3]string]float64{}
	}
	r := benchfmt.NewReader(&out, "go test")
	for r.Scan() {
		res, ok := r.Result().(*benchfmt.Result)
		if !ok {
			continue
		}
		name, parts := res.Name.Parts()
		store := strings.TrimPrefix(string(parts[0]), "/")
		if !slices.Contains(b.stores, store) {
			b.stores = append(b.stores, store)
		}
		for _, v := range res.Values {
			b.values[[3]string{string(name), store, v.Unit}] = v.Value
		}
	}
	return r.Err()
}

func (b *benchmarks) document() []byte {
	var md bytes.Buffer
	fmt.Fprintf(&md, `# Benchmarks of leases

Written by `+"`make bench-leases`"+`; do not edit. Each store's server is on the same machine as the clients, with the
settings under which it forgets nothing, but for NATS, which syncs its files later if it is not told otherwise. What
the disk takes to make a change durable is in these figures, and differs from disk to disk.

Machine: %s, %d processors, %s/%s, %s.

## Latency

In milliseconds: half of the calls, and 99 of 100, take no longer. To acquire is to read the realm, choose among a
hundred node IDs in use, and commit; to extend is to commit and to read the realm once more. Generators wait for
neither.

| Store | Acquire, half | 99 %% | Extend, half | 99 %% |
|---|--:|--:|--:|--:|
`, report.Processor(), runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, runtime.Version())
	for _, s := range b.stores {
		fmt.Fprintf(&md, "| %s |", s)
		for _, name := range []string{"Acquire", "Extend"} {
			for _, unit := range []string{"ms/p50", "ms/p99"} {
				fmt.Fprintf(&md, " %.2f |", b.values[[3]string{name, s, unit}])
			}
		}
		md.WriteByte('\n')
	}
	md.WriteString(`
## A thousand nodes

They start over half a minute, each with a connection of its own, and are then watched for a minute at default settings: a
window of 60 s, renewed at half. To start is to connect, to have the store checked and to acquire, in milliseconds.
Processor time is that of the server and of all nodes together, in percent of one processor. The last two columns are
the same times a hundred, for a hundred thousand nodes; nobody ran these. A longer window means fewer renewals,
in proportion.

| Store | Start, half | 99 % | Requests a second | Processor | 100,000 nodes: requests a second | Processors |
|---|--:|--:|--:|--:|--:|--:|
`)
	for _, s := range b.stores {
		of := func(unit string) float64 { return b.values[[3]string{"Nodes", s, unit}] }
		if of("requests/s") != 0 {
			fmt.Fprintf(&md, "| %s | %.1f | %.1f | %.0f | %.1f %% | %.0f | %.1f |\n", s,
				of("ms/p50"), of("ms/p99"), of("requests/s"), of("%cpu"), 100*of("requests/s"), of("%cpu"))
		}
	}
	return md.Bytes()
}
