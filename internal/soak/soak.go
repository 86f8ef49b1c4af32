// Package soak reads how long the tests with a long form take.
package soak

import (
	"os"
	"testing"
	"time"
)

// Duration returns the duration in the environment variable SORTID_SOAK, or 0. A test with a long
// form then runs this long, or has many more cases.
func Duration(t testing.TB) time.Duration {
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
