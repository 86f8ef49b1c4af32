package spec

import (
	"slices"
	"sync"
	"time"

	"github.com/sortid/sortid"
	"github.com/sortid/sortid/internal/integer"
	"github.com/sortid/sortid/internal/textcodec"
)

const (
	digits   = "0123456789"
	lower    = "abcdefghijklmnopqrstuvwxyz"
	capitals = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	digits32 = digits + "abcdefghijklmnopqrstuv"
	sorted32 = "234567" + lower // in order of value
	digits36 = digits + lower
	digits62 = digits + capitals + lower
	digits58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
	flickr58 = "123456789abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ"
	digits57 = "23456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
	digits64 = capitals + lower + digits + "-_"
)

// others is in the order in which programs list readings. Of formats that look alike, the more
// common format is first.
var others = sync.OnceValue(func() []*Format {
	return slices.Concat(uuids(), sortable(), fielded(), integers())
})

func unix(ms int64) time.Time { return time.UnixMilli(ms).UTC() }

func date(year, month int) time.Time {
	return time.Date(year, time.Month(month), 1, 0, 0, 0, 0, time.UTC)
}

// usually sets the largest value that most IDs have in a field.
func usually(most uint64, f Field) Field {
	f.Usual = most
	return f
}

// used sets the year of the format's first IDs (0 for the default) and its rarity.
func (f *Format) used(since, rarity int) *Format {
	f.Since, f.Search.Rarity = since, rarity
	f.setPlausible()
	return f
}

// unguessed is for formats whose IDs look like IDs of a more common format. Programs read them only if
// the user names the format.
func (f *Format) unguessed() *Format {
	f.Search.Guess = []Encoding{}
	return f
}

func field(name string, bits int, k Kind, meaning string) Field {
	return Field{Name: name, Bits: bits, Kind: k, Meaning: meaning}
}

func zeros(bits int) Field { return field("", bits, KindZero, "always zero") }

func fixed(name string, bits int, value uint64, meaning string) Field {
	return Field{Name: name, Bits: bits, Kind: KindFixed, Value: value, Meaning: meaning}
}

// other completes a format of another project. It makes the codec
// from the layout and the alphabet.
func other(f *Format) *Format {
	if f.Encodings == nil {
		f.Encodings = []Encoding{Text}
	}
	f.Bits = place(f.Layout)
	mask, shared := f.Constant()
	f.shared = shared
	c := &f.Codec
	c.Max = integer.Ones(f.Bits)
	check := func(integer.Words) error { return nil }
	if f.Text.Symbols != "" {
		n := newNumerals(f)
		if f.Text.Lengths == nil {
			f.Text.Lengths = []int{n.length}
		}
		f.Alphabet, c.Max, check = n.alphabet(), n.max(), n.check
		if f.Text.FoldsCase {
			f.Letters = textcodec.Upper
			if textcodec.KindsOf(f.Text.Symbols).Has(textcodec.Lower) {
				f.Letters = textcodec.Lower
			}
		}
		c.Parse, c.Append = n.parse, n.append
	}
	c.Max = c.Max.AndNot(mask).Or(f.shared)
	c.Check = func(w integer.Words) error {
		if w.And(mask) != f.shared {
			return sortid.ErrLayout
		}
		return check(w)
	}
	return complete(f)
}
