//go:build !purego

package clock

// steady reports whether the time-stamp counter runs at a constant
// rate. If it does not, it may stop while the processor idles.
func steady() bool
