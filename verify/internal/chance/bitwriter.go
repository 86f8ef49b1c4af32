package chance

import "io"

// A BitWriter writes numbers without gaps, high bit first. It drops an incomplete last byte.
type BitWriter struct {
	w    io.Writer
	held uint64 // the low n bits are not yet added to out
	n    int
	out  []byte
	err  error
}

const rawBuffer = 64 << 10

// Add writes v, which must fit in width bits.
func (b *BitWriter) Add(v uint64, width int) {
	if width > 32 { // held may already have 7 bits
		b.Add(v>>32, width-32)
		v, width = v&(1<<32-1), 32
	}
	b.held, b.n = b.held<<width|v, b.n+width
	for ; b.n >= 8; b.n -= 8 {
		b.out = append(b.out, byte(b.held>>(b.n-8)))
	}
	if len(b.out) >= rawBuffer {
		b.Flush()
	}
}

// Flush writes the complete bytes and returns the first error of all writes.
func (b *BitWriter) Flush() error {
	if b.err == nil {
		_, b.err = b.w.Write(b.out)
	}
	b.out = b.out[:0]
	return b.err
}
