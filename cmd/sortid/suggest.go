package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/agnivade/levenshtein"
	"github.com/sortid/sortid/format"
)

// nearest returns the name that was probably meant, or nothing.
func nearest(name string, known []string) string {
	best, least := "", 3
	for _, k := range known {
		if d := levenshtein.ComputeDistance(strings.ToLower(name), k); d < least && d < len(k) {
			best, least = k, d
		}
	}
	return best
}

// withSuggestion returns the error's message, and what was probably meant by an unknown
// name.
func withSuggestion(err error) string {
	var unknown *format.UnknownError
	if errors.As(err, &unknown) && len(unknown.Name) < 64 {
		if near := nearest(unknown.Name, unknown.Known); near != "" {
			return fmt.Sprintf("%v; did you mean %q?", err, near)
		}
	}
	return err.Error()
}
