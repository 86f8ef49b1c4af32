//go:build race

package testserver

// UnderRace reports whether the race detector is on.
const UnderRace = true
