// The command bench-db measures keys and functions in databases, on servers that it starts,
// and writes docs/benchmarks-databases.md.
//
//	go run ./cmd/bench-db [-scale 0.2] [-results FILE]
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

	"github.com/sortid/sortid/bench/internal/databases"
	"github.com/sortid/sortid/bench/internal/report"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("bench-db: ")
	results := flag.String("results", "", "a `FILE` of results to write about, in place of measuring")
	scale := flag.Float64("scale", 1, "the part of the rows and of the buffer pool to measure with")
	docs := flag.String("docs", "../docs", "the folder for benchmarks-databases.md")
	flag.Parse()
	r, err := read(*results, *scale)
	if err == nil {
		err = write(r, *docs)
	}
	if err != nil {
		log.Fatal(err)
	}
}

// read returns the results in a file, or those of a measurement.
func read(name string, scale float64) (*databases.Results, error) {
	if name == "" {
		dir, err := os.MkdirTemp("", "bench-db-")
		if err != nil {
			return nil, err
		}
		defer os.RemoveAll(dir)
		name = filepath.Join(dir, "results.json")
		cmd := exec.Command("go", "test", "-count", "1", "-timeout", "0", "-v", "./internal/databases", "-measure", name, "-scale", fmt.Sprint(scale))
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
	r := &databases.Results{}
	return r, json.Unmarshal(b, r)
}

func key(k databases.Keys, name string) databases.Key {
	for _, k := range k.Keys {
		if k.Name == name {
			return k
		}
	}
	return databases.Key{}
}

func value(figures []databases.Figure, name string) float64 {
	for _, f := range figures {
		if f.Name == name {
			return f.Value
		}
	}
	return 0
}

// ours reports whether a name is that of one of the five formats.
func ours(name string) bool {
	return strings.ContainsAny(name, "68") || strings.HasPrefix(name, "euid")
}

func bold(name string) string {
	if ours(name) {
		return "**" + name + "**"
	}
	return name
}

func write(r *databases.Results, docs string) error {
	var md bytes.Buffer
	fmt.Fprintf(&md, `# Benchmarks in databases

Written by `+"`make bench-db`"+`; do not edit. PostgreSQL %s and MariaDB %s run on the same machine as the client,
and do not wait for the disk, so that the figures are of the databases and not of the disk.

Machine: %s, %d processors, %s/%s, %s.

## Ratios

| What | Ratio |
|---|--:|
`, r.Postgres.Version, r.MariaDB.Version, report.Processor(), runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, runtime.Version())
	uuid := value(r.Functions, "gen_random_uuid")
	call := func(name string) float64 { return value(r.Functions, name) / uuid }
	random, sorted, serial := key(r.Postgres, "UUIDv4"), key(r.Postgres, "scru128"), key(r.Postgres, "serial")
	for _, row := range []struct {
		what  string
		ratio float64
	}{
		{"PostgreSQL: WAL of UUIDv4 to that of scru128", random.Log / sorted.Log},
		{"PostgreSQL: index blocks read by UUIDv4 to those by scru128", random.Reads / max(sorted.Reads, 1)},
		{"PostgreSQL: rows a second of scru128 to those of UUIDv4", sorted.RowsPerSecond / random.RowsPerSecond},
		{"PostgreSQL: WAL of scru128 to that of bigserial", sorted.Log / serial.Log},
		{"MariaDB: rows a second of scru128 to those of UUIDv4", key(r.MariaDB, "scru128").RowsPerSecond / key(r.MariaDB, "UUIDv4").RowsPerSecond},
		{"Time of scru128_text to that of gen_random_uuid", call("scru128_text")},
		{"Time of scru128_parse to that of gen_random_uuid", call("scru128_parse")},
		{"Time of scru128_time to that of gen_random_uuid", call("scru128_time")},
		{"Time of scru128_first to that of gen_random_uuid", call("scru128_first")},
		{"Time of scru64_text to that of gen_random_uuid", call("scru64_text")},
		{"Time of scru128_new to that of gen_random_uuid", call("scru128_new")},
		{"Rows a second with DEFAULT scru128_new() to those with gen_random_uuid(), onto other rows", value(r.DefaultsOnto, "scru128_new") / value(r.DefaultsOnto, "gen_random_uuid")},
		{"The same, into an empty table", value(r.Defaults, "scru128_new") / value(r.Defaults, "gen_random_uuid")},
		{"Time of CopyFrom with pgxid to that with pgtype.UUID", value(r.Copy, "scru128.ID with pgxid") / value(r.Copy, "pgtype.UUID")},
	} {
		fmt.Fprintf(&md, "| %s | %.2f |\n", row.what, row.ratio)
	}

	charts := filepath.Join(docs, "benchmarks")
	chart := func(name, title string, bars []report.Bar) error {
		fmt.Fprintf(&md, "\n![%s](benchmarks/%s.svg)\n", title, name)
		return os.WriteFile(filepath.Join(charts, name+".svg"), report.Chart(title, bars), 0o644)
	}
	keys := func(k databases.Keys, file, database, log, how string) error {
		fmt.Fprintf(&md, `
## Primary keys in %s

%d rows of a key and 50 bytes added to %d others, %s, with a buffer pool of %d MB. The time includes making the keys.

| Key | Rows a second | %s, MB | Index, MB | Blocks read |
|---|--:|--:|--:|--:|
`, database, k.Rows, k.Old, how, k.Buffers, log)
		var bars []report.Bar
		for _, k := range k.Keys {
			name := k.Name
			ours := strings.HasPrefix(name, "scru")
			if ours {
				name = "**" + name + "**"
			}
			fmt.Fprintf(&md, "| %s | %.0f | %.0f | %.0f | %.0f |\n", name, k.RowsPerSecond, k.Log, k.Index, k.Reads)
			bars = append(bars, report.Bar{Name: k.Name, Value: k.RowsPerSecond / 1000, Strong: ours})
		}
		return chart(file, database+": thousand rows a second", bars)
	}
	figures := func(list []databases.Figure, unit string) (bars []report.Bar) {
		fmt.Fprintf(&md, "| | %s |\n|---|--:|\n", unit)
		for _, f := range list {
			fmt.Fprintf(&md, "| %s | %.0f |\n", bold(f.Name), f.Value)
			bars = append(bars, report.Bar{Name: f.Name, Value: f.Value, Strong: ours(f.Name)})
		}
		return bars
	}
	if err := keys(r.Postgres, "postgres-keys", "PostgreSQL", "WAL", "with COPY of 10,000 at a time and a checkpoint\nfour times"); err != nil {
		return err
	}
	md.WriteString("\nBlocks read are those of the index that were not in PostgreSQL's buffers.\n")
	if err := keys(r.MariaDB, "mariadb-keys", "MariaDB", "Redo log", "with LOAD DATA of 10,000 at a time"); err != nil {
		return err
	}
	md.WriteString("\nThe index holds the rows, too.\n\n## Functions in PostgreSQL\n\nNanoseconds a call, the best of several rounds.\n\n")
	if err := chart("postgres-functions", "PostgreSQL: ns a call", figures(r.Functions, "ns a call")); err != nil {
		return err
	}
	fmt.Fprintf(&md, "\n## Inserting with a DEFAULT\n\nRows a second, 10,000 a statement, into a table with a primary key: into an empty one (the best of several\n"+
		"rounds), and into one with %d rows, whose index does not fit into the buffer pool of %d MB.\n\n", r.Postgres.Old, r.Postgres.Buffers)
	md.WriteString("| | empty | with rows |\n|---|--:|--:|\n")
	for _, f := range r.Defaults {
		fmt.Fprintf(&md, "| %s | %.0f | %.0f |\n", bold(f.Name), f.Value, value(r.DefaultsOnto, f.Name))
	}
	md.WriteString("\n## CopyFrom\n\nNanoseconds a row of one column.\n\n")
	figures(r.Copy, "ns a row")
	return os.WriteFile(filepath.Join(docs, "benchmarks-databases.md"), md.Bytes(), 0o644)
}
