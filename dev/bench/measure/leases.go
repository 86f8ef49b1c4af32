package main

import (
	"io"
	"math"
	"strconv"
	"strings"
)

func measureLeases(lines io.Writer, o options) error {
	leases := strconv.Itoa(int(100_000 * o.scale))
	for _, b := range []struct{ bench, benchtime string }{
		{"^Benchmark(Acquire|Extend|Server(Acquire|Renew))$", o.benchtime}, {"Held", "50x"},
		{"Together|Server(Cost|Load)", "1x"}, {"Nodes", "1x"},
	} {
		err := test(lines, "../store", "-run", "^$", "-timeout", "30m",
			"-bench", b.bench, "-benchtime", b.benchtime, "-leases", leases, ".")
		if err != nil {
			return err
		}
	}
	return nil
}

// stores returns the stores whose Acquire was measured while many node IDs were leased.
func (d *document) stores() (stores []string) {
	for _, row := range d.Rows("Held") {
		if store, ok := strings.CutSuffix(row, "/held=10"); ok {
			stores = append(stores, store)
		}
	}
	return stores
}

func (d *document) held(n string) values {
	return func(store string) (float64, bool) {
		return d.Get("Held", store+"/held="+n, "ms/p50")
	}
}

func (d *document) rounded(title, benchmark, unit string) column {
	return figures(title, "%v", func(row string) (float64, bool) {
		v, ok := d.Get(benchmark, row, unit)
		return math.Round(100*v) / 100, ok
	})
}
