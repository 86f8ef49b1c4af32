// Command release packs the modules of this repository as users get them, and tags them together.
// See CONTRIBUTING.md.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

const usage = `usage, in the root of the repository:
  release pack VERSION DIR  packs the modules into DIR, and prints the environment that uses them
  release bump VERSION      makes the modules require each other at VERSION
  release [-n] [-remote NAME] tag VERSION
                            runs all checks, then makes a tag for each module at the remote
`

func main() {
	t := &tagging{out: os.Stdout}
	flag.BoolVar(&t.dryRun, "n", false, "only print the commands that change something")
	flag.StringVar(&t.remote, "remote", "origin", "the remote to which tags are pushed")
	flag.Usage = func() { fmt.Fprint(os.Stderr, usage) }
	flag.Parse()
	if err := run(flag.Args(), t); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(args []string, t *tagging) error {
	c, err := open(".")
	if err != nil {
		return err
	}
	switch {
	case len(args) == 3 && args[0] == "pack":
		if err := c.checkNext(args[1]); err != nil {
			return err
		}
		env, err := c.pack(args[1], args[2])
		fmt.Println(strings.Join(env, "\n"))
		return err
	case len(args) == 2 && args[0] == "bump":
		return c.bump(args[1])
	case len(args) == 2 && args[0] == "tag":
		t.clone, t.version = c, args[1]
		t.checks = [][]string{{"make", "test"}, {"make", "check"},
			{"make", "dist", "VERSION=" + t.version}}
		return t.run()
	}
	flag.Usage()
	os.Exit(2)
	return nil
}

// output returns what a program prints. An error has what the program wrote to standard error.
func output(dir, name string, args ...string) (string, error) {
	var stderr bytes.Buffer
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Stderr = dir, &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w\n%s%s", strings.Join(cmd.Args, " "), err, out, &stderr)
	}
	return strings.TrimSuffix(string(out), "\n"), nil
}
