//go:build !purego && (amd64 || arm64)

package clock

// Counter reads the time-stamp counter on amd64, the virtual counter on arm64. Its rate is unknown.
// It may jump, and differ between cores. [Clock] handles this.
//
//go:noescape
func Counter() uint64
