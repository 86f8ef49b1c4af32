package verify

// columns counts, for each of the 64 bit positions, in how many words the bit is set.
// It adds words vertically: plane k holds the bit of weight 2^k of all 64 counts, so one
// word costs a few operations rather than one for each of its bits.
type columns struct {
	planes [48]uint64
}

// full adds three bits of the same weight in each column.
func full(a, b, c uint64) (sum, carry uint64) {
	half := a ^ b
	return half ^ c, a&b | half&c
}

func (c *columns) add(words []uint64) {
	ones, twos, fours := c.planes[0], c.planes[1], c.planes[2]
	for ; len(words) >= 8; words = words[8:] {
		w := (*[8]uint64)(words)
		var a, b, d, e, f, eights uint64
		ones, a = full(ones, w[0], w[1])
		ones, b = full(ones, w[2], w[3])
		twos, d = full(twos, a, b)
		ones, a = full(ones, w[4], w[5])
		ones, b = full(ones, w[6], w[7])
		twos, e = full(twos, a, b)
		fours, f = full(fours, d, e)
		eights = f
		for k := 3; eights != 0; k++ {
			c.planes[k], eights = c.planes[k]^eights, c.planes[k]&eights
		}
	}
	c.planes[0], c.planes[1], c.planes[2] = ones, twos, fours
	for _, w := range words {
		for k := 0; w != 0; k++ {
			c.planes[k], w = c.planes[k]^w, c.planes[k]&w
		}
	}
}

// count returns the count of a bit position, 0 being the lowest.
func (c *columns) count(bit int) (n uint64) {
	for k, plane := range c.planes {
		n += plane >> bit & 1 << k
	}
	return n
}
