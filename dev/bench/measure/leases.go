package main

import (
	"io"
	"strconv"
)

func measureLeases(lines io.Writer, o options) error {
	leases := strconv.Itoa(int(100_000 * o.scale))
	for _, b := range []struct{ bench, benchtime string }{
		{"^Benchmark(Acquire|Extend|Server(Acquire|Renew))$", o.benchtime},
		{"Together|ServerLoad", "1x"}, {"Nodes|Pods", "1x"},
	} {
		err := test(lines, "../store", "-run", "^$", "-timeout", "30m",
			"-bench", b.bench, "-benchtime", b.benchtime, "-leases", leases, ".")
		if err != nil {
			return err
		}
	}
	return nil
}
