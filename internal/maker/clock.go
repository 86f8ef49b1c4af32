package maker

import "time"

// A FixedClock returns one time. A generator reads the clock twice for one ID only if the generator
// waits for the next tick. So the second reading moves the clock to that tick.
type FixedClock struct {
	t    time.Time
	step time.Duration
	read bool // whether the next reading moves the clock
}

func (c *FixedClock) now() time.Time {
	if c.read {
		c.t = c.t.Add(c.step)
	}
	c.read = !c.read
	return c.t
}

// follow prepares for the next ID. If the last ID's time t is ahead, the clock moves to t.
func (c *FixedClock) follow(t time.Time) {
	c.read = false
	if t.After(c.t) {
		c.t = t
	}
}
