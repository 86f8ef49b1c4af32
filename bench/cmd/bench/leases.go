package main

import (
	"io"
	"math"
	"strings"
)

func measureLeases(lines io.Writer, o options) error {
	for _, b := range []struct{ bench, benchtime string }{
		{"Acquire|Extend", o.benchtime}, {"Held", "50x"}, {"Together", "1x"}, {"Nodes", "1x"},
	} {
		err := test(lines, "../store", "-run", "^$", "-timeout", "30m",
			"-bench", b.bench, "-benchtime", b.benchtime, ".")
		if err != nil {
			return err
		}
	}
	return nil
}

// together replaces names' endings with their meaning.
var together = strings.NewReplacer("-10000-held", ", 10,000 held", "-select", ", SELECT 1")

func writeLeases(d *document, _ options) {
	d.printf(`## Leases

`+"`make bench-leases`"+` writes this part. Servers and clients share a machine. The figures include
the time of the disk: each change is durable, except on NATS, which by default syncs files later.

Machine: %s.

### Latency

The table shows milliseconds: the median, and the time that 99 %% of the calls do not exceed. A
hundred node IDs are in use. Generators do not wait for these calls.

`, machine())
	d.table("Store", d.Rows("Acquire"), plain,
		column{"Acquire, median", "%.2f", d.of("Acquire", "ms/p50")},
		column{"99 %", "%.2f", d.of("Acquire", "ms/p99")},
		column{"Extend, median", "%.2f", d.of("Extend", "ms/p50")},
		column{"99 %", "%.2f", d.of("Extend", "ms/p99")})
	d.WriteString(`
### Node IDs held

The table shows the median of Acquire, in milliseconds, while so many node IDs are held.

`)
	var stores []string
	for _, row := range d.Rows("Held") {
		if store, ok := strings.CutSuffix(row, "/held=10"); ok {
			stores = append(stores, store)
		}
	}
	held := func(n string) values {
		return func(store string) (float64, bool) {
			return d.Get("Held", store+"/held="+n, "ms/p50")
		}
	}
	d.table("Store", stores, plain,
		column{"10", "%.2f", held("10")},
		column{"1000", "%.2f", held("1000")},
		column{"10,000", "%.2f", held("10000")})
	d.WriteString(`
### A thousand nodes at once

A thousand nodes open a store at the same moment and lease node IDs. The server allows its default
number of connections. The nodes of bolt are in 8 processes.

- Seconds: the time until every node has its node ID.
- Connections: the most at one time, with refused ones. Later: the same, 2 seconds afterwards.
- Requests: the pieces that the client sent. Bytes: in both directions.
- SELECT 1: a thousand clients only connect and run this statement. *Times* is the ratio of seconds.

`)
	rounded := func(unit string) values {
		return func(row string) (float64, bool) {
			v, ok := d.Get("Together", row, unit)
			return math.Round(100*v) / 100, ok
		}
	}
	d.table("Store", d.Rows("Together"), together.Replace,
		column{"Seconds", "%.1f", d.of("Together", "s")},
		column{"Times SELECT 1", "%.2f", d.of("Together", "x/select")},
		column{"Connections", "%v", rounded("connections")},
		column{"Later", "%v", rounded("connections-later")},
		column{"Processor, ms a start", "%v", rounded("ms-server-cpu/start")},
		column{"Requests a start", "%v", rounded("requests/start")},
		column{"Bytes a start", "%v", rounded("B/start")})
	d.WriteString(`
### A thousand nodes over time

They start over half a minute, each with its own connection, and then run for a minute. The window
is 60 s. A start connects, checks the store and acquires. Its figures are milliseconds. Processor
time is in percent of one processor, for the server and all nodes. The last two columns are
estimates: the measured figures times a hundred.

`)
	requests, processor := d.of("Nodes", "requests/s"), d.of("Nodes", "%cpu")
	d.table("Store", d.Rows("Nodes"), plain,
		column{"Start, median", "%.1f", d.of("Nodes", "ms/p50")},
		column{"99 %", "%.1f", d.of("Nodes", "ms/p99")},
		column{"Requests a second", "%.0f", requests},
		column{"Processor", "%.1f %%", processor},
		column{"100,000 nodes: requests a second", "%.0f", requests.times(100)},
		column{"Processors", "%.1f", processor})
}
