package main

import (
	"io"
	"slices"
	"strconv"
	"strings"
)

func measureServe(lines io.Writer, o options) error {
	rounds := strconv.Itoa(o.count)
	return testServers(lines, "TestService", "-rounds", rounds, "-time", o.benchtime)
}

// single returns the rows with one ID per request.
func single(rows []string) []string {
	return slices.DeleteFunc(slices.Clone(rows),
		func(row string) bool { return strings.HasSuffix(row, " a request") })
}
