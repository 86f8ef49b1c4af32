//go:build !purego

package clock

// steady reports whether the time-stamp counter has a constant rate. A counter without a constant
// rate may stop while the processor idles.
func steady() bool
