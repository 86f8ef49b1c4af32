//go:build race

package model

// UnderRace reports whether the race detector is on, which makes everything slow.
const UnderRace = true
