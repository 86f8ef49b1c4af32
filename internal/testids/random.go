package testids

import (
	"math/big"
	"math/rand/v2"
	"time"

	"github.com/sortid/sortid/internal/spec"
)

// Ones returns the largest number of this size.
func Ones(bits int) *big.Int {
	n := new(big.Int).Lsh(big.NewInt(1), uint(bits))
	return n.Sub(n, big.NewInt(1))
}

// Random returns a random ID's integer, made with math/big from the fields and groups.
func Random(r *rand.Rand, f *spec.Format) *big.Int {
	if f.Text.Symbols != "" && f.Text.Symbols[0] == ' ' { // few random integers have a text
		return padded(r, f)
	}
	w := new(big.Int)
	for _, field := range f.Layout {
		v := new(big.Int).SetUint64(field.Value)
		if field.Kind != spec.KindFixed && field.Kind != spec.KindZero {
			for range field.Bits {
				v.SetBit(v.Lsh(v, 1), 0, uint(r.IntN(2)))
			}
		}
		w.Or(w, v.Lsh(v, uint(field.Low)))
	}
	for _, g := range f.Text.Groups {
		if g.Low < 0 { // every value fits in the group's digits
			continue
		}
		base := int64(len(f.Text.Symbols))
		if g.Symbols != "" {
			base = int64(len(g.Symbols))
		}
		limit := new(big.Int).Exp(big.NewInt(base), big.NewInt(int64(g.Digits)), nil)
		mask := new(big.Int).Lsh(Ones(g.Bits), uint(g.Low))
		v := new(big.Int).Rsh(new(big.Int).And(w, mask), uint(g.Low))
		w.AndNot(w, mask)
		w.Or(w, v.Lsh(v.Mod(v, limit), uint(g.Low)))
	}
	return w
}

// padded returns the integer of a text of two groups of 12 digits, with blanks at the end.
func padded(r *rand.Rand, f *spec.Format) *big.Int {
	v, base := new(big.Int), big.NewInt(63)
	length := f.Text.Lengths[r.IntN(len(f.Text.Lengths))]
	head := new(big.Int)
	for i := range 24 {
		if i == 12 {
			head, v = v, new(big.Int)
		}
		v.Mul(v, base)
		if i < length {
			v.Add(v, big.NewInt(1+r.Int64N(62)))
		}
	}
	return v.Add(v, head.Lsh(head, 72))
}

// Recent returns the bytes of a random ID that a generator could have made in the last ten years. It
// has usual values in its fields.
func Recent(r *rand.Rand, f *spec.Format, now time.Time) []byte {
	if f.Within != nil {
		return Recent(r, usual(f), now)
	}
	w := Random(r, f)
	set := func(field spec.Field, v uint64) {
		mask := Ones(field.Bits)
		w.AndNot(w, mask.Lsh(mask, uint(field.Low)))
		w.Or(w, new(big.Int).Lsh(new(big.Int).SetUint64(v), uint(field.Low)))
	}
	if f.Tick != 0 {
		from := now.AddDate(-10, 0, 0)
		if first, _ := f.PlausibleRange(now); first.After(from) {
			from = first
		}
		at := from.Add(time.Duration(r.Int64N(int64(now.Sub(from)))))
		ticks := f.TimestampOf(at)
		for _, field := range f.Layout {
			if field.Kind == spec.KindTime {
				set(field, ticks>>field.Shift&(1<<field.Bits-1))
			}
		}
	}
	for _, field := range f.Layout {
		switch {
		case field.Constant:
			set(field, field.Value)
		case field.Usual != 0:
			set(field, r.Uint64N(field.Usual+1))
		}
	}
	return w.FillBytes(make([]byte, f.Size))
}
