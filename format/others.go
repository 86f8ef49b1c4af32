package format

import (
	"slices"
	"sync"
	"time"

	"github.com/sortid/sortid"
	"github.com/sortid/sortid/internal/integer"
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

// others is in the order in which AppendDetect lists readings. Of formats that look alike, the more
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
	f.since, f.Search.Rarity = since, rarity
	f.setPlausible()
	return f
}

func field(name string, bits int, k Kind, meaning string) Field {
	return Field{Name: name, Bits: bits, Kind: k, Meaning: meaning}
}

func zeros(bits int) Field { return field("", bits, KindZero, "always zero") }

func fixed(name string, bits int, value uint64, meaning string) Field {
	return Field{Name: name, Bits: bits, Kind: KindFixed, Value: value, Meaning: meaning}
}

// other completes a format of another project. It makes the functions check, parse and appendText
// from the layout and the alphabet.
func other(f *Format) *Format {
	if f.Encodings == nil {
		f.Encodings = []Encoding{Text}
	}
	var mask integer.Words // the bits that are the same in all IDs
	f.Bits = place(f.Layout)
	for _, field := range f.Layout {
		if field.Kind == KindFixed || field.Kind == KindZero {
			bits := integer.Ones(field.Bits)
			mask = mask.Or(bits.Shift(field.Low))
			f.shared = f.shared.Or(integer.Words{Low: field.Value}.And(bits).Shift(field.Low))
		}
	}
	f.max = integer.Ones(f.Bits)
	check := func(integer.Words) error { return nil }
	if f.Text.Symbols != "" {
		n := newNumerals(f)
		if f.Text.Lengths == nil {
			f.Text.Lengths = []int{n.length}
		}
		f.alphabet, f.max, check = n.alphabet(), n.max(), n.check
		if f.Text.FoldsCase {
			f.letters = classify(f.Text.Symbols) & (classLower | classUpper)
		}
		f.parse, f.appendText = n.parse, n.append
	}
	f.max = f.max.AndNot(mask).Or(f.shared)
	f.check = func(w integer.Words) error {
		if w.And(mask) != f.shared {
			return sortid.ErrLayout
		}
		return check(w)
	}
	return newFormat(f)
}
