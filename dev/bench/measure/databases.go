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
