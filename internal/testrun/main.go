// Command testrun runs tests or the steps of "make check", and lists what was skipped, and why.
//
//	testrun test [FLAG...] PACKAGE...    runs "go test": a line for each package, failures in full
//	testrun steps [NAME...]              runs targets of the Makefile, by default all check-... ones
//
// If the environment variable CI is set, a skip fails unless the file .ci/skips permits it.
package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
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
	case "probe": // see tryFolder
		return true, nil
	case "test":
		for _, dir := range []string{os.TempDir(), os.Getenv("GOTMPDIR")} {
			if err := tryFolder(dir); err != nil {
				return false, err
			}
		}
		return testPackages(os.Stdout, args, permits)
	case "steps":
		return runSteps(os.Stdout, "Makefile", args, permits)
	default:
		return false, fmt.Errorf(`there is no subcommand %q: expected "test" or "steps"`, command)
	}
}

// tryFolder runs a program in a folder of temporary files, as "go test" does.
func tryFolder(dir string) error {
	if dir == "" {
		return nil
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	program, err := os.ReadFile(self)
	if err != nil {
		return err
	}
	temp, err := os.MkdirTemp(dir, "testrun-")
	if err != nil {
		return fmt.Errorf("tests need a folder for temporary files: %w", err)
	}
	defer os.RemoveAll(temp)
	copied := filepath.Join(temp, "probe")
	if runtime.GOOS == "windows" {
		copied += ".exe"
	}
	if err := os.WriteFile(copied, program, 0o700); err != nil {
		return err
	}
	if err := exec.Command(copied, "probe").Run(); err != nil {
		if inner := errors.Unwrap(err); inner != nil {
			err = inner // without the name of the file
		}
		return fmt.Errorf("tests cannot run here: a program in %s does not start: %w\n"+
			"If the folder is mounted noexec, set TMPDIR to another folder, for example:\n"+
			"  mkdir -p ~/tmp && export TMPDIR=~/tmp", dir, err)
	}
	return nil
}
