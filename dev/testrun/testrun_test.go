package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/sortid/sortid/internal/check"
	"github.com/sortid/sortid/internal/testserver"
)

// outside is a module that "go test" runs without this repository's settings.
func outside(t *testing.T, files map[string]string) {
	t.Helper()
	dir := t.TempDir()
	t.Chdir(dir)
	t.Setenv("GOWORK", "off")
	t.Setenv("GOFLAGS", "-vet=off")
	t.Setenv("CI", "")
	t.Setenv(stepVariable, "")
	files["go.mod"] = "module example.org/outside\n\ngo 1.25\n"
	for name, text := range files {
		check.OK(t, os.MkdirAll(filepath.Dir(name), 0o755))
		check.OK(t, os.WriteFile(name, []byte(text), 0o644))
	}
}

// sum returns the program that "make test" builds.
func sum(t *testing.T) string {
	t.Helper()
	file, err := filepath.Abs("../../bin/gotestsum")
	if err == nil {
		_, err = os.Stat(file)
	}
	if err != nil {
		testserver.Missing(t, "gotestsum", "make bin/gotestsum")
	}
	return file
}

var packages = map[string]string{
	"good/good_test.go": `package good
import "testing"
func TestPasses(t *testing.T) { t.Log("not worth printing") }
func TestNeedsServer(t *testing.T) { t.Skip("no server; install one") }
func TestNeedsServerToo(t *testing.T) { t.Skip("no server; install one") }
func TestIsSlow(t *testing.T) { t.Skip("it is slow: not with -short") }
`,
	"bad/bad_test.go": `package bad
import "testing"
func TestParent(t *testing.T) {
	t.Run("child", func(t *testing.T) { t.Error("got 1, want 2") })
	t.Run("other", func(t *testing.T) { t.Log("not worth printing") })
}
`,
	"broken/broken_test.go": "package broken\n\nvar x int = \"text\"\n",
	"panics/panics_test.go": `package panics
import "testing"
func TestPanics(t *testing.T) { panic("oh no") }
func TestNeverRuns(t *testing.T) {}
`,
}

func wantLines(t *testing.T, got string, patterns ...string) {
	t.Helper()
	for _, p := range patterns {
		if !regexp.MustCompile("(?m)" + p).MatchString(got) {
			t.Errorf("the output has no match of %q:\n%s", p, got)
		}
	}
}

func TestReportShowsFailuresAndSkips(t *testing.T) {
	gotestsum := sum(t)
	outside(t, packages)
	var out strings.Builder
	ok, err := testPackages(&out, gotestsum, []string{"./..."}, nil)
	if ok || err != nil {
		t.Errorf("testPackages returned %t, %v, want false and no error", ok, err)
	}
	wantLines(t, out.String(),
		`^PASS +\S*good`, `^FAIL +\S*bad`, `bad_test\.go:4: got 1, want 2`,
		`broken.*:3:13: cannot use`, `panic: oh no`,
		`^skipped:\n`,
		`^  no server; install one\n    \S+good\.TestNeedsServer, \S+good\.TestNeedsServerToo$`,
		`^  it is slow: not with -short\n    \S+good\.TestIsSlow$`,
		`^2 passed, 4 failed, 3 skipped\n\z`)
	if strings.Contains(out.String(), "not worth printing") {
		t.Errorf("the output has messages of tests that passed:\n%s", out.String())
	}
}

func TestShortListsOnlyWhatIsMissing(t *testing.T) {
	gotestsum := sum(t)
	outside(t, packages)
	var out strings.Builder
	if ok, err := testPackages(&out, gotestsum, []string{"-short", "./good"}, nil); !ok || err != nil {
		t.Errorf("testPackages returned %t, %v, want true and no error", ok, err)
	}
	wantLines(t, out.String(), `no server; install one`, `^1 passed, 0 failed, 3 skipped$`)
	if strings.Contains(out.String(), "it is slow") {
		t.Errorf("the output lists a test that -short skips:\n%s", out.String())
	}
}

