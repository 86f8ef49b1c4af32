//go:build !purego

package clock

// steady reports whether the time-stamp counter runs at one rate whatever the
// processor does. Where it does not, it may stop while the processor idles.
func steady() bool
