package main

import (
	"io"
	"os"
)

func measureSoak(lines io.Writer, o options) error {
	os.Setenv("SORTID_SOAK", o.benchtime)
	return test(lines, "../cmd/sortid", "-timeout", "0", "-v", "-run", "^Test(Stores|Unfenced)$",
		"./internal/torture", "-rate", "250000")
}
