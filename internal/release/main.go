// Command release checks the modules in the form that users get, builds the files of a release, and
// makes the release. See docs/architecture.md.
//
// It is not in go.work, because it would change the dependencies of other modules.
package main

import (
	"debug/buildinfo"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

const usage = `usage:
  release check            packs the modules and uses them from a module proxy
  release bump VERSION     makes the modules require each other at VERSION
  release dist VERSION DIR [TARGETS]
                           writes archives, packages and checksums to DIR
  release notices BINARY   prints the licences of all software in a binary
  release [-n] tag VERSION runs all checks, tags the modules and pushes the tags
`

var (
	dryRun = flag.Bool("n", false, "only print the commands that change something")
	remote = flag.String("remote", "origin", "the remote to which tags are pushed")
)

func main() {
	flag.Usage = func() { fmt.Fprint(os.Stderr, usage) }
	flag.Parse()
	if flag.NArg() == 0 {
		flag.Usage()
		os.Exit(2)
	}
	if err := run(flag.Arg(0), flag.Args()[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(command string, args []string) error {
	root, err := output(exec.Command("git", "rev-parse", "--show-toplevel"))
	if err != nil {
		return err
	}
	r, err := open(root)
	if err != nil {
		return err
	}
	switch {
	case command == "check" && len(args) == 0:
		return r.checkRelease()
	case command == "bump" && len(args) == 1:
		changed, err := r.setVersion(args[0])
		for _, name := range changed {
			fmt.Println(name)
		}
		return err
	case command == "dist" && (len(args) == 2 || len(args) == 3):
		list, err := parseTargets(strings.Join(args[2:], ""))
		if err != nil {
			return err
		}
		return r.distribute(os.Stdout, args[0], args[1], list)
	case command == "tag" && len(args) == 1:
		t := &tagging{
			repo: r, version: args[0], remote: *remote, dryRun: *dryRun, out: os.Stdout,
			checks: [][]string{
				{"make", "test"}, {"make", "check"}, {"make", "dist", "VERSION=" + args[0]},
			},
		}
		return t.run()
	case command == "notices" && len(args) == 1:
		return printNotices(args[0])
	}
	flag.Usage()
	os.Exit(2)
	return nil
}

func printNotices(binary string) error {
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return err
	}
	out, err := output(exec.Command("go", "env", "GOROOT", "GOMODCACHE"))
	if err != nil {
		return err
	}
	goroot, modules, _ := strings.Cut(out, "\n")
	text, err := notices(info, goroot, modules)
	if err != nil {
		return err
	}
	_, err = os.Stdout.Write(text)
	return err
}

func (r *repo) checkRelease() error {
	if err := r.check(); err != nil {
		return err
	}
	s, err := newSandbox(r)
	if err != nil {
		return err
	}
	defer s.close()
	return s.checkInstall(os.Stdout, r)
}

// commitTime returns SOURCE_DATE_EPOCH. If it is not set, commitTime returns the commit's time.
// Later calls return the same time, so a commit during a run changes no file.
func (r *repo) commitTime() (time.Time, error) {
	if !r.time.IsZero() {
		return r.time, nil
	}
	text := os.Getenv("SOURCE_DATE_EPOCH")
	if text == "" {
		var err error
		if text, err = r.git("log", "-1", "--format=%ct"); err != nil {
			return time.Time{}, err
		}
	}
	seconds, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("SOURCE_DATE_EPOCH is %q, expected seconds since 1970", text)
	}
	r.time = time.Unix(seconds, 0).UTC()
	return r.time, nil
}
