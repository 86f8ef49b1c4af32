package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
)

// An event is a line of "go test -json".
type event struct {
	Action, Package, Test, Output string
	ImportPath, FailedBuild       string
	Elapsed                       float64 // seconds
}

// A testReport collects the results of all packages.
type testReport struct {
	w                       io.Writer
	short                   bool // then do not list tests that -short skips
	passed, failed, skipped int
	failures                []string
	skips                   []skip
	builds                  map[string]string // output of the compiler
	packages                map[string]*packageReport
}

type packageReport struct {
	tests []string // in the order of their first output
	// The output of the tests that have not passed, and for "" of the package itself.
	output map[string]*strings.Builder
	passed int
	failed int
	cached bool
}

// testPackages runs "go test", with more packages at a time than the go command, because many
// packages wait for servers.
func testPackages(w io.Writer, args []string, permits []*regexp.Regexp) (ok bool, err error) {
	cmd := exec.Command("go", append([]string{"test", "-json",
		fmt.Sprintf("-p=%d", max(6, runtime.NumCPU()))}, args...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return false, err
	}
	if err := cmd.Start(); err != nil {
		return false, err
	}
	r := &testReport{w: w, short: slices.Contains(args, "-short")}
	r.read(out)
	err = cmd.Wait()
	if err != nil && r.failed > 0 {
		err = nil // the report says what failed
	}
	return r.finish(permits) && err == nil, err
}

func (r *testReport) read(events io.Reader) {
	r.builds, r.packages = map[string]string{}, map[string]*packageReport{}
	lines := bufio.NewReader(events)
	for {
		line, err := lines.ReadBytes('\n')
		var e event
		if json.Unmarshal(line, &e) == nil {
			r.add(e)
		} else {
			r.w.Write(line)
		}
		if err != nil {
			return
		}
	}
}

func (r *testReport) add(e event) {
	if e.Action == "build-output" {
		r.builds[e.ImportPath] += e.Output
		return
	}
	p := r.packages[e.Package]
	if p == nil {
		p = &packageReport{output: map[string]*strings.Builder{}}
		r.packages[e.Package] = p
	}
	name := short(e.Package) + "." + e.Test
	switch {
	case e.Action == "output":
		p.print(e.Test, e.Output)
	case e.Test == "":
		r.endPackage(p, e)
	case e.Action == "pass":
		r.passed++
		p.passed++
		delete(p.output, e.Test)
	case e.Action == "fail":
		r.failed++
		p.failed++
		r.failures = append(r.failures, name)
	case e.Action == "skip":
		r.skipped++
		why := reason(p.text(e.Test))
		if !r.short || !strings.Contains(why, "-short") {
			r.skips = append(r.skips, skip{name, why})
		}
		delete(p.output, e.Test)
	}
}

// noise matches lines that repeat what the report says.
var noise = regexp.MustCompile(`^(=== (RUN|PAUSE|CONT|NAME) | *--- (PASS|FAIL|SKIP): |` +
	`(PASS|FAIL)$|(FAIL|ok  |\?   )\t)`)

func (p *packageReport) print(test, text string) {
	if test == "" && strings.HasPrefix(text, "ok  \t") && strings.Contains(text, "\t(cached)") {
		p.cached = true
	}
	if noise.MatchString(strings.TrimSuffix(text, "\n")) {
		return
	}
	b := p.output[test]
	if b == nil {
		b = &strings.Builder{}
		p.output[test] = b
		p.tests = append(p.tests, test)
	}
	b.WriteString(text)
}

func (p *packageReport) text(test string) string {
	if b := p.output[test]; b != nil {
		return b.String()
	}
	return ""
}

func (r *testReport) endPackage(p *packageReport, e event) {
	name := short(e.Package)
	defer delete(r.packages, e.Package)
	time := fmt.Sprintf("%.1fs", e.Elapsed)
	if p.cached {
		time = "cached"
	}
	switch e.Action {
	case "pass":
		fmt.Fprintf(r.w, "ok    %8s  %s\n", time, name)
	case "fail":
		fmt.Fprintf(r.w, "FAIL  %8s  %s\n%s", time, name, r.builds[e.FailedBuild])
		for _, test := range p.tests {
			if text := p.text(test); text != "" {
				fmt.Fprintf(r.w, "--- %s\n%s", cmp.Or(test, "outside of tests"),
					abridged(text))
			}
		}
		if p.failed == 0 { // the package does not compile, or panics outside of a test
			r.failed++
			r.failures = append(r.failures, name)
		}
	}
}

// abridged leaves out the middle of a very long text, such as the output of an endless command.
func abridged(text string) string {
	const most = 64 << 10 // bytes at each end
	if len(text) <= 2*most {
		return text
	}
	return fmt.Sprintf("%s\n... %d bytes left out ...\n%s",
		text[:most], len(text)-2*most, text[len(text)-most:])
}

func (r *testReport) finish(permits []*regexp.Regexp) (ok bool) {
	var refused []skip
	if os.Getenv(stepVariable) != "" {
		for _, s := range r.skips {
			fmt.Fprintf(r.w, "%s%s: %s\n", prefix, s.who, s.why)
		}
	} else {
		refused = listSkips(r.w, r.skips, permits)
	}
	if len(r.failures) > 0 {
		fmt.Fprintf(r.w, "\nfailed:\n  %s\n", strings.Join(r.failures, "\n  "))
	}
	fmt.Fprintf(r.w, "\n%d passed, %d failed, %d skipped\n", r.passed, r.failed, r.skipped)
	return r.failed == 0 && len(refused) == 0
}

var position = regexp.MustCompile(`^\s*\S+\.go:\d+: `)

// reason returns the last message in the output of a skipped test.
func reason(output string) (why string) {
	for line := range strings.Lines(output) {
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
		path = strings.TrimPrefix(path, info.Main.Path+"/")
	}
	return path
}
