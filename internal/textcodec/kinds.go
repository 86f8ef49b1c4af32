package textcodec

// Kinds is a set of kinds of bytes.
type Kinds uint16

// The letters are in parts, so that the usual alphabets are sets of kinds.
const (
	Digit    Kinds = 1 << iota
	lowerHex       // a-f
	lowerMid       // g-t and v
	lowerU
	lowerHigh // w-z
	upperHex
	upperMid
	upperU
	upperHigh
	Dash  // - and _
	Other // all other bytes

	Lower = lowerHex | lowerMid | lowerU | lowerHigh
	Upper = upperHex | upperMid | upperU | upperHigh

	HexDigits = Digit | lowerHex | upperHex
	Base32hex = HexDigits | lowerMid | lowerU | upperMid | upperU
	Crockford = Base36 &^ (lowerU | upperU)
	Base36    = Digit | Lower | Upper
	Base64    = Base36 | Dash
)

// KindOf has the kind of each byte.
var KindOf = func() (t [256]Kinds) {
	for i := range t {
		t[i] = Other
	}
	set := func(kind Kinds, bytes string) {
		for _, b := range []byte(bytes) {
			t[b] = kind
		}
	}
	set(Digit, "0123456789")
	set(lowerHex, "abcdef")
	set(lowerMid, "ghijklmnopqrstv")
	set(lowerU, "u")
	set(lowerHigh, "wxyz")
	set(upperHex, "ABCDEF")
	set(upperMid, "GHIJKLMNOPQRSTV")
	set(upperU, "U")
	set(upperHigh, "WXYZ")
	set(Dash, "-_")
	return t
}()

// KindsOf returns the kinds of a text's bytes.
func KindsOf(text string) (kinds Kinds) {
	for i := range len(text) {
		kinds |= KindOf[text[i]]
	}
	return kinds
}

// In reports whether all kinds are in a set.
func (k Kinds) In(set Kinds) bool { return k&^set == 0 }

// Has reports whether a kind is in a set.
func (k Kinds) Has(set Kinds) bool { return k&set != 0 }

// HasCases reports whether there are small and capital letters.
func (k Kinds) HasCases() bool { return k.Has(Lower) && k.Has(Upper) }
