//go:build race

package controls

// UnderRace reports whether the race detector is on.
const UnderRace = true
