package exact

import (
	"bytes"
	"math/bits"
	"strings"

	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/internal/integer"
	"github.com/sortid/sortid/internal/usage"
	"github.com/sortid/sortid/verify/internal/chance"
	"github.com/sortid/sortid/verify/internal/sample"
)

// A digitField has random digits of an ID's text. It tests the 32 highest bits of their number, as a
// share of the largest number.
type digitField struct {
	f        *sample.Format
	digits   usage.Digits
	alphabet string
	values   uint64 // how many numbers there are
	field    *chance.Field
	text     []byte
}

func newDigits(set *chance.Set, f *sample.Format, d usage.Digits) *digitField {
	t := &digitField{f: f, digits: d, alphabet: strings.TrimLeft(f.Text.Symbols, " "), values: 1,
		field: set.Add(d.Name, 32)}
	for i := range d.Count {
		t.values *= uint64(len(t.alphabetOf(i)))
	}
	return t
}

func (t *digitField) alphabetOf(i int) string {
	if i == 0 && t.digits.First != "" {
		return t.digits.First
	}
	return t.alphabet
}

func (t *digitField) add(list []integer.Words) {
	for _, v := range list {
		id, err := t.f.FromWords(v.Array())
		if err != nil {
			continue
		}
		t.text = bytes.TrimRight(id.Append(t.text[:0], format.Text), " ")
		from := t.digits.From
		if from < 0 {
			from += len(t.text)
		}
		n := uint64(0)
		for i, c := range t.text[from : from+t.digits.Count] {
			alphabet := t.alphabetOf(i)
			n = n*uint64(len(alphabet)) + uint64(strings.IndexByte(alphabet, c))
		}
		share, _ := bits.Div64(n>>32, n<<32, t.values)
		t.field.Add(share)
	}
}
