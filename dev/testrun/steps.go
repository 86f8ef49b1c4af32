package main

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"time"
)

// A step is a target of a Makefile: "check-NAME: ## PURPOSE".
var target = regexp.MustCompile(`(?m)^(check-[\w-]+):.*## (.*)$`)

// runSteps runs the steps one after the other, and goes on after a failure. A step that lacks
// something prints a line "skipped: WHY".
func runSteps(
	w io.Writer, makefile string, names []string, permits []*regexp.Regexp,
) (ok bool, err error) {
	text, err := os.ReadFile(makefile)
	if err != nil {
		return false, err
	}
	var lines []string
	var skips []skip
	var passed, failed, skipped int
	for _, m := range target.FindAllStringSubmatch(string(text), -1) {
		name, purpose := m[1], m[2]
		if len(names) > 0 && !slices.Contains(names, name) {
			continue
		}
		fmt.Fprintf(w, "\nmake %s: %s\n", name, purpose)
		start := time.Now()
		missing, err := runStep(w, makefile, name)
		result := "ok"
		switch {
		case err != nil:
			failed++
			result = "FAIL"
			fmt.Fprintln(w, err)
		case slices.ContainsFunc(missing, func(s skip) bool { return s.who == name }):
			skipped++
			result = "skip"
		default:
			passed++
		}
		skips = append(skips, missing...)
		lines = append(lines, fmt.Sprintf("%-4s  %5.0fs  make %s", result,
			time.Since(start).Seconds(), name))
	}
	if len(lines) == 0 {
		return false, errors.New(makefile + " has no such step")
	}
	fmt.Fprintf(w, "\n%s\n", strings.Join(lines, "\n"))
	refused := listSkips(w, skips, permits)
	fmt.Fprintf(w, "\n%d passed, %d failed, %d skipped\n", passed, failed, skipped)
	return failed == 0 && len(refused) == 0, nil
}

// runStep returns the skips of the step and of its tests.
func runStep(w io.Writer, makefile, name string) (skips []skip, err error) {
	cmd := exec.Command(cmp.Or(os.Getenv("MAKE"), "make"), "--no-print-directory", "-f", makefile,
		name)
	cmd.Env = append(os.Environ(), stepVariable+"="+name)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	cmd.Stderr = cmd.Stdout
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadString('\n')
		if text, found := strings.CutPrefix(line, prefix); !found {
			io.WriteString(w, line)
		} else if who, why, _ := strings.Cut(strings.TrimSpace(text), ": "); who == name {
			skips = append(skips, skip{name, why})
		} else {
			skips = append(skips, skip{name + " " + who, why})
		}
		if err != nil {
			return skips, cmd.Wait()
		}
	}
}