// A wrong flag makes go test fail without a failed test.
func TestFailureOfGoTestIsAFailure(t *testing.T) {
	gotestsum := sum(t)
	outside(t, packages)
	var out strings.Builder
	if ok, err := testPackages(&out, gotestsum, []string{"-parallel=many"}, nil); ok || err != nil {
		t.Errorf("testPackages returned %t, %v, want false and no error", ok, err)
	}
}

func TestSkipsFailInCIUnlessPermitted(t *testing.T) {
	for _, c := range []struct {
		name, permits string
		ok            bool
	}{
		{"none", "", false},
		{"one of two", "no server # CI has none\n", false},
		{"both", "# Comment\n\nno server # CI has none\nTestIsSlow: # too slow\n", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			gotestsum := sum(t)
			outside(t, packages)
			t.Setenv("CI", "true")
			check.OK(t, os.WriteFile("skips", []byte(c.permits), 0o644))
			permits := check.Must(readPermits("skips"))(t)
			var out strings.Builder
			ok, err := testPackages(&out, gotestsum, []string{"./good"}, permits)
			if ok != c.ok || err != nil {
				t.Errorf("testPackages returned %t, %v, want %t and no error:\n%s",
					ok, err, c.ok, out.String())
			}
		})
	}
}

func TestPermitsNeedReasons(t *testing.T) {
	for text, want := range map[string]string{
		"no server\n":        `skips:1: "no server" has no reason`,
		"\n( # reason\n":     `skips:2: error parsing regexp`,
		"no server # good\n": "",
	} {
		name := filepath.Join(t.TempDir(), "skips")
		check.OK(t, os.WriteFile(name, []byte(text), 0o644))
		_, err := readPermits(name)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("readPermits of %q returned %v, want %q", text, err, want)
		}
	}
}

func TestStepsGoOnAfterFailures(t *testing.T) {
	outside(t, map[string]string{"Makefile": `
check-works: ## works
	@echo working
check-fails: ## fails
	@false
check-lacks: | build ## lacks a compiler
	@echo 'skipped: check-lacks: no compiler; install one'
check-tests: ## has tests that lack a server
	@echo 'skipped: store.TestOpen: no server; install one'
build:
`})
	for _, ci := range []string{"", "true"} {
		t.Setenv("CI", ci)
		var out strings.Builder
		ok, err := runSteps(&out, "Makefile", nil, nil)
		if ok || err != nil {
			t.Errorf("runSteps returned %t, %v, want false and no error", ok, err)
		}
		wantLines(t, out.String(), `^make check-works: works\nworking$`,
			`^ok +[0-9]+s +make check-works\nFAIL +[0-9]+s +make check-fails\n`+
				`skip +[0-9]+s +make check-lacks\nok +[0-9]+s +make check-tests$`,
			`^  no compiler; install one\n    check-lacks$`,
			`^  no server; install one\n    check-tests store\.TestOpen$`,
			`^2 passed, 1 failed, 1 skipped\n\z`)
	}
	for ci, want := range map[string]bool{"": true, "true": false} {
		t.Setenv("CI", ci)
		var out strings.Builder
		ok, err := runSteps(&out, "Makefile", []string{"check-lacks"}, nil)
		if ok != want || err != nil {
			t.Errorf("with CI=%q, runSteps returned %t, %v, want %t and no error", ci, ok, err, want)
		}
	}
}

func TestReasonIsTheMessage(t *testing.T) {
	for output, want := range map[string]string{
		"    x_test.go:3: no node; get it\n":                               "no node; get it",
		"    x_test.go:3: first\n    x_test.go:4: on two\n        lines\n": "on two lines",
		"": "no reason given",
	} {
		if got := reason(output); got != want {
			t.Errorf("reason(%q) = %q, want %q", output, got, want)
		}
	}
}
