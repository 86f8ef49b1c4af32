package main

import "io"

func measureSoak(lines io.Writer, o options) error {
	return test(lines, "../cmd/sortid", "-timeout", "0", "-v", "-run", "^Test(Stores|Unfenced)$",
		"./internal/torture", "-duration", o.benchtime, "-rate", "250000")
}

func writeSoak(d *document, _ options) {
	total, twice := 0.0, 0.0
	for _, row := range d.Rows("Torture") {
		total += d.Value("Torture", row, "IDs")
		twice += d.Value("Torture", row, "twice")
	}
	seconds := d.Value("TortureTime", "stores", "s")
	d.printf(`## Leases under faults

`+"`make soak`"+` writes this part. For %.0f minutes, processes on every store make scru64 IDs with
leased node IDs. Processes and servers are killed, stopped and cut off at random. The result:
**%.2f billion IDs, and %.0f ticks used twice.**

Each process checks that all its IDs rise, and that it claimed their ticks and node IDs. It writes
down each claim before it uses the tick. Afterwards no two processes may have claimed one tick with
overlapping node IDs.

Machine: %s.

`, seconds/60, total*1e-9, twice, machine())
	d.soakTable("Torture")
	d.WriteString(`
The check finds the mistake if a lease is broken on purpose. Here processes continue after their
windows end, until they learn that their node IDs are lost:

`)
	d.soakTable("TortureUnfenced")
	d.WriteString(`
After a fault, processes made no IDs for the seconds in this table. The time begins when the process
or server runs again, and ends with the next claimed tick. A tick lasts 0.26 s, so up to 0.26 s is
not a gap. In the realm that is nearly full, some processes wait for a free node ID.

`)
	d.table("Fault", d.Rows("TortureFault"), plain,
		column{"Number", "%.0f", d.of("TortureFault", "faults")},
		column{"Median, s", "%.2f", d.of("TortureFault", "s/half")},
		column{"99 %, s", "%.2f", d.of("TortureFault", "s/p99")},
		column{"Longest, s", "%.2f", d.of("TortureFault", "s/longest")})
}

func (d *document) soakTable(benchmark string) {
	d.table("Store", d.Rows(benchmark), plain,
		column{"Billion IDs", "%.2f", d.of(benchmark, "IDs").times(1e-9)},
		column{"Ticks claimed", "%.0f", d.of(benchmark, "ticks")},
		column{"Processes", "%.0f", d.of(benchmark, "processes")},
		column{"Node IDs handed over", "%.0f", d.of(benchmark, "hands")},
		column{"Ticks used twice", "%.0f", d.of(benchmark, "twice")})
}
