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
The service has a file as its store, and writes its log to a file. Redis %s keeps nothing on the
disk. The net/http server gives an empty answer and writes no log. The clients are fasthttp,
go-redis and, for PostgreSQL %s, pgx. The best of %d rounds counts. The columns 99 %%
show the time that 99 %% of the requests do not exceed.

Machine: %s.

`, d.Config["redis"], d.Config["postgres"], o.count, machine())
	var columns []column
	for _, c := range []struct{ benchmark, title string }{
		{"Connections1", "One connection"}, {"Connections64", "64 connections"},
	} {
		columns = append(columns,
			column{c.title + ": IDs a second", "%.0f", d.of(c.benchmark, "ids/s")},
			column{"Median, µs", "%.0f", d.of(c.benchmark, "µs/p50")},
			column{"99 %, µs", "%.0f", d.of(c.benchmark, "µs/p99")})
	}
	rows := d.Rows("Connections1")
	d.table("", rows, bold, columns...)
	var single []string
	for _, row := range rows {
		if !strings.HasSuffix(row, " a request") {
			single = append(single, row)
		}
	}
	title := "64 connections: thousand requests a second"
	d.chart("serve-64", title, title, single, d.of("Connections64", "ids/s").times(1e-3))
	d.printf(`
### Memory

The server had at most %.0f MB of resident memory before any request, and %.0f MB while %.0f
connections asked for 100 IDs each.

### A store that fails and comes back

PostgreSQL is killed while the server has leases of %.0f s from it. A client asks for scru64 and
scru128 IDs in turn.

| | |
|---|--:|
`, d.Value("Memory", "idle", "MB"), d.Value("Memory", "used", "MB"),
		d.Value("Memory", "used", "connections"), d.Value("Away", "lease", "s"))
	for _, row := range []struct{ what, format, row, unit string }{
		{"the store was unreachable for", "%.1f s", "store", "s"},
		{"scru64 IDs were made without it for", "%.1f s", "scru64", "s"},
		{"requests for scru64 answered with 503 after that", "%.0f", "scru64", "unavailable"},
		{"requests that failed otherwise, or for scru128", "%.0f", "other", "failures"},
		{"from the store's return to the next scru64 ID", "%.2f s", "return", "s"},
		{"99 % of requests before that took at most", "%.1f ms", "before", "ms/p99"},
		{"99 % while the store was unreachable", "%.1f ms", "while", "ms/p99"},
		{"99 % after its return", "%.1f ms", "after", "ms/p99"},
	} {
		d.printf("| %s | "+row.format+" |\n", row.what, d.Value("Away", row.row, row.unit))
	}
}
