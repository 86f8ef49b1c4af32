// Command testrun runs tests or the steps of "make check", and lists what was skipped, and why.
//
//	testrun test [FLAG...] PACKAGE...    runs "go test" with bin/gotestsum
//	testrun steps [NAME...]              runs targets of the Makefile, by default all check-... ones
//
// If the environment variable CI is set, a skip fails unless the file .ci/skips permits it.
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// stepVariable is set in the environment of a step. Then "testrun test" lists its skips in the form
// that "testrun steps" reads.
const stepVariable = "TESTRUN_STEP"

func main() {
	ok, err := run(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "testrun:", err)
	}
	if err != nil || !ok {
		os.Exit(1)
	}
}

func run(args []string) (ok bool, err error) {
	if len(args) == 0 {
		return false, errors.New(`expected "test" or "steps"`)
	}
	permits, err := readPermits(filepath.Join(".ci", "skips"))
	if err != nil {
		return false, err
	}
	switch command, args := args[0], args[1:]; command {
	case "test":
		return testPackages(os.Stdout, filepath.Join("bin", "gotestsum"), args, permits)
	case "steps":
		return runSteps(os.Stdout, "Makefile", args, permits)
	default:
		return false, fmt.Errorf(`there is no subcommand %q: expected "test" or "steps"`, command)
	}
}
