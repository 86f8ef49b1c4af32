package main

import (
	"cmp"
	"fmt"
	"io"
	"strconv"
)

func measureDatabases(lines io.Writer, o options) error {
	return testServers(lines, "databases", "-rounds", strconv.Itoa(o.count), "-scale", fmt.Sprint(o.scale))
}

func writeDatabases(d *document, _ options) {
	d.printf(`# Benchmarks in databases

Written by `+"`make bench-db`"+`; do not edit. PostgreSQL %s and MariaDB %s run on the same machine as the client,
and do not wait for the disk, so that the figures are of the databases and not of the disk.

Machine: %s.

## Ratios

| What | Ratio |
|---|--:|
`, d.Config["postgres"], d.Config["mariadb"], machine())
	const postgres, mariadb = "KeysPostgres", "KeysMariaDB"
	// A call takes what a query with it takes longer than one without.
	call := func(function string) (float64, bool) {
		return max(d.Value("Functions", function, "ns/op")-d.Value("Baseline", "column", "ns/op"), 0), true
	}
	ratio := func(what string, value func(string) (float64, bool), of, to string) {
		a, _ := value(of)
		b, _ := value(to)
		d.printf("| %s | %.2f |\n", what, a/cmp.Or(b, 1))
	}
	log := d.of(postgres, "log-MB")
	ratio("PostgreSQL: WAL of UUIDv4 to that of scru128", log, "UUIDv4", "scru128")
	ratio("PostgreSQL: index blocks read by UUIDv4 to those by scru128", d.of(postgres, "reads"), "UUIDv4", "scru128")
	ratio("PostgreSQL: rows a second of scru128 to those of UUIDv4", d.of(postgres, "rows/s"), "scru128", "UUIDv4")
	ratio("PostgreSQL: WAL of scru128 to that of bigserial", log, "scru128", "serial")
	ratio("MariaDB: rows a second of scru128 to those of UUIDv4", d.of(mariadb, "rows/s"), "scru128", "UUIDv4")
	for _, name := range []string{"scru128_text", "scru128_parse", "scru128_time", "scru128_first", "scru64_text", "scru128_new"} {
		ratio("Time of "+name+" to that of gen_random_uuid", call, name, "gen_random_uuid")
	}
	ratio("Rows a second with DEFAULT scru128_new() to those with gen_random_uuid(), onto other rows", d.of("DefaultsOnto", "rows/s"), "scru128_new", "gen_random_uuid")
	ratio("The same, into an empty table", d.of("Defaults", "rows/s"), "scru128_new", "gen_random_uuid")
	ratio("Time of CopyFrom with pgxid to that with pgtype.UUID", d.of("Copy", "ns/row"), "scru128.ID with pgxid", "pgtype.UUID")

	d.keys(postgres, "postgres-keys", "PostgreSQL", "WAL", "with COPY of 10,000 at a time and a checkpoint\nfour times")
	d.WriteString("\nBlocks read are those of the index that were not in PostgreSQL's buffers.\n")
	d.keys(mariadb, "mariadb-keys", "MariaDB", "Redo log", "with LOAD DATA of 10,000 at a time")
	d.WriteString("\nThe index holds the rows, too.\n\n## Functions in PostgreSQL\n\nNanoseconds a call, the best of several rounds.\n\n")
	d.table("", d.Rows("Functions"), bold, column{"ns a call", "%.0f", call})
	title := "PostgreSQL: ns a call"
	d.chart("postgres-functions", title, title, d.Rows("Functions"), call)
	d.printf(`
## Inserting with a DEFAULT

Rows a second, 10,000 a statement, into a table with a primary key: into an empty one (the best of several
rounds), and into one with %.0f rows, whose index does not fit into the buffer pool of %.0f MB.

`, d.Value("Sizes", postgres, "old"), d.Value("Sizes", postgres, "MB"))
	d.table("", d.Rows("Defaults"), bold,
		column{"empty", "%.0f", d.of("Defaults", "rows/s")}, column{"with rows", "%.0f", d.of("DefaultsOnto", "rows/s")})
	d.WriteString("\n## CopyFrom\n\nNanoseconds a row of one column.\n\n")
	d.table("", d.Rows("Copy"), bold, column{"ns a row", "%.0f", d.of("Copy", "ns/row")})
}

// keys writes about primary keys.
func (d *document) keys(benchmark, file, database, log, how string) {
	size := func(unit string) float64 { return d.Value("Sizes", benchmark, unit) }
	d.printf(`
## Primary keys in %s

%.0f rows of a key and 50 bytes added to %.0f others, %s, with a buffer pool of %.0f MB. The time includes making the keys.

`, database, size("rows"), size("old"), how, size("MB"))
	perSecond := d.of(benchmark, "rows/s")
	d.table("Key", d.Rows(benchmark), bold,
		column{"Rows a second", "%.0f", perSecond},
		column{log + ", MB", "%.0f", d.of(benchmark, "log-MB")},
		column{"Index, MB", "%.0f", d.of(benchmark, "index-MB")},
		column{"Blocks read", "%.0f", d.of(benchmark, "reads")})
	title := database + ": thousand rows a second"
	d.chart(file, title, title, d.Rows(benchmark), times(1e-3, perSecond))
}
