//go:build !linux

package supervise

import "time"

var processStart = time.Now()

// bootTime returns a time that nobody can set. Here it may stand still while the machine is
// suspended.
func bootTime() time.Duration { return time.Since(processStart) }
