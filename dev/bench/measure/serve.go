package main

import (
	"io"
	"strconv"
)

func measureServe(lines io.Writer, o options) error {
	rounds := strconv.Itoa(o.count)
	return testServers(lines, "TestService", "-rounds", rounds, "-time", o.benchtime)
}
