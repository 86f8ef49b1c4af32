package testserver

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// Install is what to do if a program is missing.
const Install = ".ci/setup (on Debian and Ubuntu; elsewhere, install it)"

// Missing skips the test, or fails it if CI is set. The message says what is missing and which
// command makes the test run.
func Missing(t testing.TB, what, command string) {
	t.Helper()
	say := t.Skipf
	if os.Getenv("CI") != "" {
		say = t.Fatalf
	}
	say("%s; to run this test: %s", what, command)
}

// Program returns the path of the first program that is installed. If none is, the test is skipped
// like in [Missing].
func Program(t testing.TB, names ...string) string {
	t.Helper()
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	Missing(t, strings.Join(names, " or ")+" is not installed", Install)
	return ""
}

// Long skips a test with -short. The reason says what takes long, such as "starts a browser".
func Long(t testing.TB, reason string) {
	t.Helper()
	if testing.Short() {
		t.Skipf("it %s, and -short is set; to run this test: go test without -short", reason)
	}
}

// Waits is like [Long], but a test with the race detector runs. It is for tests that mostly wait.
func Waits(t testing.TB, reason string) {
	t.Helper()
	if !UnderRace {
		Long(t, reason)
	}
}

// Soak returns the duration in the environment variable SORTID_SOAK, or 0. A test with a long form
// then runs this long, or has many more cases.
func Soak(t testing.TB) time.Duration {
	t.Helper()
	text := os.Getenv("SORTID_SOAK")
	if text == "" {
		return 0
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		t.Fatalf("SORTID_SOAK is %q, want a duration such as 1h", text)
	}
	return d
}

// Alone is for tests that need many processors or much memory. It waits until no other test
// process of this user is alone. Then this process is alone until it ends.
func Alone(t testing.TB) {
	t.Helper()
	if err := alone(); err != nil {
		t.Fatal(err)
	}
}

// The file stays open, and so locked, until the process ends.
var alone = sync.OnceValue(func() error {
	name := "sortid-test-" + strconv.Itoa(os.Getuid()) + ".lock"
	return lockFile(filepath.Join(os.TempDir(), name))
})
