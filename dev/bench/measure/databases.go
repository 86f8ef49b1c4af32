package main

import (
	"fmt"
	"io"
	"strconv"
)

func measureDatabases(lines io.Writer, o options) error {
	rounds, scale := strconv.Itoa(o.count), fmt.Sprint(o.scale)
	return testServers(lines, "TestDatabases", "-rounds", rounds, "-scale", scale)
}

// calls returns how long a function takes: the time of a query with the call, minus the time of a
// query without a call.
func (d *document) calls(function string) (float64, bool) {
	call := d.Value("Functions", function, "ns/op") - d.Value("Baseline", "column", "ns/op")
	return max(call, 0), true
}
