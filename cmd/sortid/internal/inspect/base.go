package inspect

import (
	"encoding/base64"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"sync"

	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/internal/spec"
	"github.com/sortid/sortid/internal/textcodec"
)

// Bases are ways to write an integer or a UUID. Base58 has Bitcoin's alphabet, and Base62 the
// alphabet 0-9A-Za-z. Base64 is of the bytes, in either alphabet of RFC 4648.
var Bases = []string{"base58", "base62", "base64"}

// Orders are the orders of bytes from which UUIDs can be read.
var Orders = spec.Orders()

// alphabets returns the digits of the bases, which formats of UUIDs also have.
var alphabets = sync.OnceValue(func() map[string]string {
	all := map[string]string{}
	for _, f := range format.All() {
		if base, ok := strings.CutPrefix(f.Name(), "uuid-"); ok {
			all[base] = spec.Of(f).Text.Symbols
		}
	}
	return all
})

// fromBase returns the integer that the text means.
func fromBase(base, text string, bits int) (*big.Int, error) {
	fail := func(reason string, args ...any) (*big.Int, error) {
		return nil, fmt.Errorf("%s: cannot parse %s: "+reason, append([]any{base, Quote(text)},
			args...)...)
	}
	bare := strings.TrimRight(text, "=")
	if bare == "" {
		return fail("it is empty")
	}
	if most := int(math.Ceil(float64(bits) / math.Log2(58))); len(bare) > most {
		return fail("%d characters, want at most %d", len(bare), most)
	}
	n := new(big.Int)
	if base == "base64" {
		b, err := base64.RawURLEncoding.Strict().DecodeString(
			strings.NewReplacer("+", "-", "/", "_").Replace(bare))
		if err != nil {
			return fail("%v", err)
		}
		return n.SetBytes(b), nil
	}
	symbols := alphabets()[base]
	for i := range len(text) {
		digit := strings.IndexByte(symbols, text[i])
		if digit < 0 {
			return fail("%q at offset %d is not in the alphabet", text[i:i+1], i)
		}
		n.Mul(n, big.NewInt(int64(len(symbols)))).Add(n, big.NewInt(int64(digit)))
	}
	if n.BitLen() > bits {
		return fail("it has more than %d bits", bits)
	}
	return n, nil
}

// readBase reads a number in the base in.From. If it has more than 64 bits, and no format is given,
// it is a UUID.
func (in *Reader) readBase(r *Reading) error {
	bits := 128
	if in.Format != nil {
		bits = 8 * in.Format.Size()
	}
	n, err := fromBase(string(in.From), r.Input, bits)
	label := ""
	if err != nil {
		var bare string
		bare, r.Stripped, _ = strip(r.Input)
		// Digits of base64 can be _.
		if i := strings.LastIndexByte(bare, '_'); i > 0 && in.From != "base64" && spec.IsLabel(bare[:i]) {
			label, bare = bare[:i+1], bare[i+1:]
		}
		if bare != r.Input {
			n, err = fromBase(string(in.From), bare, bits)
		}
	}
	if err != nil {
		return err
	}
	has := func(e format.Encoding) bool {
		return in.Format != nil && slices.Contains(in.Format.Encodings(), e)
	}
	encoding, plain := format.Int, n.String()
	switch {
	case has(format.Int):
	case in.Format == nil && n.BitLen() > 64 || has(format.UUID):
		var u [16]byte
		encoding = format.UUID
		plain = string(textcodec.AppendUUID(nil, (*[16]byte)(n.FillBytes(u[:]))))
	case has(format.Hex):
		encoding, plain = format.Hex, fmt.Sprintf("%0*x", bits/4, n)
	}
	err = in.readPlain(r, plain, encoding)
	r.Prefix = label
	return err
}

// readOrder reads the 16 bytes of a UUID, which were written in the order in.From.
func (in *Reader) readOrder(r *Reading) (err error) {
	var text string
	text, r.Stripped, _ = strip(r.Input)
	written, ok := spec.UUIDBytes(text)
	if !ok {
		b, wrong := base64.RawStdEncoding.DecodeString(strings.TrimRight(text, "="))
		if wrong != nil || len(b) != len(written) {
			return fmt.Errorf("%s: cannot parse %s: want 16 bytes, as a UUID, 32 hexadecimal digits "+
				"or Base64", in.From, Quote(r.Input))
		}
		copy(written[:], b)
	}
	u := spec.Reorder(string(in.From), written, len(text) == textcodec.UUIDLen)
	return in.readPlain(r, string(textcodec.AppendUUID(nil, &u)), format.UUID)
}

// readPlain reads what a base or an order of bytes was made to.
func (in *Reader) readPlain(r *Reading, plain string, e format.Encoding) (err error) {
	if in.Format != nil {
		r.Given, r.Encoding = true, e
		r.ID, err = in.Format.ParseAs(e, plain)
		return err
	}
	text, stripped := r.Input, r.Stripped
	r.Input = plain
	err = in.guess(r)
	r.Input, r.Stripped = text, stripped
	return err
}

// InBase writes the ID's integer in a base, without leading zeros. Base64 is of all bytes, with the
// symbols - and _ and without padding.
func (g *Guess) InBase(base string) string {
	if base == "base64" {
		return base64.RawURLEncoding.EncodeToString(g.ID.Bytes())
	}
	symbols := alphabets()[base]
	n, size, digit := new(big.Int).SetBytes(g.ID.Bytes()), big.NewInt(int64(len(symbols))),
		new(big.Int)
	text := []byte{}
	for n.Sign() > 0 {
		n.DivMod(n, size, digit)
		text = append(text, symbols[digit.Int64()])
	}
	if len(text) == 0 {
		return symbols[:1]
	}
	slices.Reverse(text)
	return string(text)
}
