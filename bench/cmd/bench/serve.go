package main

import (
	"io"
	"strconv"
	"strings"
)

func measureServe(lines io.Writer, o options) error {
	rounds := strconv.Itoa(o.count)
	return testServers(lines, "service", "-rounds", rounds, "-time", o.benchtime)
}

func writeServe(d *document, o options) {
	d.printf(`## The service

`+"`make bench-serve`"+` writes this part. All servers and clients share the processors of one machine.
`+"`sortid serve`"+` has a file as its store and writes its log to a file; its client is fasthttp. The
client of Redis %s is go-redis, and the client of PostgreSQL %s is pgx. Redis keeps nothing on
the disk. For comparison, a net/http server gives an empty answer and writes no log. The best of
five rounds counts.

Machine: %s.

### Ratios

IDs a second of the service, divided by IDs a second of the other. Each request to the other is for
one ID.

| What | One connection | 64 connections |
|---|--:|--:|
`, d.Config["redis"], d.Config["postgres"], machine())
	sources := d.Rows("Connections1")
	for _, other := range sources {
		for _, own := range sources {
			if ours(other) || !ours(own) {
				continue
			}
			ratio := func(benchmark string) float64 {
				return d.Value(benchmark, own, "ids/s") / d.Value(benchmark, other, "ids/s")
			}
			d.printf("| %s to %s | %.2f | %.2f |\n", own, other,
				ratio("Connections1"), ratio("Connections64"))
		}
	}
	for _, c := range []struct{ benchmark, title, file string }{
		{"Connections1", "One connection", "serve-1"},
		{"Connections64", "64 connections", "serve-64"},
	} {
		d.printf("\n### %s\n\n", c.title)
		d.table("", d.Rows(c.benchmark), bold,
			column{"IDs a second", "%.0f", d.of(c.benchmark, "ids/s")},
			column{"Half of the requests, µs", "%.0f", d.of(c.benchmark, "µs/p50")},
			column{"99 %, µs", "%.0f", d.of(c.benchmark, "µs/p99")})
		var single []string
		for _, row := range d.Rows(c.benchmark) {
			if !strings.HasSuffix(row, " a request") {
				single = append(single, row)
			}
		}
		title := c.title + ": thousand requests a second"
		d.chart(c.file, title, title, single, d.of(c.benchmark, "ids/s").times(1e-3))
	}
	d.printf(`
### Memory

The most resident memory of the server: %.0f MB before any request, %.0f MB while %.0f connections
asked for 100 IDs each.

### A store that fails and comes back

PostgreSQL is killed while the server has leases of %.0f s from it. A client asks for one scru64 ID
and one scru128 ID in turn.

| | |
|---|--:|
`, d.Value("Memory", "idle", "MB"), d.Value("Memory", "used", "MB"),
		d.Value("Memory", "used", "connections"), d.Value("Away", "lease", "s"))
	for _, row := range []struct{ what, format, row, unit string }{
		{"the store was away for", "%.1f s", "store", "s"},
		{"scru64 IDs were made without it for", "%.1f s", "scru64", "s"},
		{"requests for scru64 answered with 503 after that", "%.0f", "scru64", "unavailable"},
		{"requests that failed otherwise, or for scru128", "%.0f", "other", "failures"},
		{"from the store's return to the next scru64 ID", "%.2f s", "return", "s"},
		{"99 % of requests before, no longer than", "%.1f ms", "before", "ms/p99"},
		{"while the store is away", "%.1f ms", "while", "ms/p99"},
		{"after it came back", "%.1f ms", "after", "ms/p99"},
	} {
		d.printf("| %s | "+row.format+" |\n", row.what, d.Value("Away", row.row, row.unit))
	}
}
