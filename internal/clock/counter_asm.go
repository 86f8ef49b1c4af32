//go:build !purego && (amd64 || arm64)

package clock

// Counter reads the processor's free-running counter: the time-stamp counter on amd64, the virtual
// counter on arm64. The caller does not know its rate. The counter may jump, and may differ between
// cores. [Clock] handles all of this.
//
//go:noescape
func Counter() uint64
