//go:build !purego

package clock

// steady reports whether the time-stamp counter has a constant rate. Otherwise it may stop while
// the processor idles.
func steady() bool
