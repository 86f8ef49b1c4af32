//go:build race

package model

// UnderRace reports whether the race detector is on.
const UnderRace = true
