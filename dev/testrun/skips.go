package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"regexp"
	"strings"
)

// A skip is a test or a step that did not run.
type skip struct{ who, why string }

// prefix begins a line of a step that lacks something to run.
const prefix = "skipped: "

// listSkips prints the skips by their reasons, and returns those that fail in CI.
func listSkips(w io.Writer, skips []skip, permits []*regexp.Regexp) (refused []skip) {
	var reasons []string
	who := map[string][]string{}
	for _, s := range skips {
		if who[s.why] == nil {
			reasons = append(reasons, s.why)
		}
		who[s.why] = append(who[s.why], s.who)
		if os.Getenv("CI") != "" && !permitted(s, permits) {
			refused = append(refused, s)
		}
	}
	if len(reasons) > 0 {
		fmt.Fprintln(w, "\nskipped:")
	}
	for _, why := range reasons {
		names := who[why]
		rest := ""
		if len(names) > 4 {
			names, rest = names[:3], fmt.Sprintf(" and %d more", len(names)-3)
		}
		fmt.Fprintf(w, "  %s\n    %s%s\n", why, strings.Join(names, ", "), rest)
	}
	for _, s := range refused {
		fmt.Fprintf(w, "failed in CI, because .ci/skips does not permit it: %s: %s\n", s.who, s.why)
	}
	return refused
}

func permitted(s skip, permits []*regexp.Regexp) bool {
	for _, p := range permits {
		if p.MatchString(s.who + ": " + s.why) {
			return true
		}
	}
	return false
}

// readPermits reads lines of the form "REGEXP # REASON". An empty line, or one that begins with #,
// permits nothing.
func readPermits(name string) (permits []*regexp.Regexp, err error) {
	text, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for i, line := range strings.Split(string(text), "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		pattern, reason, _ := strings.Cut(line, " # ")
		if strings.TrimSpace(reason) == "" {
			return nil, fmt.Errorf("%s:%d: %q has no reason: expected \"REGEXP # REASON\"",
				name, i+1, line)
		}
		p, err := regexp.Compile(strings.TrimSpace(pattern))
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, i+1, err)
		}
		permits = append(permits, p)
	}
	return permits, nil
}
