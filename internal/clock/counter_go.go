//go:build purego || !(amd64 || arm64)

package clock

import "time"

var start = time.Now()

// Counter counts the nanoseconds of the monotonic clock, for want of a cheaper
// counter that Go code can read.
func Counter() uint64 { return uint64(time.Since(start)) }
