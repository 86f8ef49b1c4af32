package main

import (
	"io"
	"strconv"
)

func measureLeases(lines io.Writer, o options) error {
	leases := strconv.Itoa(int(100_000 * o.scale))
	for _, b := range []struct {
		bench, benchtime string
		count            int
	}{
		{"^Benchmark(Acquire|Extend|Server(Acquire|Renew))$", o.benchtime, o.count},
		{"Together|ServerLoad", "1x", o.count}, {"Nodes|Pods", "1x", 1},
	} {
		err := test(lines, "../store", "-run", "^$", "-timeout", "1h", "-count", strconv.Itoa(b.count),
			"-bench", b.bench, "-benchtime", b.benchtime, "-leases", leases, ".")
		if err != nil {
			return err
		}
	}
	return nil
}
