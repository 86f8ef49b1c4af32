//go:build !race

package model

// UnderRace reports whether the slow race detector is on.
const UnderRace = false
