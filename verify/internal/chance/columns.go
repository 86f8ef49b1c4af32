package chance

// The type columns counts, for each of 64 bits, the words in which the bit is 1. planes[k] has bit
// k of all counts. waiting[k] is not yet added to planes[k], because it waits for a second word to
// add. So the length of a carry depends only on n, and the processor can predict it.
type columns struct {
	planes  [48]uint64
	waiting [48]uint64 // waiting[k] is in use if bit k of n is 1
	n       uint64
}

// addBits adds three bits at each position.
func addBits(a, b, c uint64) (sum, carry uint64) {
	half := a ^ b
	return half ^ c, a&b | half&c
}

func (c *columns) add(words []uint64) {
	for ; len(words) > 0 && c.n%8 != 0; words = words[1:] {
		c.carry(words[0], 0)
	}
	ones, twos, fours := c.planes[0], c.planes[1], c.planes[2]
	for ; len(words) >= 8; words = words[8:] {
		w := (*[8]uint64)(words)
		var a, b, d, e, eights uint64
		ones, a = addBits(ones, w[0], w[1])
		ones, b = addBits(ones, w[2], w[3])
		twos, d = addBits(twos, a, b)
		ones, a = addBits(ones, w[4], w[5])
		ones, b = addBits(ones, w[6], w[7])
		twos, e = addBits(twos, a, b)
		fours, eights = addBits(fours, d, e)
		c.carry(eights, 3)
	}
	c.planes[0], c.planes[1], c.planes[2] = ones, twos, fours
	for _, w := range words {
		c.carry(w, 0)
	}
}

func (c *columns) carry(w uint64, k int) {
	n := c.n >> k
	c.n += 1 << k
	for ; n&1 != 0; n >>= 1 {
		c.planes[k], w = addBits(c.planes[k], c.waiting[k], w)
		k++
	}
	c.waiting[k] = w
}

// count returns the count of a bit. Bit 0 is the lowest.
func (c *columns) count(bit int) (n uint64) {
	for k := range c.planes {
		n += c.planes[k] >> bit & 1 << k
		if c.n>>k&1 != 0 {
			n += c.waiting[k] >> bit & 1 << k
		}
	}
	return n
}
