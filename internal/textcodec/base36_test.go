package textcodec

import (
	"encoding/binary"
	"errors"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/sortid/sortid"
)

var two64 = new(big.Int).Lsh(big.NewInt(1), 64)

func join(hi, lo uint64) *big.Int {
	n := new(big.Int).Mul(new(big.Int).SetUint64(hi), two64)
	return n.Add(n, new(big.Int).SetUint64(lo))
}

func split(n *big.Int) (hi, lo uint64, ok bool) {
	h, l := new(big.Int).QuoRem(n, two64, new(big.Int))
	return h.Uint64(), l.Uint64(), h.IsUint64()
}

func text36(n *big.Int, width int) string {
	s := n.Text(36)
	return strings.Repeat("0", max(0, width-len(s))) + s
}

func mixed(r *rand.Rand, s string) string {
	b := []byte(s)
	for i, c := range b {
		if c >= 'a' && r.IntN(2) == 0 {
			b[i] = c - 'a' + 'A'
		}
	}
	return string(b)
}

// edges calls try with integers of at most this number of bits, near powers of 2 and multiples of
// powers of 36.
func edges(bits int, try func(n *big.Int)) {
	limit := new(big.Int).Lsh(big.NewInt(1), uint(bits))
	around := func(n *big.Int) {
		for d := int64(-2); d <= 2; d++ {
			if x := new(big.Int).Add(n, big.NewInt(d)); x.Sign() >= 0 && x.Cmp(limit) < 0 {
				try(x)
			}
		}
	}
	for k := range bits + 1 {
		around(new(big.Int).Lsh(big.NewInt(1), uint(k)))
	}
	power := big.NewInt(1)
	for power.Cmp(limit) <= 0 {
		for i := range int64(36) {
			around(new(big.Int).Mul(power, big.NewInt(i)))
		}
		power.Mul(power, big.NewInt(36))
	}
	around(limit)
}

func appendLong(b []byte, hi, lo uint64) []byte {
	src := binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, hi), lo)
	return AppendBase36Long(b, (*[16]byte)(src))
}

// unmarshalLong returns zeros after an error.
func unmarshalLong(t *testing.T, s []byte) (hi, lo uint64, err error) {
	t.Helper()
	keep := [16]byte([]byte("some sixteen !!!"))
	dst := keep
	if err := UnmarshalBase36Long("f", &dst, s); err != nil {
		if dst != keep {
			t.Fatalf("UnmarshalBase36Long(%q): %v, but %x", s, err, dst)
		}
		return 0, 0, err
	}
	return binary.BigEndian.Uint64(dst[:8]), binary.BigEndian.Uint64(dst[8:]), nil
}

// offset returns the offset in an error of a symbol, or -1.
func offset(err error) int {
	var p *sortid.ParseError
	if errors.As(err, &p) && p.Err == sortid.ErrSymbol {
		return p.Offset
	}
	return -1
}

func test62(t *testing.T, r *rand.Rand, v uint64) {
	t.Helper()
	want := text36(new(big.Int).SetUint64(v), Base36ShortLen)
	if got := string(AppendBase36Short(nil, v)); got != want {
		t.Fatalf("AppendBase36Short(%d) = %s, want %s", v, got, want)
	}
	if got, err := UnmarshalBase36Short("f", []byte(mixed(r, want))); got != v || err != nil {
		t.Fatalf("UnmarshalBase36Short(%s) = %d, %v, want %d", want, got, err, v)
	}
}

func TestBase36Short(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	edges(63, func(n *big.Int) {
		if n.Cmp(big.NewInt(Base36Limit)) < 0 {
			test62(t, r, n.Uint64())
		}
	})
	test62(t, r, Base36Limit-1)
	for range 200_000 {
		test62(t, r, (r.Uint64()>>r.IntN(64))%Base36Limit)
	}
}

func test128(t *testing.T, r *rand.Rand, hi, lo uint64) {
	t.Helper()
	want := text36(join(hi, lo), Base36LongLen)
	if got := string(appendLong(nil, hi, lo)); got != want {
		t.Fatalf("AppendBase36Long(%#x, %#x) = %s, want %s", hi, lo, got, want)
	}
	h, l, err := unmarshalLong(t, []byte(mixed(r, want)))
	if h != hi || l != lo || err != nil {
		t.Fatalf("UnmarshalBase36Long(%s) = %#x, %#x, %v, want %#x, %#x", want, h, l, err, hi, lo)
	}
}

func TestBase36Long(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	edges(128, func(n *big.Int) {
		hi, lo, _ := split(n)
		test128(t, r, hi, lo)
	})
	for range 200_000 {
		test128(t, r, r.Uint64()>>r.IntN(64), r.Uint64())
	}
}

func TestBase36Pairs(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for pair := range uint64(pow2) {
		for place := uint64(1); place < Base36Limit; place *= pow2 {
			test62(t, r, pair*place)
			test62(t, r, Base36Limit-1-pair*place)
		}
	}
}

