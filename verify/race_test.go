//go:build race

package verify

func init() { underRace = true }
