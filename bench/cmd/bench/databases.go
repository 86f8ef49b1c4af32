package main

import (
	"fmt"
	"io"
	"strconv"
)

func measureDatabases(lines io.Writer, o options) error {
	rounds, scale := strconv.Itoa(o.count), fmt.Sprint(o.scale)
	return testServers(lines, "databases", "-rounds", rounds, "-scale", scale)
}

func writeDatabases(d *document, _ options) {
	d.printf(`## Databases

`+"`make bench-db`"+` writes this part. PostgreSQL %s and MariaDB %s run on the client's machine.
They do not wait for the disk, so the figures do not depend on it.

Machine: %s.
`, d.Config["postgres"], d.Config["mariadb"], machine())
	const postgres, mariadb = "KeysPostgres", "KeysMariaDB"
	// A call's time is a query with it, less one without.
	without := d.Value("Baseline", "column", "ns/op")
	call := func(function string) (float64, bool) {
		return max(d.Value("Functions", function, "ns/op")-without, 0), true
	}
	empty, onto := d.of("Defaults", "rows/s"), d.of("DefaultsOnto", "rows/s")
	copied := d.of("Copy", "ns/row")
	d.keys(postgres, "postgres-keys", "PostgreSQL", "WAL",
		"with COPY of 10,000 at a time, and with four\ncheckpoints")
	d.WriteString("\nBlocks read are blocks of the index that were not in PostgreSQL's buffers.\n")
	d.keys(mariadb, "mariadb-keys", "MariaDB", "Redo log", "with LOAD DATA of 10,000 at a time")
	d.WriteString(`
The index also holds the rows.

### Functions in PostgreSQL

`)
	d.table("", d.Rows("Functions"), bold, column{"ns a call", "%.0f", call})
	title := "PostgreSQL: ns a call"
	d.chart("postgres-functions", title, title, d.Rows("Functions"), call)
	d.printf(`
### Inserting with a DEFAULT

The table shows rows a second. Each statement inserts 10,000 rows into a table with a primary key.
One table starts empty. The other has %.0f rows, and its index is larger than the buffer pool of
%.0f MB.

`, d.Value("Sizes", postgres, "old"), d.Value("Sizes", postgres, "MB"))
	d.table("", d.Rows("Defaults"), bold,
		column{"empty", "%.0f", empty}, column{"with rows", "%.0f", onto})
	d.WriteString("\n### CopyFrom\n\nThe table shows nanoseconds for a row of one column.\n\n")
	d.table("", d.Rows("Copy"), bold, column{"ns a row", "%.0f", copied})
}

func (d *document) keys(benchmark, file, database, log, how string) {
	size := func(unit string) float64 { return d.Value("Sizes", benchmark, unit) }
	d.printf(`
### Primary keys in %s

%.0f rows of a key and 50 bytes are added to %.0f others, %s.
The buffer pool has %.0f MB. The time includes making the keys.

`, database, size("rows"), size("old"), how, size("MB"))
	perSecond := d.of(benchmark, "rows/s")
	d.table("Key", d.Rows(benchmark), bold,
		column{"Rows a second", "%.0f", perSecond},
		column{log + ", MB", "%.0f", d.of(benchmark, "log-MB")},
		column{"Index, MB", "%.0f", d.of(benchmark, "index-MB")},
		column{"Blocks read", "%.0f", d.of(benchmark, "reads")})
	title := database + ": thousand rows a second"
	d.chart(file, title, title, d.Rows(benchmark), perSecond.times(1e-3))
}
