package main

import (
	"io"
	"os"
)

func measureSoak(lines io.Writer, o options) error {
	os.Setenv("SORTID_SOAK", o.benchtime)
	return test(lines, "", "-timeout", "0", "-v", "-run", "^Test(Stores|Unfenced)$",
		"./torture", "-rate", "250000")
}
