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

// together names what the benchmark of that name measures beside the stores.
var together = strings.NewReplacer("-10000-held", ", 10,000 held", "-select", ", SELECT 1")

func writeLeases(d *document, _ options) {
	d.printf(`# Benchmarks of leases

Written by `+"`make bench-leases`"+`; do not edit. Each store's server is on the same machine as the clients, with the
settings under which it forgets nothing, except NATS, which syncs its files later if it is not told otherwise. What
the disk takes to make a change durable is in these figures, and differs from disk to disk.

Machine: %s.

## Latency

In milliseconds: half of the calls, and 99 of 100, take no longer. To acquire is to read the realm, choose among a
hundred node IDs in use, and commit; to extend is to commit and to read the realm once more. Generators wait for
neither.

`, machine())
	d.table("Store", d.Rows("Acquire"), plain,
		column{"Acquire, half", "%.2f", d.of("Acquire", "ms/p50")},
		column{"99 %", "%.2f", d.of("Acquire", "ms/p99")},
		column{"Extend, half", "%.2f", d.of("Extend", "ms/p50")},
		column{"99 %", "%.2f", d.of("Extend", "ms/p99")})
	d.WriteString(`
## Node IDs held

To acquire, half of the calls take no longer than this, in milliseconds, while 10, 1000 or 10,000 node IDs are held.

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
## A thousand nodes at once

They open a store each, all at the same moment, on a server with the number of connections that it allows by default, and
lease node IDs of 12 bits (of 16 where 10,000 are held). Seconds until all have one; connections that the server then had
at most, with those that it refused, and 2 seconds later; its processor time for each start; and, for one start by
itself, what the client sends in one piece (a request), and bytes in both directions. The nodes of bolt are in 8 processes.
"postgres, SELECT 1" is a thousand clients that only connect and ask for that: each connection is a process of the server.

`)
	rounded := func(unit string) values {
		return func(row string) (float64, bool) {
			v, ok := d.Get("Together", row, unit)
			return math.Round(100*v) / 100, ok
		}
	}
	d.table("Store", d.Rows("Together"), together.Replace,
		column{"Seconds", "%.1f", d.of("Together", "s")},
		column{"Connections", "%v", rounded("connections")},
		column{"Later", "%v", rounded("connections-later")},
		column{"Processor, ms a start", "%v", rounded("ms-server-cpu/start")},
		column{"Requests a start", "%v", rounded("requests/start")},
		column{"Bytes a start", "%v", rounded("B/start")})
	d.WriteString(`
## A thousand nodes over time

They start over half a minute, each with a connection of its own, and are then watched for a minute at default settings: a
window of 60 s, renewed at half. To start is to connect, to have the store checked and to acquire, in milliseconds.
Processor time counts the server and all nodes together, in percent of one processor. The last two columns are
the same times a hundred, for a hundred thousand nodes; nobody ran these. A longer window means fewer renewals,
in proportion.

`)
	requests, processor := d.of("Nodes", "requests/s"), d.of("Nodes", "%cpu")
	d.table("Store", d.Rows("Nodes"), plain,
		column{"Start, half", "%.1f", d.of("Nodes", "ms/p50")},
		column{"99 %", "%.1f", d.of("Nodes", "ms/p99")},
		column{"Requests a second", "%.0f", requests},
		column{"Processor", "%.1f %%", processor},
		column{"100,000 nodes: requests a second", "%.0f", requests.times(100)},
		column{"Processors", "%.1f", processor})
}
