//go:build race

package testserver

const raceDetector = true
