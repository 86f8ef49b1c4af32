package main

import "io"

func measureSoak(lines io.Writer, o options) error {
	return test(lines, "../cmd/sortid", "-timeout", "0", "-v", "-run", "^Test(Stores|Unfenced)$",
		"./internal/torture", "-duration", o.benchtime, "-rate", "250000")
}
