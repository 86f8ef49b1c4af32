package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
)

// testPackages runs "go test", with more packages at a time than the go command, because many
// packages wait for servers.
func testPackages(w io.Writer, gotestsum string, args []string, permits []*regexp.Regexp) (
	ok bool, err error) {
	dir, err := os.MkdirTemp("", "testrun-")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(dir)
	events := filepath.Join(dir, "events")
	cmd := exec.Command(gotestsum, append([]string{"--format=pkgname", "--format-icons=text",
		"--format-hide-empty-pkg", "--hide-summary=skipped", "--jsonfile=" + events, "--",
		fmt.Sprintf("-p=%d", max(6, runtime.NumCPU()))}, args...)...)
	cmd.Stdout, cmd.Stderr = w, os.Stderr
	err = cmd.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		return false, err
	}
	ok = err == nil
	file, err := os.Open(events)
	if err != nil {
		return false, err
	}
	defer file.Close()
	r := readEvents(file)
	skips := slices.DeleteFunc(r.skips, func(s skip) bool {
		return slices.Contains(args, "-short") && strings.Contains(s.why, "-short")
	})
	if os.Getenv(stepVariable) != "" {
		for _, s := range skips {
			fmt.Fprintf(w, "%s%s: %s\n", prefix, s.who, s.why)
		}
	} else if len(listSkips(w, skips, permits)) > 0 {
		ok = false
	}
	fmt.Fprintf(w, "\n%d passed, %d failed, %d skipped\n", r.passed, r.failed, r.skipped)
	return ok, nil
}

// results counts tests, and also a package that failed without a failed test.
type results struct {
	passed, failed, skipped int
	skips                   []skip
}

// readEvents reads the output of "go test -json".
func readEvents(events io.Reader) (r results) {
	output, failed := map[string]string{}, map[string]bool{} // of tests; packages with a failed test
	lines := bufio.NewReader(events)
	for {
		line, err := lines.ReadBytes('\n')
		var e struct{ Action, Package, Test, Output string }
		json.Unmarshal(line, &e) // lines of the compiler are no events
		name := short(e.Package) + "." + e.Test
		switch {
		case e.Action == "output":
			output[name] += e.Output
			continue
		case e.Action == "fail" && e.Test != "":
			failed[e.Package] = true
			r.failed++
		case e.Action == "fail" && !failed[e.Package]:
			r.failed++
		case e.Action == "pass" && e.Test != "":
			r.passed++
		case e.Action == "skip" && e.Test != "":
			r.skipped++
			r.skips = append(r.skips, skip{name, reason(output[name])})
		}
		if slices.Contains([]string{"pass", "fail", "skip"}, e.Action) {
			delete(output, name)
		}
		if err != nil {
			return r
		}
	}
}

var (
	position = regexp.MustCompile(`^\s*\S+\.go:\d+: `)
	progress = regexp.MustCompile(`^(=== | *--- )`)
)

// reason returns the last message in the output of a skipped test.
func reason(output string) (why string) {
	for line := range strings.Lines(output) {
		if progress.MatchString(line) {
			continue
		}
		if position.MatchString(line) {
			why, line = "", position.ReplaceAllString(line, "")
		}
		why = strings.TrimSpace(why + " " + strings.TrimSpace(line))
	}
	return cmp.Or(why, "no reason given")
}

// short returns an import path without the path of this repository.
func short(path string) string {
	if info, ok := debug.ReadBuildInfo(); ok {
		path = strings.TrimPrefix(path, strings.TrimSuffix(info.Main.Path, "dev"))
	}
	return path
}
