package integer

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
)

func bigOf(w Words) *big.Int {
	v := new(big.Int)
	for _, word := range w.Array() {
		v.Or(v.Lsh(v, 64), new(big.Int).SetUint64(word))
	}
	return v
}

// The functions agree with math/big, for integers of all sizes.
func TestBig(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	random := func(bits int) Words {
		return Words{r.Uint64(), r.Uint64(), r.Uint64()}.And(Ones(bits))
	}
	all := bigOf(Ones(192))
	for bits := range 192 {
		if want := new(big.Int).Lsh(big.NewInt(1), uint(bits)); bigOf(Ones(bits)).Cmp(
			want.Sub(want, big.NewInt(1))) != 0 {
			t.Fatalf("Ones(%d) = %x", bits, Ones(bits))
		}
		for range 50 {
			w, v := random(bits), random(r.IntN(bits+1))
			a, b := bigOf(w), bigOf(v)
			if got := w.Compare(v); got != a.Cmp(b) || w.Less(&v) != (got < 0) {
				t.Fatalf("%x and %x: %d", w, v, got)
			}
			n := r.IntN(191)
			left := new(big.Int).Lsh(a, uint(n))
			if bigOf(w.Shift(n)).Cmp(left.And(left, all)) != 0 ||
				bigOf(w.Shift(-n)).Cmp(new(big.Int).Rsh(a, uint(n))) != 0 {
				t.Fatalf("%x shifted by %d: %x, %x", w, n, w.Shift(n), w.Shift(-n))
			}
			if bigOf(w.Or(v)).Cmp(new(big.Int).Or(a, b)) != 0 ||
				bigOf(w.And(v)).Cmp(new(big.Int).And(a, b)) != 0 ||
				bigOf(w.AndNot(v)).Cmp(new(big.Int).AndNot(a, b)) != 0 {
				t.Fatalf("%x and %x: Or %x, And %x, AndNot %x", w, v, w.Or(v), w.And(v), w.AndNot(v))
			}
			if FromArray(w.Array()) != w {
				t.Fatalf("%x as an array: %x", w, w.Array())
			}
			divisor, quotient := new(big.Int).SetUint64(r.Uint64()|1), w
			rest := quotient.Divide(divisor.Uint64())
			if q, m := new(big.Int).QuoRem(a, divisor, new(big.Int)); bigOf(quotient).Cmp(q) != 0 ||
				m.Uint64() != rest {
				t.Fatalf("%x / %d = %x, rest %d", w, divisor, quotient, rest)
			}
			factor, carry, product := r.Uint64(), r.Uint64(), w
			over := product.TimesPlus(factor, carry)
			want := new(big.Int).Mul(a, new(big.Int).SetUint64(factor))
			want.Add(want, new(big.Int).SetUint64(carry))
			got := new(big.Int).Lsh(new(big.Int).SetUint64(over), 192)
			if got.Or(got, bigOf(product)).Cmp(want) != 0 {
				t.Fatalf("%x * %d + %d = %x, over %d", w, factor, carry, product, over)
			}
			if bits <= 160 && string(w.AppendDecimal(nil)) != a.String() {
				t.Fatalf("%x in decimal: %s", w, w.AppendDecimal(nil))
			}
			low, size := r.IntN(160), r.IntN(64)+1
			p := PlaceOf(low, min(size, 192-low))
			field := new(big.Int).Rsh(a, uint(low))
			if got := p.Of(&w); got != field.And(field, new(big.Int).SetUint64(p.Max())).Uint64() ||
				p.Width() != min(size, 192-low) {
				t.Fatalf("%x, %d bits from %d: %x", w, size, low, got)
			}
		}
	}
}

func TestBytes(t *testing.T) {
	var b [24]byte
	for i := range b {
		b[i] = byte(i + 1)
	}
	want := Words{0x0102030405060708, 0x090a0b0c0d0e0f10, 0x1112131415161718}
	if got := FromBytes(&b); got != want {
		t.Errorf("%x", got)
	}
	var put [24]byte
	if want.Put(&put); put != b {
		t.Errorf("%x", put)
	}
}

func TestAppendPadded(t *testing.T) {
	for _, v := range []uint64{0, 7, 42, 999} {
		if got, want := string(AppendPadded([]byte("x"), v, 3)), fmt.Sprintf("x%03d", v); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := string(AppendPadded(nil, 1, 19)); got != strings.Repeat("0", 18)+"1" {
		t.Error(got)
	}
}
