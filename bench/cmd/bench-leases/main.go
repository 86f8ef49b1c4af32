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
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/perf/benchfmt"

	"github.com/sortid/sortid/bench/internal/report"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("bench-leases: ")
	benchtime := flag.String("benchtime", "300x", "how many acquisitions and renewals of each store")
	stores := flag.String("stores", "../store", "the folder of the module with the stores")
	docs := flag.String("docs", "../docs", "the folder for benchmarks-leases.md")
	flag.Parse()

	var b benchmarks
	for _, args := range [][]string{
		{"-bench", "Acquire|Extend", "-benchtime", *benchtime},
		{"-bench", "Held", "-benchtime", "50x"},
		{"-bench", "Together", "-benchtime", "1x"},
		{"-bench", "Nodes", "-benchtime", "1x"},
	} {
		if err := b.run(*stores, args); err != nil {
			log.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(*docs, "benchmarks-leases.md"), b.document(), 0o644); err != nil {
		log.Fatal(err)
	}
}

// together names what the benchmark of that name measures beside the stores.
var together = strings.NewReplacer("-10000-held", ", 10,000 held", "-select", ", SELECT 1")

// benchmarks holds their results: by benchmark, by store, by unit.
type benchmarks struct {
	stores []string // in the order of their first results
	values map[[3]string]float64
}

func (b *benchmarks) run(stores string, args []string) error {
	cmd := exec.Command("go", append([]string{"test", "-run", "^$", "-timeout", "30m"}, append(args, ".")...)...)
	cmd.Dir, cmd.Stderr = stores, os.Stderr
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
		var of []string // the store, and what else the name has
		for _, p := range parts {
			if p[0] == '/' {
				of = append(of, string(p[1:]))
			}
		}
		store := strings.Join(of, "/")
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
		if b.values[[3]string{"Acquire", s, "ms/p50"}] == 0 {
			continue
		}
		fmt.Fprintf(&md, "| %s |", s)
		for _, name := range []string{"Acquire", "Extend"} {
			for _, unit := range []string{"ms/p50", "ms/p99"} {
				fmt.Fprintf(&md, " %.2f |", b.values[[3]string{name, s, unit}])
			}
		}
		md.WriteByte('\n')
	}
	fmt.Fprintf(&md, `
## Node IDs held

To acquire, half of the calls take no longer than this, in milliseconds, while 10, 1000 or 10,000 node IDs are held.

| Store | 10 | 1000 | 10,000 |
|---|--:|--:|--:|
`)
	for _, s := range b.stores {
		if b.values[[3]string{"Held", s + "/held=10", "ms/p50"}] == 0 {
			continue
		}
		fmt.Fprintf(&md, "| %s |", s)
		for _, held := range []string{"10", "1000", "10000"} {
			fmt.Fprintf(&md, " %.2f |", b.values[[3]string{"Held", s + "/held=" + held, "ms/p50"}])
		}
		md.WriteByte('\n')
	}
	fmt.Fprintf(&md, `
## A thousand nodes at once

They open a store each, all at the same moment, on a server with the number of connections that it allows by default, and
lease node IDs of 12 bits (of 16 where 10,000 are held). Seconds until all have one; connections that the server then had
at most, with those that it refused, and 2 seconds later; its processor time for each start; and, for one start by
itself, what the client sends in one piece (a request), and bytes in both directions. The nodes of bolt are in 8 processes.
"postgres, SELECT 1" is a thousand clients that only connect and ask for that: each connection is a process of the server.

| Store | Seconds | Connections | Later | Processor, ms a start | Requests a start | Bytes a start |
|---|--:|--:|--:|--:|--:|--:|
`)
	for _, s := range b.stores {
		of := func(unit string) float64 { return b.values[[3]string{"Together", s, unit}] }
		if of("s") == 0 {
			continue
		}
		fmt.Fprintf(&md, "| %s | %.1f |", together.Replace(s), of("s"))
		for _, unit := range []string{"connections", "connections-later", "ms-server-cpu/start", "requests/start", "B/start"} {
			if v, ok := b.values[[3]string{"Together", s, unit}]; ok {
				fmt.Fprintf(&md, " %s |", strconv.FormatFloat(math.Round(100*v)/100, 'f', -1, 64))
			} else {
				md.WriteString(" |")
			}
		}
		md.WriteByte('\n')
	}
	md.WriteString(`
## A thousand nodes over time

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
