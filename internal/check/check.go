// Package check has helpers for tests.
package check

import (
	"os"
	"testing"
	"time"
)

// OK ends the test if there is an error. It calls Helper only then, because Helper takes longer
// than most calls whose errors OK checks.
func OK(t testing.TB, err error) {
	if err != nil {
		t.Helper()
		t.Fatal(err)
	}
}

// Must returns the value of a function, as in Must(os.ReadFile(name))(t).
func Must[T any](value T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		if err != nil {
			t.Helper()
			t.Fatal(err)
		}
		return value
	}
}

// Soon reports whether a condition becomes true within two minutes.
func Soon(condition func() bool) bool {
	for end := time.Now().Add(2 * time.Minute); !condition(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			return false
		}
	}
	return true
}

func Write(t testing.TB, path, text string) {
	t.Helper()
	OK(t, os.WriteFile(path, []byte(text), 0o600))
}
