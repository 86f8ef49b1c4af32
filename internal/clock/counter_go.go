//go:build purego || !(amd64 || arm64)

package clock

import "time"

var start = time.Now()

// Counter returns the nanoseconds of the monotonic clock.
func Counter() uint64 { return uint64(time.Since(start)) }