func TestBase36Range(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	first := new(big.Int).Lsh(big.NewInt(1), 128)
	end := new(big.Int).Exp(big.NewInt(36), big.NewInt(Base36LongLen), nil)
	try := func(n *big.Int) {
		t.Helper()
		s := mixed(r, text36(n, Base36LongLen))
		hi, lo, ok := split(n)
		if !ok {
			hi, lo = 0, 0
		}
		h, l, err := unmarshalLong(t, []byte(s))
		if h != hi || l != lo || errors.Is(err, sortid.ErrRange) == ok || (err == nil) != ok {
			t.Fatalf("UnmarshalBase36Long(%s) = %#x, %#x, %v, want %#x, %#x, in range: %v", s, h, l,
				err, hi, lo, ok)
		}
	}
	for d := int64(-1000); d < 1000; d++ {
		try(new(big.Int).Add(first, big.NewInt(d)))
	}
	for d := int64(1); d < 1000; d++ {
		try(new(big.Int).Sub(end, big.NewInt(d)))
	}
	// Change each digit of a number near 2^128, up and down.
	for power := big.NewInt(1); power.Cmp(end) < 0; power.Mul(power, big.NewInt(36)) {
		for i := int64(-40); i < 40; i++ {
			n := new(big.Int).Add(first, new(big.Int).Mul(power, big.NewInt(i)))
			for d := int64(-1); d <= 1; d++ {
				if x := new(big.Int).Add(n, big.NewInt(d)); x.Sign() >= 0 && x.Cmp(end) < 0 {
					try(x)
				}
			}
		}
	}
	for range 100_000 {
		n := new(big.Int).SetUint64(r.Uint64())
		n.Mul(n, two64).Add(n, new(big.Int).SetUint64(r.Uint64())).Mul(n, big.NewInt(3)).Mod(n, end)
		try(n)
	}
}

// An error has the offset of the first byte that is not a digit.
func TestBase36Symbols(t *testing.T) {
	for _, good := range []string{"0u2pf62ji4b9", "zzzzzzzzzzzz", "0372ijojuxuhjsfkeryi2mrtm",
		"zzzzzzzzzzzzzzzzzzzzzzzzz"} {
		unmarshal := func(b []byte) error {
			if len(b) == Base36ShortLen {
				v, err := UnmarshalBase36Short("f", b)
				if err != nil && v != 0 {
					t.Errorf("UnmarshalBase36Short(%q) = %d, %v", b, v, err)
				}
				return err
			}
			_, _, err := unmarshalLong(t, b)
			return err
		}
		for at := range good {
			for c := range 256 {
				b := []byte(good)
				b[at] = byte(c)
				digit := '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
				if digit {
					if err := unmarshal(b); errors.Is(err, sortid.ErrSymbol) {
						t.Errorf("%q: %v", b, err)
					}
					continue
				}
				for second := at; second < len(b); second++ {
					b[second] = byte(c)
					if err := unmarshal(b); offset(err) != at {
						t.Fatalf("%q: %v, want ErrSymbol at %d", b, err, at)
					}
				}
			}
		}
	}
}

func TestBase36Length(t *testing.T) {
	for n := range 60 {
		b := []byte(strings.Repeat("1", n))
		_, err := UnmarshalBase36Short("f", b)
		if errors.Is(err, sortid.ErrLength) != (n != Base36ShortLen) {
			t.Errorf("UnmarshalBase36Short of %d bytes: %v", n, err)
		}
		_, _, err = unmarshalLong(t, b)
		if errors.Is(err, sortid.ErrLength) != (n != Base36LongLen) {
			t.Errorf("UnmarshalBase36Long of %d bytes: %v", n, err)
		}
	}
}

// Append does not change the bytes before the text or the room after it.
func TestAppend(t *testing.T) {
	for capacity := range 64 {
		for _, c := range []struct {
			f    func([]byte) []byte
			want string
		}{
			{func(b []byte) []byte {
				return AppendBase36Short(b, 109959589539758421)
			}, "0u2pf62ji4b9"},
			{func(b []byte) []byte {
				return appendLong(b, 0x017fef39c2641ba5, 0x6a9483188841e05a)
			}, "0372ijojuxuhjsfkeryi2mrtm"},
			{func(b []byte) []byte {
				return AppendBase32Hex(b, &[Base32HexSize]byte{19: 31})
			}, strings.Repeat("0", 31) + "V"},
			{func(b []byte) []byte {
				return AppendCrockford(b, &[16]byte{15: 1})
			}, strings.Repeat("0", 24) + "041"},
		} {
			room := []byte(strings.Repeat("#", 3+capacity))
			got := c.f(room[:3:len(room)])
			if string(got) != "###"+c.want {
				t.Fatalf("with room for %d: %q, want ###%s", capacity, got, c.want)
			}
			if beyond := 3 + len(c.want); len(room) > beyond && strings.Trim(string(room[beyond:]),
				"#") != "" {
				t.Fatalf("with room for %d: %q behind the text", capacity, room[beyond:])
			}
		}
	}
}

func FuzzUnmarshalBase36(f *testing.F) {
	f.Add([]byte("f5lxx1zz5pnorynqglhzmsp33"))
	f.Add([]byte("f5lxx1zz5pnorynqglhzmsp34"))
	f.Add([]byte("0u2pf62ji4b9"))
	f.Fuzz(func(t *testing.T, b []byte) {
		n, ok := new(big.Int), false
		if !strings.ContainsAny(string(b), "+-_") {
			n, ok = n.SetString(string(b), 36)
		}
		v, err := UnmarshalBase36Short("f", b)
		if (err == nil) != (ok && len(b) == Base36ShortLen) || err == nil &&
			n.Cmp(new(big.Int).SetUint64(v)) != 0 {
			t.Errorf("UnmarshalBase36Short(%q) = %d, %v; by math/big %v, %v", b, v, err, n, ok)
		}
		hi, lo, err := unmarshalLong(t, b)
		if (err == nil) != (ok && len(b) == Base36LongLen && n.BitLen() <= 128) || err == nil &&
			n.Cmp(join(hi, lo)) != 0 {
			t.Errorf("UnmarshalBase36Long(%q) = %#x, %#x, %v; by math/big %v, %v", b, hi, lo, err,
				n, ok)
		}
	})
}
